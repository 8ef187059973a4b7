"""The two-way model: a coverage for each crawl and one persistence for all.

For a pair of crawls i before j that are D years apart, the urn gives
``ln X_ij − ln M_i = λ_j + a·D``, where X is what they share and M the size: exp λ_j is the
coverage of the later crawl and exp a the persistence per year. The size of the earlier crawl
cancels whatever it is, and so the coverage of the first crawl never shows.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from crawlgauge.model.pairs import MAX_LOG, Flags, Integers, Numbers, PairData, freeze_arrays
from crawlgauge.model.phrases import per_year, percent

# ------ least squares of the two-way model in closed form, for many selections of the pairs at once


_TAU_AT_START = 0.05
_TAU_PASSES = 3
_MIN_TAU_SQUARED = 1e-8


class ColumnFits(NamedTuple):
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

    level: Numbers
    slope: Numbers
    tau_squared: Numbers
    n_freedom: Integers


def fit_columns(pairs: PairData, included: Flags) -> ColumnFits:
    """Fit the two-way model to each selection of rows.

    The weights are 1/(τ² + v), v being the variance of counting; τ² is what the residuals vary
    by beyond v, found in a few passes.
    """
    order = np.argsort(pairs.end, kind="stable")
    ends, first, column = np.unique(pairs.end[order], return_index=True, return_inverse=True)
    logs, lags, counting = (
        rows[order] for rows in (pairs.log_forward, pairs.lag_years, pairs.log_variance)
    )
    included = included[:, order]
    row_weight = np.where(included, pairs.weight[order], 0.0)

    def by_column(operation: np.ufunc, values: Numbers) -> Numbers:
        if not ends.size:
            return np.zeros((len(values), 0))
        return operation.reduceat(values, first, axis=1)

    shortest = by_column(np.minimum, np.where(included, lags, np.inf))
    longest = by_column(np.maximum, np.where(included, lags, -np.inf))
    present = np.isfinite(longest)
    identified = np.any(longest > shortest, axis=1)
    n_pairs = np.rint(row_weight.sum(axis=1)).astype(np.int64)
    n_freedom = n_pairs - present.sum(axis=1) - identified

    def solve(tau_squared: Numbers) -> tuple[Numbers, Numbers]:
        weight = row_weight / (tau_squared[:, None] + counting)
        total = np.where(present, by_column(np.add, weight), 1.0)
        mean_lag = by_column(np.add, weight * lags) / total
        mean_log = by_column(np.add, weight * logs) / total
        lag_within = lags - mean_lag[:, column]
        weighted = weight * lag_within
        spread = np.where(identified, np.sum(weighted * lag_within, axis=1), 1.0)
        # Lags within a column sum to zero under the weights, so that its mean log drops out.
        slope = np.where(identified, weighted @ logs / spread, 0.0)
        return mean_log - slope[:, None] * mean_lag, slope

    tau_squared = np.full(len(included), _TAU_AT_START**2)
    for _ in range(_TAU_PASSES):
        by_end, slope = solve(tau_squared)
        residuals = logs - by_end[:, column] - slope[:, None] * lags
        scatter = np.sum(row_weight * residuals**2, axis=1) / np.maximum(n_freedom, 1)
        noise = row_weight @ counting / np.maximum(n_pairs, 1)
        tau_squared = np.maximum(_MIN_TAU_SQUARED, scatter - noise)
    by_end, slope = solve(tau_squared)
    is_known = present & (identified[:, None] | (longest <= 0))
    level = np.full((len(included), pairs.n_crawls), np.nan)
    level[:, ends] = np.where(is_known, by_end, np.nan)
    return ColumnFits(level, np.where(identified, slope, np.nan), tau_squared, n_freedom)


# ------------------------- the two-way model: a coverage for each crawl and one persistence for all


FIRST_CRAWL = "not identifiable: first crawl"
_NO_INTERVAL = "0 degrees of freedom: no interval is possible"

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

    log_coverage: Numbers
    log_persistence: float
    coverage_reasons: tuple[str | None, ...]
    persistence_reason: str | None
    n_freedom: int
    tau_squared: float
    latest: Flags | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")

    @property
    def estimated(self) -> Flags:
        """Whether each crawl's coverage is identifiable."""
        return ~np.isnan(self.log_coverage)

    @property
    def has_persistence(self) -> bool:
        """Whether the persistence is identifiable."""
        return not math.isnan(self.log_persistence)

    @property
    def has_remainder(self) -> bool:
        """Whether something is left over to judge the fit by."""
        return self.n_freedom > 0 and not math.isnan(self.tau_squared)

    @property
    def typical(self) -> Flags:
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

    def log_containments(self, end: Integers, lag_years: Numbers) -> Numbers:
        """Return the fitted logarithm of the share of a start's URLs that each end holds."""
        # At lag 0 the persistence plays no part, known or not.
        decay = np.where(lag_years > 0, self.log_persistence * lag_years, 0.0)
        return self.log_coverage[end] + decay


def fit_two_way(pairs: PairData) -> TwoWayFit:
    """Fit the two-way model by weighted least squares.

    With three crawls the fit is saturated and equals the closed form
    ``c_2 = X_12·X_23 / (M_2·X_13)``.
    """
    fits = fit_columns(pairs, np.ones((1, pairs.end.size), dtype=np.bool_))
    level, slope, n_freedom = fits.level[0], float(fits.slope[0]), int(fits.n_freedom[0])
    if max(abs(slope), np.nanmax(np.abs(level), initial=0.0)) > MAX_LOG:
        return refused_fit(pairs.n_crawls, _TOO_CLOSE)
    no_interval = _NO_INTERVAL if n_freedom <= 0 else None
    return TwoWayFit(
        log_coverage=level,
        log_persistence=slope,
        coverage_reasons=tuple(
            _why_not_identified(pairs, crawl) if np.isnan(level[crawl]) else no_interval
            for crawl in range(pairs.n_crawls)
        ),
        persistence_reason=_NO_PERSISTENCE if np.isnan(slope) else no_interval,
        n_freedom=n_freedom,
        tau_squared=float(fits.tau_squared[0]),
    )


def refused_fit(n_crawls: int, reason: str) -> TwoWayFit:
    """Make a fit in which nothing is known, for one reason."""
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
    """
    if pairs.n_crawls != 2 or pairs.n_pairs == 0 or pairs.lag_years[0] == 0:  # noqa: PLR2004 - two
        return None
    return math.exp(pairs.log_forward[0])


def fit_two_crawls(pairs: PairData, persistence: float | None) -> TwoWayFit:
    """Say what two crawls tell, with a persistence known from elsewhere or without."""
    if pairs.n_pairs == 0:
        return refused_fit(2, _TWO_SHARE_NOTHING if pairs.n_known else _NOT_COMPARED)
    bound = lower_bound(pairs)
    if bound is None:
        return fit_two_way(pairs)
    if persistence is None:
        only = f"{_ONLY_PRODUCT} = {bound:.2g}, so coverage is at least {percent(bound)}"
        unknown = refused_fit(2, _ONE_PAIR)
        return replace(unknown, coverage_reasons=(FIRST_CRAWL, only), n_freedom=-1)
    given = f"rests on the given persistence of {per_year(persistence)}: no interval is possible"
    lag = float(pairs.lag_years[0])
    return TwoWayFit(
        log_coverage=np.array([np.nan, math.log(bound) - lag * math.log(persistence)]),
        log_persistence=math.log(persistence),
        coverage_reasons=(FIRST_CRAWL, given),
        persistence_reason="given, not estimated",
        n_freedom=0,
        tau_squared=np.nan,
    )
