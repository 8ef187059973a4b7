"""Spark on this machine alone: a mask of crawls for each key, then a count of equal masks.

As its guides to tuning advise: adaptive execution stays on, there are a few shuffle partitions for
each core instead of 200, and the driver, which does all the work here, gets the memory. Keys are
`xxhash64`, the hash that Spark offers for this. Java's start and end count: they are part of the
job when one asks once.
"""

from collections.abc import Callable
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from peers.answering import answer, count_pairs, n_threads

PARTITIONS_PER_CORE = 4
CRAWLS: dict[str, Callable[[SparkSession, str], DataFrame]] = {
    "cdxj": lambda spark, path: spark.read.text(path).select(
        sf.xxhash64(sf.substring_index("value", " ", 1)).alias("key")
    ),
    "parquet": lambda spark, path: spark.read.parquet(path).select(
        sf.xxhash64("url_surtkey").alias("key")
    ),
}


def ask(
    crawl: Callable[[SparkSession, str], DataFrame],
) -> Callable[[list[str], Path], list[list[int]]]:
    def run(paths: list[str], scratch: Path) -> list[list[int]]:
        spark = start_spark(scratch)
        frames = [
            crawl(spark, path).withColumn("bit", sf.lit(1 << number))
            for number, path in enumerate(paths)
        ]
        masks = (
            reduce(DataFrame.unionAll, frames).groupBy("key").agg(sf.bit_or("bit").alias("mask"))
        )
        rows = [tuple(row) for row in masks.groupBy("mask").count().collect()]
        stop_spark(spark)
        return count_pairs(rows, len(paths))

    return run


def start_spark(scratch: Path) -> SparkSession:
    cores = n_threads()
    return (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.sql.shuffle.partitions", PARTITIONS_PER_CORE * cores)
        .config("spark.driver.memory", "8g")
        .config("spark.local.dir", str(scratch / "spark"))
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def stop_spark(spark: SparkSession) -> None:
    """Stop Spark and wait for Java to end: its CPU time counts only then."""
    gateway = spark.sparkContext._gateway  # noqa: SLF001 - there is no other way to the process
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    answer({name: ask(crawl) for name, crawl in CRAWLS.items()})
