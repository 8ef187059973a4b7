"""JSON arrays: what Wayback's CDX server answers to ``output=json``, and arrays of objects.

The rows of an answer are arrays, and the first of them names the columns. Answers may stand one
after another, as when the pages of a long one are put together.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import server_json_kernel as kernel
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.json_objects import (
    NO_MEMBERS,
    MemberNames,
    assemble_objects,
    find_member_names,
)
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.member_lines import UTF8_MARK
from crawlgauge.sources.request import Request
from crawlgauge.sources.server_json_rows import RowReader, find_row_layout

__all__ = ["looks_like_server_json", "read_server_json"]

_MAX_ROW_BYTES = 1 << 24
"""Whole pages may stand beside their URLs; what is longer is a bracket that nobody closes."""
_MAX_ROWS = 1 << 14
"""Rows in a batch."""

_BEGINS = re.compile(rb"\s*\[\s*(?:[\[{]|\]\s*\Z)")


def looks_like_server_json(beginning: bytes) -> bool:
    """Tell whether an input that begins so is a JSON array of arrays or of objects.

    Examples
    --------
    >>> looks_like_server_json(b'[["original"], ["http://example.org/"]]')
    True
    """
    return _BEGINS.match(beginning.removeprefix(UTF8_MARK)) is not None


def read_server_json(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of JSON arrays.

    Parameters
    ----------
    stream
        The input: ``[["urlkey", "timestamp", "original", …], ["org,example)/", …], …]`` or
        ``[{"url": …}, …]``, in one line or in many.
    request
        Which columns are wanted, and which one holds the URLs.

    Raises
    ------
    SourceError
        If the input is no JSON array, or it cannot be told what holds the URLs.
    DamagedInput
        If it breaks or ends early, and that is not wanted to be got over.
    """
    if not looks_like_server_json(stream.beginning()):
        raise SourceError(f"{stream.name} is no JSON array of rows; try another --format")
    reader = _ArrayReader(request, stream.name)
    try:
        for block in stream.blocks():
            yield from reader.read(block)
            if reader.is_broken:
                break
    except DamagedInput as error:
        # Nobody knows where in the array reading would resume.
        lost = f"{error.damage.lost}, with the row that breaks off there"
        stream.report(replace(error.damage, lost=lost))
        return
    damage = reader.find_damage()
    if damage is not None:
        stream.report(damage)


class _ArrayReader:
    """Reads rows from blocks; a row that goes on behind them waits for the next one."""

    def __init__(self, request: Request, name: str) -> None:
        self._request = request
        self._name = name
        self._waiting = b""
        self._place = 0
        self._state = kernel.BEFORE_ARRAY
        self._is_first = True
        self._reader: RowReader | _ObjectReader | None = None
        self._first_row = b""

    def read(self, block: bytes) -> Iterator[Captures]:
        if self._place == 0 and not self._waiting and block.startswith(UTF8_MARK):
            block = b" " * len(UTF8_MARK) + block[len(UTF8_MARK) :]
        data = self._waiting + block
        array = np.frombuffer(data, dtype=np.uint8)
        bounds = np.empty((_MAX_ROWS, 2), dtype=np.int64)
        are_first = np.empty(_MAX_ROWS, dtype=np.bool_)
        start, n_rows = 0, _MAX_ROWS
        while n_rows == _MAX_ROWS and self._state != kernel.BROKEN:
            n_rows, start, self._state, self._is_first = kernel.find_rows(
                array, start, self._state, self._is_first, bounds, are_first
            )
            yield from self._read_rows(data, bounds[:n_rows], are_first[:n_rows])
        self._waiting = data[start:]
        self._place += start

    @property
    def is_broken(self) -> bool:
        return self._state == kernel.BROKEN or len(self._waiting) > _MAX_ROW_BYTES

    def find_damage(self) -> Damage | None:
        """Return what is wrong with the array that was read last."""
        if self._state == kernel.BEFORE_ARRAY:
            return None
        if self.is_broken:
            return Damage(
                file=self._name,
                byte=self._place,
                reason="what stands there is no row of a JSON array",
                lost="all that follows",
            )
        return Damage(
            file=self._name,
            byte=self._place,
            reason="the file ends before its JSON array does",
            lost="the rows that are missing",
        )

    def _read_rows(
        self, data: bytes, bounds: NDArray[np.int64], are_first: NDArray[np.bool_]
    ) -> Iterator[Captures]:
        """Yield the captures of rows; arrays that are laid out alike are read together."""
        done = 0
        starts = np.flatnonzero(are_first).tolist()
        for start, end in pairwise([*starts, len(bounds)]):
            reader = self._find_reader(data, bounds[start:end])
            if self._reader is not None and reader.layout == self._reader.layout:
                continue
            yield from self._assemble(data, bounds[done:start], are_first[done:start])
            self._reader, done = reader, start
        yield from self._assemble(data, bounds[done:], are_first[done:])

    def _find_reader(self, data: bytes, bounds: NDArray[np.int64]) -> "RowReader | _ObjectReader":
        """Find out what the rows of an array are, and which fields they have."""
        place, end = bounds[0].tolist()
        first = data[place:end]
        if first.startswith(b"{"):
            texts = (data[start:end] for start, end in bounds.tolist())
            members = find_member_names(texts, self._request, self._name)
            return _ObjectReader(members or NO_MEMBERS, self._request, self._name)
        if isinstance(self._reader, RowReader) and first == self._first_row:
            return self._reader
        self._first_row = first
        layout = find_row_layout(first, self._request, self._name, self._place + place)
        return RowReader(layout, self._request, self._name)

    def _assemble(
        self, data: bytes, bounds: NDArray[np.int64], are_first: NDArray[np.bool_]
    ) -> Iterator[Captures]:
        if self._reader is not None and len(bounds):
            yield self._reader.read(data, bounds, are_first, self._place)


class _ObjectReader:
    """Reads the rows of arrays that are objects with the same members."""

    def __init__(self, layout: MemberNames, request: Request, name: str) -> None:
        self.layout = layout
        self._request = request
        self._name = name

    def read(
        self, data: bytes, bounds: NDArray[np.int64], _are_first: NDArray[np.bool_], place: int
    ) -> Captures:
        return assemble_objects(
            data,
            bounds,
            self.layout,
            verdicts=np.full(len(bounds), ACCEPTED, dtype=np.uint8),
            request=self._request,
            name=self._name,
            place=place,
            first_line=None,
        )
