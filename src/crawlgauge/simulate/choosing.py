"""Draw without replacement: among single URLs, or among cells that hold many."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["choose_among", "choose_from_cells"]

_LIMIT = 10**9
_WIDE_VARIANCE = 100


def choose_among(rng: np.random.Generator, n: int, n_chosen: int) -> NDArray[np.bool_]:
    """Choose `n_chosen` of `n` things at random and return for each whether it is chosen.

    Each thing is first chosen by itself, with the right probability; then the few too many or too
    few are taken back or added at random. The result is a simple random sample, and comes many
    times faster than by shuffling.

    Examples
    --------
    >>> int(choose_among(np.random.default_rng(1), 1000, 460).sum())
    460
    """
    chosen = rng.random(n, dtype=np.float32) < n_chosen / max(n, 1)
    n_found = int(np.count_nonzero(chosen))
    is_over = n_found > n_chosen
    n_candidates = n_found if is_over else n - n_found
    n_left = abs(n_found - n_chosen)
    while n_left:
        # Places are tried at random: listing all candidates would take longer than all the rest.
        n_tries = min(n, 16 + round(1.5 * n_left * n / n_candidates))
        places = rng.integers(0, n, n_tries)
        places = places[chosen[places] == is_over]
        _, first_tries = np.unique(places, return_index=True)
        places = places[np.sort(first_tries)[:n_left]]
        chosen[places] = not is_over
        n_left -= places.size
    return chosen


def choose_from_cells(
    rng: np.random.Generator, counts: NDArray[np.int64], n_chosen: int
) -> NDArray[np.int64]:
    """Choose `n_chosen` things at random and return how many of them lie in each cell.

    This is the multivariate hypergeometric distribution. The cells are halved again and again,
    each half's part being drawn from that of both, so that all cells of a level are drawn at once.
    Beyond a thousand million things it is approximated.

    Parameters
    ----------
    rng
        Source of random numbers.
    counts
        Things in each cell; of any shape.
    n_chosen
        At most as many as there are.
    """
    sums = [_pad_to_power_of_two(counts.ravel())]
    while sums[-1].size > 1:
        sums.append(sums[-1][::2] + sums[-1][1::2])
    chosen = np.array([n_chosen], dtype=np.int64)
    for level in reversed(sums[:-1]):
        left = _draw_hypergeometric(rng, level[::2], level[1::2], chosen)
        chosen = np.column_stack([left, chosen - left]).ravel()
    return chosen[: counts.size].reshape(counts.shape)


def _pad_to_power_of_two(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    padded = np.zeros(1 << max(0, counts.size - 1).bit_length(), dtype=np.int64)
    padded[: counts.size] = counts
    return padded


def _draw_hypergeometric(
    rng: np.random.Generator,
    good: NDArray[np.int64],
    bad: NDArray[np.int64],
    n_drawn: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Draw the number of good ones; numpy's own function ends at a thousand million things."""
    is_large = good + bad >= _LIMIT
    if not is_large.any():
        return rng.hypergeometric(good, bad, n_drawn)
    result = np.zeros_like(good)
    small = ~is_large
    result[small] = rng.hypergeometric(good[small], bad[small], n_drawn[small])
    result[is_large] = _approximate(rng, good[is_large], bad[is_large], n_drawn[is_large])
    return result


def _approximate(
    rng: np.random.Generator,
    good: NDArray[np.int64],
    bad: NDArray[np.int64],
    n_drawn: NDArray[np.int64],
) -> NDArray[np.int64]:
    rarer = np.minimum(good, bad)
    total = good + bad
    share = n_drawn / total
    variance = rarer * share * (1 - share) * ((total - rarer) / (total - 1))
    normal = np.rint(rarer * share + np.sqrt(variance) * rng.standard_normal(good.size))
    # Few among very many are chosen as if each were by itself.
    binomial = rng.binomial(np.where(variance > _WIDE_VARIANCE, 0, rarer), share)
    drawn = np.where(variance > _WIDE_VARIANCE, normal.astype(np.int64), binomial)
    drawn = np.clip(drawn, np.maximum(0, n_drawn - (total - rarer)), np.minimum(rarer, n_drawn))
    return np.where(good <= bad, drawn, n_drawn - drawn)
