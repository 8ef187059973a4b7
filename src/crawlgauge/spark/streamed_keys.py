"""The merged keys of a crawl, streamed from Spark to where its set is written."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS, count_ranges
from crawlgauge.store.key_runs import PART_FOR_COUNTING, SortedKeys, sort_unique
from crawlgauge.store.set_file import choose_range_bits

__all__ = ["StreamedKeys", "first_end"]

Keys = NDArray[np.uint64]


def first_end(threshold: int) -> int:
    """Return below which keys are counted to tell how many there are of all."""
    return max(1, threshold // PART_FOR_COUNTING)


class StreamedKeys:
    """Sorted, unique keys that are elsewhere, together with some that are here.

    Parameters
    ----------
    stream
        Yields the keys that are elsewhere, in rising order and cut anywhere.
    n_keys, n_first
        How many they are, and how many of them are below `first_end`.
    here
        Keys of the same crawl that are here already, all below the same threshold.
    """

    def __init__(
        self, stream: Callable[[], Iterator[Keys]], n_keys: int, n_first: int, here: SortedKeys
    ) -> None:
        self._stream = stream
        self._n_keys = n_keys
        self._n_first = n_first
        self._here = here
        self._n_here = here.n_most
        self.threshold = here.threshold

    @property
    def n_most(self) -> int:
        """How many distinct keys there are at most."""
        return self._n_keys + self._n_here

    def add(self, keys: Keys) -> None:
        """Take in keys that are here."""
        self._here.add(keys)
        self._n_here = self._here.n_most

    def choose_range_bits(self) -> int:
        """Return into how many ranges to cut the keys: a function of the set alone."""
        end = first_end(self.threshold)
        n_first = self._n_first
        if self._n_here:
            n_first = self._count_first(end)
        return choose_range_bits(n_first * (self.threshold / end), self.threshold)

    def ranges(self, range_bits: int) -> Iterator[Keys]:
        """Yield the sorted, unique keys for each value of their leading bits.

        Parameters
        ----------
        range_bits
            How many bits.
        """
        there = _in_ranges(self._stream(), range_bits, self.threshold)
        if not self._n_here:
            yield from there
            return
        for ours, theirs in zip(self._here.ranges(range_bits), there, strict=True):
            yield sort_unique(np.concatenate([ours, theirs]))

    def _count_first(self, end: int) -> int:
        keys = next(self.ranges(KEY_BITS - (end - 1).bit_length()))
        return int(np.searchsorted(keys, np.uint64(end)))


def _in_ranges(stream: Iterator[Keys], range_bits: int, threshold: int) -> Iterator[Keys]:
    """Cut rising keys anew, into those of each range; ranges without keys are there too."""
    rest = np.empty(0, dtype=np.uint64)
    is_over = False
    for number in range(count_ranges(range_bits, threshold)):
        last = np.uint64(((number + 1) << (KEY_BITS - range_bits)) - 1)
        parts: list[Keys] = []
        while True:
            n_taken = int(np.searchsorted(rest, last, side="right"))
            parts.append(rest[:n_taken])
            rest = rest[n_taken:]
            if rest.size or is_over:
                break
            found = next(stream, None)
            if found is None:
                is_over = True
            elif parts and found.size and any(part.size and part[-1] >= found[0] for part in parts):
                raise ValueError("keys came in another order than that of their hash ranges")
            else:
                rest = found
        yield np.concatenate(parts)
    if rest.size or next(stream, None) is not None:
        raise ValueError("there are keys beyond the threshold of their crawl")
