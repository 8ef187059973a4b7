"""A crawler's frontier: which pages of a simulated web it fetches, link by link."""
import numpy as np

from libc.math cimport INFINITY, floor

from crawlgauge.core.words cimport i32, i64, u8

cdef enum:  # how the frontier is ordered, as in `RULES`
    BY_LEVEL, BY_SCORE, BY_HOST_TURN

RULES = ("level", "score", "host-turn")
"""Breadth first; the most important first; each host in its turn."""

cdef double GOLDEN_RATIO = 0.6180339887498949
cdef double TRAP_DAMPING = 0.85


cdef struct Web:
    const i32* hosts
    const double* order
    const double* delays
    double* turns           # for each host when it may be asked again
    int rule


cdef class Heap:
    """Nodes by key, the least first."""
    cdef double[::1] keys
    cdef i64[::1] nodes
    cdef Py_ssize_t size

    def __cinit__(self, Py_ssize_t room):
        self.keys = np.empty(room, np.float64)
        self.nodes = np.empty(room, np.int64)

    cdef void push(self, double key, i64 node) noexcept nogil:
        cdef Py_ssize_t place = self.size, above
        while place > 0:
            above = (place - 1) >> 1
            if self.keys[above] <= key:
                break
            self.keys[place], self.nodes[place] = self.keys[above], self.nodes[above]
            place = above
        self.keys[place], self.nodes[place] = key, node
        self.size += 1

    cdef void drop_first(self) noexcept nogil:
        cdef Py_ssize_t place = 0, below
        self.size -= 1
        cdef double key = self.keys[self.size]
        cdef i64 node = self.nodes[self.size]
        while True:
            below = 2 * place + 1
            if below + 1 < self.size and self.keys[below + 1] < self.keys[below]:
                below += 1
            if below >= self.size or self.keys[below] >= key:
                break
            self.keys[place], self.nodes[place] = self.keys[below], self.nodes[below]
            place = below
        self.keys[place], self.nodes[place] = key, node


cdef double wait_for_host(Web* web, double now, i64 host) noexcept nogil:
    """Return when a host that is wanted now is asked."""
    web.turns[host] = max(web.turns[host], now) + web.delays[host]
    return web.turns[host]


cdef double key_of_page(Web* web, double now, i64 page) noexcept nogil:
    """Return where a page that is found now stands in the frontier."""
    if web.rule == BY_LEVEL:
        return floor(now) + 1.0 + web.order[page]
    if web.rule == BY_SCORE:
        return -web.order[page]
    return wait_for_host(web, now, web.hosts[page])


cdef double key_in_trap(Web* web, double now, i64 host, i64 number, i64 n_links) noexcept nogil:
    """Return the same of a page of a host's trap; its score is what PageRank would hand on to it."""
    cdef double place = number * GOLDEN_RATIO
    if web.rule == BY_LEVEL:
        return floor(now) + 1.0 + (place - floor(place))
    if web.rule == BY_SCORE:
        return now * TRAP_DAMPING / n_links
    return wait_for_host(web, now, host)


def crawl_frontier(
    const i64[::1] starts not None,
    const i32[::1] targets not None,
    const i32[::1] hosts not None,
    const i32[::1] seeds not None,
    const u8[::1] fails not None,
    str rule not None,
    const double[::1] order not None,
    const double[::1] delays not None,
    const u8[::1] has_trap not None,
    i64 n_trap_links,
    i64 budget,
    i64 host_cap,
):
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
        One of `RULES`.
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
    cdef i64 n_pages = starts.shape[0] - 1, n_hosts = delays.shape[0]
    if min(hosts.shape[0], fails.shape[0]) < n_pages or has_trap.shape[0] < n_hosts:
        raise ValueError("each page and each host needs its properties")
    if rule != RULES[BY_HOST_TURN] and order.shape[0] < n_pages:
        raise ValueError("each page needs its place in the order")
    cdef Heap frontier = Heap(n_pages + n_trap_links * (budget + 1))
    turns_array, fetched_array = np.zeros(n_hosts), np.empty(min(budget, n_pages), np.int64)
    trapped_array = np.zeros(n_hosts, np.int64)
    cdef double[::1] turns = turns_array
    cdef i64[::1] fetched = fetched_array, n_in_trap = trapped_array
    cdef i64[::1] n_of_host = np.zeros(n_hosts, np.int64), n_found = np.zeros(n_hosts, np.int64)
    cdef u8[::1] is_known = np.zeros(n_pages, np.uint8)
    cdef Web web
    cdef i64 n_fetched = 0, n_trapped = 0, node, host, place, page, link
    cdef bint is_page
    cdef double now
    web.hosts, web.delays, web.turns = &hosts[0], &delays[0], &turns[0]
    web.order = &order[0] if order.shape[0] else NULL
    web.rule = RULES.index(rule)
    with nogil:
        for place in range(seeds.shape[0]):
            page = seeds[place]
            is_known[page] = True
            frontier.push(key_of_page(&web, -1.0, page), page)
        while frontier.size > 0 and n_fetched + n_trapped < budget:
            now, node = frontier.keys[0], frontier.nodes[0]
            frontier.drop_first()
            is_page = node < n_pages
            host = hosts[node] if is_page else node - n_pages
            if n_of_host[host] >= host_cap or (is_page and fails[node]) or now == INFINITY:
                continue
            n_of_host[host] += 1
            if is_page:
                fetched[n_fetched] = node
                n_fetched += 1
                for place in range(starts[node], starts[node + 1]):
                    page = targets[place]
                    if not is_known[page]:
                        is_known[page] = True
                        frontier.push(key_of_page(&web, now, page), page)
            else:
                n_in_trap[host] += 1
                n_trapped += 1
            if has_trap[host] and (node == host or not is_page):
                for link in range(n_trap_links):
                    n_found[host] += 1
                    frontier.push(
                        key_in_trap(&web, now, host, n_found[host] - 1, n_trap_links),
                        n_pages + host,
                    )
    return fetched_array[:n_fetched], trapped_array
