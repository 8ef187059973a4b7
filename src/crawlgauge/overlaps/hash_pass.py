"""One pass over all sets, a hash range at a time, on all cores; memory does not grow with them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from crawlgauge.overlaps.history_tally import HistoryTally, PassCounts
from crawlgauge.overlaps.range_counts import HashRange, RangeCounts, count_range
from crawlgauge.overlaps.range_keys import RangeKeys
from crawlgauge.overlaps.range_work import Progress, work_on_ranges
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["HashPass", "Progress", "run_pass"]


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
    tally = HistoryTally(n_new, len(sets), threshold, history_end)

    def plan(parts: RangeKeys, where: HashRange) -> Callable[[], RangeCounts]:
        # Where histories end now: later they may end earlier.
        return partial(count_range, parts, n_new, where, tally.history_end)

    for counted, where, keys in work_on_ranges(sets, threshold, plan, progress):
        tally.add(counted, where, keys)
    return tally.result()
