"""Media types and their codes in compiled code, as in `media_type`."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.dictionary_kernel import FULL, NO_CODE, find_code, is_same
from crawlgauge.keys.media_type import MAX_TYPE_BYTES, UNKNOWN_TYPES
from crawlgauge.keys.recent_kernel import ROW_BYTES, choose_row, note_recent

__all__ = ["code_types", "write_type"]

_COMMA, _SEMICOLON = 0x2C, 0x3B
_UNKNOWN_TEXT = np.frombuffer(b"".join(UNKNOWN_TYPES), dtype=np.uint8)
_UNKNOWN_STARTS = np.cumsum([0, *map(len, UNKNOWN_TYPES)])


@compiled
def code_types(
    data: NDArray[np.uint8],
    firsts: NDArray[np.int32],
    lasts: NDArray[np.int32],
    chosen: NDArray[np.int64],
    codes: NDArray[np.int32],
    first: int,
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    texts: NDArray[np.uint8],
    n_texts: NDArray[np.int64],
    recent_texts: NDArray[np.uint8],
    found: NDArray[np.int32],
    kind: NDArray[np.uint8],
) -> int:
    """Fill `codes` with the codes of the media types of some captures, from number `first` on.

    Parameters
    ----------
    data, firsts, lasts
        The type of capture k is ``data[firsts[k]:lasts[k]]``.
    chosen, codes
        The numbers of the captures, and for each its code, `NO_CODE` if it has no type.
    first
        Place in `chosen`.
    slots, hashes, starts, texts, n_texts
        A `TextTable`, added to.
    recent_texts, found
        A `Recent`, for this table.
    kind
        Room for `MAX_TYPE_BYTES` bytes.

    Returns
    -------
    int
        Where it stopped: at the end of `chosen`, or where the table is full.
    """
    old, old_bytes, code = 0, -1, NO_CODE
    for place in range(first, chosen.size):
        number = chosen[place]
        start, end = int(firsts[number]), int(lasts[number])
        if (
            end - start != old_bytes
            or old_bytes < 8
            or not is_same(data, start, data, old, old_bytes)
        ):
            row = choose_row(data, start, end)
            n_bytes = end - start
            if (
                row >= 0
                and found[row, 0] == n_bytes
                and is_same(data, start, recent_texts, row * ROW_BYTES, n_bytes)
            ):
                code = int(found[row, 1])
            else:
                n_bytes = write_type(data, start, end, kind)
                code = NO_CODE
                if n_bytes > 0:
                    code = find_code(slots, hashes, starts, texts, n_texts, kind, 0, n_bytes)
                if code == FULL:
                    return place
                note_recent(recent_texts, found, row, data, start, end, code)
            old, old_bytes = start, end - start
        codes[place] = code
    return chosen.size


@compiled
def write_type(data: NDArray[np.uint8], start: int, end: int, kind: NDArray[np.uint8]) -> int:
    """Write the media type that ``data[start:end]`` tells to `kind`.

    Returns
    -------
    int
        Its length; 0 if it tells none.
    """
    while start < end and data[start] <= 0x20:
        start += 1
    n_bytes = 0
    for place in range(start, end):
        byte = data[place]
        if byte <= 0x20 or byte == _SEMICOLON or byte == _COMMA:
            break
        if byte >= 0x7F or n_bytes == MAX_TYPE_BYTES:
            return 0
        kind[n_bytes] = byte | 0x20 if 0x41 <= byte <= 0x5A else byte
        n_bytes += 1
    for number in range(_UNKNOWN_STARTS.size - 1):
        unknown = _UNKNOWN_TEXT[_UNKNOWN_STARTS[number] : _UNKNOWN_STARTS[number + 1]]
        if unknown.size == n_bytes and (unknown == kind[:n_bytes]).all():
            return 0
    return n_bytes
