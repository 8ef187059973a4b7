"""Read header lines, of archive records and of HTTP messages, in compiled code."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.walk_kernel import N_BYTES
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import find_byte

__all__ = [
    "BROKEN",
    "INCOMPLETE",
    "copy_example",
    "copy_field_value",
    "find_name",
    "name_table",
    "read_header",
    "read_number",
    "trim",
]

INCOMPLETE, BROKEN = -1, -2
"""What `read_header` returns where it finds no end, or what cannot stand in one header."""

_TAB, _LINE_FEED, _CARRIAGE_RETURN, _SPACE = 0x09, 0x0A, 0x0D, 0x20
_COLON, _ZERO, _NINE = 0x3A, 0x30, 0x39
_EXAMPLE_BYTES = 96
_MAX_DIGITS = 15
"""No file has 10^15 bytes; a longer number is no length."""


def name_table(names: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return names as rows of bytes in lower case, and their lengths.

    Parameters
    ----------
    names
        At least one.
    """
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    table = np.zeros((len(names), max(int(lengths.max()), 1)), dtype=np.uint8)
    for row, name in zip(table, names, strict=True):
        row[: len(name)] = np.frombuffer(name.lower(), dtype=np.uint8)
    return table, lengths


@compiled
def find_name(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    names: NDArray[np.uint8],
    lengths: NDArray[np.int64],
) -> int:
    """Return which of `names` stands in ``block[start:end]`` in any letter case, or −1."""
    for row in range(lengths.size):
        if lengths[row] != end - start or start == end:
            continue
        place = 0
        while place < lengths[row]:
            byte = block[start + place]
            if 0x41 <= byte <= 0x5A:
                byte |= 0x20
            if byte != names[row, place]:
                break
            place += 1
        if place == lengths[row]:
            return row
    return -1


@compiled
def trim(block: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    """Return the bounds of ``block[start:end]`` without the space around it.

    What is missing, with a start of −1, stays so and has no length.
    """
    if start < 0:
        return -1, -1
    while start < end and is_space(block[start]):
        start += 1
    while end > start and is_space(block[end - 1]):
        end -= 1
    return start, end


@compiled
def read_header(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    names: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    n_single: int,
    found: NDArray[np.int64],
) -> int:
    """Find named fields of a header that ends with a blank line.

    Lines may end with CRLF, LF or several CRs and an LF. A line that begins with white space
    goes on with the field before it.

    Parameters
    ----------
    block
        Bytes that hold the header.
    start
        Where its first line begins, which holds no field.
    end
        How far it may reach.
    names, lengths
        The fields that are wanted, as `name_table` gives them.
    n_single
        How many of them, from the first on, may stand only once.
    found
        Filled with start and end of each field's first value; starts of −1 where there is none
        or it is empty.

    Returns
    -------
    int
        Where the header ends, behind its blank line; `INCOMPLETE` if that does not come before
        `end`; `BROKEN` if a field stands twice that may not.
    """
    found[:, :] = -1
    last = -1
    line_end = find_byte(block, start, end, _LINE_FEED)
    while line_end < end:
        line = line_end + 1
        line_end = find_byte(block, line, end, _LINE_FEED)
        if line_end >= end:
            break
        text_end = line_end
        while text_end > line and block[text_end - 1] == _CARRIAGE_RETURN:
            text_end -= 1
        if text_end == line:
            _trim_values(block, found)
            return line_end + 1
        if block[line] == _SPACE or block[line] == _TAB:
            if last >= 0:
                found[last, 1] = text_end
            continue
        row, value = _find_field(block, line, text_end, names, lengths)
        last = row if row >= 0 and found[row, 0] < 0 else -1
        if last >= 0:
            found[last, 0] = value
            found[last, 1] = text_end
        elif 0 <= row < n_single:
            return BROKEN
    _trim_values(block, found)
    return INCOMPLETE


@compiled
def _trim_values(block: NDArray[np.uint8], found: NDArray[np.int64]) -> None:
    """Take the space around values away; one that is empty counts as missing."""
    for row in range(found.shape[0]):
        start, end = trim(block, found[row, 0], found[row, 1])
        found[row, 0] = start if start < end else -1
        found[row, 1] = end


@compiled
def _find_field(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    names: NDArray[np.uint8],
    lengths: NDArray[np.int64],
) -> tuple[int, int]:
    """Return which of the wanted fields a line holds, or −1, and where its value begins."""
    colon = find_byte(block, start, end, _COLON)
    name_end = colon
    while name_end > start and is_space(block[name_end - 1]):
        name_end -= 1
    row = find_name(block, start, name_end, names, lengths) if colon < end else -1
    return row, colon + 1


@compiled
def copy_field_value(
    block: NDArray[np.uint8],
    field: NDArray[np.int64],
    span: NDArray[np.int32],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> None:
    """Copy a value without the space around it behind what `out` holds, and note where it is.

    Where a value goes on in another line, one space stands for the line's end (RFC 2616, 2.2). An
    empty one counts as missing.

    Parameters
    ----------
    block
        The bytes.
    field
        Start and end of the value; a start of −1 if there is none.
    span
        Start and end of the copy; left as it is if there is none.
    out, state
        As `RecordBatch` describes them.
    """
    start, end = trim(block, field[0], field[1])
    place = state[N_BYTES]
    while start < end:
        byte = block[start]
        start += 1
        if byte == _CARRIAGE_RETURN:
            continue
        if byte == _LINE_FEED:
            while start < end and (block[start] == _SPACE or block[start] == _TAB):
                start += 1
            byte = np.uint8(_SPACE)
        out[place] = byte
        place += 1
    if place > state[N_BYTES]:
        span[0], span[1] = state[N_BYTES], place
        state[N_BYTES] = place


@compiled
def copy_example(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> int:
    """Copy the beginning of a header that shall be shown, and return where the copy ends.

    Parameters
    ----------
    block
        The bytes.
    start, end
        Where the header begins and ends.
    out, state
        As `RecordBatch` describes them.
    """
    for place in range(start, min(start + _EXAMPLE_BYTES, end)):
        out[state[N_BYTES]] = block[place]
        state[N_BYTES] += 1
    return int(state[N_BYTES])


@compiled
def read_number(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the number that digits alone, with space around them, make up; −1 if none does."""
    start, end = trim(block, start, end)
    if start == end or end - start > _MAX_DIGITS:
        return -1
    number = 0
    for place in range(start, end):
        if not _ZERO <= block[place] <= _NINE:
            return -1
        number = 10 * number + (block[place] - _ZERO)
    return number
