"""All checks that pairs of crawls allow, in the order in which they should be read."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from crawlgauge.model.decay import DecayShape, fit_shapes, outermost, slows_down
from crawlgauge.model.estimates import Check, CheckSpec, Estimate
from crawlgauge.model.lack_of_fit import (
    CERTAINTY,
    LACK_OF_FIT,
    add_term,
    best_term,
    check_lack_of_fit,
    critical_t,
    up_to,
)
from crawlgauge.model.pairs import Numbers, PairData, pair_data
from crawlgauge.model.paper import TOO_MANY_ZEROS, has_too_many_zeros
from crawlgauge.model.phrases import growth_per_year, percent, things
from crawlgauge.model.short_lag import SHORT_LAG, ShortLag, check_short_lag, find_short_lag
from crawlgauge.model.two_way import TwoWayFit, fit_two_way, refused_fit
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["CURVATURE", "PAIR_CHECKS", "Diagnosis", "Regime", "diagnose", "run_checks"]


# --------------------------------------------------------------- whether the crawls form one series


CHANGE_POINT = CheckSpec(
    id="change-point",
    threshold=0.03,
    question="Is this one series of crawls, or several?",
    meaning=(
        "When scope, seeds or limits of a crawler change, part of what it reached before is out of "
        "reach. Crawls on different sides then share less than they should, and decay looks faster "
        "than it is. A change of coverage alone is no change-point."
    ),
    computation=(
        "For each date with three or more crawls on either side the two-way model gets a term that "
        "is 1 for pairs across it; the date that explains most counts. The effect is the "
        "coefficient: the logarithm of what crawls across the date share over what they should. "
        f"{CERTAINTY} (1 in 1000, divided by the number of dates and of changes). It warns if the "
        "effect is below −0.03. Up to three changes are sought together, as one can hide another; "
        "all must be certain beside the others."
    ),
    advice=(
        "Pairs across the change are left out, and the headline is that of the latest regime; "
        "--regime N estimates another one alone. Compare the date with the log of the crawler's "
        "settings. A lasting drop in the quality of URLs looks the same."
    ),
)

# Crawls that are needed on each side of a change.
_MIN_SIDE = 3

_SIGNIFICANCE = 0.001
_MAX_CHANGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A date across which crawls share too little.

    Parameters
    ----------
    first
        Position of the first crawl after the change.
    coefficient
        Logarithm of what crawls across the change share over what they should.
    is_certain
        Whether it is large enough to matter and stands out from the scatter of the crawls.
    """

    first: int
    coefficient: float
    is_certain: bool


def find_changes(
    pairs: PairData, fit: TwoWayFit, short_lag: ShortLag | None = None
) -> tuple[ChangePoint, ...]:
    """Find all changes that are certain; else the likeliest one; nothing where it is untestable.

    One change can hide another, so that up to three are sought together. The largest set counts
    of which each is certain beside the others, and beside an effect of short lags.
    """
    if not fit.has_remainder:
        return ()
    near = None if short_lag is None else up_to(pairs, short_lag.n_lags)
    # Neighbours that share nothing at all are in no row, and their term would be empty.
    others = (near,) if near is not None and near.any() else ()
    best: tuple[ChangePoint, ...] = ()
    firsts: tuple[int, ...] = ()
    for _ in range(_MAX_CHANGES):
        grown = _add_first(pairs, fit, firsts, others)
        changes = None if grown is None else _weigh_changes(pairs, fit, grown, others)
        if grown is None or changes is None:
            break
        firsts = grown
        if not best or all(change.is_certain for change in changes):
            best = changes
    return best


def _add_first(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: tuple[Numbers, ...]
) -> tuple[int, ...] | None:
    """Add the date that explains most, then move each to where it does beside the others."""

    def best_beside(known: tuple[int, ...]) -> int | None:
        terms = {k: _across(pairs, k) for k in _possible_firsts(pairs, known)}
        return best_term(pairs, fit, terms, *others, *(_across(pairs, k) for k in known))

    added = best_beside(firsts)
    if added is None:
        return None
    grown = (*firsts, added)
    for first in firsts:
        rest = tuple(other for other in grown if other != first)
        moved = best_beside(rest)
        grown = (*rest, first if moved is None else moved)
    return tuple(sorted(grown))


