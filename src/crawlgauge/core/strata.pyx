"""All URLs of several crawls, each with a code and a mask of crawls: merged, and counted by group.

A mask has a word for each 64 crawls. A code is a number from 0 on, or −1 where there is none.
"""
import numpy as np

from crawlgauge.core.words cimport LOWEST_BIT, i32, i64, u64

NO_GROUP = -1
"""Stands for a group that is not counted."""


cdef i64 count_new(const u64* known, i64 n_known, const u64[::1] keys) noexcept nogil:
    """Return how many of some keys are not known yet; both rise."""
    cdef i64 here = 0, there = 0, n_keys = keys.shape[0], n_same = 0
    cdef u64 key, other
    while here < n_known and there < n_keys:
        # Which one comes first is anybody's guess: so there is nothing to be guessed.
        key, other = known[here], keys[there]
        here += key <= other
        there += other <= key
        n_same += key == other
    return n_keys - n_same


def merge_crawl(
    u64[::1] known not None,
    i32[::1] codes not None,
    u64[:, ::1] masks not None,
    i64 n_known,
    const u64[::1] keys not None,
    const i32[::1] new_codes not None,
    int crawl,
):
    """Merge the keys of a further crawl into those that are known, in place, from the end.

    Parameters
    ----------
    known, codes, masks
        Rising keys, with the code and the mask of each; a known key keeps its code.
    n_known
        How many there are; what is behind is room.
    keys, new_codes
        Of the crawl, rising.
    crawl
        Its number: the bit of the masks that is set.

    Returns
    -------
    int
        How many there are now; −1 if there is too little room, and nothing was done.
    """
    cdef i64 room = min(known.shape[0], codes.shape[0], masks.shape[0]), n_words = masks.shape[1]
    cdef i64 n_new, old = n_known - 1, new = keys.shape[0] - 1, place, word
    cdef u64 bit, key, other, takes, takes_other
    if new_codes.shape[0] != keys.shape[0] or not 0 <= n_known <= room:
        raise ValueError("each key needs a code")
    if not 0 <= crawl < 64 * n_words:
        raise ValueError("the masks have no bit for this crawl")
    bit = <u64> 1 << (crawl % 64)
    if keys.shape[0] == 0:
        return n_known
    with nogil:
        n_new = count_new(&known[0] if n_known else NULL, n_known, keys)
        place = n_known + n_new - 1
        if n_known + n_new <= room:
            while new >= 0 and old >= 0 and place >= 0:
                key, other = known[old], keys[new]
                takes, takes_other = key >= other, other >= key
                known[place] = key if takes else other
                codes[place] = codes[old] if takes else new_codes[new]
                for word in range(n_words):
                    masks[place, word] = masks[old, word] & (0 - takes)
                masks[place, crawl // 64] |= bit & (0 - takes_other)
                old -= takes
                new -= takes_other
                place -= 1
            while new >= 0 and place >= 0:
                known[place], codes[place] = keys[new], new_codes[new]
                for word in range(n_words):
                    masks[place, word] = 0
                masks[place, crawl // 64] = bit
                new -= 1
                place -= 1
    if n_known + n_new > room:
        return -1
    if new >= 0 or place != old:
        raise ValueError("the keys are not sorted")
    return n_known + n_new


cdef inline i64 holds(const u64[:, ::1] masks, i64 row, int crawl) noexcept nogil:
    return masks[row, crawl // 64] >> (crawl % 64) & 1


def check_rows(codes, masks, i64 n_codes, int n_crawls):
    """See that rows are of as many codes and crawls as there are: nothing else is ever written to."""
    if masks.shape[0] != codes.size or masks.shape[1] * 64 < n_crawls or n_crawls < 1:
        raise ValueError("each row needs a code, and a mask with a bit for each crawl")
    if codes.size and not -1 <= codes.min() <= codes.max() < n_codes - 1:
        raise ValueError("a code of more values than there are")
    behind = masks[:, n_crawls // 64 :]
    if np.any(behind[:, 1:]) or np.any(behind[:, :1] >> np.uint64(n_crawls % 64)):
        raise ValueError("a mask of more crawls than there are")


def sum_repeats(const i32[::1] codes not None, const u64[:, ::1] masks not None, i64 n_codes,
                int n_crawls):
    """Return what little can be known of each code in the room that there is for all of them.

    Parameters
    ----------
    codes, masks
        Of each row.
    n_codes
        How many there are; the last stands for −1.
    n_crawls
        How many there are.

    Returns
    -------
    array
        For each code: its rows; the sum of what all pairs of crawls share; what the last crawl but
        one, the last, and both of them hold.
    """
    check_rows(np.asarray(codes), np.asarray(masks), n_codes, n_crawls)
    cdef i64 row, n_held, in_last, in_before, code, word
    cdef int last = n_crawls - 1, before = max(n_crawls - 2, 0)
    cdef u64 mask
    sums_array = np.zeros((n_codes, 5), np.int64)
    cdef i64[:, ::1] sums = sums_array
    with nogil:
        for row in range(codes.shape[0]):
            n_held = 0
            for word in range(masks.shape[1]):
                mask = masks[row, word]
                while mask:
                    n_held += 1
                    mask &= mask - 1
            in_last, in_before = holds(masks, row, last), holds(masks, row, before)
            code = codes[row] if codes[row] >= 0 else n_codes - 1
            sums[code, 0] += 1
            sums[code, 1] += n_held * (n_held - 1) // 2
            sums[code, 2] += in_before
            sums[code, 3] += in_last
            sums[code, 4] += in_before & in_last
    return sums_array


def tally_groups(
    const i32[::1] codes not None,
    const u64[:, ::1] masks not None,
    const i32[::1] group_of_code not None,
    i64 n_groups,
    int n_crawls,
):
    """Count for each group how many of its rows each two crawls share.

    Parameters
    ----------
    codes, masks
        Of each row.
    group_of_code
        For each code its group, or `NO_GROUP`; the last stands for −1.
    n_groups, n_crawls
        How many there are.

    Returns
    -------
    array
        A matrix for each group, filled on and above the diagonal, which holds the sizes.
    """
    check_rows(np.asarray(codes), np.asarray(masks), group_of_code.shape[0], n_crawls)
    cdef i64 row, group, word
    cdef int n_held, one, other
    cdef u64 mask
    counts_array = np.zeros((n_groups, n_crawls, n_crawls), np.int32)
    cdef i32[:, :, ::1] counts = counts_array
    cdef i32[::1] held = np.empty(n_crawls, np.int32)
    with nogil:
        for row in range(codes.shape[0]):
            group = group_of_code[codes[row] if codes[row] >= 0 else group_of_code.shape[0] - 1]
            if not 0 <= group < n_groups:
                continue
            n_held = 0
            for word in range(masks.shape[1]):
                mask = masks[row, word]
                while mask:
                    held[n_held] = <i32> (64 * word + LOWEST_BIT(mask))
                    n_held += 1
                    mask &= mask - 1
            for one in range(n_held):
                for other in range(one, n_held):
                    counts[group, held[one], held[other]] += 1
    return counts_array
