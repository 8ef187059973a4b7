"""All checks that capture histories allow, in the order in which they should be read.

They rest on whether capture in one crawl goes with capture in another, among URLs known to be
alive. Odds ratios between two events in the life of a URL are pooled over many tables of two by
two, as Mantel and Haenszel do, together with what each single URL adds to them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from crawlgauge.model.checks import Diagnosis, ShortLag, describe_short_lag, slows_down
from crawlgauge.model.estimates import Check, CheckSpec
from crawlgauge.model.histories.data import (
    HistoryData,
    Recaptures,
    count_known_alive,
    count_recaptures,
)
from crawlgauge.model.histories.open_population import fit_jolly_seber
from crawlgauge.model.pairs import Flags, Numbers
from crawlgauge.model.phrases import count, say

# ------------------------------------------------------------------------------- pooled odds ratios

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
            value=near.value - next_but_one.value, error=math.sqrt(float(data.counts @ gain**2))
        )
    of_pairs = [[log_odds(odds, data.counts) for odds in of_lag] for of_lag in pairs]
    n_alive, n_captured = count_known_alive(data)
    return CaptureDependence(
        by_lag=by_lag,
        memory=memory,
        scatter=_measure_scatter(_group_alike(of_pairs, memory)),
        captured_share=float(n_captured.sum() / n_alive.sum()) if n_alive.any() else math.nan,
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


# ------------------------------------------------------------------ the checks, one after the other


_SPEAKS = {"info", "warn", "fail"}
_TAIL = 0.002
# With a larger error only differences beyond a factor of two would be seen.
_MAX_ERROR = 0.25


def run_history_checks(
    data: HistoryData, diagnosis: Diagnosis, by_pairs: tuple[Check, ...] = ()
) -> tuple[Check, ...]:
    """Grade every assumption that capture histories can test, and say what to do.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show; its crawls are those of the histories.
    by_pairs
        The checks of pairs.

    Returns
    -------
    tuple
        The checks of pairs, of which histories complete ``short-lag``; then
        ``heterogeneous-capture``, ``past-future``, ``novelty``, ``overdispersion``.
    """
    level = diagnosis.table.level
    dependence = measure_dependence(data)
    scatter = None if dependence is None else dependence.scatter
    capture = check_heterogeneous_capture(data, dependence, level)
    past_future = check_past_future(
        data,
        scatter,
        level,
        is_uneven=capture.status in _SPEAKS,
        # Overlaps that shrink ever more slowly, where no policy of the crawler makes them.
        is_bent=diagnosis.short_lag is None and bool(slows_down(diagnosis.pairs, diagnosis.fit)),
    )
    found = [check.id for check in (capture, past_future) if check.status in _SPEAKS]
    if diagnosis.short_lag is not None or find_cause(dependence, None) is not None:
        found.append("short-lag")
    return (
        *(
            resolve_short_lag(check, dependence, diagnosis.short_lag, level)
            if check.id == "short-lag"
            else check
            for check in by_pairs
        ),
        capture,
        past_future,
        check_novelty(data, diagnosis, scatter, level),
        check_overdispersion(data, tuple(found), level),
    )


# ------------------------------------------------------------------ the check heterogeneous-capture

HETEROGENEOUS_CAPTURE = CheckSpec(id="heterogeneous-capture", threshold=0.05)

# Lasting differences show three crawls apart as well, in simulations with a quarter of the effect
# or more; a policy that looks back over two crawls does not. Whether they do is asked only where
# a quarter is four standard errors.
_PRECISE = 1 / 16
_CARRIED_ON_TAIL = 0.05


def check_heterogeneous_capture(
    data: HistoryData, dependence: CaptureDependence | None, level: str
) -> Check:
    """Say whether capture in one crawl goes with capture in another that is further away.

    The effect is the logarithm of the odds ratio of capture two crawls apart, among URLs that are
    known to be alive and alike in the crawls around; three crawls apart where the crawler
    avoids or repeats its last two crawls. It warns above 0.05.

    Parameters
    ----------
    data
        Capture histories.
    dependence
        What `measure_dependence` makes of them.
    level
        What is compared.
    """
    if dependence is None:
        return HETEROGENEOUS_CAPTURE.not_testable(
            "too-short", least=MIN_CRAWLS, n_crawls=data.n_crawls, level=level
        )
    # The shortest distance that no policy of the crawler reaches.
    _, two, three = dependence.by_lag
    scatter = dependence.scatter
    is_reached = _looks_back_two(two, three, scatter)
    distance, odds = ("three", three) if is_reached else ("two", two)
    if not odds.error < _MAX_ERROR:
        return HETEROGENEOUS_CAPTURE.not_testable(n_urls=data.n_urls, level=level)
    ratio = math.exp(odds.value)
    is_material = odds.value > HETEROGENEOUS_CAPTURE.threshold
    if is_material and scatter.is_certain(odds.value, odds.error, _TAIL):
        even = dependence.captured_share
        after = ratio * even / (1 - even)
        return HETEROGENEOUS_CAPTURE.found(
            "warn",
            odds.value,
            odds=ratio,
            distance=distance,
            even=even,
            share=after / (1 + after),
            level=level,
        )
    code = "scatter" if is_material else ""
    return HETEROGENEOUS_CAPTURE.found(
        "ok", odds.value, code, odds=ratio, distance=distance, level=level
    )


def _looks_back_two(two: LogOdds, three: LogOdds, scatter: Scatter) -> bool:
    if two.is_never or scatter.is_certain(-two.value, two.error, _TAIL):
        return True
    if not (three.is_known and scatter.is_certain(two.value, two.error, _TAIL)):
        return False
    precise = three.error * math.sqrt(max(scatter.ratio, 1.0)) < _PRECISE * two.value
    return precise and not scatter.is_certain(three.value, three.error, _CARRIED_ON_TAIL)


# ---------------------------------------------------------------------------- the check past-future

PAST_FUTURE = CheckSpec(id="past-future", threshold=0.1)


def check_past_future(
    data: HistoryData, scatter: Scatter | None, level: str, *, is_uneven: bool, is_bent: bool
) -> Check:
    """Say whether the URLs of a crawl that were seen before are seen again more often.

    The effect is the logarithm of the odds ratio of being seen before and being seen after, among
    the URLs of each crawl. It warns above 0.1. It is the component 3.SR of the classical
    goodness-of-fit tests for capture histories. Being captured starts every policy of a crawler
    anew, so that avoidance and re-seeding leave no trace.

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
        return PAST_FUTURE.not_testable("too-short", least=MIN_CRAWLS, level=level)
    tables = np.zeros((2, 1 + data.counts.size))
    for crawl in range(1, data.n_crawls - 1):
        tables += compare_events(
            data.counts, data.first < crawl, data.last > crawl, among=data.captured[:, crawl]
        )
    odds = log_odds(tables, data.counts)
    if not odds.error <= _MAX_ERROR:
        return PAST_FUTURE.not_testable(level=level)
    if odds.value > PAST_FUTURE.threshold and scatter.is_certain(odds.value, odds.error, _TAIL):
        finding = say("past-future.lasting", odds=math.exp(odds.value), level=level)
        cause = say(f"past-future.{'uneven' if is_uneven else 'bent' if is_bent else 'open'}")
        return PAST_FUTURE.says("warn", odds.value, f"{finding} {cause}")
    return PAST_FUTURE.found("ok", odds.value, level=level)


