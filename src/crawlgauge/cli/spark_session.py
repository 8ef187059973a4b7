"""Spark for one command: its options, its session, and how far its tasks have come."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from crawlgauge.cli.progress import TaskLine, show_progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_engine", "run_spark"]


def check_engine(engine: str, master: str | None, spark_conf: Sequence[str]) -> None:
    """See that options of Spark are given only where Spark is wanted.

    Raises
    ------
    click.UsageError
        If not, or if a setting is none.
    """
    if engine != "spark" and (master is not None or spark_conf):
        given = "--master" if master is not None else "--spark-conf"
        raise click.UsageError(f"{given} is for Spark; add --engine spark, or leave it out")
    for setting in spark_conf:
        key, equals, _ = setting.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(
                f"--spark-conf {setting!r} is no setting; write it as "
                "--spark-conf spark.executor.memory=4g"
            )


@contextmanager
def run_spark(
    title: str, master: str | None, spark_conf: Sequence[str]
) -> "Iterator[tuple[SparkSession, TaskLine | None]]":
    """Start Spark, and show how many of its tasks are done.

    Parameters
    ----------
    title
        What is going on.
    master, spark_conf
        As the user gave them.
    """
    from crawlgauge.spark.session import check_installed, start

    check_installed()
    settings = dict(setting.split("=", 1) for setting in spark_conf)
    with show_progress(title) as line:
        if line is not None:
            line.write("starting Spark")
        with start(master, {key.strip(): value for key, value in settings.items()}) as spark:
            yield spark, line
