"""Merge sorted sets of keys: which crawls hold each key, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["add_pairs", "merge_masks"]


@compiled
def take_smallest(
    keys: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    heads: NDArray[np.int64],
    members: NDArray[np.int64],
) -> int:
    """Take the smallest key that is left off the sets that hold it.

    Parameters
    ----------
    keys, bounds
        The sorted, unique keys of crawl k are ``keys[bounds[k]:bounds[k + 1]]``.
    heads
        For each crawl its first key that is left; moved on.
    members
        Filled with the crawls that hold the key, in rising order.

    Returns
    -------
    int
        How many crawls hold it: at least one as long as any key is left.
    """
    smallest = np.uint64(0xFFFFFFFFFFFFFFFF)
    for crawl in range(heads.size):
        if heads[crawl] < bounds[crawl + 1] and keys[heads[crawl]] < smallest:
            smallest = keys[heads[crawl]]
    n_members = 0
    for crawl in range(heads.size):
        if heads[crawl] < bounds[crawl + 1] and keys[heads[crawl]] == smallest:
            members[n_members] = crawl
            n_members += 1
            heads[crawl] += 1
    return n_members


@compiled
def merge_masks(
    keys: NDArray[np.uint64], bounds: NDArray[np.int64], masks: NDArray[np.uint64]
) -> int:
    """Fill `masks` with the crawls of each distinct key, a bit for each of at most 64 crawls.

    Every round takes at least one key off the sets, so it ends after at most `keys.size` rounds.

    Parameters
    ----------
    keys, bounds
        As for `take_smallest`.
    masks
        Filled; as long as `keys`.

    Returns
    -------
    int
        How many distinct keys there are.
    """
    heads = bounds[:-1].copy()
    members = np.empty(heads.size, dtype=np.int64)
    n_left, n_distinct = keys.size, 0
    while n_left > 0:
        n_members = take_smallest(keys, bounds, heads, members)
        mask = np.uint64(0)
        for member in range(n_members):
            mask |= np.uint64(1) << np.uint64(members[member])
        masks[n_distinct] = mask
        n_distinct += 1
        n_left -= n_members
    return n_distinct


@compiled
def add_pairs(
    keys: NDArray[np.uint64], bounds: NDArray[np.int64], n_shared: NDArray[np.int64]
) -> None:
    """Add to `n_shared` how many keys each two crawls share, for any number of crawls.

    It ends as `merge_masks` does.

    Parameters
    ----------
    keys, bounds
        As for `take_smallest`.
    n_shared
        Added to, on and above the diagonal.
    """
    heads = bounds[:-1].copy()
    members = np.empty(heads.size, dtype=np.int64)
    n_left = keys.size
    while n_left > 0:
        n_members = take_smallest(keys, bounds, heads, members)
        n_left -= n_members
        for first in range(n_members):
            for second in range(first, n_members):
                n_shared[members[first], members[second]] += 1