# -------------------------------------------------------------------------------- the check novelty

NOVELTY = CheckSpec(id="novelty", threshold=0.05)

# Where the model leaves next to nothing to be new, the logarithm would be without bound.
_LEAST_SHARE = 0.01
_STEP = 1e-5


def check_novelty(
    data: HistoryData, diagnosis: Diagnosis, scatter: Scatter | None, level: str
) -> Check:
    """Say whether each crawl holds as many new URLs as the two-way model leads one to expect.

    The effect is the logarithm of the expected over the found number of new URLs, of the crawl
    where they differ most: −0.05 means that 5 % more are new than expected. It warns below −0.05
    and above 0.05. After a change of scope, new is what no crawl since then holds.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show; its crawls are those of the histories.
    scatter
        How much results scatter between crawls; None with too few crawls to tell.
    level
        What is compared.
    """
    if scatter is None or not diagnosis.fit.has_persistence:
        return NOVELTY.not_testable("too-short", least=MIN_CRAWLS, level=level)
    found, expected, error = measure_novelty(data, diagnosis)
    log_ratio = np.log(expected) - np.log(found)
    sizes = np.abs(log_ratio)
    usable = np.flatnonzero(np.isfinite(sizes) & (error < _MAX_ERROR)).tolist()
    if not usable:
        return NOVELTY.not_testable(level=level)
    # Each crawl may be too high or too low: so many chances to find something where nothing is.
    tail = _TAIL / (2 * len(usable))
    speaking = [
        crawl
        for crawl in usable
        if sizes[crawl] > NOVELTY.threshold
        and scatter.is_certain(float(sizes[crawl]), float(error[crawl]), tail)
    ]
    crawl = max(speaking or usable, key=lambda crawl: float(sizes[crawl]))
    effect = float(log_ratio[crawl])
    more, less = ("more", "less") if found[crawl] > expected[crawl] else ("fewer", "more")
    return NOVELTY.found(
        "warn" if speaking else "ok",
        effect,
        crawl=diagnosis.table.crawls[crawl].label,
        more=more,
        less=less,
        found=float(found[crawl]),
        expected=float(expected[crawl]),
        level=level,
    )


