"""All checks that pairs of crawls allow, in the order in which they should be read."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from crawlgauge.model.decay import DecayShape, fit_shapes, outermost
from crawlgauge.model.estimates import Check, CheckSpec, Estimate, Status
from crawlgauge.model.intervals import jackknife_variance
from crawlgauge.model.pairs import Integers, Numbers, PairData, pair_data
from crawlgauge.model.paper import TOO_MANY_ZEROS, expect_zeros, fit_pooled, has_too_many_zeros
from crawlgauge.model.phrases import percent, say
from crawlgauge.model.two_way import TwoWayFit, fit_columns, fit_two_way, refused_fit
from crawlgauge.overlaps.table import MISSING, OverlapTable

# --------------------------------------------------------------- one more term in the two-way model


_IDENTIFIED = 1e-9
_MIN_REPLICATES = 4


class AddedTerm(NamedTuple):
    """One more term in the two-way model.

    Parameters
    ----------
    coefficient
        What the term adds to the logarithm of a containment.
    t_value
        The coefficient over its standard error from leaving out one crawl at a time.
    unexplained
        Sum of squares that the model leaves with the term, over that without it.
    """

    coefficient: float
    t_value: float
    unexplained: float


def add_term(pairs: PairData, fit: TwoWayFit, term: Numbers, *others: Numbers) -> AddedTerm | None:
    """Fit the two-way model with one more term, or return None where it is not identifiable.

    Rows that share a crawl depend on each other, so that only leaving out whole crawls shows
    how certain the coefficient is: an F test would take every pair for independent evidence.
    The other terms are in the model with and without the new one.
    """
    weight = pairs.fit_weights(fit.tau_squared)
    whole = _partial(pairs, weight, term, others)
    if whole is None:
        return None
    kept = ((pairs.start != crawl) & (pairs.end != crawl) for crawl in range(pairs.n_crawls))
    without = [_partial(pairs, np.where(rows, weight, 0.0), term, others) for rows in kept]
    replicates = np.array([replicate[0] for replicate in without if replicate is not None])
    # Leaving out one of two crawls that alone carry the term says nothing about it.
    if replicates.size < max(_MIN_REPLICATES, pairs.n_crawls - 1):
        return None
    coefficient, unexplained = whole
    error = math.sqrt(jackknife_variance(replicates[:, None])[0][0])
    t_value = coefficient / error if error > 0 else math.copysign(math.inf, coefficient)
    return AddedTerm(coefficient, t_value, unexplained)


def best_term(
    pairs: PairData, fit: TwoWayFit, terms: Mapping[int, Numbers], *others: Numbers
) -> int | None:
    """Return the key of the term that explains most, or None if none is identifiable."""
    weight = pairs.fit_weights(fit.tau_squared)
    unexplained = {
        key: partial[1]
        for key, term in terms.items()
        if (partial := _partial(pairs, weight, term, others)) is not None
    }
    return min(unexplained, key=lambda key: unexplained[key], default=None)


def critical_t(n_crawls: int, significance: float) -> float:
    """Return the value beyond which the t value of a term is certain."""
    from scipy.special import stdtrit

    return float(stdtrit(n_crawls - 2, 1 - significance))


def up_to(pairs: PairData, n_lags: int) -> Numbers:
    """Make the term that is 1 where crawls are up to `n_lags` crawl dates apart, else 0."""
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    return np.where((lags > 0) & (lags <= n_lags), 1.0, 0.0)


def crawl_lags(pairs: PairData, start: Integers, end: Integers) -> Integers:
    """Return how many crawl dates each end is after each start; 0 on the same date."""
    rank: Integers = np.unique(pairs.days, return_inverse=True)[1]
    return rank[end] - rank[start]


def _partial(
    pairs: PairData, weight: Numbers, term: Numbers, others: tuple[Numbers, ...]
) -> tuple[float, float] | None:
    """Return the term's coefficient and the share of the squares that it leaves.

    Frisch–Waugh: response and term are freed of all else, then set against each other.
    """
    kept = weight > 0
    root = np.sqrt(weight)
    nuisance = [root * pairs.within_columns(weight, other) for other in (pairs.lag_years, *others)]
    basis, _, _ = np.linalg.svd(np.column_stack(nuisance), full_matrices=False)

    def free(values: Numbers) -> Numbers:
        left = root * pairs.within_columns(weight, values)
        return left - basis @ (basis.T @ left)

    response, freed = free(pairs.log_forward), free(term)
    size = float(freed @ freed)
    n_free = int(kept.sum()) - np.unique(pairs.end[kept]).size - len(nuisance)
    if n_free < 1 or size <= _IDENTIFIED * float(weight @ term**2):
        return None
    coefficient = float(freed @ response) / size
    before = float(response @ response)
    after = before - coefficient**2 * size
    return coefficient, max(after, 0.0) / before if before > 0 else 1.0


# ----------------------------------------------- whether the pairs lie where the model puts them


LACK_OF_FIT = CheckSpec(id="lack-of-fit", threshold=0.05)

_GRADES: tuple[tuple[float, Status, str], ...] = (
    (0.02, "ok", "good"),
    (LACK_OF_FIT.threshold, "ok", "fair"),
    (0.25, "warn", "rough"),
    (math.inf, "fail", "unusable"),
)
_RARE = 0.001


def check_lack_of_fit(pairs: PairData, fit: TwoWayFit) -> Check:
    """Measure how far the pairs lie from the two-way model, beyond what counting explains.

    The effect is the standard deviation of the log residuals after that of counting (and of
    published sketches) is taken away: 0.05 means that overlaps miss the model by about 5 %.
    """
    if not fit.has_remainder:
        return LACK_OF_FIT.not_testable()
    scatter = _measure_scatter(pairs, fit)
    if scatter == 0:
        return LACK_OF_FIT.found("ok", scatter, "counting")
    status, code = next((status, code) for most, status, code in _GRADES if scatter < most)
    return LACK_OF_FIT.found(status, scatter, code)


def _measure_scatter(pairs: PairData, fit: TwoWayFit) -> float:
    from scipy.special import chdtri

    noise = pairs.log_variance
    residuals = pairs.log_forward - fit.log_containments(pairs.end, pairs.lag_years)
    dispersion = float(pairs.weight @ (residuals**2 / noise))
    if dispersion < chdtri(fit.n_freedom, _RARE):
        return 0.0
    spread = float(pairs.weight @ residuals**2) / fit.n_freedom
    return math.sqrt(max(0.0, spread - float(pairs.weight @ noise) / pairs.n_pairs))


# ---------------------------------- whether crawls that follow each other share what they should

# A crawler that avoids pages it fetched recently makes neighbouring crawls share too little; one
# that is seeded with them, or pages that live only briefly, make them share too much.

SHORT_LAG = CheckSpec(id="short-lag", threshold=0.03)

_MILD = 0.3
_STRONG = 0.7
_CERTAIN = 0.01
_MAX_LAG = 3
_MIN_CRAWLS = 5
_N_CUTS = 3
# How much less a shape of decay must leave before it counts as the better account. Simulated
# with eight or more crawls: re-seeding leaves up to 3 times what the best shape leaves, mixed
# lifetimes 5 times and more.
_SHAPE_ADVANTAGE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLag:
    """What is odd about crawls that follow each other closely.

    Parameters
    ----------
    first_lag, n_lags
        How many crawls apart the affected ones are at least and at most.
    coefficient
        Logarithm of what they share over what they should; if that is nothing, of 1 over it.
    shares_nothing
        Whether most of them share nothing at all.
    cuts
        Typical coverage without the affected pairs, and without one or two lags more; empty where
        it is not identifiable.
    """

    first_lag: int
    n_lags: int
    coefficient: float
    shares_nothing: bool
    cuts: tuple[float, ...]

    @property
    def is_avoidance(self) -> bool:
        """Whether neighbouring crawls share too little."""
        return self.coefficient < 0


def find_short_lag(
    pairs: PairData, fit: TwoWayFit, shapes: tuple[DecayShape, ...]
) -> ShortLag | None:
    """Find an effect of short lags, or return None if there is none that matters."""
    empty = _find_empty_lags(pairs, fit)
    if empty is not None:
        n_lags, expected = empty
        return _cut_off(pairs, n_lags, -math.log(expected), shares_nothing=True)
    strongest = _strongest(pairs, fit)
    if strongest is None:
        return None
    n_lags, term = strongest
    if not _is_material(term, pairs.n_crawls) or _is_decay(pairs, fit, shapes, term):
        return None
    return _cut_off(pairs, n_lags, term.coefficient, shares_nothing=False)


def _find_empty_lags(pairs: PairData, fit: TwoWayFit) -> tuple[int, float] | None:
    """Return up to which lag most pairs share nothing, and how much they should."""
    zeros = expect_zeros(pairs, fit, fit_pooled(pairs, "forward"))
    empty = zeros.pairs[zeros.is_structural]
    empty_lags = crawl_lags(pairs, empty[:, 0], empty[:, 1])
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    n_lags = 0
    while np.sum(empty_lags == n_lags + 1) > np.sum(lags == n_lags + 1):
        n_lags += 1
    return (n_lags, float(np.median(zeros.expected[zeros.is_structural]))) if n_lags else None


def _strongest(pairs: PairData, fit: TwoWayFit) -> tuple[int, AddedTerm] | None:
    """Return the lag up to which an effect explains most, and the effect; None if untestable."""
    if pairs.n_crawls < _MIN_CRAWLS or not fit.has_remainder:
        return None
    terms = {lag: up_to(pairs, lag) for lag in range(1, _MAX_LAG + 1)}
    lag = best_term(pairs, fit, terms)
    term = None if lag is None else add_term(pairs, fit, terms[lag])
    return None if lag is None or term is None else (lag, term)


def _is_material(term: AddedTerm, n_crawls: int) -> bool:
    is_certain = abs(term.t_value) > critical_t(n_crawls, _CERTAIN)
    return abs(term.coefficient) > SHORT_LAG.threshold and is_certain


def _is_decay(
    pairs: PairData, fit: TwoWayFit, shapes: tuple[DecayShape, ...], term: AddedTerm
) -> bool:
    """Tell whether an excess is the beginning of a decay that slows down."""
    if term.coefficient < 0 or not shapes or shapes[0].squares == 0 or not slows_down(pairs, fit):
        return False
    best = min(shape.squares for shape in shapes) / shapes[0].squares
    return _SHAPE_ADVANTAGE * best < term.unexplained


def _cut_off(pairs: PairData, n_lags: int, coefficient: float, *, shares_nothing: bool) -> ShortLag:
    """Describe an effect, with the coverage of the pairs that it leaves alone."""
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    # Nothing was avoided between crawls of the same date: their pairs stay.
    included = np.array([(lags == 0) | (lags > n_lags + more) for more in range(_N_CUTS)])
    fits = fit_columns(pairs, included)
    return ShortLag(
        first_lag=1 if shares_nothing else int(lags[lags > 0].min()),
        n_lags=n_lags,
        coefficient=coefficient,
        shares_nothing=shares_nothing,
        cuts=tuple(
            math.exp(float(np.nanmean(level)))
            for level, n_freedom in zip(fits.level, fits.n_freedom, strict=True)
            if n_freedom > 0 and not np.isnan(level).all()
        ),
    )


def check_short_lag(
    pairs: PairData,
    fit: TwoWayFit,
    found: ShortLag | None,
    shapes: tuple[DecayShape, ...],
    level: str,
) -> Check:
    """Say whether crawls that follow each other closely share what they should.

    The effect is the logarithm of what they share over what the later pairs lead to expect:
    −0.1 means a tenth too few. It warns below −0.03 or above 0.03, and fails below −0.3, from
    where on leaving out the affected pairs no longer repairs the estimate.
    """
    if found is not None:
        status: Status = "fail" if found.coefficient < -_MILD else "warn"
        return SHORT_LAG.says(status, found.coefficient, describe_short_lag(found, level, shapes))
    strongest = _strongest(pairs, fit)
    if strongest is None:
        return SHORT_LAG.not_testable()
    effect = strongest[1].coefficient
    if abs(effect) <= SHORT_LAG.threshold:
        return SHORT_LAG.found("ok", effect)
    return SHORT_LAG.found(
        "ok",
        effect,
        "bend" if _is_material(strongest[1], pairs.n_crawls) else "scatter",
        amount=abs(math.expm1(effect)),
        more="more" if effect > 0 else "fewer",
        level=level,
    )


def describe_short_lag(
    found: ShortLag, level: str, shapes: tuple[DecayShape, ...] = (), *, is_settled: bool = False
) -> str:
    """Say what neighbouring crawls share, and what pairs can only guess at unless it is settled."""
    amount = abs(math.expm1(found.coefficient))
    if found.is_avoidance:
        code = "nothing" if found.shares_nothing else "fewer"
        strengths = {"mild": -_MILD, "strong": -_STRONG, "extreme": -math.inf}
        strength = next(name for name, least in strengths.items() if found.coefficient >= least)
        return say(
            f"short-lag.{strength}",
            finding=say(f"short-lag.{code}", who=_name(found), amount=amount, level=level),
            min_lag=found.n_lags + 1,
            cut=_say_cut(found),
            settle="" if is_settled else "; capture histories would settle it",
        )
    finding = say("short-lag.excess", who=_name(found), amount=amount, level=level)
    if is_settled:
        return finding
    between = "cannot be told"
    if shapes and found.cuts:
        high = max(shape.coverage for shape in shapes)
        between = f"lies between about {percent(min(found.cuts))} and {percent(high)}"
    return f"{finding} {say('short-lag.ambiguous', between=between)}"


def _name(found: ShortLag) -> str:
    if found.n_lags == 1:
        return "Adjacent crawls"
    if found.first_lag == 1:
        return f"Adjacent crawls, and others up to {found.n_lags} crawls apart,"
    return f"Crawls that are at most {found.n_lags} crawls apart"


def _say_cut(found: ShortLag) -> str:
    if not found.cuts:
        return "unknown, as too few pairs are left"
    cut, low, high = map(percent, (found.cuts[0], min(found.cuts), max(found.cuts)))
    if low == high:
        return f"about {cut}"
    return f"about {cut} ({low} to {high} without further lags)"


# --------------------------------------------------------------- whether the crawls form one series


CHANGE_POINT = CheckSpec(id="change-point", threshold=0.03)

# Crawls that are needed on each side of a change.
_MIN_SIDE = 3

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
        firsts = _add_first(pairs, fit, firsts, others)
        changes = _weigh_changes(pairs, fit, firsts, others) if firsts else ()
        if not changes:
            break
        if not best or all(change.is_certain for change in changes):
            best = changes
    return best


def _add_first(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: tuple[Numbers, ...]
) -> tuple[int, ...]:
    """Add the date that explains most, then move each to where it does beside the others.

    Nothing is returned where no date is left.
    """

    def best_beside(known: tuple[int, ...]) -> int | None:
        terms = {k: _across(pairs, k) for k in _possible_firsts(pairs, known)}
        return best_term(pairs, fit, terms, *others, *(_across(pairs, k) for k in known))

    added = best_beside(firsts)
    if added is None:
        return ()
    grown = (*firsts, added)
    for first in firsts:
        rest = tuple(other for other in grown if other != first)
        moved = best_beside(rest)
        grown = (*rest, first if moved is None else moved)
    return tuple(sorted(grown))


def _weigh_changes(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: tuple[Numbers, ...]
) -> tuple[ChangePoint, ...]:
    """Return each change beside the others, or nothing if one is not identifiable."""
    # The best of several dates is looked at, once for each change, so that all must pass a
    # stricter test.
    n_tests = len(firsts) * len(_possible_firsts(pairs, ()))
    critical = critical_t(pairs.n_crawls, _RARE / n_tests)
    changes = []
    for first in firsts:
        rest = (_across(pairs, other) for other in firsts if other != first)
        term = add_term(pairs, fit, _across(pairs, first), *others, *rest)
        if term is None:
            return ()
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
        return CHANGE_POINT.not_testable()
    largest = min(changes, key=lambda change: change.coefficient)
    effect = largest.coefficient
    if effect >= -CHANGE_POINT.threshold:
        return CHANGE_POINT.found("ok", effect)
    before, first, latest = (
        table.crawls[k].label for k in (largest.first - 1, largest.first, changes[-1].first)
    )
    return CHANGE_POINT.found(
        "warn" if largest.is_certain else "ok",
        effect,
        "" if largest.is_certain else "uncertain",
        before=before,
        first=first,
        latest=latest,
        fewer=-math.expm1(effect),
        more="" if len(changes) == 1 else f" There are {len(changes)} such changes in all.",
        level=table.level,
    )


# --------------------------------------------- whether overlaps shrink by the same share every year


def slows_down(pairs: PairData, fit: TwoWayFit) -> bool | None:
    """Tell whether decay certainly slows down with time, or return None where it cannot be told.

    Certain is what stands out from what leaving out single crawls does to the bend.
    """
    if pairs.n_crawls < _MIN_CRAWLS or not fit.has_remainder:
        return None
    # D·ln D is how a power of the lag departs from the lag itself: it bends most where lags are
    # short, which is where coverage is decided. The unit of time falls out, being linear in D.
    lags = pairs.lag_years
    bend = np.where(lags > 0, lags * np.log(np.where(lags > 0, lags, 1.0)), 0.0)
    term = add_term(pairs, fit, bend)
    return None if term is None else term.t_value > critical_t(pairs.n_crawls, _CERTAIN)


CURVATURE = CheckSpec(id="curvature", threshold=0.03)

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
    """
    is_bent = slows_down(pairs, fit) if shapes else None
    if is_bent is None:
        return CURVATURE.not_testable()
    if short_lag is not None:
        return CURVATURE.not_testable("bent-anyway", min_lag=short_lag.n_lags + 1)
    lowest, highest = outermost(shapes)
    effect = math.log(highest.coverage / lowest.coverage)
    if not (is_bent and effect > CURVATURE.threshold):
        is_small = effect < _LEAST_CHANGE
        change = "less than 1 %" if is_small else f"up to {percent(math.expm1(effect))}"
        return CURVATURE.found("ok", effect, change=change)
    low, high = (say(f"shape.{end.name}", coverage=end.coverage) for end in (lowest, highest))
    status: Status = "warn" if effect < _FAIL else "fail"
    return CURVATURE.found(status, effect, low=low, high=high, level=level)


