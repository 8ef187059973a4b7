"""Count overlaps with Spark: each task counts some hash ranges of all sets; no key is moved."""

import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import KEY_BITS, count_ranges
from crawlgauge.locations import StrPath, find_store
from crawlgauge.overlaps.counting import count_store
from crawlgauge.overlaps.hash_pass import Progress
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, pairs_of_masks
from crawlgauge.overlaps.history_tally import MAX_HISTORIES, PassCounts
from crawlgauge.overlaps.range_counts import HashRange, RangeCounts, count_range
from crawlgauge.overlaps.range_keys import RangeKeys, common_range_bits, read_ranges
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.remote.remote_path import AnyPath, to_path
from crawlgauge.spark.failures import explain_failure, tell_driver
from crawlgauge.spark.shuffling import count_cores
from crawlgauge.spark.watching import Watcher, watch_tasks
from crawlgauge.store.catalogue import open_store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import read_description

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkPass", "overlaps"]

_TASKS_PER_CORE = 4
_SCHEMA = "zone int, mask bigint, n bigint, history_end string, pairs binary"
_ARROW_SCHEMA = pa.schema(
    [
        ("zone", pa.int32()),
        ("mask", pa.int64()),
        ("n", pa.int64()),
        ("history_end", pa.string()),
        ("pairs", pa.binary()),
    ]
)
"""Either a history and how many keys of a zone have it, or what pairs of sets share in all ranges
of a task. Zone z holds the ranges from number 2**(z−1) on, up to 2**z; zone 0 the first range."""

_ROWS_PER_BATCH = 1 << 14


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
        return count_store(opened, sample=share, level=level, engine=SparkPass(spark))


