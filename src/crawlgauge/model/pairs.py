"""The pairs of an overlap table as arrays: what every pair-based fit starts from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.overlaps.table import MISSING, OverlapTable

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

MAX_LOG = 600.0
"""Rates per year beyond e^±600, as crawls of one day after the other can give, say nothing."""


def freeze_arrays(holder: object, *names: str) -> None:
    """Replace the named arrays of a frozen dataclass by read-only copies."""
    for name in names:
        array = np.array(getattr(holder, name))
        array.flags.writeable = False
        object.__setattr__(holder, name, array)


def years_of(crawls: Sequence[Crawl]) -> Numbers:
    """Return the years from the first crawl to each."""
    days = np.array([crawl.date.toordinal() for crawl in crawls], dtype=np.float64)
    years: Numbers = (days - days[0]) / DAYS_PER_YEAR
    return years


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairData:
    """Pairs with a logarithm, one row each; same-date pairs as two rows of half weight.

    Crawls are numbered from 0 in date order. Overlaps are set against `n_counted`, the size of
    the sample where there is one; populations follow from `n_urls`.

    Parameters
    ----------
    days
        Day number of each crawl.
    n_counted, n_urls
        Sizes of each crawl: what overlaps are counted among, and all of it.
    start, end
        For each row, the crawl whose URLs are looked for and the crawl they are looked for in.
    n_shared
        For each row, the URLs that both hold; never 0.
    relative_error
        For each row, the standard error that `n_shared` comes with, over it; 0 for a plain count.
    weight
        For each row, 1, or 1/2 for each of the two directions of a same-date pair.
    zeros
        Start and end of each known pair that shares nothing, one row a pair.
    n_missing
        Pairs whose overlap is not known.
    sample_rate
        Share of the keys that `n_counted` and `n_shared` were counted among.
    """

    days: Integers
    n_counted: Numbers
    n_urls: Numbers
    start: Integers
    end: Integers
    n_shared: Numbers
    relative_error: Numbers
    weight: Numbers
    zeros: Integers
    n_missing: int
    sample_rate: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "days", "n_counted", "n_urls")
        freeze_arrays(self, "start", "end", "n_shared", "relative_error", "weight", "zeros")

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.days.size

    @property
    def n_pairs(self) -> int:
        """Number of pairs with a logarithm; a same-date pair counts once."""
        return round(float(self.weight.sum()))

    @property
    def n_known(self) -> int:
        """Number of pairs whose overlap is known, those that share nothing among them."""
        return self.n_pairs + len(self.zeros)

    @property
    def years(self) -> Numbers:
        """Time of each crawl in years since the first."""
        return self.lags_between(np.zeros_like(self.days), np.arange(self.n_crawls))

    @property
    def lag_years(self) -> Numbers:
        """Time difference of each row; equal numbers of days give equal numbers."""
        return self.lags_between(self.start, self.end)

    @property
    def log_forward(self) -> Numbers:
        """Logarithm of the share of the start's URLs that the end holds, for each row."""
        return np.log(self.n_shared) - np.log(self.n_counted[self.start])

    @property
    def log_backward(self) -> Numbers:
        """Logarithm of the share of the end's URLs that the start holds, for each row."""
        return np.log(self.n_shared) - np.log(self.n_counted[self.end])

    @property
    def log_variance(self) -> Numbers:
        """Variance of each row's logarithm: by counting, and by the error that it comes with."""
        return 1 / self.n_shared + self.relative_error**2

    def fit_weights(self, tau_squared: float) -> Numbers:
        """Return the weight of each row in a fit that leaves a variance beyond counting."""
        return self.weight / (tau_squared + self.log_variance)

    def column_totals(self, weight: Numbers) -> Numbers:
        """Return the weight of the rows that end with each crawl; 1 where there is none."""
        total = np.bincount(self.end, weight, minlength=self.n_crawls)
        return np.where(total > 0, total, 1.0)

    def column_means(self, weight: Numbers, values: Numbers) -> Numbers:
        """Return the weighted mean over the rows that end with each crawl."""
        total = np.bincount(self.end, weight * values, minlength=self.n_crawls)
        return total / self.column_totals(weight)

    def within_columns(self, weight: Numbers, values: Numbers) -> Numbers:
        """Take the mean of its column from each value: what is left depends on no coverage."""
        return values - self.column_means(weight, values)[self.end]

    def lags_between(self, start: Integers, end: Integers) -> Numbers:
        """Return the years from each start to each end."""
        return (self.days[end] - self.days[start]) / DAYS_PER_YEAR


def pair_data(table: OverlapTable) -> PairData:
    """Lay out the pairs of `table` for fitting.

    Missing pairs are left out and counted, pairs that share nothing are set apart, and a pair of
    the same date enters in both directions with half the weight, since both then hold.
    """
    days = np.array([crawl.date.toordinal() for crawl in table.crawls], dtype=np.int64)
    start, end = np.triu_indices(table.n_crawls, k=1)
    shared = table.n_shared[start, end]
    usable, zero = shared > 0, shared == 0
    error = np.zeros(shared.size)
    if table.se_shared is not None:
        error = np.nan_to_num(table.se_shared[start, end])
    relative_error = error / np.where(usable, shared, 1)
    same_date = usable & (days[start] == days[end])
    return PairData(
        days=days,
        n_counted=np.array([crawl.n_counted for crawl in table.crawls], dtype=np.float64),
        n_urls=np.array([crawl.n_urls for crawl in table.crawls], dtype=np.float64),
        start=np.concatenate([start[usable], end[same_date]]),
        end=np.concatenate([end[usable], start[same_date]]),
        n_shared=np.concatenate([shared[usable], shared[same_date]]).astype(np.float64),
        relative_error=np.concatenate([relative_error[usable], relative_error[same_date]]),
        weight=np.concatenate(
            [np.where(same_date, 0.5, 1.0)[usable], np.full(same_date.sum(), 0.5)]
        ),
        zeros=np.column_stack([start[zero], end[zero]]),
        n_missing=int(np.sum(shared == MISSING)),
        sample_rate=table.sample_rate,
    )
