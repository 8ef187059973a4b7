"""One pass over all sets, a hash range at a time, on all cores; memory does not grow with them."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from crawlgauge.keys.thresholds import count_ranges
from crawlgauge.overlaps.history_tally import HistoryTally, PassCounts
from crawlgauge.overlaps.range_counts import HashRange, RangeCounts, count_range
from crawlgauge.overlaps.range_keys import (
    RangeKeys,
    common_range_bits,
    count_workers,
    read_ranges,
)
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["HashPass", "Progress", "run_pass"]

Progress = Callable[[int, int], None]


class HashPass(Protocol):
    """What counts keys: `run_pass`, or another engine that gives the same counts."""

    def __call__(
        self,
        sets: Sequence[CrawlSet],
        n_new: int,
        threshold: int,
        *,
        history_end: int,
        progress: Progress | None = None,
    ) -> PassCounts:
        """Count the keys that new sets hold, as `run_pass` does."""


def run_pass(
    sets: Sequence[CrawlSet],
    n_new: int,
    threshold: int,
    *,
    history_end: int,
    progress: Progress | None = None,
) -> PassCounts:
    """Count the keys that new sets hold, by which sets hold them.

    Parameters
    ----------
    sets
        The new ones first.
    n_new
        How many are new; keys that only the others hold are not counted.
    threshold
        Only keys below it are counted.
    history_end
        Where histories end at the latest; before if there are too many different ones.
    progress
        Called with how many of how many hash ranges are done.

    Raises
    ------
    StoreError
        If a set cannot be read; it is named.
    """
    range_bits = common_range_bits(sets)
    n_ranges = count_ranges(range_bits, threshold)
    tally = HistoryTally(n_new, len(sets), threshold, history_end)
    n_workers = count_workers()
    running: deque[tuple[Future[RangeCounts], HashRange, RangeKeys]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        for number, parts in enumerate(read_ranges(sets, range_bits, threshold, n_workers)):
            where = HashRange(number=number, bits=range_bits)
            job = pool.submit(count_range, parts, n_new, where, tally.history_end)
            running.append((job, where, parts))
            # What is read and not yet counted takes memory.
            while len(running) > (n_workers if number + 1 < n_ranges else 0):
                done, there, keys = running.popleft()
                tally.add(done.result(), there, keys)
                if progress is not None:
                    progress(there.number + 1, n_ranges)
    return tally.result()
