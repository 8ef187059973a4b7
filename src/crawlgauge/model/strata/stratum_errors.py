"""How far the fits of strata may be off: by drawing URLs, and by what the crawls disagree on.

Three numbers of each stratum are followed: the log coverage of the newest crawl, the mean of the
log coverages, and the log persistence. Their sampling variance is that of the urn, computed from
the fit. The rest shows when each crawl is left out in turn.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.influence import Influence, weigh_pairs
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.strata.stratum_fits import Columns, StratumFits, solve_columns
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.model.urn_variance import urn_moments, urn_state

__all__ = [
    "NEWEST",
    "SLOPE",
    "TYPICAL",
    "SamplingErrors",
    "expected_jackknife",
    "leave_out",
    "numbers_of",
    "sampling",
]

_Array = NDArray[np.float64]

NEWEST, TYPICAL, SLOPE = range(3)
"""Which number of a stratum."""

_N_NUMBERS = 3
_MIN_REPLICATES = 3
_MAX_REPLICATES = 24
"""What counting leads to changes little from crawl to crawl; of a hundred, every fourth tells."""


def numbers_of(columns: Columns) -> _Array:
    """Return the three numbers of each stratum; NaN where one is not identifiable."""
    known = ~np.isnan(columns.level)
    n_known = known.sum(axis=1)
    total = np.where(known, columns.level, 0.0).sum(axis=1)
    typical = np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)
    return np.column_stack([columns.level[:, -1], typical, columns.slope])


def leave_out(fits: StratumFits, lags: _Array) -> _Array:
    """Return by how much each number changes without each crawl.

    The mean over the crawls that are left is held against that over the same crawls before, so
    that differences between crawls do not count as errors.

    Parameters
    ----------
    fits
        Of the strata.
    lags
        Years between each two crawls.

    Returns
    -------
    array
        For each stratum, crawl and number; NaN where the crawl plays no part, or all of it.
    """
    full = fits.columns
    n_strata, n_crawls = full.level.shape
    takes_part = (fits.weight.sum(axis=1) + fits.weight.sum(axis=2)) > 0
    changes = np.full((n_strata, n_crawls, _N_NUMBERS), np.nan)
    for crawl in range(n_crawls):
        weight = fits.weight.copy()
        weight[:, crawl, :] = weight[:, :, crawl] = 0.0
        left = solve_columns(fits.response, weight, lags)
        known = ~np.isnan(left.level)
        n_known = known.sum(axis=1)
        moved = np.where(known, left.level - full.level, 0.0)
        changes[:, crawl, NEWEST] = np.where(known[:, -1], moved[:, -1], np.nan)
        mean = moved.sum(axis=1) / np.maximum(n_known, 1)
        changes[:, crawl, TYPICAL] = np.where(n_known > 0, mean, np.nan)
        changes[:, crawl, SLOPE] = left.slope - full.slope
    return np.where(takes_part[:, :, None], changes, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplingErrors:
    """Covariances of the numbers of one stratum over urns.

    Parameters
    ----------
    drawing
        By what the crawls drew, among the URLs that were counted.
    covariance
        By what they drew, and by which URLs were counted.
    population
        Variance of the logarithm of the newest crawl's population.
    """

    drawing: _Array
    covariance: _Array
    population: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "drawing", "covariance")


def sampling(
    fits: StratumFits, number: int, sizes: NDArray[np.int64], days: NDArray[np.int64], rate: float
) -> SamplingErrors:
    """Return the sampling errors of one stratum.

    Parameters
    ----------
    fits
        Of all strata.
    number
        Of the stratum.
    sizes
        What each crawl holds of it, among the URLs that were counted.
    days
        Day number of each crawl.
    rate
        Share of the URLs that were counted.
    """
    held = np.flatnonzero(sizes > 0)
    fit = _fit_of(fits, number, held)
    combinations = _combinations(fit, bool(held[-1] == days.size - 1))
    whole = _pairs_of(fits, number, held, sizes, days, 1.0)
    influence = weigh_pairs(whole, fit, combinations)
    drawing = urn_moments(urn_state(whole, fit), influence).urn_variance()
    if rate == 1:
        return SamplingErrors(
            drawing=_covariance(drawing),
            covariance=_covariance(drawing),
            population=float(drawing[NEWEST]),
        )
    pairs = _pairs_of(fits, number, held, sizes, days, rate)
    moments = urn_moments(urn_state(pairs, fit), influence)
    of_sizes = -influence.starts
    variance = moments.urn_variance() + moments.sample_variance(of_sizes, rate)
    # The logarithm of a population is that of the size minus that of the coverage.
    of_sizes[NEWEST, -1] -= combinations[NEWEST].any()
    of_population = moments.urn_variance() + moments.sample_variance(of_sizes, rate)
    return SamplingErrors(
        drawing=_covariance(drawing),
        covariance=_covariance(variance),
        population=float(of_population[NEWEST]),
    )


def _fit_of(fits: StratumFits, number: int, held: NDArray[np.int64]) -> TwoWayFit:
    return TwoWayFit(
        log_coverage=fits.columns.level[number, held],
        log_persistence=float(fits.columns.slope[number]),
        coverage_reasons=(None,) * held.size,
        persistence_reason=None,
        n_freedom=0,
        tau_squared=float(fits.tau_squared[number]),
    )


def _pairs_of(
    fits: StratumFits,
    number: int,
    held: NDArray[np.int64],
    sizes: NDArray[np.int64],
    days: NDArray[np.int64],
    rate: float,
) -> PairData:
    inside = np.ix_(held, held)
    weight = fits.weight[number][inside]
    start, end = np.nonzero(weight)
    counted = sizes[held].astype(np.float64)
    return PairData(
        days=days[held],
        n_counted=counted,
        n_urls=counted / rate,
        start=start,
        end=end,
        n_shared=fits.expected[number][inside][start, end],
        relative_error=np.zeros(start.size),
        weight=np.where(days[held][start] == days[held][end], 0.5, 1.0),
        zeros=np.empty((0, 2), dtype=np.int64),
        n_missing=0,
        sample_rate=rate,
    )


def _combinations(fit: TwoWayFit, has_newest: bool) -> _Array:
    """Return the three numbers, then the sums of either coverage with the persistence."""
    known = fit.estimated
    rows = np.zeros((_N_NUMBERS + 2, known.size + 1))
    rows[NEWEST, known.size - 1] = has_newest and known[-1]
    rows[TYPICAL, :-1] = known / max(1, known.sum())
    rows[SLOPE, -1] = 1.0
    rows[3], rows[4] = rows[NEWEST] + rows[SLOPE], rows[TYPICAL] + rows[SLOPE]
    return rows


def _covariance(variances: _Array) -> _Array:
    """Make a matrix of the variances of the numbers and of two sums; the others are left 0."""
    covariance = np.diag(variances[:_N_NUMBERS])
    for number, of_sum in ((NEWEST, variances[3]), (TYPICAL, variances[4])):
        shared = (of_sum - variances[number] - variances[SLOPE]) / 2
        covariance[number, SLOPE] = covariance[SLOPE, number] = shared
    return covariance


def expected_jackknife(
    fits: StratumFits, number: int, sizes: NDArray[np.int64], days: NDArray[np.int64]
) -> _Array:
    """Return the jackknife variance of each number that counting alone leads to.

    Parameters
    ----------
    fits, number, sizes, days
        As for `sampling`.
    """
    held = np.flatnonzero(sizes > 0)
    fit = _fit_of(fits, number, held)
    pairs = _pairs_of(fits, number, held, sizes, days, 1.0)
    state = urn_state(pairs, fit)
    combinations = _combinations(fit, bool(held[-1] == days.size - 1))[:_N_NUMBERS]
    changes = {}
    for crawl in range(held.size):
        left = _without(pairs, crawl)
        if _has_slope(left):
            changes[crawl] = _change(pairs, left, fit, combinations)
            changes[crawl][NEWEST] *= crawl < held.size - 1
    n_used = np.full(_N_NUMBERS, float(len(changes)))
    n_used[NEWEST] -= held.size - 1 in changes
    if n_used.min() < _MIN_REPLICATES:
        return np.zeros(_N_NUMBERS)
    mean = sum(changes.values()) / n_used[:, None, None]
    chosen = np.linspace(0, len(changes) - 1, _MAX_REPLICATES).round().astype(np.int64)
    crawls = np.array(sorted(changes))[np.unique(chosen)]
    variance = np.zeros(_N_NUMBERS)
    for crawl in map(int, crawls):
        apart = changes[crawl] - mean
        apart[NEWEST] *= crawl < held.size - 1
        moments = urn_moments(state, Influence(shared=apart, starts=np.zeros(apart.shape[:2])))
        variance += moments.urn_variance()
    expected: _Array = (n_used - 1) / n_used * variance * (len(changes) / crawls.size)
    return expected


def _change(pairs: PairData, left: PairData, fit: TwoWayFit, combinations: _Array) -> _Array:
    """Return how the numbers of the pairs that are left differ from those of all, pair by pair."""
    known = np.isin(np.arange(pairs.n_crawls), left.end)
    wanted = combinations.copy()
    # The mean is that of the crawls that are left, both times.
    wanted[TYPICAL, :-1] = known / max(1, known.sum())
    change: _Array = weigh_pairs(left, fit, wanted).shared - weigh_pairs(pairs, fit, wanted).shared
    return change


def _without(pairs: PairData, crawl: int) -> PairData:
    rows = (pairs.start != crawl) & (pairs.end != crawl)
    names = ("start", "end", "n_shared", "relative_error", "weight")
    return replace(pairs, **{name: getattr(pairs, name)[rows] for name in names})


def _has_slope(pairs: PairData) -> bool:
    """Tell whether some crawl is compared with crawls of two different dates."""
    longest, shortest = np.full((2, pairs.n_crawls), np.nan)
    np.fmax.at(longest, pairs.end, pairs.lag_years)
    np.fmin.at(shortest, pairs.end, pairs.lag_years)
    return bool(np.any(longest > shortest))
