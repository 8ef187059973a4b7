"""The overlap table of an urn, drawn from its distribution without any sets."""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.overlaps.histories import Histories
from crawlgauge.simulate.archive import Bools, Floats, Ints, SimulatedTable, make_table
from crawlgauge.simulate.urn_plan import (
    MAX_NOISY_COVERAGE,
    UrnPlan,
    find_capture_scale,
    list_types,
    make_plan,
    make_random,
    make_truth,
)
from crawlgauge.simulate.urn_sets import choose_from_cells
from crawlgauge.simulate.urn_settings import TableNoise, UrnSettings, require

# ---------------------------------- mean and covariance of the sizes and overlaps that an urn gives


_MAX_DISTINCT = 4
"""Two pairs of crawls are of at most four crawls."""


def compute_moments(plan: UrnPlan) -> tuple[Ints, Ints, Floats, Floats]:
    """Compute mean and covariance of all overlaps, and of the sizes where these vary.

    Parameters
    ----------
    plan
        Of an urn whose crawls do not depend on earlier ones.

    Returns
    -------
    tuple
        For each count of which two crawls it is the overlap (equal for a crawl's size), its mean,
        and the covariance of each two.
    """
    first, last = np.triu_indices(plan.n_crawls, 1 if plan.settings.is_even else 0)
    a, b = first[:, None], last[:, None]
    # The crawls of two counts together: their ends, and where one count follows the other.
    earliest, latest = np.minimum(a, first), np.maximum(b, last)
    later_first, last_of_earlier = np.maximum(a, first), np.where(a <= first, b, last)
    types = list_types(plan, degree=_MAX_DISTINCT)
    lags = np.maximum(plan.years - plan.years[:, None], 0)
    n = first.size
    mean, joint, taken = np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    for number, persistence in enumerate(plan.persistences):
        rows = types.stratum == number
        capture, share = types.capture[rows].T, types.share[rows]
        products = capture[first] * np.where((first == last)[:, None], 1, capture[last])
        survival = persistence**lags
        # How many URLs of crawl i's population are expected to live at crawl j.
        living = plan.counts[number][:, None] * survival
        of_stratum = living[first, last] * (products @ share)
        mean += of_stratum
        joint += living[earliest, latest] * _expect_joint(plan, products, capture, share)
        # q / N_k for a count that ends with crawl i (row) and one that begins with k.
        share_taken = survival / np.maximum(plan.counts[number], 1)
        taken += np.outer(of_stratum, of_stratum) * share_taken[last_of_earlier, later_first]
    both = _expect_both(plan, first, last) if plan.settings.is_even else np.ones((n, n))
    covariance = joint + (both - 1) * np.outer(mean, mean) - both * taken
    return first, last, mean, covariance


def _expect_joint(plan: UrnPlan, products: Floats, capture: Floats, share: Floats) -> Floats:
    """Return for each two counts the expected probability of capture by the crawls of both."""
    joint = (products * share) @ products.T
    padded = np.concatenate([capture, np.ones((1, share.size))])
    rows, columns, (one, two, three) = _list_common(plan.n_crawls, plan.settings.is_even)
    # Most pairs of counts have no crawl in common; the others must not count it twice.
    joint[rows, columns] = (padded[one] * padded[two] * padded[three]) @ share
    return joint


@functools.lru_cache(maxsize=16)
def _list_common(n_crawls: int, is_even: bool) -> tuple[Ints, Ints, Ints]:
    """List two counts that have a crawl in common, and their three crawls.

    Crawls that are lacking stand as `n_crawls`.
    """
    first, last = np.triu_indices(n_crawls, 1 if is_even else 0)
    a, b = first[:, None], last[:, None]
    rows, columns = np.nonzero((a == first) | (a == last) | (b == first) | (b == last))
    four = np.sort(
        np.column_stack([first[rows], last[rows], first[columns], last[columns]]), axis=1
    )
    four[:, 1:][four[:, 1:] == four[:, :-1]] = n_crawls
    return rows, columns, np.sort(four, axis=1)[:, :3].T


