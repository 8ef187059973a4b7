"""What each stage costs with Spark and without, in CPU time and bytes for each URL.

    python benchmarks/spark_stages.py CDXJ_FILE... [--rounds 3]

The files are those of one crawl, a task for each. Stages are measured as Spark runs them, by
calling the functions of its tasks in this process: what Java itself takes, and what is shuffled, is
read from the log of a session on this machine. The least of several rounds counts.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import crawlgauge as cg
import machine
from crawlgauge.ingest.options import Choices
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps.counting import count_group, count_sets
from crawlgauge.spark.adding import TASK_MEMORY
from crawlgauge.spark.session import start
from crawlgauge.spark.tasks import ATTRIBUTES, REPORT, Piece, Plan, merge_rows, read_pieces
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import KeyReader, write_keys
from crawlgauge.store.ranges import HashRange

RANGE_BITS = 4
N_COUNTED_KEYS = 15_000_000
N_COUNTING_BITS = 1
SHARE_HELD = 0.3


def least(n_rounds: int, work: Callable[[], object]) -> float:
    """Return the least CPU seconds of several rounds."""
    seconds = []
    for _ in range(n_rounds):
        before = time.process_time()
        work()
        seconds.append(time.process_time() - before)
    return min(seconds)


def read_as_tasks(files: list[str]) -> list[Any]:
    """Read each file as a task does, and return its rows."""
    plan = Plan(
        Choices(memory=TASK_MEMORY),
        "2021-12",
        range_bits=RANGE_BITS,
        slots=tuple(range(1 << RANGE_BITS)),
    )
    batches = []
    for number, name in enumerate(files):
        piece = Piece(number=number, name=name, n_bytes=Path(name).stat().st_size)
        batches += list(read_pieces(plan, [piece]))
    return [batch.slice(row, 1) for batch in batches for row in range(batch.num_rows)]


def measure_tasks(
    files: list[str], folder: Path, n_rounds: int
) -> Iterator[tuple[str, float, str]]:
    addition = cg.add_crawl(folder / "store", "2021-12", files)
    n_captures = addition.crawl_set.n_captures + sum(addition.crawl_set.excluded.values())
    seconds = least(
        n_rounds, lambda: cg.add_crawl(folder / "store", "2021-12", files, replace=True)
    )
    yield "one machine: read, sort, write a set", seconds / n_captures, "capture"
    rows = read_as_tasks(files)
    seconds = least(n_rounds, lambda: read_as_tasks(files))
    yield "Spark: read and sort", seconds / n_captures, "capture"
    kinds: dict[str, list[Any]] = {"key": [], "attribute": []}
    for row in rows:
        what = row.column("what")[0].as_py()
        if what != REPORT:
            kinds["attribute" if what == ATTRIBUTES else "key"].append(row)
    n_keys = sum(row.column("n")[0].as_py() for row in kinds["key"])
    seconds = least(n_rounds, lambda: list(merge_rows(kinds["key"])))
    yield "Spark: merge keys", seconds / n_keys, "key"
    # Of each key there is an attribute, as nothing says how large the inputs are.
    seconds = least(n_rounds, lambda: list(merge_rows(kinds["attribute"])))
    yield "Spark: merge attributes", seconds / n_keys, "attribute"
    for what, some in kinds.items():
        n_bytes = sum(len(row.column("data")[0].as_py()) for row in some)
        yield f"Spark: bytes handed on (no time) for each {what}", n_bytes / n_keys / 1e6, what
    one = cg.open_store(folder / "store").crawl_set("2021-12")
    keys = KeyReader(one).between(0, WHOLE)
    seconds = least(n_rounds, lambda: write_keys(folder, [keys], one, n_most=keys.size))
    yield "Spark: write a set (driver)", seconds / keys.size, "key"
    for n_sets in (15, 120):
        sets = list(draw_sets(folder, one, n_sets))
        n_counted = sum(item.crawl.n_urls for item in sets)
        seconds = least(n_rounds, partial(count_as_tasks, sets))
        yield f"Spark: count overlaps of {n_sets} crawls", seconds / n_counted, "key of a set"
        seconds = least(n_rounds, partial(count_sets, sets))
        yield f"one machine: the same of {n_sets}", seconds / n_counted, "key of a set"


def draw_sets(folder: Path, one: CrawlSet, n_sets: int) -> Iterator[CrawlSet]:
    """Write sets that each hold some of the same keys, about as crawls of one archive do."""
    chance = np.random.default_rng(1)
    n_keys = N_COUNTED_KEYS // n_sets
    population = np.unique(chance.integers(0, WHOLE, int(n_keys / SHARE_HELD), dtype=np.uint64))
    for number in range(n_sets):
        keys = population[chance.random(population.size) < SHARE_HELD]
        place = folder / f"{n_sets}-{number}"
        place.mkdir()
        crawl = replace(one.crawl, label=f"c{number:03}")
        yield write_keys(place, [keys], replace(one, crawl=crawl, folder=place), n_most=keys.size)


def count_as_tasks(sets: list[CrawlSet]) -> None:
    for number in range(1 << N_COUNTING_BITS):
        count_group(sets, HashRange(number=number, bits=N_COUNTING_BITS), WHOLE)


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
