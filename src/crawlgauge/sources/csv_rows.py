"""CSV, TSV and their like: one capture a row, cells in quotation marks where needed."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from crawlgauge.core.lines import FIELDS
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import URL, find_columns, find_field, list_names
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import UTF8_MARK, Lines, read_lines
from crawlgauge.sources.what_counts import Settings

__all__ = ["looks_like_csv", "read_csv_rows"]

_MAX_ROW_BYTES = 1 << 22
"""Longest row: pages' texts may stand beside URLs, but a quote that nobody closes must not eat
the rest of the file."""
_LONG_ROW_BYTES = 1 << 16
_MAX_URL_BYTES = 1 << 16

_OTHER_FORMATS = re.compile(
    rb"""\s*+(?:
        [\[{<!@]|                        # JSON, HTML, CDXJ's header
        CDX\ |WARC/|filedesc:|
        \S+\ \d{14}[ \t]|                # CDX, CDXJ and ZipNum: key and time
        \d{4}-\d\d-\d\dT\S+\s+-?\d+\s    # crawl.log: time and status
    )""",
    re.VERBOSE,
)


def looks_like_csv(beginning: bytes) -> bool:
    r"""Tell whether an input that begins so is a table with a column of URLs.

    A list of URLs is none, though URLs may have commas and semicolons.

    Examples
    --------
    >>> looks_like_csv(b"url,status\nhttp://example.org/,200\n")
    True
    >>> looks_like_csv(b"http://example.org/a,1.html\nhttp://example.org/b,2.html\n")
    False
    """
    head = beginning[:_MAX_URL_BYTES].removeprefix(UTF8_MARK)
    if b"\0" in head or _OTHER_FORMATS.match(head):
        return False
    return any(map(_is_certain, _read_sample(beginning)))


def read_csv_rows(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read a CSV or TSV file.

    Parameters
    ----------
    stream
        The file; cells are divided by commas, tabs or semicolons, with or without a header.
    intake
        Takes its records.
    settings
        What is wanted, and which column holds the URLs.

    Yields
    ------
    None
        After each block.

    Raises
    ------
    SourceError
        If the bytes are no text, or it cannot be told which column holds the URLs.
    """
    beginning = stream.beginning()
    if b"\0" in beginning[:_MAX_URL_BYTES]:
        raise SourceError(f"{stream.name} is no text file, hence no CSV")
    intake.collector.begin()
    layout = _find_layout(beginning, settings, stream.name)
    if layout is None:
        return
    reader = _RowReader(layout, intake)
    for lines in read_lines(stream, _MAX_ROW_BYTES):
        reader.read(lines)
        yield
    reader.finish()


# -------------------------------------------------------------------------------------------- rows

_CELLS = rb"""
    (?:^|%(delimiter)b)[ ]*+
    (?:
        "([^"]*+(?:""[^"]*+)*+)"%(spaces)b(?=%(delimiter)b|\Z)
        | (?!")([^%(delimiter)b]*+)
        | (".*)                          # a quote that is not closed, or not before a delimiter
    )"""
_TO_CLOSE = re.compile(rb'[^"]*+(?:""[^"]*+)*+(?=")')
_SPACES = b" \t\r\v\f"


class _RowReader:
    """Reads rows from whole lines; a row that goes on behind them waits for the next ones.

    A row whose quotes are wrong is one line, and reading goes on at the next one. What was looked
    at for its end is not looked at again for that of another such row, so that a file of wrong
    quotes takes no longer than any other.
    """

    def __init__(self, layout: "_Layout", intake: Intake) -> None:
        self._intake = intake
        self._add = intake.collector.add
        self._delimiter = layout.delimiter
        self._between = b'"%b"' % layout.delimiter
        self._n_to_skip = layout.n_skipped
        self._columns = [(FIELDS[field], at) for field, at in layout.columns.items()]
        self._url = layout.columns[URL]
        self._n_wanted = max(layout.columns.values()) + 1
        self._spaces = bytes(set(_SPACES) - set(layout.delimiter))
        words = {b"delimiter": re.escape(layout.delimiter), b"spaces": b"[%b]*+" % self._spaces}
        self._cells = re.compile(_CELLS % words, re.DOTALL | re.VERBOSE)
        # What waits: where it begins, and how much of it is worth another look.
        self._pieces: list[bytes] = []
        self._n_bytes = self._n_enough = self._place = 0
        self._n_before: int | None = 0
        self._trusted = 0  # From here on, newlines within quotes are taken for part of a cell.
        # What is looked at: lines, and how many of them stand before the place.
        self._lines: list[bytes] = []
        self._n_passed = 0

    def read(self, lines: Lines) -> None:
        start, n_skipped = lines.start, 0
        # Where damage has cost lines, nobody knows which the first ones were.
        while self._n_to_skip and start < lines.end and lines.n_before is not None:
            start = lines.data.index(b"\n", start) + 1
            n_skipped += 1
            self._n_to_skip -= 1
        if start == lines.end:
            return
        place = lines.place + start - lines.start
        if self._pieces and self._place + self._n_bytes != place:
            # Something was lost in between: what waits never ends.
            self.finish()
        if not self._pieces:
            self._place = place
            self._n_before = None if lines.n_before is None else lines.n_before + n_skipped
        self._pieces.append(lines.data[start : lines.end])
        self._n_bytes += lines.end - start
        if self._n_bytes >= self._n_enough:
            self._read_rows(is_end=False)

    def finish(self) -> None:
        if self._pieces:
            self._read_rows(is_end=True)
        self._trusted = 0

    def _read_rows(self, *, is_end: bool) -> None:
        self._lines = lines = b"".join(self._pieces).split(b"\n")
        lines.pop()
        n_done = 0
        for number, line in enumerate(lines):
            if number < n_done:
                continue  # The row before goes on here.
            n_used, reason = 1, None
            if b'"' not in line and len(line) <= _MAX_ROW_BYTES:
                cells = line.split(self._delimiter, self._n_wanted)
            else:
                cells, n_used, reason = self._read_quoted(number, is_end=is_end)
                if not n_used:
                    break
            n_done = number + n_used
            if reason is None:
                reason = self._take(cells)
            if reason is not None and line and not line.isspace():
                self._reject(reason, number, n_done)
        rest = b"".join(line + b"\n" for line in lines[n_done:])
        self._pieces = [rest] if rest else []
        self._n_bytes, self._n_enough = len(rest), 2 * len(rest)
        self._move_to(n_done)
        self._lines, self._n_passed = [], 0

    def _move_to(self, number: int) -> int:
        """Return where a line begins. Those before it are not asked for again."""
        passed = self._lines[self._n_passed : number]
        self._place += sum(map(len, passed)) + len(passed)
        self._n_before = None if self._n_before is None else self._n_before + len(passed)
        self._n_passed = number
        return self._place

    def _reject(self, reason: str, number: int, end: int) -> None:
        offset = self._move_to(number)
        line = None if self._n_before is None else self._n_before + 1
        text = b"\n".join(self._lines[number:end]).removesuffix(b"\r")
        self._intake.reject(reason, text, offset=offset, line=line)

    def _take(self, cells: list[bytes]) -> str | None:
        """Take a row in as a record; return why it is rejected, or None if it is not."""
        try:
            # As almost all are.
            fields: dict[str, Any] = {
                field: cell
                for field, at in self._columns
                if (cell := cells[at].strip()) not in (b"", b"-")
            }
        except IndexError:
            # Cells behind that of the URL may be missing, as some programs leave empty ones out.
            if len(cells) <= self._url:
                return "too-few-cells"
            there = [(field, cells[at].strip()) for field, at in self._columns if at < len(cells)]
            fields = {field: cell for field, cell in there if cell not in (b"", b"-")}
        return self._add(**fields) if "url" in fields else "no-url"

    def _read_quoted(self, number: int, *, is_end: bool) -> tuple[list[bytes], int, str | None]:
        """Return the cells of a row, how many lines it has, and why it is rejected, if it is.

        There are cells up to the last that is wanted. Without any lines, it goes on behind them.
        """
        line = self._lines[number]
        if len(line) > _MAX_ROW_BYTES:
            return [], 1, "too-long"
        # Each cell of a long row would take much memory.
        cells = self._split(line) if len(line) <= _LONG_ROW_BYTES else None
        return self._read_odd(number, is_end=is_end) if cells is None else (cells, 1, None)

    def _split(self, line: bytes) -> list[bytes] | None:
        """Return the cells of a row as almost all are, or None if it is another."""
        delimiter = self._delimiter
        if line.startswith(b'"') and line.rstrip().endswith(b'"'):
            cells = line.strip()[1:-1].split(self._between)
            if line.count(b'"') == 2 * len(cells):
                return cells
        parts = line.split(b'"')
        cells, is_joined = parts[0].split(delimiter), False
        for at in range(2, len(parts), 2):
            more = parts[at].split(delimiter)
            # Between a quote that closes and one that opens stands a delimiter, and space.
            if is_joined or cells[-1].strip(b" ") or more[0].strip():
                return None
            cells[-1] = parts[at - 1]
            cells += more[1:]
            is_joined = len(more) == 1
        return cells if len(parts) % 2 else None

    def _read_odd(self, number: int, *, is_end: bool) -> tuple[list[bytes], int, str | None]:
        """Do so for a row that is long, or one of whose quotes is not closed on its line."""
        cells: list[bytes] = []
        lines, place = self._lines, self._move_to(number)
        # The text is what is left of the row's last line, which ends at a place in the input.
        text, last, end = lines[number], number, place + len(lines[number])
        while True:
            for cell in self._cells.finditer(text):
                if cell[3] is not None:
                    break
                if len(cells) < self._n_wanted:
                    cells.append((cell[1] or b"").replace(b'""', b'"') or cell[2] or b"")
            else:
                return cells, last - number + 1, None
            opened, first = text[cell.start(3) + 1 :], last
            if close := _TO_CLOSE.match(opened):
                return self._distrust("bad-quotes", end - len(opened) + close.end())
            close, last, end = self._find_close(first, end, place)
            if close is None and last + 1 == len(lines) and place >= self._trusted and not is_end:
                return [], 0, None
            if close is None:
                return self._distrust("unclosed-quote", end)
            whole = b"\n".join([opened, *lines[first + 1 : last], close[0]])
            cells.append(whole.replace(b'""', b'"'))
            text = lines[last][close.end() + 1 :].lstrip(self._spaces)
            if not text:
                return cells, last - number + 1, None
            if not text.startswith(self._delimiter):
                return self._distrust("bad-quotes", end - len(lines[last]) + close.end())
            text = text.removeprefix(self._delimiter)

    def _find_close(
        self, last: int, end: int, place: int
    ) -> tuple[re.Match[bytes] | None, int, int]:
        """Return what stands before the quote that closes a cell, the line, and where it ends.

        Or nothing and the last line that was looked at.
        """
        lines, close = self._lines, None
        while close is None and place >= self._trusted and last + 1 < len(lines):
            if end + 1 + len(lines[last + 1]) - place > _MAX_ROW_BYTES:
                break
            last += 1
            end += 1 + len(lines[last])
            close = _TO_CLOSE.match(lines[last])
        return close, last, end

    def _distrust(self, reason: str, reached: int) -> tuple[list[bytes], int, str]:
        self._trusted = max(self._trusted, reached)
        return [], 1, reason


# ----------------------------------------------------------------------------------------- layouts

_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 100
"""What the layout is told from: enough to meet each kind of row, little enough to be instant."""

_DELIMITERS = ",\t;"
_NO_DELIMITER = "\n"
_UNUSED = "\x1f"
"""Stands for the delimiter of rows of one cell, as Python's reader wants one."""

_BROKEN = 0.1
"""Share of rows that may be broken in a table."""

_A_URL = re.compile(r"[A-Za-z][A-Za-z0-9+-]*://[^\s/?#]")
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


class _Layout(NamedTuple):
    """How a file is laid out."""

    delimiter: bytes  # between cells; a newline if there is one a row
    n_skipped: int  # lines at the beginning that are no data: comments and the header
    columns: dict[int, int]  # position of each field that is wanted


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
        if any(map(_A_URL.match, self.first)):
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
            position for row in rows for position, cell in enumerate(row) if _A_URL.match(cell)
        )
        return tuple(sorted(position for position, n in found.items() if n >= len(rows) / 2))

    def count_signs(self) -> int:
        """Count cells that are no parts of URLs, in columns that hold no others."""
        rows = [row for row in (self.first, *self.rest) if len(row) == self.n_cells]
        columns = list(zip(*rows, strict=True))[1:]
        return sum(len(rows) for cells in columns if all(map(_NO_URL_PART.fullmatch, cells)))


def _find_layout(beginning: bytes, settings: Settings, source: str) -> _Layout | None:
    """Find out how a file is laid out, or return None if it has no rows."""
    readings = _read_sample(beginning)
    if not readings:
        return None
    best = max(readings, key=lambda reading: _rank(reading, settings.column))
    names: Sequence[str] = best.first
    has_header = best.has_header or (settings.column is not None and not settings.column.isdigit())
    if not has_header:
        names = [str(position + 1) for position in range(best.n_cells)]
    if settings.column is None and not (has_header and best.has_url_name):
        settings = replace(settings, column=_guess_column(best, names, source))
    return _Layout(
        delimiter=best.delimiter.encode(),
        n_skipped=best.n_comments + (best.n_lines if has_header else 0),
        columns=find_columns(names, settings, source=source),
    )


def _is_certain(reading: _Reading) -> bool:
    """Tell whether it is a table whose columns can be told apart, rather than a list of URLs."""
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


def _rank(reading: _Reading, column: str | None) -> tuple[bool, bool, bool, int, int]:
    """Return how well a reading explains the file, comparable with others."""
    has_urls = reading.has_url_name or bool(reading.url_columns)
    is_named = column in reading.first
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
