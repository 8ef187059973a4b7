"""Count capture histories and pairs over the merged keys of a hash range, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.overlaps.cell_kernel import WORD, find_most_keys, merge_cells
from crawlgauge.overlaps.merge_kernel import Words

__all__ = [
    "add_to_tally",
    "count_histories",
    "count_missing",
    "count_pairs",
    "list_tally",
    "make_tally",
]

Counts = NDArray[np.int64]

_DIRECT_SETS = 18
"""Up to so many sets a counter for each possible mask takes little room: 2 MB."""

_FIRST_SLOTS = 1 << 12
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: multiplied by it, similar masks come to lie far apart."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def count_histories(keys: Words, places: Words, n_new: int) -> tuple[Words, Counts]:
    """Count the keys that the first `n_new` sets hold by which sets hold them.

    Parameters
    ----------
    keys, places
        As for `cut_cells`; at most 64 sets.
    n_new
        Keys that only the sets after these hold are not counted.

    Returns
    -------
    tuple
        The masks that occur, in no order, and how many keys have each.
    """
    n_cells, n_sets = places.shape[0] - 1, places.shape[1]
    half = max(1, find_most_keys(places))
    buffers = np.empty((4, 2 * half), dtype=np.uint64)
    words = np.empty((1, 2 * half), dtype=np.uint64)
    ends = np.empty(2, dtype=np.uint64)
    is_direct = n_sets <= _DIRECT_SETS
    counters = np.zeros(1 << n_sets if is_direct else 0, dtype=np.int64)
    tally, n_masks = make_tally(_FIRST_SLOTS), 0
    for cell in range(0, n_cells, 2):
        merge_cells(keys, places, cell, n_new, buffers, words, ends)
        for part in range(2):
            masks = words[0, part * half : int(np.int64(ends[part]))]
            if is_direct:
                for mask in masks:
                    counters[mask] += 1
            else:
                tally, n_masks = _tally_each(tally, n_masks, masks)
    if is_direct:
        found = np.flatnonzero(counters)
        return found.astype(np.uint64), counters[found]
    return list_tally(tally, n_masks)


@compiled
def make_tally(n_slots: int) -> Words:
    """Return an empty tally: a row of masks, 0 where a slot is free, and a row of counts.

    Parameters
    ----------
    n_slots
        A power of two, more than the different masks that will be added.
    """
    return np.zeros((2, n_slots), dtype=np.uint64)


@compiled
def add_to_tally(tally: Words, masks: Words, counts: Counts) -> None:
    """Add counts of masks to a tally that has room for them."""
    for k in range(masks.size):
        slot = _find_slot(tally, masks[k])
        tally[0, slot] = masks[k]
        tally[1, slot] += np.uint64(counts[k])


@compiled
def count_missing(tally: Words, masks: Words) -> int:
    """Return how many of some different masks a tally does not hold."""
    n_missing = 0
    for mask in masks:
        n_missing += tally[0, _find_slot(tally, mask)] == _ZERO
    return n_missing


@compiled
def _find_slot(tally: Words, mask: np.uint64) -> int:
    """Return the slot of a mask, or the free one that it would take.

    A tally is never full, so that a free slot ends the search.
    """
    n_slots: int = tally.shape[1]
    slot = int(np.int64((mask * _GOLDEN) >> np.uint64(32))) & (n_slots - 1)
    while tally[0, slot] != _ZERO and tally[0, slot] != mask:
        slot = (slot + 1) & (n_slots - 1)
    return slot


@compiled
def _tally_each(tally: Words, n_masks: int, masks: Words) -> tuple[Words, int]:
    """Count each mask once, in a tally that grows before it is more than half full."""
    for mask in masks:
        slot = _find_slot(tally, mask)
        if tally[0, slot] == _ZERO:
            tally[0, slot] = mask
            n_masks += 1
        tally[1, slot] += _ONE
        if 2 * n_masks > tally.shape[1]:
            larger = make_tally(4 * tally.shape[1])
            add_to_tally(larger, *list_tally(tally, n_masks))
            tally = larger
    return tally, n_masks


@compiled
def list_tally(tally: Words, n_masks: int) -> tuple[Words, Counts]:
    """Return the masks of a tally, in no order, and their counts."""
    masks, counts = np.empty(n_masks, dtype=np.uint64), np.empty(n_masks, dtype=np.int64)
    n_found = 0
    for slot in range(tally.shape[1]):
        if tally[0, slot] != _ZERO:
            masks[n_found], counts[n_found] = tally[0, slot], np.int64(tally[1, slot])
            n_found += 1
    return masks, counts


@compiled
def count_pairs(keys: Words, places: Words, n_new: int) -> Counts:
    """Count how many keys each of the first `n_new` sets shares with every set, itself too.

    Each set becomes a row of bits, one for each key; what two sets share are the ones that their
    rows have in common. The cost does not depend on how many sets hold a key.

    Parameters
    ----------
    keys, places
        As for `cut_cells`; any number of sets.
    n_new
        Sets whose pairs are wanted.

    Returns
    -------
    array
        A row for each of the first `n_new` sets, a column for each set. Of two sets of the first
        ones, only the row of the earlier is filled.
    """
    n_cells, n_sets = places.shape[0] - 1, places.shape[1]
    n_blocks = (n_sets + WORD - 1) // WORD
    half = max(1, find_most_keys(places))
    buffers = np.empty((4, 2 * half), dtype=np.uint64)
    words = np.empty((n_blocks, 2 * half), dtype=np.uint64)
    ends = np.empty(2, dtype=np.uint64)
    rows = np.empty((n_blocks * WORD, 2 * (half // WORD + 1)), dtype=np.uint64)
    n_shared = np.zeros((n_new, n_sets), dtype=np.int64)
    for cell in range(0, n_cells, 2):
        merge_cells(keys, places, cell, n_new, buffers, words, ends)
        n_columns = 0
        for part in range(2):
            end = int(np.int64(ends[part]))
            for start in range(part * half, end, WORD):
                for block in range(n_blocks):
                    _turn(words[block, start : min(start + WORD, end)], rows, block, n_columns)
                n_columns += 1
        for one in range(n_new):
            for other in range(one, n_sets):
                n_shared[one, other] += _count_common(
                    rows[one, :n_columns], rows[other, :n_columns]
                )
    return n_shared


@compiled
def _turn(masks: Words, rows: Words, block: int, column: int) -> None:
    """Turn up to 64 masks of 64 sets into one word for each set, with a bit for each mask.

    Halves, quarters and so on of the square of bits change places, as in Warren, Hacker's
    Delight, 7-3.
    """
    square = np.zeros(WORD, dtype=np.uint64)
    square[: masks.size] = masks
    width, lower = 32, np.uint64(0xFFFFFFFF)
    while width > 0:
        shift = np.uint64(width)
        for k in range(WORD):
            if k & width == 0:
                moved = ((square[k] >> shift) ^ square[k + width]) & lower
                square[k] ^= moved << shift
                square[k + width] ^= moved
        width //= 2
        lower ^= lower << np.uint64(width)
    for k in range(WORD):
        rows[block * WORD + k, column] = square[k]


@compiled
def _count_common(one: Words, other: Words) -> int:
    """Count the bits that are set in both rows."""
    total = _ZERO
    for k in range(one.size):
        # Pairs, nibbles and bytes of bits are added up side by side; the compiler knows the idiom.
        bits = one[k] & other[k]
        bits -= (bits >> _ONE) & np.uint64(0x5555555555555555)
        bits = (bits & np.uint64(0x3333333333333333)) + (
            (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return int(np.int64(total))
