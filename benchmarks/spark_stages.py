"""What each stage costs with Spark and without, in CPU time and bytes for each URL.

    python benchmarks/spark_stages.py CDXJ_FILE... [--rounds 3]

The files are those of one crawl, a task for each. Stages are measured as Spark runs them, by
calling the functions of its tasks in this process: what Java itself takes, and what is shuffled, is
read from the log of a session on this machine. The least of several rounds counts.
"""

import argparse
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import crawlgauge as cg
import machine
from crawlgauge.keys.thresholds import WHOLE, count_ranges
from crawlgauge.overlaps.hash_pass import run_pass
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS
from crawlgauge.overlaps.history_tally import MAX_HISTORIES
from crawlgauge.overlaps.range_keys import common_range_bits
from crawlgauge.spark.counting import _count_ranges, _group_ranges
from crawlgauge.spark.map_task import TaskPlan, read_pieces
from crawlgauge.spark.planning import Piece
from crawlgauge.spark.reading import TASK_MEMORY
from crawlgauge.spark.reduce_task import merge_rows
from crawlgauge.spark.rows import ATTRIBUTES, KEYS
from crawlgauge.spark.session import start
from crawlgauge.store.choices import Choices
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import SetReader, choose_range_bits, split_keys, write_set

RANGE_BITS = 4
N_COUNTED_KEYS = 15_000_000
N_COUNTING_TASKS = 2
SHARE_HELD = 0.3


def least(n_rounds: int, work: Callable[[], object]) -> float:
    """Return the least CPU seconds of several rounds."""
    seconds = []
    for _ in range(n_rounds):
        before = time.process_time()
        work()
        seconds.append(time.process_time() - before)
    return min(seconds)


def read_as_task(files: list[str]) -> list[Any]:
    plan = TaskPlan(
        label="2021-12",
        choices=Choices(memory=TASK_MEMORY),
        cut=None,
        needs_times=False,
        range_bits=RANGE_BITS,
        slots=list(range(1 << RANGE_BITS)),
        names=tuple(files),
        folder=".",
        n_bytes=0,
        slack=0,
    )
    rows = []
    for number, name in enumerate(files):
        piece = Piece(number=number, name=name, n_bytes=Path(name).stat().st_size)
        rows += list(read_pieces([piece], plan))
    return rows


def measure_tasks(
    files: list[str], folder: Path, n_rounds: int
) -> Iterator[tuple[str, float, str]]:
    addition = cg.add_crawl(folder / "store", "2021-12", files)
    n_captures = addition.crawl_set.n_captures + sum(addition.crawl_set.excluded.values())
    seconds = least(
        n_rounds, lambda: cg.add_crawl(folder / "store", "2021-12", files, replace=True)
    )
    yield "one machine: read, sort, write a set", seconds / n_captures, "capture"
    rows = read_as_task(files)
    yield (
        "Spark: read and sort",
        least(n_rounds, lambda: read_as_task(files)) / n_captures,
        "capture",
    )
    of_keys = [row for row in rows if row.column("kind")[0].as_py() == KEYS]
    n_keys = sum(row.column("n")[0].as_py() for row in of_keys)
    seconds = least(n_rounds, lambda: list(merge_rows(of_keys, WHOLE)))
    yield "Spark: merge keys", seconds / n_keys, "key"
    others = [row for row in rows if row.column("kind")[0].as_py() == ATTRIBUTES]
    n_attributes = sum(row.column("n")[0].as_py() for row in others)
    seconds = least(n_rounds, lambda: list(merge_rows(others, WHOLE)))
    yield "Spark: merge attributes", seconds / n_attributes, "attribute"
    for what, some, n in (("key", of_keys, n_keys), ("attribute", others, n_attributes)):
        n_bytes = sum(len(row.column("data")[0].as_py()) for row in some)
        yield f"Spark: bytes handed on (no time) for each {what}", n_bytes / n / 1e6, what
    one = cg.open_store(folder / "store").crawl_set("2021-12")
    keys = np.concatenate(list(SetReader(one.path).ranges()))
    parts = split_keys(keys, one.range_bits)
    seconds = least(n_rounds, lambda: write_set(io.BytesIO(), parts, one))
    yield "Spark: write a set (driver)", seconds / keys.size, "key"
    for n_sets in (15, 120):
        sets = list(draw_sets(folder, one, n_sets))
        n_counted = sum(item.crawl.n_urls for item in sets)
        seconds = least(n_rounds, lambda sets=sets: count_as_tasks(sets))
        yield f"Spark: count overlaps of {n_sets} crawls", seconds / n_counted, "key of a set"
        seconds = least(
            n_rounds, lambda sets=sets: run_pass(sets, len(sets), WHOLE, history_end=WHOLE)
        )
        yield f"one machine: the same of {n_sets}", seconds / n_counted, "key of a set"


