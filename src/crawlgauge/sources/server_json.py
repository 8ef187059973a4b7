"""JSON arrays: what Wayback's CDX server answers to ``output=json``, and arrays of objects.

The rows of an answer are arrays, and the first of them names the columns. Answers may stand one
after another, as when the pages of a long one are put together.
"""

import json
import re
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import server_json_kernel as kernel
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.column_names import find_columns
from crawlgauge.sources.json_members import parse_members
from crawlgauge.sources.json_objects import (
    NO_MEMBERS,
    MemberNames,
    assemble_objects,
    drop_dashes,
    find_member_names,
)
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED
from crawlgauge.sources.record_kernel import N_FIELDS, URL
from crawlgauge.sources.records import FIRST_OWN_VERDICT, assemble
from crawlgauge.sources.request import Request

__all__ = ["looks_like_server_json", "read_server_json"]

_MAX_ROW_BYTES = 1 << 24
"""Whole pages may stand beside their URLs; what is longer is a bracket that nobody closes."""
_MAX_ROWS = 1 << 14
"""Rows in a batch."""

_NO_ROW = FIRST_OWN_VERDICT
_TOO_FEW_CELLS = FIRST_OWN_VERDICT + 1
_RESUME_KEY = FIRST_OWN_VERDICT + 2
_REJECTED = MappingProxyType({_NO_ROW: "no-row", _TOO_FEW_CELLS: "too-few-cells"})
_EXCLUDED = MappingProxyType({_RESUME_KEY: "resume-key"})

_BEGINS = re.compile(rb"\s*\[\s*(?:[\[{]|\]\s*\Z)")
_UTF8_MARK = b"\xef\xbb\xbf"


def looks_like_server_json(beginning: bytes) -> bool:
    """Tell whether an input that begins so is a JSON array of arrays or of objects.

    Examples
    --------
    >>> looks_like_server_json(b'[["original"], ["http://example.org/"]]')
    True
    """
    return _BEGINS.match(beginning.removeprefix(_UTF8_MARK)) is not None


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
        stream.report(error.damage)
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
        self._rows: _Rows | _Objects | None = None

    def read(self, block: bytes) -> Iterator[Captures]:
        if self._place == 0 and not self._waiting and block.startswith(_UTF8_MARK):
            block = b" " * len(_UTF8_MARK) + block[len(_UTF8_MARK) :]
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
        starts = np.flatnonzero(are_first).tolist()
        for start, end in zip([0, *starts], [*starts, len(bounds)], strict=True):
            if start == end:
                continue
            part = bounds[start:end]
            if are_first[start]:
                self._rows = self._begin(data, part)
            if self._rows is not None:
                yield self._rows.read(data, part, self._place)

    def _begin(self, data: bytes, bounds: NDArray[np.int64]) -> "_Rows | _Objects":
        """Find out what the rows of an array are, and which fields they have."""
        first = data[bounds[0, 0] : bounds[0, 1]]
        if first.startswith(b"{"):
            texts = (data[start:end] for start, end in bounds.tolist())
            members = find_member_names(texts, self._request, self._name)
            return _Objects(members or NO_MEMBERS, self._request, self._name)
        try:
            names = json.loads(first)
        except (ValueError, RecursionError):
            names = None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise SourceError(
                f"{self._name}: the first row of the JSON array does not name the columns; "
                f"it stands at byte {self._place + int(bounds[0, 0]):,}"
            )
        columns = find_columns(names, self._request, source=self._name)
        # Some servers name no columns, and the user says which one it is.
        has_header = "://" not in names[columns[URL]]
        return _Rows(columns, self._request, self._name, has_header=has_header)


class _Objects:
    """Rows that are objects."""

    def __init__(self, members: MemberNames, request: Request, name: str) -> None:
        self._members = members
        self._request = request
        self._name = name

    def read(self, data: bytes, bounds: NDArray[np.int64], place: int) -> Captures:
        return assemble_objects(
            data,
            bounds,
            self._members,
            verdicts=np.full(len(bounds), ACCEPTED, dtype=np.uint8),
            request=self._request,
            name=self._name,
            place=place,
            first_line=None,
        )


class _Rows:
    """Rows that are arrays."""

    def __init__(
        self, columns: dict[int, int], request: Request, name: str, *, has_header: bool
    ) -> None:
        self._columns = columns
        self._wanted = np.zeros(max(columns.values()) + 1, dtype=np.uint8)
        for field, position in columns.items():
            self._wanted[position] |= 1 << field
        self._request = request
        self._name = name
        self._is_header = has_header
        self._n_before = -1

    def read(self, data: bytes, bounds: NDArray[np.int64], place: int) -> Captures:
        block = np.frombuffer(data, dtype=np.uint8)
        spans = np.empty((len(bounds), N_FIELDS, 2), dtype=np.int32)
        n_cells = np.empty(len(bounds), dtype=np.int32)
        is_sure = np.empty(len(bounds), dtype=np.bool_)
        kernel.find_cells(block, bounds, self._wanted, spans, n_cells, is_sure)
        behind = self._repair(data, bounds, np.flatnonzero(~is_sure), spans, n_cells)
        if behind:
            block = np.frombuffer(data + behind, dtype=np.uint8)
        drop_dashes(block, spans)
        return assemble(
            block,
            spans,
            self._judge(n_cells),
            request=self._request,
            name=self._name,
            bounds=bounds,
            place=place,
            first_line=None,
            rejected=_REJECTED,
            excluded=_EXCLUDED,
        )

    def _judge(self, n_cells: NDArray[np.int32]) -> NDArray[np.uint8]:
        verdicts = np.full(n_cells.size, ACCEPTED, dtype=np.uint8)
        verdicts[n_cells <= self._columns[URL]] = _TOO_FEW_CELLS
        verdicts[n_cells < 0] = _NO_ROW
        # An empty row announces the key from which the server would go on.
        n_before = np.concatenate(([self._n_before], n_cells[:-1]))
        verdicts[(n_cells == 1) & (n_before == 0)] = _RESUME_KEY
        verdicts[n_cells == 0] = SKIPPED
        if self._is_header:
            verdicts[0] = SKIPPED
        self._is_header, self._n_before = False, int(n_cells[-1])
        return verdicts

    def _repair(
        self,
        data: bytes,
        bounds: NDArray[np.int64],
        rows: NDArray[np.int64],
        spans: NDArray[np.int32],
        n_cells: NDArray[np.int32],
    ) -> bytes:
        """Read rows that the kernel is not sure of; return what is to stand behind the data."""
        behind = bytearray()
        names = [str(position).encode() for position in self._columns.values()]
        for row in rows.tolist():
            spans[row] = -1
            cells = _parse_row(data[bounds[row, 0] : bounds[row, 1]])
            if cells is None:
                continue
            n_cells[row] = len(cells)
            # As an object, so that values are read as those of any other.
            text = json.dumps({str(position): cell for position, cell in enumerate(cells)})
            for field, (_, value) in zip(
                self._columns, parse_members(text.encode(), names) or (), strict=True
            ):
                if value is not None:
                    first = len(data) + len(behind)
                    spans[row, field] = first, first + len(value)
                    behind += value
        return bytes(behind)


def _parse_row(text: bytes) -> list[object] | None:
    try:
        row = json.loads(
            text.decode("utf-8", errors="surrogateescape"),
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, list) else None
