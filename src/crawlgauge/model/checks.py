"""All checks that pairs of crawls allow, in the order in which they should be read."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from crawlgauge.model.decay import DecayShape, coverage_range, find_bend, fit_shapes
from crawlgauge.model.estimates import Check, Estimate, Status
from crawlgauge.model.lack_of_fit import (
    MakeTerm,
    Term,
    add_term,
    best_term,
    check_lack_of_fit,
    up_to,
)
from crawlgauge.model.pairs import PairData, pair_data
from crawlgauge.model.paper import TOO_MANY_ZEROS, has_too_many_zeros
from crawlgauge.model.phrases import growth_per_year, percent, things
from crawlgauge.model.short_lag import ShortLag, check_short_lag, find_short_lag
from crawlgauge.model.two_way import TwoWayFit, fit_two_way, refused_fit
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = [
    "ChangePoint",
    "Diagnosis",
    "Regime",
    "check_change_point",
    "check_curvature",
    "check_population_trend",
    "diagnose",
    "drop_pairs_across",
    "find_changes",
    "run_checks",
    "split_at",
]


# --------------------------------------------------------------------------- the check change-point


MIN_SIDE = 3
"""Crawls that are needed on each side of a change."""

_CHANGE_THRESHOLD = 0.03
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
    of which each is certain beside the others.

    Parameters
    ----------
    pairs
        The pairs.
    fit
        The two-way model of them.
    short_lag
        An effect of short lags, which is kept apart from that of a change.
    """
    if fit.n_freedom <= 0 or math.isnan(fit.tau_squared):
        return ()
    others = []
    # Neighbours that share nothing at all are in no row, and their term would be empty.
    if short_lag is not None and np.any(up_to(short_lag.n_lags)(pairs)):
        others.append(up_to(short_lag.n_lags))
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


def check_change_point(table: OverlapTable, changes: tuple[ChangePoint, ...]) -> Check:
    """Say whether the crawls fall into series that should not be mixed.

    The effect is the logarithm of what crawls on different sides share over what they should:
    −0.3 means a quarter too few. It warns below −0.03; of several changes the largest is given.

    Parameters
    ----------
    table
        The overlaps.
    changes
        From `find_changes`.
    """
    if not changes:
        return Check(
            id="change-point",
            status="na",
            effect=None,
            threshold=_CHANGE_THRESHOLD,
            message=(
                f"Not testable: a change of scope shows only with {MIN_SIDE} or more crawls on "
                "each side of it and overlaps across it. Note changes of scope and settings by "
                "date, and compare the crawls of one setting (--since, --until)."
            ),
        )
    largest = min(changes, key=lambda change: change.coefficient)
    if not largest.is_certain:
        return Check(
            id="change-point",
            status="ok",
            effect=largest.coefficient,
            threshold=_CHANGE_THRESHOLD,
            message=_describe_one_series(table, largest),
        )
    before, after = (table.crawls[largest.first + k].label for k in (-1, 0))
    latest = table.crawls[changes[-1].first].label
    more = "" if len(changes) == 1 else f" There are {len(changes)} such changes in all."
    return Check(
        id="change-point",
        status="warn",
        effect=largest.coefficient,
        threshold=_CHANGE_THRESHOLD,
        message=(
            f"Crawls up to {before} and from {after} on share "
            f"{percent(-math.expm1(largest.coefficient))} fewer {things(table.level)} with each "
            "other than crawls on the same side: scope or settings of the crawler seem to have "
            f"changed between them.{more} Pairs across a change are left out, and the typical "
            f"coverage is that of the crawls from {latest} on; --regime 1 shows the first ones."
        ),
    )


def _describe_one_series(table: OverlapTable, likeliest: ChangePoint) -> str:
    if likeliest.coefficient >= -_CHANGE_THRESHOLD:
        return "The crawls form one series: at no date does the overlap with earlier ones drop."
    return (
        "No change is certain: the likeliest one, from "
        f"{table.crawls[likeliest.first].label} on, across which crawls share "
        f"{percent(-math.expm1(likeliest.coefficient))} fewer {things(table.level)} than they "
        "should, does not stand out from the scatter between crawls."
    )


