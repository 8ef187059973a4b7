"""Programs that could do the same, each with the fastest query that we found for it.

    python peers.py PROGRAM QUERY SCRATCH FILE...

with a file for each crawl. A program prints the matrix of shared URLs as JSON: how many each two
crawls share, and on the diagonal how many each holds. It makes a mask of crawls for each key,
then counts equal masks. Queries that end in ``-sets`` leave behind what crawlgauge does, a sorted
and distinct set of each crawl, and count from these, range by range.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from pathlib import Path

N_THREADS = len(os.sched_getaffinity(0))
KEYS_PER_RANGE = 1 << 22
"""Ranges of sorted sets need small tables only, and all but a few row groups are skipped."""

Matrix = list[list[int]]


def main() -> None:
    program, query, scratch, *paths = sys.argv[1:]
    print(json.dumps(PROGRAMS[program](query, paths, Path(scratch))))


def count_pairs(rows: Iterable[tuple[int, int]], n_crawls: int) -> Matrix:
    """Return the matrix for numbers of URLs by mask; bit k of a mask stands for crawl k."""
    shared = [[0] * n_crawls for _ in range(n_crawls)]
    for mask, count in rows:
        members = [number for number in range(n_crawls) if mask >> number & 1]
        for a in members:
            for b in members:
                shared[a][b] += count
    return shared


def split_keys(n_keys: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last key of ranges that hold about `KEYS_PER_RANGE` keys each."""
    n_ranges = 1 + n_keys // KEYS_PER_RANGE
    bounds = [number * 2**64 // n_ranges for number in range(n_ranges + 1)]
    for low, high in pairwise(bounds):
        yield low, high - 1


# ---------------------------------------------------------------------------------------- DuckDB
# ruff: noqa: S608 - the paths are those of our own files


def with_duckdb(query: str, paths: list[str], scratch: Path) -> Matrix:
    """Ask DuckDB, with the settings that its guide to tuning advises.

    Nine tenths of a query on CDXJ go into reading lines: none of twelve other ways to read them or
    to cut off the key is faster, nor is a set as a table of a database. Masks of 32 bits in the
    place of 16 cost a fifth more.
    """
    import duckdb

    lines = (
        "read_csv('{path}', auto_detect=false, header=false, columns={{'line': 'varchar'}}, "
        "delim='\\0', quote='', escape='', compression='gzip')"
    )
    key = "hash(left(line, strpos(line, ' ') - 1)) as key"
    queries = {
        "cdxj": f"select {key} from {lines}",
        "cdxj-2xx": f"""select {key} from {lines} where contains(line, '"status": "2')""",
        "urls": f"select hash(line) as key from {lines}",
        "parquet": "select hash(url_surtkey) as key from read_parquet('{path}')",
        "keys": "select key from read_parquet('{path}')",
    }
    database = duckdb.connect()
    database.execute(
        f"set threads = {N_THREADS}; set preserve_insertion_order = false; "
        f"set temp_directory = '{scratch / 'duckdb'}'"
    )

    def count(crawls: Iterable[str]) -> list[tuple[int, int]]:
        union = " union all ".join(
            f"select key, {1 << number}::usmallint as bit from ({crawl})"
            for number, crawl in enumerate(crawls)
        )
        masks = f"select key, bit_or(bit) as mask from ({union}) group by key"
        return database.execute(f"select mask, count(*) from ({masks}) group by mask").fetchall()

    source = queries[query.removesuffix("-sets")]
    if query in queries:
        return count_pairs(count(source.format(path=path) for path in paths), len(paths))
    if query != "keys-sets":  # which are sets already
        sets = [str(scratch / f"{number}.parquet") for number in range(len(paths))]
        for path, target in zip(paths, sets, strict=True):
            keys = f"select distinct key from ({source.format(path=path)}) order by key"
            database.execute(f"copy ({keys}) to '{target}'")
        paths = sets
    n_keys = database.execute(f"select count(*) from read_parquet({paths})").fetchall()[0][0]
    total: Counter[int] = Counter()
    for low, high in split_keys(n_keys):
        ranges = [
            f"from read_parquet('{path}') where key between {low} and {high}" for path in paths
        ]
        total.update(dict(count(ranges)))
    return count_pairs(total.items(), len(paths))


# ---------------------------------------------------------------------------------------- Polars


def with_polars(query: str, paths: list[str], scratch: Path) -> Matrix:
    """Ask Polars on its streaming engine, which its guide calls the faster one.

    To slice bytes is a little faster than to slice text, `scan_lines` a fifth faster than fields of
    `scan_csv`; igzip in the place of its own decompression makes no difference. To sort and then
    drop equal neighbours is a tenth faster than to sort what is unique.
    """
    import polars as pl

    line = pl.col("line")
    key = line.cast(pl.Binary).bin.slice(0, line.str.find(" ", literal=True)).hash().alias("key")
    queries: dict[str, Callable[[str], pl.LazyFrame]] = {
        "cdxj": lambda path: pl.scan_lines(path).select(key),
        "cdxj-2xx": lambda path: (
            pl.scan_lines(path).filter(line.str.contains('"status": "2', literal=True)).select(key)
        ),
        "urls": lambda path: pl.scan_lines(path).select(line.hash().alias("key")),
        "parquet": lambda path: pl.scan_parquet(path).select(key=pl.col("url_surtkey").hash()),
        "keys": pl.scan_parquet,
    }

    def count(crawls: Iterable[pl.LazyFrame]) -> list[tuple[int, int]]:
        frames = [
            crawl.with_columns(bit=pl.lit(1 << number, dtype=pl.UInt16))
            for number, crawl in enumerate(crawls)
        ]
        masks = pl.concat(frames).group_by("key").agg(mask=pl.col("bit").bitwise_or())
        return masks.group_by("mask").len().collect(engine="streaming").rows()

    read = queries[query.removesuffix("-sets")]
    if query in queries:
        return count_pairs(count(map(read, paths)), len(paths))
    if query != "keys-sets":  # which are sets already
        sets = [str(scratch / f"{number}.parquet") for number in range(len(paths))]
        for path, target in zip(paths, sets, strict=True):
            keys = read(path).sort("key").unique(maintain_order=True)
            keys.sink_parquet(target, compression="uncompressed", engine="streaming")
        paths = sets
    n_keys = pl.scan_parquet(paths).select(pl.len()).collect().item()
    total: Counter[int] = Counter()
    for low, high in split_keys(n_keys):
        first, last = (pl.lit(end, dtype=pl.UInt64) for end in (low, high))
        is_inside = pl.col("key").is_between(first, last)
        total.update(dict(count(pl.scan_parquet(path).filter(is_inside) for path in paths)))
    return count_pairs(total.items(), len(paths))


# ----------------------------------------------------------------------------------------- Spark


def with_spark(query: str, paths: list[str], scratch: Path) -> Matrix:
    """Ask Spark on this machine alone, with a few shuffle partitions for each core instead of 200.

    The driver, which does all the work here, gets the memory. Java's start and end count: they are
    part of the job when one asks once.
    """
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as sf

    spark = (
        SparkSession.builder.master(f"local[{N_THREADS}]")
        .config("spark.sql.shuffle.partitions", 4 * N_THREADS)
        .config("spark.driver.memory", "8g")
        .config("spark.local.dir", str(scratch / "spark"))
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    read, text = {
        "cdxj": (spark.read.text, sf.substring_index("value", " ", 1)),
        "parquet": (spark.read.parquet, sf.col("url_surtkey")),
    }[query]
    frames = [
        read(path).select(sf.xxhash64(text).alias("key"), sf.lit(1 << number).alias("bit"))
        for number, path in enumerate(paths)
    ]
    masks = reduce(DataFrame.unionAll, frames).groupBy("key").agg(sf.bit_or("bit").alias("mask"))
    rows = [tuple(row) for row in masks.groupBy("mask").count().collect()]
    # Java's CPU time counts only after it has been waited for.
    gateway = spark.sparkContext._gateway  # noqa: SLF001 - there is no other way to the process
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    return count_pairs(rows, len(paths))


# ----------------------------------------------------------------------------------------- igzip


def with_igzip(query: str, paths: list[str], _scratch: Path) -> int:
    """Do nothing but decompress, a file a thread: the limit. Return the size of the text."""
    from isal import igzip, igzip_lib

    def read_file(path: str) -> int:
        with igzip.open(path) as file:
            return sum(map(len, iter(lambda: file.read(1 << 20), b"")))

    def feed_blocks(path: str) -> int:
        size = 0
        decompressor = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        with Path(path).open("rb", buffering=0) as file:
            while not decompressor.eof:
                data = file.read(1 << 17) if decompressor.needs_input else b""
                size += len(decompressor.decompress(data, 1 << 18))
        return size

    with ThreadPoolExecutor(N_THREADS) as pool:
        return sum(pool.map({"files": read_file, "blocks": feed_blocks}[query], paths))


PROGRAMS: dict[str, Callable[[str, list[str], Path], object]] = {
    "duckdb": with_duckdb,
    "polars": with_polars,
    "spark": with_spark,
    "igzip": with_igzip,
}

if __name__ == "__main__":
    main()
