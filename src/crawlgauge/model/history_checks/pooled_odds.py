"""Odds ratios between two events in the life of a URL, pooled over many tables of two by two.

Mantel and Haenszel's estimate stays right however thin the tables are. Its error follows from
the histories themselves: each URL counts once, in however many tables it stands.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = ["PooledOdds", "compare_events", "no_odds"]

Events = NDArray[np.bool_]
Gains = NDArray[np.float64]

_MAX_STRATA = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PooledOdds:
    """How much more often two events occur together than apart, over several tables.

    Parameters
    ----------
    together, apart
        Sums of a·d/n and of b·c/n over the tables, where a and d count URLs with both or neither
        event, b and c those with one only, and n all.
    together_gain, apart_gain
        For each history, what one more URL would add to them.
    """

    together: float
    apart: float
    together_gain: NDArray[np.float64]
    apart_gain: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "together_gain", "apart_gain")

    def __add__(self, other: Self) -> "PooledOdds":
        return PooledOdds(
            together=self.together + other.together,
            apart=self.apart + other.apart,
            together_gain=self.together_gain + other.together_gain,
            apart_gain=self.apart_gain + other.apart_gain,
        )

    @property
    def is_known(self) -> bool:
        """Whether the ratio is above 0 and finite."""
        return self.together > 0 and self.apart > 0

    @property
    def log_ratio(self) -> float:
        """Logarithm of the odds ratio: 0 if neither event favours the other; NaN if unknown."""
        return math.log(self.together / self.apart) if self.is_known else math.nan

    @property
    def log_gain(self) -> NDArray[np.float64]:
        """What one more URL of each history would add to the logarithm."""
        return self.together_gain / self.together - self.apart_gain / self.apart

    def error(self, counts: NDArray[np.float64]) -> float:
        """Return the standard error of the logarithm, were the URLs independent; NaN if unknown.

        Parameters
        ----------
        counts
            URLs with each history.
        """
        return math.sqrt(float(counts @ self.log_gain**2)) if self.is_known else math.nan


def compare_events(
    counts: NDArray[np.float64],
    first: Events,
    second: Events,
    *,
    among: Events,
    given: tuple[Events, ...] = (),
) -> PooledOdds:
    """Compare two events among some URLs, in one table for each combination of others.

    Parameters
    ----------
    counts
        URLs with each history.
    first, second
        For each history, whether the event occurs.
    among
        Which histories count.
    given
        Further events; URLs are compared only with those that are alike in all of them.

    Examples
    --------
    >>> both = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> every = np.ones(4, dtype=np.bool_)
    >>> odds = compare_events(np.array([30.0, 10.0, 20.0, 40.0]), *both, among=every)
    >>> math.exp(odds.log_ratio)
    6.0
    """
    n_strata = 1 << len(given)
    if n_strata > _MAX_STRATA:
        raise ValueError(f"{len(given)} events make too many tables")
    cell = np.zeros(counts.size, dtype=np.int64)
    for event in (*given, first, second):
        cell = 2 * cell + event
    n_urls: Gains = np.bincount(cell[among], counts[among], minlength=4 * n_strata).astype(
        np.float64
    )
    neither, second_only, first_only, both = n_urls.reshape(n_strata, 4).T
    total = neither + second_only + first_only + both
    divisor = np.where(total > 0, total, 1.0)
    together, apart = both * neither / divisor, first_only * second_only / divisor
    none = np.zeros(n_strata)

    def gain(partners: tuple[NDArray[np.float64], ...], mean: NDArray[np.float64]) -> Gains:
        by_cell = (np.column_stack(partners) - mean[:, None]) / divisor[:, None]
        gains: Gains = np.where(among, by_cell.ravel()[cell], 0.0)
        return gains

    return PooledOdds(
        together=float(together.sum()),
        apart=float(apart.sum()),
        together_gain=gain((both, none, none, neither), together),
        apart_gain=gain((none, first_only, second_only, none), apart),
    )


def no_odds(n_histories: int) -> PooledOdds:
    """Return the sum of no tables, to which others are added.

    Parameters
    ----------
    n_histories
        How many histories there are.
    """
    nothing = np.zeros(n_histories)
    return PooledOdds(together=0.0, apart=0.0, together_gain=nothing, apart_gain=nothing)
