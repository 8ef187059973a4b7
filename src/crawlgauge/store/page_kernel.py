"""Read the header of a page of a Parquet file, in compiled code.

A header is a structure in Thrift's compact protocol: each field begins with a byte of its type and
by how much its number is larger than the last one's.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.store.varint_kernel import from_zigzag, read_varint

__all__ = ["CHECKSUM", "ENCODING", "KIND", "MISSING", "N_BYTES", "N_FACTS", "N_KEYS", "read_header"]

KIND, N_BYTES, CHECKSUM, N_KEYS, ENCODING = range(5)
"""What is told of a page: its kind (0 for data in the older form), how many bytes it has, their
CRC32, how many keys there are, and how they are encoded (5 for DELTA_BINARY_PACKED)."""
N_FACTS = 5

MISSING = -1
"""Stands for what the header does not tell."""

_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY = range(9)
_STRUCT = 12
_MAX_DEPTH = 4
_FIELDS_OF_PAGE = np.array([MISSING, KIND, MISSING, N_BYTES, CHECKSUM], dtype=np.int64)
_FIELDS_OF_DATA = np.array([MISSING, N_KEYS, ENCODING], dtype=np.int64)
_DATA_FIELD = 5
"""The number of the field that holds the structure of a data page."""


@compiled
def read_header(data: NDArray[np.uint8], start: int, end: int, facts: NDArray[np.int64]) -> int:
    """Read the header of a page.

    Parameters
    ----------
    data, start, end
        The header begins at `start`, and what is known of the file ends at `end`.
    facts
        Filled.

    Returns
    -------
    int
        Where the page begins; −1 if the header ends later, or has what no header of a page has.
    """
    facts[:] = MISSING
    fields = np.zeros(_MAX_DEPTH, dtype=np.int64)
    depth, place, in_data = 0, start, False
    while 0 <= place < end:
        head = int(data[place])
        place += 1
        kind = head & 15
        if kind == _STOP:
            depth -= 1
            in_data = False
            if depth < 0:
                return place
            continue
        if head >> 4 == 0:
            number, place = _read_number(data, place, end)
            fields[depth] = number
        else:
            fields[depth] += head >> 4
        field = int(fields[depth])
        if kind == _STRUCT:
            in_data = depth == 0 and field == _DATA_FIELD
            depth += 1
            if depth == _MAX_DEPTH:
                return -1
            fields[depth] = 0
        elif _I16 <= kind <= _I64:
            number, place = _read_number(data, place, end)
            if depth == 0 and 0 < field < _FIELDS_OF_PAGE.size:
                _note(facts, _FIELDS_OF_PAGE[field], number)
            elif depth == 1 and in_data and 0 < field < _FIELDS_OF_DATA.size:
                _note(facts, _FIELDS_OF_DATA[field], number)
        else:
            place = _skip(data, place, end, kind)
    return -1


@compiled
def _note(facts: NDArray[np.int64], fact: int, number: int) -> None:
    if fact != MISSING:
        facts[fact] = number


@compiled
def _skip(data: NDArray[np.uint8], place: int, end: int, kind: int) -> int:
    """Return where a value ends that is of no interest; −1 if that cannot be told."""
    if _TRUE <= kind <= _FALSE:
        return place
    if kind == _BYTE:
        return place + 1
    if kind == _DOUBLE:
        return place + 8
    if kind == _BINARY:
        n_bytes, place = read_varint(data, place, end)
        # One that ends beyond what is known of the file does not end.
        return place + int(np.int64(n_bytes)) if place >= 0 and n_bytes < end else -1
    return -1


@compiled
def _read_number(data: NDArray[np.uint8], place: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends; −1 if it does not."""
    number, place = read_varint(data, place, end)
    return int(np.int64(from_zigzag(number))), place
