"""Count one hash range of all sets: capture histories of its lower part, pairs of the rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS
from crawlgauge.overlaps.cell_kernel import GROUP, cut_cells
from crawlgauge.overlaps.range_keys import RangeKeys
from crawlgauge.overlaps.tally_kernel import count_histories, count_pairs

__all__ = ["HashRange", "RangeCounts", "count_range"]

_CELL_KEYS_BITS = 13
"""Cells of some 8,000 keys: what two of them need while they are merged, half a megabyte, is what
a core's own cache holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashRange:
    """The keys that begin with certain bits.

    Parameters
    ----------
    number
        The bits, as a number.
    bits
        How many they are.
    """

    number: int
    bits: int

    @property
    def low(self) -> int:
        """Least key."""
        return self.number << (KEY_BITS - self.bits)

    @property
    def end(self) -> int:
        """What all keys are below."""
        return (self.number + 1) << (KEY_BITS - self.bits)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RangeCounts:
    """What was counted in a hash range.

    Parameters
    ----------
    masks, counts
        Histories that occur among the keys of the lower part, and how many have each; bit t is
        set t.
    n_shared
        How many keys of the upper part each new set shares with every set: a row for each new set,
        in which the sets before it are left at 0.
    """

    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    n_shared: NDArray[np.int64]


def count_range(parts: RangeKeys, n_new: int, where: HashRange, history_end: int) -> RangeCounts:
    """Count the keys that new sets hold in a hash range.

    Parameters
    ----------
    parts
        The keys of each set in the range, the new sets first.
    n_new
        How many sets are new; keys that only others hold are not counted.
    where
        The range.
    history_end
        Histories are counted of the keys below it, and pairs of the others.
    """
    middles = parts.starts
    if history_end > where.low:
        middles = parts.ends
        if history_end < where.end:
            within = [np.searchsorted(part, np.uint64(history_end)) for part in parts]
            middles = parts.starts + np.array(within, dtype=np.uint64)
    masks, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    n_shared = np.zeros((n_new, len(parts)), dtype=np.int64)
    if np.any(parts.starts[:n_new] < middles[:n_new]):
        places = _cut_cells(parts.keys, parts.starts, middles, n_new, where)
        masks, counts = count_histories(parts.keys, places, n_new)
    if np.any(middles[:n_new] < parts.ends[:n_new]):
        places = _cut_cells(parts.keys, middles, parts.ends, n_new, where)
        n_shared = count_pairs(parts.keys, places, n_new)
    return RangeCounts(masks=masks, counts=counts, n_shared=n_shared)


def _cut_cells(
    keys: NDArray[np.uint64],
    starts: NDArray[np.uint64],
    ends: NDArray[np.uint64],
    n_new: int,
    where: HashRange,
) -> NDArray[np.uint64]:
    """Find the cells in each set."""
    width_bits = KEY_BITS - where.bits
    by_size = (int((ends - starts).sum()) >> _CELL_KEYS_BITS).bit_length()
    by_masks = min(n_new, GROUP) - where.bits
    cell_bits = min(width_bits, max(by_size, by_masks, 1))
    return cut_cells(keys, starts, ends, np.uint64(where.low), width_bits, cell_bits)