def _weigh_changes(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: tuple[Numbers, ...]
) -> tuple[ChangePoint, ...] | None:
    """Return each change beside the others, or None if one is not identifiable."""
    # The best of several dates is looked at, once for each change, so that all must pass a
    # stricter test.
    n_tests = len(firsts) * len(_possible_firsts(pairs, ()))
    critical = critical_t(pairs.n_crawls, _SIGNIFICANCE / n_tests)
    changes = []
    for first in firsts:
        rest = (_across(pairs, other) for other in firsts if other != first)
        term = add_term(pairs, fit, _across(pairs, first), *others, *rest)
        if term is None:
            return None
        is_certain = term.coefficient < -CHANGE_POINT.threshold and term.t_value < -critical
        changes.append(
            ChangePoint(first=first, coefficient=term.coefficient, is_certain=is_certain)
        )
    return tuple(changes)


def _possible_firsts(pairs: PairData, known: tuple[int, ...]) -> list[int]:
    edges = (0, *known, pairs.n_crawls)
    return [
        k
        for k in range(1, pairs.n_crawls)
        # Crawls of one date cannot lie on two sides of a change between dates.
        if pairs.days[k] > pairs.days[k - 1] and all(abs(k - edge) >= _MIN_SIDE for edge in edges)
    ]


def _across(pairs: PairData, first: int) -> Numbers:
    return np.where((pairs.start < first) != (pairs.end < first), 1.0, 0.0)


def check_change_point(table: OverlapTable, changes: tuple[ChangePoint, ...]) -> Check:
    """Say whether the crawls fall into series that should not be mixed.

    The effect is the logarithm of what crawls on different sides share over what they should:
    −0.3 means a quarter too few. It warns below −0.03; of several changes the largest is given.
    """
    if not changes:
        return CHANGE_POINT.not_testable(
            f"a change of scope shows only with {_MIN_SIDE} or more crawls on each side of it and "
            "overlaps across it. Note changes of scope and settings by date, and compare the "
            "crawls of one setting (--since, --until)."
        )
    largest = min(changes, key=lambda change: change.coefficient)
    effect, first = largest.coefficient, table.crawls[largest.first].label
    if effect >= -CHANGE_POINT.threshold:
        message = "The crawls form one series: at no date does the overlap with earlier ones drop."
        return CHANGE_POINT.found("ok", effect, message)
    fewer = f"{percent(-math.expm1(effect))} fewer {things(table.level)}"
    if not largest.is_certain:
        return CHANGE_POINT.found(
            "ok",
            effect,
            f"No change is certain: the likeliest one, from {first} on, across which crawls share "
            f"{fewer} than they should, does not stand out from the scatter between crawls.",
        )
    before, latest = (table.crawls[k].label for k in (largest.first - 1, changes[-1].first))
    more = "" if len(changes) == 1 else f" There are {len(changes)} such changes in all."
    return CHANGE_POINT.found(
        "warn",
        effect,
        f"Crawls up to {before} and from {first} on share {fewer} with each other than crawls on "
        "the same side: scope or settings of the crawler seem to have changed between them."
        f"{more} Pairs across a change are left out, and the typical coverage is that of the "
        f"crawls from {latest} on; --regime 1 shows the first ones.",
    )


# --------------------------------------------- whether overlaps shrink by the same share every year


CURVATURE = CheckSpec(
    id="curvature",
    threshold=0.03,
    question="Do overlaps shrink by the same share every year?",
    meaning=(
        "Where short-lived and long-lived pages are mixed, overlaps shrink fast at first and "
        "slowly later. Coverage is the overlap carried back to lag zero, where there are no data: "
        "a steady rate carries it back too low (in simulations by 7 to 23 %), other shapes less so "
        "or too far."
    ),
    computation=(
        "The two-way model gets the term D·ln D, where D is the time between two crawls; its "
        f"coefficient is above zero if decay slows down. {CERTAINTY} (1 in 100). The model is also "
        "fitted with a Weibull and a bi-exponential decay, the faster kind with a half-life of at "
        "least half the shortest lag. The effect is the logarithm of the highest over the lowest "
        "typical coverage among the shapes; the check warns above 0.03 and fails above 0.69 (a "
        "factor of two). Where short-lag has found something, curvature is not tested."
    ),
    advice=(
        "Report the range over the shapes, not one number. Two crawls close together, or capture "
        "histories, show the beginning of the decay and decide between them."
    ),
)