def measure_novelty(data: HistoryData, diagnosis: Diagnosis) -> tuple[Numbers, Numbers, Numbers]:
    """Compare the new URLs of each crawl with what pairs of crawls lead to expect.

    New are those that no earlier crawl of the same regime holds. All is NaN at the first two crawls
    of a regime: nothing is known before the first, and what the second shares with it is fitted
    exactly. So it is where the model says nothing.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show, with a persistence; its crawls are those of the histories.

    Returns
    -------
    tuple
        For each crawl the found and the expected share of new URLs, and the standard error of the
        logarithm of expected over found, were the URLs independent.
    """
    is_new = np.zeros(data.captured.shape, dtype=np.bool_)
    for regime in diagnosis.regimes:
        for crawl in regime[2:]:
            seen = data.captured[:, regime[0] : crawl].any(axis=1)
            is_new[:, crawl] = data.captured[:, crawl] & ~seen
    n_new = np.where(is_new.any(axis=0), data.counts @ is_new, np.nan)
    # The two-way model of all overlaps would do if histories were never a sample; in a sample,
    # errors of the overlaps and of the new URLs cancel only if both are of the same URLs.
    captured = data.captured.astype(np.float64)
    all_shared = (captured * data.counts[:, None]).T @ captured
    pairs, n = diagnosis.pairs, data.n_crawls
    kept = all_shared[pairs.start, pairs.end] > 0
    start, end = pairs.start[kept], pairs.end[kept]
    shared, log_sizes = all_shared[start, end], np.log(data.sizes)
    design = np.zeros((start.size, n + 1))
    design[np.arange(start.size), end] = 1
    design[:, -1] = pairs.lag_years[kept]
    root = np.sqrt(pairs.weight[kept] / (diagnosis.fit.tau_squared + 1 / shared))
    operator = np.linalg.pinv(design * root[:, None]) * root
    # The logarithm of each crawl's coverage, then that of the persistence.
    parameters: Numbers = operator @ (np.log(shared) - log_sizes[start])
    used = np.any(design != 0, axis=0)
    # In a thin sample no crawl may be left that shares URLs with crawls of two dates.
    parameters[~(used & (np.linalg.matrix_rank(design) == used.sum()))] = np.nan

    def expect(parameters: Numbers, log_sizes: Numbers) -> Numbers:
        living = np.exp(parameters[-1] * np.diff(data.years))
        return _expect_new(np.exp(log_sizes), np.exp(parameters[:-1]), living, diagnosis.regimes)

    # What one more URL adds to the logarithm is a sum over the pairs of crawls that hold the URL
    # and over the crawls that do, and one term more where it is new.
    by_pair = _slopes(lambda step: np.log(expect(parameters + step, log_sizes)), n + 1) @ operator
    by_size = _slopes(lambda step: np.log(expect(parameters, log_sizes + step)), n)
    error = np.full(n, np.nan)
    usable = np.isfinite(n_new) & np.isfinite(by_pair).all(axis=1)
    for crawl in np.flatnonzero(usable).tolist():
        weights = np.zeros((n, n))
        np.add.at(weights, (start, end), by_pair[crawl] / shared)
        of_starts = np.bincount(start, by_pair[crawl], minlength=n)
        weights[np.diag_indices(n)] += (by_size[crawl] - of_starts) / data.sizes
        gain = np.sum((captured @ weights) * captured, axis=1) - is_new[:, crawl] / n_new[crawl]
        error[crawl] = math.sqrt(float(data.counts @ gain**2))
    n_expected = np.where(np.isnan(n_new), np.nan, expect(parameters, log_sizes))
    return n_new / data.sizes, n_expected / data.sizes, error


def _expect_new(
    sizes: Numbers, coverage: Numbers, living: Numbers, regimes: tuple[range, ...]
) -> Numbers:
    """Return the new URLs of each crawl, where a share `living` survives each interval."""
    expected = np.full(sizes.size, np.nan)
    for regime in regimes:
        known = sizes[regime[0]]
        for crawl in regime[1:]:
            known *= living[crawl - 1]
            new = sizes[crawl] - coverage[crawl] * known
            expected[crawl] = np.maximum(new, _LEAST_SHARE * sizes[crawl])
            known = sizes[crawl] + (1 - coverage[crawl]) * known
    return expected