def _expect_both(plan: UrnPlan, first: Ints, last: Ints) -> Floats:
    """Return P: how much rarer it is that two URLs are both drawn where the size is exact."""
    log_rho = np.log1p(-1 / np.maximum(plan.sizes, 2)) - np.log1p(-1 / plan.populations)
    log_rho[plan.sizes == 1] = -np.inf
    shared = np.zeros((first.size, first.size))
    for one, other in ((first, first), (last, last), (first, last), (last, first)):
        is_same = one[:, None] == other
        shared[is_same] += np.broadcast_to(log_rho[other], is_same.shape)[is_same]
    return np.exp(shared)


# --------------------------------------------------------------------------------- the urn as pairs


MAX_PAIR_CRAWLS = 100
"""The covariance of all pairs of more crawls takes too much memory."""

_FEW = 50
_RELATIVE_JITTER = 1e-9


def draw_pairs(plan: UrnPlan) -> Ints:
    """Draw how many URLs each two crawls share; the diagonal holds the sizes.

    Ints have the mean and covariance that sets would have. Their distribution is normal, and
    Poisson where fewer than 50 are expected.

    Parameters
    ----------
    plan
        What to draw from.

    Raises
    ------
    SimulationError
        If crawls depend on earlier ones, or there are too many of them.
    """
    require(
        not plan.settings.has_memory,
        f"the crawls of the scenario {plan.settings.scenario} depend on earlier ones, so that "
        "overlaps of this many crawls cannot be drawn without sets; simulate sets, or fewer crawls",
    )
    require(
        plan.n_crawls <= MAX_PAIR_CRAWLS,
        f"the overlaps of {plan.n_crawls} crawls cannot be drawn without sets, only those of "
        f"up to {MAX_PAIR_CRAWLS}; simulate sets",
    )
    is_fixed = plan.settings.is_same_for_all_seeds
    law = _find_fixed_law(plan.settings) if is_fixed else _find_law(plan)
    first, last, mean, deviation, factor = law
    noise = factor @ make_random(plan.seed, "counts").standard_normal(mean.size)
    drawn = np.rint(mean + deviation * noise).astype(np.int64)
    few = (mean < _FEW) & (first != last)
    drawn[few] = _to_poisson(mean[few], noise[few])
    n_shared = np.diag(plan.sizes)
    n_shared[first, last] = n_shared[last, first] = drawn
    # Chance must not lead beyond what is possible.
    sizes = np.clip(np.diag(n_shared), 1, plan.populations)
    n_shared = np.clip(n_shared, 0, np.minimum(sizes, sizes[:, None]))
    np.fill_diagonal(n_shared, sizes)
    return n_shared


@functools.lru_cache(maxsize=16)
def _find_fixed_law(settings: UrnSettings) -> tuple[NDArray[Any], ...]:
    return _find_law(make_plan(settings, seed=0))


def _find_law(plan: UrnPlan) -> tuple[NDArray[Any], ...]:
    """Return which crawls the counts are of, their mean, deviation, and what correlates them."""
    first, last, mean, covariance = compute_moments(plan)
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
    divisor = np.where(deviation > 0, deviation, 1)
    correlation = covariance / np.outer(divisor, divisor)
    # Ints that cannot vary, and rounding, must not stop the factorisation.
    np.fill_diagonal(correlation, 1 + _RELATIVE_JITTER)
    factor = np.linalg.cholesky(correlation)
    return first, last, mean, deviation, factor


def _to_poisson(mean: Floats, noise: Floats) -> Ints:
    """Return Poisson counts that stand where the standard normal `noise` stands in its law."""
    counts = np.zeros(mean.size, dtype=np.int64)
    for index, (expected, deviate) in enumerate(zip(mean, noise, strict=True)):
        level = 0.5 * math.erfc(-deviate / math.sqrt(2))
        probability = math.exp(-expected)
        below = probability
        while below < level and probability > 0:
            counts[index] += 1
            probability *= expected / counts[index]
            below += probability
    return counts


# -------------------------------------------------------------------------------- the urn as counts


