"""What was counted over the crawls of several archives at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl

__all__ = ["ArchiveCounts", "HostCounts"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArchiveCounts:
    """How many URLs the crawls of several archives share, and what the archives hold.

    Parameters
    ----------
    crawls
        Of each archive, in order of date.
    n_shared
        For all crawls, archive after archive, how many URLs each two of them share.
    masks, counts
        Which archives hold a URL in any of their crawls (bit k is archive k), and how many URLs
        there are of each kind.
    sample_rate
        Share of the keys that was counted.
    level, key_rule
        What is compared, and by which rule URLs are the same.
    """

    crawls: tuple[tuple[Crawl, ...], ...]
    n_shared: NDArray[np.int64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    sample_rate: float
    level: str
    key_rule: str

    def shared(self, archive_a: int, crawl_a: int, archive_b: int, crawl_b: int) -> int:
        """Return how many URLs two crawls share, each named by its archive and its place there."""
        starts = np.cumsum([0, *map(len, self.crawls)])
        return int(self.n_shared[starts[archive_a] + crawl_a, starts[archive_b] + crawl_b])

    def held(self, *archives: int) -> int:
        """Return how many URLs all of the named archives hold."""
        bits = np.uint64(sum(1 << archive for archive in archives))
        return int(self.counts[(self.masks & bits) == bits].sum())

    def held_only(self, archive: int) -> int:
        """Return how many URLs no other archive holds."""
        return int(self.counts[self.masks == np.uint64(1 << archive)].sum())

    @property
    def n_distinct(self) -> int:
        """URLs that some archive holds."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostCounts:
    """Which archives hold the URLs of each host, in a sample of the URLs.

    Parameters
    ----------
    hosts
        Their names.
    n_only
        A row for each host, a column for each archive: URLs that no other archive holds.
    n_several
        URLs of each host that several archives hold.
    n_undisclosed
        For each archive, URLs of it alone whose host is not known.
    sample_rate
        Share of the URLs that was looked at.
    """

    hosts: tuple[str, ...]
    n_only: NDArray[np.int64]
    n_several: NDArray[np.int64]
    n_undisclosed: NDArray[np.int64]
    sample_rate: float
