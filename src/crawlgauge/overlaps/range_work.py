"""Work on one hash range of all sets after the other, on all cores, in bounded memory."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from crawlgauge.keys.thresholds import count_ranges
from crawlgauge.overlaps.range_counts import HashRange
from crawlgauge.overlaps.range_keys import (
    RangeKeys,
    common_range_bits,
    count_workers,
    read_ranges,
)
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["Progress", "work_on_ranges"]

Progress = Callable[[int, int], None]

_Result = TypeVar("_Result")


def work_on_ranges(
    sets: Sequence[CrawlSet],
    threshold: int,
    plan: Callable[[RangeKeys, HashRange], Callable[[], _Result]],
    progress: Progress | None = None,
) -> Iterator[tuple[_Result, HashRange, RangeKeys]]:
    """Yield what was found in each range, in rising order, while later ones are worked on.

    Parameters
    ----------
    sets
        Whose keys to read.
    threshold
        Only keys below it are read.
    plan
        Told the keys of a range, returns what a thread is to do with them.
    progress
        Called with how many of how many ranges are done.

    Raises
    ------
    StoreError
        If a set cannot be read; it is named.
    """
    range_bits, n_workers = common_range_bits(sets), count_workers()
    n_ranges = count_ranges(range_bits, threshold)
    running: deque[tuple[Future[_Result], HashRange, RangeKeys]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        for number, parts in enumerate(read_ranges(sets, range_bits, threshold, n_workers)):
            where = HashRange(number=number, bits=range_bits)
            running.append((pool.submit(plan(parts, where)), where, parts))
            # What is read and not yet worked on takes memory.
            while len(running) > (n_workers if number + 1 < n_ranges else 0):
                done, there, keys = running.popleft()
                yield done.result(), there, keys
                if progress is not None:
                    progress(there.number + 1, n_ranges)
