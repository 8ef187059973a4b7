"""Capture histories: for each pattern of crawls, how many URLs were captured in just those."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import OverlapError

__all__ = ["MAX_HISTORY_CRAWLS", "Histories", "pairs_of_masks"]

MAX_HISTORY_CRAWLS = 64
"""A history is one 64-bit word: a bit per crawl."""

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
        masks = np.ascontiguousarray(self.masks, dtype=np.uint64)
        counts = np.ascontiguousarray(self.counts, dtype=np.int64)
        if not 1 <= self.n_crawls <= MAX_HISTORY_CRAWLS:
            raise OverlapError(
                f"histories of {self.n_crawls} crawls; possible are 1 to {MAX_HISTORY_CRAWLS}"
            )
        if masks.ndim != 1 or masks.shape != counts.shape:
            raise OverlapError("capture histories need one count for each history")
        if masks.size and (
            masks[0] == 0
            or np.any(masks[1:] <= masks[:-1])
            or int(masks[-1]).bit_length() > self.n_crawls
        ):
            raise OverlapError(
                "capture histories must be distinct, rising, not empty and within the crawls"
            )
        if np.any(counts < 1):
            raise OverlapError("every capture history needs a positive count")
        if not 0 < self.sample_rate <= 1:
            raise OverlapError(
                f"the histories' sample rate is {self.sample_rate}, not within 0 to 1"
            )
        masks.flags.writeable = False
        counts.flags.writeable = False
        object.__setattr__(self, "masks", masks)
        object.__setattr__(self, "counts", counts)

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


def pairs_of_masks(
    masks: NDArray[np.uint64], counts: NDArray[np.int64], n_crawls: int
) -> NDArray[np.int64]:
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
