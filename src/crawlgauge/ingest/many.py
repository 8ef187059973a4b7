"""Add several crawls, some at the same time, as if they were added one after the other."""

import csv
import datetime as dt
import io
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Unpack

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.ingest.adding import Addition, Listener, add_to_store, listen
from crawlgauge.ingest.options import (
    Choices,
    ReadOptions,
    WhenPresent,
    choose_reading,
    choose_when_present,
)
from crawlgauge.ingest.sorting import MIN_MEMORY
from crawlgauge.locations import StrPath, find_store
from crawlgauge.processors import count_processors
from crawlgauge.sources.inputs import STDIN, InputFiles, can_be_reread, find_inputs
from crawlgauge.sources.reading import ReadingProgress
from crawlgauge.sources.remote import AnyPath, interruptible, to_path
from crawlgauge.store.catalogue import Store, store_for_adding

__all__ = ["ListedCrawl", "add_all", "add_crawls", "read_crawl_list"]

_COLUMNS = ("label", "date", "path")
_MAX_AT_ONCE = 4
"""What is done between compiled parts is done by one thread at a time."""


def add_crawls(
    store: StrPath | None,
    crawl_list: StrPath,
    *,
    replace: bool = False,
    append: bool = False,
    progress: Listener | None = None,
    on_added: Callable[[Addition], None] | None = None,
    **options: Unpack[ReadOptions],
) -> tuple[Addition, ...]:
    """Add all crawls of a CSV list (``label,date,path``); what is there already is passed over.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    crawl_list
        The list: a line for each crawl. The date may be empty; the path is a file, folder, glob or
        ``@list.txt``, seen from the list's folder.
    replace, append, progress
        As for `add_crawl`.
    on_added
        Called with each crawl when it is in the store.
    **options
        What counts and how files are read; see `ReadOptions`.

    Returns
    -------
    tuple of Addition
        In the order of the list.

    Raises
    ------
    CrawlgaugeError
        If the list or one of the crawls cannot be read; those before it are in the store.
    """
    place = find_store(store)
    choices = choose_reading(options, place)
    listed = read_crawl_list(to_path(os.fspath(crawl_list)))
    reading = listen(progress, [crawl.inputs for crawl in listed])
    with store_for_adding(place, choices.rule) as opened:
        return add_all(
            opened,
            listed,
            choices=choices,
            when_present=choose_when_present(replace=replace, append=append),
            progress=reading,
            on_added=on_added,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCrawl:
    """One line of a list; `date` is None where the list leaves it open."""

    label: str
    date: dt.date | None
    inputs: InputFiles


def read_crawl_list(path: AnyPath) -> tuple[ListedCrawl, ...]:
    """Read a list of crawls and see that all it names can be found, before anything is added.

    Raises
    ------
    SourceError
        If it cannot be read or understood; with the line.
    """
    text = _read_text(path)
    rows = csv.DictReader(io.StringIO(text), restkey="", skipinitialspace=True)
    try:
        return _read_rows(rows, path)
    except csv.Error as error:
        raise SourceError(f"{path}, line {rows.line_num + 1}: {error}") from error


def _read_text(path: AnyPath) -> str:
    try:
        stored = sys.stdin.buffer.read() if str(path) == STDIN else path.read_bytes()
        return stored.decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is no UTF-8 text; it must be CSV: label,date,path") from error


def _read_rows(rows: "csv.DictReader[str]", path: AnyPath) -> tuple[ListedCrawl, ...]:
    missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise SourceError(
            f"{path} lacks the column {', '.join(missing)}; its first line must be label,date,path"
        )
    crawls: list[ListedCrawl] = []
    lines: dict[str, int] = {}
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        if "" in row or None in row.values():
            raise SourceError(f"{where}: expected {len(rows.fieldnames or ())} cells")
        crawl = _read_row(row, path, where)
        first_line = lines.setdefault(crawl.label.casefold(), rows.line_num)
        if first_line != rows.line_num:
            raise SourceError(
                f"{where}: the label {crawl.label!r} stands already on line {first_line}; "
                "a crawl of several files is one line with a glob, a folder or @list.txt"
            )
        crawls.append(crawl)
    if not crawls:
        raise SourceError(f"{path} lists no crawls")
    return tuple(crawls)


def _read_row(row: dict[str, str], path: AnyPath, where: str) -> ListedCrawl:
    word = row["path"].strip()
    if not word or word == STDIN:
        raise SourceError(f"{where}: the column path must name a file, folder, glob or @list.txt")
    try:
        return ListedCrawl(
            label=check_label(row["label"].strip()),
            date=parse_date(row["date"]) if row["date"].strip() else None,
            inputs=find_inputs([word], base=path.parent),
        )
    except (CrawlError, SourceError) as error:
        raise SourceError(f"{where}: {error}") from error


def add_all(
    store: Store,
    crawls: Sequence[ListedCrawl],
    *,
    choices: Choices,
    when_present: WhenPresent = "refuse",
    progress: ReadingProgress | None = None,
    on_added: Callable[[Addition], None] | None = None,
) -> tuple[Addition, ...]:
    """Read the files of several crawls and put their sets into the store.

    Parameters
    ----------
    store
        The store.
    crawls
        What to add, in this order.
    choices, when_present, progress
        As for `crawlgauge.ingest.adding.add_to_store`.
    on_added
        Called with each crawl when it is in the store.
    """
    n_at_once = _count_at_once(crawls, choices.memory)
    if n_at_once > 1:
        choices = replace(choices, memory=choices.memory // n_at_once, n_threads=0)

    def add_one(crawl: ListedCrawl, progress: ReadingProgress | None) -> Addition:
        return add_to_store(
            store,
            crawl.label,
            crawl.inputs,
            choices=choices,
            date=crawl.date,
            when_present=when_present,
            progress=progress,
        )

    additions = []
    # Closed at once, whatever happens: it adds in threads.
    with closing(_add_in_order(crawls, add_one, n_at_once, progress)) as added:
        for addition in added:
            additions.append(addition)
            if on_added is not None:
                on_added(addition)
    return tuple(additions)


def _add_in_order(
    crawls: Sequence[ListedCrawl],
    add_one: Callable[[ListedCrawl, ReadingProgress | None], Addition],
    n_at_once: int,
    progress: ReadingProgress | None,
) -> Generator[Addition, None, None]:
    if n_at_once == 1:
        yield from (add_one(crawl, progress) for crawl in crawls)
        return
    shared = ReadingProgress() if progress is None else progress
    must_stop = threading.Event()

    def check() -> None:
        if must_stop.is_set():
            raise _Stopped

    def add_interruptibly(crawl: ListedCrawl) -> Addition:
        check()
        with interruptible(check):
            return add_one(crawl, _Stoppable(shared, check))

    with ThreadPoolExecutor(n_at_once) as pool:
        jobs = [pool.submit(add_interruptibly, crawl) for crawl in crawls]
        try:
            yield from (job.result() for job in jobs)
        finally:
            # In the end there is nothing left to stop, unless one has failed or the user wants to.
            must_stop.set()
            for job in jobs:
                job.cancel()


def _count_at_once(crawls: Sequence[ListedCrawl], memory: int) -> int:
    if not all(can_be_reread(name) for crawl in crawls for name in crawl.inputs.names):
        # A thread that waits for a pipe cannot be interrupted.
        return 1
    n_files = max((len(crawl.inputs.names) for crawl in crawls), default=1)
    n_idle = count_processors() // n_files
    return max(1, min(n_idle, _MAX_AT_ONCE, memory // MIN_MEMORY, len(crawls)))


class _Stopped(Exception):  # noqa: N818 - nobody sees it
    """Another crawl has failed, or the user wants no more."""


class _Stoppable(ReadingProgress):
    """Tells how far one of several crawls has come to what all share, until that is to stop."""

    def __init__(self, shared: ReadingProgress, check: Callable[[], None]) -> None:
        super().__init__()
        self._shared = shared
        self._check = check

    def add_bytes(self, n_bytes: int, file: str) -> None:
        self._check()
        self._shared.add_bytes(n_bytes, file)

    def add_captures(self, n_captures: int) -> None:
        self._shared.add_captures(n_captures)
