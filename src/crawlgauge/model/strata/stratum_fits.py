"""The two-way model of every stratum, each by itself, from counts that may be small.

What crawl j holds of the URLs that crawl i has of a stratum is expected to number
``μ = M_i · exp(λ_j + a·D)``. The equations are those of weighted least squares on logarithms, but
are solved for the counts themselves (quasi-likelihood with variance ``μ + τ²·μ²``), so that pairs
that happen to share nothing count for what they are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Columns", "StratumFits", "fit_strata", "pair_weights", "solve_columns"]

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
