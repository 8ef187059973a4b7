"""Graphs of links as arrays: pages by what they have in common, distances, and ranks."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_distances", "group_by", "rank_pages"]


def group_by(keys: NDArray[np.int32], n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Order the places of `keys` by key, equal keys in order of place.

    Parameters
    ----------
    keys
        From 0 to ``n_groups - 1``; places with a negative key are left out.
    n_groups
        Number of different keys.

    Returns
    -------
    tuple
        ``starts`` and ``order``: the places of key k are ``order[starts[k]:starts[k + 1]]``.
    """
    order = np.argsort(keys, kind="stable").astype(np.int32)
    order = order[np.count_nonzero(keys < 0) :]
    sizes = np.bincount(keys[order], minlength=n_groups)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order


def find_distances(
    starts: NDArray[np.int64], targets: NDArray[np.int32], seeds: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return for each page how many links it is away from the nearest seed, or -1.

    Parameters
    ----------
    starts, targets
        Page p links to ``targets[starts[p]:starts[p + 1]]``.
    seeds
        Where the walk begins.
    """
    distances = np.full(starts.size - 1, -1, np.int32)
    pages, distance = np.unique(seeds), 0
    while pages.size:
        distances[pages] = distance
        distance += 1
        found = targets[_places(starts, pages)]
        pages = np.unique(found[distances[found] < 0])
    return distances


def _places(starts: NDArray[np.int64], pages: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where the links of some pages stand among all."""
    sizes = starts[pages + 1] - starts[pages]
    first = np.repeat(starts[pages] - np.cumsum(sizes) + sizes, sizes)
    return first + np.arange(first.size)


def rank_pages(
    starts: NDArray[np.int64],
    targets: NDArray[np.int32],
    is_member: NDArray[np.bool_],
    damping: float,
    n_rounds: int,
) -> NDArray[np.float64]:
    """Return the PageRank of the members, which link only to members; others have rank 0.

    A reader who does not follow a link, or finds none, goes on at any member.

    Parameters
    ----------
    starts, targets
        As for `find_distances`.
    is_member
        Pages that are ranked.
    damping
        Probability of following a link.
    n_rounds
        Steps of the power iteration.
    """
    n_members = is_member.sum()
    n_links = np.diff(starts)
    linking = np.flatnonzero(is_member & (n_links > 0))
    linked = targets[_places(starts, linking.astype(np.int32))]
    rank: NDArray[np.float64] = is_member / n_members
    for _ in range(n_rounds):
        followed = damping * rank[linking]
        parts = np.repeat(followed / n_links[linking], n_links[linking])
        moved = np.bincount(linked, parts, minlength=rank.size)
        # Added up one by one, in the order of pages: the last digit depends on it.
        n_followed = float(np.cumsum(followed)[-1]) if followed.size else 0.0
        rank = np.where(is_member, moved + (1.0 - n_followed) / n_members, 0.0)
    return rank
