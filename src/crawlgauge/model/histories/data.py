"""Capture histories as arrays, and what follows from them by counting alone."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import Flags, Integers, Numbers, freeze_arrays, years_of
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, OverlapTable

# ------------------------------------------------------------------------------ capture histories


@dataclass(frozen=True, kw_only=True, eq=False)
class HistoryData:
    """Distinct capture histories, one row each, with the dates of the crawls.

    Parameters
    ----------
    captured
        A row for each history, a column for each crawl in date order: True where captured.
    masks
        The same as 64-bit words: bit j is crawl j.
    counts
        URLs with each history, among the sampled ones where the histories are a sample.
    years
        Time of each crawl, in years since the first.
    sample_rate
        Share of the keys that the histories were counted from.
    by_host_group
        The counts divided among groups of whole hosts, a column for each; None where hosts are not
        known.
    """

    captured: Flags
    masks: NDArray[np.uint64]
    counts: Numbers
    years: Numbers
    sample_rate: float = 1.0
    by_host_group: Numbers | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, "captured", "masks", "counts", "years")

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.years.size

    @property
    def n_urls(self) -> float:
        """Distinct URLs over all crawls, of the sample where it is one."""
        return float(self.counts.sum())

    @cached_property
    def sizes(self) -> Numbers:
        """URLs of each crawl, of the sample where it is one."""
        return self.counts @ self.captured

    @cached_property
    def first(self) -> Integers:
        """Crawl of the first capture of each history."""
        first: Integers = np.argmax(self.captured, axis=1)
        return first

    @cached_property
    def last(self) -> Integers:
        """Crawl of the last capture of each history."""
        last: Integers = self.n_crawls - 1 - np.argmax(self.captured[:, ::-1], axis=1)
        return last


def history_data(table: OverlapTable) -> HistoryData | None:
    """Return the capture histories of an overlap table, or None if it has none.

    Parameters
    ----------
    table
        Overlaps of crawls in date order.
    """
    histories = table.histories
    if histories is None or histories.counts.size == 0:
        return None
    return HistoryData(
        captured=histories.to_matrix(),
        masks=histories.masks,
        counts=histories.counts.astype(np.float64),
        years=years_of(table.crawls),
        sample_rate=histories.sample_rate,
        by_host_group=_divide_by_hosts(histories, table.host_groups),
    )


def _divide_by_hosts(histories: Histories, groups: HostGroups | None) -> Numbers | None:
    """Divide the URLs of each history as those whose hosts are known are divided."""
    if groups is None:
        return None
    place = np.minimum(np.searchsorted(groups.masks, histories.masks), groups.masks.size - 1)
    is_known = (groups.masks[place] == histories.masks)[:, None]
    counts = np.where(is_known, groups.counts[place], np.ones(groups.n_groups))
    shares: Numbers = counts / counts.sum(axis=1, keepdims=True)
    return histories.counts[:, None] * shares


def count_known_alive(data: HistoryData) -> tuple[Numbers, Numbers]:
    """Count for each crawl the URLs seen both before and after it, and those that it holds."""
    crawl = np.arange(data.n_crawls)
    known = (data.first[:, None] < crawl) & (data.last[:, None] > crawl)
    return data.counts @ known, data.counts @ (known & data.captured)


def count_captures(table: OverlapTable) -> tuple[int, ...] | None:
    """Return how many URLs just one crawl holds, just two and so on; None without histories.

    Parameters
    ----------
    table
        The overlaps.
    """
    data = history_data(table)
    if data is None:
        return None
    times = data.captured.sum(axis=1)
    numbers = np.bincount(times, weights=data.counts, minlength=data.n_crawls + 1)
    return tuple(int(number) for number in np.rint(numbers[1:]))


# -------------------------------------------------------------- when captured URLs are seen again


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recaptures:
    """For each crawl, how many of its URLs are seen again next in each later one.

    Its size depends on the number of crawls only, however many URLs there are.

    Parameters
    ----------
    n_released
        URLs of each crawl: all of them can be captured again.
    n_next
        A row for each crawl, a column for each later crawl: URLs that it is the next to hold.
    years
        Time of each crawl, in years since the first.
    """

    n_released: Numbers
    n_next: Numbers
    years: Numbers

    @property
    def n_seen_before(self) -> Numbers:
        """URLs of each crawl that an earlier crawl holds."""
        return np.ones(self.years.size) @ self.n_next

    @property
    def n_seen_again(self) -> Numbers:
        """URLs of each crawl that a later crawl holds."""
        return self.n_next @ np.ones(self.years.size)

    @property
    def n_missed(self) -> Numbers:
        """URLs that each crawl missed although they were alive: seen both before and after it."""
        begun = np.cumsum(self.n_seen_again) - self.n_seen_again
        ended = np.cumsum(self.n_seen_before)
        return begun - ended


def count_recaptures(data: HistoryData) -> Recaptures:
    """Count for each crawl when its URLs are captured next."""
    n_crawls = data.n_crawls
    # Row by row, and in date order within each row: a neighbour of the same row comes next.
    row, crawl = np.nonzero(data.captured)
    together = row[1:] == row[:-1]
    cell = crawl[:-1][together] * n_crawls + crawl[1:][together]
    n_next = np.bincount(cell, weights=data.counts[row[1:][together]], minlength=n_crawls**2)
    return Recaptures(
        n_released=data.sizes,
        n_next=n_next.reshape(n_crawls, n_crawls).astype(np.float64),
        years=data.years,
    )


# ----------------------------------------------------------------- what the crawls hold together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Holdings:
    """The archive after each crawl.

    Parameters
    ----------
    n_distinct
        URLs that at least one crawl holds.
    known_share
        For each crawl, the share of its URLs that an earlier crawl holds too.
    known_error
        For each crawl, the standard error of that share as one of the URLs that lived.
    """

    n_distinct: int
    known_share: Numbers
    known_error: Numbers


def count_holdings(table: OverlapTable) -> Holdings | None:
    """Count what the crawls hold together, or return None where pairs do not tell.

    Capture histories always tell. Pairs do if no three crawls can have URLs in common, as with
    two crawls: then every URL that is held twice shows in just one pair.

    Parameters
    ----------
    table
        The overlaps.
    """
    data = history_data(table)
    if data is not None:
        # What begins earlier than a crawl is known to it.
        is_known = data.captured & (data.first[:, None] < np.arange(data.n_crawls))
        sizes, n_known = data.sizes, data.counts @ is_known
        n_distinct = round(data.n_urls / data.sample_rate)
    elif _pairs_suffice(table):
        sizes = np.array([crawl.n_counted for crawl in table.crawls], dtype=np.float64)
        n_known = np.triu(table.n_shared, k=1).sum(axis=0).astype(np.float64)
        n_distinct = round(float(sizes.sum() - n_known.sum()) / table.sample_rate)
    else:
        return None
    if np.any(n_known > sizes):
        # No sets overlap like this: two that share nothing cannot each hold most of a third.
        return None
    # One URL more or less, so that the error of a share of 0 or 1 is not taken to be nothing.
    doubt = (n_known + 1) / (sizes + 2)
    return Holdings(
        n_distinct=n_distinct,
        known_share=np.divide(n_known, sizes, out=np.zeros_like(sizes), where=sizes > 0),
        known_error=np.sqrt(doubt * (1 - doubt) / np.maximum(sizes, 1)),
    )


def _pairs_suffice(table: OverlapTable) -> bool:
    """Tell whether every overlap is a known count, and no three crawls overlap each other."""
    if np.any(table.n_shared == MISSING) or table.se_shared is not None:
        return False
    shares = np.triu(table.n_shared > 0, k=1)
    # Two crawls that share with one between them must not share with each other.
    return not np.any((shares @ shares) & shares)
