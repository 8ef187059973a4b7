"""Partial pooling: what a stratum does not tell by itself is taken from all strata together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.intervals import urn_moments, urn_state, weigh_pairs
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.two_way import TwoWayFit

__all__ = [
    "NEWEST",
    "N_NUMBERS",
    "SLOPE",
    "TYPICAL",
    "between_variance",
    "fit_strata",
    "numbers_of",
    "pair_weights",
    "pool",
    "variances_of",
]


# ---------------- the two-way model of every stratum, each by itself, from counts that may be small


_Array = NDArray[np.float64]

_TAU_AT_START = 0.05
_MIN_TAU_SQUARED = 1e-8
_PASSES = 12
_LARGEST_STEP = 2.0
"""A step of the logarithm; a first guess from a count of 0 can be far off."""
_LEAST_EXPECTED = 1e-6
_LARGEST_LOG = 50.0
_HALF = 0.5
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Levels and slopes for many strata: one level for each later crawl, one slope for all.

    Parameters
    ----------
    level
        For each stratum and crawl; NaN where it is not identifiable.
    slope
        For each stratum; NaN where it is not identifiable.
    """

    level: _Array
    slope: _Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StratumFits:
    """Fits of all strata.

    Parameters
    ----------
    columns
        Log coverages and log persistences.
    response, weight
        For each stratum and pair of crawls, the logarithm of the containment that the last pass
        fitted, and its weight; 0 for what is no pair.
    expected
        For each stratum and pair, the shared URLs that the fit expects.
    tau_squared
        For each stratum, the variance of the logarithms beyond that of counting.
    """

    columns: Columns
    response: _Array
    weight: _Array
    expected: _Array
    tau_squared: _Array

    def __post_init__(self) -> None:
        freeze_arrays(self, "response", "weight", "expected", "tau_squared")


