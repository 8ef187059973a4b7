"""When captured URLs are seen again: all that the models of open populations need to know."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import FitError
from crawlgauge.model.pairs import freeze_arrays, years_of
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = [
    "HistoryData",
    "Holdings",
    "Recaptures",
    "count_captures",
    "count_holdings",
    "count_recaptures",
    "history_data",
]


# ---------------------------- capture histories as arrays: what every history-based fit starts from


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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

    captured: NDArray[np.bool_]
    masks: NDArray[np.uint64]
    counts: NDArray[np.float64]
    years: NDArray[np.float64]
    sample_rate: float = 1.0
    by_host_group: NDArray[np.float64] | None = None

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

    @property
    def sizes(self) -> NDArray[np.float64]:
        """URLs of each crawl, of the sample where it is one."""
        return self.counts @ self.captured


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


def _divide_by_hosts(histories: Histories, groups: HostGroups | None) -> NDArray[np.float64] | None:
    """Divide the URLs of each history as those whose hosts are known are divided."""
    if groups is None:
        return None
    place = np.minimum(np.searchsorted(groups.masks, histories.masks), groups.masks.size - 1)
    counts = np.where(
        (groups.masks[place] == histories.masks)[:, None],
        groups.counts[place],
        np.ones(groups.n_groups),
    )
    shares: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
    return histories.counts[:, None] * shares


# ---------------------------------------------------------------- when captured URLs are seen again


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recaptures:
    """For each crawl, how many of its URLs are seen again next in each later one.

    Its size depends on the number of crawls only, however many URLs there are.

    Parameters
    ----------
    n_captured
        URLs of each crawl.
    n_released
        Those of them that can be captured again: all URLs, but not all animals.
    n_next
        A row for each crawl, a column for each later crawl: URLs that it is the next to hold.
    years
        Time of each crawl, in years since the first.
    """

    n_captured: NDArray[np.float64]
    n_released: NDArray[np.float64]
    n_next: NDArray[np.float64]
    years: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "n_captured", "n_released", "n_next", "years")

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.years.size

    @property
    def interval_years(self) -> NDArray[np.float64]:
        """Time from each crawl but the last to the next."""
        return np.diff(self.years)

    @property
    def n_seen_before(self) -> NDArray[np.float64]:
        """URLs of each crawl that an earlier crawl holds."""
        return np.ones(self.n_crawls) @ self.n_next

    @property
    def n_seen_again(self) -> NDArray[np.float64]:
        """URLs of each crawl that a later crawl holds."""
        return self.n_next @ np.ones(self.n_crawls)

    @property
    def n_missed(self) -> NDArray[np.float64]:
        """URLs that each crawl missed although they were alive: seen both before and after it."""
        begun = np.cumsum(self.n_seen_again) - self.n_seen_again
        ended = np.cumsum(self.n_seen_before)
        return begun - ended


def count_recaptures(data: HistoryData, *, n_lost: NDArray[np.float64] | None = None) -> Recaptures:
    """Count for each crawl when its URLs are captured next.

    Parameters
    ----------
    data
        Capture histories.
    n_lost
        For each history, how many were not released after their last capture, as happens to
        animals; none if not given.

    Raises
    ------
    FitError
        If more are lost than captured, or the numbers do not fit the histories.
    """
    n_crawls = data.n_crawls
    # Row by row, and in date order within each row: a neighbour of the same row comes next.
    row, crawl = np.nonzero(data.captured)
    together = row[1:] == row[:-1]
    cell = crawl[:-1][together] * n_crawls + crawl[1:][together]
    n_next = np.bincount(cell, weights=data.counts[row[1:][together]], minlength=n_crawls**2)
    sizes = data.sizes
    return Recaptures(
        n_captured=sizes,
        n_released=sizes - _count_lost(data, n_lost),
        n_next=n_next.reshape(n_crawls, n_crawls).astype(np.float64),
        years=data.years,
    )


def _count_lost(
    data: HistoryData, n_lost: NDArray[np.float64] | None
) -> NDArray[np.float64] | float:
    if n_lost is None:
        return 0.0
    if n_lost.shape != data.counts.shape or np.any((n_lost < 0) | (n_lost > data.counts)):
        raise FitError(
            "the numbers of those not released must be one for each history, from 0 to the number "
            "that has the history"
        )
    last = data.n_crawls - 1 - np.argmax(data.captured[:, ::-1], axis=1)
    return np.bincount(last, weights=n_lost, minlength=data.n_crawls).astype(np.float64)


# ------------------------------------------------------- what the crawls hold together, by counting


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
    known_share: NDArray[np.float64]
    known_error: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "known_share", "known_error")


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
        return _from_histories(data)
    return _from_pairs(table) if _pairs_suffice(table) else None


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
    numbers = np.bincount(
        data.captured.sum(axis=1), weights=data.counts, minlength=data.n_crawls + 1
    )
    return tuple(int(number) for number in np.rint(numbers[1:]))


def _from_histories(data: HistoryData) -> Holdings:
    # Each history counts once, where it begins: what begins earlier than a crawl is known to it.
    earlier = np.cumsum(data.captured, axis=1) > data.captured
    n_known = data.counts @ (data.captured & earlier)
    return _holdings(round(data.n_urls / data.sample_rate), n_known, data.sizes)


def _pairs_suffice(table: OverlapTable) -> bool:
    """Tell whether every overlap is a known count, and no three crawls overlap each other."""
    upper = table.n_shared[np.triu_indices(table.n_crawls, k=1)]
    if np.any(upper == MISSING) or table.se_shared is not None:
        return False
    shares = table.n_shared > 0
    return not any(
        shares[a, b] and shares[b, c] and shares[a, c]
        for a, b, c in combinations(range(table.n_crawls), 3)
    )


def _from_pairs(table: OverlapTable) -> Holdings | None:
    sizes = np.array([crawl.n_counted for crawl in table.crawls], dtype=np.float64)
    n_known = np.triu(table.n_shared, k=1).sum(axis=0).astype(np.float64)
    if np.any(n_known > sizes):
        # No sets overlap like this: two that share nothing cannot each hold most of a third.
        return None
    n_counted = float(sizes.sum() - n_known.sum())
    return _holdings(round(n_counted / table.sample_rate), n_known, sizes)


def _holdings(
    n_distinct: int, n_known: NDArray[np.float64], sizes: NDArray[np.float64]
) -> Holdings:
    share = np.divide(n_known, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    # One URL more or less, so that the error of a share of 0 or 1 is not taken to be nothing.
    doubt = (n_known + 1) / (sizes + 2)
    return Holdings(
        n_distinct=n_distinct,
        known_share=share,
        known_error=np.sqrt(doubt * (1 - doubt) / np.maximum(sizes, 1)),
    )
