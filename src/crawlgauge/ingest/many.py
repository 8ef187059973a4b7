"""Add several crawls: those of a list, some at once, or those that a collection is cut into.

Those of a list come out as if they were added one after the other.
"""

import csv
import io
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Unpack

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.ingest.adding import (
    Addition,
    Listener,
    NewCrawl,
    ReadCrawl,
    Reader,
    add_to_store,
    count_left_out,
    leave_crawl,
    listen,
    name_all,
    nothing_kept,
    open_for_adding,
    publish_crawl,
    read_here,
    refuse_present,
    was_made_from,
)
from crawlgauge.ingest.options import (
    Choices,
    ReadOptions,
    WhenPresent,
    choose_when_present,
    find_all,
)
from crawlgauge.ingest.sorting import MIN_MEMORY, KeyMemory
from crawlgauge.ingest.splitting import ByField, Cut, Period, Splitter, choose_cut
from crawlgauge.locations import StrPath
from crawlgauge.processors import count_processors
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.inputs import STDIN, InputFiles, can_be_reread, find_inputs
from crawlgauge.sources.reading import ReadingProgress, ReadInputs
from crawlgauge.sources.remote import AnyPath, interruptible, to_path
from crawlgauge.store.catalogue import Store
from crawlgauge.store.spilling import SpillFolder

