"""Crawls that are to be added: label, date and files, one by one, by a list, or one a file."""

import csv
import datetime as dt
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath

from crawlgauge.crawl import check_label, label_from_name, parse_date
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.ingest.options import ReadOptions
from crawlgauge.locations import StrPath
from crawlgauge.sources.decompress import STDIN, read_whole
from crawlgauge.sources.inputs import InputFiles, find_inputs
from crawlgauge.sources.remote import AnyPath, to_path
from crawlgauge.sources.what_counts import DEFAULT_RATE

_MAX_BYTES = 1 << 26
_COLUMNS = ("label", "date", "path")
_SUFFIX = re.compile(
    r"\.(gz|bz2|xz|zst|txt|csv|tsv|jsonl?|parquet|cdxj?|idx|log|w?arc|wacz)$",
    re.IGNORECASE,
)
_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9._+=-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCrawl:
    """A crawl that is to be added; `date` is None where the user leaves it open."""

    label: str
    date: dt.date | None
    inputs: InputFiles

    @classmethod
    def of(cls, label: str, date: dt.date | str | None, inputs: InputFiles) -> "NewCrawl":
        """Understand label and date as users give them."""
        known = parse_date(date) if isinstance(date, str) else date
        return cls(label=check_label(label), date=known, inputs=inputs)


def find_all(
    inputs: StrPath | Iterable[StrPath], options: ReadOptions, *, base: AnyPath | None = None
) -> InputFiles:
    """Find the files that one word or several stand for; see `find_inputs`."""
    rate = options.get("rate", DEFAULT_RATE)
    is_stated = bool(options.get("format") or options.get("column"))
    return find_inputs(list_words(inputs), base=base, rate_per_minute=rate, is_stated=is_stated)


def list_words(inputs: StrPath | Iterable[StrPath]) -> list[str]:
    """Return one word or several as a list."""
    several = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    return [os.fspath(word) for word in several]


def choose_crawls(
    crawl_list: StrPath | None, each: StrPath | Iterable[StrPath] | None, options: ReadOptions
) -> tuple[NewCrawl, ...]:
    """Return the crawls of a list, or one of each file, before anything is added.

    Raises
    ------
    SourceError
        If the list cannot be read or understood (with the line), if files are not found, or if two
        of them would be crawls of the same label.
    """
    if each is None or crawl_list is not None:
        if each is not None or crawl_list is None:
            raise SourceError("name a list of crawls, or files to make a crawl of each")
        return read_crawl_list(to_path(os.fspath(crawl_list)), options)
    return _one_of_each(find_all(each, options))


def _one_of_each(files: InputFiles) -> tuple[NewCrawl, ...]:
    """Make a crawl of each file, labelled by the date in its name, else by the name itself."""
    if STDIN in files.names:
        raise SourceError("standard input has no name to make a label of; give files")
    dates = [label_from_name(PurePath(name).name) for name in files.names]
    # A date that several names have tells them not apart.
    labels = {
        name: date if date is not None and dates.count(date) == 1 else _strip_name(name)
        for name, date in zip(files.names, dates, strict=True)
    }
    by_label: dict[str, str] = {}
    for name, label in labels.items():
        other = by_label.setdefault(label.casefold(), name)
        if other != name:
            raise SourceError(
                f"{other} and {name} would both be the crawl {label!r}; add them one by one, with "
                "labels of your own, or by a list"
            )
    return tuple(
        NewCrawl.of(label, None, replace(files, names=(name,))) for name, label in labels.items()
    )


def _strip_name(name: str) -> str:
    """Return a file's name without what tells its format, as a label."""
    text = PurePath(name).name
    while (shorter := _SUFFIX.sub("", text)) not in ("", text):
        text = shorter
    return _NOT_IN_LABELS.sub("-", text).strip("-._+=")


def read_crawl_list(path: AnyPath, options: ReadOptions | None = None) -> tuple[NewCrawl, ...]:
    """Read a list of crawls and see that all it names can be found.

    Raises
    ------
    SourceError
        If it cannot be read or understood; with the line.
    """
    try:
        text = read_whole(str(path), max_bytes=_MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is no UTF-8 text; it must be CSV: label,date,path") from error
    rows = csv.DictReader(io.StringIO(text), restkey="", skipinitialspace=True)
    try:
        return _read_rows(rows, path, options or {})
    except csv.Error as error:
        raise SourceError(f"{path}, line {rows.line_num + 1}: {error}") from error


def _read_rows(
    rows: "csv.DictReader[str]", path: AnyPath, options: ReadOptions
) -> tuple[NewCrawl, ...]:
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
        crawl = _read_row(row, path, where, options)
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


def _read_row(row: dict[str, str], path: AnyPath, where: str, options: ReadOptions) -> NewCrawl:
    word = row["path"].strip()
    if not word or word == STDIN:
        raise SourceError(f"{where}: the column path must name a file, folder, glob or @list.txt")
    try:
        return NewCrawl(
            label=check_label(row["label"].strip()),
            date=parse_date(row["date"]) if row["date"].strip() else None,
            inputs=find_all(word, options, base=path.parent),
        )
    except (CrawlError, SourceError) as error:
        raise SourceError(f"{where}: {error}") from error
