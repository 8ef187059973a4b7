"""Merge the keys of crawls, each key with its stratum and a mask of crawls, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.words import count_bits, first_bit

__all__ = [
    "NO_GROUP",
    "count_new",
    "merge_crawl",
    "sum_repeats",
    "tally_groups",
    "tally_known_alive",
]

Keys = NDArray[np.uint64]
Codes = NDArray[np.int32]
Masks = NDArray[np.uint64]

NO_GROUP = -1
"""Stands for a group that is not counted."""

_WORD = 64
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def count_new(known: Keys, keys: Keys) -> int:
    """Return how many of some keys are not known yet; both are sorted and unique."""
    n_new, place = 0, 0
    for key in keys:
        while place < known.size and known[place] < key:
            place += 1
        n_new += place == known.size or known[place] != key
    return n_new


@compiled
def merge_crawl(
    known: Keys,
    known_codes: Codes,
    masks: Masks,
    n_known: int,
    n_new: int,
    keys: Keys,
    codes: Codes,
    crawl: int,
) -> None:
    """Merge the keys of a further crawl into those that are known, in place, from the end.

    Parameters
    ----------
    known, known_codes, masks
        With room for all; a mask has a word for each 64 crawls. A known key keeps its code.
    n_known, n_new
        How many rows there are, and how many will come: `count_new`.
    keys, codes
        Of the crawl; sorted and unique.
    crawl
        Its number: the bit of the masks that is set.
    """
    word, bit = crawl // _WORD, _ONE << np.uint64(crawl % _WORD)
    old, new, place = n_known - 1, keys.size - 1, n_known + n_new - 1
    while new >= 0:
        if old >= 0 and known[old] >= keys[new]:
            is_held = known[old] == keys[new]
            known[place], known_codes[place] = known[old], known_codes[old]
            for k in range(masks.shape[1]):
                masks[place, k] = masks[old, k]
            if is_held:
                masks[place, word] |= bit
                new -= 1
            old -= 1
        else:
            known[place], known_codes[place] = keys[new], codes[new]
            for k in range(masks.shape[1]):
                masks[place, k] = _ZERO
            masks[place, word] = bit
            new -= 1
        place -= 1


@compiled
def sum_repeats(codes: Codes, masks: Masks, n_codes: int, n_crawls: int) -> NDArray[np.int64]:
    """Return what little can be known of each code in the room that there is for all of them.

    Parameters
    ----------
    codes, masks
        Of each key; the last code, ``n_codes − 1``, stands for none (−1).
    n_codes, n_crawls
        How many there are.

    Returns
    -------
    array
        For each code: its keys; the sum of what all pairs of crawls share; what the last crawl
        but one, the last, and both of them hold.
    """
    sums = np.zeros((n_codes, 5), dtype=np.int64)
    last, before = n_crawls - 1, max(n_crawls - 2, 0)
    for row in range(codes.size):
        n_held = 0
        for k in range(masks.shape[1]):
            n_held += count_bits(masks[row, k])
        in_last = _holds(masks, row, last)
        in_before = _holds(masks, row, before)
        code = codes[row]
        sums[code, 0] += 1
        sums[code, 1] += n_held * (n_held - 1) // 2
        sums[code, 2] += in_before
        sums[code, 3] += in_last
        sums[code, 4] += in_before & in_last
    return sums


@compiled
def _holds(masks: Masks, row: int, crawl: int) -> int:
    """Return 1 if a crawl holds the key of a row, else 0."""
    return int(np.int64((masks[row, crawl // _WORD] >> np.uint64(crawl % _WORD)) & _ONE))


@compiled
def tally_groups(
    codes: Codes, masks: Masks, group_of_code: Codes, n_groups: int, n_crawls: int
) -> NDArray[np.int32]:
    """Count for each group how many of its keys each two crawls share.

    Parameters
    ----------
    codes, masks
        Of each key.
    group_of_code
        For each code its group, or `NO_GROUP`; its last entry is that of keys without a code.
    n_groups, n_crawls
        How many there are.

    Returns
    -------
    array
        A matrix for each group, filled on and above the diagonal, which holds the sizes.
    """
    counts = np.zeros((n_groups, n_crawls, n_crawls), dtype=np.int32)
    held = np.empty(n_crawls, dtype=np.int64)
    for row in range(codes.size):
        group = group_of_code[codes[row]]
        if group == NO_GROUP:
            continue
        n_held = 0
        for k in range(masks.shape[1]):
            mask = masks[row, k]
            while mask != _ZERO:
                held[n_held] = k * _WORD + first_bit(mask)
                mask &= mask - _ONE
                n_held += 1
        for one in range(n_held):
            for other in range(one, n_held):
                counts[group, held[one], held[other]] += 1
    return counts


@compiled
def tally_known_alive(
    codes: Codes, masks: Masks, group_of_code: Codes, n_groups: int, n_crawls: int
) -> NDArray[np.int32]:
    """Count keys that are seen before and after three crawls by which of these hold them.

    Parameters
    ----------
    codes, masks, group_of_code, n_groups, n_crawls
        As for `tally_groups`.

    Returns
    -------
    array
        For each group and each first crawl of three, eight counts: 4 if the middle one holds
        the key, plus 2 if the first does, plus 1 if the last does.
    """
    counts = np.zeros((n_groups, n_crawls, 8), dtype=np.int32)
    held = np.empty(n_crawls, dtype=np.int64)
    for row in range(codes.size):
        group = group_of_code[codes[row]]
        if group == NO_GROUP:
            continue
        first, last = n_crawls, -1
        for crawl in range(n_crawls):
            held[crawl] = _holds(masks, row, crawl)
            if held[crawl]:
                first, last = min(first, crawl), crawl
        for crawl in range(first + 1, last - 2):
            which = 4 * held[crawl + 1] + 2 * held[crawl] + held[crawl + 2]
            counts[group, crawl, which] += 1
    return counts