def _slopes(function: Callable[[Numbers], Numbers], n: int) -> Numbers:
    """Return the slope of each value (row) in each of `n` steps (column), at no step."""
    steps = _STEP * np.eye(n)
    return np.column_stack([(function(step) - function(-step)) / (2 * _STEP) for step in steps])


# --------------------- the check overdispersion: whether URLs are captured one by one or in bunches

OVERDISPERSION = CheckSpec(id="overdispersion", threshold=0.01)

_WARN = 0.05
_CELL_TAIL = 0.01
_MIN_CRAWLS = 5
_MANY = 100
# Pearson's statistic is chi-square distributed only where about five URLs are expected.
_MIN_EXPECTED = 5.0


def check_overdispersion(data: HistoryData, found: tuple[str, ...], level: str) -> Check:
    """Say how much more counts scatter than those of independent URLs would.

    The effect is the share by which a typical count varies beyond that: 0.02 means 2 %. It is
    a finding from 0.01 on, and a warning from 0.05 on.

    Parameters
    ----------
    data
        Capture histories.
    found
        Ids of checks that found something which makes counts scatter by itself.
    level
        What is compared.
    """
    from scipy.special import chdtri

    measured = _measure_dispersion(data)
    if measured is None:
        return OVERDISPERSION.not_testable()
    chi_square, n_freedom, mean_expected = measured
    # How many times more the counts vary than those of independent URLs: c-hat.
    ratio = chi_square / n_freedom
    if found:
        return OVERDISPERSION.not_testable(
            "explained", checks=found, times=_times(ratio), level=level
        )
    scatter = math.sqrt(max(0.0, ratio - 1) / mean_expected)
    if scatter <= OVERDISPERSION.threshold or chi_square <= float(chdtri(n_freedom, _CELL_TAIL)):
        return OVERDISPERSION.found("ok", scatter, level=level)
    return OVERDISPERSION.found(
        "info" if scatter < _WARN else "warn",
        scatter,
        "bunches",
        times=_times(ratio),
        error=_times(math.sqrt(ratio)),
        level=level,
    )


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < _MANY else count(factor)


def _measure_dispersion(data: HistoryData) -> tuple[float, int, float] | None:
    """Return Pearson's chi-square of the recaptures, its degrees of freedom and mean cell.

    None where nothing is left to judge it by.
    """
    if data.n_crawls < _MIN_CRAWLS:
        return None
    recaptures = count_recaptures(data)
    expected = _expect_recaptures(recaptures)
    if expected is None:
        return None
    squares, means = [], []
    n_lost = 0
    for crawl in range(data.n_crawls - 1):
        observed, mean = recaptures.n_next[crawl, crawl + 1 :], expected[crawl, crawl + 1 :]
        large = mean >= _MIN_EXPECTED
        rest = float(mean[~large].sum())
        means += list(mean[large])
        squares += list((observed - mean)[large] ** 2 / mean[large])
        n_lost += int(np.sum(~large))
        if rest >= _MIN_EXPECTED:
            means.append(rest)
            squares.append((float(observed[~large].sum()) - rest) ** 2 / rest)
            n_lost -= 1
    n_freedom = (data.n_crawls - 2) * (data.n_crawls - 3) // 2 - n_lost
    if n_freedom < 1:
        return None
    return float(np.sum(squares)), n_freedom, float(np.mean(means))


def _expect_recaptures(recaptures: Recaptures) -> Numbers | None:
    """Return how many URLs of each crawl should be seen next in each later one."""
    coverage, survival, _ = fit_jolly_seber(recaptures)
    n_crawls, released = coverage.size, recaptures.n_released
    # Of the last crawl only survival times coverage is known: the share of the crawl before.
    coverage[-1] = 1.0
    if released[-2] == 0 or np.isnan([*coverage[1:], *survival[:-1]]).any():
        return None
    survival[-1] = recaptures.n_next[-2, -1] / released[-2]
    expected = np.zeros((n_crawls, n_crawls))
    for start in range(n_crawls - 1):
        unseen = released[start]
        for end in range(start + 1, n_crawls):
            unseen *= survival[end - 1]
            expected[start, end] = unseen * coverage[end]
            unseen *= 1 - coverage[end]
    return expected


# --------------------------- what capture histories say about crawls that follow each other closely


_MIN_EFFECT = 0.05
# Where pairs found an effect already, histories only have to say which; where not, four ratios
# are looked at for one that stands out.
_TAIL_CONFIRMING = 0.005
_TAIL_ALONE = 0.001