__all__ = ["SplitResult", "add_crawls", "add_split", "read_crawl_list", "split_collection"]

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
    present = choose_when_present(replace=replace, append=append)
    crawls = read_crawl_list(to_path(os.fspath(crawl_list)))
    reading = listen(progress, [crawl.inputs for crawl in crawls])
    with open_for_adding(store, options) as (opened, choices):
        n_at_once = _count_at_once(crawls, choices.memory)
        if n_at_once > 1:
            own = changed(choices, memory=choices.memory // n_at_once, n_threads=0)
        else:
            own = choices

        def add_one(crawl: NewCrawl, progress: ReadingProgress) -> Addition:
            return add_to_store(opened, crawl, own, present, progress)

        additions = []
        # Closed at once, whatever happens: it adds in threads.
        with closing(_add_in_order(crawls, add_one, n_at_once, reading)) as added:
            for addition in added:
                additions.append(addition)
                if on_added is not None:
                    on_added(addition)
        return tuple(additions)


def read_crawl_list(path: AnyPath) -> tuple[NewCrawl, ...]:
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


def _read_rows(rows: "csv.DictReader[str]", path: AnyPath) -> tuple[NewCrawl, ...]:
    missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise SourceError(
            f"{path} lacks the column {', '.join(missing)}; its first line must be label,date,path"
        )
    crawls: list[NewCrawl] = []
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


def _read_row(row: dict[str, str], path: AnyPath, where: str) -> NewCrawl:
    word = row["path"].strip()
    if not word or word == STDIN:
        raise SourceError(f"{where}: the column path must name a file, folder, glob or @list.txt")
    try:
        return NewCrawl(
            label=check_label(row["label"].strip()),
            date=parse_date(row["date"]) if row["date"].strip() else None,
            inputs=find_inputs([word], base=path.parent),
        )
    except (CrawlError, SourceError) as error:
        raise SourceError(f"{where}: {error}") from error


def _add_in_order(
    crawls: Sequence[NewCrawl],
    add_one: Callable[[NewCrawl, ReadingProgress], Addition],
    n_at_once: int,
    progress: ReadingProgress,
) -> Generator[Addition, None, None]:
    if n_at_once == 1:
        yield from (add_one(crawl, progress) for crawl in crawls)
        return
    must_stop = threading.Event()

    def check() -> None:
        if must_stop.is_set():
            raise _Stopped

    def add_interruptibly(crawl: NewCrawl) -> Addition:
        check()
        with interruptible(check):
            return add_one(crawl, _Stoppable(progress, check))

    with ThreadPoolExecutor(n_at_once) as pool:
        jobs = [pool.submit(add_interruptibly, crawl) for crawl in crawls]
        try:
            yield from (job.result() for job in jobs)
        finally:
            # In the end there is nothing left to stop, unless one has failed or the user wants to.
            must_stop.set()
            for job in jobs:
                job.cancel()


def _count_at_once(crawls: Sequence[NewCrawl], memory: int) -> int:
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


# ----------------------------------------------------------------- the crawls of a collection


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """What came of cutting a collection into crawls.

    Parameters
    ----------
    additions
        The crawls, in the order of their labels.
    unassigned
        How many records belong to none of them, by reason.
    examples
        The first records that were rejected.
    """

    additions: tuple[Addition, ...]
    unassigned: Mapping[str, int]
    examples: tuple[Rejection, ...]


def split_collection(
    store: StrPath | None,
    inputs: StrPath | Iterable[StrPath],
    *,
    period: Period | None = None,
    pattern: str | None = None,
    field: str = "filename",
    replace: bool = False,
    progress: Listener | None = None,
    **options: Unpack[ReadOptions],
) -> SplitResult:
    """Cut a collection-wide index into crawls, in one pass over its files.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    inputs
        As for `add_crawl`.
    period
        Cut by capture time into the months, quarters, half-years or years of the calendar.
    pattern, field
        Or cut by what a regular expression finds in a field; its first group, or all that it
        finds, is the crawl's label.
    replace
        Whether crawls that are there are replaced.
    progress
        Called now and then with how far reading has come.
    **options
        What counts and how files are read; see `ReadOptions`.

    Raises
    ------
    CrawlgaugeError
        If something cannot be read or used; the store is as before.
    """
    cut = choose_cut(period, pattern, field)
    present, files = choose_when_present(replace=replace, append=False), find_all(inputs)
    with open_for_adding(store, options) as (opened, choices):
        return add_split(opened, files, cut, choices, present, listen(progress, [files]))


def add_split(
    store: Store,
    inputs: InputFiles,
    cut: Cut,
    choices: Choices,
    when_present: WhenPresent,
    progress: ReadingProgress | None = None,
    read: Reader = read_here,
) -> SplitResult:
    """Read a collection and put each of its crawls into the store.

    Parameters
    ----------
    store
        The store.
    inputs
        Its files.
    cut
        Where to cut.
    choices, when_present, progress, read
        As for `crawlgauge.ingest.adding.add_to_store`.
    """
    with SpillFolder(store.path) as spill:
        target = Splitter(cut, choices, KeyMemory(choices.memory, spill))
        found = read(inputs, choices, target, progress)
        builders, rest = target.builders, target.rest
        for label in [label for label, item in builders.items() if not item.n_captures]:
            rest.update(builders.pop(label).excluded)
        if not builders:
            raise _nothing_found(inputs, cut, rest, found)
        settings = {**choices.settings(None), **cut.settings()}
        crawls = {
            label: ReadCrawl(
                builder=builders[label],
                read=changed(found, examples=()),
                settings=settings,
                date=None,
                unassigned=dict(rest),
            )
            for label in sorted(builders)
        }
        if when_present == "refuse":
            # Before the first is written.
            for label, crawl in crawls.items():
                _check_present(store, label, crawl)
        return SplitResult(
            additions=tuple(_publish(store, label, crawl) for label, crawl in crawls.items()),
            unassigned=dict(rest),
            examples=found.examples,
        )


def _nothing_found(
    inputs: InputFiles, cut: Cut, rest: Counter[str], read: ReadInputs
) -> SourceError:
    if read.damages:
        return nothing_kept(read.damages)
    why = f"left out: {count_left_out(rest)}" if rest else "the input is empty"
    if isinstance(cut, ByField) and rest[cut.reason]:
        why += (
            f". --split-by finds no label in the field {cut.field!r}; name another field with "
            "--split-field, or add the crawls one by one"
        )
    return SourceError(
        f"{name_all(inputs)}: no capture that counts and can be assigned to a crawl; {why}"
    )


def _check_present(store: Store, label: str, crawl: ReadCrawl) -> None:
    if store.holds(label):
        present = store.manifest(label)
        if not was_made_from(present, crawl.read.inputs, crawl.settings):
            raise refuse_present(store, present)


def _publish(store: Store, label: str, crawl: ReadCrawl) -> Addition:
    with store.writing(label) as writer:
        present = store.manifest(label) if store.holds(label) else None
        if present is not None and was_made_from(present, crawl.read.inputs, crawl.settings):
            return leave_crawl(present)
        return publish_crawl(store, writer, crawl, "added" if present is None else "replaced")
