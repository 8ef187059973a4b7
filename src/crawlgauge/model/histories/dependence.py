"""The check past-future: whether what a crawl has seen before lives on like what it sees anew.

It is the component 3.SR of the classical goodness-of-fit tests for capture histories. Being
captured starts every policy of a crawler anew, so that avoidance and re-seeding leave no trace.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import Check
from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.pairs import freeze_arrays
from crawlgauge.model.phrases import things

__all__ = [
    "MIN_CRAWLS",
    "CaptureDependence",
    "LogOdds",
    "Scatter",
    "check_past_future",
    "compare_events",
    "measure_dependence",
    "no_odds",
]


# ------- odds ratios between two events in the life of a URL, pooled over many tables of two by two


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


# ---------- whether capture in one crawl goes with capture in another, among URLs known to be alive


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


# ---------------------------------------------------------------------------- the check past-future


_THRESHOLD = 0.1
_TAIL = 0.002
# With a larger error only differences beyond a factor of two in the odds would be seen.
_MAX_ERROR = 0.25


def check_past_future(
    data: HistoryData,
    scatter: Scatter | None,
    level: str,
    *,
    is_uneven: bool,
    is_bent: bool,
) -> Check:
    """Say whether the URLs of a crawl that were seen before are seen again more often.

    The effect is the logarithm of the odds ratio of being seen before and being seen after, among
    the URLs of each crawl. It warns above 0.1.

    Parameters
    ----------
    data
        Capture histories.
    scatter
        How much results scatter between crawls; None with too few crawls to tell.
    level
        What is compared.
    is_uneven
        Whether capture was found to be uneven, which explains it.
    is_bent
        Whether overlaps were found to shrink ever more slowly, as they do with mixed lifetimes.
    """
    if scatter is None:
        return _not_testable(
            f"whether {things(level)} differ lastingly shows only with {MIN_CRAWLS} or more crawls."
        )
    odds = _compare(data)
    error = odds.error(data.counts)
    if not odds.is_known or error > _MAX_ERROR:
        return _not_testable(f"too few {things(level)} are seen in several crawls.")
    effect = odds.log_ratio
    speaks = effect > _THRESHOLD and scatter.is_certain(effect, error, _TAIL)
    return Check(
        id="past-future",
        status="warn" if speaks else "ok",
        effect=effect,
        threshold=_THRESHOLD,
        message=(
            _describe(effect, things(level), is_uneven=is_uneven, is_bent=is_bent)
            if speaks
            else f"Of the {things(level)} of a crawl, those seen before are seen again as often as "
            "those that are new, as far as the scatter between crawls lets it be told."
        ),
    )


def _compare(data: HistoryData) -> PooledOdds:
    first = np.argmax(data.captured, axis=1)
    last = data.n_crawls - 1 - np.argmax(data.captured[:, ::-1], axis=1)
    odds = no_odds(data.counts.size)
    for crawl in range(1, data.n_crawls - 1):
        odds += compare_events(
            data.counts, first < crawl, last > crawl, among=data.captured[:, crawl]
        )
    return odds


def _describe(effect: float, what: str, *, is_uneven: bool, is_bent: bool) -> str:
    finding = (
        f"Of the {what} of a crawl, those that were seen before have {math.exp(effect):.2g} times "
        f"the odds of being seen again: {what} differ lastingly."
    )
    if is_uneven:
        return (
            f"{finding} They are not captured alike (see heterogeneous-capture), and may not live "
            "equally long either."
        )
    if is_bent:
        return (
            f"{finding} Overlaps shrink ever more slowly (see curvature) and capture is even among "
            "those known to be alive: some live longer than others, unless a part is hardly ever "
            "captured. A model with one rate of decay then puts coverage too low, in simulations "
            "by 5 to 25 %; the Manly–Parr estimate needs no rate of decay and stays right."
        )
    return (
        f"{finding} Either some live longer than others, and coverage from overlaps is somewhat "
        "too low, or a part is hardly ever captured, and it is too high: the decay of overlaps "
        "does not decide between them here. Compare the Manly–Parr estimate, which needs no rate "
        "of decay: above the two-way model's it speaks for mixed lifetimes."
    )


def _not_testable(reason: str) -> Check:
    return Check(
        id="past-future",
        status="na",
        effect=None,
        threshold=_THRESHOLD,
        message=f"Not testable: {reason}",
    )
