"""Count one hash range of all sets: capture histories of its lower part, pairs of the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS
from crawlgauge.overlaps.cell_kernel import GROUP, cut_cells
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


def count_range(
    parts: Sequence[NDArray[np.uint64]], n_new: int, where: HashRange, history_end: int
) -> RangeCounts:
    """Count the keys that new sets hold in a hash range.

    Parameters
    ----------
    parts
        The sorted keys of each set in the range, the new sets first.
    n_new
        How many sets are new; keys that only others hold are not counted.
    where
        The range.
    history_end
        Histories are counted of the keys below it, and pairs of the others.
    """
    lower, upper = _cut(parts, where, history_end)
    masks, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    n_shared = np.zeros((n_new, len(parts)), dtype=np.int64)
    if any(part.size for part in lower[:n_new]):
        masks, counts = count_histories(*_lay_out(lower, n_new, where), n_new)
    if any(part.size for part in upper[:n_new]):
        n_shared = count_pairs(*_lay_out(upper, n_new, where), n_new)
    return RangeCounts(masks=masks, counts=counts, n_shared=n_shared)


def _cut(
    parts: Sequence[NDArray[np.uint64]], where: HashRange, history_end: int
) -> tuple[Sequence[NDArray[np.uint64]], Sequence[NDArray[np.uint64]]]:
    nothing = [np.empty(0, dtype=np.uint64)] * len(parts)
    if history_end <= where.low:
        return nothing, parts
    if history_end >= where.end:
        return parts, nothing
    places = [np.searchsorted(part, np.uint64(history_end)) for part in parts]
    return (
        [part[:place] for part, place in zip(parts, places, strict=True)],
        [part[place:] for part, place in zip(parts, places, strict=True)],
    )


def _lay_out(
    parts: Sequence[NDArray[np.uint64]], n_new: int, where: HashRange
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Put the sets one after the other, and find the cells in them."""
    keys = np.concatenate(parts)
    bounds = np.cumsum([0, *(part.size for part in parts)], dtype=np.uint64)
    width_bits = KEY_BITS - where.bits
    by_size = (keys.size >> _CELL_KEYS_BITS).bit_length()
    by_masks = min(n_new, GROUP) - where.bits
    cell_bits = min(width_bits, max(by_size, by_masks, 1))
    return keys, cut_cells(keys, bounds, np.uint64(where.low), width_bits, cell_bits)
