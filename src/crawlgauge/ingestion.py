"""The part of the Python API that reads archive files into a store."""

import datetime as dt
import os
from collections.abc import Callable, Iterable
from typing import TypedDict, Unpack

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.errors import StoreError
from crawlgauge.keys.levels import BY_TEXT, BY_URL, parse_levels
from crawlgauge.keys.rules import SURT, find_rule
from crawlgauge.keys.scope import read_scope
from crawlgauge.keys.thresholds import parse_sampling
from crawlgauge.locations import StrPath, find_store
from crawlgauge.remote.remote_path import AnyPath, to_path
from crawlgauge.sources.inputs import InputFiles, find_inputs
from crawlgauge.sources.page_text import check_extractor
from crawlgauge.sources.progress import Progress, ReadingProgress, total_bytes
from crawlgauge.sources.request import DEFAULT_MAX_EXPANSION
from crawlgauge.sources.what_counts import DEFAULT_STATUS, WhatCounts
from crawlgauge.store.adding import WhenPresent, add_to_store
from crawlgauge.store.adding_many import add_all
from crawlgauge.store.catalogue import store_for_adding, stored_rule
from crawlgauge.store.choices import Choices, OnDamage
from crawlgauge.store.crawl_list import read_crawl_list
from crawlgauge.store.cuts import ByField, ByTime, Cut, Period
from crawlgauge.store.making import Addition
from crawlgauge.store.memory import default_memory, parse_memory
from crawlgauge.store.splitting import SplitResult, add_split

__all__ = ["ReadOptions", "add_crawl", "add_crawls", "split_collection"]

Listener = Callable[[Progress], None]


class ReadOptions(TypedDict, total=False):
    """What counts and how files are read; each may be left out.

    Parameters
    ----------
    identity
        Which URLs are the same: ``surt``, ``scheme-free``, ``raw`` or ``given``; one for a whole
        store. By default that of the store, and ``surt`` for a new one.
    status
        HTTP statuses that count, as text: ``any``, or some of ``2xx``, ``404``, ``200-299`` and
        ``none`` (captures without a status) between commas. ``2xx,none`` by default.
    mime
        Media types that count, between commas: ``text/html``, ``image/*``. All by default.
    scope
        A file of hosts, domains or SURT prefixes, one a line; ``!`` before one excludes it.
    format
        Format of the inputs, where it should not be found out from their content.
    column
        Which column holds the URLs, by name or by position from 1.
    on_damage
        ``stop`` at damaged input (the default), or ``keep`` what can be read of it.
    max_expansion
        How many times its compressed size an input may have.
    sample
        Keep a part of the URLs: a share such as ``1/64``, the same URLs of every crawl, or
        ``auto`` for the 2**22 URLs with the smallest keys. All by default.
    memory
        How much memory to take at most, such as ``2G``; what does not fit is sorted on the disk,
        beside the store. By default a quarter of the machine's.
    levels
        What is kept of the captures that count, between commas: ``url`` (always), ``content``
        (the digests of what was captured) and ``text`` (the words of HTML pages; WARC, ARC and
        WACZ alone). By default ``url``.
    """

    identity: str | None
    status: str
    mime: str | None
    scope: StrPath | None
    format: str | None
    column: str | None
    on_damage: OnDamage
    max_expansion: float
    sample: str | None
    memory: str | None
    levels: str


