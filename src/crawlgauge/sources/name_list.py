"""Lists of hosts or domains: one a line, or in a column of CSV or TSV."""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import Stream, read_whole

__all__ = ["looks_like_names", "read_names"]

_HEADERS = ("host", "hostname", "domain", "site", "name", "url")
_NAME = re.compile(r"[^\s/.]+(\.[^\s/.]+)+\.?(:\d+)?")
_DELIMITERS = "\t,;"
_MAX_BYTES = 1 << 28
"""Some ten million hosts."""


def looks_like_names(path: str) -> bool:
    """Tell whether a file lists hosts or domains, and not URLs.

    Parameters
    ----------
    path
        A file, plain or compressed.
    """
    with Stream(path) as stream:
        beginning = stream.beginning()
    return b"://" not in beginning and b"\0" not in beginning and b")/" not in beginning


def read_names(path: str, *, column: str | None = None) -> Iterator[str]:
    """Yield the entries of a list, as they stand there.

    Blank lines and lines that begin with # are passed over, and so is a header.

    Parameters
    ----------
    path
        A file, plain or compressed.
    column
        Name or number, from 1, of the column that holds them; by default one that is called host,
        domain or such, or the first that looks like it.

    Raises
    ------
    SourceError
        If the file is no text, or has no such column.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise SourceError(f"{path}: no hosts or domains found; empty, or only comments")
    place, is_header = _find_column(first, column, path)
    if not is_header:
        yield _cell(first, place)
    for row in rows:
        yield _cell(row, place)


def _rows(path: str) -> Iterator[list[str]]:
    try:
        text = read_whole(path, max_bytes=_MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is no UTF-8 text at byte {error.start:,}") from error
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    delimiter = next((mark for mark in _DELIMITERS if lines and mark in lines[0]), None)
    if delimiter is None:
        return iter([line.strip()] for line in lines)
    return csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)


def _find_column(first: Sequence[str], column: str | None, path: str) -> tuple[int, bool]:
    """Return the place of the column, and whether the first row is a header."""
    cells = [cell.strip().lower() for cell in first]
    if column is None:
        for place, cell in enumerate(cells):
            if cell in _HEADERS:
                return place, True
        return next((k for k, cell in enumerate(cells) if _NAME.fullmatch(cell)), 0), False
    if column.strip().lower() in cells:
        return cells.index(column.strip().lower()), True
    if column.isdecimal() and 0 < int(column) <= len(cells):
        place = int(column) - 1
        return place, cells[place] in _HEADERS
    raise SourceError(f"{path} has no column {column!r}; its first row is {', '.join(first)}")


def _cell(row: Sequence[str], place: int) -> str:
    return row[place].strip() if place < len(row) else ""
