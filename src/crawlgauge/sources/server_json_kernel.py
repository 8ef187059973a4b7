"""Find the rows of a JSON array that may be as long as memory is not, and the cells of rows."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.record_kernel import N_FIELDS
from crawlgauge.words import find_byte

__all__ = ["AT_ROW", "BEFORE_ARRAY", "BEHIND_ROW", "BROKEN", "find_cells", "find_rows"]

BEFORE_ARRAY = 0
"""An array is to begin, or nothing at all."""
AT_ROW = 1
"""A row is to begin, or the array may end."""
BEHIND_ROW = 2
"""A comma is to follow, or the array's end."""
BROKEN = 3
"""What stands there is no JSON."""

_QUOTE, _COMMA, _BACKSLASH = 0x22, 0x2C, 0x5C
_OPEN_ARRAY, _CLOSE_ARRAY, _OPEN_OBJECT, _CLOSE_OBJECT = 0x5B, 0x5D, 0x7B, 0x7D
_MINUS = 0x2D
_NULL = np.frombuffer(b"null", dtype=np.uint8)


@compiled
def find_rows(
    block: NDArray[np.uint8],
    start: int,
    state: int,
    is_first: bool,
    bounds: NDArray[np.int64],
    are_first: NDArray[np.bool_],
) -> tuple[int, int, int, bool]:
    """Find the rows of one array after another, as far as they end in the block.

    Parameters
    ----------
    block
        The bytes.
    start
        Where to begin.
    state
        What is to be expected there.
    is_first
        Whether the next row is the first of its array.
    bounds
        Filled: where each row starts and ends. No more are looked for than it has room for.
    are_first
        Filled: whether each row is the first of its array.

    Returns
    -------
    tuple
        How many rows were found, where to go on, and `state` and `is_first` there.
    """
    n_rows, place = 0, start
    while n_rows < bounds.shape[0]:
        place = _skip_space(block, place, block.size)
        if place == block.size:
            break
        byte = block[place]
        if state == BEFORE_ARRAY:
            if byte != _OPEN_ARRAY:
                return n_rows, place, BROKEN, is_first
            state, is_first = AT_ROW, True
        elif byte == _CLOSE_ARRAY:
            state = BEFORE_ARRAY
        elif state == BEHIND_ROW:
            if byte != _COMMA:
                return n_rows, place, BROKEN, is_first
            state = AT_ROW
        else:
            end = _find_end(block, place)
            if end < 0:
                break
            if end == place:
                return n_rows, place, BROKEN, is_first
            bounds[n_rows, 0], bounds[n_rows, 1] = place, end
            are_first[n_rows] = is_first
            n_rows += 1
            is_first, state = False, BEHIND_ROW
            place = end - 1
        place += 1
    return n_rows, place, state, is_first


@compiled
def _find_end(block: NDArray[np.uint8], start: int) -> int:
    """Return where the value that begins at `start` ends, or −1 if not in the block."""
    depth, place = 0, start
    while place < block.size:
        byte = block[place]
        if byte == _QUOTE:
            place = _find_close(block, place + 1, block.size)
            if place == block.size:
                return -1
            if depth == 0:
                return place + 1
        elif byte == _OPEN_ARRAY or byte == _OPEN_OBJECT:
            depth += 1
        elif byte == _CLOSE_ARRAY or byte == _CLOSE_OBJECT:
            if depth <= 1:
                # The end of the array itself ends a value that is a number or a word.
                return place + depth
            depth -= 1
        elif depth == 0 and byte == _COMMA:
            return place
        place += 1
    return -1


