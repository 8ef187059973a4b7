"""Capture histories as arrays: what every history-based fit starts from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays, years_of
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["HistoryData", "history_data"]


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
