"""Sorted, unique keys of any number in bounded memory: runs are sorted, spilled and merged."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS, WHOLE, Sampling, count_ranges
from crawlgauge.store.set_file import choose_range_bits
from crawlgauge.store.spilling import SpillFolder

__all__ = ["PART_FOR_COUNTING", "KeyMemory", "KeyRuns", "SortedKeys", "sort_unique"]

Keys = NDArray[np.uint64]

_RUN_KEYS = 1 << 22
"""Sorted at once: 32 MB, little beside the least memory, and few runs of even a large crawl."""
_KEY_BYTES = 8
PART_FOR_COUNTING = 256
"""The first of so many parts of the keys tells how many there are."""
_SHARE_FOR_KEYS = 0.5
"""Of the memory that may be used; the rest is for reading, for sorting and for the interpreter."""


class SortedKeys(Protocol):
    """The distinct keys of one crawl, as its set's file takes them; see `KeyRuns`."""

    threshold: int

    @property
    def n_most(self) -> int:
        """How many distinct keys there are at most."""

    def add(self, keys: Keys) -> None:
        """Take in keys."""

    def choose_range_bits(self) -> int:
        """Return into how many ranges to cut the keys."""

    def ranges(self, range_bits: int) -> Iterator[Keys]:
        """Yield the sorted, unique keys for each value of their leading bits."""


class KeyMemory:
    """The memory that all runs of one command share.

    Parameters
    ----------
    n_bytes
        How much memory the command may take.
    spill
        Where to put what goes beyond.
    """

    def __init__(self, n_bytes: int, spill: SpillFolder) -> None:
        self._most_keys = int(n_bytes * _SHARE_FOR_KEYS) // _KEY_BYTES
        self._spill = spill
        self._runs: list[KeyRuns] = []
        self._n_held = 0

    def open_runs(self, sampling: Sampling) -> "KeyRuns":
        """Begin to collect the keys of one crawl."""
        runs = KeyRuns(sampling, self)
        self._runs.append(runs)
        return runs

    def hold(self, n_keys: int) -> None:
        """Count keys that were taken into memory, or given back; spill if they are too many."""
        self._n_held += n_keys
        while self._n_held > self._most_keys:
            largest = max(self._runs, key=lambda runs: runs.n_held)
            largest.spill(self._spill)


class KeyRuns:
    """Collects the keys of one crawl; made by `KeyMemory.open_runs`.

    Parameters
    ----------
    sampling
        Which keys are kept.
    memory
        That it shares with others.

    Attributes
    ----------
    threshold
        Keys below it are kept; falls while keys come in, where the smallest ones are wanted.
    n_held
        Keys in memory.
    """

    def __init__(self, sampling: Sampling, memory: KeyMemory) -> None:
        self._memory = memory
        self._max_keys = sampling.max_keys
        self._pending: list[Keys] = []
        self._n_pending = 0
        self._sorted: list[Keys] = []
        self._spilled: list[Keys] = []
        self.threshold = sampling.threshold
        self.n_held = 0

    def add(self, keys: Keys) -> None:
        """Take in keys, in any order and repeated or not."""
        if self.threshold != WHOLE:
            keys = keys[keys < np.uint64(self.threshold)]
        self._pending.append(keys)
        self._n_pending += keys.size
        self._count_held(keys.size)
        if self._n_pending >= _RUN_KEYS:
            self._sort_pending()

    def settle(self, keys: Keys, threshold: int) -> None:
        """Learn which keys there are from somebody who has sorted them already.

        Parameters
        ----------
        keys
            All keys that were added and lie below a threshold, sorted and unique.
        threshold
            If these runs reach beyond it, what they hold is sorted as ever.
        """
        if threshold >= self.threshold and self._max_keys is None:
            self._pending, self._n_pending, self._spilled = [], 0, []
            self._sorted = [keys]
            self._count_held(keys.size - self.n_held)
        else:
            self._sort_pending()

    @property
    def n_most(self) -> int:
        """How many distinct keys there are at most: those of several runs are not yet compared."""
        self._sort_pending()
        return sum(run.size for run in self._all_runs())

    def spill(self, folder: SpillFolder) -> None:
        """Put all that is in memory on the disk, as one run."""
        self._sort_pending()
        runs = self._sorted
        n_most = sum(run.size for run in runs)
        bits = choose_range_bits(n_most, self.threshold)
        self._spilled.append(folder.write_run(_merge(runs, bits, self.threshold), n_most))
        self._sorted = []
        self._count_held(-self.n_held)

    def choose_range_bits(self) -> int:
        """Return into how many ranges to cut the keys: a function of the set alone.

        Repeated keys of several runs are known only when all are merged, so they are counted in
        the first part of the ranges.
        """
        self._sort_pending()
        end = max(1, self.threshold // PART_FOR_COUNTING)
        first = sort_unique(_slices(self._all_runs(), 0, end))
        return choose_range_bits(first.size * (self.threshold / end), self.threshold)

    def ranges(self, range_bits: int) -> Iterator[Keys]:
        """Yield the sorted, unique keys for each value of their leading bits.

        Parameters
        ----------
        range_bits
            How many bits.
        """
        self._sort_pending()
        return _merge(self._all_runs(), range_bits, self.threshold)

    def _all_runs(self) -> list[Keys]:
        return [*self._spilled, *self._sorted]

    def _sort_pending(self) -> None:
        if not self._pending:
            return
        run = sort_unique(np.concatenate(self._pending))
        n_repeated = self._n_pending - run.size
        self._pending, self._n_pending = [], 0
        self._sorted.append(run)
        self._count_held(-n_repeated)
        if self._max_keys is not None:
            self._keep_smallest(self._max_keys)

    def _keep_smallest(self, max_keys: int) -> None:
        """Lower the threshold so far that no more than `max_keys` keys lie below it."""
        n_sorted = sum(run.size for run in self._sorted)
        run = sort_unique(np.concatenate(self._all_runs()))
        if run.size > max_keys:
            self.threshold = int(run[max_keys])
            run = run[:max_keys].copy()
        self._sorted, self._spilled = [run], []
        self._count_held(run.size - n_sorted)

    def _count_held(self, n_keys: int) -> None:
        self.n_held += n_keys
        self._memory.hold(n_keys)


def _merge(runs: list[Keys], range_bits: int, threshold: int) -> Iterator[Keys]:
    n_ranges = count_ranges(range_bits, threshold)
    for number in range(n_ranges):
        start = number << (KEY_BITS - range_bits)
        end = (number + 1) << (KEY_BITS - range_bits)
        if len(runs) == 1:
            yield _slice(runs[0], start, end)
        else:
            yield sort_unique(_slices(runs, start, end))


def _slices(runs: list[Keys], start: int, end: int) -> Keys:
    return np.concatenate([np.empty(0, np.uint64), *(_slice(run, start, end) for run in runs)])


def _slice(run: Keys, start: int, end: int) -> Keys:
    first = int(np.searchsorted(run, np.uint64(start)))
    last = run.size if end >= WHOLE else int(np.searchsorted(run, np.uint64(end)))
    return run[first:last]


def sort_unique(keys: Keys) -> Keys:
    """Return the distinct keys in rising order; `keys` is sorted in place.

    numpy's own `unique` takes many times longer on 64-bit words.
    """
    keys.sort()
    is_new = np.empty(keys.size, dtype=np.bool_)
    is_new[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    return keys[is_new]