_MAX_FAST_CELLS = 1 << 16
_MAX_CELLS = 1 << 22
_MAX_CRAWLS = 20


def draw_histories(plan: UrnPlan) -> Histories:
    """Draw how many URLs have each capture history.

    Time and memory grow with the number of types times ``2 ** n_crawls``, not with the population.

    Raises
    ------
    SimulationError
        If that is too much.
    """
    require(
        _count_cells(plan) <= _MAX_CELLS,
        f"{plan.n_crawls} crawls of the scenario {plan.settings.scenario} have too many "
        "possible histories to be drawn without sets; simulate sets, or fewer crawls",
    )
    cells = _Cells(plan)
    for crawl in range(plan.n_crawls):
        cells.turn_over(crawl)
        cells.capture(crawl)
    counts = cells.dead + cells.living.sum(axis=0)
    masks = np.flatnonzero(counts[1:]) + 1
    return Histories(n_crawls=plan.n_crawls, masks=masks.astype(np.uint64), counts=counts[masks])


def _count_cells(plan: UrnPlan) -> int:
    """Return how many histories of how many types are possible, or more than can be drawn."""
    n_hosts = 1 if plan.host_weights is None else plan.host_weights.shape[1]
    n_crawls = plan.n_crawls
    if n_crawls > _MAX_CRAWLS or len(plan.weights) * n_hosts << n_crawls > _MAX_CELLS:
        return _MAX_CELLS + 1
    return list_types(plan, degree=n_crawls).stratum.size << n_crawls


class _Cells:
    """Living URLs by type (row) and history so far (column), and the histories of the dead."""

    def __init__(self, plan: UrnPlan) -> None:
        self._plan = plan
        self._types = types = list_types(plan, degree=plan.n_crawls)
        self._rng = make_random(plan.seed, "counts")
        self.living = np.zeros((types.stratum.size, 1), dtype=np.int64)
        self.dead = np.zeros(1, dtype=np.int64)

    def turn_over(self, crawl: int) -> None:
        if crawl:
            survival = self._plan.survival(crawl)[self._types.stratum]
            survivors = self._rng.binomial(self.living, survival[:, None])
            self._bury(self.living - survivors)
        for number, n_wanted in enumerate(self._plan.counts[:, crawl].tolist()):
            rows = np.flatnonzero(self._types.stratum == number)
            n_born = n_wanted - int(self.living[rows].sum())
            if n_born < 0:
                surplus = choose_from_cells(self._rng, self.living[rows], -n_born)
                self._bury(self._spread(rows, surplus))
            else:
                self.living[rows, 0] += self._rng.multinomial(n_born, self._types.share[rows])

    def capture(self, crawl: int) -> None:
        rows = np.flatnonzero(self._plan.in_scope[self._types.stratum, crawl])
        settings = self._plan.settings
        if settings.has_memory:
            found = self._capture_with_memory(crawl, rows)
        elif settings.is_even:
            found = choose_from_cells(self._rng, self.living[rows], int(self._plan.sizes[crawl]))
        else:
            chances = self._types.capture[rows, crawl][:, None]
            found = self._rng.binomial(self.living[rows], chances)
        captured = self._spread(rows, found)
        # The newest crawl is the highest bit: captured URLs move on by as many columns as exist.
        self.living = np.concatenate([self.living - captured, captured], axis=1)
        self.dead = np.concatenate([self.dead, np.zeros_like(self.dead)])

    def _bury(self, n_dead: Ints) -> None:
        self.dead += n_dead.sum(axis=0)
        self.living = self.living - n_dead

    def _spread(self, rows: Ints, counts: Ints) -> Ints:
        spread = np.zeros_like(self.living)
        spread[rows] = counts
        return spread

    def _capture_with_memory(self, crawl: int, rows: Ints) -> Ints:
        settings, reachable = self._plan.settings, self.living[rows]
        avoided, seeded = np.zeros_like(reachable), np.zeros_like(reachable)
        n_wanted = int(self._plan.sizes[crawl])
        if settings.avoidance is not None:
            recent = self._captured_since(crawl - settings.avoidance.n_crawls)
            avoided[:, recent] = self._rng.binomial(
                reachable[:, recent], settings.avoidance.probability
            )
        elif crawl:
            before = self._captured_since(crawl - 1)
            candidates = reachable[:, before]
            n_seeds = min(round(settings.reseeded_share * n_wanted), int(candidates.sum()))
            seeded[:, before] = choose_from_cells(self._rng, candidates, n_seeds)
            n_wanted -= n_seeds
        pool = reachable - avoided - seeded
        n_pool = int(pool.sum())
        if n_pool <= n_wanted:
            return seeded + pool + choose_from_cells(self._rng, avoided, n_wanted - n_pool)
        if settings.is_even:
            return seeded + choose_from_cells(self._rng, pool, n_wanted)
        weights = self._types.weight[rows, crawl]
        scale = find_capture_scale(weights, pool.sum(axis=1).astype(np.float64), n_wanted)
        share = np.minimum(1, scale * weights)
        return seeded + self._rng.binomial(pool, share[:, None])

    def _captured_since(self, first: int) -> Bools:
        """Tell for each history whether one of the crawls from `first` on holds the URL."""
        histories = np.arange(self.living.shape[1])
        return histories >= 1 << max(first, 0)


