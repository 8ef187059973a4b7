"""Which URLs each crawl holds: an urn with turnover and two classes of URLs, and its truth.

A population of slots, each of which holds one URL at a time. Between two crawls a URL dies with
probability `TURNOVER` and another takes its slot. A crawl captures each URL with the probability
of its class. A URL's number is slot + population * how many held the slot before it; whatever is
random about it is a hash of that number, so that the same archive can be made again.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

TURNOVER = 0.12
SHARE_EASY, P_EASY, P_HARD = 0.5, 0.7, 0.22
COVERAGE = SHARE_EASY * P_EASY + (1 - SHARE_EASY) * P_HARD
SHARE_2XX = 0.88
"""Of the URLs; the others redirect or fail whenever they are captured."""

DIES, CLASS, CAPTURE, STATUS = (stream << 32 for stream in range(1, 5))
SLOTS_AT_A_TIME = 1 << 20

Numbers = NDArray[np.uint64]


def mix(numbers: Numbers) -> Numbers:
    """Return another 64-bit number for each: the finaliser of SplitMix64, a bijection."""
    mixed = numbers ^ (numbers >> 30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> 27
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> 31
    return mixed


def draw_share(numbers: Numbers, stream: int) -> NDArray[np.float64]:
    """Return a random number from 0 to 1 for each number and stream."""
    start = mix(np.array([stream + 0x9E3779B97F4A7C15], np.uint64))
    share: NDArray[np.float64] = (mix(numbers + start) >> 11) * 2.0**-53
    return share


def happens(
    numbers: Numbers, stream: int, chance: float | NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell for each number whether something of that probability happens to it."""
    return draw_share(numbers, stream) < chance


def are_2xx(urls: Numbers) -> NDArray[np.bool_]:
    """Tell which URLs answer with status 2xx."""
    return happens(urls, STATUS, SHARE_2XX)


class Urn:
    """Draws crawl after crawl of about so many URLs, and knows in the end what they share."""

    def __init__(self, n_urls: int, n_crawls: int) -> None:
        self.population = round(n_urls / COVERAGE)
        self._n_drawn, self._n_crawls = 0, n_crawls
        # Of the URL in each slot: how many were there before it, and which crawls hold it.
        self._generations = np.zeros(self.population, np.uint8)
        self._histories = np.zeros(self.population, np.uint32)
        # How many URLs had each history: of all, and of those with status 2xx.
        self._counts = np.zeros((2, 1 << n_crawls), np.int64)

    def draw_crawl(self) -> Iterator[Numbers]:
        """Yield the numbers of the URLs that the next crawl holds, in blocks."""
        crawl, self._n_drawn = self._n_drawn, self._n_drawn + 1
        for slots in self._blocks():
            if crawl:
                self._bury(slots[happens(slots, DIES + crawl, TURNOVER)])
            urls = self._urls_in(slots)
            chance = np.where(happens(urls, CLASS, SHARE_EASY), P_EASY, P_HARD)
            is_captured = happens(urls, CAPTURE + crawl, chance)
            self._histories[slots] |= is_captured.astype(np.uint32) << crawl
            yield urls[is_captured]

    def count_shared(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return how many URLs each two crawls share, after the last: all, and those with 2xx."""
        for slots in self._blocks():
            self._bury(slots)
        histories = np.arange(1 << self._n_crawls)
        has = [(histories >> crawl & 1).astype(bool) for crawl in range(self._n_crawls)]
        every, of_2xx = ([[int(n[a & b].sum()) for b in has] for a in has] for n in self._counts)
        return every, of_2xx

    def _blocks(self) -> Iterator[Numbers]:
        for first in range(0, self.population, SLOTS_AT_A_TIME):
            last = min(first + SLOTS_AT_A_TIME, self.population)
            yield np.arange(first, last, dtype=np.uint64)

    def _urls_in(self, slots: Numbers) -> Numbers:
        return slots + self._generations[slots] * np.uint64(self.population)

    def _bury(self, slots: Numbers) -> None:
        """Count the URLs in these slots; others follow them."""
        histories, is_2xx = self._histories[slots], are_2xx(self._urls_in(slots))
        self._counts[0] += np.bincount(histories, minlength=self._counts.shape[1])
        self._counts[1] += np.bincount(histories[is_2xx], minlength=self._counts.shape[1])
        self._generations[slots] += 1
        self._histories[slots] = 0
