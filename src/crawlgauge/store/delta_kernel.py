"""Decode keys from a page of a Parquet file (DELTA_BINARY_PACKED), in compiled code.

A page holds its first key and then blocks of differences. A block gives the least of its
differences, and how much more each of them is: in parts of equal length, each with as many bits
for a number as the largest of it needs.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.store.page_kernel import N_BYTES, N_KEYS, START
from crawlgauge.store.varint_kernel import from_zigzag, read_varint
from crawlgauge.words import load_word

__all__ = ["FULL", "MAX_BLOCK", "N_STATES", "OVER", "REACHED", "ROOM", "WRONG", "decode_keys"]

_PAGE, _AT, _END, _N_LEFT, _KEY, _PART_KEYS, _N_PARTS = range(7)
"""Where decoding is: the next page, the place in the data, where the page ends, how many of its
keys are left, the last key, how many keys a part of a block has, and how many parts a block has."""
N_STATES = 7

REACHED, OVER, FULL, WRONG = range(4)
"""Why decoding ended: at a key that is too large, at the end of all pages, for want of room, or
since the data are no such page."""

MAX_BLOCK = 1 << 12
"""Keys in a block at most; all programs write 128."""

ROOM = 16
"""How many bytes behind a page may be read, whatever they are."""

_ZERO, _ONE, _THREE, _SEVEN, _EIGHT = (np.uint64(number) for number in (0, 1, 3, 7, 8))
_WORD_BITS = np.uint64(64)
_ONE_LOAD = np.uint64(57)
"""Numbers of at most so many bits are in one word, at whatever bit of a byte they begin."""


@compiled
def decode_keys(
    data: NDArray[np.uint8],
    pages: NDArray[np.int64],
    last: np.uint64,
    state: NDArray[np.uint64],
    out: NDArray[np.uint64],
    place: int,
    stop: int,
    rest: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Decode keys of pages, up to the end of the block in which one is too large.

    Parameters
    ----------
    data, pages
        A row of facts for each page in the data, as `page_kernel.find_pages` fills them; behind
        each page are `ROOM` further bytes.
    last
        The largest key that is wanted.
    state
        Where decoding is; all zeros before the first page. Updated.
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
    while True:
        if state[_N_LEFT] == _ZERO:
            if state[_PAGE] == np.uint64(pages.shape[0]):
                return place, 0, OVER
            if place >= stop:
                return place, 0, FULL
            if not _begin_page(data, pages[int(np.int64(state[_PAGE]))], state):
                return place, 0, WRONG
            if state[_KEY] > last:
                rest[0] = state[_KEY]
                return place, 1, REACHED
            out[place] = state[_KEY]
            place += 1
        place, n_rest, why = _decode_page(data, last, state, out, place, stop, rest)
        if why != OVER:
            return place, n_rest, why


@compiled
def _begin_page(
    data: NDArray[np.uint8], facts: NDArray[np.int64], state: NDArray[np.uint64]
) -> bool:
    """Read what a page begins with; return whether it is such a page."""
    start, end = facts[START], facts[START] + facts[N_BYTES]
    block, at = read_varint(data, start, end)
    n_parts, at = read_varint(data, at, end)
    n_keys, at = read_varint(data, at, end)
    first, at = read_varint(data, at, end)
    if at < 0 or n_keys == _ZERO or n_keys != np.uint64(facts[N_KEYS]):
        return False
    if not _ZERO < block <= np.uint64(MAX_BLOCK) or not _ZERO < n_parts <= block:
        return False
    state[_PAGE] += _ONE
    state[_AT], state[_END], state[_N_LEFT] = at, end, n_keys - _ONE
    state[_KEY] = from_zigzag(first)
    state[_PART_KEYS], state[_N_PARTS] = block // n_parts, n_parts
    return bool(block % n_parts == _ZERO and block // n_parts % _EIGHT == _ZERO)


@compiled
def _decode_page(
    data: NDArray[np.uint8],
    last: np.uint64,
    state: NDArray[np.uint64],
    out: NDArray[np.uint64],
    place: int,
    stop: int,
    rest: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Decode what is left of a page."""
    at, n_left, key = int(np.int64(state[_AT])), int(np.int64(state[_N_LEFT])), state[_KEY]
    part_keys, n_parts = int(np.int64(state[_PART_KEYS])), int(np.int64(state[_N_PARTS]))
    end = int(np.int64(state[_END]))
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
    state[_AT], state[_N_LEFT], state[_KEY] = at, n_left, key


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
