"""Captures from the rows of a CDX server's JSON, which are arrays of cells."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.column_names import find_columns
from crawlgauge.sources.json_members import parse_members
from crawlgauge.sources.json_objects import drop_dashes
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED
from crawlgauge.sources.record_kernel import N_FIELDS, URL
from crawlgauge.sources.records import FIRST_OWN_VERDICT, assemble
from crawlgauge.sources.request import Request
from crawlgauge.sources.server_json_kernel import find_cells

__all__ = ["RowLayout", "RowReader", "find_row_layout"]

_NO_ROW = FIRST_OWN_VERDICT
_TOO_FEW_CELLS = FIRST_OWN_VERDICT + 1
_RESUME_KEY = FIRST_OWN_VERDICT + 2
_REJECTED = MappingProxyType({_NO_ROW: "no-row", _TOO_FEW_CELLS: "too-few-cells"})
_EXCLUDED = MappingProxyType({_RESUME_KEY: "resume-key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLayout:
    """What the rows of an array hold.

    Parameters
    ----------
    columns
        Position by field of `record_kernel`.
    has_header
        Whether the first row names the columns.
    """

    columns: Mapping[int, int]
    has_header: bool


def find_row_layout(first: bytes, request: Request, source: str, place: int) -> RowLayout:
    """Find out from the first row of an array what its rows hold.

    Parameters
    ----------
    first
        The row.
    request
        Which column holds the URLs, if the user says so.
    source
        The input as the user named it.
    place
        Where in the input the row stands.

    Raises
    ------
    SourceError
        If it does not name the columns, or none is that of the URLs.
    """
    try:
        names = json.loads(first)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SourceError(
            f"{source}: the first row of the JSON array does not name the columns; "
            f"it stands at byte {place:,}"
        )
    columns = find_columns(names, request, source=source)
    # Some servers name no columns, and the user says which one it is.
    has_header = "://" not in names[columns[URL]]
    return RowLayout(columns=MappingProxyType(columns), has_header=has_header)


class RowReader:
    """Reads the rows of arrays that are laid out alike.

    Parameters
    ----------
    layout
        How.
    request
        Which columns are wanted.
    name
        The input as the user named it.

    Attributes
    ----------
    layout
        See above.
    """

    def __init__(self, layout: RowLayout, request: Request, name: str) -> None:
        self.layout = layout
        columns = layout.columns
        self._wanted = np.zeros(max(columns.values()) + 1, dtype=np.uint8)
        for field, position in columns.items():
            self._wanted[position] |= 1 << field
        self._request = request
        self._name = name
        self._n_before = -1

    def read(
        self, data: bytes, bounds: NDArray[np.int64], are_first: NDArray[np.bool_], place: int
    ) -> Captures:
        """Return the captures of rows.

        Parameters
        ----------
        data
            What they stand in.
        bounds
            Where each row starts and ends.
        are_first
            Whether each row is the first of its array.
        place
            Where `data` begins in the input.
        """
        block = np.frombuffer(data, dtype=np.uint8)
        spans = np.empty((len(bounds), N_FIELDS, 2), dtype=np.int32)
        n_cells = np.empty(len(bounds), dtype=np.int32)
        is_sure = np.empty(len(bounds), dtype=np.bool_)
        find_cells(block, bounds, self._wanted, spans, n_cells, is_sure)
        behind = self._repair(data, bounds, np.flatnonzero(~is_sure), spans, n_cells)
        if behind:
            block = np.frombuffer(data + behind, dtype=np.uint8)
        drop_dashes(block, spans)
        return assemble(
            block,
            spans,
            self._judge(n_cells, are_first),
            request=self._request,
            name=self._name,
            bounds=bounds,
            place=place,
            first_line=None,
            rejected=_REJECTED,
            excluded=_EXCLUDED,
        )

    def _judge(self, n_cells: NDArray[np.int32], are_first: NDArray[np.bool_]) -> NDArray[np.uint8]:
        verdicts = np.full(n_cells.size, ACCEPTED, dtype=np.uint8)
        verdicts[n_cells <= self.layout.columns[URL]] = _TOO_FEW_CELLS
        verdicts[n_cells < 0] = _NO_ROW
        # An empty row announces the key from which the server would go on.
        n_before = np.concatenate(([self._n_before], n_cells[:-1]))
        verdicts[(n_cells == 1) & (n_before == 0) & ~are_first] = _RESUME_KEY
        verdicts[n_cells == 0] = SKIPPED
        if self.layout.has_header:
            verdicts[are_first] = SKIPPED
        self._n_before = int(n_cells[-1])
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
        columns = self.layout.columns
        names = [str(position).encode() for position in columns.values()]
        for row in rows.tolist():
            spans[row] = -1
            cells = _parse_row(data[bounds[row, 0] : bounds[row, 1]])
            if cells is None:
                continue
            n_cells[row] = len(cells)
            # As an object, so that values are read as those of any other.
            text = json.dumps({str(position): cell for position, cell in enumerate(cells)})
            members = parse_members(text.encode(), names) or ()
            for field, (_, value) in zip(columns, members, strict=True):
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
