"""One job of Spark: tasks read, sorted keys are shuffled by hash range, tasks merge them."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.spark.failures import explain_failure
from crawlgauge.spark.reduce_task import merge_rows
from crawlgauge.spark.rows import ATTRIBUTES, FACTS, KEYS, SPARK_SCHEMA, decode_keys
from crawlgauge.store.attributes import MAX_KEYS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Shuffled", "Task", "count_cores", "run_tasks"]

_DOING = "reading the inputs"
_USUAL_CORES = 32
"""Where a session does not tell how many cores it has."""

Task = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def count_cores(spark: "SparkSession") -> int:
    """Return how many tasks run at once."""
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except Exception:  # noqa: BLE001 - sessions through Spark Connect have no context
        return _USUAL_CORES


def run_tasks(frames: "list[tuple[DataFrame, Task]]", n_parts: int, first_end: int) -> "Shuffled":
    """Let tasks read, and others merge what they have found.

    Parameters
    ----------
    frames
        What is to be read, and by which function.
    n_parts
        Into how many hash ranges keys are cut; each is merged by one task.
    first_end
        Keys below it are counted apart.
    """
    from pyspark import StorageLevel

    mapped = None
    for frame, task in frames:
        rows = frame.mapInArrow(task, SPARK_SCHEMA)
        mapped = rows if mapped is None else mapped.unionAll(rows)
    if mapped is None:
        raise ValueError("there is nothing to read")
    merged = mapped.repartition(n_parts, "slot").mapInArrow(
        lambda batches: merge_rows(batches, first_end), SPARK_SCHEMA
    )
    return Shuffled(merged.persist(StorageLevel.DISK_ONLY))


class Shuffled:
    """Merged rows, kept on the disks of the cluster until they are no longer wanted.

    Parameters
    ----------
    frame
        The rows.
    """

    def __init__(self, frame: "DataFrame") -> None:
        self._frame = frame

    def facts(self) -> list[dict[str, Any]]:
        """Return what the tasks have counted; all the work is done for this."""
        with explain_failure(_DOING):
            rows = self._frame.where(f"kind = {FACTS}").select("data").collect()
        return [json.loads(bytes(row["data"])) for row in rows]

    def sizes(self) -> dict[tuple[str, str], list[tuple[int, int, int, int]]]:
        """Return for each label and level, of each part: number, keys, first keys and sum."""
        from pyspark.sql import functions as sf

        with explain_failure(_DOING):
            rows = (
                self._frame.where(f"kind = {KEYS}")
                .groupBy("label", "level", "part")
                # A sum beyond 64 bits is an error to Spark, and is wanted modulo 2**64.
                .agg(sf.sum("n"), sf.sum("n_first"), sf.collect_list("total"))
                .collect()
            )
        sizes: dict[tuple[str, str], list[tuple[int, int, int, int]]] = {}
        for label, level, part, n_keys, n_first, totals in sorted(rows):
            found = part, n_keys, n_first, sum(totals) % (1 << 64)
            sizes.setdefault((label, level), []).append(found)
        return sizes

    def keys(self, label: str, level: str) -> Iterator[NDArray[np.uint64]]:
        """Yield the keys of one set in rising order, as they come in."""
        for row in self._stream(KEYS, label, level):
            yield decode_keys(bytes(row["data"]))

    def attributes(self, label: str) -> list[bytes]:
        """Return the attributes of the smallest keys of a crawl, in rows of rising keys."""
        found: list[bytes] = []
        n_found = 0
        for row in self._stream(ATTRIBUTES, label, ""):
            found.append(bytes(row["data"]))
            n_found += row["n"]
            if n_found >= MAX_KEYS:
                break
        return found

    def release(self) -> None:
        """Give the disks of the cluster back."""
        self._frame.unpersist()

    def _stream(self, kind: int, label: str, level: str) -> Iterator[Any]:
        from pyspark.sql import functions as sf

        wanted = self._frame.where(
            (sf.col("kind") == kind) & (sf.col("label") == label) & (sf.col("level") == level)
        ).select("n", "data")
        with explain_failure(_DOING):
            yield from wanted.toLocalIterator(prefetchPartitions=True)
