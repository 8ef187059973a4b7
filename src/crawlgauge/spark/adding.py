"""The part of the Python API that reads archive files, or tables, into a store with Spark."""

import datetime as dt
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any, Unpack, cast

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.errors import StoreError
from crawlgauge.ingest.adding import Addition, add_to_store
from crawlgauge.ingest.many import ListedCrawl, read_crawl_list
from crawlgauge.ingest.options import (
    Choices,
    ReadOptions,
    WhenPresent,
    choose_reading,
    choose_when_present,
    find_all,
)
from crawlgauge.ingest.splitting import Period, SplitResult, add_split, choose_cut
from crawlgauge.locations import StrPath, find_store
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.remote import to_path
from crawlgauge.spark.reading import SparkReader
from crawlgauge.spark.session import Watcher, watch_tasks
from crawlgauge.spark.tasks import TABLE
from crawlgauge.store.catalogue import Store, store_for_adding

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["add", "add_list", "split"]

TASK_MEMORY = 512 << 20
"""What a task takes for its keys and attributes, unless the user says otherwise: it fits beside
Java in what clusters usually give to a core."""


def add(
    spark: "SparkSession",
    source: "DataFrame | StrPath | Iterable[StrPath]",
    *,
    store: StrPath | None = None,
    label: str,
    date: dt.date | str | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Watcher | None = None,
    **options: Unpack[ReadOptions],
) -> Addition:
    """Read the files of one crawl, or a table of its captures, into a store with Spark.

    The set has the same keys and counts as one that was read without Spark.

    Parameters
    ----------
    spark
        The session.
    source
        Files, folders or globs that all executors reach by the same name, of any format; or a
        DataFrame with a column of URLs, and of times, statuses, media types and digests where it
        has them. They are found by their names, as in Parquet files.
    store
        The store's folder, as for `open_store`. Only the driver writes to it.
    label, date, replace
        As for `add_crawl`.
    append
        Whether further files are added to an existing crawl of that label.
    progress
        Called now and then with how many tasks of how many are done.
    **options
        What counts and how files are read; see `ReadOptions`. Of ``memory``, each task takes so
        much: 512 MB by default.

    Returns
    -------
    Addition
        The crawl as it is in the store, and what came of adding it.

    Raises
    ------
    CrawlgaugeError
        If the label, the date, an input or the store cannot be used, or Spark fails; the store is
        as before.
    """
    check_label(label)
    found_date = parse_date(date) if isinstance(date, str) else date
    present = choose_when_present(replace=replace, append=append)
    table, files = _read_source(source, append=append)
    crawl = ListedCrawl(label=label, date=found_date, inputs=files)
    with _open(spark, store, options, progress) as (opened, choices):
        return _add(SparkReader(spark, table), opened, crawl, choices, present)


def add_list(
    spark: "SparkSession",
    crawl_list: StrPath,
    *,
    store: StrPath | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Watcher | None = None,
    on_added: Callable[[Addition], None] | None = None,
    **options: Unpack[ReadOptions],
) -> tuple[Addition, ...]:
    """Add all crawls of a CSV list (``label,date,path``) with Spark, one after the other.

    Parameters
    ----------
    spark
        The session.
    crawl_list, on_added
        As for `add_crawls`.
    store, replace, append, progress, **options
        As for `add`.

    Raises
    ------
    CrawlgaugeError
        As for `add`; crawls before the one that failed are in the store.
    """
    present = choose_when_present(replace=replace, append=append)
    crawls = read_crawl_list(to_path(os.fspath(crawl_list)))
    additions = []
    with _open(spark, store, options, progress) as (opened, choices):
        for crawl in crawls:
            additions.append(_add(SparkReader(spark), opened, crawl, choices, present))
            if on_added is not None:
                on_added(additions[-1])
    return tuple(additions)


def split(
    spark: "SparkSession",
    inputs: StrPath | Iterable[StrPath],
    *,
    store: StrPath | None = None,
    period: Period | None = None,
    pattern: str | None = None,
    field: str = "filename",
    replace: bool = False,
    progress: Watcher | None = None,
    **options: Unpack[ReadOptions],
) -> SplitResult:
    """Cut a collection-wide index into crawls with Spark, in one pass over its files.

    Parameters
    ----------
    spark
        The session.
    inputs
        Files, folders or globs that all executors reach by the same name.
    period, pattern, field
        As for `split_collection`.
    store, replace, progress, **options
        As for `add`.

    Raises
    ------
    CrawlgaugeError
        As for `add`.
    ValueError
        If not just one of `period` and `pattern` is given.
    """
    cut = choose_cut(period, pattern, field)
    present = choose_when_present(replace=replace, append=False)
    files = find_all(inputs)
    with _open(spark, store, options, progress) as (opened, choices), SparkReader(spark) as reader:
        read = reader.read_collection
        return add_split(opened, files, cut, choices=choices, when_present=present, read=read)


@contextmanager
def _open(
    spark: "SparkSession", store: StrPath | None, options: ReadOptions, progress: Watcher | None
) -> Iterator[tuple[Store, Choices]]:
    place = find_store(store)
    choices = choose_reading(options, place)
    if not options.get("memory"):
        choices = changed(choices, memory=TASK_MEMORY)
    with store_for_adding(place, choices.rule) as opened, watch_tasks(spark, progress):
        yield opened, choices


def _add(
    reader: SparkReader, store: Store, crawl: ListedCrawl, choices: Choices, present: WhenPresent
) -> Addition:
    label, inputs, date = crawl.label, crawl.inputs, crawl.date
    how: dict[str, Any] = {"choices": choices, "date": date, "when_present": present}
    with reader:
        return add_to_store(store, label, inputs, read=reader.read, **how)


def _read_source(
    source: "DataFrame | StrPath | Iterable[StrPath]", *, append: bool
) -> "tuple[DataFrame | None, InputFiles]":
    if not hasattr(source, "mapInArrow"):
        return None, find_all(source)
    if append:
        raise StoreError(
            "a table cannot be appended to a crawl, as it cannot be told whether it is in it "
            "already; unite the tables and add them with replace=True"
        )
    return cast("DataFrame", source), InputFiles(names=(TABLE,), repeated=())
