"""Sorted, unique keys of any number in bounded memory: runs are sorted, spilled and merged."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

import numpy as np

from crawlgauge.core.machine import keep_freed_memory
from crawlgauge.core.sets import sort_unique
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import WHOLE, Sampling
from crawlgauge.store.key_set import Keys
from crawlgauge.store.spilling import SpillFolder

MIN_MEMORY = 256 << 20
"""What reading and sorting take in any case, measured with room to spare."""

_PLENTY = 1 << 30
"""From so much on there is room for what is freed and not given back."""
_SHARE_OF_MACHINE = 4
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")

_RUN_KEYS = 1 << 22
"""Sorted at once: 32 MB, and few runs of even a large crawl; fewer where there is little memory."""
_RUNS_IN_MEMORY = 1 << 5
_RANGE_KEYS = 1 << 20
"""Merged at once."""
_KEY_BYTES = 8
_SHARE_FOR_KEYS = 0.5
"""Of the memory that may be used; the rest is for reading, for sorting and for the interpreter."""


def default_memory() -> int:
    """Return a quarter of the machine's memory, or of the container's where it has less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _CONTAINER_LIMIT.exists():
        limit = _CONTAINER_LIMIT.read_text(encoding="ascii").strip()
        total = min(total, int(limit)) if limit.isdigit() else total
    return max(MIN_MEMORY, total // _SHARE_OF_MACHINE)


def parse_memory(text: str) -> int:
    """Read an amount of memory as people write it.

    Raises
    ------
    StoreError
        If it is none, or too little.

    Examples
    --------
    >>> parse_memory("1.5 GiB") == 3 << 29
    True
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise StoreError(f"{text!r} is no amount of memory; write it as 2G, 512M or 1.5 GiB")
    n_bytes = int(float(match[1]) * (1 << _UNITS[match[2].upper()]))
    if n_bytes < MIN_MEMORY:
        raise StoreError(
            f"{text} of memory is too little to read archives with; give at least "
            f"{MIN_MEMORY >> 20}M"
        )
    return n_bytes


class SortedKeys(Protocol):
    """The distinct keys of one crawl, as its set's file takes them; see `KeyRuns`."""

    threshold: int
    """Keys below this one are kept."""

    @property
    def n_most(self) -> int:
        """How many distinct keys there are at most."""

    def add(self, keys: Keys) -> None:
        """Take in keys."""

    def ranges(self) -> Iterator[Keys]:
        """Yield the sorted, unique keys, part by part."""


class KeyMemory:
    """The memory that all runs of one command share.

    Parameters
    ----------
    n_bytes
        How much memory the command may take.
    spill
        Takes up what does not fit.
    """

    def __init__(self, n_bytes: int, spill: SpillFolder) -> None:
        if n_bytes >= _PLENTY:
            keep_freed_memory()
        self._most_keys = int(n_bytes * _SHARE_FOR_KEYS) // _KEY_BYTES
        self.run_keys = min(_RUN_KEYS, n_bytes // _RUNS_IN_MEMORY // _KEY_BYTES)
        self._spill = spill
        # Held by them, and nothing else: a cycle would keep the keys of crawls that are done.
        self._runs = WeakSet[KeyRuns]()
        self._n_held = 0

    def open_runs(self, sampling: Sampling) -> "KeyRuns":
        """Begin to collect the keys of one crawl."""
        runs = KeyRuns(sampling, self)
        self._runs.add(runs)
        return runs

    def hold(self, n_keys: int) -> None:
        """Count keys that were taken into memory, or given back; spill if they are too many."""
        self._n_held += n_keys
        # Runs give some back while they are being spilled.
        while n_keys > 0 and self._n_held > self._most_keys:
            largest = max(self._runs, key=lambda runs: runs.n_held)
            largest.spill(self._spill)


class KeyRuns:
    """Collects the keys of one crawl; made by `KeyMemory.open_runs`."""

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
        if self._n_pending >= self._memory.run_keys:
            self._sort_pending()

    @property
    def n_most(self) -> int:
        """How many distinct keys there are at most: those of several runs are not yet compared."""
        self._sort_pending()
        return sum(run.size for run in self._all_runs())

    def spill(self, folder: SpillFolder) -> None:
        """Put all that is in memory on the disk, as one run."""
        self._sort_pending()
        n_most = sum(run.size for run in self._sorted)
        self._spilled.append(folder.write_run(_merge(self._sorted), n_most))
        self._sorted = []
        self._count_held(-self.n_held)

    def ranges(self) -> Iterator[Keys]:
        """Yield the sorted, unique keys, part by part."""
        self._sort_pending()
        return _merge(self._all_runs())

    def _all_runs(self) -> list[Keys]:
        return [*self._spilled, *self._sorted]

    def _sort_pending(self) -> None:
        if not self._pending:
            return
        run = sort_unique(self._pending)
        n_repeated = self._n_pending - run.size
        self._pending, self._n_pending = [], 0
        self._sorted.append(run)
        self._count_held(-n_repeated)
        if self._max_keys is not None:
            self._keep_smallest(self._max_keys)

    def _keep_smallest(self, max_keys: int) -> None:
        """Lower the threshold so far that no more than `max_keys` keys lie below it."""
        n_sorted = sum(run.size for run in self._sorted)
        run = sort_unique(self._all_runs())
        if run.size > max_keys:
            self.threshold = int(run[max_keys])
            run = run[:max_keys].copy()
        self._sorted, self._spilled = [run], []
        self._count_held(run.size - n_sorted)

    def _count_held(self, n_keys: int) -> None:
        self.n_held += n_keys
        self._memory.hold(n_keys)


def _merge(runs: list[Keys]) -> Iterator[Keys]:
    """Yield the keys of sorted runs, sorted and unique, part by part."""
    if len(runs) <= 1:
        yield from runs
        return
    # Keys are hashes: equal ranges of them hold about as many.
    n_ranges = sum(run.size for run in runs) // _RANGE_KEYS + 1
    ends = [max(1, WHOLE * number // n_ranges) for number in range(1, n_ranges)]
    bounds = [
        [0, *np.searchsorted(run, np.array(ends, np.uint64)).tolist(), run.size] for run in runs
    ]
    for number in range(n_ranges):
        parts = [
            run[bound[number] : bound[number + 1]] for run, bound in zip(runs, bounds, strict=True)
        ]
        if (merged := sort_unique(parts)).size:
            yield merged