class SparkPass:
    """One pass over all sets, as `overlaps.hash_pass.run_pass` makes it.

    Parameters
    ----------
    spark
        The session.
    """

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark

    def __call__(
        self,
        sets: Sequence[CrawlSet],
        n_new: int,
        threshold: int,
        *,
        history_end: int,
        progress: Progress | None = None,  # noqa: ARG002 - Spark tells of its tasks
    ) -> PassCounts:
        """Count the keys that new sets hold, by which sets hold them."""
        from pyspark import StorageLevel

        bits = common_range_bits(sets)
        n_ranges = count_ranges(bits, threshold)
        groups = list(_group_ranges(n_ranges, _TASKS_PER_CORE * count_cores(self._spark)))
        paths = [_name_everywhere(item.path) for item in sets]
        wanted_end = history_end if len(sets) <= MAX_HISTORY_CRAWLS else 0
        most = MAX_HISTORIES

        def count(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from _count_ranges(
                        paths, groups[number], bits, n_new, threshold, wanted_end, most
                    )

        numbers = self._spark.range(0, len(groups), 1, len(groups))
        counted = numbers.mapInArrow(count, _SCHEMA).persist(StorageLevel.DISK_ONLY)
        try:
            with explain_failure("counting overlaps"):
                return _add_up(counted, (n_new, len(sets)), bits, threshold, wanted_end)
        finally:
            counted.unpersist()


def _group_ranges(n_ranges: int, n_tasks: int) -> Iterator[range]:
    """Yield ranges of hash ranges, each within a zone: histories may end only between zones."""
    size = max(1, n_ranges // n_tasks)
    start, end = 0, 1
    while start < n_ranges:
        for first in range(start, min(end, n_ranges), size):
            yield range(first, min(first + size, end, n_ranges))
        start, end = end, 2 * end


def _count_ranges(
    paths: Sequence[str],
    numbers: range,
    bits: int,
    n_new: int,
    threshold: int,
    history_end: int,
    most: int,
) -> Iterator[pa.RecordBatch]:
    """Count some hash ranges of one zone; yield their histories, and what pairs share."""
    with tell_driver():
        sets = [_open(path) for path in paths]
        upper = np.zeros((n_new, len(sets)), dtype=np.int64)
        masks, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        end = history_end
        stream = read_ranges(sets, bits, threshold, 1, numbers=numbers, n_threads=1)
        for number, parts in zip(numbers, stream, strict=True):
            where = HashRange(number=number, bits=bits)
            counted = count_range(parts, n_new, where, history_end)
            upper += _pairs(counted, n_new, len(sets))
            if end <= where.low:
                continue
            masks, counts = _merge(masks, counts, counted)
            if masks.size > most:
                end, masks, counts = _shorten(parts, n_new, where, end, most)
    zone = numbers.start.bit_length()
    yield _batch(pairs=upper, zone=zone, history_end=end)
    for start in range(0, masks.size, _ROWS_PER_BATCH):
        some = slice(start, start + _ROWS_PER_BATCH)
        yield _history_batch(zone, masks[some], counts[some])


def _open(path: str) -> CrawlSet:
    place = to_path(path)
    if not place.exists():
        raise StoreError(
            f"{path} is not there on the executor {socket.gethostname()}; all executors must "
            "reach the store by the same name, on a file system that they share. Move the store "
            "there, or count with --engine local"
        )
    return read_description(place)


def _name_everywhere(path: AnyPath) -> str:
    """Return the name by which all executors find a file, wherever they run."""
    return str(path.resolve()) if isinstance(path, Path) else str(path)


def _pairs(counted: RangeCounts, n_new: int, n_sets: int) -> NDArray[np.int64]:
    if not counted.masks.size:
        return counted.n_shared
    of_masks = pairs_of_masks(counted.masks, counted.counts, n_sets)[:n_new]
    return counted.n_shared + np.triu(of_masks)


def _merge(
    masks: NDArray[np.uint64], counts: NDArray[np.int64], counted: RangeCounts
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    together = np.concatenate([masks, counted.masks])
    order = np.argsort(together)
    together = together[order]
    starts = np.flatnonzero(np.diff(together, prepend=np.uint64(0)) != 0)
    numbers = np.concatenate([counts, counted.counts])[order]
    return together[starts], np.add.reduceat(numbers, starts) if starts.size else numbers[:0]


def _shorten(
    parts: RangeKeys, n_new: int, where: HashRange, history_end: int, most: int
) -> tuple[int, NDArray[np.uint64], NDArray[np.int64]]:
    """Return where histories must end at the latest, as they are too many, and those before.

    Only within the first range they can end elsewhere than where a zone begins.
    """
    if where.number:
        zone_start = 1 << (KEY_BITS - where.bits + where.number.bit_length() - 1)
        return zone_start, np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    end = 1 << (min(where.end, history_end).bit_length() - 2)
    while True:
        counted = count_range(parts, n_new, where, end)
        # Fewer keys have fewer histories, and in the end there are no keys.
        if counted.masks.size <= most:
            return end, counted.masks, counted.counts
        end //= 2


def _batch(*, pairs: NDArray[np.int64], zone: int, history_end: int) -> pa.RecordBatch:
    values = (zone, None, None, hex(history_end), pairs.astype("<i8").tobytes())
    arrays = [
        pa.array([value], field.type) for value, field in zip(values, _ARROW_SCHEMA, strict=True)
    ]
    return pa.record_batch(arrays, schema=_ARROW_SCHEMA)


def _history_batch(
    zone: int, masks: NDArray[np.uint64], counts: NDArray[np.int64]
) -> pa.RecordBatch:
    n_rows = masks.size
    arrays = [
        pa.array(np.full(n_rows, zone, dtype=np.int32)),
        pa.array(masks.view(np.int64)),
        pa.array(counts),
        pa.nulls(n_rows, pa.string()),
        pa.nulls(n_rows, pa.binary()),
    ]
    return pa.record_batch(arrays, schema=_ARROW_SCHEMA)


def _add_up(
    counted: "DataFrame", shape: tuple[int, int], bits: int, threshold: int, history_end: int
) -> PassCounts:
    upper = np.zeros(shape, dtype=np.int64)
    end = history_end
    # A matrix for each task; all the work is done for this.
    for row in counted.where("pairs is not null").select("history_end", "pairs").collect():
        upper += np.frombuffer(bytes(row["pairs"]), dtype="<i8").reshape(shape)
        end = min(end, int(row["history_end"], 16))
    end = _find_end(counted, bits, threshold, history_end, end)
    masks, counts = _collect_histories(counted, bits, end)
    n_new = shape[0]
    upper[:, :n_new] += np.triu(upper[:, :n_new], 1).T
    return PassCounts(n_shared=upper, masks=masks, counts=counts, history_end=end)


def _find_end(counted: "DataFrame", bits: int, threshold: int, wanted: int, at_most: int) -> int:
    """Return where histories end: as wanted, or at a power of two before they are too many."""
    from pyspark.sql import functions as sf

    if wanted == 0:
        return 0
    first_zones = counted.where("mask is not null").groupBy("mask").agg(sf.min("zone").alias("z"))
    rows = first_zones.groupBy("z").count().collect()
    n_new_of = {row["z"]: row["count"] for row in rows}
    if at_most == wanted and sum(n_new_of.values()) <= MAX_HISTORIES:
        return wanted
    first_range_end = 1 << (KEY_BITS - bits)
    if at_most < first_range_end:
        return at_most
    n_masks, end = 0, 0
    for zone in range(bits + 1):
        n_masks += n_new_of.get(zone, 0)
        zone_end = first_range_end << zone
        if n_masks > MAX_HISTORIES or zone_end > at_most or 2 * zone_end > threshold:
            break
        end = zone_end
    return end


def _collect_histories(
    counted: "DataFrame", bits: int, end: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    from pyspark.sql import functions as sf

    if end == 0:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    # Zone z ends at 2**z times the end of the first range.
    last_zone = max(0, (end - 1).bit_length() - (KEY_BITS - bits))
    found = (
        counted.where((sf.col("zone") <= last_zone) & sf.col("mask").isNotNull())
        .groupBy("mask")
        .agg(sf.sum("n").alias("n"))
        .toArrow()
    )
    masks = found.column("mask").to_numpy().astype(np.int64).view(np.uint64)
    order = np.argsort(masks)
    counts = found.column("n").to_numpy().astype(np.int64)
    return masks[order], counts[order]
