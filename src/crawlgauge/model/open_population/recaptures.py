"""When captured URLs are seen again: all that the models of open populations need to know."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import FitError
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Recaptures", "count_recaptures"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recaptures:
    """For each crawl, how many of its URLs are seen again next in each later one.

    Its size depends on the number of crawls only, however many URLs there are.

    Parameters
    ----------
    n_captured
        URLs of each crawl.
    n_released
        Those of them that can be captured again: all URLs, but not all animals.
    n_next
        A row for each crawl, a column for each later crawl: URLs that it is the next to hold.
    years
        Time of each crawl, in years since the first.
    """

    n_captured: NDArray[np.float64]
    n_released: NDArray[np.float64]
    n_next: NDArray[np.float64]
    years: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "n_captured", "n_released", "n_next", "years")

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.years.size

    @property
    def interval_years(self) -> NDArray[np.float64]:
        """Time from each crawl but the last to the next."""
        return np.diff(self.years)

    @property
    def n_seen_before(self) -> NDArray[np.float64]:
        """URLs of each crawl that an earlier crawl holds."""
        return np.ones(self.n_crawls) @ self.n_next

    @property
    def n_seen_again(self) -> NDArray[np.float64]:
        """URLs of each crawl that a later crawl holds."""
        return self.n_next @ np.ones(self.n_crawls)

    @property
    def n_missed(self) -> NDArray[np.float64]:
        """URLs that each crawl missed although they were alive: seen both before and after it."""
        begun = np.cumsum(self.n_seen_again) - self.n_seen_again
        ended = np.cumsum(self.n_seen_before)
        return begun - ended


def count_recaptures(data: HistoryData, *, n_lost: NDArray[np.float64] | None = None) -> Recaptures:
    """Count for each crawl when its URLs are captured next.

    Parameters
    ----------
    data
        Capture histories.
    n_lost
        For each history, how many were not released after their last capture, as happens to
        animals; none if not given.

    Raises
    ------
    FitError
        If more are lost than captured, or the numbers do not fit the histories.
    """
    n_crawls = data.n_crawls
    # Row by row, and in date order within each row: a neighbour of the same row comes next.
    row, crawl = np.nonzero(data.captured)
    together = row[1:] == row[:-1]
    cell = crawl[:-1][together] * n_crawls + crawl[1:][together]
    n_next = np.bincount(cell, weights=data.counts[row[1:][together]], minlength=n_crawls**2)
    sizes = data.sizes
    return Recaptures(
        n_captured=sizes,
        n_released=sizes - _count_lost(data, n_lost),
        n_next=n_next.reshape(n_crawls, n_crawls).astype(np.float64),
        years=data.years,
    )


def _count_lost(
    data: HistoryData, n_lost: NDArray[np.float64] | None
) -> NDArray[np.float64] | float:
    if n_lost is None:
        return 0.0
    if n_lost.shape != data.counts.shape or np.any((n_lost < 0) | (n_lost > data.counts)):
        raise FitError(
            "the numbers of those not released must be one for each history, from 0 to the number "
            "that has the history"
        )
    last = data.n_crawls - 1 - np.argmax(data.captured[:, ::-1], axis=1)
    return np.bincount(last, weights=n_lost, minlength=data.n_crawls).astype(np.float64)
