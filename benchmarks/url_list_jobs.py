"""One job of the comparison: read URL lists, print the matrix of overlaps as JSON."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path


def with_crawlgauge(lists: list[str], scratch: Path) -> list[list[int]]:
    import crawlgauge as cg

    store = scratch / "store"
    for path in lists:
        cg.add_crawl(store, Path(path).name.removesuffix(".txt.gz"), path)
    return cg.count_overlaps(store).n_shared.tolist()


def with_duckdb(lists: list[str], _scratch: Path) -> list[list[int]]:
    import duckdb

    db = duckdb.connect()
    db.execute("set threads = 2")
    read = " union all ".join(
        f"select hash(column0) as key, {number} as crawl from read_csv('{path}', header=false, "  # noqa: S608
        "columns={'column0': 'varchar'}, delim='\\0', quote='', escape='')"
        for number, path in enumerate(lists)
    )
    rows = db.execute(
        f"with masks as (select key, bit_or(1 << crawl) as mask from ({read}) group by key) "  # noqa: S608
        "select mask, count(*) from masks group by mask"
    ).fetchall()
    return count_pairs(rows, len(lists))


def with_polars(lists: list[str], _scratch: Path) -> list[list[int]]:
    import polars as pl

    frames = [
        pl.scan_csv(path, has_header=False, separator="\x01", quote_char=None, new_columns=["url"])
        .select(pl.col("url").hash().alias("key"))
        .unique()
        .with_columns(pl.lit(1 << number, dtype=pl.Int64).alias("bit"))
        for number, path in enumerate(lists)
    ]
    masks = pl.concat(frames).group_by("key").agg(pl.col("bit").sum().alias("mask"))
    return count_pairs(masks.group_by("mask").len().collect().rows(), len(lists))


def with_python_sets(lists: list[str], _scratch: Path) -> list[list[int]]:
    sets = []
    for path in lists:
        with gzip.open(path) as file:
            sets.append({line.strip() for line in file})
    return [[len(a & b) for b in sets] for a in sets]


def count_pairs(rows: list[tuple[int, int]], n_crawls: int) -> list[list[int]]:
    shared = [[0] * n_crawls for _ in range(n_crawls)]
    for mask, count in rows:
        members = [number for number in range(n_crawls) if mask >> number & 1]
        for a in members:
            for b in members:
                shared[a][b] += count
    return shared


JOBS: dict[str, Callable[[list[str], Path], list[list[int]]]] = {
    "crawlgauge": with_crawlgauge,
    "duckdb": with_duckdb,
    "polars": with_polars,
    "python-sets": with_python_sets,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](sys.argv[3:], Path(sys.argv[2]))))
