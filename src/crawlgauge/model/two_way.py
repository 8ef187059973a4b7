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

from crawlgauge.model.column_fits import fit_columns
from crawlgauge.model.pairs import MAX_LOG, PairData, freeze_arrays

__all__ = ["FIRST_CRAWL", "NO_INTERVAL", "TwoWayFit", "fit_two_way", "refused_fit"]

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
