"""One job of Spark: tasks read, sorted keys are shuffled by hash range, tasks merge them."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.spark.failures import explain_failure
from crawlgauge.spark.reduce_task import merge_rows
from crawlgauge.spark.rows import ATTRIBUTES, FACTS, KEYS, SPARK_SCHEMA, decode_keys
from crawlgauge.store.attributes import MAX_KEYS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["FEW_KEYS", "PartSize", "Shuffled", "Sizes", "Task", "count_cores", "run_tasks"]

_DOING = "reading the inputs"
FEW_KEYS = 1 << 20
"""To ask task by task, so that memory stays small, takes longer than to ask all at once."""
_USUAL_CORES = 32
"""Where a session does not tell how many cores it has."""

Task = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def count_cores(spark: "SparkSession") -> int:
    """Return how many tasks run at once."""
    # Sessions through Spark Connect have no context.
    context = getattr(spark, "sparkContext", None)
    return _USUAL_CORES if context is None else max(1, int(context.defaultParallelism))


def run_tasks(
    frames: "list[tuple[DataFrame, Task]]", n_parts: int, first_end: int, *, are_few: bool
) -> "Shuffled":
    """Let tasks read, and others merge what they have found.

    Parameters
    ----------
    frames
        What is to be read, and by which function.
    n_parts
        Into how many hash ranges keys are cut; each is merged by one task.
    first_end
        Keys below it are counted apart.
    are_few
        Whether the keys are certainly so few that all may come to the driver at once.
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
    return Shuffled(merged.persist(StorageLevel.DISK_ONLY), are_few=are_few)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSize:
    """How many keys a row holds.

    Parameters
    ----------
    part
        Its hash range.
    n_keys, n_first
        How many keys, and how many of them are below `first_end`.
    total
        Their sum, modulo 2**64.
    """

    part: int
    n_keys: int
    n_first: int
    total: int


Sizes = dict[tuple[str, str], list[PartSize]]
"""By label and level."""


class Shuffled:
    """Merged rows, kept on the disks of the cluster until they are no longer wanted.

    Parameters
    ----------
    frame
        The rows.
    are_few
        Whether all of them may come to the driver at once.
    """

    def __init__(self, frame: "DataFrame", *, are_few: bool) -> None:
        self._frame = frame
        self._are_few = are_few
        self._here: list[Row] = []

    def collect(self) -> tuple[list[dict[str, Any]], Sizes]:
        """Return what the tasks have counted, and how many keys there are of each set.

        All the work is done for this, on all cores at once.
        """
        from pyspark.sql import functions as sf

        wanted = self._frame
        if not self._are_few:
            of_facts = sf.when(sf.col("kind") == FACTS, sf.col("data"))
            wanted = wanted.where(f"kind <> {ATTRIBUTES}").withColumn("data", of_facts)
        with explain_failure(_DOING):
            rows = wanted.collect()
        if self._are_few:
            self._here = rows
        documents = [json.loads(bytes(row["data"])) for row in rows if row["kind"] == FACTS]
        sizes: Sizes = {}
        for row in sorted(
            (row for row in rows if row["kind"] == KEYS), key=lambda row: row["part"]
        ):
            size = PartSize(
                part=row["part"], n_keys=row["n"], n_first=row["n_first"], total=row["total"]
            )
            sizes.setdefault((row["label"], row["level"]), []).append(size)
        return documents, sizes

    def keys(self, label: str, level: str, n_keys: int) -> Iterator[NDArray[np.uint64]]:
        """Yield the keys of one set in rising order, as they come in.

        Parameters
        ----------
        label, level
            Which set.
        n_keys
            How many keys it has; few come all at once.
        """
        for row in self._stream(KEYS, label, level, n_keys):
            yield decode_keys(bytes(row["data"]))

    def attributes(self, label: str, n_keys: int) -> list[bytes]:
        """Return the attributes of the smallest keys of a crawl, in rows of rising keys.

        Parameters
        ----------
        label
            Of the crawl.
        n_keys
            How many keys it has.
        """
        found: list[bytes] = []
        n_found = 0
        for row in self._stream(ATTRIBUTES, label, "", n_keys):
            found.append(bytes(row["data"]))
            n_found += row["n"]
            if n_found >= MAX_KEYS:
                break
        return found

    def release(self) -> None:
        """Give the disks of the cluster back."""
        self._frame.unpersist()

    def _stream(self, kind: int, label: str, level: str, n_keys: int) -> "Iterator[Row]":
        from pyspark.sql import functions as sf

        if self._are_few:
            wanted_here = kind, label, level
            yield from sorted(
                (
                    row
                    for row in self._here
                    if (row["kind"], row["label"], row["level"]) == wanted_here
                ),
                key=lambda row: row["part"],
            )
            return
        wanted = self._frame.where(
            (sf.col("kind") == kind) & (sf.col("label") == label) & (sf.col("level") == level)
        ).select("part", "n", "data")
        with explain_failure(_DOING):
            if n_keys <= FEW_KEYS:
                # A stable sort: rows of the same part are in their order.
                yield from sorted(wanted.collect(), key=lambda row: row["part"])
            else:
                yield from wanted.toLocalIterator(prefetchPartitions=True)