@compiled
def _find_close(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the place of the quotation mark that closes a string, or `end`."""
    place = find_byte(block, start, end, _QUOTE)
    while place < end:
        before = place
        while before > start and block[before - 1] == _BACKSLASH:
            before -= 1
        if (place - before) % 2 == 0:
            return place
        start = place + 1
        place = find_byte(block, start, end, _QUOTE)
    return end


@compiled
def find_cells(
    block: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    spans: NDArray[np.int32],
    n_cells: NDArray[np.int32],
    is_sure: NDArray[np.bool_],
) -> None:
    """Find the wanted cells of rows that are arrays.

    Parameters
    ----------
    block
        The bytes.
    bounds
        Where each row starts and ends.
    wanted
        For each column up to the last that matters, the set of its fields as bits.
    spans
        Filled: start and end of each field; −1 for both where there is none.
    n_cells
        Filled: how many cells each row has.
    is_sure
        Filled: whether the row was understood; if not, Python must read it.
    """
    for row in range(bounds.shape[0]):
        spans[row] = -1
        n_cells[row] = _read_row(block, bounds[row, 0], bounds[row, 1], wanted, spans[row])
        is_sure[row] = n_cells[row] >= 0


@compiled
def _read_row(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    wanted: NDArray[np.uint8],
    spans: NDArray[np.int32],
) -> int:
    """Return how many cells a row has, or −1 if it is not sure to be an array of plain values."""
    if block[start] != _OPEN_ARRAY:
        return -1
    place = _skip_space(block, start + 1, end)
    if place < end and block[place] == _CLOSE_ARRAY:
        return 0 if place + 1 == end else -1
    column = 0
    while place < end:
        first, last, place = _read_cell(block, place, end)
        if place < 0:
            return -1
        if column < wanted.size and wanted[column]:
            _note(first, last, wanted[column], spans)
        column += 1
        place = _skip_space(block, place, end)
        if place == end:
            break
        if block[place] == _CLOSE_ARRAY:
            return column if place + 1 == end else -1
        if block[place] != _COMMA:
            break
        place = _skip_space(block, place + 1, end)
    return -1


@compiled
def _read_cell(block: NDArray[np.uint8], place: int, end: int) -> tuple[int, int, int]:
    """Return start and end of a value and the place behind it, which is −1 if it is not sure.

    Start and end are −1 for null.
    """
    if block[place] == _QUOTE:
        last = _find_plain_close(block, place + 1, end)
        return place + 1, last, last + 1 if last >= 0 else -1
    last = _skip_word(block, place, end)
    if _is_null(block, place, last):
        return -1, -1, last
    return place, last, last if _is_integer(block, place, last) else -1


@compiled
def _note(first: int, last: int, fields: int, spans: NDArray[np.int32]) -> None:
    for field in range(N_FIELDS):
        if fields >> field & 1:
            spans[field, 0], spans[field, 1] = first, last


@compiled
def _find_plain_close(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the place of the closing quotation mark, or −1 where escapes stand before it."""
    for place in range(start, end):
        byte = block[place]
        if byte == _QUOTE:
            return place
        if byte == _BACKSLASH or byte < 0x20:
            return -1
    return -1


@compiled
def _skip_word(block: NDArray[np.uint8], place: int, end: int) -> int:
    while place < end and block[place] > 0x20:
        if block[place] == _COMMA or block[place] == _CLOSE_ARRAY:
            break
        place += 1
    return place


@compiled
def _is_null(block: NDArray[np.uint8], start: int, end: int) -> bool:
    if end - start != _NULL.size:
        return False
    n_same = 0
    while n_same < _NULL.size and block[start + n_same] == _NULL[n_same]:
        n_same += 1
    return n_same == _NULL.size


@compiled
def _is_integer(block: NDArray[np.uint8], start: int, end: int) -> bool:
    if start < end and block[start] == _MINUS:
        start += 1
    for place in range(start, end):
        if not 0x30 <= block[place] <= 0x39:
            return False
    # JSON writes no leading zeros.
    return end > start and (block[start] != 0x30 or end == start + 1)


@compiled
def _skip_space(block: NDArray[np.uint8], place: int, end: int) -> int:
    while place < end:
        byte = block[place]
        if byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09:
            return place
        place += 1
    return end