_FAIL = math.log(2)
_LEAST_CHANGE = 0.01
_SHAPES = {
    "exponential": "one steady rate",
    "weibull": "a rate that falls with age",
    "bi-exponential": "two kinds of page",
}


def check_curvature(
    pairs: PairData,
    fit: TwoWayFit,
    shapes: tuple[DecayShape, ...],
    short_lag: ShortLag | None,
    level: str,
) -> Check:
    """Say whether the shape of decay matters for coverage, and by how much.

    The effect is the logarithm of the highest over the lowest typical coverage among the shapes
    of decay: 0.03 means that they differ by 3 %. It counts only where the bend is upwards and
    stands out from what leaving out single crawls does to it.
    """
    is_bent = slows_down(pairs, fit) if shapes else None
    if is_bent is None:
        return CURVATURE.not_testable(
            "whether decay is steady shows only with five or more crawls and the overlaps of most "
            "pairs. Add crawls."
        )
    if short_lag is not None:
        return CURVATURE.not_testable(
            "neighbouring crawls avoid or repeat each other (see short-lag), which bends the "
            "decay by itself. Leave out the affected pairs "
            f"(--min-lag {short_lag.n_lags + 1}) to test the rest."
        )
    lowest, highest = outermost(shapes)
    effect = math.log(highest.coverage / lowest.coverage)
    if not (is_bent and effect > CURVATURE.threshold):
        change = "less than 1 %"
        if effect >= _LEAST_CHANGE:
            change = f"up to {percent(math.expm1(effect))}"
        return CURVATURE.found(
            "ok",
            effect,
            "Overlaps shrink at a steady rate, as far as the scatter between crawls lets it be "
            f"told; other shapes of decay would change coverage by {change}.",
        )
    verdict = "Report the range and not one number"
    if effect >= _FAIL:
        verdict = "The range is too wide for any one number to be trusted"
    low, high = (f"{percent(end.coverage)} ({_SHAPES[end.name]})" for end in (lowest, highest))
    return CURVATURE.found(
        "warn" if effect < _FAIL else "fail",
        effect,
        f"Overlaps shrink fast at first and more slowly later: short-lived and long-lived "
        f"{things(level)} are mixed, or neighbouring crawls repeat each other. Coverage then "
        f"depends on the shape of decay before the shortest lag, which no pair shows: {low} to "
        f"{high}. {verdict}; capture histories, or two crawls close together, resolve it.",
    )


# --------------------------------------------------- whether what could be crawled grows or shrinks


POPULATION_TREND = CheckSpec(
    id="population-trend",
    threshold=0.01,
    question="Does the number of URLs that could be crawled grow or shrink?",
    meaning=(
        "A finding, and no fault. If the population grows and crawls do not, coverage falls "
        "although the crawler works as before. The published method's line takes half of such a "
        "trend for turnover; the two-way model keeps them apart."
    ),
    computation=(
        "The population of each crawl is its size over its coverage; the effect is the slope of "
        "its logarithm per year. It is reported if it is beyond 0.01 either way and the interval "
        "of the growth leaves out zero."
    ),
    advice="Let the size of crawls follow the population to keep coverage where it is.",
)


