"""Whether capture in one crawl goes with capture in another, among URLs known to be alive.

A URL that is seen before and after some crawls was alive at all of them, whatever its fellows
live for. If capture is even, being captured by one of those crawls says nothing about another.
If URLs differ lastingly in how readily they are captured, it does at any distance; if a crawler
avoids or repeats its last crawl, it does for crawls next to each other. Two crawls are therefore
compared among URLs that are alike in all other crawls around: a policy that looks back over K
crawls leaves no trace in crawls more than K apart, whereas lasting differences do.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_checks.pooled_odds import PooledOdds, compare_events, no_odds
from crawlgauge.model.history_data import HistoryData

__all__ = ["MIN_CRAWLS", "CaptureDependence", "LogOdds", "Scatter", "measure_dependence"]

MIN_CRAWLS = 6
"""Of fewer, only one pair two crawls apart lies within others, which shows no scatter."""

_MAX_LAG = 3
# Crawls one or two apart are compared in the same blocks, so that the two lags can be compared.
_BLOCK = 5
_SHORT = 2
# A single pair of crawls whose error is larger tells nothing about scatter, and its logarithm is
# far from normal.
_MAX_PAIR_ERROR = 1.0
# Standard errors, were the URLs independent, from which on avoidance is plain.
_PLAIN = 5.0
# Of so many URLs that crawls hold one by one, as many again should be in both or neither.
_MIN_APART = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """How much more results scatter between crawls than independent URLs would make them.

    Parameters
    ----------
    ratio
        Variance over that of independent URLs; large where URLs of a host come and go together.
    n_freedom
        Degrees of freedom that it is estimated with.
    """

    ratio: float
    n_freedom: int

    def is_certain(self, effect: float, error: float, tail: float) -> bool:
        """Tell whether an effect is above zero, beyond what scatter explains.

        Parameters
        ----------
        effect
            The effect.
        error
            Its standard error, were the URLs independent.
        tail
            In what share of the cases an effect that is zero may be taken for certain.
        """
        from scipy.special import ndtri, stdtrit

        if math.isnan(effect) or math.isnan(error):
            return False
        excess = max(self.ratio, 1.0) - 1
        # Satterthwaite: the variance of counting is known, only the excess is estimated.
        n_freedom = math.inf if excess == 0 else self.n_freedom * (1 + 1 / excess) ** 2
        critical = float(ndtri(1 - tail))
        if math.isfinite(n_freedom):
            critical = float(stdtrit(n_freedom, 1 - tail))
        return effect > critical * error * math.sqrt(1 + excess)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOdds:
    """The logarithm of an odds ratio; 0 if capture in one crawl says nothing about the other.

    Parameters
    ----------
    value
        NaN where it is not known.
    error
        Its standard error, were the URLs independent.
    is_never
        Whether no URL is in both crawls although some would have to be.
    """

    value: float
    error: float
    is_never: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureDependence:
    """How capture depends on capture in other crawls, among URLs known to be alive.

    Parameters
    ----------
    by_lag
        For crawls one, two and three apart.
    memory
        That of crawls one apart less that of crawls two apart: below 0 if the crawler avoids its
        last crawl, above 0 if it repeats it, and 0 if URLs merely differ.
    scatter
        How much the pairs of crawls of each lag scatter.
    captured_share
        Share of the URLs known to be alive at a crawl that it captured.
    """

    by_lag: tuple[LogOdds, ...]
    memory: LogOdds
    scatter: Scatter
    captured_share: float


def measure_dependence(data: HistoryData) -> CaptureDependence | None:
    """Compare crawls one, two and three apart; None with fewer than six crawls.

    Parameters
    ----------
    data
        Capture histories.
    """
    if data.n_crawls < MIN_CRAWLS:
        return None
    span = _Span(data)
    lags = range(1, _MAX_LAG + 1)
    pooled, pairs = zip(*(_compare_lag(data, span, lag) for lag in lags), strict=True)
    near, next_but_one = pooled[0], pooled[1]
    memory = LogOdds(value=math.nan, error=math.nan)
    if near.is_known and next_but_one.is_known:
        gain = near.log_gain - next_but_one.log_gain
        memory = LogOdds(
            value=near.log_ratio - next_but_one.log_ratio,
            error=math.sqrt(float(data.counts @ gain**2)),
        )
    return CaptureDependence(
        by_lag=tuple(_log_odds(odds, data) for odds in pooled),
        memory=memory,
        scatter=_measure_scatter(_group_alike(pairs, memory)),
        captured_share=_captured_share(data, span),
    )


class _Span:
    """For each history, the first and the last crawl that hold its URLs."""

    def __init__(self, data: HistoryData) -> None:
        self.first: NDArray[np.int64] = np.argmax(data.captured, axis=1)
        self.last: NDArray[np.int64] = data.n_crawls - 1 - np.argmax(data.captured[:, ::-1], axis=1)

    def includes(self, start: int, end: int) -> NDArray[np.bool_]:
        return (self.first <= start) & (self.last >= end)


def _compare_lag(data: HistoryData, span: _Span, lag: int) -> tuple[PooledOdds, list[LogOdds]]:
    """Return the odds of all pairs of crawls of a lag, and those of each pair."""
    pooled = no_odds(data.counts.size)
    pairs = []
    for first in range(1, data.n_crawls - 1 - lag):
        second = first + lag
        of_pair = no_odds(data.counts.size)
        for block, start, end in _list_contexts(first, lag, data.n_crawls):
            of_pair += compare_events(
                data.counts,
                data.captured[:, first],
                data.captured[:, second],
                among=span.includes(start, end),
                given=tuple(
                    data.captured[:, crawl] for crawl in block if crawl not in {first, second}
                ),
            )
        pairs.append(_log_odds(of_pair, data))
        pooled += of_pair
    return pooled, pairs


def _list_contexts(first: int, lag: int, n_crawls: int) -> list[tuple[range, int, int]]:
    """Return blocks of crawls around a pair, and the span that URLs must be seen to live for."""
    if lag <= _SHORT:
        starts = range(max(0, first + lag + 2 - _BLOCK), min(first - 1, n_crawls - _BLOCK) + 1)
        return [(range(s, s + _BLOCK), s, s + _BLOCK - 1) for s in starts]
    # A policy that looks back over two crawls reaches two crawls beyond the pair on either side.
    block = range(max(0, first - lag + 1), min(n_crawls, first + 2 * lag))
    return [(block, first - 1, first + lag + 1)]


def _log_odds(odds: PooledOdds, data: HistoryData) -> LogOdds:
    return LogOdds(
        value=odds.log_ratio,
        error=odds.error(data.counts),
        is_never=odds.together == 0 and odds.apart >= _MIN_APART,
    )


def _group_alike(lags: tuple[list[LogOdds], ...], memory: LogOdds) -> list[list[LogOdds]]:
    """Return groups of pairs that only scatter makes differ: those of one lag.

    Where a crawler avoids its last crawl and URLs differ as well, the first and the last pair of
    adjacent crawls differ from the others by themselves, as fewer crawls lie around them.
    """
    near, *others = lags
    if memory.value < -_PLAIN * memory.error:
        return [[near[0], near[-1]], near[1:-1], *others]
    return [near, *others]


def _measure_scatter(groups: list[list[LogOdds]]) -> Scatter:
    squares, n_freedom = 0.0, 0
    for pairs in groups:
        usable = [pair for pair in pairs if pair.is_known and 0 < pair.error < _MAX_PAIR_ERROR]
        if not usable:
            continue
        values = np.array([pair.value for pair in usable])
        weights = np.array([pair.error**-2 for pair in usable])
        squares += float(weights @ (values - np.average(values, weights=weights)) ** 2)
        n_freedom += len(usable) - 1
    return Scatter(ratio=squares / n_freedom if n_freedom else 1.0, n_freedom=n_freedom)


def _captured_share(data: HistoryData, span: _Span) -> float:
    n_alive, n_captured = 0.0, 0.0
    for crawl in range(1, data.n_crawls - 1):
        alive = data.counts * span.includes(crawl - 1, crawl + 1)
        n_alive += float(alive.sum())
        n_captured += float(alive @ data.captured[:, crawl])
    return n_captured / n_alive if n_alive > 0 else math.nan
