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

from crawlgauge.model.pairs import PairData, freeze_arrays

__all__ = ["FIRST_CRAWL", "NO_INTERVAL", "TwoWayFit", "fit_two_way", "refused_fit"]

FIRST_CRAWL = "not identifiable: first crawl"
NO_INTERVAL = "0 degrees of freedom: no interval is possible"

_NO_EARLIER = "not identifiable: no earlier crawl is compared with it"
_NOTHING_SHARED = "not identifiable: it shares nothing with any earlier crawl"
_NO_PERSISTENCE = "not identifiable: no crawl is compared with crawls of two different dates"
_NOT_APART = "not identifiable: without a persistence, coverage cannot be told from turnover"

_TAU_AT_START = 0.05
_TAU_PASSES = 3
_MIN_TAU_SQUARED = 1e-8


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
    """

    log_coverage: NDArray[np.float64]
    log_persistence: float
    coverage_reasons: tuple[str | None, ...]
    persistence_reason: str | None
    n_freedom: int
    tau_squared: float

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
    def log_typical(self) -> float:
        """Mean logarithm of the coverage over the crawls that are estimated; NaN without any."""
        return float(np.mean(self.log_coverage[self.estimated])) if self.estimated.any() else np.nan

    @property
    def typical_reason(self) -> str | None:
        """Why the typical coverage or the interval of it is missing; None if neither is."""
        if self.estimated.any():
            return self.coverage_reasons[int(np.flatnonzero(self.estimated)[-1])]
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

    The weights are 1/(τ² + 1/X); τ² is what the residuals vary by beyond counting, found in a
    few passes. With three crawls the fit is saturated and equals the closed form
    ``c_2 = X_12·X_23 / (M_2·X_13)``.

    Parameters
    ----------
    pairs
        The pairs to fit.
    """
    identified = _identify_persistence(pairs)
    n_parameters = np.unique(pairs.end).size + identified
    n_freedom = pairs.n_pairs - n_parameters
    counting = 1 / pairs.n_shared
    tau_squared = _TAU_AT_START**2
    for _ in range(_TAU_PASSES):
        level, slope = _fit_columns(pairs, pairs.weight / (tau_squared + counting), identified)
        residuals = pairs.log_forward - level[pairs.end] - slope * pairs.lag_years
        spread = float(pairs.weight @ residuals**2) / max(n_freedom, 1)
        noise = float(pairs.weight @ counting) / max(pairs.n_pairs, 1)
        tau_squared = max(_MIN_TAU_SQUARED, spread - noise)
    level, slope = _fit_columns(pairs, pairs.weight / (tau_squared + counting), identified)
    if not identified:
        level[pairs.end[pairs.lag_years > 0]] = np.nan
    no_interval = NO_INTERVAL if n_freedom <= 0 else None
    return TwoWayFit(
        log_coverage=level,
        log_persistence=slope if identified else np.nan,
        coverage_reasons=tuple(
            no_interval if not np.isnan(level[crawl]) else _why_not_identified(pairs, crawl)
            for crawl in range(pairs.n_crawls)
        ),
        persistence_reason=no_interval if identified else _NO_PERSISTENCE,
        n_freedom=n_freedom,
        tau_squared=tau_squared,
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


def _identify_persistence(pairs: PairData) -> bool:
    """Tell whether some crawl is compared with crawls of two different dates."""
    lags = pairs.lag_years
    shortest = np.full(pairs.n_crawls, np.inf)
    longest = np.full(pairs.n_crawls, -np.inf)
    np.minimum.at(shortest, pairs.end, lags)
    np.maximum.at(longest, pairs.end, lags)
    return bool(np.any(longest > shortest))


def _fit_columns(
    pairs: PairData, weight: NDArray[np.float64], identified: bool
) -> tuple[NDArray[np.float64], float]:
    """Return the level of each crawl and the slope; NaN for crawls that end no row.

    The normal equations separate: the slope is the one within the columns, and each level is
    its column's mean taken back to lag zero.
    """
    n = pairs.n_crawls
    end, lags, logs = pairs.end, pairs.lag_years, pairs.log_forward
    with np.errstate(invalid="ignore"):
        total = np.bincount(end, weight, minlength=n)
        mean_lag = np.bincount(end, weight * lags, minlength=n) / total
        mean_log = np.bincount(end, weight * logs, minlength=n) / total
    slope = 0.0
    if identified:
        lag_within, log_within = lags - mean_lag[end], logs - mean_log[end]
        slope = float((weight * lag_within) @ log_within / ((weight * lag_within) @ lag_within))
    return mean_log - slope * mean_lag, slope


def _why_not_identified(pairs: PairData, crawl: int) -> str:
    if np.any(pairs.end == crawl):
        return _NOT_APART
    if crawl == 0:
        return FIRST_CRAWL
    return _NOTHING_SHARED if np.any(pairs.zeros[:, 1] == crawl) else _NO_EARLIER