def _add_first(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: list[MakeTerm]
) -> tuple[int, ...] | None:
    """Add the date that explains most, then move each to where it does beside the others."""
    added = _best_first(pairs, fit, firsts, others)
    if added is None:
        return None
    grown = (*firsts, added)
    for first in firsts:
        rest = tuple(other for other in grown if other != first)
        moved = _best_first(pairs, fit, rest, others)
        grown = (*rest, first if moved is None else moved)
    return tuple(sorted(grown))


def _best_first(
    pairs: PairData, fit: TwoWayFit, known: tuple[int, ...], others: list[MakeTerm]
) -> int | None:
    terms = {k: _across(k) for k in _possible_firsts(pairs, known)}
    return best_term(pairs, fit, terms, *others, *map(_across, known))


def _weigh_changes(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: list[MakeTerm]
) -> tuple[ChangePoint, ...] | None:
    """Return each change beside the others, or None if one is not identifiable."""
    from scipy.special import stdtrit

    # The best of several dates is looked at, once for each change, so that all must pass a
    # stricter test.
    n_tests = len(firsts) * len(_possible_firsts(pairs, ()))
    critical = float(stdtrit(pairs.n_crawls - 2, 1 - _SIGNIFICANCE / n_tests))
    changes = []
    for first in firsts:
        rest = [_across(other) for other in firsts if other != first]
        term = add_term(pairs, fit, _across(first), *others, *rest)
        if term is None:
            return None
        changes.append(
            ChangePoint(
                first=first,
                coefficient=term.coefficient,
                is_certain=term.coefficient < -_CHANGE_THRESHOLD and term.t_value < -critical,
            )
        )
    return tuple(changes)


def _possible_firsts(pairs: PairData, known: tuple[int, ...]) -> list[int]:
    edges = (0, *known, pairs.n_crawls)
    return [
        k
        for k in range(1, pairs.n_crawls)
        # Crawls of one date cannot lie on two sides of a change between dates.
        if pairs.days[k] > pairs.days[k - 1] and all(abs(k - edge) >= MIN_SIDE for edge in edges)
    ]


def _across(first: int) -> MakeTerm:
    def make(pairs: PairData) -> Term:
        return np.where((pairs.start < first) != (pairs.end < first), 1.0, 0.0)

    return make


# ------------------------ the check curvature: whether overlaps shrink by the same share every year


