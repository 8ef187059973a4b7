"""Short texts and their numbers: each distinct text is kept once, in compiled code."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.xxh64 import xxh64
from crawlgauge.words import copy_bytes, load_word

__all__ = [
    "FULL",
    "MAX_TEXT_BYTES",
    "NO_CODE",
    "Dictionary",
    "TextTable",
    "compare_texts",
    "find_code",
    "is_same",
    "renumber",
]

FULL = -2
"""Returned instead of a code: the table must be made larger first."""

NO_CODE = -1
"""Stands for no text."""

MAX_TEXT_BYTES = 255
"""A host has 253 bytes at most, a media type 127 on each side of its slash (RFC 6838)."""

_MIN_TEXTS = 1 << 10
_MIN_BYTES = 1 << 15
_WORD = 8


class TextTable(NamedTuple):
    """The arrays of a `Dictionary`, as compiled code takes them.

    Parameters
    ----------
    slots
        An open-addressing table: the code of a text, or `NO_CODE`. Twice as long as there can be
        texts, a power of two, so that a search always meets an empty slot.
    hashes
        For each code its text's hash.
    starts, texts
        Text c is ``texts[starts[c]:starts[c + 1]]``.
    n_texts
        A single number.
    """

    slots: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    texts: NDArray[np.uint8]
    n_texts: NDArray[np.int64]


@compiled
def find_code(
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    texts: NDArray[np.uint8],
    n_texts: NDArray[np.int64],
    data: NDArray[np.uint8],
    start: int,
    end: int,
) -> int:
    """Return the code of ``data[start:end]``, which is entered if it is new.

    Parameters
    ----------
    slots, hashes, starts, texts, n_texts
        A `TextTable`, searched and added to. Each array by itself: numba counts references to
        those of a tuple whenever it is handed on, which would take longer than the search.
    data, start, end
        The text, of at most `MAX_TEXT_BYTES` bytes.

    Returns
    -------
    int
        The code, or `FULL` if the text is new and there may be no room for it.
    """
    text_hash = xxh64(data, start, end)
    mask = slots.size - 1
    slot = int(np.int64(text_hash)) & mask
    code = int(slots[slot])
    # At most half of the slots are taken, so the search ends.
    while code != NO_CODE:
        if hashes[code] == text_hash:
            first = starts[code]
            if starts[code + 1] - first == end - start and _is_text(
                data, start, texts, first, end - start
            ):
                return code
        slot = (slot + 1) & mask
        code = int(slots[slot])
    code = int(n_texts[0])
    first = starts[code]
    if code == hashes.size or first + MAX_TEXT_BYTES > texts.size:
        return FULL
    copy_bytes(data, start, end, texts, first)
    starts[code + 1] = first + end - start
    hashes[code] = text_hash
    slots[slot] = code
    n_texts[0] = code + 1
    return code


@compiled
def _find_codes(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32],
    codes: NDArray[np.int32],
    first: int,
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    texts: NDArray[np.uint8],
    n_texts: NDArray[np.int64],
) -> int:
    """Fill `codes` from number `first` on; return where it stopped as the table is full."""
    for number in range(first, codes.size):
        start, end = int(offsets[number]), int(offsets[number + 1])
        code = find_code(slots, hashes, starts, texts, n_texts, data, start, end)
        if code == FULL:
            return number
        codes[number] = code
    return codes.size


@compiled
def is_same(
    data: NDArray[np.uint8], start: int, other: NDArray[np.uint8], other_start: int, n_bytes: int
) -> bool:
    """Tell whether `n_bytes` bytes from two places on are the same; there are eight at least."""
    last = n_bytes - _WORD
    place = 0
    while place < last:
        if load_word(data, start + place) != load_word(other, other_start + place):
            return False
        place += _WORD
    # The last word overlaps the one before.
    return bool(load_word(data, start + last) == load_word(other, other_start + last))


@compiled
def _is_text(
    data: NDArray[np.uint8], start: int, texts: NDArray[np.uint8], first: int, n_bytes: int
) -> bool:
    """Do as `is_same` does, for any number of bytes."""
    if n_bytes >= _WORD:
        return is_same(data, start, texts, first, n_bytes)
    for place in range(n_bytes):  # noqa: SIM110 - numba knows no generators
        if data[start + place] != texts[first + place]:
            return False
    return True


@compiled
def compare_texts(starts: NDArray[np.int64], texts: NDArray[np.uint8], one: int, other: int) -> int:
    """Return a number below, equal to or above 0 as one text sorts before the other; none last."""
    if one == other:
        return 0
    if one == NO_CODE or other == NO_CODE:
        return 1 if one == NO_CODE else -1
    place, end = starts[one], starts[one + 1]
    other_place, other_end = starts[other], starts[other + 1]
    while place < end and other_place < other_end:
        if texts[place] != texts[other_place]:
            return -1 if texts[place] < texts[other_place] else 1
        place += 1
        other_place += 1
    return -1 if place == end else 1


@compiled
def renumber(codes: NDArray[np.int32], n_texts: int) -> NDArray[np.int32]:
    """Give texts new codes in the order of their first use, written over the old ones.

    Parameters
    ----------
    codes
        Codes in use, or `NO_CODE`.
    n_texts
        How many codes there have been.

    Returns
    -------
    ndarray
        For each new code the old one.
    """
    new_codes = np.full(n_texts, NO_CODE, dtype=np.int32)
    order = np.empty(n_texts, dtype=np.int32)
    n_used = 0
    for place in range(codes.size):
        old = codes[place]
        if old == NO_CODE:
            continue
        if new_codes[old] == NO_CODE:
            new_codes[old] = n_used
            order[n_used] = old
            n_used += 1
        codes[place] = new_codes[old]
    return order[:n_used].copy()


@compiled
def _copy_texts(table: TextTable, order: NDArray[np.int32], target: TextTable) -> None:
    """Copy distinct texts in a given order to an empty table that has room for them."""
    mask = target.slots.size - 1
    for code in range(order.size):
        old = order[code]
        first, start, end = target.starts[code], table.starts[old], table.starts[old + 1]
        copy_bytes(table.texts, start, end, target.texts, first)
        target.starts[code + 1] = first + end - start
        target.hashes[code] = table.hashes[old]
        slot = np.int64(table.hashes[old]) & mask
        while target.slots[slot] != NO_CODE:
            slot = (slot + 1) & mask
        target.slots[slot] = code
    target.n_texts[0] = order.size


class Dictionary:
    """Numbers for short texts, from 0 on.

    Attributes
    ----------
    table
        For compiled code, until the next call of a method that changes it.

    Examples
    --------
    >>> dictionary = Dictionary()
    >>> [dictionary.code(text) for text in (b"text/html", b"image/png", b"text/html")]
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self.table = _make_table(_MIN_TEXTS, _MIN_BYTES)

    def __len__(self) -> int:
        return int(self.table.n_texts[0])

    def code(self, text: bytes) -> int:
        """Return the code of a text of at most `MAX_TEXT_BYTES` bytes, new or not."""
        data = np.frombuffer(text or b"\0", dtype=np.uint8)
        return int(self.codes(data, np.array([0, len(text)], dtype=np.int32))[0])

    def codes(self, data: NDArray[np.uint8], offsets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of the texts ``data[offsets[k]:offsets[k + 1]]``, as `code` does."""
        longest = int(np.diff(offsets).max(initial=0))
        if longest > MAX_TEXT_BYTES:
            raise ValueError(f"a text of {longest} bytes is longer than {MAX_TEXT_BYTES}")
        codes = np.empty(offsets.size - 1, dtype=np.int32)
        done = 0
        while done < codes.size:
            self.make_room()
            done = _find_codes(data, offsets, codes, done, *self.table)
        return codes

    def make_room(self) -> None:
        """See that there is room for one more text at least; what is short is doubled."""
        table = self.table
        n_texts, n_bytes = self._sizes()
        max_texts, max_bytes = table.hashes.size, table.texts.size
        is_short = n_texts == max_texts, n_bytes + MAX_TEXT_BYTES > max_bytes
        if any(is_short):
            larger = _make_table(max_texts << is_short[0], max_bytes << is_short[1])
            _copy_texts(table, np.arange(n_texts, dtype=np.int32), larger)
            self.table = larger

    def keep(self, order: NDArray[np.int32]) -> None:
        """Keep some texts only; their new codes are their places in `order`, as of `renumber`."""
        old = self.table
        n_bytes = int((old.starts[1:][order] - old.starts[:-1][order]).sum())
        n_texts = max(_MIN_TEXTS, 1 << (order.size).bit_length())
        self.table = _make_table(n_texts, max(_MIN_BYTES, 2 * n_bytes))
        _copy_texts(old, order, self.table)

    def texts(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return all bytes, and where each text begins and the last ends."""
        n_texts, n_bytes = self._sizes()
        return self.table.texts[:n_bytes], self.table.starts[: n_texts + 1]

    def _sizes(self) -> tuple[int, int]:
        n_texts = len(self)
        return n_texts, int(self.table.starts[n_texts])


def _make_table(max_texts: int, max_bytes: int) -> TextTable:
    return TextTable(
        slots=np.full(2 * max_texts, NO_CODE, dtype=np.int32),
        hashes=np.empty(max_texts, dtype=np.uint64),
        starts=np.zeros(max_texts + 1, dtype=np.int64),
        texts=np.empty(max_bytes, dtype=np.uint8),
        n_texts=np.zeros(1, dtype=np.int64),
    )
