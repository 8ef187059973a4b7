"""CSV, TSV and their like: one capture a row, cells in quotation marks where needed."""

import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any

from crawlgauge.core.lines import FIELDS
from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import URL, find_columns, find_field, list_names
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.lines import UTF8_MARK, Lines, read_lines
from crawlgauge.sources.what_counts import Settings

_MAX_ROW_BYTES = 1 << 22
"""Longest row: pages' texts may stand beside URLs, but a quote that nobody closes must not eat
the rest of the file."""
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
    return any(reading.is_certain() for reading in _read_sample(beginning)[1])


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
    # It holds for all of the process, so that it is never made smaller.
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_ROW_BYTES + 1))
    if layout is not None:
        yield from _RowReader(stream, intake, *layout).read()


# -------------------------------------------------------------------------------------------- rows


class _RowReader:
    """Reads rows, each from the line that it begins with to the one where its quotes are closed.

    A row whose quotes are wrong is one line, and reading goes on at the next one. Where a search
    for its end has led, no other row is taken to go on beyond its line, so that a file of wrong
    quotes takes no longer than any other.
    """

    def __init__(
        self,
        stream: Stream,
        intake: Intake,
        delimiter: str,
        n_skipped: int,
        columns: dict[int, int],
    ) -> None:
        self._intake, self._delimiter, self._n_to_skip = intake, delimiter, n_skipped
        self._parts = read_lines(stream, _MAX_ROW_BYTES)
        self._behind: Lines | None = None
        spaces = " \t".replace(delimiter, "")
        self._spaces = re.compile(f'"([{spaces}]+)(?={re.escape(delimiter)}|\r?\n)')
        self._columns = [(FIELDS[field], at) for field, at in columns.items()]
        self._url, self._n_wanted = columns[URL], max(columns.values()) + 1
        # Lines as Latin-1, in which each character is a byte: those of the row at hand, and those
        # behind it, of which so many begin no row of several.
        self._row: list[str] = []
        self._lines: deque[str] = deque()
        self._n_distrusted = 0
        # Where the row begins, how many lines stand before it, and where the last line ends.
        self._place = self._end = 0
        self._n_before: int | None = 0

    def read(self) -> Iterator[None]:
        while self._lines or self._take_lines():
            try:
                self._read_rows()
            except csv.Error as error:
                self._get_over(is_open="end of data" in str(error))
            yield

    def _read_rows(self) -> None:
        """Read rows up to a break; apart, so that nothing keeps the cells of the last one."""
        lines, mark = self._lines_of_rows(), self._delimiter
        for cells in csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True):
            is_long = len(self._row[0]) > _MAX_ROW_BYTES
            reason = "too-long" if is_long else self._take(cells)
            self._finish_row(reason if reason and not self._row[0].isspace() else None)

    def _take_lines(self) -> bool:
        """Take the next lines, unless a row goes on and something was lost behind it."""
        lines = self._behind or next(self._parts, None)
        is_apart = lines is not None and self._row and lines.place != self._end
        self._behind = lines if is_apart else None
        if lines is None or is_apart:
            return False
        text = lines.data[lines.start : lines.end].decode("latin-1")
        self._lines += io.StringIO(text, newline="\n")
        self._end = lines.place + len(text)
        if not self._row:
            self._place, self._n_before = lines.place, lines.n_before
        # Where damage has cost lines, nobody knows which the first ones were.
        while self._n_to_skip and self._lines and lines.n_before is not None:
            self._n_to_skip -= 1
            self._row.append(self._lines.popleft())
            self._finish_row(None)
        return True

    def _lines_of_rows(self) -> Iterator[str]:
        """Yield lines; beyond those at hand only where a row goes on, and is not too long."""
        n_bytes = 0
        while self._lines or (self._row and not self._n_distrusted and self._take_lines()):
            n_bytes = len(self._lines[0]) + (n_bytes if self._row else 0)
            if self._row and (n_bytes > _MAX_ROW_BYTES or self._n_distrusted):
                return
            self._row.append(self._lines.popleft())
            yield self._row[-1]

    def _finish_row(self, reason: str | None) -> None:
        if reason is not None:
            line = None if self._n_before is None else self._n_before + 1
            text = "".join(self._row).rstrip("\r\n").encode("latin-1")
            self._intake.reject(reason, text, offset=self._place, line=line)
        self._place += sum(map(len, self._row))
        if self._n_before is not None:
            self._n_before += len(self._row)
        self._n_distrusted = max(self._n_distrusted - len(self._row), 0)
        self._row = []

    def _get_over(self, *, is_open: bool) -> None:
        """Go on behind a row with wrong quotes, or read it again if they can be put right."""
        # Space behind a quote that closes may as well stand before it.
        fixed = self._spaces.sub(r'\1"', self._row[-1])
        if not is_open and fixed != self._row[-1]:
            self._lines.extendleft([fixed, *reversed(self._row[:-1])])
            self._row = []
            return
        # The line that shows that a quote is wrong may be right itself.
        n_reached = len(self._row) if is_open else len(self._row) - 1
        self._n_distrusted = max(self._n_distrusted, n_reached)
        self._lines.extendleft(reversed(self._row[1:]))
        self._row = self._row[:1]
        self._finish_row("unclosed-quote" if is_open else "bad-quotes")

    def _take(self, cells: list[str]) -> str | None:
        """Take a row in as a record; return why it is rejected, or None if it is not."""
        if len(cells) < self._n_wanted:
            if len(cells) <= self._url:
                return "too-few-cells"
            # Some programs leave empty cells out.
            cells += [""] * (self._n_wanted - len(cells))
        fields: dict[str, Any] = {
            field: cell
            for field, at in self._columns
            if (cell := cells[at].encode("latin-1").strip()) not in (b"", b"-")
        }
        return self._intake.collector.add(**fields) if "url" in fields else "no-url"