_WARN = 0.03
_FAIL = math.log(2)
_LEAST_CHANGE = 0.01


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

    Parameters
    ----------
    pairs
        The pairs.
    fit
        The two-way model of them.
    shapes
        Other shapes of decay.
    short_lag
        An effect of short lags, which no shape of decay should be fitted to.
    level
        What is compared.
    """
    bend = find_bend(pairs, fit) if shapes else None
    if bend is None:
        return _not_testable(
            "whether decay is steady shows only with five or more crawls and the overlaps of most "
            "pairs. Add crawls."
        )
    if short_lag is not None:
        return _not_testable(
            "neighbouring crawls avoid or repeat each other (see short-lag), which bends the "
            "decay by itself. Leave out the affected pairs "
            f"(--min-lag {short_lag.n_lags + 1}) to test the rest."
        )
    between = coverage_range(shapes)
    effect = math.log(between.high / between.low)
    if not (bend.is_certain and effect > _WARN):
        return Check(
            id="curvature",
            status="ok",
            effect=effect,
            threshold=_WARN,
            message=(
                "Overlaps shrink at a steady rate, as far as the scatter between crawls lets it "
                f"be told; other shapes of decay would change coverage by {_change(effect)}."
            ),
        )
    status: Status = "warn" if effect < _FAIL else "fail"
    low, high = percent(between.low), percent(between.high)
    verdict = (
        "Report the range and not one number"
        if status == "warn"
        else "The range is too wide for any one number to be trusted"
    )
    return Check(
        id="curvature",
        status=status,
        effect=effect,
        threshold=_WARN,
        message=(
            f"Overlaps shrink fast at first and more slowly later: short-lived and long-lived "
            f"{things(level)} are mixed, or neighbouring crawls repeat each other. Coverage then "
            f"depends on the shape of decay before the shortest lag, which no pair shows: {low} "
            f"({_SHAPES[between.low_shape]}) to {high} ({_SHAPES[between.high_shape]}). {verdict}; "
            "capture histories, or two crawls close together, resolve it."
        ),
    )


_SHAPES = {
    "exponential": "one steady rate",
    "weibull": "a rate that falls with age",
    "bi-exponential": "two kinds of page",
}


def _change(effect: float) -> str:
    return "less than 1 %" if effect < _LEAST_CHANGE else f"up to {percent(math.expm1(effect))}"


def _not_testable(reason: str) -> Check:
    return Check(
        id="curvature",
        status="na",
        effect=None,
        threshold=_WARN,
        message=f"Not testable: {reason}",
    )


# ----------------------- the check population-trend: whether what could be crawled grows or shrinks


_TREND_THRESHOLD = 0.01


def check_population_trend(growth: Estimate, level: str) -> Check:
    """Say whether the population has a trend; a finding, and no fault of the fit.

    The effect is the growth rate per year as a logarithm. It counts if it is beyond one per
    cent a year either way and its interval leaves out zero.

    Parameters
    ----------
    growth
        Relative growth of the population per year, with its interval.
    level
        What is compared.
    """
    if growth.value is None or growth.low is None or growth.high is None:
        return Check(
            id="population-trend",
            status="na",
            effect=None,
            threshold=_TREND_THRESHOLD,
            message=(
                "Not testable: the growth of the population is not known with an interval "
                f"({growth.reason or 'too few crawls'}). Four or more crawls give one."
            ),
        )
    effect = math.log1p(growth.value)
    between = f"({growth_per_year(growth.low)} to {growth_per_year(growth.high)})"
    if abs(effect) <= _TREND_THRESHOLD or growth.low <= 0 <= growth.high:
        return Check(
            id="population-trend",
            status="ok",
            effect=effect,
            threshold=_TREND_THRESHOLD,
            message=f"The population shows no trend {between}.",
        )
    verb, other = ("grows", "fall") if effect > 0 else ("shrinks", "rise")
    return Check(
        id="population-trend",
        status="info",
        effect=effect,
        threshold=_TREND_THRESHOLD,
        message=(
            f"The number of {things(level)} that could be crawled {verb}: "
            f"{growth_per_year(growth.value)} {between}. Crawls of constant size {other} in "
            "coverage; the published method's line mixes this with the turnover, the two-way "
            "model does not."
        ),
    )


# ------------------------------------------------------------------------------------------ regimes


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


# ----------------- all checks that pairs of crawls allow, in the order in which they should be read


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

    Parameters
    ----------
    table
        The overlaps.
    """
    pairs, fit = _fit(table)
    short_lag = find_short_lag(pairs, fit, shapes := fit_shapes(pairs, fit))
    changes = find_changes(pairs, fit, short_lag)
    regimes = split_at(table.n_crawls, changes)
    if len(regimes) > 1:
        table = drop_pairs_across(table, regimes)
        pairs, fit = _fit(table)
        short_lag = find_short_lag(pairs, fit, shapes := fit_shapes(pairs, fit))
    return Diagnosis(
        table=table,
        pairs=pairs,
        fit=fit,
        changes=changes,
        regimes=regimes,
        short_lag=short_lag,
        shapes=shapes,
    )


def run_checks(diagnosis: Diagnosis, growth: Estimate) -> tuple[Check, ...]:
    """Grade every assumption that pairs of crawls can test, and say what to do.

    Parameters
    ----------
    diagnosis
        From `diagnose`.
    growth
        Relative growth of the population per year, with its interval.

    Returns
    -------
    tuple
        ``lack-of-fit``, ``short-lag``, ``curvature``, ``change-point``, ``population-trend``.
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


def _fit(table: OverlapTable) -> tuple[PairData, TwoWayFit]:
    pairs = pair_data(table)
    if has_too_many_zeros(pairs):
        return pairs, refused_fit(pairs.n_crawls, TOO_MANY_ZEROS)
    return pairs, fit_two_way(pairs)
