"""Add up the counts of hash ranges in rising order, and find how far histories can be counted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, pairs_of_masks
from crawlgauge.overlaps.range_counts import HashRange, RangeCounts, count_range
from crawlgauge.overlaps.range_keys import RangeKeys
from crawlgauge.overlaps.tally_kernel import add_to_tally, count_missing, list_tally, make_tally

__all__ = ["MAX_HISTORIES", "HistoryTally", "PassCounts"]

MAX_HISTORIES = 1 << 18
"""Different histories that are counted at most. So many take 100 MB in the models; and keys with
so many different ones are at least as many, which is what estimates need for the error of sampling
to be a tenth of the others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassCounts:
    """What a pass over sets counted; the new sets are the first ones.

    Parameters
    ----------
    n_shared
        How many keys each new set shares with every set: a row for each new set.
    masks, counts
        Histories of the keys below `history_end` that new sets hold, in rising order; bit t is
        set t.
    history_end
        Histories are those of the keys below it; 0 if there are none.
    """

    n_shared: NDArray[np.int64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    history_end: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Snapshot:
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    end: int


class HistoryTally:
    """Adds up ranges; histories end at the threshold, or before there are too many.

    In the latter case they end at the largest power of two below which they are not too many and
    which is at most half the threshold, so that the same sets always give the same histories,
    whatever the ranges are.

    Parameters
    ----------
    n_new, n_sets
        Number of new sets, and of all.
    threshold
        Keys below it are counted.
    history_end
        Where histories end at the latest.

    Attributes
    ----------
    history_end
        Where histories end, as far as is known yet.
    """

    def __init__(self, n_new: int, n_sets: int, threshold: int, history_end: int) -> None:
        self._n_new, self._n_sets, self._threshold = n_new, n_sets, threshold
        self._tally, self._n_masks = make_tally(2 * MAX_HISTORIES), 0
        self._upper = np.zeros((n_new, n_sets), dtype=np.int64)
        self._snapshot = self._take_snapshot(0)
        self.history_end = history_end if n_sets <= MAX_HISTORY_CRAWLS else 0

    def add(self, counted: RangeCounts, where: HashRange, parts: RangeKeys) -> None:
        """Take in the next range.

        Parameters
        ----------
        counted
            What was counted, with histories as far as `history_end` was at any time before.
        where, parts
            The range, and the keys of each set in it.
        """
        self._upper += counted.n_shared
        if self.history_end <= where.low:
            self._move_to_pairs(counted.masks, counted.counts)
            return
        n_missing = count_missing(self._tally, counted.masks)
        if self._n_masks + n_missing > MAX_HISTORIES:
            self._end_histories(counted, where, parts)
            return
        add_to_tally(self._tally, counted.masks, counted.counts)
        self._n_masks += n_missing
        if self._can_end_at(where.end):
            self._snapshot = self._take_snapshot(where.end)

    def result(self) -> PassCounts:
        """Return what all ranges together give."""
        masks, counts = list_tally(self._tally, self._n_masks)
        self._move_to_pairs(masks, counts)
        n_shared, n_new = self._upper.copy(), self._n_new
        n_shared[:, :n_new] += np.triu(n_shared[:, :n_new], 1).T
        order = np.argsort(masks)
        return PassCounts(
            n_shared=n_shared,
            masks=masks[order],
            counts=counts[order],
            history_end=self.history_end,
        )

    def _can_end_at(self, end: int) -> bool:
        return end & (end - 1) == 0 and 2 * end <= self._threshold

    def _take_snapshot(self, end: int) -> _Snapshot:
        masks, counts = list_tally(self._tally, self._n_masks)
        return _Snapshot(masks=masks, counts=counts, end=end)

    def _move_to_pairs(
        self, masks: NDArray[np.uint64], counts: NDArray[np.int64], sign: int = 1
    ) -> None:
        if masks.size:
            n_shared = pairs_of_masks(masks, sign * counts, self._n_sets)[: self._n_new]
            self._upper += np.triu(n_shared)

    def _end_histories(self, counted: RangeCounts, where: HashRange, parts: RangeKeys) -> None:
        """End at the last power of two before this range, or within it if it is the first."""
        if where.low > 0:
            self._move_to_pairs(counted.masks, counted.counts)
            self._move_to_pairs(*list_tally(self._tally, self._n_masks))
            self._move_to_pairs(self._snapshot.masks, self._snapshot.counts, sign=-1)
            masks, counts, end = self._snapshot.masks, self._snapshot.counts, self._snapshot.end
        else:
            end, counted = self._recount_first(where, parts)
            self._upper += counted.n_shared
            masks, counts = counted.masks, counted.counts
        self.history_end = end
        self._tally, self._n_masks = make_tally(2 * MAX_HISTORIES), masks.size
        add_to_tally(self._tally, masks, counts)

    def _recount_first(self, where: HashRange, parts: RangeKeys) -> tuple[int, RangeCounts]:
        end = 1 << (min(where.end, self.history_end).bit_length() - 2)
        while True:
            counted = count_range(parts, self._n_new, where, end)
            # Fewer keys have fewer histories, and in the end there are no keys.
            if counted.masks.size <= MAX_HISTORIES:
                return end, counted
            end //= 2
