"""What was counted of some sets, and how it changes when sets come and go."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.overlaps.history_tally import MAX_HISTORIES, PassCounts

__all__ = ["Counts", "Subject", "add_new_sets", "counts_of_pass", "select_sets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What counts are about; the same subject always has the same counts.

    Parameters
    ----------
    level, key_rule
        What the keys stand for, and the rule that made them.
    threshold
        Keys below it were counted.
    checksums
        Of the keys of each set.
    """

    level: str
    key_rule: str
    threshold: int
    checksums: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Overlaps and capture histories of sets.

    Parameters
    ----------
    subject
        Of which sets; everything else is in their order.
    n_shared
        Keys that each two share; the diagonal holds those of each.
    masks, counts
        Histories of the keys below `history_end`, in rising order, and how many keys have each;
        bit t is set t.
    history_end
        The threshold, or less if there are too many different histories below it; 0 if there are
        too many sets for histories.
    """

    subject: Subject
    n_shared: NDArray[np.int64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    history_end: int

    def __post_init__(self) -> None:
        for name in ("n_shared", "masks", "counts"):
            getattr(self, name).flags.writeable = False


def counts_of_pass(subject: Subject, counted: PassCounts) -> Counts:
    """Return what a pass over all sets of a subject, all of them new, has counted."""
    return Counts(
        subject=subject,
        n_shared=counted.n_shared,
        masks=counted.masks,
        counts=counted.counts,
        history_end=counted.history_end,
    )


def select_sets(known: Counts, places: Sequence[int]) -> Counts:
    """Return the counts of some of the sets, in any order.

    Parameters
    ----------
    known
        Counts of all of them.
    places
        Which ones; a set may come several times.
    """
    checksums = tuple(known.subject.checksums[place] for place in places)
    masks, counts = _sum_equal(_move_bits(known.masks, places), known.counts)
    return Counts(
        subject=replace(known.subject, checksums=checksums),
        n_shared=known.n_shared[np.ix_(places, places)],
        masks=masks,
        counts=counts,
        history_end=known.history_end,
    )


def add_new_sets(
    subject: Subject, known: Counts, counted: PassCounts, new: Sequence[int]
) -> Counts | None:
    """Put together what is known of old sets and what a pass has counted of new ones.

    A key that a new set holds has been counted with the history that it has among the old sets;
    it is taken off there.

    Parameters
    ----------
    subject
        All sets.
    known
        Counts of the old ones, in their order.
    counted
        Of the new ones, which come first in it, then the old ones.
    new
        Where the new ones stand in the subject, in rising order.

    Returns
    -------
    Counts or None
        None if histories are cut at different ends, or are too many different ones together, or
        if the two contradict each other.
    """
    n_sets = len(subject.checksums)
    old = [place for place in range(n_sets) if place not in set(new)]
    order = [*new, *old]
    n_shared = np.empty((n_sets, n_sets), dtype=np.int64)
    n_shared[np.ix_(old, old)] = known.n_shared
    n_shared[np.ix_(new, order)] = counted.n_shared
    n_shared[np.ix_(order, new)] = counted.n_shared.T
    masks, counts = counted.masks, counted.counts
    if counted.history_end:
        if counted.history_end != known.history_end:
            return None
        # As the pass has them: the bits of the new sets below those of the old ones.
        of_old = known.masks << np.uint64(len(new))
        among_old = masks & ~np.uint64((1 << len(new)) - 1)
        masks, counts = _sum_equal(
            np.concatenate([of_old, masks, among_old]),
            np.concatenate([known.counts, counts, -counts]),
        )
        if masks.size > MAX_HISTORIES or np.any(counts < 0):
            return None
        masks = _move_bits(masks, np.argsort(order).tolist())
        by_mask = np.argsort(masks)
        masks, counts = masks[by_mask], counts[by_mask]
    return Counts(
        subject=subject,
        n_shared=n_shared,
        masks=masks,
        counts=counts,
        history_end=counted.history_end,
    )


def _move_bits(masks: NDArray[np.uint64], places: Sequence[int]) -> NDArray[np.uint64]:
    """Return masks whose bit k is the bit ``places[k]`` of the given ones."""
    moved = np.zeros_like(masks)
    for bit, place in enumerate(places):
        moved |= ((masks >> np.uint64(place)) & np.uint64(1)) << np.uint64(bit)
    return moved


def _sum_equal(
    masks: NDArray[np.uint64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Add up the counts of equal masks; leave out the empty mask and those that add up to 0."""
    order = np.argsort(masks)
    masks, counts = masks[order], counts[order]
    starts = np.flatnonzero(np.diff(masks, prepend=np.uint64(0)) != 0)
    masks = masks[starts]
    counts = np.add.reduceat(counts, starts) if starts.size else counts[:0]
    return masks[counts != 0], counts[counts != 0]
