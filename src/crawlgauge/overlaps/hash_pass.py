"""One pass over all sets, a hash range at a time, on all cores; memory does not grow with them."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import WHOLE, count_ranges
from crawlgauge.overlaps.history_tally import HistoryTally, PassCounts
from crawlgauge.overlaps.range_counts import HashRange, RangeCounts, count_range
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import SetReader

__all__ = ["Progress", "run_pass"]

_KEYS_PER_RANGE = 1 << 21
"""Two million keys of all sets at a time, 16 MB: enough for what a range costs by itself, about a
millisecond, not to count."""

_MAX_WORKERS = 8
"""More threads would only wait for the disk and for memory."""

Progress = Callable[[int, int], None]


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
    range_bits = _choose_range_bits(sets)
    n_ranges = count_ranges(range_bits, threshold)
    tally = HistoryTally(n_new, len(sets), threshold, history_end)
    n_workers = min(_MAX_WORKERS, os.cpu_count() or 1)
    running: deque[tuple[Future[RangeCounts], HashRange, list[NDArray[np.uint64]]]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        for number, parts in enumerate(_read_ranges(sets, range_bits, threshold, pool)):
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


def _choose_range_bits(sets: Sequence[CrawlSet]) -> int:
    n_as_whole = sum(item.crawl.n_counted * WHOLE // item.threshold for item in sets)
    return max(
        ((n_as_whole - 1) // _KEYS_PER_RANGE).bit_length(), *(item.range_bits for item in sets)
    )


def _read_ranges(
    sets: Sequence[CrawlSet], range_bits: int, threshold: int, pool: Executor
) -> Iterator[list[NDArray[np.uint64]]]:
    """Yield for each range the keys of each set; sets are read side by side."""
    sources = [_read_set(item, range_bits, threshold) for item in sets]
    for _ in range(count_ranges(range_bits, threshold)):
        yield list(pool.map(next, sources))


def _read_set(source: CrawlSet, range_bits: int, threshold: int) -> Iterator[NDArray[np.uint64]]:
    try:
        yield from SetReader(source.path).ranges(range_bits, threshold)
    except StoreError as error:
        label = source.crawl.label
        raise StoreError(
            f"crawl {label!r} cannot be counted: {error}. To count the others without it, take it "
            f"out: crawlgauge remove {label}"
        ) from error
