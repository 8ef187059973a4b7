"""Count over the crawls of several archives at once: what each two share, and who holds what."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import announce_compilation
from crawlgauge.errors import OverlapError
from crawlgauge.keys.thresholds import WHOLE, rate_of
from crawlgauge.overlaps.archive_counts import ArchiveCounts
from crawlgauge.overlaps.counting import crawl_below
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS
from crawlgauge.overlaps.range_counts import HashRange, RangeCounts, count_range
from crawlgauge.overlaps.range_keys import RangeKeys
from crawlgauge.overlaps.range_work import Progress, work_on_ranges
from crawlgauge.overlaps.tally_kernel import count_histories, count_pairs
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["MAX_ARCHIVES", "count_archives", "merge_keys"]

MAX_ARCHIVES = MAX_HISTORY_CRAWLS
"""As many as a mask has bits."""

_Keys = NDArray[np.uint64]


def count_archives(
    archives: Sequence[Sequence[CrawlSet]],
    *,
    threshold: int = WHOLE,
    progress: Progress | None = None,
) -> ArchiveCounts:
    """Count what the crawls of several archives share, and what the archives hold.

    Parameters
    ----------
    archives
        The sets of each archive, in order of date, then label.
    threshold
        Only keys below it are counted; less if a set holds less.
    progress
        Called with how many of how many hash ranges are done.

    Raises
    ------
    OverlapError
        If an archive has no crawls, if archives cannot be compared, or if a sample holds no URL
        of a crawl.
    StoreError
        If a set cannot be read; it is named.
    """
    if len(archives) > MAX_ARCHIVES:
        raise OverlapError(f"at most {MAX_ARCHIVES} archives can be compared at once")
    sets = [item for archive in archives for item in archive]
    common = min(threshold, *(item.threshold for item in sets))
    n_shared, held = _run_pass(archives, sets, common, progress)
    crawls = [
        crawl_below(item, common, int(n)) for item, n in zip(sets, n_shared.diagonal(), strict=True)
    ]
    ends = list(accumulate(map(len, archives), initial=0))
    return ArchiveCounts(
        crawls=tuple(tuple(crawls[a:b]) for a, b in pairwise(ends)),
        n_shared=n_shared,
        masks=np.array(sorted(held), dtype=np.uint64),
        counts=np.array([held[mask] for mask in sorted(held)], dtype=np.int64),
        sample_rate=rate_of(common),
        level=sets[0].level,
        key_rule=sets[0].key_rule,
    )


def merge_keys(parts: Sequence[_Keys]) -> _Keys:
    """Return the keys of several sorted sets, sorted and each once."""
    # Sorted runs are merged by this sort, not sorted again.
    keys = np.sort(np.concatenate(parts), kind="stable")
    is_first = np.ones(keys.size, dtype=np.bool_)
    is_first[1:] = keys[1:] != keys[:-1]
    return keys[is_first]


def _run_pass(
    archives: Sequence[Sequence[CrawlSet]],
    sets: Sequence[CrawlSet],
    threshold: int,
    progress: Progress | None,
) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Return the shared URLs of all crawls, and how many URLs there are by who holds them."""
    announce_compilation(count_histories, count_pairs)
    sizes = [len(archive) for archive in archives]
    upper = np.zeros((len(sets), len(sets)), dtype=np.int64)
    held: Counter[int] = Counter()

    def plan(parts: RangeKeys, where: HashRange) -> Callable[[], tuple[RangeCounts, RangeCounts]]:
        return partial(_count_range, parts, sizes, where)

    for (of_crawls, of_archives), _, _ in work_on_ranges(sets, threshold, plan, progress):
        upper += of_crawls.n_shared
        held.update(dict(zip(of_archives.masks.tolist(), of_archives.counts.tolist(), strict=True)))
    return upper + np.triu(upper, 1).T, held


def _count_range(
    parts: RangeKeys, sizes: Sequence[int], where: HashRange
) -> tuple[RangeCounts, RangeCounts]:
    of_crawls = count_range(parts, len(parts), where, history_end=0)
    ends = list(accumulate(sizes, initial=0))
    unions = [merge_keys(parts[a:b]) for a, b in pairwise(ends)]
    return of_crawls, count_range(RangeKeys.of(unions), len(unions), where, history_end=where.end)
