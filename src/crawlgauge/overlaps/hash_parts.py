"""Count the overlaps of crawls in disjoint parts of the URLs, by ranges of their keys."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crawlgauge.compiled import announce_compilation
from crawlgauge.errors import OverlapError
from crawlgauge.keys.thresholds import WHOLE, rate_of
from crawlgauge.overlaps.hash_pass import Progress, run_pass
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.history_tally import PassCounts
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.overlaps.tally_kernel import count_histories, count_pairs
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["count_parts"]


def count_parts(
    sets: Sequence[CrawlSet],
    table: OverlapTable,
    n_parts: int,
    *,
    progress: Progress | None = None,
) -> tuple[OverlapTable, ...]:
    """Count overlaps and histories in parts that share no URL.

    Each is a table as if the crawls had been sampled to it, and together they are the URLs that
    the histories of all crawls were counted from.

    Parameters
    ----------
    sets
        The crawls' sets, in the order of the table's crawls.
    table
        What was counted of all of them.
    n_parts
        How many parts, of equal width.
    progress
        Called with how many of how many parts are done.

    Raises
    ------
    OverlapError
        If a part holds no URL of a crawl.
    StoreError
        If a set cannot be read; it is named.
    """
    announce_compilation(count_histories, count_pairs)
    rate = table.sample_rate if table.histories is None else table.histories.sample_rate
    end = min(round(rate * WHOLE), *(item.threshold for item in sets))
    parts, before = [], None
    for number in range(1, n_parts + 1):
        threshold = end * number // n_parts
        counted = run_pass(sets, len(sets), threshold, history_end=threshold)
        parts.append(_part(sets, table, counted, before, rate_of(end) / n_parts))
        before = counted
        if progress is not None:
            progress(number, n_parts)
    return tuple(parts)


def _part(
    sets: Sequence[CrawlSet],
    table: OverlapTable,
    counted: PassCounts,
    before: PassCounts | None,
    rate: float,
) -> OverlapTable:
    """Return what lies between two thresholds: what is below one less what is below the other."""
    n_shared = counted.n_shared if before is None else counted.n_shared - before.n_shared
    sizes = n_shared.diagonal()
    for item, size in zip(sets, sizes, strict=True):
        if size == 0:
            raise OverlapError(
                f"a part of the URLs holds none of the {item.crawl.n_urls:,} of crawl "
                f"{item.crawl.label!r}: there are too few to be divided"
            )
    return replace(
        table,
        crawls=tuple(
            replace(crawl, n_sampled=int(size))
            for crawl, size in zip(table.crawls, sizes, strict=True)
        ),
        n_shared=n_shared,
        histories=None if table.histories is None else _subtract(counted, before, rate),
        sample_rate=rate,
    )


def _subtract(counted: PassCounts, before: PassCounts | None, rate: float) -> Histories:
    counts = counted.counts.copy()
    if before is not None:
        # Whatever occurs below the lower threshold occurs below the upper one too.
        counts[np.searchsorted(counted.masks, before.masks)] -= before.counts
    return Histories(
        n_crawls=counted.n_shared.shape[0],
        masks=counted.masks[counts > 0],
        counts=counts[counts > 0],
        sample_rate=rate,
    )
