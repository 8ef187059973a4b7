"""What is known of each crawl of the newest crawl's regime, as logarithms in order of time."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.alarm.comparable_levels import compare_levels
from crawlgauge.model.pairs import freeze_arrays, pair_data
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["Series", "find_repeats", "read_series"]

Numbers = NDArray[np.float64]

_RULE_OF_THREE = 3
"""Where nothing was counted, more than three were expected in one of twenty cases at most."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """The crawls of the newest crawl's regime.

    Parameters
    ----------
    first
        Position of the first of them among all crawls.
    years
        Time of each.
    log_size
        Logarithm of the URLs of each.
    log_level
        Logarithm of the coverage of each, up to a constant; NaN where it is not known.
    error
        Standard error of the newest crawl's level by counting alone.
    partner
        Position among all crawls of the last one before the newest whose overlap with it is known;
        None if there is none.
    overlap
        Share of the newest crawl's URLs that the partner holds; None without one.
    shares_nothing
        Whether the newest crawl shares nothing with any earlier one; its level is then the most
        that it may be.
    """

    first: int
    years: Numbers
    log_size: Numbers
    log_level: Numbers
    error: float
    partner: int | None
    overlap: float | None
    shares_nothing: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, "years", "log_size", "log_level")

    @property
    def log_partner(self) -> float | None:
        """What to add to the newest crawl's log level minus log size for the log of the overlap."""
        if not self.overlap or np.isnan(self.log_level[-1]):
            return None
        return math.log(self.overlap) - float(self.log_level[-1] - self.log_size[-1])


def read_series(table: OverlapTable, first: int = 0) -> Series:
    """Read off what an overlap table tells of the crawls that the newest one is comparable with.

    Parameters
    ----------
    table
        Overlaps of one crawl or more, without those across a change of scope.
    first
        Position of the first crawl of the newest crawl's scope.
    """
    newest = table.n_crawls - 1
    with_newest = table.n_shared[:newest, newest]
    known = np.flatnonzero(with_newest != MISSING)
    shares_nothing = known.size > 0 and not with_newest[known].any()
    partner = int(known[-1]) if known.size else None
    filled = table
    if shares_nothing:
        n_shared = table.n_shared.copy()
        sizes = np.array([crawl.n_counted for crawl in table.crawls])
        most = np.minimum(_RULE_OF_THREE, np.minimum(sizes[known], sizes[newest]))
        n_shared[known, newest] = n_shared[newest, known] = most
        filled = replace(table, n_shared=n_shared, histories=None)
    pairs = pair_data(filled)
    of_newest = pairs.log_variance[(pairs.end == newest) & (pairs.start < newest)]
    return Series(
        first=first,
        years=pairs.years[first:],
        log_size=np.log(pairs.n_urls[first:]),
        log_level=compare_levels(pairs)[first:],
        error=float(np.sqrt(of_newest.min(initial=np.inf))) if of_newest.size else 0.0,
        partner=partner,
        overlap=None if partner is None else with_newest[partner] / table.crawls[-1].n_counted,
        shares_nothing=bool(shares_nothing),
    )


def find_repeats(table: OverlapTable) -> list[tuple[str, str]]:
    """Return the labels of crawls that hold the same as an earlier one, with those of the latter.

    Parameters
    ----------
    table
        Overlaps of one crawl or more.
    """
    sizes = [crawl.n_counted for crawl in table.crawls]
    repeats = []
    for later in range(1, table.n_crawls):
        same = [
            earlier
            for earlier in range(later)
            if sizes[earlier] == sizes[later] == table.n_shared[earlier, later] > 0
        ]
        if same:
            repeats.append((table.crawls[later].label, table.crawls[same[0]].label))
    return repeats
