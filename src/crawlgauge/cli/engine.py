"""What does the work: this machine, or Spark, with its session and how far its tasks have come."""

from contextlib import AbstractContextManager, contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli.options import Command, option, stack
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    Watcher = Callable[[int, int], None]
    RunSpark = Callable[[str], AbstractContextManager[tuple[SparkSession, Watcher | None]]]
    """Starts Spark for what it is told is going on; gives it, and what shows its tasks."""

_options = stack(
    option(
        "--engine local|spark",
        "What does the work: this machine, or Spark; the result is the same.",
        default="local",
    ),
    option(
        "--master URL",
        "Where Spark runs: local[*] (this machine, the default), spark://HOST:7077, yarn, "
        "k8s://...",
    ),
    option(
        "--spark-conf KEY=VALUE", "A setting of Spark; may be given several times.", multiple=True
    ),
)


def with_engine(command: Command) -> Command:
    """Give a command the options of Spark, and as its parameter `spark` what starts it, or None."""

    @wraps(command)
    def with_spark(
        *,
        engine: str,
        master: str | None,
        spark_conf: tuple[str, ...],
        **given: Any,  # noqa: ANN401 - options are of many types
    ) -> Any:  # noqa: ANN401 - an exit code or nothing
        if engine != "spark" and (master is not None or spark_conf):
            wrong = "--master" if master is not None else "--spark-conf"
            raise click.UsageError(f"{wrong} is for Spark; add --engine spark, or leave it out")
        settings = dict(_parse_setting(setting) for setting in spark_conf)
        run = partial(_run_spark, master, settings) if engine == "spark" else None
        return command(spark=run, **given)

    return _options(with_spark)


def _parse_setting(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(
            f"--spark-conf {setting!r} is not a setting; write it as "
            "--spark-conf spark.executor.memory=4g"
        )
    return key.strip(), value


@contextmanager
def _run_spark(
    master: str | None, settings: dict[str, str], title: str
) -> "Iterator[tuple[SparkSession, Watcher | None]]":
    """Start Spark, and show how many of its tasks are done."""
    from crawlgauge.spark.session import check_installed, start

    check_installed()
    with show_progress(title) as line:
        if line is not None:
            line.write("starting Spark")
        with start(master, settings) as spark:
            yield spark, None if line is None else line.show_tasks