def draw_sets(folder: Path, one: CrawlSet, n_sets: int) -> Iterator[CrawlSet]:
    """Write sets that each hold some of the same keys, about as crawls of one archive do."""
    chance = np.random.default_rng(1)
    n_keys = N_COUNTED_KEYS // n_sets
    population = np.unique(chance.integers(0, WHOLE, int(n_keys / SHARE_HELD), dtype=np.uint64))
    for number in range(n_sets):
        keys = population[chance.random(population.size) < SHARE_HELD]
        bits = choose_range_bits(keys.size)
        path = folder / f"{n_sets}-{number}.parquet"
        with path.open("wb") as file:
            description = replace(one, path=path, range_bits=bits)
            yield write_set(file, split_keys(keys, bits), description)


def count_as_tasks(sets: list[CrawlSet]) -> None:
    bits = common_range_bits(sets)
    paths = [str(item.path) for item in sets]
    end = WHOLE if len(sets) <= MAX_HISTORY_CRAWLS else 0
    for group in _group_ranges(count_ranges(bits, WHOLE), N_COUNTING_TASKS):
        list(_count_ranges(paths, group, bits, len(sets), WHOLE, end, MAX_HISTORIES))


def measure_session(files: list[str], folder: Path) -> dict[str, float]:
    """Return what Spark's own log tells of adding the crawl, and how many keys it has."""
    logs = folder / "events"
    logs.mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{logs}",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }
    with start("local[2]", settings) as spark:
        # The first one pays for the start of everything.
        cg.spark.add(spark, files, store=folder / "spark", label="2021-12")
        n_before = len(read_events(logs))
        started = time.perf_counter()
        addition = cg.spark.add(spark, files, store=folder / "spark", label="2021-12", replace=True)
        seconds = time.perf_counter() - started
    ends = [event for event in read_events(logs)[n_before:] if "Task Metrics" in event]
    metrics = [event["Task Metrics"] for event in ends]
    written = sum(item["Shuffle Write Metrics"]["Shuffle Bytes Written"] for item in metrics)
    return {
        "wall": seconds,
        "java": sum(item["Executor CPU Time"] for item in metrics) / 1e9,
        "tasks": sum(item["Executor Run Time"] for item in metrics) / 1e3,
        "shuffled": float(written),
        "n_keys": float(addition.crawl_set.crawl.n_urls),
    }


def read_events(folder: Path) -> list[dict[str, Any]]:
    lines = [line for path in folder.iterdir() for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        print("| stage | CPU µs | for each |\n| --- | ---: | --- |")
        for stage, seconds, unit in measure_tasks(given.files, folder, given.rounds):
            print(f"| {stage} | {seconds * 1e6:.3f} | {unit} |", flush=True)
        found = measure_session(given.files, folder)
        n_keys = found["n_keys"]
        print(f"| Spark: Java in all tasks | {found['java'] / n_keys * 1e6:.3f} | key |")
        print(
            f"| Spark: tasks from begin to end (wall) | {found['tasks'] / n_keys * 1e6:.3f} | key |"
        )
        print(
            f"\n{n_keys:,.0f} keys; shuffled {found['shuffled'] / n_keys:.2f} bytes a key, of keys"
        )
        print(f"and attributes; {found['wall']:.1f} s wall.")
    print(f"\n{machine.today()}. {machine.describe_machine()}. {machine.describe_versions()}.")


if __name__ == "__main__":
    main()
