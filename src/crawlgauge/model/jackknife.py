"""The two-way model without each crawl in turn, and the variance that the differences show."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.column_fits import fit_columns
from crawlgauge.model.growth import growth_coefficients
from crawlgauge.model.pairs import PairData, freeze_arrays

__all__ = ["Replicates", "Spread", "delete_each_crawl", "jackknife_variance"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicates:
    """Estimates without one crawl each, a row for each deleted crawl; NaN where unidentifiable.

    Parameters
    ----------
    log_typical, log_persistence, log_growth
        Mean log coverage of the crawls that are left, and the rates per year.
    log_coverage
        Of each crawl that is left.
    """

    log_typical: NDArray[np.float64]
    log_persistence: NDArray[np.float64]
    log_growth: NDArray[np.float64]
    log_coverage: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_typical", "log_persistence", "log_growth", "log_coverage")

    @property
    def n_deleted(self) -> int:
        """Number of crawls that were deleted in turn."""
        return len(self.log_coverage)

    @property
    def by_estimate(self) -> NDArray[np.float64]:
        """A column for each estimate: the three rates, then the crawls."""
        return np.column_stack(
            [self.log_typical, self.log_persistence, self.log_growth, self.log_coverage]
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """For each estimate its jackknife variance, and the number of replicates it rests on."""

    variance: NDArray[np.float64]
    n_replicates: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "variance", "n_replicates")


def delete_each_crawl(pairs: PairData, latest: NDArray[np.bool_] | None = None) -> Replicates:
    """Refit the pairs without each crawl that takes part in any.

    Parameters
    ----------
    pairs
        The pairs of the whole series.
    latest
        Which crawls the typical coverage and the growth are of, if not of all.
    """
    deleted = np.unique(np.concatenate([pairs.start, pairs.end]))
    included = (pairs.start != deleted[:, None]) & (pairs.end != deleted[:, None])
    fits = fit_columns(pairs, included)
    known = ~np.isnan(fits.level) & (True if latest is None else latest)
    level = np.where(known, fits.level, 0.0)
    n_known = known.sum(axis=1)
    typical = np.where(n_known > 0, level.sum(axis=1) / np.maximum(n_known, 1), np.nan)
    trends = np.array([growth_coefficients(pairs.years, crawls) for crawls in known])
    growth = np.sum(trends * (np.log(pairs.n_urls) - level), axis=1)
    return Replicates(
        log_typical=typical,
        log_persistence=fits.slope,
        log_growth=np.where(trends.any(axis=1), growth, np.nan),
        log_coverage=fits.level,
    )


def jackknife_variance(replicates: NDArray[np.float64]) -> Spread:
    """Return (n − 1)/n times the squared deviations of the n usable replicates.

    Parameters
    ----------
    replicates
        A row for each deleted crawl, a column for each estimate; NaN where it is not usable.
    """
    usable = ~np.isnan(replicates)
    n = usable.sum(axis=0)
    at_least_one = np.maximum(n, 1)
    mean = np.where(usable, replicates, 0.0).sum(axis=0) / at_least_one
    squares = np.where(usable, (replicates - mean) ** 2, 0.0).sum(axis=0)
    return Spread(variance=(at_least_one - 1) / at_least_one * squares, n_replicates=n)
