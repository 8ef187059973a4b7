"""Whether capture in one crawl goes with capture in another, among URLs known to be alive.

Odds ratios between two events in the life of a URL are pooled over many tables of two by two, as
Mantel and Haenszel do, together with what each single URL adds to them.
"""

import math
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.histories.data import Flags, HistoryData, Numbers, count_known_alive

__all__ = [
    "MIN_CRAWLS",
    "CaptureDependence",
    "LogOdds",
    "Scatter",
    "compare_events",
    "log_odds",
    "measure_dependence",
]


# ------------------------------------------------------------------------------- pooled odds ratios

_MAX_STRATA = 1 << 12
# Of so many URLs that crawls hold one by one, as many again should be in both or neither.
_MIN_APART = 5.0


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

    value: float = math.nan
    error: float = math.nan
    is_never: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)


def compare_events(
    counts: Numbers, first: Flags, second: Flags, *, among: Flags, given: tuple[Flags, ...] = ()
) -> Numbers:
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

    Returns
    -------
    numpy.ndarray
        Two rows to be added to those of other tables: the sum of a·d/n, where a and d count URLs
        with both or neither event and n all, and then what one more URL of each history would add
        to it; and the same of b·c/n, where b and c count those with one event only.

    Examples
    --------
    >>> both = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> counts, every = np.array([30.0, 10.0, 20.0, 40.0]), np.ones(4, dtype=np.bool_)
    >>> math.exp(log_odds(compare_events(counts, *both, among=every), counts).value)
    6.0
    """
    n_strata = 1 << len(given)
    if n_strata > _MAX_STRATA:
        raise ValueError(f"{len(given)} events make too many tables")
    cell = np.zeros(counts.size, dtype=np.int64)
    for event in (*given, first, second):
        cell = 2 * cell + event
    n_urls = np.bincount(cell[among], counts[among], minlength=4 * n_strata)
    neither, second_only, first_only, both = n_urls.reshape(n_strata, 4).T
    total = neither + second_only + first_only + both
    divisor = np.where(total > 0, total, 1.0)
    none = np.zeros(n_strata)
    rows = []
    for product, partners in (
        (both * neither, (both, none, none, neither)),
        (first_only * second_only, (none, first_only, second_only, none)),
    ):
        mean = product / divisor
        by_cell = (np.column_stack(partners) - mean[:, None]) / divisor[:, None]
        gain = np.where(among, by_cell.ravel()[cell], 0.0)
        rows.append(np.concatenate([mean.sum(keepdims=True), gain]))
    return np.array(rows)


def log_odds(odds: Numbers, counts: Numbers) -> LogOdds:
    """Return the logarithm of a pooled odds ratio, from what `compare_events` returns."""
    together, apart = odds[:, 0].tolist()
    if together > 0 and apart > 0:
        error = math.sqrt(float(counts @ _log_gain(odds) ** 2))
        return LogOdds(value=math.log(together / apart), error=error)
    return LogOdds(is_never=together == 0 and apart >= _MIN_APART)


def _log_gain(odds: Numbers) -> Numbers:
    """Return what one more URL of each history would add to the logarithm."""
    together, apart = odds[:, 1:] / odds[:, :1]
    gain: Numbers = together - apart
    return gain


# -------------------------------------------------------- how capture depends on other crawls


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
    pairs = [_compare_lag(data, lag) for lag in range(1, _MAX_LAG + 1)]
    pooled = [sum(of_lag[1:], start=of_lag[0]) for of_lag in pairs]
    by_lag = tuple(log_odds(odds, data.counts) for odds in pooled)
    near, next_but_one, _ = by_lag
    memory = LogOdds()
    if near.is_known and next_but_one.is_known:
        gain = _log_gain(pooled[0]) - _log_gain(pooled[1])
        memory = LogOdds(
            value=near.value - next_but_one.value,
            error=math.sqrt(float(data.counts @ gain**2)),
        )
    of_pairs = [[log_odds(odds, data.counts) for odds in of_lag] for of_lag in pairs]
    return CaptureDependence(
        by_lag=by_lag,
        memory=memory,
        scatter=_measure_scatter(_group_alike(of_pairs, memory)),
        captured_share=_captured_share(data),
    )


def _compare_lag(data: HistoryData, lag: int) -> list[Numbers]:
    """Return the odds of each pair of crawls of a lag."""
    pairs = []
    for first in range(1, data.n_crawls - 1 - lag):
        second = first + lag
        odds = np.zeros((2, 1 + data.counts.size))
        for block, start, end in _list_contexts(first, lag, data.n_crawls):
            odds += compare_events(
                data.counts,
                data.captured[:, first],
                data.captured[:, second],
                among=(data.first <= start) & (data.last >= end),
                given=tuple(
                    data.captured[:, crawl] for crawl in block if crawl not in {first, second}
                ),
            )
        pairs.append(odds)
    return pairs


def _list_contexts(first: int, lag: int, n_crawls: int) -> list[tuple[range, int, int]]:
    """Return blocks of crawls around a pair, and the span that URLs must be seen to live for."""
    if lag <= _SHORT:
        starts = range(max(0, first + lag + 2 - _BLOCK), min(first - 1, n_crawls - _BLOCK) + 1)
        return [(range(s, s + _BLOCK), s, s + _BLOCK - 1) for s in starts]
    # A policy that looks back over two crawls reaches two crawls beyond the pair on either side.
    block = range(max(0, first - lag + 1), min(n_crawls, first + 2 * lag))
    return [(block, first - 1, first + lag + 1)]


def _group_alike(lags: list[list[LogOdds]], memory: LogOdds) -> list[list[LogOdds]]:
    """Return groups of pairs that only scatter makes differ: those of one lag.

    Where a crawler avoids its last crawl and URLs differ as well, the first and the last pair of
    adjacent crawls differ from the others by themselves, as fewer crawls lie around them.
    """
    near, *others = lags
    if memory.value < -_PLAIN * memory.error:
        return [[near[0], near[-1]], near[1:-1], *others]
    return lags


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


def _captured_share(data: HistoryData) -> float:
    n_alive, n_captured = count_known_alive(data)
    return float(n_captured.sum() / n_alive.sum()) if n_alive.any() else math.nan
