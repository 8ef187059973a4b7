"""Walk a link graph in compiled code: group links by page, find what is reachable, rank pages."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["find_distances", "group_by", "rank_pages"]


@compiled
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
    starts = np.zeros(n_groups + 1, dtype=np.int64)
    for key in keys:
        if key >= 0:
            starts[key + 1] += 1
    for group in range(n_groups):
        starts[group + 1] += starts[group]
    order = np.empty(starts[n_groups], dtype=np.int32)
    ends = starts[:-1].copy()
    for place in range(keys.size):
        key = keys[place]
        if key >= 0:
            order[ends[key]] = place
            ends[key] += 1
    return starts, order


@compiled
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
    n_pages = starts.size - 1
    distances = np.full(n_pages, -1, dtype=np.int32)
    queue = np.empty(n_pages, dtype=np.int32)
    head, tail = 0, 0
    for seed in seeds:
        if distances[seed] < 0:
            distances[seed] = 0
            queue[tail] = seed
            tail += 1
    while head < tail:
        page = queue[head]
        head += 1
        for place in range(starts[page], starts[page + 1]):
            target = targets[place]
            if distances[target] < 0:
                distances[target] = distances[page] + 1
                queue[tail] = target
                tail += 1
    return distances


@compiled
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
    rank: NDArray[np.float64] = is_member / n_members
    for _ in range(n_rounds):
        moved = np.zeros(rank.size)
        n_followed = 0.0
        for page in range(rank.size):
            n_links = starts[page + 1] - starts[page]
            if is_member[page] and n_links > 0:
                part = damping * rank[page] / n_links
                n_followed += damping * rank[page]
                for place in range(starts[page], starts[page + 1]):
                    moved[targets[place]] += part
        anywhere = (1.0 - n_followed) / n_members
        for page in range(rank.size):
            rank[page] = moved[page] + anywhere if is_member[page] else 0.0
    return rank
