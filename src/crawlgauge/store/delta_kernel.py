"""Decode keys from a page of a Parquet file (DELTA_BINARY_PACKED), in compiled code.

A page holds its first key and then blocks of differences. A block gives the least of its
differences, and how much more each of them is: in parts of equal length, each with as many bits
for a number as the largest of it needs.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.store.varint_kernel import from_zigzag, read_varint
from crawlgauge.words import load_word

__all__ = [
    "AT",
    "FULL",
    "KEY",
    "MAX_BLOCK",
    "N_LEFT",
    "N_PARTS",
    "N_STATES",
    "OVER",
    "PART_KEYS",
    "REACHED",
    "ROOM",
    "WRONG",
    "begin_page",
    "decode_keys",
]

AT, N_LEFT, KEY, PART_KEYS, N_PARTS = range(5)
"""Where decoding is: the place in the data, how many keys of the page are left, the last key, how
many keys a part of a block has, and how many parts a block has."""
N_STATES = 5

REACHED, OVER, FULL, WRONG = range(4)
"""Why decoding ended: at a key that is too large, at the page's end, for want of room, or since
the data are no such page."""

MAX_BLOCK = 1 << 12
"""Keys in a block at most; all programs write 128."""

ROOM = 16
"""How many bytes behind a page may be read, whatever they are."""

_ZERO, _ONE, _THREE, _SEVEN, _EIGHT = (np.uint64(number) for number in (0, 1, 3, 7, 8))
_WORD_BITS = np.uint64(64)
_ONE_LOAD = np.uint64(57)
"""Numbers of at most so many bits are in one word, at whatever bit of a byte they begin."""


@compiled
def begin_page(data: NDArray[np.uint8], start: int, end: int, state: NDArray[np.uint64]) -> bool:
    """Read what a page begins with: how it is made, and its first key.

    Parameters
    ----------
    data, start, end
        The page is ``data[start:end]``, with `ROOM` behind it.
    state
        Filled.

    Returns
    -------
    bool
        Whether it is such a page.
    """
    block, at = read_varint(data, start, end)
    n_parts, at = read_varint(data, at, end)
    n_keys, at = read_varint(data, at, end)
    first, at = read_varint(data, at, end)
    if at < 0 or not 0 < block <= np.uint64(MAX_BLOCK) or not 0 < n_parts <= block or n_keys == 0:
        return False
    state[AT], state[N_LEFT], state[KEY] = at, n_keys - _ONE, from_zigzag(first)
    state[PART_KEYS], state[N_PARTS] = block // n_parts, n_parts
    return bool(block % n_parts == 0 and block // n_parts % _EIGHT == 0)


@compiled
def decode_keys(
    data: NDArray[np.uint8],
    end: int,
    last: np.uint64,
    state: NDArray[np.uint64],
    out: NDArray[np.uint64],
    place: int,
    stop: int,
    rest: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Decode keys of a page, up to the end of the block in which one is too large.

    Parameters
    ----------
    data, end
        The page, which ends there.
    last
        The largest key that is wanted.
    state
        Where decoding is; updated.
    out, place, stop
        Filled with keys that are wanted, from `place` to before `stop` at most. There must be room
        for a whole block.
    rest
        Filled with keys that are too large; as long as `MAX_BLOCK`.

    Returns
    -------
    int
        Where in `out` the keys end.
    int
        How many are in `rest`.
    int
        Why it ended.
    """
    at, n_left, key = int(np.int64(state[AT])), int(np.int64(state[N_LEFT])), state[KEY]
    part_keys, n_parts = int(np.int64(state[PART_KEYS])), int(np.int64(state[N_PARTS]))
    while n_left > 0:
        if place + part_keys * n_parts > stop:
            _keep(state, at, n_left, key)
            return place, 0, FULL
        first = place
        n_taken = min(part_keys * n_parts, n_left)
        at, key = _decode_block(data, at, end, part_keys, n_parts, key, out, place, n_taken)
        if at < 0:
            return place, 0, WRONG
        place += n_taken
        n_left -= n_taken
        if key > last:
            n_rest = 0
            while place > first and out[place - 1] > last:
                place -= 1
                n_rest += 1
            for k in range(n_rest):
                rest[k] = out[place + k]
            _keep(state, at, n_left, key)
            return place, n_rest, REACHED
    _keep(state, at, n_left, key)
    return place, 0, OVER


@compiled
def _keep(state: NDArray[np.uint64], at: int, n_left: int, key: np.uint64) -> None:
    state[AT], state[N_LEFT], state[KEY] = at, n_left, key


@compiled
def _decode_block(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    part_keys: int,
    n_parts: int,
    key: np.uint64,
    out: NDArray[np.uint64],
    place: int,
    n_taken: int,
) -> tuple[int, np.uint64]:
    """Decode a block, of which only so many keys count; return where it ends, and the last key."""
    least, widths = read_varint(data, at, end)
    at, least = widths + n_parts, from_zigzag(least)
    if widths < 0 or at > end:
        return -1, key
    for part in range((n_taken + part_keys - 1) // part_keys):
        width = np.uint64(data[widths + part])
        n_bytes = int(np.int64(width)) * (part_keys // 8)
        if width > _WORD_BITS or at + n_bytes > end:
            return -1, key
        n_keys = min(part_keys, n_taken - part * part_keys)
        if width <= _ONE_LOAD:
            key = _unpack(data, at, width, least, key, out, place, n_keys)
        else:
            key = _unpack_wide(data, at, width, least, key, out, place, n_keys)
        place += n_keys
        at += n_bytes
    return at, key


@compiled
def _unpack(
    data: NDArray[np.uint8],
    at: int,
    width: np.uint64,
    least: np.uint64,
    key: np.uint64,
    out: NDArray[np.uint64],
    place: int,
    n_taken: int,
) -> np.uint64:
    """Add up differences of `width` bits each; return the last key."""
    # Unsigned, so that numba does not look for negative places each time.
    mask, bit, start, target = (_ONE << width) - _ONE, _ZERO, np.uint64(at), np.uint64(place)
    for number in range(np.uint64(n_taken)):
        word = load_word(data, int(np.int64(start + (bit >> _THREE))))
        key += least + ((word >> (bit & _SEVEN)) & mask)
        out[target + number] = key
        bit += width
    return key


@compiled
def _unpack_wide(
    data: NDArray[np.uint8],
    at: int,
    width: np.uint64,
    least: np.uint64,
    key: np.uint64,
    out: NDArray[np.uint64],
    place: int,
    n_taken: int,
) -> np.uint64:
    """Do the same where a number may reach into a second word."""
    mask = ~_ZERO >> (_WORD_BITS - width)
    for number in range(n_taken):
        bit = np.uint64(number) * width
        start, shift = at + int(np.int64(bit >> _THREE)), bit & _SEVEN
        more = load_word(data, start) >> shift
        if shift > _ZERO:
            more |= load_word(data, start + 8) << (_WORD_BITS - shift)
        key += least + (more & mask)
        out[place + number] = key
    return key
