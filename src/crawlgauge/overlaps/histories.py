"""Capture histories: for each pattern of crawls, how many URLs were captured in just those.

Host groups are the same, counted apart for groups of whole hosts: the URLs of a host come and go
together, and only whole hosts can tell how far that makes counts uncertain.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import OverlapError

__all__ = ["Histories"]

MAX_HISTORY_CRAWLS = 64
"""A history is one 64-bit word: a bit per crawl."""

MAX_HISTORIES = 1 << 18
"""Different histories that are counted at most. So many take 100 MB in the models; and keys with
so many different ones are at least as many, which is what estimates need for the error of sampling
to be a tenth of the others."""

_Masks = NDArray[np.uint64]
_Counts = NDArray[np.int64]

_EXACT_FLOAT = 2**53

_ROWS_AT_ONCE = 1 << 14
"""Histories whose bits are spread out at a time: 8 MB for 64 crawls."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histories:
    """How many URLs have each capture history.

    Parameters
    ----------
    n_crawls
        Number of crawls, at most 64.
    masks
        Distinct histories in rising order; bit j is set if crawl j (in date order) holds the URL.
    counts
        URLs with each history, all positive.
    sample_rate
        Share of the keys that the histories were counted from.
    """

    n_crawls: int
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    sample_rate: float = 1.0

    def __post_init__(self) -> None:
        _check_masks(self, counts_shape=())
        if np.any(self.counts < 1):
            raise OverlapError("every capture history needs a positive count")

    @property
    def n_urls(self) -> int:
        """Number of distinct URLs over all crawls (of the sample, where it is one)."""
        return int(self.counts.sum())

    def to_matrix(self) -> NDArray[np.bool_]:
        """Return a row for each history and a column for each crawl: True where captured."""
        shifts = np.arange(self.n_crawls, dtype=np.uint64)
        return ((self.masks[:, None] >> shifts) & np.uint64(1)).astype(np.bool_)

    def count_pairs(self) -> NDArray[np.int64]:
        """Return how many URLs each two crawls share; the diagonal holds the crawls' sizes."""
        return pairs_of_masks(self.masks, self.counts, self.n_crawls)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostGroups:
    """How many URLs of each of several groups of whole hosts have each capture history.

    Parameters
    ----------
    n_crawls
        Number of crawls, at most 64.
    n_groups
        Number of groups; which one a host belongs to is a matter of its name.
    masks
        As in `Histories`.
    counts
        A row for each history, a column for each group.
    sample_rate
        Share of the keys that they were counted from, as far as their hosts are known.
    """

    n_crawls: int
    n_groups: int
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    sample_rate: float

    def __post_init__(self) -> None:
        _check_masks(self, counts_shape=(self.n_groups,))
        if np.any(self.counts < 0) or np.any(self.counts.sum(axis=1) < 1):
            raise OverlapError("every capture history needs a positive count in some group")


def _check_masks(found: Histories | HostGroups, counts_shape: tuple[int, ...]) -> None:
    """See that histories and counts fit together, and keep them from being changed."""
    masks = np.ascontiguousarray(found.masks, dtype=np.uint64)
    counts = np.ascontiguousarray(found.counts, dtype=np.int64)
    if not 1 <= found.n_crawls <= MAX_HISTORY_CRAWLS:
        raise OverlapError(
            f"histories of {found.n_crawls} crawls; possible are 1 to {MAX_HISTORY_CRAWLS}"
        )
    if masks.ndim != 1 or counts.shape != (*masks.shape, *counts_shape):
        raise OverlapError("capture histories need one count for each history")
    if masks.size and (
        masks[0] == 0
        or np.any(masks[1:] <= masks[:-1])
        or int(masks[-1]).bit_length() > found.n_crawls
    ):
        raise OverlapError(
            "capture histories must be distinct, rising, not empty and within the crawls"
        )
    if not 0 < found.sample_rate <= 1:
        raise OverlapError(f"the histories' sample rate is {found.sample_rate}, not within 0 to 1")
    for name, array in (("masks", masks), ("counts", counts)):
        array.flags.writeable = False
        object.__setattr__(found, name, array)


def pairs_of_masks(masks: _Masks, counts: _Counts, n_crawls: int) -> _Counts:
    """Count from histories how many URLs each two crawls share, and those of each crawl.

    Parameters
    ----------
    masks, counts
        Histories and how many URLs have each.
    n_crawls
        Number of crawls, at most 64.
    """
    shifts = np.arange(n_crawls, dtype=np.uint64)
    # Sums below 2**53 are exact in floating point, whose matrix product is far faster.
    number = np.float64 if counts.sum() < _EXACT_FLOAT else np.int64
    n_shared = np.zeros((n_crawls, n_crawls), dtype=np.int64)
    for start in range(0, masks.size, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        captured = ((masks[rows, None] >> shifts) & np.uint64(1)).astype(number)
        n_shared += ((captured * counts[rows, None]).T @ captured).astype(np.int64)
    return n_shared


def move_bits(masks: NDArray[np.unsignedinteger], targets: _Masks) -> _Masks:
    """Return masks in which each bit stands for other crawls.

    Parameters
    ----------
    masks
        Of 16, 32 or 64 bits.
    targets
        For each bit of a mask what is set where it is: one bit, several, or none.

    Examples
    --------
    >>> move_bits(np.array([0b01, 0b11], np.uint16), np.array([0b100, 0b1], np.uint64)).tolist()
    [4, 5]
    """
    if np.array_equal(targets, np.uint64(1) << np.arange(targets.size, dtype=np.uint64)):
        return masks.astype(np.uint64)
    moved = np.zeros(masks.size, np.uint64)
    values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    # Eight bits at a time: a table tells what becomes of them.
    for place, octets in enumerate(masks.view(np.uint8).reshape(masks.size, masks.itemsize).T):
        own = targets[8 * place : 8 * place + 8]
        moved |= np.bitwise_or.reduce(values[:, : own.size] * own, axis=1, initial=0)[octets]
    return moved
