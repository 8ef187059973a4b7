"""Least squares of the two-way model in closed form, for many selections of the pairs at once.

The normal equations separate: the slope is the one within the columns (rows that end in the same
crawl), and the level of each column is its mean taken back to lag zero.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import PairData, freeze_arrays

__all__ = ["ColumnFits", "fit_columns"]

_TAU_AT_START = 0.05
_TAU_PASSES = 3
_MIN_TAU_SQUARED = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnFits:
    """Levels and slopes, one fit for each selection of rows.

    Parameters
    ----------
    level
        For each fit and crawl; NaN where it is not identifiable.
    slope
        For each fit; NaN where it is not identifiable.
    tau_squared
        For each fit, the variance of the logarithms beyond that of counting.
    n_freedom
        For each fit, pairs minus parameters; negative if parameters share pairs.
    """

    level: NDArray[np.float64]
    slope: NDArray[np.float64]
    tau_squared: NDArray[np.float64]
    n_freedom: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "level", "slope", "tau_squared", "n_freedom")


def fit_columns(pairs: PairData, included: NDArray[np.bool_]) -> ColumnFits:
    """Fit the two-way model to each selection of rows.

    The weights are 1/(τ² + v), v being the variance of counting; τ² is what the residuals vary
    by beyond v, found in a few passes.

    Parameters
    ----------
    pairs
        The pairs to fit.
    included
        For each fit a row of truth values, one for each row of `pairs`.
    """
    columns = _Columns(pairs, included)
    tau_squared = np.full(len(included), _TAU_AT_START**2)
    for _ in range(_TAU_PASSES):
        mean_level, slope = columns.solve(tau_squared)
        tau_squared = columns.excess_variance(mean_level, slope)
    level_in_columns, slope = columns.solve(tau_squared)
    decays = ~columns.identified[:, None] & (columns.longest > 0)
    level = np.full((len(included), pairs.n_crawls), np.nan)
    level[:, columns.ends] = np.where(columns.present & ~decays, level_in_columns, np.nan)
    return ColumnFits(
        level=level,
        slope=np.where(columns.identified, slope, np.nan),
        tau_squared=tau_squared,
        n_freedom=columns.n_freedom,
    )


class _Columns:
    """The rows of `pairs` in the order of their ends, for every selection side by side."""

    def __init__(self, pairs: PairData, included: NDArray[np.bool_]) -> None:
        order = np.argsort(pairs.end, kind="stable")
        self.ends, self._first, self._column = np.unique(
            pairs.end[order], return_index=True, return_inverse=True
        )
        self._logs, self._lags = pairs.log_forward[order], pairs.lag_years[order]
        self._variance = pairs.log_variance[order]
        included = included[:, order]
        self._weight = np.where(included, pairs.weight[order], 0.0)
        shortest = self._reduce(np.minimum, np.where(included, self._lags, np.inf))
        self.longest = self._reduce(np.maximum, np.where(included, self._lags, -np.inf))
        self.present = np.isfinite(self.longest)
        self.identified = np.any(self.longest > shortest, axis=1)
        self._n_pairs = np.rint(self._weight.sum(axis=1)).astype(np.int64)
        self.n_freedom = self._n_pairs - self.present.sum(axis=1) - self.identified

    def solve(
        self, tau_squared: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the level of each column and the slope, for each selection."""
        weight = self._weight / (tau_squared[:, None] + self._variance)
        total = self._reduce(np.add, weight)
        total = np.where(self.present, total, 1.0)
        mean_lag = self._reduce(np.add, weight * self._lags) / total
        mean_log = self._reduce(np.add, weight * self._logs) / total
        lag_within = self._lags - mean_lag[:, self._column]
        weighted = weight * lag_within
        spread = np.where(self.identified, np.sum(weighted * lag_within, axis=1), 1.0)
        # Lags within a column sum to zero under the weights, so that its mean log drops out.
        slope = np.where(self.identified, weighted @ self._logs / spread, 0.0)
        return mean_log - slope[:, None] * mean_lag, slope

    def excess_variance(
        self, level: NDArray[np.float64], slope: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return by how much the residuals vary beyond counting, for each selection."""
        residuals = self._logs - level[:, self._column] - slope[:, None] * self._lags
        spread = np.sum(self._weight * residuals**2, axis=1) / np.maximum(self.n_freedom, 1)
        noise = self._weight @ self._variance / np.maximum(self._n_pairs, 1)
        excess: NDArray[np.float64] = np.maximum(_MIN_TAU_SQUARED, spread - noise)
        return excess

    def _reduce(self, operation: np.ufunc, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.ends.size:
            return np.zeros((len(values), 0))
        reduced: NDArray[np.float64] = operation.reduceat(values, self._first, axis=1)
        return reduced
