"""How a CSV file is laid out: what divides its cells, which columns it has, what they hold."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from crawlgauge.errors import SourceError
from crawlgauge.sources.column_names import find_columns, find_field, list_names
from crawlgauge.sources.record_kernel import URL
from crawlgauge.sources.request import Request

__all__ = ["CsvLayout", "find_layout", "is_table"]

_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 100
"""What the layout is told from: enough to meet each kind of row, little enough to be instant."""

_DELIMITERS = ",\t;"
_NO_DELIMITER = "\n"
_UNUSED = "\x1f"
"""Stands for the delimiter of rows of one cell, as Python's reader wants one."""

_BROKEN = 0.1
"""Share of rows that may be broken in a table."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+-]*://[^\s/?#]")
_NO_URL_PART = re.compile(
    r"""\d{14}|\d{4}-\d\d-\d\d(?:[T ].*)?|            # a time
        2\d\d|30[0-8]|4[0-3]\d|451|50\d|51[01]|-|     # a status
        [a-z]+/[a-z][a-z0-9.+-]*(?:\s*;.*)?|          # a media type
        [A-Za-z][A-Za-z0-9+-]*://.*|                  # another URL
        .*\s.*                                        # words
    """,
    re.VERBOSE | re.DOTALL,
)
"""What may stand beside a URL, but hardly within one that has commas."""
_MIN_SIGNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLayout:
    """The layout of a CSV file.

    Parameters
    ----------
    delimiter
        The byte between cells; a newline if there is one cell a row.
    n_skipped
        Lines at the beginning that are no data: comments and the header.
    columns
        Position of each field of `record_kernel` that the file has.
    """

    delimiter: int
    n_skipped: int
    columns: dict[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """The first rows of a file, read with one delimiter."""

    delimiter: str
    n_lines: int
    first: tuple[str, ...]
    rest: tuple[tuple[str, ...], ...]
    n_comments: int

    @property
    def has_url_name(self) -> bool:
        return any(find_field(name) == URL for name in self.first)

    @property
    def has_header(self) -> bool:
        if any(map(_is_url, self.first)):
            return False
        n_known = sum(find_field(name) is not None for name in self.first)
        return self.has_url_name or n_known > 1 or bool(self.url_columns)

    @property
    def n_cells(self) -> int:
        if self.has_header or not self.rest:
            return len(self.first)
        return Counter(map(len, (self.first, *self.rest))).most_common(1)[0][0]

    @property
    def n_even(self) -> int:
        """How many rows have as many cells as they should."""
        n_cells = self.n_cells
        return sum(len(row) == n_cells for row in (self.first, *self.rest))

    @property
    def is_even(self) -> bool:
        """Whether all rows have so, apart from a few broken ones."""
        n_odd = 1 + len(self.rest) - self.n_even
        return n_odd == 0 or (self.n_even > 1 and n_odd <= max(1, _BROKEN * self.n_even))

    @property
    def url_columns(self) -> tuple[int, ...]:
        """Positions that hold URLs in most rows; a header is no such row."""
        rows = self.rest or (self.first,)
        found = Counter(
            position for row in rows for position, cell in enumerate(row) if _is_url(cell)
        )
        return tuple(sorted(position for position, n in found.items() if n >= len(rows) / 2))

    def count_signs(self) -> int:
        """Count cells that are no parts of URLs, in columns that hold no others."""
        rows = [row for row in (self.first, *self.rest) if len(row) == self.n_cells]
        columns = list(zip(*rows, strict=True))[1:]
        return sum(len(rows) for cells in columns if all(map(_NO_URL_PART.fullmatch, cells)))


def find_layout(beginning: bytes, request: Request, source: str) -> CsvLayout | None:
    """Find out how a CSV file is laid out, or return None if it has no rows.

    Parameters
    ----------
    beginning
        Its first bytes.
    request
        Which column holds the URLs, if the user says so.
    source
        The input as the user named it.

    Raises
    ------
    SourceError
        If it cannot be told which column holds the URLs.
    """
    readings = _read_sample(beginning)
    if not readings:
        return None
    best = max(readings, key=lambda reading: _rank(reading, request))
    names: Sequence[str] = best.first
    has_header = best.has_header or (request.column is not None and not request.column.isdigit())
    if not has_header:
        names = [str(position + 1) for position in range(best.n_cells)]
    if request.column is None and not (has_header and best.has_url_name):
        request = replace(request, column=_guess_column(best, names, source))
    return CsvLayout(
        delimiter=ord(best.delimiter),
        n_skipped=best.n_comments + (best.n_lines if has_header else 0),
        columns=find_columns(names, request, source=source),
    )


def is_table(beginning: bytes) -> bool:
    """Tell whether text is a table whose columns can be told apart, rather than a list of URLs."""
    return any(map(_is_certain, _read_sample(beginning)))


def _is_certain(reading: _Reading) -> bool:
    n_cells, urls = reading.n_cells, reading.url_columns
    if n_cells == 1:
        return reading.has_header and reading.has_url_name and bool(reading.rest) and urls == (0,)
    if reading.has_header:
        return reading.has_url_name or (bool(urls) and reading.n_even == 1 + len(reading.rest))
    if not urls or not reading.is_even:
        return False
    if reading.delimiter == "\t" or urls[0] > 0:
        return True
    return reading.count_signs() >= _MIN_SIGNS


def _rank(reading: _Reading, request: Request) -> tuple[bool, bool, bool, int, int]:
    """Return how well a reading explains the file, comparable with others."""
    is_named = request.column in reading.first
    has_urls = reading.has_url_name or bool(reading.url_columns)
    return is_named, has_urls, _is_certain(reading), reading.n_even, reading.n_cells


def _guess_column(reading: _Reading, names: Sequence[str], source: str) -> str:
    """Return the position, from 1, of the only column that holds URLs."""
    found = reading.url_columns
    if len(found) == 1:
        return str(found[0] + 1)
    if not found:
        raise SourceError(
            f"{source}: cannot tell which column holds the URLs, as none does in the first rows; "
            f"there are {list_names(names)}; say which with --column"
        )
    raise SourceError(
        f"{source}: cannot tell which column holds the URLs, as "
        f"{list_names([names[position] for position in found if position < len(names)])} all do; "
        f"say which, such as --column {found[0] + 1}"
    )


def _read_sample(beginning: bytes) -> list[_Reading]:
    """Read the first rows with each delimiter that the first one has, or as rows of one cell."""
    text = beginning[:_SAMPLE_BYTES].decode("utf-8-sig", errors="replace")
    lines = [line + "\n" for line in text.replace("\r", " ").split("\n")]
    if len(beginning) > _SAMPLE_BYTES and len(lines) > 1:
        lines.pop()
    n_comments = 0
    for line in lines:
        if line.strip() and not _is_comment(line):
            break
        n_comments += 1
    lines = lines[n_comments:]
    if not lines:
        return []
    delimiters = [delimiter for delimiter in _DELIMITERS if delimiter in lines[0]]
    return [_read_rows(lines, delimiter, n_comments) for delimiter in (*delimiters, _NO_DELIMITER)]


def _read_rows(lines: Sequence[str], delimiter: str, n_comments: int) -> _Reading:
    used = _UNUSED if delimiter == _NO_DELIMITER else delimiter
    first, n_lines = _read_first(lines, used)
    reader = csv.reader(lines[n_lines:], delimiter=used, skipinitialspace=True)
    rows = (tuple(cell.strip() for cell in row) for row in reader)
    rest = islice((row for row in rows if any(row)), _SAMPLE_ROWS)
    return _Reading(
        delimiter=delimiter,
        n_lines=n_lines,
        first=tuple(cell.strip() for cell in first),
        rest=tuple(rest),
        n_comments=n_comments,
    )


def _read_first(lines: Sequence[str], delimiter: str) -> tuple[list[str], int]:
    """Return the cells of the first row and how many lines it has."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        return next(reader), reader.line_num
    except csv.Error:
        # A quote that is not closed must not make a header of the rows below it.
        reader = csv.reader(lines[:1], delimiter=delimiter, skipinitialspace=True)
        return next(reader), 1


def _is_comment(line: str) -> bool:
    # A header may begin with the same sign.
    return line.startswith("#") and not any(
        find_field(cell) == URL for cell in re.split(f"[{_DELIMITERS}]", line)
    )


def _is_url(cell: str) -> bool:
    return _URL.match(cell) is not None
