"""Numbers of variable length, seven bits in a byte, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["from_zigzag", "read_varint"]

_ZERO, _ONE, _SEVEN = np.uint64(0), np.uint64(1), np.uint64(7)
_MORE, _LOW_BITS = np.uint64(0x80), np.uint64(0x7F)
_MAX_BYTES = 10


@compiled
def read_varint(data: NDArray[np.uint8], at: int, end: int) -> tuple[np.uint64, int]:
    """Return a number of variable length and where it ends, which is −1 if it does not.

    Parameters
    ----------
    data, at, end
        It begins at `at` and lies before `end`; after one that did not end, `at` is −1.
    """
    number, shift = _ZERO, _ZERO
    if at < 0:
        return number, -1
    for place in range(at, min(end, at + _MAX_BYTES)):
        byte = np.uint64(data[place])
        number |= (byte & _LOW_BITS) << shift
        shift += _SEVEN
        if byte < _MORE:
            return number, place + 1
    return number, -1


@compiled
def from_zigzag(number: np.uint64) -> np.uint64:
    """Return a signed number, modulo 2**64, from the form that gives small ones few bits."""
    return (number >> _ONE) ^ (_ZERO - (number & _ONE))
