"""How the kernels that walk over records tell where they are and why they stop."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = [
    "AT",
    "BAD_LENGTH",
    "BODY",
    "CUT",
    "END",
    "FULL",
    "GO_ON",
    "LONG_HEADER",
    "MAX_HEADER_BYTES",
    "MIXED_HEADERS",
    "MORE",
    "NO_RECORD",
    "N_BYTES",
    "N_RECORDS",
    "N_STATES",
    "PAYLOAD",
    "RECORD",
    "SWALLOWED",
    "find_next",
    "first_member_after",
    "leave_record",
    "stop_short",
]

AT, N_RECORDS, N_BYTES, RECORD, PAYLOAD = range(5)
"""The numbers of a walk's state: how far the block has been read, how many records and bytes the
batch holds, and where in the decompressed input the last record and its body begin."""
N_STATES = 5

MORE, END, FULL, BODY, NO_RECORD, CUT, SWALLOWED, MIXED_HEADERS, LONG_HEADER, BAD_LENGTH = range(10)
"""Why a walk stops: it needs more bytes from `AT` on; the input has ended; the batch is full; the
body of the last record ends at `AT`, beyond the block. The others are damage: what stands at `AT`
is no record; the input ends inside the record at `AT`; the next record begins at `AT` although the
one before it should go on; and three kinds of headers that cannot be read, at `AT`."""

GO_ON = -1
"""No reason to stop."""

MAX_HEADER_BYTES = 1 << 20
"""Longer headers are no headers."""
_ROOM_BYTES = 2 * MAX_HEADER_BYTES
"""What the fields of one record take at most: some header fields may be copied twice."""

_LINE_FEED, _CARRIAGE_RETURN = 0x0A, 0x0D


@compiled
def find_next(
    block: NDArray[np.uint8],
    is_last: bool,
    n_room: int,
    n_room_bytes: int,
    state: NDArray[np.int64],
) -> int:
    """Pass over blank lines to where a record should begin, and tell whether to stop there.

    Parameters
    ----------
    block, is_last
        What is at hand, as `RecordWindow` describes it.
    n_room, n_room_bytes
        How many records, and bytes of their fields, a batch can hold.
    state
        Where the walk is.
    """
    at = state[AT]
    while at < block.size and (block[at] == _LINE_FEED or block[at] == _CARRIAGE_RETURN):
        at += 1
    state[AT] = at
    if at >= block.size:
        return END if is_last else MORE
    if state[N_RECORDS] == n_room or n_room_bytes - state[N_BYTES] < _ROOM_BYTES:
        return FULL
    return GO_ON


@compiled
def stop_short(fence: int, size: int, is_last: bool, state: NDArray[np.int64]) -> int:
    """Return why the record at hand cannot be read: it goes on beyond the fence or the block.

    Parameters
    ----------
    fence
        Where the next record surely begins; the block's size if that is not known.
    size
        The block's size.
    is_last
        Whether nothing follows the block.
    state
        Where the walk is.
    """
    if fence < size:
        state[AT] = fence
        return SWALLOWED
    return CUT if is_last else MORE


@compiled
def leave_record(end: int, fence: int, size: int, state: NDArray[np.int64]) -> int:
    """Count the record that ends at `end`, go behind it, and tell whether to stop there.

    Parameters
    ----------
    end
        Where it ends by its own account.
    fence, size, state
        As for `stop_short`.
    """
    state[N_RECORDS] += 1
    if end > fence and fence < size:
        state[AT] = fence
        return SWALLOWED
    state[AT] = end
    return BODY if end > size else GO_ON


@compiled
def first_member_after(members: NDArray[np.int64], place: int) -> int:
    """Return the number of the first member that begins behind a place."""
    low, high = 0, members.size
    while low < high:
        middle = (low + high) // 2
        if members[middle] <= place:
            low = middle + 1
        else:
            high = middle
    return low