def add_crawl(
    store: StrPath | None,
    label: str,
    inputs: StrPath | Iterable[StrPath],
    *,
    date: dt.date | str | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Listener | None = None,
    **options: Unpack[ReadOptions],
) -> Addition:
    """Read the files of one crawl into a store, which is made if it is missing.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    label
        Name of the crawl.
    inputs
        Files, folders, globs, ``@list.txt`` or ``-`` for standard input, of any format; also
        remote ones, such as ``s3://bucket/folder/*.gz``.
    date
        The crawl's date; if not given, the day of the median capture, else the one that the
        label contains.
    replace, append
        Whether an existing crawl of that label is replaced, or further files are added to it.
    progress
        Called now and then with how far reading has come.
    **options
        What counts and how files are read; see `ReadOptions`.

    Returns
    -------
    Addition
        The crawl as it is in the store, and what came of adding it.

    Raises
    ------
    CrawlgaugeError
        If the label, the date, an input or the store cannot be used; the store is as before.
    """
    check_label(label)
    choices = choose_reading(options, find_store(store))
    found_date = parse_date(date) if isinstance(date, str) else date
    files = find_all(inputs)
    with store_for_adding(find_store(store), choices.rule) as opened:
        return add_to_store(
            opened,
            label,
            files,
            choices=choices,
            date=found_date,
            when_present=choose_when_present(replace=replace, append=append),
            progress=_listen(progress, [files]),
        )


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
    store, replace, append, progress, **options
        As for `add_crawl`.
    crawl_list
        The CSV file. Paths in it are relative to its own folder.
    on_added
        Called after each crawl, in the order of the list.

    Raises
    ------
    CrawlgaugeError
        As for `add_crawl`, for the first crawl that fails; those before it are in the store, and
        those behind it may be, as several are read at the same time.
    """
    choices = choose_reading(options, find_store(store))
    listed = read_crawl_list(to_path(os.fspath(crawl_list)))
    reading = _listen(progress, [crawl.inputs for crawl in listed])
    with store_for_adding(find_store(store), choices.rule) as opened:
        return add_all(
            opened,
            listed,
            choices=choices,
            when_present=choose_when_present(replace=replace, append=append),
            progress=reading,
            on_added=on_added,
        )


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
    store, inputs, replace, progress, **options
        As for `add_crawl`.
    period
        Cut by capture time: ``month`` (labels such as 2021-12), ``quarter`` (2021-Q4),
        ``half-year`` (2021-H2) or ``year`` (2021).
    pattern
        Or cut by a regular expression, whose first group is the label of a capture's crawl.
    field
        What the expression is searched in: ``filename`` (of the WARC file that holds the
        capture), or another field or column of the input.

    Raises
    ------
    CrawlgaugeError
        As for `add_crawl`.
    ValueError
        If not just one of `period` and `pattern` is given.
    """
    cut = choose_cut(period, pattern, field)
    choices = choose_reading(options, find_store(store))
    files = find_all(inputs)
    with store_for_adding(find_store(store), choices.rule) as opened:
        return add_split(
            opened,
            files,
            cut,
            choices=choices,
            when_present=choose_when_present(replace=replace, append=False),
            progress=_listen(progress, [files]),
        )


def choose_reading(options: ReadOptions, store: AnyPath) -> Choices:
    """Return what the user chose, with the store's own identity where none was named."""
    levels = parse_levels(options.get("levels", BY_URL))
    if BY_TEXT in levels:
        # Hours of reading would end with the same message.
        check_extractor()
    identity, scope = options.get("identity"), options.get("scope")
    memory = options.get("memory")
    return Choices(
        rule=stored_rule(store) or SURT if identity is None else find_rule(identity),
        counts=WhatCounts(status=options.get("status", DEFAULT_STATUS), mime=options.get("mime")),
        scope=None if scope is None else read_scope(to_path(os.fspath(scope))),
        format=options.get("format"),
        column=options.get("column"),
        on_damage=options.get("on_damage", "stop"),
        max_expansion=options.get("max_expansion", DEFAULT_MAX_EXPANSION),
        sampling=parse_sampling(options.get("sample")),
        memory=default_memory() if memory is None else parse_memory(memory),
        levels=levels,
    )


def choose_cut(period: Period | None, pattern: str | None, field: str) -> Cut:
    """Return how to cut a collection into crawls: by time, or by a field.

    Raises
    ------
    ValueError
        If not just one of `period` and `pattern` is given.
    """
    if period is not None and pattern is None:
        return ByTime(period=period)
    if pattern is not None and period is None:
        return ByField(pattern=pattern, field=field)
    raise ValueError("give either a period or a pattern to cut by")


def find_all(inputs: StrPath | Iterable[StrPath]) -> InputFiles:
    """Find the files that one word or several stand for."""
    words = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    return find_inputs(os.fspath(word) for word in words)


def choose_when_present(*, replace: bool, append: bool) -> WhenPresent:
    """Return what to do if there is a crawl of that label already."""
    if replace and append:
        raise StoreError("a crawl can be replaced or appended to, not both; choose one of them")
    if append:
        return "append"
    return "replace" if replace else "refuse"


def _listen(listener: Listener | None, groups: list[InputFiles]) -> ReadingProgress:
    sizes = [total_bytes(group) for group in groups] if listener is not None else [None]
    known = [size for size in sizes if size is not None]
    return ReadingProgress(listener, sum(known) if len(known) == len(sizes) else None)
