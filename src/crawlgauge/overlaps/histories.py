"""Capture histories: for each pattern of crawls, how many URLs were captured in just those."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import OverlapError

__all__ = ["MAX_HISTORY_CRAWLS", "Histories"]

MAX_HISTORY_CRAWLS = 64
"""A history is one 64-bit word: a bit per crawl."""

_EXACT_FLOAT = 2**53


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
        captured = self.to_matrix()
        if self.n_urls < _EXACT_FLOAT:
            # Sums below 2**53 are exact in floating point, whose matrix product is far faster.
            numbers = captured.astype(np.float64)
            product = (numbers * self.counts[:, None]).T @ numbers
            return np.rint(product).astype(np.int64)
        return np.array([self.counts[rows] @ captured[rows] for rows in captured.T], dtype=np.int64)
