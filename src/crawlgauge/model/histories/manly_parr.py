"""The estimates of Manly and Parr: coverage among URLs that are known to be alive.

A URL seen both before and after a crawl was alive at it, whatever the law of its survival. The
share of such URLs that the crawl holds is its coverage, if all are captured alike. The rested form
allows for a crawler that avoids, or prefers, what it fetched of late.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.jolly_seber import LAST_CRAWL
from crawlgauge.model.pairs import freeze_arrays
from crawlgauge.model.two_way import FIRST_CRAWL

__all__ = ["fit_manly_parr", "fit_rested_manly_parr"]

_NONE_KNOWN = "not identifiable: no URL is seen both before and after it"
_NONE_HELD = "not identifiable: it holds no URL that is seen both before and after it"
_TOO_NEAR_END = "not identifiable: too near the first or the last crawl"
_NONE_RECENT_HELD = (
    "not identifiable: it holds no URL of the crawl before, so that those alive cannot be counted"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManlyParrFit:
    """Coverage of each crawl among URLs known to be alive.

    Parameters
    ----------
    coverage, coverage_se
        For each crawl; NaN where not known.
    reasons
        For each crawl, why it is not known; None otherwise.
    n_known
        For each crawl, the URLs known to be alive that the coverage rests on.
    """

    coverage: NDArray[np.float64]
    coverage_se: NDArray[np.float64]
    reasons: tuple[str | None, ...]
    n_known: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "coverage", "coverage_se", "n_known")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What is known of one crawl."""

    coverage: float = np.nan
    se: float = np.nan
    n_known: float = 0.0
    reason: str | None = None


def fit_manly_parr(data: HistoryData) -> ManlyParrFit:
    """Estimate the coverage of each crawl but the first and the last.

    Parameters
    ----------
    data
        Capture histories.
    """
    first, last = _find_ends(data)

    def judge(crawl: int) -> _Result:
        if crawl in {0, data.n_crawls - 1}:
            return _Result(reason=FIRST_CRAWL if crawl == 0 else LAST_CRAWL)
        known = (first < crawl) & (last > crawl)
        n_known, n_held = _count(data, known, crawl)
        if n_held == 0:
            return _Result(n_known=n_known, reason=_NONE_HELD if n_known else _NONE_KNOWN)
        share = n_held / n_known
        return _Result(
            coverage=share, se=float(np.sqrt(_share_variance(share, n_known))), n_known=n_known
        )

    return _collect([judge(crawl) for crawl in range(data.n_crawls)])


def fit_rested_manly_parr(data: HistoryData, *, rest: int = 1) -> ManlyParrFit:
    """Estimate coverage apart for the URLs captured of late and for those that were not.

    URLs count as known alive at a crawl if they are seen before it, and again later than `rest`
    crawls after it, so that what happens at the crawl does not decide whether they are known. The
    captured ones of either kind, divided by the share that is captured, make the population.

    Parameters
    ----------
    data
        Capture histories.
    rest
        How many of the crawls just before count as of late.
    """
    _, last = _find_ends(data)

    def judge(crawl: int) -> _Result:
        if not rest < crawl < data.n_crawls - rest - 1:
            return _Result(reason=_TOO_NEAR_END)
        recent = np.any(data.captured[:, crawl - rest : crawl], axis=1)
        old = np.any(data.captured[:, : crawl - rest], axis=1) & ~recent
        after = last > crawl + rest
        return _judge_rested(
            old=_count(data, old & after, crawl),
            recent=_count(data, recent & after, crawl),
            n_captured=_count(data, np.ones_like(recent), crawl)[1],
            n_recent_captured=_count(data, recent, crawl)[1],
        )

    return _collect([judge(crawl) for crawl in range(data.n_crawls)])


def _judge_rested(
    *,
    old: tuple[float, float],
    recent: tuple[float, float],
    n_captured: float,
    n_recent_captured: float,
) -> _Result:
    n_known = old[0] + recent[0]
    if old[1] == 0:
        return _Result(n_known=n_known, reason=_NONE_HELD if old[0] else _NONE_KNOWN)
    if recent[1] == 0:
        return _Result(n_known=n_known, reason=_NONE_RECENT_HELD)
    population, variance = 0.0, 0.0
    for (n_alive, n_held), n_all in (
        (old, n_captured - n_recent_captured),
        (recent, n_recent_captured),
    ):
        share = n_held / n_alive
        population += n_all / share
        variance += (n_all / share**2) ** 2 * _share_variance(share, n_alive)
    coverage = n_captured / population
    return _Result(
        coverage=coverage, se=coverage * float(np.sqrt(variance)) / population, n_known=n_known
    )


def _share_variance(share: float, n: float) -> float:
    return share * (1 - share) / n


def _find_ends(data: HistoryData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last crawl that holds the URLs of each history."""
    first = np.argmax(data.captured, axis=1)
    last = data.n_crawls - 1 - np.argmax(data.captured[:, ::-1], axis=1)
    return first, last


def _count(data: HistoryData, chosen: NDArray[np.bool_], crawl: int) -> tuple[float, float]:
    """Return how many URLs are chosen, and how many of them the crawl holds."""
    held = chosen & data.captured[:, crawl]
    return float(data.counts[chosen].sum()), float(data.counts[held].sum())


def _collect(results: list[_Result]) -> ManlyParrFit:
    return ManlyParrFit(
        coverage=np.array([result.coverage for result in results]),
        coverage_se=np.array([result.se for result in results]),
        reasons=tuple(result.reason for result in results),
        n_known=np.array([result.n_known for result in results]),
    )
