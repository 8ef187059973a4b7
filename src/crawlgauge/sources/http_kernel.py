"""Read the header of the HTTP message that a record of an archive holds, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.header_kernel import INCOMPLETE, find_name, name_table, read_header, trim
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import find_byte

__all__ = [
    "NO_STATUS_LINE",
    "UNFINISHED",
    "find_http_status",
    "is_http",
    "read_http",
]

NO_STATUS_LINE, UNFINISHED = -1, -2
"""What `read_http` returns where no HTTP message begins, or where its header goes on behind what
is at hand."""

_MAX_HTTP_BYTES = 1 << 16
"""HTTP headers end before, as servers and clients refuse longer ones."""
_STATUS_LINE_BYTES = 16
"""In so many bytes the code of an HTTP status line stands."""
_NAMES, _LENGTHS = name_table((b"content-type",))
_MESSAGE, _MESSAGE_LENGTH = name_table((b"application/http",))
_HTTP = np.frombuffer(b"HTTP/", dtype=np.uint8)
_TAB, _SPACE, _DOT, _ZERO, _NINE, _SEMICOLON = 0x09, 0x20, 0x2E, 0x30, 0x39, 0x3B


@compiled
def is_http(block: NDArray[np.uint8], field: NDArray[np.int64]) -> bool:
    """Tell whether a body is an HTTP message; where no type is given, it may be one.

    Parameters
    ----------
    block
        The bytes.
    field
        Start and end of the body's media type; a start of −1 if none is given.
    """
    if field[0] < 0:
        return True
    start, end = trim(block, field[0], find_byte(block, field[0], field[1], _SEMICOLON))
    return find_name(block, start, end, _MESSAGE, _MESSAGE_LENGTH) >= 0


@compiled
def read_http(
    block: NDArray[np.uint8], start: int, end: int, fence: int, media: NDArray[np.int64]
) -> int:
    """Read the header of an HTTP message.

    Parameters
    ----------
    block
        The bytes.
    start, end
        Where the body of a record begins and ends.
    fence
        How much of it is at hand.
    media
        Filled: start and end of the media type; a start of −1 if there is none.

    Returns
    -------
    int
        Where the three digits of the status begin, `NO_STATUS_LINE`, or `UNFINISHED`.
    """
    media[:, :] = -1
    wanted = min(end, start + _MAX_HTTP_BYTES)
    seen = min(wanted, fence)
    status = find_http_status(block, start, seen)
    if status < 0:
        is_enough = seen == wanted or seen - start >= _STATUS_LINE_BYTES
        return NO_STATUS_LINE if is_enough else UNFINISHED
    header_end = read_header(block, start, seen, _NAMES, _LENGTHS, 0, media)
    return UNFINISHED if header_end == INCOMPLETE and seen < wanted else status


@compiled
def find_http_status(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return where the three digits of an HTTP status line's code begin, or −1."""
    place = start
    for byte in _HTTP:
        if place >= end or block[place] != byte:
            return -1
        place += 1
    while place < end and (block[place] == _DOT or _ZERO <= block[place] <= _NINE):
        place += 1
    after_version = place
    while place < end and (block[place] == _SPACE or block[place] == _TAB):
        place += 1
    if place == after_version or place + 3 > end:
        return -1
    for digit in range(place, place + 3):
        if not _ZERO <= block[digit] <= _NINE:
            return -1
    if place + 3 < end and not is_space(block[place + 3]):
        return -1
    return place
