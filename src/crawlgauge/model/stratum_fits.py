"""The two-way model of every stratum, and what all strata together say where one tells little."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.intervals import urn_moments, urn_state, weigh_pairs
from crawlgauge.model.pairs import Numbers, PairData
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["NEWEST", "SLOPE", "TYPICAL", "find_numbers", "pool"]

NEWEST, TYPICAL, SLOPE = range(3)
"""The numbers of a stratum: log coverage of the newest and of a typical crawl, log persistence."""


_LEAST_VARIANCE = 1e-12


def find_numbers(
    n_shared: NDArray[np.int64], days: NDArray[np.int64], rate: float
) -> tuple[Numbers, Numbers]:
    """Return the three numbers of each stratum and their error variances; NaN where unknown."""
    fits = fit_strata(n_shared, (days - days[0]) / DAYS_PER_YEAR)
    known = ~np.isnan(fits.level)
    n_known = known.sum(axis=1)
    total = np.where(known, fits.level, 0.0).sum(axis=1)
    typical = np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)
    values = np.column_stack([fits.level[:, -1], typical, fits.slope])
    variances = np.full(values.shape, np.nan)
    for stratum in map(int, np.flatnonzero(~np.isnan(fits.slope))):
        sizes = n_shared[stratum].diagonal()
        variances[stratum] = _variances_of(fits, stratum, sizes, days, rate)
    values[np.isnan(variances)] = np.nan
    return values, np.maximum(variances, _LEAST_VARIANCE)


# ---------------- the two-way model of every stratum, each by itself, from counts that may be small


_TAU_AT_START = 0.05
_MIN_TAU_SQUARED = 1e-8
_PASSES = 12
# A step of the logarithm; a first guess from a count of 0 can be far off.
_LARGEST_STEP = 2.0
_LEAST_EXPECTED = 1e-6
_LARGEST_LOG = 50.0
_HALF = 0.5
_ROUNDING = 1e-12


class StratumFits(NamedTuple):
    """Fits of all strata: one level for each later crawl, one slope for all.

    Parameters
    ----------
    level, slope
        Log coverage for each stratum and crawl, log persistence for each stratum; NaN where it is
        not identifiable.
    weight, expected
        For each stratum and pair of crawls, its weight, 0 for what is no pair, and the shared
        URLs that the fit expects.
    tau_squared
        For each stratum, the variance of the logarithms beyond that of counting.
    """

    level: Numbers
    slope: Numbers
    weight: Numbers
    expected: Numbers
    tau_squared: Numbers


def fit_strata(n_shared: NDArray[np.int64], years: Numbers) -> StratumFits:
    """Fit the two-way model to each stratum."""
    shared = n_shared.astype(np.float64)
    sizes = np.diagonal(shared, axis1=1, axis2=2)
    held = sizes > 0
    lags = years - years[:, None]
    # The crawl of the row is the earlier; two crawls of one date count half in either order.
    order = np.where(lags > 0, 1.0, np.where(lags == 0, _HALF, 0.0))
    np.fill_diagonal(order, 0.0)
    allowed = order * held[:, :, None] * held[:, None, :]
    # A crawl that shares nothing with any earlier one has no logarithm at all.
    met = (allowed * shared).sum(axis=1) > 0
    allowed = allowed * met[:, None, :]
    lags = np.abs(lags)
    log_sizes = np.log(np.where(held, sizes, 1.0))[:, :, None]
    expected = np.maximum(shared, _HALF)
    tau_squared = np.full(len(shared), _TAU_AT_START**2)
    for number in range(_PASSES):
        step = np.clip(shared / expected - 1, -_LARGEST_STEP, _LARGEST_STEP)
        weight = allowed / (tau_squared[:, None, None] + 1 / expected)
        level, slope = _solve(np.log(expected) - log_sizes + step, weight, lags)
        by_end, by_lag = np.nan_to_num(level)[:, None, :], np.nan_to_num(slope)[:, None, None]
        logs = np.clip(log_sizes + by_end + by_lag * lags, -_LARGEST_LOG, _LARGEST_LOG)
        expected = np.maximum(np.exp(logs), _LEAST_EXPECTED)
        if number < _PASSES - 1:
            tau_squared = _excess_variance(shared, expected, allowed, level)
    return StratumFits(level, slope, weight, expected, tau_squared)


def _solve(response: Numbers, weight: Numbers, lags: Numbers) -> tuple[Numbers, Numbers]:
    """Solve the two-way model by weighted least squares, for all strata at once."""
    total = weight.sum(axis=1)
    present = total > 0
    divisor = np.where(present, total, 1.0)
    mean_lag = (weight * lags).sum(axis=1) / divisor
    mean_response = (weight * response).sum(axis=1) / divisor
    within = weight * (lags - mean_lag[:, None, :])
    spread = (within * lags).sum(axis=(1, 2))
    scale = (weight * lags**2).sum(axis=(1, 2))
    # What is left of equal lags by rounding is no difference between them.
    identified = spread > _ROUNDING * scale
    slope = (within * response).sum(axis=(1, 2)) / np.where(identified, spread, 1.0)
    slope = np.where(identified, slope, np.nan)
    return np.where(present, mean_response - slope[:, None] * mean_lag, np.nan), slope


def _excess_variance(
    shared: Numbers, expected: Numbers, allowed: Numbers, level: Numbers
) -> Numbers:
    """Return by how much logarithms vary beyond counting; pairs that share much say most."""
    weight = allowed / (_TAU_AT_START**2 + 1 / expected)
    n_pairs = allowed.sum(axis=(1, 2))
    n_parameters = (~np.isnan(level)).sum(axis=1) + 1
    inflation = n_pairs / np.maximum(n_pairs - n_parameters, 1)
    squares = (weight * (shared / expected - 1) ** 2).sum(axis=(1, 2)) * inflation
    counting = (weight / expected).sum(axis=(1, 2))
    total = weight.sum(axis=(1, 2))
    excess = (squares - counting) / np.where(total > 0, total, 1.0)
    return np.asarray(np.maximum(excess, _MIN_TAU_SQUARED))


# ------- how far the fits of strata may be off, by drawing URLs and by what their pairs disagree on


def _variances_of(
    fits: StratumFits, number: int, sizes: NDArray[np.int64], days: NDArray[np.int64], rate: float
) -> Numbers:
    """Return the error variances of the numbers of one stratum."""
    held = np.flatnonzero(sizes > 0)
    inside = np.ix_(held, held)
    start, end = np.nonzero(fits.weight[number][inside])
    n_counted, days_held = sizes[held].astype(np.float64), days[held]
    pairs = PairData(
        days=days_held,
        n_counted=n_counted,
        n_urls=n_counted / rate,
        start=start,
        end=end,
        n_shared=fits.expected[number][inside][start, end],
        relative_error=np.zeros(start.size),
        weight=np.where(days_held[start] == days_held[end], 0.5, 1.0),
        zeros=np.empty((0, 2), dtype=np.int64),
        n_missing=0,
        sample_rate=rate,
    )
    fit = TwoWayFit(
        log_coverage=fits.level[number, held],
        log_persistence=float(fits.slope[number]),
        coverage_reasons=(None,) * held.size,
        persistence_reason=None,
        n_freedom=0,
        tau_squared=float(fits.tau_squared[number]),
    )
    wanted = np.zeros((3, held.size + 1))
    wanted[NEWEST, -2] = held[-1] == days.size - 1 and fit.estimated[-1]
    wanted[TYPICAL, :-1] = fit.estimated / max(1, fit.estimated.sum())
    wanted[SLOPE, -1] = 1.0
    influence = weigh_pairs(pairs, fit, wanted)
    moments = urn_moments(urn_state(pairs, fit), influence)
    variance = moments.urn_variance()
    if rate < 1:
        variance = variance + moments.sample_variance(-influence.starts, rate)
    scatter = fit.tau_squared * np.sum(influence.shared**2, axis=(1, 2))
    return np.asarray(variance + scatter)


# ---------------------------------------------------------------------------------- partial pooling


# With fewer, the variance between strata has no upper end, and nothing can be pooled.
_MIN_STRATA = 4

_GRID = np.exp(np.linspace(np.log(1e-8), np.log(100.0), 600))


def pool(values: Numbers, variances: Numbers) -> tuple[Numbers, Numbers]:
    """Return the pooled estimates of all strata and their error variances.

    Strata are draws from a distribution; each estimate is moved towards its mean as far as its
    error and the spread of the strata say. A stratum without an estimate is at the mean.

    Returns
    -------
    tuple
        A stratum without an estimate has an infinite variance where the spread is not known.
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(values.size), np.full(values.size, np.inf)
    spread = _between_variance(values[known], variances[known])
    error = np.where(known, variances, np.inf)
    precision = 1 / (error + (0.0 if np.isinf(spread) else spread))
    mean = float(precision[known] @ values[known] / precision.sum())
    if np.isinf(spread):
        return np.where(known, values, mean), error
    given_up = 1 / (1 + spread / error)
    pooled = np.where(known, values, mean) * (1 - given_up) + mean * given_up
    left = np.where(known, (1 - given_up) * variances, spread)
    return pooled, left + given_up**2 / precision.sum()


def _between_variance(values: Numbers, variances: Numbers) -> float:
    """Return the variance of the true values between strata; infinite if they are too few.

    It is where ``A`` times the residual likelihood is largest, which is never zero (the adjusted
    density method: Morris and Tang 2011, Statistical Science 26, 271).
    """
    if values.size < _MIN_STRATA:
        return np.inf
    precision = 1 / (variances + _GRID[:, None])
    total = precision.sum(axis=1)
    mean = precision @ values / total
    squares = (precision * (values - mean[:, None]) ** 2).sum(axis=1)
    log_likelihood = (np.log(precision).sum(axis=1) - np.log(total) - squares) / 2
    return float(_GRID[np.argmax(log_likelihood + np.log(_GRID))])
