"""Count capture histories by what each crawl did with them: kept, new, recovered, dropped.

With the crawls in date order, let *before* and *after* mean "in some earlier crawl" and "in some
later crawl". For each crawl:

==========  ======================================================================
kept        in it and in the previous crawl
recovered   in it and in an earlier crawl, but not in the previous one
new         in it and in no earlier crawl
forgotten   not in it, but in the previous crawl and after
lost        not in it, but in the previous crawl, and not after
missed      not in it, but before and after
==========  ======================================================================

so that ``held = kept + recovered + new``, ``held of the previous crawl = kept + forgotten + lost``
and ``missed = missed of the previous crawl - recovered + forgotten``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays
from crawlgauge.overlaps.histories import Histories

__all__ = ["Categories", "count_categories"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Categories:
    """URLs of each category, a number for each crawl; of the sample, where it is one.

    Parameters
    ----------
    held
        URLs of the crawl.
    kept, recovered, new
        Parts of `held`. For the first crawl all are new, and for the second none recovered, as
        there is nothing to compare with.
    forgotten, lost
        Parts of what the previous crawl holds and this one does not. For the last crawl all are
        lost, as there is no later one.
    missed
        URLs that were captured before and after, and not by this crawl.
    """

    held: NDArray[np.int64]
    kept: NDArray[np.int64]
    recovered: NDArray[np.int64]
    new: NDArray[np.int64]
    forgotten: NDArray[np.int64]
    lost: NDArray[np.int64]
    missed: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "held", "kept", "recovered", "new", "forgotten", "lost", "missed")

    @property
    def added(self) -> NDArray[np.int64]:
        """URLs of the crawl that the previous one does not hold."""
        return self.recovered + self.new

    @property
    def dropped(self) -> NDArray[np.int64]:
        """URLs of the previous crawl that this one does not hold."""
        return self.forgotten + self.lost


def count_categories(histories: Histories) -> Categories:
    """Count the URLs of each category for each crawl.

    Parameters
    ----------
    histories
        Of the crawls in date order.

    Examples
    --------
    >>> histories = Histories(n_crawls=3, masks=np.array([0b101, 0b111], dtype=np.uint64),
    ...                       counts=np.array([4, 10]))
    >>> categories = count_categories(histories)
    >>> categories.forgotten.tolist(), categories.recovered.tolist(), categories.missed.tolist()
    ([0, 4, 0], [0, 0, 4], [0, 4, 0])
    """
    rows = [_count(histories, position) for position in range(histories.n_crawls)]
    columns = np.array(rows, dtype=np.int64).T
    held, kept, recovered, new, forgotten, lost, missed = columns
    return Categories(
        held=held,
        kept=kept,
        recovered=recovered,
        new=new,
        forgotten=forgotten,
        lost=lost,
        missed=missed,
    )


def _count(histories: Histories, position: int) -> tuple[int, ...]:
    masks, counts = histories.masks, histories.counts
    bit = np.uint64(1 << position)
    is_held = (masks & bit) != 0
    was_before = (masks & np.uint64((1 << position) - 1)) != 0
    was_previous = (masks & (bit >> np.uint64(1))) != 0
    # In two steps, since a word cannot be shifted by all of its bits.
    is_after = (masks >> np.uint64(position)) > 1
    chosen = (
        is_held,
        is_held & was_previous,
        is_held & was_before & ~was_previous,
        is_held & ~was_before,
        ~is_held & was_previous & is_after,
        ~is_held & was_previous & ~is_after,
        ~is_held & was_before & is_after,
    )
    return tuple(int(counts[rows].sum()) for rows in chosen)
