"""Tell how many tasks of Spark are done, while others wait for them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Watcher", "watch_tasks"]

Watcher = Callable[[int, int], None]
"""Called with how many tasks are done, and how many are known."""

_SECONDS_BETWEEN = 0.3


@contextmanager
def watch_tasks(spark: "SparkSession", watcher: Watcher | None) -> Iterator[None]:
    """Tell how many tasks are done, as long as the block lasts.

    Parameters
    ----------
    spark
        The session; one without a context of its own (Spark Connect) tells nothing.
    watcher
        Called now and then; None if nobody wants to know.
    """
    context = getattr(spark, "sparkContext", None)
    if watcher is None or context is None:
        yield
        return
    is_over = threading.Event()
    thread = threading.Thread(
        target=_watch, args=(context, watcher, is_over), name="watching-spark", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _watch(context: Any, watcher: Watcher, is_over: threading.Event) -> None:  # noqa: ANN401
    stages: dict[int, tuple[int, int]] = {}
    tracker = context.statusTracker()
    while not is_over.wait(_SECONDS_BETWEEN):
        active = set(tracker.getActiveStageIds())
        for number, (_, n_tasks) in stages.items():
            if number not in active:
                stages[number] = n_tasks, n_tasks
        for number in active:
            info = tracker.getStageInfo(number)
            if info is not None:
                stages[number] = info.numCompletedTasks, info.numTasks
        if stages:
            watcher(sum(n for n, _ in stages.values()), sum(n for _, n in stages.values()))
