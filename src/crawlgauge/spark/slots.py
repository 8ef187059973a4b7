"""Lead each hash range to a task of its own, in their order."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["find_slots"]

_known: dict[int, list[int]] = {}
_FIRST_TRIED = 64
_TIMES_MORE = 4


def find_slots(spark: "SparkSession", n_tasks: int) -> list[int]:
    """Return a number for each task that Spark's own partitioning by hash leads to it.

    A shuffle by a column sends a row to the task that the column's hash tells. Of the numbers
    from 0 on, these are the first whose hashes tell 0, 1, 2 and so on: each range gets a task of
    its own, no task gets two, and the tasks' results are in the order of the ranges.

    Parameters
    ----------
    spark
        The session.
    n_tasks
        How many there are.
    """
    if n_tasks not in _known:
        _known[n_tasks] = _search(spark, n_tasks)
    return _known[n_tasks]


def _search(spark: "SparkSession", n_tasks: int) -> list[int]:
    from pyspark.sql import functions as sf

    n_tried = max(_FIRST_TRIED, n_tasks * _TIMES_MORE * max(1, n_tasks.bit_length()))
    while True:
        numbers = spark.range(0, n_tried, 1, 1)
        task = sf.pmod(sf.hash("id"), sf.lit(n_tasks))
        found = numbers.groupBy(task.alias("task")).agg(sf.min("id").alias("slot")).collect()
        if len(found) == n_tasks:
            return [row["slot"] for row in sorted(found, key=lambda row: row["task"])]
        n_tried *= _TIMES_MORE
