"""Crawls that are to be added: label, date and files, one by one or as lines of a list."""

import csv
import datetime as dt
import io
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.locations import StrPath
from crawlgauge.sources.inputs import STDIN, InputFiles, find_inputs
from crawlgauge.sources.remote import AnyPath

__all__ = ["NewCrawl", "find_all", "read_crawl_list"]

_COLUMNS = ("label", "date", "path")


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


def find_all(inputs: StrPath | Iterable[StrPath]) -> InputFiles:
    """Find the files that one word or several stand for."""
    words = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    return find_inputs(os.fspath(word) for word in words)


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