# ------------------------ the overlap table of an urn, drawn from its distribution without any sets


def draw_table(
    settings: UrnSettings, *, seed: int = 1, with_histories: bool | None = None
) -> SimulatedTable:
    """Draw the overlap table of an archive, as its sets would have it, without any sets.

    The time does not depend on the population. With histories the table has exactly the
    distribution of the sets' table; it takes milliseconds for up to about 14 crawls, and twice as
    long for each further one. Without them the overlaps have the mean and covariance of the
    sets', for up to 100 crawls.

    Parameters
    ----------
    settings
        What to simulate.
    seed
        Equal seeds give equal tables.
    with_histories
        Whether to draw capture histories, from which the overlaps follow. If None, they are drawn
        where that is fast, or where there is no other way. Noise of the overlaps leaves a table
        without histories in any case.

    Raises
    ------
    SimulationError
        If the settings contradict each other, or there are too many crawls for this way.

    Examples
    --------
    >>> table = draw_table(UrnSettings(population=10**8), seed=1)
    >>> round(int(table.n_shared[0, 1]) / table.crawls[0].n_urls, 3)
    0.393
    """
    plan = make_plan(settings, seed)
    if with_histories is None:
        # Drawn where that is fast, and where they are not lost to noise.
        is_fast = settings.table_noise is None and _count_cells(plan) <= _MAX_FAST_CELLS
        with_histories = settings.has_memory or is_fast
    histories = draw_histories(plan) if with_histories else None
    n_shared = draw_pairs(plan) if histories is None else histories.count_pairs()
    populations = plan.populations
    if settings.table_noise is not None:
        histories = None
        n_shared, populations = _add_noise(plan, settings.table_noise, n_shared)
    return make_table(make_truth(plan, np.diag(n_shared), populations), n_shared, histories)


def _add_noise(plan: UrnPlan, noise: TableNoise, n_shared: Ints) -> tuple[Ints, Ints]:
    """Return overlaps with noise, and the populations that follow from it."""
    rng = make_random(plan.seed, "noise")
    n, sizes = plan.n_crawls, np.diag(n_shared)
    columns = noise.column_sd * rng.standard_normal(n)
    most = np.maximum(0, np.log(MAX_NOISY_COVERAGE / (sizes / plan.populations)))
    columns = np.minimum(columns, most)
    rows = noise.row_sd * rng.standard_normal(n)
    pairs = noise.pair_sd * rng.standard_normal((n, n))
    factors = np.exp(rows[:, None] + columns + pairs)
    noisy = np.triu(np.rint(n_shared * factors).astype(np.int64), 1)
    noisy = np.minimum(noisy + noisy.T + np.diag(sizes), np.minimum(sizes, sizes[:, None]))
    return noisy, np.rint(plan.populations / np.exp(columns)).astype(np.int64)
