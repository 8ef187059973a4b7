"""The keys of all sets in one hash range after the other, in memory that is used again."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
from typing import overload

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import KEY_BITS, WHOLE, count_ranges
from crawlgauge.processors import count_processors
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_stream import SLACK, KeyStream

__all__ = ["RangeKeys", "common_range_bits", "count_workers", "read_ranges"]

_KEYS_PER_RANGE = 1 << 21
"""Two million keys of all sets at a time, 16 MB: enough for what a range costs by itself, about a
millisecond, not to count."""

_MAX_WORKERS = 8
"""More threads would only wait for the disk and for memory."""

_SPREAD = 8
"""By how many standard deviations a range of hashes may have more keys than the average one
before more memory is asked for."""

_Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RangeKeys:
    """Sorted, unique keys of each set, all in one buffer.

    Parameters
    ----------
    keys
        The buffer.
    starts, ends
        Set t has ``keys[starts[t]:ends[t]]``.
    """

    keys: _Keys
    starts: _Keys
    ends: _Keys

    @classmethod
    def of(cls, parts: Sequence[_Keys]) -> "RangeKeys":
        """Put the keys of several sets behind each other."""
        bounds = np.cumsum([0, *(part.size for part in parts)], dtype=np.uint64)
        return cls(keys=np.concatenate(parts), starts=bounds[:-1], ends=bounds[1:])

    def __len__(self) -> int:
        return self.starts.size

    def __iter__(self) -> Iterator[_Keys]:
        return iter(self[:])

    @overload
    def __getitem__(self, number: int) -> _Keys: ...
    @overload
    def __getitem__(self, number: slice) -> list[_Keys]: ...
    def __getitem__(self, number: int | slice) -> _Keys | list[_Keys]:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        return self.keys[int(self.starts[number]) : int(self.ends[number])]


def count_workers() -> int:
    """Return how many threads count at once."""
    return min(_MAX_WORKERS, count_processors())


def common_range_bits(sets: Sequence[CrawlSet]) -> int:
    """Return how many leading bits cut the keys of all sets into ranges that are read at once."""
    n_as_whole = sum(item.crawl.n_counted * WHOLE // item.threshold for item in sets)
    return max(0, (n_as_whole - 1) // _KEYS_PER_RANGE).bit_length()


def read_ranges(
    sets: Sequence[CrawlSet],
    range_bits: int,
    threshold: int,
    n_kept: int,
    *,
    numbers: range | None = None,
    n_threads: int | None = None,
) -> Iterator[RangeKeys]:
    """Yield for each range the keys of each set; sets are read side by side.

    Parameters
    ----------
    sets
        What to read.
    range_bits
        As `common_range_bits` returns it.
    threshold
        Only keys below it are read.
    n_kept
        The keys of a range are there until so many further ones have been yielded.
    numbers
        Which ranges, one after the other; all below the threshold if not given.
    n_threads
        How many sets are read side by side; as many as there are processors if not given.

    Raises
    ------
    StoreError
        If a set cannot be read; it is named.
    """
    capacities = np.array([_foresee(item, range_bits) for item in sets], dtype=np.int64)
    buffers = cycle([_Buffer(capacities) for _ in range(n_kept + 1)])
    n_workers = count_workers() if n_threads is None else n_threads
    wanted = range(count_ranges(range_bits, threshold)) if numbers is None else numbers
    low = wanted.start << (KEY_BITS - range_bits)
    with ExitStack() as stack, ThreadPoolExecutor(n_workers) as pool:
        streams = [stack.enter_context(_NamedStream(item, low, threshold)) for item in sets]
        for number in wanted:
            end = min((number + 1) << (KEY_BITS - range_bits), threshold)
            yield next(buffers).fill(streams, end, pool, n_workers)


def _foresee(item: CrawlSet, range_bits: int) -> int:
    """Return how much room the keys of a set in a range will hardly ever exceed."""
    n_as_whole = item.crawl.n_counted * WHOLE // item.threshold
    mean = min(n_as_whole / 2.0**range_bits, item.crawl.n_counted)
    return int(mean + _SPREAD * mean**0.5) + SLACK


class _NamedStream(KeyStream):
    """The keys of a crawl; errors name it."""

    def __init__(self, item: CrawlSet, low: int, stop: int) -> None:
        self._label = item.crawl.label
        try:
            super().__init__(item.path, low=low, stop=stop)
        except StoreError as error:
            raise self._named(error) from error

    def take(self, end: int, out: _Keys, place: int, stop: int) -> tuple[int, bool]:
        try:
            return super().take(end, out, place, stop)
        except StoreError as error:
            raise self._named(error) from error

    def _named(self, error: StoreError) -> StoreError:
        return StoreError(
            f"crawl {self._label!r} cannot be counted: {error}. To count the others without it, "
            f"take it out: crawlgauge remove {self._label}"
        )


class _Buffer:
    """Room for the keys of all sets in a range."""

    def __init__(self, capacities: NDArray[np.int64]) -> None:
        self._capacities = capacities
        self._allot()

    def _allot(self) -> None:
        stops = np.cumsum(self._capacities)
        self._starts, self._stops = stops - self._capacities, stops
        self._keys = np.empty(int(stops[-1]), dtype=np.uint64)

    def fill(
        self, streams: Sequence[KeyStream], end: int, pool: Executor, n_workers: int
    ) -> RangeKeys:
        """Take the keys below `end` from all sets."""
        ends = self._starts.copy()
        are_done = np.zeros(len(streams), dtype=np.bool_)

        def take_some(first: int) -> None:
            for k in range(first, len(streams), n_workers):
                if not are_done[k]:
                    ends[k], are_done[k] = streams[k].take(
                        end, self._keys, int(ends[k]), int(self._stops[k])
                    )

        while True:
            # Each thread takes several sets: to hand out a piece of work takes time too.
            list(pool.map(take_some, range(n_workers)))
            if are_done.all():
                return RangeKeys(
                    keys=self._keys,
                    starts=self._starts.astype(np.uint64),
                    ends=ends.astype(np.uint64),
                )
            ends = self._enlarge(ends, are_done)

    def _enlarge(self, ends: NDArray[np.int64], are_done: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Give twice the room to sets that want more; return where their keys end now."""
        old_keys, old_starts, sizes = self._keys, self._starts, ends - self._starts
        self._capacities = np.where(are_done, self._capacities, 2 * self._capacities)
        self._allot()
        for k, size in enumerate(sizes.tolist()):
            new, old = int(self._starts[k]), int(old_starts[k])
            self._keys[new : new + size] = old_keys[old : old + size]
        return self._starts + sizes
