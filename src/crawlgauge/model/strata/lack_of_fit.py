"""What the crawls disagree on beyond counting: common to all strata, of each, and of single ones.

Leaving out a crawl moves the numbers of a stratum. Part of that is counting, whose expectation
follows from the urn. What all strata move together is an error of the crawls. What they move
apart by is pooled over the strata, since a single one shows it badly; a stratum that moves more
than chance allows keeps its own.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["LackOfFit", "find_lack_of_fit", "jackknife"]

_Array = NDArray[np.float64]
_Number = TypeVar("_Number", bound=np.generic)

_MIN_REPLICATES = 3
_PASSES = 5
_LEAST = 1e-15
"""A stratum that is alone moves with all strata, and leaves no chance to move apart from them."""
_SIGNIFICANCE = 0.999
"""Of a thousand strata without any lack of fit, one is taken to contradict itself."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LackOfFit:
    """Variances beyond counting of one number of all strata.

    Parameters
    ----------
    common
        Of the error that all strata have in common.
    own
        Of the error of each stratum.
    n_freedom
        Degrees of freedom of each `own`.
    contradicts
        Whether each stratum contradicts itself more than chance allows.
    """

    common: float
    own: _Array
    n_freedom: _Array
    contradicts: NDArray[np.bool_]


def jackknife(changes: _Array) -> _Array:
    """Return the jackknife variance of each stratum; 0 with fewer than two replicates.

    Parameters
    ----------
    changes
        For each stratum and crawl, the change without the crawl; NaN where there is none.
    """
    usable = ~np.isnan(changes)
    n = np.maximum(usable.sum(axis=1), 1)
    mean = np.where(usable, changes, 0.0).sum(axis=1) / n
    squares = np.where(usable, (changes - mean[:, None]) ** 2, 0.0).sum(axis=1)
    variance: _Array = (n - 1) / n * squares
    return variance


def find_lack_of_fit(changes: _Array, sampling: _Array, expected: _Array) -> LackOfFit:
    """Divide what the replicates show into counting, a common part and a part of each stratum.

    Parameters
    ----------
    changes
        As for `jackknife`.
    sampling
        Sampling variance of each stratum.
    expected
        Jackknife variance that is expected of counting alone, over `sampling`, for each stratum.
    """
    from scipy.special import chdtri  # here, because it takes as long to load as all the rest

    n_replicates = np.sum(~np.isnan(changes), axis=1)
    is_tested = (n_replicates >= _MIN_REPLICATES) & (expected > 0)
    if not is_tested.any():
        return _no_lack_of_fit(is_tested.size)
    if not is_tested.all():
        # What too few crawls hold is taken to fit as the others do.
        found = find_lack_of_fit(changes[is_tested], sampling[is_tested], expected[is_tested])
        alike = found.own[~found.contradicts]
        pooled = float(alike.min()) if alike.size else float(found.own.min())
        return LackOfFit(
            common=found.common,
            own=_fill(found.own, is_tested, pooled),
            n_freedom=_fill(found.n_freedom, is_tested, float(found.n_freedom.min())),
            contradicts=_fill(found.contradicts, is_tested, False),
        )
    usable = ~np.isnan(changes)
    n_freedom = max(1, int(usable.any(axis=0).sum()) - 2)
    counting = expected * sampling
    # No stratum, however large, speaks for all.
    weight = 1 / (counting + np.median(counting))
    weights = np.where(usable, weight[:, None], 0.0)
    total = weights.sum(axis=0)
    shares = weights / np.where(total > 0, total, 1.0)
    together = np.where(total > 0, (shares * np.where(usable, changes, 0.0)).sum(axis=0), np.nan)
    share = weight / weight.sum()
    of_mean = float(np.sum(share**2 * counting))
    common = max(0.0, float(jackknife(together[None])[0]) - of_mean)
    apart = jackknife(changes - together)
    chance = (1 - 2 * share) * counting + of_mean
    excess = apart - chance
    n_own = np.maximum(usable.sum(axis=1) - 2, 1)
    # Replicates share most of their pairs: simulated, their variance has half of the freedom.
    limit = chdtri(n_own / 2, 1 - _SIGNIFICANCE) / (n_own / 2)
    typical = max(0.0, float(np.median(excess)))
    contradicts = apart > limit * np.maximum(chance + typical, _LEAST)
    # The others are not to answer for those that contradict themselves.
    others = ~contradicts if not contradicts.all() else contradicts
    pooled, n_effective = _pool_excess(excess[others], chance[others])
    return LackOfFit(
        common=common,
        own=np.where(contradicts, np.maximum(excess, pooled), pooled),
        n_freedom=np.where(contradicts, n_own, n_freedom * n_effective),
        contradicts=contradicts,
    )


def _no_lack_of_fit(n_strata: int) -> LackOfFit:
    return LackOfFit(
        common=0.0,
        own=np.zeros(n_strata),
        n_freedom=np.ones(n_strata),
        contradicts=np.zeros(n_strata, dtype=np.bool_),
    )


def _fill(
    values: NDArray[_Number], places: NDArray[np.bool_], elsewhere: float | bool
) -> NDArray[_Number]:
    """Put values in their places, and something else in all others."""
    filled = np.full(places.size, elsewhere, dtype=values.dtype)
    filled[places] = values
    return filled


def _pool_excess(excess: _Array, chance: _Array) -> tuple[float, float]:
    """Return the excess of all strata, and how many strata it rests on."""
    pooled = max(0.0, float(np.median(excess)))
    for _ in range(_PASSES):
        weight = 1 / np.maximum(chance + pooled, _LEAST) ** 2
        pooled = max(0.0, float(np.average(excess, weights=weight)))
    return pooled, float(weight.sum() ** 2 / np.sum(weight**2))