class ShortLagCause(NamedTuple):
    """Why crawls that follow each other closely share too little or too much.

    Parameters
    ----------
    cause
        What the crawler does, or that it does nothing and lifetimes are mixed.
    n_lags
        Over how many crawls it looks back; 0 for mixed lifetimes.
    log_odds
        How the odds of capture change for a URL captured that recently, as a logarithm; minus
        infinity if no such URL is captured.
    """

    cause: Literal["avoidance", "re-seeding", "mixed-lifetimes"]
    n_lags: int
    log_odds: float


def find_cause(
    dependence: CaptureDependence | None, found: ShortLag | None
) -> ShortLagCause | None:
    """Find what the crawler does with URLs of its last crawls; None if nothing, or not known.

    Parameters
    ----------
    dependence
        From `measure_dependence`.
    found
        What pairs of crawls show. Only an excess that the crawler does not explain is put down
        to mixed lifetimes.
    """
    if dependence is None:
        return None
    memory, is_certain = dependence.memory, dependence.scatter.is_certain
    tail = _TAIL_ALONE if found is None else _TAIL_CONFIRMING
    one, two, three = (_is_avoided(odds, dependence.scatter, tail) for odds in dependence.by_lag)
    cause: ShortLagCause | None = None
    if one or two:
        odds = dependence.by_lag[0 if one else 1]
        effect = -math.inf if odds.is_never else odds.value
        cause = ShortLagCause("avoidance", 1 if not two else 3 if three else 2, effect)
    elif _is_avoided(memory, dependence.scatter, tail):
        # Lasting differences may hide avoidance: capture then goes with capture at every lag, but
        # less so next to each other.
        cause = ShortLagCause("avoidance", 1, memory.value)
    elif found is not None and found.is_avoidance:
        cause = None
    elif memory.value > _MIN_EFFECT and is_certain(memory.value, memory.error, tail):
        cause = ShortLagCause("re-seeding", 1, memory.value)
    elif found is not None and memory.is_known:
        # An excess is put down to lifetimes if re-seeding that causes it would have been seen.
        needed = _odds_of_excess(found.coefficient, dependence.captured_share)
        if is_certain(needed / 2 - memory.value, memory.error, _TAIL_CONFIRMING):
            cause = ShortLagCause("mixed-lifetimes", 0, memory.value)
    return cause


def _is_avoided(odds: LogOdds, scatter: Scatter, tail: float) -> bool:
    certain = scatter.is_certain(-odds.value, odds.error, tail)
    return odds.is_never or (certain and odds.value < -_MIN_EFFECT)


def _odds_of_excess(log_excess: float, share: float) -> float:
    """Return the log odds ratio of a crawler that repeats so much more than its share."""
    # No more than all can be repeated; halfway there is excess enough.
    after = min(share * math.exp(log_excess), (1 + share) / 2)
    otherwise = share * (1 - after) / (1 - share)
    return math.log(after / (1 - after)) - math.log(otherwise / (1 - otherwise))


def resolve_short_lag(
    check: Check, dependence: CaptureDependence | None, found: ShortLag | None, level: str
) -> Check:
    """Complete the check short-lag of pairs by what capture histories say.

    It warns also where pairs found nothing but histories do: pairs may take a policy of the
    crawler for a bend of the decay, or scatter too much to show it.

    Parameters
    ----------
    check
        From `check_short_lag`.
    dependence, found
        As for `find_cause`.
    level
        What is compared.
    """
    cause = find_cause(dependence, found)
    if cause is None:
        return check
    finding = _describe_cause(cause, found, level)
    if found is None:
        return replace(check, status="warn", message=finding)
    # What histories decide, pairs need not guess at.
    by_pairs = describe_short_lag(found, level, is_settled=True)
    return replace(check, message=f"{by_pairs} {finding}")


def _describe_cause(cause: ShortLagCause, found: ShortLag | None, level: str) -> str:
    code, cut, n_lags = cause.cause, "", cause.n_lags
    last = "the last crawl" if n_lags == 1 else f"one of the last {n_lags} crawls"
    if code == "avoidance" and math.isinf(cause.log_odds):
        return say("short-lag.never", last=last, level=level)
    if code == "re-seeding" and found is not None and found.cuts:
        least = min(found.cuts)
        cut = f" {say('short-lag.re-seeding-cut', min_lag=found.n_lags + 1, cut=least)}"
    odds = math.exp(cause.log_odds)
    return say(f"short-lag.{code}", odds=odds, last=last, cut=cut, level=level)