# ----------------------------------------------------------------------------------------- layouts

_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 100
"""What the layout is told from: enough to meet each kind of row, little enough to be instant."""

_DELIMITERS = ",\t;"
_NO_DELIMITER = "\x1f"
"""Stands for that of rows of one cell, as Python's reader wants one."""

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


class _Reading:
    """The first rows of a file, read with one delimiter."""

    def __init__(self, lines: Sequence[str], delimiter: str) -> None:
        self.delimiter = delimiter
        first, self.n_lines = _read_first(lines, delimiter)
        self.first = [cell.strip() for cell in first]
        reader = csv.reader(lines[self.n_lines :], delimiter=delimiter, skipinitialspace=True)
        rows = ([cell.strip() for cell in row] for row in reader)
        self.rest = list(islice(filter(any, rows), _SAMPLE_ROWS))
        # Positions that hold URLs in most rows; a header is no such row.
        data = self.rest or [self.first]
        found = Counter(at for row in data for at, cell in enumerate(row) if _A_URL.match(cell))
        self.url_columns = sorted(at for at, n_urls in found.items() if n_urls >= len(data) / 2)
        fields = [field for name in self.first if (field := find_field(name)) is not None]
        self.has_url_name = URL in fields
        self.has_header = not any(map(_A_URL.match, self.first)) and (
            self.has_url_name or len(fields) > 1 or bool(self.url_columns)
        )
        rows_of_all = [self.first, *self.rest]
        self.n_cells = len(self.first)
        if self.rest and not self.has_header:
            self.n_cells = Counter(map(len, rows_of_all)).most_common(1)[0][0]
        self.even = [row for row in rows_of_all if len(row) == self.n_cells]
        self.n_odd = len(rows_of_all) - len(self.even)

    def is_certain(self) -> bool:
        """Tell whether it is a table whose columns can be told apart, and no list of URLs."""
        if self.n_cells == 1:
            is_named = self.has_header and self.has_url_name
            return is_named and bool(self.rest) and self.url_columns == [0]
        if self.has_header:
            return self.has_url_name or (bool(self.url_columns) and not self.n_odd)
        n_even = len(self.even)
        is_even = not self.n_odd or (n_even > 1 and self.n_odd <= max(1, _BROKEN * n_even))
        if not self.url_columns or not is_even:
            return False
        if self.delimiter == "\t" or self.url_columns[0] > 0:
            return True
        # Cells that are no parts of URLs, in columns that hold no others.
        others = list(zip(*self.even, strict=True))[1:]
        n_signs = sum(n_even for cells in others if all(map(_NO_URL_PART.fullmatch, cells)))
        return n_signs >= _MIN_SIGNS

    def rank(self, column: str | None) -> tuple[bool, bool, bool, int, int]:
        """Return how well it explains the file, comparable with others."""
        has_urls = self.has_url_name or bool(self.url_columns)
        is_named = column in self.first
        return is_named, has_urls, self.is_certain(), len(self.even), self.n_cells


def _find_layout(
    beginning: bytes, settings: Settings, source: str
) -> tuple[str, int, dict[int, int]] | None:
    """Return the delimiter, how many lines are no data, and the columns; None without rows."""
    n_comments, readings = _read_sample(beginning)
    if not readings:
        return None
    best = max(readings, key=lambda reading: reading.rank(settings.column))
    names: Sequence[str] = best.first
    has_header = best.has_header or (settings.column is not None and not settings.column.isdigit())
    if not has_header:
        names = [str(position + 1) for position in range(best.n_cells)]
    found = best.url_columns
    if settings.column is None and found and not (has_header and best.has_url_name):
        if len(found) > 1:
            held = [names[position] for position in found if position < len(names)]
            raise SourceError(
                f"{source}: cannot tell which column holds the URLs, as {list_names(held)} all do; "
                f"say which, such as --column {found[0] + 1}"
            )
        settings = replace(settings, column=str(found[0] + 1))
    n_skipped = n_comments + (best.n_lines if has_header else 0)
    return best.delimiter, n_skipped, find_columns(names, settings, source=source)


def _read_sample(beginning: bytes) -> tuple[int, list[_Reading]]:
    """Read the first rows with each delimiter that the first one has, or as rows of one cell.

    Return them behind the number of lines before.
    """
    text = beginning[:_SAMPLE_BYTES].decode("utf-8-sig", errors="replace")
    lines = [line + "\n" for line in text.replace("\r", " ").split("\n")]
    if len(beginning) > _SAMPLE_BYTES and len(lines) > 1:
        lines.pop()
    passed = list(takewhile(lambda line: not line.strip() or _is_comment(line), lines))
    lines = lines[len(passed) :]
    delimiters = [delimiter for delimiter in _DELIMITERS if lines and delimiter in lines[0]]
    delimiters += [_NO_DELIMITER] if lines else []
    return len(passed), [_Reading(lines, delimiter) for delimiter in delimiters]


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
