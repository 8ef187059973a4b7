"""Count overlaps with Spark: each task counts some hash ranges of all sets; no key is moved."""

import socket
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from crawlgauge.core.sets import MaskCounts, count_masks
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import count_ranges
from crawlgauge.locations import StrPath, find_store
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.counting import Counted, SetCounts, count_store, count_to_end
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, pairs_of_masks
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.spark.session import (
    Watcher,
    count_cores,
    explain_failure,
    map_items,
    tell_driver,
    watch_tasks,
)
from crawlgauge.spark.tasks import choose_bits
from crawlgauge.store.catalogue import open_store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.ranges import HashRange, Part, SetReaders, choose_range_bits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["count_with_spark", "overlaps"]

_TASKS_PER_CORE = 4
_MAX_GROUPS = 1 << 10
_NAMES = ["pairs", "masks", "counts"]
_SCHEMA = ", ".join(f"{name} binary" for name in _NAMES)
"""Of a group of hash ranges: what pairs of sets share, and how many keys have each history."""


def overlaps(
    spark: "SparkSession",
    store: StrPath | None = None,
    *,
    sample: str | float | None = None,
    level: str = "url",
    progress: Watcher | None = None,
) -> OverlapTable:
    """Count the overlaps of all crawls of a store with Spark.

    The table is the same as without Spark, and what was counted is kept in the store's cache.

    Parameters
    ----------
    spark
        The session.
    store
        As for `open_store`. All executors must reach it by the same name.
    sample, level
        As for `count_overlaps`.
    progress
        Called now and then with how many tasks of how many are done.

    Raises
    ------
    StoreError
        If a crawl cannot be read, here or by an executor, or lacks the level.
    OverlapError
        If there are no crawls, or a sample without any URL of one of them.
    SparkError
        If Spark fails.
    """
    share = None if sample is None else str(sample)
    opened = open_store(find_store(store))
    with watch_tasks(spark, progress):
        return count_store(
            opened, sample=share, level=level, engine=partial(count_with_spark, spark)
        )


def count_with_spark(spark: "SparkSession", sets: Sequence[CrawlSet], threshold: int) -> SetCounts:
    """Count the keys of sets in the place of this machine; see `overlaps.counting.Engine`."""
    reachable = [
        replace(one, folder=one.folder.resolve()) if isinstance(one.folder, Path) else one
        for one in sets
    ]
    return count_to_end(threshold, len(sets), partial(_count_once, spark, reachable))


def _count_once(spark: "SparkSession", sets: Sequence[CrawlSet], threshold: int) -> Counted:
    """Return what pairs share, histories, and in which range the latter became too many."""
    from pyspark import StorageLevel

    n_tasks = min(_MAX_GROUPS, _TASKS_PER_CORE * count_cores(spark))
    bits = choose_bits(n_tasks, threshold)
    groups = [HashRange(number=n, bits=bits) for n in range(count_ranges(bits, threshold))]
    most = histories.MAX_HISTORIES
    upper = np.zeros((len(sets), len(sets)), np.int64)
    total = MaskCounts(min(len(sets), MAX_HISTORY_CRAWLS))
    full = None
    count = partial(_count_group, sets, threshold, most)
    counted = map_items(spark, groups, count, _SCHEMA).persist(StorageLevel.DISK_ONLY)
    try:
        with explain_failure("counting overlaps"):
            # All are counted at once for this, and fetched one after the other.
            counted.selectExpr("count(pairs)").collect()
            rows = counted.toLocalIterator(prefetchPartitions=True)
            for group, (pairs, masks, counts) in zip(groups, rows, strict=True):
                upper += np.frombuffer(pairs, np.int64).reshape(upper.shape)
                if full is None:
                    total.add(np.frombuffer(masks, np.uint64), np.frombuffer(counts, np.int64))
                    full = group if len(total) > most else None
    finally:
        counted.unpersist()
    return upper + np.triu(upper, 1).T, total.arrays(), full


def _count_group(
    sets: Sequence[CrawlSet], threshold: int, most: int, group: HashRange
) -> list[pa.RecordBatch]:
    """Count the keys of a group of hash ranges; `most` is how many histories there may be."""
    upper = np.zeros((len(sets), len(sets)), np.int64)
    has_masks = len(sets) <= MAX_HISTORY_CRAWLS
    total = MaskCounts(min(len(sets), MAX_HISTORY_CRAWLS))
    with tell_driver():
        readers = SetReaders([_see(one) for one in sets])
        bits = max(choose_range_bits(sets), group.bits)
        first = group.number << (bits - group.bits)
        last = min(count_ranges(bits, threshold), (group.number + 1) << (bits - group.bits))
        for number in range(first, last):
            where = HashRange(number=number, bits=bits)
            keys = readers.between(where.low, min(where.high, threshold))
            counts = total if has_masks and len(total) <= most else upper
            parts: list[Part] = [(place, some, None) for place, some in enumerate(keys)]
            count_masks(parts, where.low, where.width, counts)
    if has_masks:
        upper += np.triu(pairs_of_masks(*total.arrays(), len(sets)))
    # If there are too many histories, these are too many for the driver too.
    found = (upper, *total.arrays())
    return [pa.record_batch([pa.array([one.tobytes()]) for one in found], _NAMES)]


def _see(one: CrawlSet) -> CrawlSet:
    """See that an executor can reach a set."""
    if isinstance(one.path, Path) and not one.path.exists():
        raise StoreError(
            f"{one.path} is not there on the executor {socket.gethostname()}; all executors must "
            "reach the store by the same name, on a file system that they share. Move the store "
            "there, or count with --engine local"
        )
    return one
