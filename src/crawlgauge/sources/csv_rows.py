"""CSV, TSV and their like: one capture a row, cells in quotation marks where needed."""

import re
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources import csv_kernel
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.csv_layout import CsvLayout, find_layout, is_table
from crawlgauge.sources.lines import Lines, read_lines
from crawlgauge.sources.member_lines import UTF8_MARK
from crawlgauge.sources.record_kernel import N_FIELDS, URL
from crawlgauge.sources.records import MAX_URL_BYTES, assemble
from crawlgauge.sources.request import Request

__all__ = ["looks_like_csv", "read_csv_rows"]

_MAX_ROW_BYTES = 1 << 22
"""Longest row: pages' texts may stand beside URLs, but a quote that nobody closes must not eat
the rest of the file."""

_REJECTED = MappingProxyType(
    {
        csv_kernel.TOO_FEW_CELLS: "too-few-cells",
        csv_kernel.BAD_QUOTES: "bad-quotes",
        csv_kernel.UNCLOSED_QUOTE: "unclosed-quote",
    }
)

_OTHER_FORMATS = re.compile(
    rb"""\s*(?:
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
    head = beginning[:MAX_URL_BYTES].removeprefix(UTF8_MARK)
    return b"\0" not in head and not _OTHER_FORMATS.match(head) and is_table(beginning)


def read_csv_rows(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of a CSV or TSV file, a batch for each block.

    Parameters
    ----------
    stream
        The file; cells are divided by commas, tabs or semicolons, with or without a header.
    request
        Which columns are wanted, and which one holds the URLs.

    Raises
    ------
    SourceError
        If the bytes are no text, or it cannot be told which column holds the URLs.
    """
    beginning = stream.beginning()
    if b"\0" in beginning[:MAX_URL_BYTES]:
        raise SourceError(f"{stream.name} is no text file, hence no CSV")
    layout = find_layout(beginning, request, stream.name)
    if layout is None:
        return
    reader = _RowReader(layout, request, stream.name)
    for lines in read_lines(stream, _MAX_ROW_BYTES):
        yield from reader.read(lines)
    yield from reader.finish()


class _RowReader:
    """Reads rows from whole lines; a row that goes on behind them waits for the next ones."""

    def __init__(self, layout: CsvLayout, request: Request, name: str) -> None:
        self._delimiter = layout.delimiter
        self._wanted = _mark_wanted(layout.columns)
        self._url_column = layout.columns[URL]
        self._request = request
        self._name = name
        self._n_to_skip = layout.n_skipped
        self._waiting = Lines(data=b"", place=0, n_lines=0, n_before=0)
        self._trusted = 0

    def read(self, lines: Lines) -> Iterator[Captures]:
        if self._n_to_skip:
            lines = _skip_lines(lines, self._n_to_skip)
            self._n_to_skip = 0
        waiting = self._waiting
        if waiting.data and waiting.place + len(waiting.data) == lines.place:
            lines = Lines(
                data=waiting.data + lines.data,
                place=waiting.place,
                n_lines=waiting.n_lines + lines.n_lines,
                n_before=waiting.n_before,
            )
        else:
            # Something was lost in between: what waits never ends.
            yield from self.finish()
        if lines.data:
            yield self._scan(lines, is_end=False)

    def finish(self) -> Iterator[Captures]:
        if self._waiting.data:
            yield self._scan(self._waiting, is_end=True)
        self._trusted = 0

    def _scan(self, lines: Lines, *, is_end: bool) -> Captures:
        block = np.frombuffer(bytearray(lines.data), dtype=np.uint8)
        line_ends = lines.find_ends()
        spans = np.empty((line_ends.size, N_FIELDS, 2), dtype=np.int32)
        verdicts = np.empty(line_ends.size, dtype=np.uint8)
        bounds = np.empty((line_ends.size, 2), dtype=np.int64)
        n_done, trusted = csv_kernel.find_cells(
            block,
            line_ends,
            self._delimiter,
            self._wanted,
            self._url_column,
            _MAX_ROW_BYTES,
            self._trusted,
            is_end,
            spans,
            verdicts,
            bounds,
        )
        cut = int(line_ends[n_done - 1]) + 1 if n_done else 0
        self._waiting = _cut(lines, cut, n_done)
        self._trusted = max(trusted - cut, 0)
        return assemble(
            block,
            spans[:n_done],
            verdicts[:n_done],
            request=self._request,
            name=self._name,
            bounds=bounds[:n_done],
            place=lines.place,
            first_line=lines.n_before,
            rejected=_REJECTED,
        )


def _mark_wanted(columns: dict[int, int]) -> NDArray[np.uint8]:
    """Return the set of fields of each column as bits."""
    wanted = np.zeros(max(columns.values()) + 1, dtype=np.uint8)
    for field, position in columns.items():
        wanted[position] |= 1 << field
    return wanted


def _skip_lines(lines: Lines, n_lines: int) -> Lines:
    n_skipped = min(n_lines, lines.n_lines)
    return _cut(lines, int(lines.find_ends()[n_skipped - 1]) + 1, n_skipped)


def _cut(lines: Lines, n_bytes: int, n_lines: int) -> Lines:
    return Lines(
        data=lines.data[n_bytes:],
        place=lines.place + n_bytes,
        n_lines=lines.n_lines - n_lines,
        n_before=None if lines.n_before is None else lines.n_before + n_lines,
    )
