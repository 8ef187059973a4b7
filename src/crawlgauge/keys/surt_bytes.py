"""What each byte of a URL becomes in a SURT, as tables for compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = [
    "DEFER",
    "HEX_VALUE",
    "IN_HOST",
    "IN_PATH",
    "IN_QUERY",
    "NO_HEX",
    "begins_with",
    "is_stray",
    "write_special",
]

DEFER = -1
"""Returned instead of a length: the reference must look at this URL."""

NO_HEX = 16
_PERCENT = 0x25
_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


def _table(plain: bytes) -> NDArray[np.uint8]:
    """Map plain bytes to their lower case, all others, which need attention, to zero."""
    table = np.zeros(256, dtype=np.uint8)
    for byte in plain:
        table[byte] = bytes([byte]).lower()[0]
    return table


def _printable_but(special: bytes) -> bytes:
    return bytes(byte for byte in range(0x21, 0x7F) if byte not in special)


IN_HOST = _table(b"-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
IN_PATH = _table(_printable_but(b"#%/;("))
IN_QUERY = _table(_printable_but(b"#%&"))

HEX_VALUE = np.full(256, NO_HEX, dtype=np.uint8)
for _byte in b"0123456789abcdefABCDEF":
    HEX_VALUE[_byte] = int(chr(_byte), 16)


@compiled
def is_stray(byte: int) -> bool:
    """Tell whether a byte is a tab or a line end, which no URL contains."""
    return byte == 0x09 or byte == 0x0A or byte == 0x0D


@compiled
def begins_with(source: NDArray[np.uint8], place: int, end: int, word: NDArray[np.uint8]) -> bool:
    """Tell whether a word of lower-case letters and signs stands here, in any case."""
    if end - place < word.size:
        return False
    number = 0
    while number < word.size:
        byte = source[place + number]
        if 0x41 <= byte <= 0x5A:
            byte |= 0x20
        if byte != word[number]:
            return False
        number += 1
    return True


@compiled
def write_special(
    source: NDArray[np.uint8], place: int, end: int, form: NDArray[np.uint8], length: int
) -> int:
    """Write the byte at `place` as an escape, or begin an escape that was kept.

    Returns
    -------
    int
        The new length of the form.
    """
    byte = source[place]
    form[length] = _PERCENT
    if (
        byte == _PERCENT
        and place + 2 < end
        and HEX_VALUE[source[place + 1]] != NO_HEX
        and HEX_VALUE[source[place + 2]] != NO_HEX
    ):
        return length + 1
    form[length + 1] = _DIGITS[byte >> 4]
    form[length + 2] = _DIGITS[byte & 15]
    return length + 3
