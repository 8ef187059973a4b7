"""Cut the keys of a hash range into cells, and tell which sets hold each key of two cells.

Cells are small enough for a core's own cache, whatever the sizes of the sets, and narrow enough
for a key and a mask to fit into one word.
"""

import numpy as np

from crawlgauge.compiled import compiled
from crawlgauge.overlaps.merge_kernel import Words, mark_held, merge_runs

__all__ = ["GROUP", "WORD", "cut_cells", "find_most_keys", "merge_cells"]

GROUP = 16
"""Sets that are merged at once, with a bit for each in the mask: keys of a cell share their
leading 16 bits where there are so many sets."""

WORD = 64
"""Sets whose bits stand in one word of those that are returned."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def cut_cells(
    keys: Words, starts: Words, ends: Words, low: np.uint64, width_bits: int, cell_bits: int
) -> Words:
    """Find where each cell begins in each set.

    Parameters
    ----------
    keys, starts, ends
        The sorted, unique keys of set t are ``keys[starts[t]:ends[t]]``.
    low, width_bits
        The keys lie in ``low … low + 2**width_bits − 1``.
    cell_bits
        There are ``2**cell_bits`` cells of equal width.

    Returns
    -------
    array
        A row for each cell and one more, a column for each set: where its keys begin.
    """
    n_cells, n_sets = 1 << cell_bits, starts.size
    places = np.empty((n_cells + 1, n_sets), dtype=np.uint64)
    shift = np.uint64(width_bits - cell_bits)
    for member in range(n_sets):
        place, end = starts[member], ends[member]
        places[0, member], places[n_cells, member] = place, end
        for cell in range(1, n_cells):
            least = low + (np.uint64(cell) << shift)
            high = end
            while place < high:
                middle = (place + high) >> _ONE
                if keys[middle] < least:
                    place = middle + _ONE
                else:
                    high = middle
            places[cell, member] = place
    return places


@compiled
def find_most_keys(places: Words) -> int:
    """Return how many keys the fullest cell holds, over all sets."""
    most = _ZERO
    for cell in range(places.shape[0] - 1):
        n_keys = _ZERO
        for member in range(places.shape[1]):
            n_keys += places[cell + 1, member] - places[cell, member]
        most = max(most, n_keys)
    return int(np.int64(most))


@compiled
def merge_cells(
    keys: Words, places: Words, cell: int, n_new: int, buffers: Words, words: Words, ends: Words
) -> None:
    """Find all keys that the first `n_new` sets hold in two cells, and which sets hold each.

    Parameters
    ----------
    keys, places
        As for `cut_cells`. The keys of a cell share at least as many leading bits as there are
        new sets, or `GROUP` if that is less.
    cell
        The first of the two.
    n_new
        Keys that only the sets after these hold are passed over.
    buffers
        Room to work in: four rows, twice as long as the fullest cell.
    words
        As long. Filled with a row for each 64 sets, a bit for each set that holds a key; the keys
        of the first cell stand from the start on, those of the second from the middle on.
    ends
        Filled with where the two end.
    """
    middle, union, marks = words.shape[1] // 2, buffers[2], buffers[3]
    shift = np.uint64(min(n_new, GROUP))
    if n_new <= GROUP:
        merged = buffers[_merge_sets(keys, places, cell, 0, n_new, shift, buffers, ends)]
        low = (_ONE << shift) - _ONE
        for half in range(2):
            for place in range(np.uint64(half * middle), ends[half]):
                union[place], words[0, place] = merged[place] & ~low, merged[place] & low
    else:
        _merge_groups(keys, places, cell, n_new, buffers, words, ends)
    for row in range((n_new + WORD - 1) // WORD, words.shape[0]):
        words[row, : np.int64(ends[0])] = _ZERO
        words[row, middle : np.int64(ends[1])] = _ZERO
    for member in range(n_new, places.shape[1]):
        mark_held(union, ends, keys, places[cell : cell + 3, member], shift, marks)
        row, bit = words[member // WORD], np.uint64(member % WORD)
        for half in range(2):
            for place in range(np.uint64(half * middle), ends[half]):
                row[place] |= marks[place] << bit


@compiled
def _merge_sets(
    keys: Words,
    places: Words,
    cell: int,
    first: int,
    last: int,
    shift: np.uint64,
    buffers: Words,
    ends: Words,
) -> int:
    """Merge the sets from `first` to before `last`; return which buffer then holds them."""
    starts = np.empty((2, last - first + 1, 2), dtype=np.uint64)
    out = buffers[0]
    for half in range(2):
        place = np.uint64(half * (out.size // 2))
        for member in range(first, last):
            starts[0, member - first, half] = place
            begin, end = places[cell + half, member], places[cell + half + 1, member]
            bit = _ONE << np.uint64(member - first)
            for k in range(end - begin):
                out[place + k] = (keys[begin + k] << shift) | bit
            place += end - begin
        starts[0, last - first, half] = place
    source = merge_runs(buffers, starts, last - first, (_ONE << shift) - _ONE)
    ends[0], ends[1] = starts[source, 1, 0], starts[source, 1, 1]
    return source


@compiled
def _merge_groups(
    keys: Words, places: Words, cell: int, n_new: int, buffers: Words, words: Words, ends: Words
) -> None:
    """Merge more sets than a group holds: each group, then the keys of all groups."""
    n_groups, middle = (n_new + GROUP - 1) // GROUP, words.shape[1] // 2
    shift, low = np.uint64(GROUP), (_ONE << np.uint64(GROUP)) - _ONE
    union, found = buffers[2], buffers[3]
    starts = np.empty((2, n_groups + 1, 2), dtype=np.uint64)
    starts[0, 0, 0], starts[0, 0, 1] = _ZERO, np.uint64(middle)
    for group in range(n_groups):
        first, last = group * GROUP, min((group + 1) * GROUP, n_new)
        merged = buffers[_merge_sets(keys, places, cell, first, last, shift, buffers, ends)]
        for half in range(2):
            target, begin = starts[0, group, half], np.uint64(half * middle)
            for k in range(ends[half] - begin):
                found[target + k] = merged[begin + k]
            starts[0, group + 1, half] = target + (ends[half] - begin)
    edges = starts[0].copy()
    buffers[0, :] = found
    # The masks of different groups mix, but the keys are right.
    source = merge_runs(buffers, starts, n_groups, low)
    for half in range(2):
        begin, ends[half] = np.uint64(half * middle), starts[source, 1, half]
        for place in range(begin, ends[half]):
            union[place] = buffers[source, place] & ~low
        for group in range(n_groups):
            row, bit = words[group * GROUP // WORD], np.uint64(group * GROUP % WORD)
            at, end = edges[group, half], edges[group + 1, half]
            for place in range(begin, ends[half]):
                is_held = at < end and (found[at] & ~low) == union[place]
                mask = found[at] & low if is_held else _ZERO
                row[place] = (_ZERO if bit == _ZERO else row[place]) | (mask << bit)
                at += np.uint64(is_held)
