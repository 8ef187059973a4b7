"""Percent-escapes in compiled code: the twin of `percent.unescape`."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.surt_bytes import DEFER, HEX_VALUE, NO_HEX, is_stray
from crawlgauge.words import copy_bytes, load_word

__all__ = ["unescape_into"]

_PERCENT = 0x25
_WORD = 8
_EVERY_BYTE = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_PERCENTS = np.uint64(_PERCENT) * _EVERY_BYTE
_SPACES = np.uint64(0x20) * _EVERY_BYTE


@compiled
def unescape_into(
    source: NDArray[np.uint8],
    start: int,
    end: int,
    plain: NDArray[np.uint8],
    base: int,
    keep_one: int,
    keep_other: int,
) -> int:
    """Write ``source[start:end]`` without escapes to `plain`, from `base` on.

    Parameters
    ----------
    source, start, end
        A part of a URL.
    plain, base
        What is written, and from where on.
    keep_one, keep_other
        Bytes whose escapes stay.

    Returns
    -------
    int
        Where the text ends in `plain`, or `DEFER` if the source has stray white space.
    """
    length = base
    place = start
    while place < end:
        if not _is_in_escape(plain, base, length):
            odd = _find_odd(source, place, end)
            copy_bytes(source, place, odd, plain, length)
            length += odd - place
            place = odd
            if place == end:
                break
        byte = source[place]
        if is_stray(byte):
            return DEFER
        plain[length] = byte
        length = _reduce(plain, base, length + 1, keep_one, keep_other)
        place += 1
    return length


@compiled
def _is_in_escape(plain: NDArray[np.uint8], base: int, length: int) -> bool:
    """Tell whether the next byte could be part of an escape that has begun."""
    return (length > base and plain[length - 1] == _PERCENT) or (
        length > base + 1 and plain[length - 2] == _PERCENT
    )


@compiled
def _reduce(
    plain: NDArray[np.uint8], base: int, length: int, keep_one: int, keep_other: int
) -> int:
    """Undo the escapes that the last byte completes; return the new length."""
    while length - base >= 3 and plain[length - 3] == _PERCENT:
        high = HEX_VALUE[plain[length - 2]]
        low = HEX_VALUE[plain[length - 1]]
        value = high * 16 + low
        if high == NO_HEX or low == NO_HEX or value == keep_one or value == keep_other:
            break
        length -= 2
        plain[length - 1] = value
    return length


@compiled
def _find_odd(source: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the first place of a percent sign or control character, or `end`."""
    place = start
    while place + _WORD <= end:
        # Bytes below a space, and those that equal a percent sign, borrow their high bit.
        word = load_word(source, place)
        other = word ^ _PERCENTS
        if (((word - _SPACES) & ~word) | ((other - _EVERY_BYTE) & ~other)) & _HIGH_BITS:
            break
        place += _WORD
    while place < end and source[place] >= 0x20 and source[place] != _PERCENT:
        place += 1
    return place
