"""All checks that capture histories allow, in the order in which they should be read."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from crawlgauge.errors import FitError
from crawlgauge.model.checks import PAIR_CHECKS, Diagnosis, Regime
from crawlgauge.model.decay import slows_down
from crawlgauge.model.estimates import Check, CheckSpec, Status
from crawlgauge.model.histories.data import (
    HistoryData,
    Numbers,
    Recaptures,
    count_recaptures,
)
from crawlgauge.model.histories.dependence import (
    MIN_CRAWLS,
    CaptureDependence,
    LogOdds,
    Scatter,
    compare_events,
    log_odds,
    measure_dependence,
)
from crawlgauge.model.histories.open_population import fit_jolly_seber
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.model.short_lag import ShortLag, describe_short_lag

__all__ = [
    "EXPLANATIONS",
    "HISTORY_CHECKS",
    "explain_check",
    "run_history_checks",
]

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

_CERTAIN = (
    "Its certainty counts each URL once, and allows for the scatter between pairs of crawls, which "
    "is large where URLs of a host come and go together"
)

HETEROGENEOUS_CAPTURE = CheckSpec(
    id="heterogeneous-capture",
    threshold=0.05,
    question="Is every URL captured as readily as any other?",
    meaning=(
        "Crawlers come back to well-linked pages and hardly ever reach others. If URL k is "
        "captured with w_k times the usual probability in every crawl, all pairs of crawls share "
        "too much by the mean of w² and the fit looks perfect: coverage was too high by 9 % for a "
        "coefficient of variation of w of 0.3, by 37 % for 0.7, and 2.7 times for a core captured "
        "at 0.9 with a periphery at 0.04. Agreement of estimators that all assume even capture is "
        "no evidence. URLs that are captured next to never show in no history, so that any "
        "coverage is an upper bound."
    ),
    computation=(
        "Two crawls are compared among URLs seen before and after both, which were therefore "
        "alive, and alike in the crawl in between and the one on either side. If capture is even, "
        "being captured by one says nothing about the other, whatever URLs live for and whatever "
        "the crawler does with those of its last crawl. The effect is the logarithm of Mantel and "
        "Haenszel's odds ratio over all pairs two crawls apart; three apart, with all up to two "
        "crawls around alike, where the effect is negative or not carried on to three, as when a "
        f"crawler looks back over two crawls. It warns above 0.05. {_CERTAIN} (1 in 500). It needs "
        "six crawls."
    ),
    advice=(
        "Use the estimate from known-alive windows or the latent-class model, which allow for "
        "uneven capture, and not the overlaps of pairs alone. Where hosts are known, estimate "
        "within hosts or domains. A list of URLs drawn evenly from elsewhere is the strongest "
        "check: the share of it that a crawl holds is its coverage."
    ),
)

# Lasting differences show three crawls apart as well, in simulations with a quarter of the effect
# or more; a policy that looks back over two crawls does not. Whether they do is asked only where
# a quarter is four standard errors.
_PRECISE = 1 / 16
_CARRIED_ON_TAIL = 0.05
_DISTANCE = {2: "two crawls", 3: "three crawls"}


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
    what = things(level)
    if dependence is None:
        return HETEROGENEOUS_CAPTURE.not_testable(
            f"whether {what} differ lastingly shows only with {MIN_CRAWLS} or more crawls, and "
            f"there are {data.n_crawls}.",
        )
    # The shortest distance that no policy of the crawler reaches.
    _, two, three = dependence.by_lag
    scatter = dependence.scatter
    lag, odds = (3, three) if _looks_back_two(two, three, scatter) else (2, two)
    if not odds.error < _MAX_ERROR:
        return HETEROGENEOUS_CAPTURE.not_testable(
            f"of the {count(data.n_urls)} {what} too few are seen both before and after "
            "the crawls that are compared. Use a larger sample, or more crawls.",
        )
    is_material = odds.value > HETEROGENEOUS_CAPTURE.threshold
    if is_material and scatter.is_certain(odds.value, odds.error, _TAIL):
        message = _describe_heterogeneity(odds.value, lag, dependence.captured_share, what)
        return HETEROGENEOUS_CAPTURE.found("warn", odds.value, message)
    message = (
        f"Among {what} known to be alive, being captured by a crawl says nothing about another "
        f"{_DISTANCE[lag]} away: capture is even, but for {what} that are hardly ever captured "
        "and show in no history."
    )
    if is_material:
        message = (
            f"Among {what} known to be alive, those captured by a crawl have "
            f"{math.exp(odds.value):.2g} times the odds of being captured by another "
            f"{_DISTANCE[lag]} away, which does not stand out from the scatter between crawls."
        )
    return HETEROGENEOUS_CAPTURE.found("ok", odds.value, message)


def _looks_back_two(two: LogOdds, three: LogOdds, scatter: Scatter) -> bool:
    if two.is_never or scatter.is_certain(-two.value, two.error, _TAIL):
        return True
    if not (three.is_known and scatter.is_certain(two.value, two.error, _TAIL)):
        return False
    precise = three.error * math.sqrt(max(scatter.ratio, 1.0)) < _PRECISE * two.value
    return precise and not scatter.is_certain(three.value, three.error, _CARRIED_ON_TAIL)


def _describe_heterogeneity(log_odds: float, lag: int, share: float, what: str) -> str:
    odds = math.exp(log_odds) * share / (1 - share)
    shares = f"{percent(odds / (1 + odds))} where {percent(share)} would be even"
    return (
        f"Some {what} are captured more readily than others, and lastingly: among those known to "
        f"be alive, the odds of being captured are {math.exp(log_odds):.2g} times as high if a "
        f"crawl {_DISTANCE[lag]} away captured them too ({shares}). "
        "Every pair of crawls shares too much by the same factor, so that "
        "coverage from overlaps is too high and the population too low, although the fit looks "
        "perfect. By how much does not follow from this number (2 % to 2.7 times in simulations), "
        f"and {what} that are hardly ever captured show in no history: use an estimate that "
        "allows for it, and take its coverage as an upper bound."
    )


# ---------------------------------------------------------------------------- the check past-future

PAST_FUTURE = CheckSpec(
    id="past-future",
    threshold=0.1,
    question="Do URLs that were seen before live on like those that are new?",
    meaning=(
        "Of a crawl's URLs, those that earlier crawls hold and those that none holds should be "
        "seen again equally often. If the known ones are seen more often, URLs differ lastingly: "
        "in how readily they are captured, which makes coverage from overlaps too high, or in how "
        "long they live, which makes it too low. The check heterogeneous-capture tells these "
        "apart, unless a part is hardly ever captured. What a crawler does with URLs of its last "
        "crawls leaves no trace here, as it begins anew with every capture."
    ),
    computation=(
        "Among the URLs of each crawl but the first and last, being seen before is held against "
        "being seen after; this is component 3.SR of the classical tests. The effect is the "
        "logarithm of Mantel and Haenszel's odds ratio over the crawls. It warns above 0.1. "
        f"{_CERTAIN} (1 in 500). Simulated with 60,000 URLs: 0.13 to 0.21 for mildly uneven "
        "capture, 1.2 to 2.1 for a core and a periphery, 0.2 to 1.3 for mixed lifetimes, below "
        "0.03 otherwise. It needs six crawls."
    ),
    advice=(
        "Read it with heterogeneous-capture and curvature. For mixed lifetimes take the Manly–Parr "
        "estimate, which has no rate of decay in it; for uneven capture an estimate that allows "
        "for it."
    ),
)


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
    what = things(level)
    if scatter is None:
        return PAST_FUTURE.not_testable(
            f"whether {what} differ lastingly shows only with {MIN_CRAWLS} or more crawls.",
        )
    tables = np.zeros((2, 1 + data.counts.size))
    for crawl in range(1, data.n_crawls - 1):
        tables += compare_events(
            data.counts, data.first < crawl, data.last > crawl, among=data.captured[:, crawl]
        )
    odds = log_odds(tables, data.counts)
    if not odds.error <= _MAX_ERROR:
        return PAST_FUTURE.not_testable(f"too few {what} are seen in several crawls.")
    if odds.value > PAST_FUTURE.threshold and scatter.is_certain(odds.value, odds.error, _TAIL):
        message = _describe_lasting(odds.value, what, is_uneven=is_uneven, is_bent=is_bent)
        return PAST_FUTURE.found("warn", odds.value, message)
    return PAST_FUTURE.found(
        "ok",
        odds.value,
        f"Of the {what} of a crawl, those seen before are seen again as often as "
        "those that are new, as far as the scatter between crawls lets it be told.",
    )


def _describe_lasting(effect: float, what: str, *, is_uneven: bool, is_bent: bool) -> str:
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


# -------------------------------------------------------------------------------- the check novelty

NOVELTY = CheckSpec(
    id="novelty",
    threshold=0.05,
    question="Do crawls find as many new URLs as their overlaps lead one to expect?",
    meaning=(
        "Pairs of crawls fix each crawl's coverage and the turnover, from which follows how many "
        "of its URLs no earlier crawl should hold. The fit never saw this number. If more are new, "
        "the crawls together hold less of what lives than the model says, and what it promises of "
        "further crawls is off; if fewer are, the other way round."
    ),
    computation=(
        "With A living URLs held by earlier crawls, a crawl of M URLs and coverage c should find M "
        "− c·A new ones and leaves M + (1 − c)·A, of which the persistence gives the share alive "
        "at the next. The effect is the logarithm of expected over found, of the crawl where it is "
        f"largest. It warns beyond 0.05 either way. {_CERTAIN} (1 in 500 over all crawls). "
        "Simulated: 0.06 to 0.3 for uneven capture, to 1 where the core also lives longer, 0.1 to "
        "0.5 for mixed lifetimes, to 0.2 with avoidance. After a change of scope, new is what no "
        "crawl since holds. It needs six crawls."
    ),
    advice=(
        "Do not plan further crawls with the pairs' numbers. The other checks say what is behind "
        "it; if none speaks, look at the crawl that is named: it may have gone elsewhere."
    ),
)

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
    what = things(level)
    if scatter is None or not diagnosis.fit.has_persistence:
        return NOVELTY.not_testable(
            f"how many {what} should be new follows only from {MIN_CRAWLS} or more crawls "
            "to which the two-way model can be fitted.",
        )
    found, expected, error = measure_novelty(data, diagnosis)
    log_ratio = np.log(expected) - np.log(found)
    sizes = np.abs(log_ratio)
    usable = np.flatnonzero(np.isfinite(sizes) & (error < _MAX_ERROR)).tolist()
    if not usable:
        return NOVELTY.not_testable(f"too few {what} are new, or shared by crawls.")
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
    if not speaking:
        return NOVELTY.found(
            "ok",
            effect,
            f"Each crawl finds as many new {what} as the overlaps of pairs lead one "
            "to expect, as far as the scatter lets it be told.",
        )
    more, less = ("more", "less") if found[crawl] > expected[crawl] else ("fewer", "more")
    return NOVELTY.found(
        "warn",
        effect,
        f"Crawls find {more} new {what} than the overlaps of pairs lead one to expect: of crawl "
        f"{diagnosis.table.crawls[crawl].label}, no earlier one holds "
        f"{percent(float(found[crawl]))}, where {percent(float(expected[crawl]))} should be "
        f"new. All crawls together then hold {less} of the living {what} than a model of the "
        f"pairs says, and plans made with it are off. Either {what} differ in how readily they are "
        "captured or how long they live, or the crawler avoids or repeats earlier crawls: the "
        "other checks say which.",
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
        for crawl in regime.positions[2:]:
            seen = data.captured[:, regime.first : crawl].any(axis=1)
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
    sizes: Numbers, coverage: Numbers, living: Numbers, regimes: tuple[Regime, ...]
) -> Numbers:
    """Return the new URLs of each crawl, where a share `living` survives each interval."""
    expected = np.full(sizes.size, np.nan)
    for regime in regimes:
        known = sizes[regime.first]
        for crawl in regime.positions[1:]:
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

OVERDISPERSION = CheckSpec(
    id="overdispersion",
    threshold=0.01,
    question="Are URLs captured one by one, or in bunches?",
    meaning=(
        "If each crawl prefers other hosts, URLs of one host come and go together, and counts "
        "scatter more than as many independent URLs. Nothing is biased by it, but standard errors "
        "and likelihoods that take every URL for independent evidence are too sure of themselves. "
        "Intervals from leaving out whole crawls allow for it."
    ),
    computation=(
        "How many URLs of each crawl are seen next in each later one is held against the model of "
        "Cormack, Jolly and Seber with a coverage for each crawl and a survival for each interval, "
        "by Pearson's chi-square; over its degrees of freedom this is known as c-hat. The effect "
        "is the share by which a typical count varies beyond independent URLs, so that it does not "
        "grow with the number of URLs as c-hat does. It is a finding from 0.01 on and warns from "
        "0.05 on, if the chi-square test is certain (1 in 100). Where another check found "
        "something that makes counts depart from the model by itself, it is not tested."
    ),
    advice=(
        "Trust intervals from leaving out crawls, and none that counts URLs. Estimate by host or "
        "domain to see where the bunches are."
    ),
)

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

    what = things(level)
    measured = _measure_dispersion(data)
    if measured is None:
        return OVERDISPERSION.not_testable(
            "it takes five or more crawls that share enough of what they hold."
        )
    chi_square, n_freedom, mean_expected = measured
    # How many times more the counts vary than those of independent URLs: c-hat.
    ratio = chi_square / n_freedom
    if found:
        return OVERDISPERSION.not_testable(
            f"what {names(list(found))} found makes counts depart from the model by itself "
            f"({_times(ratio)} times the variance of independent {what}).",
        )
    scatter = math.sqrt(max(0.0, ratio - 1) / mean_expected)
    if scatter <= OVERDISPERSION.threshold or chi_square <= float(chdtri(n_freedom, _CELL_TAIL)):
        message = f"The counts scatter no more than those of independent {what}, or hardly more."
        return OVERDISPERSION.found("ok", scatter, message)
    return OVERDISPERSION.found(
        "info" if scatter < _WARN else "warn",
        scatter,
        f"The counts vary {_times(ratio)} times as much as those of independent {what}, by about "
        f"{percent(scatter)} each: {what} are captured in bunches, as when each crawl "
        "prefers other hosts. Coverage is not biased by it. Standard errors that count every one "
        f"as independent are too small by a factor of {_times(math.sqrt(ratio))}; those from "
        "leaving out whole crawls allow for it.",
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
    finding = _describe_cause(cause, found, things(level))
    if found is None:
        return replace(check, status="warn", message=finding)
    # What histories decide, pairs need not guess at.
    by_pairs = describe_short_lag(found, things(level), is_settled=True)
    return replace(check, message=f"{by_pairs} {finding}")


def _describe_cause(cause: ShortLagCause, found: ShortLag | None, what: str) -> str:
    among = f"among {what} known to be alive"
    if cause.cause == "avoidance":
        last = "the last crawl" if cause.n_lags == 1 else f"one of the last {cause.n_lags} crawls"
        finding = (
            f"the odds of being captured are {math.exp(cause.log_odds):.2g} times those of others "
            f"if {last} captured them"
        )
        if math.isinf(cause.log_odds):
            finding = f"none that {last} captured are captured again"
        return (
            f"Capture histories show it directly: {among}, {finding}. This "
            "crawler avoids pages that it fetched recently, and coverage from all pairs is too "
            "low. Estimates from capture histories that allow for it stay right."
        )
    if cause.cause == "re-seeding":
        cut = ""
        if found is not None and found.cut_low is not None:
            cut = (
                f" Without the affected pairs (--min-lag {found.n_lags + 1}) it is about "
                f"{percent(found.cut_low)}, still a few per cent too high in simulations."
            )
        return (
            f"Capture histories show why: {among}, the odds of being captured right after a "
            f"capture are {math.exp(cause.log_odds):.2g} times those two crawls after "
            "one. The crawler starts from pages of the crawl before, and coverage from all pairs "
            f"is too high.{cut} Estimates from capture histories that allow for it stay right."
        )
    return (
        f"Capture histories show why: {among}, those captured just "
        "before are not captured more readily, so that the crawler does not repeat "
        "itself. Many live only briefly, and coverage from all pairs is too low; the "
        "Manly–Parr estimate needs no rate of decay and stays right."
    )


HISTORY_CHECKS = (HETEROGENEOUS_CAPTURE, PAST_FUTURE, NOVELTY, OVERDISPERSION)
"""In the order in which they should be read."""


# ----------------------------------------- what each check means, how it is computed and what to do


EXPLANATIONS = MappingProxyType({spec.id: spec for spec in (*PAIR_CHECKS, *HISTORY_CHECKS)})

_STATUS: dict[Status, str] = {
    "ok": "nothing found",
    "info": "a finding, no fault",
    "warn": "the number holds with the repair or caveat that is named",
    "fail": "do not trust the number",
    "na": "not testable with this data",
}


def explain_check(check_id: str, checks: Sequence[Check]) -> tuple[tuple[str, str], ...]:
    """Explain a check and say what it found, as headings with a paragraph each.

    Parameters
    ----------
    check_id
        The check to explain.
    checks
        The results.

    Raises
    ------
    FitError
        If there is no such check.
    """
    if check_id not in EXPLANATIONS:
        raise FitError(f"there is no check {check_id!r}; the checks are {', '.join(EXPLANATIONS)}")
    spec = EXPLANATIONS[check_id]
    found = (("What it found here", _describe(check)) for check in checks if check.id == check_id)
    return (
        (check_id, spec.question),
        *found,
        ("What it means", spec.meaning),
        ("How it is computed", spec.computation),
        ("What to do", spec.advice),
    )


def _describe(check: Check) -> str:
    numbers = ""
    if check.effect is not None:
        numbers = f", effect {check.effect:+.3f}".replace("-", "−")
    if check.threshold is not None:
        numbers += f", threshold {check.threshold:g}"
    return f"{check.status} ({_STATUS[check.status]}{numbers}). {check.message}"
