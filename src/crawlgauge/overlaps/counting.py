"""Count overlaps exactly: one pass over all sets, a hash range at a time."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import announce_compilation
from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories
from crawlgauge.overlaps.merge_kernel import add_pairs, merge_masks
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Input, Provenance
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import SetReader

__all__ = ["count_sets"]

_KEYS_PER_RANGE = 1 << 24


def count_sets(
    sets: Sequence[CrawlSet], *, progress: Callable[[int, int], None] | None = None
) -> OverlapTable:
    """Count how many URLs each two crawls share, and how many have each capture history.

    Memory is bounded by the hash range, not by the crawls. Histories are counted for up to 64
    crawls, pairs for any number.

    Parameters
    ----------
    sets
        The crawls' sets, in order of date, then label.
    progress
        Called with how many of how many hash ranges are done.

    Raises
    ------
    OverlapError
        If there are no sets, or sets that cannot be compared.
    """
    _check_comparable(sets)
    announce_compilation(merge_masks if len(sets) <= MAX_HISTORY_CRAWLS else add_pairs)
    readers = [SetReader(item.path) for item in sets]
    range_bits = _choose_range_bits(sets)
    counter = _HistoryCounter(len(sets)) if len(sets) <= MAX_HISTORY_CRAWLS else None
    n_shared = np.zeros((len(sets), len(sets)), dtype=np.int64)
    parts_of_ranges = zip(*(reader.ranges(range_bits) for reader in readers), strict=True)
    for number, parts in enumerate(parts_of_ranges, start=1):
        keys = np.concatenate(parts)
        bounds = np.cumsum([0, *(part.size for part in parts)])
        if counter is None:
            add_pairs(keys, bounds, n_shared)
        else:
            masks = np.empty_like(keys)
            counter.add(masks[: merge_masks(keys, bounds, masks)])
        if progress is not None:
            progress(number, 1 << range_bits)
    histories = None if counter is None else counter.histories()
    if histories is None:
        n_shared += np.triu(n_shared, 1).T
    return OverlapTable(
        crawls=tuple(item.crawl for item in sets),
        n_shared=n_shared if histories is None else histories.count_pairs(),
        histories=histories,
        level=sets[0].level,
        key_rule=sets[0].key_rule,
        provenance=Provenance(
            inputs=tuple(Input(name=item.crawl.label, checksum=item.checksum) for item in sets)
        ),
    )


class _HistoryCounter:
    """Counts equal masks; distinct ones are put together when they have doubled in number."""

    def __init__(self, n_crawls: int) -> None:
        self._n_crawls = n_crawls
        self._masks = np.empty(0, dtype=np.uint64)
        self._counts = np.empty(0, dtype=np.int64)
        self._pending: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._n_pending = 0

    def add(self, masks: NDArray[np.uint64]) -> None:
        masks.sort()
        starts = _starts_of_equal(masks)
        distinct, counts = masks[starts], np.diff(starts, append=masks.size)
        self._pending.append((distinct, counts))
        self._n_pending += distinct.size
        if self._n_pending > max(1 << 20, self._masks.size):
            self._compact()

    def histories(self) -> Histories:
        self._compact()
        return Histories(n_crawls=self._n_crawls, masks=self._masks, counts=self._counts)

    def _compact(self) -> None:
        masks = np.concatenate([self._masks, *(masks for masks, _ in self._pending)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._pending)])
        order = np.argsort(masks)
        masks, counts = masks[order], counts[order]
        starts = _starts_of_equal(masks)
        self._masks, self._counts = masks[starts], np.add.reduceat(counts, starts)
        self._pending, self._n_pending = [], 0


def _starts_of_equal(sorted_masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    is_start = np.ones(sorted_masks.size, dtype=np.bool_)
    np.not_equal(sorted_masks[1:], sorted_masks[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def _check_comparable(sets: Sequence[CrawlSet]) -> None:
    if not sets:
        raise OverlapError("the store holds no crawls; add some with crawlgauge add")
    first = sets[0]
    for other in sets[1:]:
        for what in ("key_rule", "level", "sample_rate"):
            if getattr(other, what) != getattr(first, what):
                raise OverlapError(
                    f"crawls {first.crawl.label!r} and {other.crawl.label!r} cannot be compared: "
                    f"their {what.replace('_', ' ')} is {getattr(first, what)} and "
                    f"{getattr(other, what)}"
                )


def _choose_range_bits(sets: Sequence[CrawlSet]) -> int:
    n_keys = sum(item.crawl.n_counted for item in sets)
    needed = max(0, (n_keys - 1) // _KEYS_PER_RANGE).bit_length()
    return max(needed, *(item.range_bits for item in sets))
