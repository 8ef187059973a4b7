"""Which URLs each crawl holds: an urn with turnover and two classes of URLs, and its truth.

A population of slots, each of which holds one URL at a time. Between two crawls a URL dies with
probability `TURNOVER` and another takes its slot. A crawl captures each URL with the probability
of its class. A URL's number is slot + population * how many held the slot before it; everything
else about it follows from the number, and so any crawl can be made without the others.
"""

from collections.abc import Iterator

import numba
import numpy as np
from numpy.typing import NDArray

from archives.mixing import draw

__all__ = ["choose_population", "count_histories", "count_pairs", "is_2xx", "list_captured"]

TURNOVER = 0.12
SHARE_EASY, P_EASY, P_HARD = 0.5, 0.7, 0.22
COVERAGE = SHARE_EASY * P_EASY + (1 - SHARE_EASY) * P_HARD

SHARE_2XX = 0.88
"""Of the URLs; the others redirect or fail whenever they are captured."""

DIES, CLASS, CAPTURE, STATUS = (np.uint64(stream << 32) for stream in range(1, 5))
SLOTS_AT_A_TIME = 1 << 22


def choose_population(n_urls: int) -> int:
    """Return how many slots there must be for crawls of about `n_urls` URLs."""
    return round(n_urls / COVERAGE)


def list_captured(population: int, crawl: int) -> Iterator[NDArray[np.uint64]]:
    """Yield the numbers of the URLs that a crawl captured, in blocks, in order of their slots."""
    for first in range(0, population, SLOTS_AT_A_TIME):
        found = np.empty(min(SLOTS_AT_A_TIME, population - first), dtype=np.uint64)
        yield found[: _list_captured(population, crawl, first, found)]


def count_histories(population: int, n_crawls: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many URLs have each capture history: all of them, and those with status 2xx.

    Bit k of the position tells whether crawl k captured the URL.
    """
    counts = np.zeros(1 << n_crawls, dtype=np.int64)
    counts_2xx = np.zeros(1 << n_crawls, dtype=np.int64)
    _count_histories(population, n_crawls, counts, counts_2xx)
    counts[0] = counts_2xx[0] = 0
    return counts, counts_2xx


def count_pairs(histories: NDArray[np.int64], n_crawls: int) -> list[list[int]]:
    """Return how many URLs each two crawls share, and on the diagonal how many each holds."""
    masks = np.arange(histories.size)
    has = [(masks >> crawl & 1).astype(bool) for crawl in range(n_crawls)]
    return [[int(histories[a & b].sum()) for b in has] for a in has]


@numba.njit(cache=True)
def is_2xx(url: np.uint64) -> bool:
    """Tell whether a URL answers with status 2xx."""
    return draw(url, STATUS) < SHARE_2XX


@numba.njit(cache=True)
def _is_captured(url: np.uint64, crawl: int) -> bool:
    chance = P_EASY if draw(url, CLASS) < SHARE_EASY else P_HARD
    return draw(url, CAPTURE + np.uint64(crawl)) < chance


@numba.njit(cache=True)
def _list_captured(population: int, crawl: int, first: int, found: NDArray[np.uint64]) -> int:
    n_found = 0
    for slot in range(first, first + found.size):
        url = np.uint64(slot)
        for step in range(1, crawl + 1):
            if draw(np.uint64(slot), DIES + np.uint64(step)) < TURNOVER:
                url += np.uint64(population)
        if _is_captured(url, crawl):
            found[n_found] = url
            n_found += 1
    return n_found


@numba.njit(cache=True)
def _count_histories(
    population: int,
    n_crawls: int,
    counts: NDArray[np.int64],
    counts_2xx: NDArray[np.int64],
) -> None:
    for slot in range(population):
        url, mask = np.uint64(slot), 0
        for crawl in range(n_crawls):
            if crawl and draw(np.uint64(slot), DIES + np.uint64(crawl)) < TURNOVER:
                counts[mask] += 1
                counts_2xx[mask] += is_2xx(url)
                url, mask = url + np.uint64(population), 0
            if _is_captured(url, crawl):
                mask |= 1 << crawl
        counts[mask] += 1
        counts_2xx[mask] += is_2xx(url)
