"""Regimes: stretches of a series within which the crawler's scope and settings did not change.

Crawls of different regimes draw from different populations, so that a pair across a change says
nothing about the coverage of either; pairs within a regime do.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from crawlgauge.model.check_change_point import ChangePoint
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["Regime", "drop_pairs_across", "split_at"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """Consecutive crawls of one scope.

    Parameters
    ----------
    first, last
        Positions of its first and last crawl, from 0 in date order.
    """

    first: int
    last: int

    @property
    def positions(self) -> range:
        """Positions of its crawls."""
        return range(self.first, self.last + 1)


def split_at(n_crawls: int, changes: tuple[ChangePoint, ...]) -> tuple[Regime, ...]:
    """Divide a series at every change that is certain; one regime if there is none.

    Parameters
    ----------
    n_crawls
        Number of crawls in the series.
    changes
        From `find_changes`, in date order.
    """
    firsts = (change.first for change in changes if change.is_certain)
    return tuple(
        Regime(first=first, last=following - 1)
        for first, following in itertools.pairwise((0, *firsts, n_crawls))
    )


def drop_pairs_across(table: OverlapTable, regimes: tuple[Regime, ...]) -> OverlapTable:
    """Make the overlaps of crawls of different regimes unknown.

    Parameters
    ----------
    table
        The overlaps of the whole series.
    regimes
        From `split_at`.
    """
    number = np.repeat(np.arange(len(regimes)), [len(regime.positions) for regime in regimes])
    across = number[:, None] != number
    return replace(table, n_shared=np.where(across, MISSING, table.n_shared))
