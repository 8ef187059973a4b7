"""The two-way model: a coverage for each crawl and one persistence for all.

For a pair of crawls i before j that are D years apart, the urn gives
``ln X_ij − ln M_i = λ_j + a·D``, where X is what they share and M the size: exp λ_j is the
coverage of the later crawl and exp a the persistence per year. The size of the earlier crawl
cancels whatever it is, and so the coverage of the first crawl never shows.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import MAX_LOG, PairData, freeze_arrays
from crawlgauge.model.phrases import per_year, percent

__all__ = [
    "FIRST_CRAWL",
    "NO_INTERVAL",
    "ColumnFits",
    "TwoWayFit",
    "fit_columns",
    "fit_two_crawls",
    "fit_two_way",
    "lower_bound",
    "refused_fit",
]


# ------ least squares of the two-way model in closed form, for many selections of the pairs at once


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


# ------------------------- the two-way model: a coverage for each crawl and one persistence for all


FIRST_CRAWL = "not identifiable: first crawl"
NO_INTERVAL = "0 degrees of freedom: no interval is possible"

_NO_EARLIER = "not identifiable: no earlier crawl is compared with it"
_NOTHING_SHARED = "not identifiable: it shares nothing with any earlier crawl"
_NO_PERSISTENCE = "not identifiable: no crawl is compared with crawls of two different dates"
_TOO_CLOSE = "not identifiable: the crawls lie too close in time to tell their turnover"
_NOT_APART = "not identifiable: without a persistence, coverage cannot be told from turnover"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoWayFit:
    """Coverage of each crawl and the common persistence, as logarithms.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN where it is not identifiable.
    log_persistence
        Per year; NaN where it is not identifiable.
    coverage_reasons
        For each crawl, why its coverage or the interval of it is missing; None if neither is.
    persistence_reason
        The same of the persistence.
    n_freedom
        Pairs minus parameters; negative if parameters share pairs.
    tau_squared
        Variance of the logarithms beyond that of counting.
    latest
        Which crawls the typical coverage and the growth are of, if not of all: those of the
        latest regime.
    """

    log_coverage: NDArray[np.float64]
    log_persistence: float
    coverage_reasons: tuple[str | None, ...]
    persistence_reason: str | None
    n_freedom: int
    tau_squared: float
    latest: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")

    @property
    def estimated(self) -> NDArray[np.bool_]:
        """Whether each crawl's coverage is identifiable."""
        return ~np.isnan(self.log_coverage)

    @property
    def has_persistence(self) -> bool:
        """Whether the persistence is identifiable."""
        return not math.isnan(self.log_persistence)

    @property
    def typical(self) -> NDArray[np.bool_]:
        """Whether each crawl is one that the typical coverage is the mean of."""
        return self.estimated if self.latest is None else self.estimated & self.latest

    @property
    def log_typical(self) -> float:
        """Mean logarithm of the coverage over the typical crawls; NaN without any."""
        return float(np.mean(self.log_coverage[self.typical])) if self.typical.any() else np.nan

    @property
    def typical_reason(self) -> str | None:
        """Why the typical coverage or the interval of it is missing; None if neither is."""
        if self.typical.any():
            return self.coverage_reasons[int(np.flatnonzero(self.typical)[-1])]
        # The last crawl has the most partners: what hinders its estimate hinders all.
        return self.coverage_reasons[-1]

    def log_containments(
        self, end: NDArray[np.int64], lag_years: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the fitted logarithm of the share of a start's URLs that each end holds."""
        # At lag 0 the persistence plays no part, known or not.
        decay = np.where(lag_years > 0, self.log_persistence * lag_years, 0.0)
        return self.log_coverage[end] + decay


def fit_two_way(pairs: PairData) -> TwoWayFit:
    """Fit the two-way model by weighted least squares.

    With three crawls the fit is saturated and equals the closed form
    ``c_2 = X_12·X_23 / (M_2·X_13)``.

    Parameters
    ----------
    pairs
        The pairs to fit.
    """
    fits = fit_columns(pairs, np.ones((1, pairs.end.size), dtype=np.bool_))
    level, slope, n_freedom = fits.level[0], float(fits.slope[0]), int(fits.n_freedom[0])
    if max(abs(slope), np.nanmax(np.abs(level), initial=0.0)) > MAX_LOG:
        return refused_fit(pairs.n_crawls, _TOO_CLOSE)
    no_interval = NO_INTERVAL if n_freedom <= 0 else None
    return TwoWayFit(
        log_coverage=level,
        log_persistence=slope,
        coverage_reasons=tuple(
            no_interval if not np.isnan(level[crawl]) else _why_not_identified(pairs, crawl)
            for crawl in range(pairs.n_crawls)
        ),
        persistence_reason=_NO_PERSISTENCE if np.isnan(slope) else no_interval,
        n_freedom=n_freedom,
        tau_squared=float(fits.tau_squared[0]),
    )


def refused_fit(n_crawls: int, reason: str) -> TwoWayFit:
    """Make a fit in which nothing is known, for one reason.

    Parameters
    ----------
    n_crawls
        Number of crawls.
    reason
        Why nothing is known.
    """
    return TwoWayFit(
        log_coverage=np.full(n_crawls, np.nan),
        log_persistence=np.nan,
        coverage_reasons=(reason,) * n_crawls,
        persistence_reason=reason,
        n_freedom=0,
        tau_squared=np.nan,
    )


def _why_not_identified(pairs: PairData, crawl: int) -> str:
    if np.any(pairs.end == crawl):
        return _NOT_APART
    if crawl == 0:
        return FIRST_CRAWL
    return _NOTHING_SHARED if np.any(pairs.zeros[:, 1] == crawl) else _NO_EARLIER


# --------------------------------------------------------------------------------------- two crawls


_TWO_SHARE_NOTHING = "not identifiable: the two crawls share nothing"
_NOT_COMPARED = "not identifiable: the overlap of the two crawls is not known"
_ONLY_PRODUCT = "not identifiable: two crawls give only coverage × persistence^lag"
_ONE_PAIR = "not identifiable: two crawls give only one pair"


def lower_bound(pairs: PairData) -> float | None:
    """Return coverage times survival of the newer of two crawls of different dates.

    As nothing lives on more than completely, it is the least that the newer crawl covers. None
    if the crawls are not two, of the same date, not compared, or share nothing.

    Parameters
    ----------
    pairs
        The pairs of a series.
    """
    if pairs.n_crawls != 2 or pairs.n_pairs == 0 or pairs.lag_years[0] == 0:  # noqa: PLR2004 - two
        return None
    return math.exp(pairs.log_forward[0])


def fit_two_crawls(pairs: PairData, persistence: float | None) -> TwoWayFit:
    """Say what two crawls tell, with a persistence known from elsewhere or without.

    Parameters
    ----------
    pairs
        Of two crawls.
    persistence
        Share of the URLs that live on for a year, or None if it is not known.
    """
    if pairs.n_pairs == 0:
        return refused_fit(2, _TWO_SHARE_NOTHING if pairs.n_known else _NOT_COMPARED)
    bound = lower_bound(pairs)
    if bound is None:
        return fit_two_way(pairs)
    if persistence is None:
        return TwoWayFit(
            log_coverage=np.full(2, np.nan),
            log_persistence=np.nan,
            coverage_reasons=(
                FIRST_CRAWL,
                f"{_ONLY_PRODUCT} = {bound:.2g}, so coverage is at least {percent(bound)}",
            ),
            persistence_reason=_ONE_PAIR,
            n_freedom=-1,
            tau_squared=np.nan,
        )
    lag = float(pairs.lag_years[0])
    return TwoWayFit(
        log_coverage=np.array([np.nan, math.log(bound) - lag * math.log(persistence)]),
        log_persistence=math.log(persistence),
        coverage_reasons=(
            FIRST_CRAWL,
            f"rests on the given persistence of {per_year(persistence)}: no interval is possible",
        ),
        persistence_reason="given, not estimated",
        n_freedom=0,
        tau_squared=np.nan,
    )
