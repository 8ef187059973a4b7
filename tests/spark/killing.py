"""Add crawls on a small cluster while parts of it are killed; run by a test, as a program.

Arguments: the store, and inputs. Prints a line of JSON: how many processes were killed, and how
many tasks ran once more. Tasks kill their own processes: so there is always one that was running.
"""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from pyspark import TaskContext

import crawlgauge as cg
from crawlgauge.spark import counting, tasks

EXECUTOR, WORKER = "CoarseGrainedExecutorBackend", "pyspark.daemon"


def find_above(name):
    """Return this process or the first above it whose command holds a name."""
    pid = os.getpid()
    while name not in Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(fields[1])
    return pid


def kill_own(name, notes):
    """Kill the process of each of the first tasks once, and note what is done."""
    task = TaskContext.get()
    note = notes / f"killed-{task.partitionId()}"
    if task.partitionId() < 2 and not note.exists():
        note.touch()
        os.kill(find_above(name), signal.SIGKILL)
        # An executor takes this process with it.
        signal.pause()
    if task.attemptNumber():
        (notes / f"repeated-{task.taskAttemptId()}").touch()


def dying(function, name, notes):
    """Let a function of tasks be killed after its first result."""

    def run_and_die(*arguments):
        for number, result in enumerate(function(*arguments)):
            yield result
            if number == 0:
                kill_own(name, notes)

    return run_and_die


def main():
    store, *inputs = sys.argv[1:]
    settings = {
        "spark.executor.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    results = {}
    read, count = tasks.read_pieces, counting._count_group
    with (
        tempfile.TemporaryDirectory() as folder,
        cg.spark.start("local-cluster[2,1,1024]", settings) as spark,
    ):
        for label, name in (("executor", EXECUTOR), ("worker", WORKER), ("overlaps", EXECUTOR)):
            notes = Path(folder, label)
            notes.mkdir()
            if label == "overlaps":
                counting._count_group = dying(count, name, notes)
                cg.spark.overlaps(spark, store)
            else:
                tasks.read_pieces = dying(read, name, notes)
                cg.spark.add(spark, inputs, store=store, label=label, date="2021-01-01")
            results[label] = {
                kind: len(list(notes.glob(f"{kind}-*"))) for kind in ("killed", "repeated")
            }
    print(json.dumps(results))  # noqa: T201 - for the test


if __name__ == "__main__":
    main()
