"""Add crawls on a small cluster while parts of it are killed; run by a test, as a program.

Arguments: the store, and inputs. Prints a line of JSON: what was killed, and how many tasks failed.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import crawlgauge as cg
from crawlgauge.spark import counting, reading

EXECUTOR, WORKER = "CoarseGrainedExecutorBackend", "pyspark.daemon"


def find_processes(name):
    """Return the processes below this one whose command holds a name, the youngest last."""
    found, pending = [], [os.getpid()]
    while pending:
        pid = pending.pop()
        try:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                pending += map(int, (thread / "children").read_text().split())
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if name in command and pid != os.getpid():
            found.append(pid)
    return sorted(found)


class Killer(threading.Thread):
    """Kills all processes of a kind once, when a task runs, and counts tasks that fail."""

    def __init__(self, context, name):
        super().__init__(daemon=True)
        self.tracker, self.name_of_victim = context.statusTracker(), name
        self.killed, self.n_failed, self.is_over = [], {}, False

    def run(self):
        while not self.is_over:
            for stage in self.tracker.getActiveStageIds():
                info = self.tracker.getStageInfo(stage)
                if info is None:
                    continue
                self.n_failed[stage] = info.numFailedTasks
                if info.numActiveTasks and not self.killed:
                    victims = find_processes(self.name_of_victim)
                    for victim in victims:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(victim, signal.SIGKILL)
                    self.killed += victims
            time.sleep(0.05)


def slowly(function):
    """Let tasks last so long that they are killed in the middle."""

    def wait_and_run(*arguments):
        time.sleep(1.5)
        yield from function(*arguments)

    return wait_and_run


def run(spark, name, work):
    killer = Killer(spark.sparkContext, name)
    killer.start()
    work()
    killer.is_over = True
    killer.join()
    return {"killed": len(killer.killed), "failed": sum(killer.n_failed.values())}


def main():
    store, *inputs = sys.argv[1:]
    settings = {
        "spark.executor.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    results = {}
    reading.read_pieces = slowly(reading.read_pieces)
    counting._count_ranges = slowly(counting._count_ranges)
    with cg.spark.start("local-cluster[2,1,1024]", settings) as spark:
        for label, victim in (("executor", EXECUTOR), ("worker", WORKER)):
            results[label] = run(
                spark,
                victim,
                lambda label=label: cg.spark.add(
                    spark, inputs, store=store, label=label, date="2021-01-01"
                ),
            )
        results["overlaps"] = run(spark, EXECUTOR, lambda: cg.spark.overlaps(spark, store))
    print(json.dumps(results))  # noqa: T201 - for the test


if __name__ == "__main__":
    main()