def check_population_trend(growth: Estimate, level: str) -> Check:
    """Say whether the population has a trend; a finding, and no fault of the fit.

    The effect is the growth rate per year as a logarithm. It counts if it is beyond one per
    cent a year either way and its interval leaves out zero.
    """
    if growth.value is None or growth.low is None or growth.high is None:
        return POPULATION_TREND.not_testable(
            "the growth of the population is not known with an interval "
            f"({growth.reason or 'too few crawls'}). Four or more crawls give one."
        )
    effect = math.log1p(growth.value)
    between = f"({growth_per_year(growth.low)} to {growth_per_year(growth.high)})"
    if abs(effect) <= POPULATION_TREND.threshold or growth.low <= 0 <= growth.high:
        return POPULATION_TREND.found("ok", effect, f"The population shows no trend {between}.")
    verb, other = ("grows", "fall") if effect > 0 else ("shrinks", "rise")
    return POPULATION_TREND.found(
        "info",
        effect,
        f"The number of {things(level)} that could be crawled {verb}: "
        f"{growth_per_year(growth.value)} {between}. Crawls of constant size {other} in coverage; "
        "the published method's line mixes this with the turnover, the two-way model does not.",
    )


# --------------------------------------------------------------------------- all checks of a series


PAIR_CHECKS = (LACK_OF_FIT, SHORT_LAG, CURVATURE, CHANGE_POINT, POPULATION_TREND)
"""In the order of `run_checks`."""


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis:
    """What is wrong with a series, and what the estimates should be made from.

    Parameters
    ----------
    table
        The overlaps to estimate from: all, or without pairs across a change.
    pairs, fit
        Its pairs and the two-way model of them.
    changes
        The changes of scope; a single one that is not certain, or none where it is untestable.
    regimes
        The crawls between changes; one if there is no change. The last one is the headline's.
    short_lag
        An effect of short lags, with coverage after the lag cut; None if there is none.
    shapes
        The model with other shapes of decay, whose range counts if the check curvature warns.
    """

    table: OverlapTable
    pairs: PairData
    fit: TwoWayFit
    changes: tuple[ChangePoint, ...]
    regimes: tuple[Regime, ...]
    short_lag: ShortLag | None
    shapes: tuple[DecayShape, ...]


def diagnose(table: OverlapTable) -> Diagnosis:
    """Look for all that pairs of crawls can show to be wrong.

    A change of scope comes first, since it spoils every other sign: short lags and the shape of
    decay are then judged by the pairs within regimes.
    """
    pairs, fit, shapes, short_lag = _look_closely(table)
    changes = find_changes(pairs, fit, short_lag)
    firsts = [0, *(change.first for change in changes if change.is_certain)]
    if len(firsts) > 1:
        regime_of = np.searchsorted(firsts, np.arange(table.n_crawls), side="right")
        across = regime_of[:, None] != regime_of
        table = replace(table, n_shared=np.where(across, MISSING, table.n_shared))
        pairs, fit, shapes, short_lag = _look_closely(table)
    return Diagnosis(
        table=table,
        pairs=pairs,
        fit=fit,
        changes=changes,
        regimes=tuple(
            Regime(first=first, last=following - 1)
            for first, following in itertools.pairwise((*firsts, table.n_crawls))
        ),
        short_lag=short_lag,
        shapes=shapes,
    )


def _look_closely(
    table: OverlapTable,
) -> tuple[PairData, TwoWayFit, tuple[DecayShape, ...], ShortLag | None]:
    pairs = pair_data(table)
    if has_too_many_zeros(pairs):
        fit = refused_fit(pairs.n_crawls, TOO_MANY_ZEROS)
    else:
        fit = fit_two_way(pairs)
    shapes = fit_shapes(pairs, fit)
    return pairs, fit, shapes, find_short_lag(pairs, fit, shapes)


def run_checks(diagnosis: Diagnosis, growth: Estimate) -> tuple[Check, ...]:
    """Grade every assumption that pairs of crawls can test, and say what to do.

    Returns
    -------
    tuple
        As listed in `PAIR_CHECKS`.
    """
    pairs, fit, level = diagnosis.pairs, diagnosis.fit, diagnosis.table.level
    short_lag, shapes = diagnosis.short_lag, diagnosis.shapes
    return (
        check_lack_of_fit(pairs, fit),
        check_short_lag(pairs, fit, short_lag, shapes, level),
        check_curvature(pairs, fit, shapes, short_lag, level),
        check_change_point(diagnosis.table, diagnosis.changes),
        check_population_trend(growth, level),
    )
