"""What the crawls hold together, by counting: distinct URLs, and what each crawl found again."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData, history_data
from crawlgauge.model.pairs import freeze_arrays
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["Holdings", "count_captures", "count_holdings"]


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
