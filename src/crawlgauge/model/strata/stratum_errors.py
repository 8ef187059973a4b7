"""How far the fits of strata may be off, by drawing URLs and by what their pairs disagree on.

Three numbers of each stratum are followed: the log coverage of the newest crawl, the mean of the
log coverages, and the log persistence. Their sampling variance is that of the urn, computed from
the fit; by as much as its pairs scatter more than that, they may be off besides.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.influence import weigh_pairs
from crawlgauge.model.pairs import PairData
from crawlgauge.model.strata.stratum_fits import Columns, StratumFits
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.model.urn_variance import urn_moments, urn_state

__all__ = ["NEWEST", "N_NUMBERS", "SLOPE", "TYPICAL", "numbers_of", "variances_of"]

_Array = NDArray[np.float64]

NEWEST, TYPICAL, SLOPE = range(3)
"""Which number of a stratum."""

N_NUMBERS = 3


def numbers_of(columns: Columns) -> _Array:
    """Return the three numbers of each stratum; NaN where one is not identifiable."""
    known = ~np.isnan(columns.level)
    n_known = known.sum(axis=1)
    total = np.where(known, columns.level, 0.0).sum(axis=1)
    typical = np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)
    return np.column_stack([columns.level[:, -1], typical, columns.slope])


def variances_of(
    fits: StratumFits, number: int, sizes: NDArray[np.int64], days: NDArray[np.int64], rate: float
) -> _Array:
    """Return the error variances of the numbers of one stratum.

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
    fit = TwoWayFit(
        log_coverage=fits.columns.level[number, held],
        log_persistence=float(fits.columns.slope[number]),
        coverage_reasons=(None,) * held.size,
        persistence_reason=None,
        n_freedom=0,
        tau_squared=float(fits.tau_squared[number]),
    )
    pairs = _pairs_of(fits, number, held, sizes, days, rate)
    influence = weigh_pairs(pairs, fit, _combinations(fit, bool(held[-1] == days.size - 1)))
    moments = urn_moments(urn_state(pairs, fit), influence)
    variance = moments.urn_variance()
    if rate < 1:
        variance = variance + moments.sample_variance(-influence.starts, rate)
    scatter = fit.tau_squared * np.sum(influence.shared**2, axis=(1, 2))
    return np.asarray(variance + scatter)


def _pairs_of(
    fits: StratumFits,
    number: int,
    held: NDArray[np.int64],
    sizes: NDArray[np.int64],
    days: NDArray[np.int64],
    rate: float,
) -> PairData:
    inside = np.ix_(held, held)
    start, end = np.nonzero(fits.weight[number][inside])
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
    known = fit.estimated
    rows = np.zeros((N_NUMBERS, known.size + 1))
    rows[NEWEST, known.size - 1] = has_newest and known[-1]
    rows[TYPICAL, :-1] = known / max(1, known.sum())
    rows[SLOPE, -1] = 1.0
    return rows