def pair_weights(years: _Array) -> _Array:
    """Return 1 where the crawl of the row is the earlier, ½ for either order of one date, else 0.

    Parameters
    ----------
    years
        Time of each crawl, rising.

    Examples
    --------
    >>> pair_weights(np.array([0.0, 1.0, 1.0])).tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    lags = years - years[:, None]
    weights = np.where(lags > 0, 1.0, np.where(lags == 0, _HALF, 0.0))
    np.fill_diagonal(weights, 0.0)
    return weights


def solve_columns(response: _Array, weight: _Array, lags: _Array) -> Columns:
    """Solve the two-way model by weighted least squares, for all strata at once.

    Parameters
    ----------
    response, weight
        For each stratum and pair; the row is the earlier crawl.
    lags
        Years between each two crawls.
    """
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
    level = mean_response - slope[:, None] * mean_lag
    return Columns(level=np.where(present, level, np.nan), slope=slope)


def fit_strata(n_shared: NDArray[np.int64], years: _Array) -> StratumFits:
    """Fit the two-way model to each stratum.

    Parameters
    ----------
    n_shared
        For each stratum the URLs that each two crawls share, with the sizes on the diagonal.
    years
        Time of each crawl, rising.
    """
    shared = n_shared.astype(np.float64)
    sizes = np.diagonal(shared, axis1=1, axis2=2)
    held = sizes > 0
    allowed = pair_weights(years) * held[:, :, None] * held[:, None, :]
    # A crawl that shares nothing with any earlier one has no logarithm at all.
    met = (allowed * shared).sum(axis=1) > 0
    allowed = allowed * met[:, None, :]
    lags = np.abs(years - years[:, None])
    log_sizes = np.log(np.where(held, sizes, 1.0))[:, :, None]
    expected = np.maximum(shared, _HALF)
    tau_squared = np.full(len(shared), _TAU_AT_START**2)
    for number in range(_PASSES):
        response = (
            np.log(expected)
            - log_sizes
            + np.clip(shared / expected - 1, -_LARGEST_STEP, _LARGEST_STEP)
        )
        weight = allowed / (tau_squared[:, None, None] + 1 / expected)
        columns = solve_columns(response, weight, lags)
        expected = _expect(columns, log_sizes, lags)
        if number < _PASSES - 1:
            tau_squared = _excess_variance(shared, expected, allowed, columns)
    return StratumFits(
        columns=columns,
        response=np.where(weight > 0, response, 0.0),
        weight=weight,
        expected=expected,
        tau_squared=tau_squared,
    )


def _expect(columns: Columns, log_sizes: _Array, lags: _Array) -> _Array:
    level, slope = np.nan_to_num(columns.level), np.nan_to_num(columns.slope)
    logs = log_sizes + level[:, None, :] + slope[:, None, None] * lags
    return np.maximum(np.exp(np.clip(logs, -_LARGEST_LOG, _LARGEST_LOG)), _LEAST_EXPECTED)


def _excess_variance(shared: _Array, expected: _Array, allowed: _Array, columns: Columns) -> _Array:
    """Return by how much logarithms vary beyond counting; pairs that share much say most."""
    weight = allowed / (_TAU_AT_START**2 + 1 / expected)
    n_pairs = allowed.sum(axis=(1, 2))
    n_parameters = (~np.isnan(columns.level)).sum(axis=1) + 1
    inflation = n_pairs / np.maximum(n_pairs - n_parameters, 1)
    squares = (weight * (shared / expected - 1) ** 2).sum(axis=(1, 2)) * inflation
    counting = (weight / expected).sum(axis=(1, 2))
    total = weight.sum(axis=(1, 2))
    excess = (squares - counting) / np.where(total > 0, total, 1.0)
    return np.asarray(np.maximum(excess, _MIN_TAU_SQUARED))


# ------- how far the fits of strata may be off, by drawing URLs and by what their pairs disagree on


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


# ---------------------------------------------------------------------------------- partial pooling


_MIN_STRATA = 4
"""With fewer, the variance between strata has no upper end, and nothing can be pooled."""

_GRID = np.exp(np.linspace(np.log(1e-8), np.log(100.0), 600))


def between_variance(values: _Array, variances: _Array) -> float:
    """Return the variance of the true values between strata; infinite if they are too few.

    It is where ``A`` times the residual likelihood is largest, which is never zero (the adjusted
    density method: Morris and Tang 2011, Statistical Science 26, 271).

    Parameters
    ----------
    values, variances
        Estimates of strata and their error variances.

    Examples
    --------
    >>> spread = between_variance(np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), np.full(5, 1e-6))
    >>> 0.6 < spread < 1.3
    True
    """
    if values.size < _MIN_STRATA:
        return np.inf
    precision = 1 / (variances + _GRID[:, None])
    total = precision.sum(axis=1)
    mean = precision @ values / total
    squares = (precision * (values - mean[:, None]) ** 2).sum(axis=1)
    log_likelihood = (np.log(precision).sum(axis=1) - np.log(total) - squares) / 2
    return float(_GRID[np.argmax(log_likelihood + np.log(_GRID))])


def pool(values: _Array, variances: _Array) -> tuple[_Array, _Array]:
    """Return the pooled estimates of all strata and their error variances.

    Strata are draws from a distribution; each estimate is moved towards its mean as far as its
    error and the spread of the strata say. A stratum without an estimate is at the mean.

    Parameters
    ----------
    values
        Of each stratum; NaN where it is not known.
    variances
        Their error variances.

    Returns
    -------
    tuple
        A stratum without an estimate has an infinite variance where the spread is not known.
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(values.size), np.full(values.size, np.inf)
    spread = between_variance(values[known], variances[known])
    error = np.where(known, variances, np.inf)
    precision = 1 / (error + (0.0 if np.isinf(spread) else spread))
    mean = float(precision[known] @ values[known] / precision.sum())
    if np.isinf(spread):
        return np.where(known, values, mean), error
    given_up = 1 / (1 + spread / error)
    pooled = np.where(known, values, mean) * (1 - given_up) + mean * given_up
    left = np.where(known, (1 - given_up) * variances, spread)
    return pooled, left + given_up**2 / precision.sum()
