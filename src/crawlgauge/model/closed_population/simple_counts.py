"""Estimates for a population without births or deaths, for comparison.

On crawls of a living web they are wrong by construction: URLs that died, or were not yet born, at
one of the crawls count as missed by it, and the population comes out too large.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData

__all__ = [
    "ClosedEstimate",
    "estimate_chao",
    "estimate_chapman",
    "estimate_lincoln_petersen",
    "estimate_schnabel",
]

_NOTHING_SHARED = "not identifiable: the two newest crawls share nothing"
_NOTHING_AGAIN = "not identifiable: no URL is captured twice"
_NO_TWICE = "not identifiable: no URL is captured just twice"
_ONE_CRAWL = "not identifiable: there is one crawl only"
_TWO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedEstimate:
    """The size of a population that is taken to be closed.

    Parameters
    ----------
    population
        Of the URLs that the histories were counted from, all or a sample; NaN if not known.
    standard_error
        Of sampling alone; NaN if not known.
    reason
        Why one of them is not known; None if both are.
    n_newest
        The newest crawls that it is made from.
    """

    population: float
    standard_error: float
    reason: str | None
    n_newest: int

    def coverage(self, data: HistoryData) -> NDArray[np.float64]:
        """Return the coverage of each crawl that it is made from; NaN for the others."""
        used = np.arange(data.n_crawls) >= data.n_crawls - self.n_newest
        return np.where(used & (data.sizes > 0), data.sizes / self.population, np.nan)


def estimate_lincoln_petersen(data: HistoryData) -> ClosedEstimate:
    """Estimate the population from the two newest crawls: product of sizes over overlap.

    Parameters
    ----------
    data
        Capture histories.
    """
    if data.n_crawls < _TWO:
        return _unknown(_ONE_CRAWL, data.n_crawls)
    one, other, both = _newest_pair(data)
    if both == 0:
        return _unknown(_NOTHING_SHARED, _TWO)
    return _known(one * other / both, one * other * (one - both) * (other - both) / both**3, _TWO)


def estimate_chapman(data: HistoryData) -> ClosedEstimate:
    """Estimate the population from the two newest crawls, corrected for small overlaps.

    Parameters
    ----------
    data
        Capture histories.
    """
    if data.n_crawls < _TWO:
        return _unknown(_ONE_CRAWL, data.n_crawls)
    one, other, both = _newest_pair(data)
    if both == 0:
        # Finite without any overlap, but then it says only that the population is large.
        return _unknown(_NOTHING_SHARED, _TWO)
    product = (one + 1) * (other + 1)
    return _known(
        product / (both + 1) - 1,
        product * (one - both) * (other - both) / ((both + 1) ** 2 * (both + 2)),
        _TWO,
    )


def estimate_schnabel(data: HistoryData) -> ClosedEstimate:
    """Estimate the population from all crawls, each set against all URLs known before it.

    Parameters
    ----------
    data
        Capture histories.
    """
    seen = np.zeros(data.counts.shape, dtype=np.bool_)
    known = np.zeros(data.n_crawls)
    n_again = 0.0
    for crawl, held in enumerate(data.captured.T):
        known[crawl] = data.counts[seen].sum()
        n_again += float(data.counts[held & seen].sum())
        seen |= held
    if n_again == 0:
        return _unknown(_NOTHING_AGAIN, data.n_crawls)
    population = float(data.sizes @ known) / n_again
    # Each crawl draws without replacement, given what is known before it. With two crawls this
    # is the variance of Lincoln and Petersen.
    drawn, marked = data.sizes / population, known / population
    spread = drawn * marked * np.maximum(1 - drawn, 0) * np.maximum(1 - marked, 0)
    return _known(population, float(spread.sum()) * population**3 / n_again**2, data.n_crawls)


def estimate_chao(data: HistoryData) -> ClosedEstimate:
    """Estimate the least population from the URLs captured once and those captured twice.

    With f_k URLs captured just k times in T crawls, and n in all, the population is at least
    ``n + (T − 1)/T · f_1²/(2·f_2)``, however unevenly the URLs are captured.

    Parameters
    ----------
    data
        Capture histories.
    """
    times = np.sum(data.captured, axis=1)
    once, twice = (float(data.counts[times == k].sum()) for k in (1, 2))
    if once == 0:
        return _known(data.n_urls, 0.0, data.n_crawls)
    if twice == 0:
        return _unknown(_NO_TWICE, data.n_crawls)
    share, ratio = (data.n_crawls - 1) / data.n_crawls, once / twice
    return _known(
        data.n_urls + share * once * ratio / 2,
        twice * (share * ratio**2 / 2 + share**2 * ratio**3 + share**2 * ratio**4 / 4),
        data.n_crawls,
    )


def _newest_pair(data: HistoryData) -> tuple[float, float, float]:
    one, other = data.captured[:, -2], data.captured[:, -1]
    return (
        float(data.counts[one].sum()),
        float(data.counts[other].sum()),
        float(data.counts[one & other].sum()),
    )


def _known(population: float, variance: float, n_newest: int) -> ClosedEstimate:
    return ClosedEstimate(
        population=float(population),
        standard_error=math.sqrt(variance),
        reason=None,
        n_newest=n_newest,
    )


def _unknown(reason: str, n_newest: int) -> ClosedEstimate:
    return ClosedEstimate(
        population=np.nan, standard_error=np.nan, reason=reason, n_newest=n_newest
    )
