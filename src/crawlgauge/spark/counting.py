"""Count overlaps with Spark: each task counts some hash ranges of all sets; no key is moved."""

import socket
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from crawlgauge.core.sets import MaskCounts
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import count_ranges
from crawlgauge.locations import StrPath, find_store
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.counting import Counted, Counts, count_group, count_store, count_to_end
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.spark import session
from crawlgauge.spark.tasks import choose_bits
from crawlgauge.store.catalogue import open_store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.ranges import HashRange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    progress: session.Watcher | None = None,
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
    with session.watch_tasks(spark, progress):
        return count_store(
            opened, sample=share, level=level, engine=partial(count_with_spark, spark)
        )


def count_with_spark(spark: "SparkSession", sets: Sequence[CrawlSet], threshold: int) -> Counts:
    """Count the keys of sets in the place of this machine; see `overlaps.counting.Engine`."""
    reachable = [
        replace(one, folder=one.folder.resolve()) if isinstance(one.folder, Path) else one
        for one in sets
    ]
    return count_to_end(threshold, len(sets), partial(_count_once, spark, reachable))


def _count_once(spark: "SparkSession", sets: Sequence[CrawlSet], threshold: int) -> Counted:
    """Return what pairs share, histories, and in which range the latter became too many."""
    from pyspark import StorageLevel

    n_tasks = min(_MAX_GROUPS, _TASKS_PER_CORE * session.count_cores(spark))
    bits = choose_bits(n_tasks, threshold)
    groups = [HashRange(number=n, bits=bits) for n in range(count_ranges(bits, threshold))]
    n_shared = np.zeros((len(sets), len(sets)), np.int64)
    total = MaskCounts(min(len(sets), MAX_HISTORY_CRAWLS))
    full = None
    count = partial(_count_group, sets, threshold)
    counted = session.map_items(spark, groups, count, _SCHEMA).persist(StorageLevel.DISK_ONLY)
    try:
        with session.explain_failure("counting overlaps"):
            # All are counted at once for this, and fetched one after the other.
            counted.selectExpr("count(pairs)").collect()
            rows = counted.toLocalIterator(prefetchPartitions=True)
            for group, (pairs, masks, counts) in zip(groups, rows, strict=True):
                n_shared += np.frombuffer(pairs, np.int64).reshape(n_shared.shape)
                if full is None:
                    total.add(np.frombuffer(masks, np.uint64), np.frombuffer(counts, np.int64))
                    full = group if len(total) > histories.MAX_HISTORIES else None
    finally:
        counted.unpersist()
    return n_shared, total.arrays(), full


def _count_group(
    sets: Sequence[CrawlSet], threshold: int, group: HashRange
) -> list[pa.RecordBatch]:
    """Count the keys of a group of hash ranges."""
    with session.tell_driver():
        n_shared, found, _ = count_group([_see(one) for one in sets], group, threshold)
    # If there are too many histories, these are too many for the driver too.
    columns = [pa.array([one.tobytes()]) for one in (n_shared, *found)]
    return [pa.record_batch(columns, _NAMES)]


def _see(one: CrawlSet) -> CrawlSet:
    """See that an executor can reach a set."""
    if isinstance(one.path, Path) and not one.path.exists():
        raise StoreError(
            f"{one.path} is not there on the executor {socket.gethostname()}; all executors must "
            "reach the store by the same name, on a file system that they share. Move the store "
            "there, or count with --engine local"
        )
    return one
