"""A crawler's frontier in compiled code: fetch what comes first, and add what it links to."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["BY_HOST_TURN", "BY_LEVEL", "BY_SCORE", "crawl_frontier"]

BY_LEVEL = 0
"""Nearer pages first, equally near ones in random order: breadth-first."""

BY_SCORE = 1
"""Pages of higher score first."""

BY_HOST_TURN = 2
"""When the turn of their host comes, each host at its own pace."""

_TRAP_DAMPING = 0.85
_GOLDEN_RATIO = 0.6180339887498949


@compiled
def push(
    keys: NDArray[np.float64], nodes: NDArray[np.int64], size: int, key: float, node: int
) -> int:
    """Add a node to a binary heap of `size` and return the new size."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] <= key:
            break
        keys[place], nodes[place] = keys[above], nodes[above]
        place = above
    keys[place], nodes[place] = key, node
    return size + 1


@compiled
def drop_first(keys: NDArray[np.float64], nodes: NDArray[np.int64], size: int) -> int:
    """Take the first node off a binary heap of `size` and return the new size."""
    size -= 1
    key, node = keys[size], nodes[size]
    place = 0
    while True:
        below = 2 * place + 1
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if below >= size or keys[below] >= key:
            break
        keys[place], nodes[place] = keys[below], nodes[below]
        place = below
    keys[place], nodes[place] = key, node
    return size


@compiled
def page_key(
    rule: int,
    now: float,
    page: int,
    host: int,
    order: NDArray[np.float64],
    delays: NDArray[np.float64],
    turns: NDArray[np.float64],
) -> float:
    """Return where a page that is found at `now` stands in the frontier."""
    if rule == BY_LEVEL:
        return float(np.floor(now) + 1.0 + order[page])
    if rule == BY_SCORE:
        return -float(order[page])
    turns[host] = max(turns[host], now) + delays[host]
    return float(turns[host])


@compiled
def trap_key(
    rule: int,
    now: float,
    host: int,
    number: int,
    n_links: int,
    delays: NDArray[np.float64],
    turns: NDArray[np.float64],
) -> float:
    """Return where a trap's page that is found at `now` stands in the frontier.

    Its score is what PageRank would hand on to it.
    """
    if rule == BY_LEVEL:
        return float(np.floor(now) + 1.0 + number * _GOLDEN_RATIO % 1.0)
    if rule == BY_SCORE:
        return now * _TRAP_DAMPING / n_links
    turns[host] = max(turns[host], now) + delays[host]
    return float(turns[host])


@compiled
def crawl_frontier(
    starts: NDArray[np.int64],
    targets: NDArray[np.int32],
    hosts: NDArray[np.int32],
    seeds: NDArray[np.int32],
    fails: NDArray[np.bool_],
    rule: int,
    order: NDArray[np.float64],
    delays: NDArray[np.float64],
    has_trap: NDArray[np.bool_],
    n_trap_links: int,
    budget: int,
    host_cap: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Crawl from the seeds until the budget is used up or the frontier is empty.

    Each round takes a node off the frontier. Pages enter it once, and a trap's pages only when
    one of the budget's fetches leads to them, so that it ends with endless traps as well.

    Parameters
    ----------
    starts, targets
        Page p links to ``targets[starts[p]:starts[p + 1]]``.
    hosts
        Host of each page; the entry page of host h is page h.
    seeds
        Pages that the frontier holds first.
    fails
        Pages that time out: not fetched, not followed.
    rule
        `BY_LEVEL`, `BY_SCORE` or `BY_HOST_TURN`.
    order
        For each page its place among the equally near, from 0 to 1, or its score.
    delays
        For each host the time between two fetches; infinite where it is down.
    has_trap, n_trap_links
        Hosts whose entry page leads into a trap, and links of each of its pages to further ones.
    budget, host_cap
        Fetches in all and of one host.

    Returns
    -------
    tuple
        The pages that were fetched, and for each host how many pages of its trap were.
    """
    n_pages = starts.size - 1
    n_traps = n_trap_links * (budget + 1)
    keys = np.empty(n_pages + n_traps, dtype=np.float64)
    nodes = np.empty(n_pages + n_traps, dtype=np.int64)
    is_known = np.zeros(n_pages, dtype=np.bool_)
    turns = np.zeros(delays.size)
    fetched = np.empty(min(budget, n_pages), dtype=np.int64)
    n_of_host = np.zeros(delays.size, dtype=np.int64)
    n_in_trap = np.zeros(delays.size, dtype=np.int64)
    n_found_in_trap = np.zeros(delays.size, dtype=np.int64)
    size, n_fetched, n_trapped = 0, 0, 0
    for seed in seeds:
        is_known[seed] = True
        key = page_key(rule, -1.0, seed, hosts[seed], order, delays, turns)
        size = push(keys, nodes, size, key, seed)
    while size > 0 and n_fetched + n_trapped < budget:
        now, node = keys[0], nodes[0]
        size = drop_first(keys, nodes, size)
        is_page = node < n_pages
        host = hosts[node] if is_page else node - n_pages
        if n_of_host[host] >= host_cap or (is_page and fails[node]) or now == np.inf:
            continue
        n_of_host[host] += 1
        if is_page:
            fetched[n_fetched] = node
            n_fetched += 1
            for place in range(starts[node], starts[node + 1]):
                page = targets[place]
                if not is_known[page]:
                    is_known[page] = True
                    key = page_key(rule, now, page, hosts[page], order, delays, turns)
                    size = push(keys, nodes, size, key, page)
        else:
            n_in_trap[host] += 1
            n_trapped += 1
        if has_trap[host] and (node == host or not is_page):
            for _ in range(n_trap_links):
                number = n_found_in_trap[host]
                n_found_in_trap[host] += 1
                key = trap_key(rule, now, host, number, n_trap_links, delays, turns)
                size = push(keys, nodes, size, key, n_pages + host)
    return fetched[:n_fetched], n_in_trap
