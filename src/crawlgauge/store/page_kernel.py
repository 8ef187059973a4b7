"""Read the headers of pages of a Parquet file, in compiled code.

A header is a structure in Thrift's compact protocol: each field begins with a byte of its type and
by how much its number is larger than the last one's.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.store.varint_kernel import from_zigzag, read_varint

__all__ = [
    "CHECKSUM",
    "ENCODING",
    "KIND",
    "MISSING",
    "N_BYTES",
    "N_FACTS",
    "N_KEYS",
    "START",
    "find_pages",
]

KIND, N_BYTES, CHECKSUM, N_KEYS, ENCODING, START = range(6)
"""What is told of a page: its kind (0 for data in the older form), how many bytes it has, their
CRC32, how many keys there are, how they are encoded (5 for DELTA_BINARY_PACKED), and where it
begins."""
N_FACTS = 6

MISSING = -(1 << 62)
"""Stands for what the header does not tell; no number of a header is so small."""

_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY = range(9)
_STRUCT = 12
_MAX_DEPTH = 4
_FIELDS_OF_PAGE = np.array([MISSING, KIND, MISSING, N_BYTES, CHECKSUM], dtype=np.int64)
_FIELDS_OF_DATA = np.array([MISSING, N_KEYS, ENCODING], dtype=np.int64)
_DATA_FIELD = 5
"""The number of the field that holds the structure of a data page."""


@compiled
def find_pages(
    data: NDArray[np.uint8], start: int, end: int, pages: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Find the pages that are there as a whole.

    Parameters
    ----------
    data, start, end
        The first header begins at `start`, and what is known of the file ends at `end`.
    pages
        Filled with a row of facts for each page, as many as there are rows.

    Returns
    -------
    int
        How many were found.
    int
        Where the next header begins.
    int
        How many bytes the page of that header lacks, or 0 if the header itself is not there as a
        whole, or is none.
    """
    n_pages, n_missing = 0, 0
    while n_pages < pages.shape[0] and start < end:
        facts = pages[n_pages]
        place = _read_header(data, start, end, facts)
        if place < 0 or facts[N_BYTES] < 0:
            break
        facts[START] = place
        if place + facts[N_BYTES] > end:
            n_missing = place + facts[N_BYTES] - end
            break
        start = place + facts[N_BYTES]
        n_pages += 1
    return n_pages, start, n_missing


@compiled
def _read_header(data: NDArray[np.uint8], start: int, end: int, facts: NDArray[np.int64]) -> int:
    """Read a header; return where it ends, −1 if it does not or has what no header of a page has.

    Parameters
    ----------
    data, start, end
        As for `find_pages`.
    facts
        Filled.
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