# --------------------------------------------------- whether what could be crawled grows or shrinks


POPULATION_TREND = CheckSpec(id="population-trend", threshold=0.01)


def check_population_trend(growth: Estimate, level: str) -> Check:
    """Say whether the population has a trend; a finding, and no fault of the fit.

    The effect is the growth rate per year as a logarithm. It counts if it is beyond one per
    cent a year either way and its interval leaves out zero.
    """
    if growth.value is None or growth.low is None or growth.high is None:
        return POPULATION_TREND.not_testable(reason=growth.reason or "too few crawls")
    effect = math.log1p(growth.value)
    if abs(effect) <= POPULATION_TREND.threshold or growth.low <= 0 <= growth.high:
        return POPULATION_TREND.found("ok", effect, growth=growth)
    moves, other = ("grows", "fall") if effect > 0 else ("shrinks", "rise")
    return POPULATION_TREND.found(
        "info", effect, growth=growth, moves=moves, other=other, level=level
    )


# --------------------------------------------------------------------------- all checks of a series


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
        Positions of the crawls between changes; one if there is none. The last is the headline's.
    short_lag
        An effect of short lags, with coverage after the lag cut; None if there is none.
    shapes
        The model with other shapes of decay, whose range counts if the check curvature warns.
    """

    table: OverlapTable
    pairs: PairData
    fit: TwoWayFit
    short_lag: ShortLag | None
    shapes: tuple[DecayShape, ...]
    changes: tuple[ChangePoint, ...] = ()
    regimes: tuple[range, ...] = ()


def diagnose(table: OverlapTable) -> Diagnosis:
    """Look for all that pairs of crawls can show to be wrong.

    A change of scope comes first, since it spoils every other sign: short lags and the shape of
    decay are then judged by the pairs within regimes.
    """
    found = _look_closely(table)
    changes = find_changes(found.pairs, found.fit, found.short_lag)
    firsts = [0, *(change.first for change in changes if change.is_certain)]
    if len(firsts) > 1:
        regime_of = np.searchsorted(firsts, np.arange(table.n_crawls), side="right")
        across = regime_of[:, None] != regime_of
        table = replace(table, n_shared=np.where(across, MISSING, table.n_shared))
        found = _look_closely(table)
    ends = itertools.pairwise((*firsts, table.n_crawls))
    return replace(found, changes=changes, regimes=tuple(range(*regime) for regime in ends))


def _look_closely(table: OverlapTable) -> Diagnosis:
    pairs = pair_data(table)
    is_refused = has_too_many_zeros(pairs)
    fit = refused_fit(pairs.n_crawls, TOO_MANY_ZEROS) if is_refused else fit_two_way(pairs)
    shapes = fit_shapes(pairs, fit)
    short_lag = find_short_lag(pairs, fit, shapes)
    return Diagnosis(table=table, pairs=pairs, fit=fit, short_lag=short_lag, shapes=shapes)


def run_checks(diagnosis: Diagnosis, growth: Estimate) -> tuple[Check, ...]:
    """Grade every assumption that pairs of crawls can test, and say what to do.

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
