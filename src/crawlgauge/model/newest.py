"""Is the newest crawl in line with the ones before it? Its coverage, its size and its overlap.

With M the size, c the coverage and N what could be reached, ln c = ln M − ln N. A fall of coverage
comes with a smaller crawl, or with more that could be reached. The latter shows as a smaller share
of the newest crawl's URLs that earlier ones hold as well.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.cautions import find_repeats
from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import Estimate, Estimates, Grade
from crawlgauge.model.intervals import LEVEL
from crawlgauge.model.pairs import MAX_LOG, Numbers, PairData, pair_data
from crawlgauge.model.paper import fit_linear
from crawlgauge.model.phrases import percent, percent_range, say
from crawlgauge.model.ranges import within
from crawlgauge.model.statement import state_verdict
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["NewestCheck"]

MIN_EARLIER = 3
"""Two crawls show a difference; how much of it is scatter shows with a third."""

MIN_CRAWLS = MIN_EARLIER + 2
"""The newest crawl, three to tell its coverage from, and a first, whose coverage never shows."""

FALSE_ALARMS = 0.05
"""How often a crawl that is in line may be taken for a drop, unless told otherwise."""

THRESHOLD = 0.2
"""Least drop that is worth an alarm, unless told otherwise: a fifth."""

# A coin would do as well.
_MOST_FALSE_ALARMS = 0.5

CheckStatus = Literal["in-line", "drop", "unknown"]
Course = Literal["in-line", "drop", "rise", "unknown"]
MeasureName = Literal["coverage", "size", "population", "overlap", "novelty"]
Cause = Literal["crawl-shrank", "web-grew-or-went-elsewhere", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number of the newest crawl beside what the earlier crawls suggest.

    Parameters
    ----------
    name
        ``coverage``: share of what it could have reached. ``size``: its URLs. ``population``: what
        it could have reached. ``overlap``: share of its URLs that an earlier crawl holds as well.
        ``novelty``: share that no earlier crawl holds.
    course
        Whether it is below or above what is expected: by as much as is worth an alarm, and by more
        than chance. ``unknown`` where it cannot be told.
    found
        The number; None where it is not known. Coverage and population are those of the estimates.
    low, high
        Range of the number itself, where the estimates give one; None of what was counted.
    expected
        What was expected; its range holds that of single crawls that are in line.
    change
        The number over what was expected, minus 1: −0.5 for half of it.
    chance
        How likely a crawl that is in line would be so low or lower (so high or higher, where it is
        above); None where it is not tested by itself: population and novelty follow from overlap.
    """

    name: MeasureName
    course: Course
    found: float | None
    expected: Estimate
    change: Estimate
    chance: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestCheck:
    """Whether the newest crawl is in line with the ones before it.

    Parameters
    ----------
    status
        ``drop`` if coverage, size or overlap is below what is expected; ``unknown`` if it cannot
        be told.
    cause
        Where there is a drop, what has changed.
    statement
        The answer in words.
    level
        What was compared: ``url``, ``content`` or ``text``.
    grade
        That of the estimates, or ``none``: at C their ranges hold, and not their numbers.
    newest
        The crawl that is checked.
    compared_with
        Labels of the crawls it is compared with.
    overlap_with
        Label of the crawl that overlap is counted with; None if there is none.
    false_alarms
        How often a crawl that is in line may be taken for a drop.
    threshold
        Least drop that is worth an alarm, as a share.
    scatter
        Typical difference of a single crawl's coverage from its course, as a logarithm; None where
        it is not known.
    measures
        All that was measured; empty if nothing could be.
    warnings
        What to be careful about, in words.
    provenance
        Where the numbers come from.
    """

    status: CheckStatus
    cause: Cause | None
    statement: str
    level: str
    grade: Grade
    newest: Crawl
    measures: tuple[Measure, ...]
    compared_with: tuple[str, ...]
    overlap_with: str | None
    scatter: float | None
    false_alarms: float
    threshold: float
    warnings: tuple[str, ...]
    provenance: Provenance

    @property
    def has_drop(self) -> bool:
        """Whether there is a drop."""
        return self.status == "drop"

    def measure(self, name: MeasureName) -> Measure:
        """Return a measure by its name.

        Raises
        ------
        KeyError
            If it was not measured.
        """
        return {measure.name: measure for measure in self.measures}[name]


# ------------------------------------------------------------------------------------- the check


# What can drop, and how the false alarms are divided: coverage is what is asked for.
_SHARES: dict[MeasureName, float] = {"coverage": 0.5, "size": 0.25, "overlap": 0.25}

_OPPOSITE: dict[Course, Course] = {"drop": "rise", "rise": "drop"}

# From this share of a fall on, one cause is named and the other is not.
_MAIN_PART = 2 / 3

# Where nothing was counted, more than three were expected in one of twenty cases at most.
_RULE_OF_THREE = 3

_NO_LEVEL = "not identifiable: the level of coverage is not known"
_NO_OVERLAP = "not identifiable: its overlaps with earlier crawls do not tell its coverage"
_NOTHING_SHARED = "it shares nothing with any earlier crawl"
_AS_OVERLAP = "its range is that of overlap, from which it follows"


def check_newest_crawl(
    table: OverlapTable,
    estimates: Estimates | None = None,
    *,
    false_alarms: float = FALSE_ALARMS,
    threshold: float = THRESHOLD,
) -> NewestCheck:
    """Say whether the newest crawl is in line with the ones before it.

    Parameters
    ----------
    table
        Overlaps of one crawl or more.
    estimates
        Of the same table, for coverage and population; without them only changes are known.
    false_alarms
        How often a crawl that is in line may be taken for a drop.
    threshold
        Least drop that is worth an alarm: 0.2 for a fifth less than expected.

    Raises
    ------
    FitError
        If `false_alarms` or `threshold` is out of bounds.
    """
    if not 0 < false_alarms < _MOST_FALSE_ALARMS:
        most = _MOST_FALSE_ALARMS
        raise FitError(say("refused.false-alarms", false_alarms=false_alarms, most=most))
    if not 0 <= threshold < 1:
        raise FitError(say("refused.threshold", threshold=threshold))
    return judge_newest(
        table, estimates, diagnose(table), false_alarms=false_alarms, threshold=threshold
    )


def judge_newest(
    table: OverlapTable,
    estimates: Estimates | None = None,
    diagnosis: Diagnosis | None = None,
    *,
    false_alarms: float = FALSE_ALARMS,
    threshold: float = THRESHOLD,
) -> NewestCheck:
    """Judge the newest crawl by the crawls of its scope.

    Parameters
    ----------
    diagnosis
        Of the table: where its scope changed. Without it all crawls are taken for those of one.
    table, estimates, false_alarms, threshold
        As for `check_newest_crawl`.
    """
    comparable, first = table, 0
    if diagnosis is not None:
        comparable, first = diagnosis.table, diagnosis.regimes[-1].start
    newest, grade = table.crawls[-1], "none" if estimates is None else estimates.agreement.grade
    coverage = population = Estimate.unknown(_NO_LEVEL)
    if estimates is not None:
        coverage = within(estimates.newest.coverage, most=1.0)
        population = within(estimates.newest.population, least=float(newest.n_urls))
    with_newest = comparable.n_shared[:-1, -1]
    known = np.flatnonzero(with_newest != MISSING)
    shares_nothing = known.size > 0 and not with_newest[known].any()
    partner = int(known[-1]) if known.size else None
    compared = _compare_newest(
        pair_data(_fill(comparable, known) if shares_nothing else comparable),
        first,
        # A range alone is no level that anything could be expected at.
        coverage=None if grade == "C" else coverage.value,
        overlap=None if partner is None else with_newest[partner] / newest.n_counted,
    )
    measures: tuple[Measure, ...] = ()
    if compared:
        measured = _measure_all(compared, false_alarms, threshold, shares_nothing=shares_nothing)
        measured["novelty"] = _measure_novelty(table.histories, measured["overlap"])
        # What the estimates say of the newest crawl stands in the place of what was compared.
        owned: dict[MeasureName, Estimate] = {"coverage": coverage, "population": population}
        for name, own in owned.items():
            if measured[name].found != 0:
                measured[name] = replace(
                    measured[name], found=own.value, low=own.low, high=own.high
                )
        measures = tuple(measured.values())
    status, cause = _judge(measures, compared)
    earlier = table.crawls[first:-1]
    n_earlier = max((line.prediction.n_earlier for line in compared.values()), default=0)
    check = NewestCheck(
        status=status,
        cause=cause,
        statement="",
        level=table.level,
        grade=grade,
        newest=newest,
        compared_with=tuple(crawl.label for crawl in earlier[len(earlier) - n_earlier :]),
        overlap_with=None if partner is None else table.crawls[partner].label,
        false_alarms=false_alarms,
        threshold=threshold,
        scatter=compared["coverage"].prediction.scatter if "coverage" in compared else None,
        measures=measures,
        warnings=(),
        provenance=table.provenance,
    )
    trends = {name: line.prediction.trend for name, line in compared.items()}
    return replace(
        check,
        statement=_state_check(check, trends, n_crawls=table.n_crawls - first),
        warnings=tuple(_list_doubts(check, table, estimates, is_one_scope=first == 0)),
    )


def _fill(table: OverlapTable, known: NDArray[np.intp]) -> OverlapTable:
    """Put the most that may be in the place of the nothing that a newest crawl shares."""
    n_shared = table.n_shared.copy()
    sizes = np.array([crawl.n_counted for crawl in table.crawls])
    most = np.minimum(_RULE_OF_THREE, np.minimum(sizes[known], sizes[-1]))
    n_shared[known, -1] = n_shared[-1, known] = most
    return replace(table, n_shared=n_shared, histories=None)


class _Line(NamedTuple):
    """A logarithm but for a constant, its prediction, and the constant, if that is known."""

    found: float
    prediction: "Prediction"
    scale: float | None

    @property
    def deviation(self) -> float:
        """By how much it is above what was expected."""
        return self.found - self.prediction.expected


_Compared = dict[MeasureName, _Line]


def _compare_newest(
    pairs: PairData, first: int, *, coverage: float | None, overlap: float | None
) -> _Compared:
    """Set beside predictions what can be predicted; nothing with too few crawls."""
    years, log_size = pairs.years[first:], np.log(pairs.n_urls[first:])
    log_level = compare_levels(pairs)[first:]
    if years.size < MIN_CRAWLS:
        return {}
    newest = pairs.n_crawls - 1
    of_newest = pairs.log_variance[(pairs.end == newest) & (pairs.start < newest)]
    error = float(np.sqrt(of_newest.min(initial=np.inf))) if of_newest.size else 0.0
    # Which share of the newest crawl earlier ones hold changes with what could be reached alone.
    log_known = log_level - log_size
    has_level = not math.isnan(log_level[-1])
    level = math.log(coverage) - float(log_level[-1]) if coverage and has_level else None
    known = math.log(overlap) - float(log_known[-1]) if overlap and has_level else None
    rows: dict[MeasureName, tuple[Numbers, float | None, float]] = {
        "coverage": (log_level, level, error),
        "size": (log_size, 0.0, 0.0),
        "overlap": (log_known, known, error),
        "population": (-log_known, None if level is None else -level, error),
    }
    compared: _Compared = {}
    for name, (values, scale, least_scatter) in rows.items():
        prediction = predict_next(years[:-1], values[:-1], float(years[-1]), least_scatter)
        if prediction is not None and not np.isnan(values[-1]):
            compared[name] = _Line(float(values[-1]), prediction, scale)
    return compared


def _measure_all(
    compared: _Compared, false_alarms: float, threshold: float, *, shares_nothing: bool
) -> dict[MeasureName, Measure]:
    """Say of each number of the newest crawl whether it is out of line."""
    measured: dict[MeasureName, Measure] = {}
    worth = -math.log1p(-threshold)
    for name in ("coverage", "size", "population", "overlap"):
        if name in compared:
            rare = _SHARES.get(name, 0.0) * false_alarms
            measured[name] = _measure(name, compared[name], rare, worth)
        else:
            measured[name] = _unknown(name, _NO_OVERLAP)
    population = measured["population"]
    if shares_nothing and "overlap" in compared:
        # Nothing stands in the place of the most that may be, which was tested.
        nothing = Estimate(value=-1.0, reason=_NOTHING_SHARED)
        measured["coverage"] = replace(measured["coverage"], found=0.0, change=nothing)
        measured["overlap"] = replace(measured["overlap"], found=0.0, change=nothing)
        reason = f"not finite: {_NOTHING_SHARED}"
        measured["population"] = _unknown("population", reason, population.expected)
    elif "population" in compared:
        # More that could be reached is what makes overlap fall.
        course = measured["overlap"].course
        measured["population"] = replace(population, course=_OPPOSITE.get(course, course))
    return measured


def _measure(name: MeasureName, line: _Line, rare: float, worth: float) -> Measure:
    """Return a number beside what was expected; without a judgement if nothing is rare enough."""
    prediction, scale, tail = line.prediction, line.scale, (1 - LEVEL) / 2
    ends = prediction.expected, prediction.quantile(tail), prediction.quantile(1 - tail)
    number, expected = None, Estimate.unknown(_NO_LEVEL)
    if scale is not None:
        # A logarithm and back: what was counted is a whole number again.
        number = math.exp(line.found + scale)
        if math.isclose(number, round(number), rel_tol=1e-12):
            number = float(round(number))
        most = math.inf if name in ("size", "population") else 1.0
        value, low, high = (min(most, math.exp(end + scale)) for end in ends)
        expected = Estimate.between(value, low, high)
    value, high, low = (math.expm1(line.found - end) for end in ends)
    below = prediction.chance_below(line.found)
    course: Course = "unknown"
    if rare:
        course = "in-line"
        if below < rare and line.deviation <= -worth:
            course = "drop"
        elif 1 - below < rare and line.deviation >= worth:
            course = "rise"
    return Measure(
        name=name,
        course=course,
        found=number,
        expected=expected,
        change=Estimate.between(value, low, high),
        chance=min(below, 1 - below) if rare else None,
    )


def _measure_novelty(histories: Histories | None, overlap: Measure) -> Measure:
    """Return the share that no earlier crawl holds: the rest of it changes as overlap does."""
    if histories is None:
        return _unknown("novelty", "not identifiable: capture histories are needed")
    if overlap.change.value is None:
        return _unknown("novelty", _NO_OVERLAP)
    newest = np.uint64(1) << np.uint64(histories.n_crawls - 1)
    n_newest = int(histories.counts[(histories.masks & newest) != 0].sum())
    found = int(histories.counts[histories.masks == newest].sum()) / max(n_newest, 1)
    if overlap.found == 0:
        return replace(_unknown("novelty", _NOTHING_SHARED), found=found)
    value, low, high = (
        max(0.0, 1 - (1 - found) / (1 + (change or 0.0)))
        for change in (overlap.change.value, overlap.change.low, overlap.change.high)
    )
    change = Estimate.unknown("not finite: nothing new was expected")
    if value > 0:
        change = Estimate(value=found / value - 1, reason=_AS_OVERLAP)
    return Measure(
        name="novelty",
        course=_OPPOSITE.get(overlap.course, overlap.course),
        found=found,
        expected=Estimate.between(value, low, high),
        change=change,
    )


def _unknown(name: MeasureName, reason: str, expected: Estimate | None = None) -> Measure:
    unknown = Estimate.unknown(reason)
    return Measure(
        name=name, course="unknown", found=None, expected=expected or unknown, change=unknown
    )


def _judge(measures: tuple[Measure, ...], compared: _Compared) -> tuple[CheckStatus, Cause | None]:
    courses = {measure.name: measure.course for measure in measures}
    dropped = {name for name in _SHARES if courses.get(name) == "drop"}
    if not dropped:
        is_known = courses.get("coverage", "unknown") != "unknown"
        return ("in-line" if is_known else "unknown"), None
    shrunk, grown = (
        max(0.0, -compared[name].deviation) if name in compared else 0.0
        for name in ("size", "overlap")
    )
    fall = shrunk + grown
    # Where neither stands out, the size at least has not fallen.
    part = shrunk / fall if fall else 0.0
    if dropped >= {"size", "overlap"} or 1 - _MAIN_PART < part < _MAIN_PART:
        return "drop", "both"
    return "drop", "crawl-shrank" if part >= _MAIN_PART else "web-grew-or-went-elsewhere"


# ----- the coverage of each crawl for comparison with the others, apart from what the lags do to it

# Revisit policies reach back one crawl or two; what is older decays with time.
_N_SHORT = 2

# Scatter of the logarithms beyond counting: pairs of millions of URLs weigh alike.
_TAU = 0.05


def compare_levels(pairs: PairData) -> Numbers:
    """Return the logarithm of each crawl's coverage, up to a constant that all have in common.

    Parameters
    ----------
    pairs
        Overlaps; where the scope changed, without the pairs across the change.

    Returns
    -------
    ndarray
        NaN for crawls without an earlier one to compare with, and for all where the pairs do not
        tell turnover from coverage.
    """
    found = np.full(pairs.n_crawls, np.nan)
    ends, column = np.unique(pairs.end, return_inverse=True)
    columns = np.zeros((pairs.end.size, ends.size))
    columns[np.arange(pairs.end.size), column] = 1
    weight = pairs.weight / (_TAU**2 + pairs.log_variance)
    n_apart = np.abs(pairs.end - pairs.start)
    for n_short in range(_N_SHORT, -1, -1):
        short = [np.where(n_apart == n, 1.0, 0.0) for n in range(1, n_short + 1)]
        effects = np.column_stack([pairs.lag_years, *short])
        design = np.hstack([columns, effects[:, effects.any(axis=0)]])
        solved = fit_linear(design, pairs.log_forward, weight)[0] if design.size else np.empty(0)
        # What the pairs do not determine is not a number.
        if solved.size and np.abs(solved).max() <= MAX_LOG:
            found[ends] = solved[: ends.size]
            break
    return found


# ----------------------------------------------- what earlier crawls suggest of the next

# Crawls that are looked back on: longer ago, an archive was often made in another way.
_MOST_EARLIER = 12

# No trend, or one whose logarithm per year is about as large as this either way.
_TREND_SDS = (0.0, 0.3)

# Crawls of one archive do not repeat each other to better than a hundredth.
_LEAST_SCATTER = 0.01

_USUAL_SCATTER = 0.3
# Scatters are considered up to the usual one, or up to twice that of the earlier crawls.
# Without a bound, five crawls would allow for a scatter that no archive has; a halved crawl would
# then seem to be nothing unusual.
_SCATTER_FACTOR = 2.0

_N_SCATTERS = 40
_FINE = 1e-4
_MAX_STEPS = 80
_FAR = 12.0


class Prediction(NamedTuple):
    """A mixture of normal distributions: what the next crawl's number should be.

    Parameters
    ----------
    weight, mean, deviation
        Of each normal distribution; the weights add up to 1.
    n_earlier
        Crawls that it rests on.
    trend
        Expected change of the logarithm per year.
    scatter
        Typical deviation of a single crawl.
    """

    weight: Numbers
    mean: Numbers
    deviation: Numbers
    n_earlier: int
    trend: float
    scatter: float

    @property
    def expected(self) -> float:
        """The mean of the prediction."""
        return float(self.weight @ self.mean)

    def chance_below(self, value: float) -> float:
        """Return how likely the next crawl's number is to be so low or lower."""
        from scipy.special import ndtr

        return float(self.weight @ ndtr((value - self.mean) / self.deviation))

    def quantile(self, share: float) -> float:
        """Return the number that a share of predictions lies below."""
        low = float(np.min(self.mean - _FAR * self.deviation))
        high = float(np.max(self.mean + _FAR * self.deviation))
        for _ in range(_MAX_STEPS):
            middle = (low + high) / 2
            if self.chance_below(middle) < share:
                low = middle
            else:
                high = middle
            if high - low < _FINE:
                break
        return (low + high) / 2


def predict_next(
    years: Numbers, values: Numbers, next_year: float, least_scatter: float = 0.0
) -> Prediction | None:
    """Predict the number of the next crawl, or return None with fewer than three earlier ones.

    Parameters
    ----------
    years, values
        Time and number of each earlier crawl in order of time; NaN where it is not known.
    next_year
        Time of the next crawl.
    least_scatter
        Standard deviation that the numbers have by counting alone.

    Examples
    --------
    >>> years = np.arange(8) / 2
    >>> steady = np.array([0.02, -0.03, 0.01, 0.0, -0.02, 0.03, 0.0, -0.01])
    >>> abs(predict_next(years, steady, 4.0).expected) < 0.01
    True
    >>> round(predict_next(years, steady - 0.2 * years, 4.0).expected, 2)
    -0.8
    """
    known = ~np.isnan(values)
    years, values = years[known][-_MOST_EARLIER:], values[known][-_MOST_EARLIER:]
    n = values.size
    if n < MIN_EARLIER:
        return None
    time, level = years - years.mean(), values - values.mean()
    ahead = next_year - float(years.mean())
    spread, total = float(time @ time), float(level @ level)
    slope = float(time @ level) / spread if spread > 0 else 0.0
    least = np.hypot(_LEAST_SCATTER, least_scatter)
    most = max(_USUAL_SCATTER, _SCATTER_FACTOR * np.sqrt(total / (n - 1)), 2 * least)
    # A uniform weight over equal ratios: no scale of scatter is favoured.
    variance = np.geomspace(least, most, _N_SCATTERS) ** 2
    trend_variance = np.array(_TREND_SDS)[:, None] ** 2
    shrinkage = trend_variance * spread / (trend_variance * spread + variance)
    left = total - shrinkage * slope**2 * spread
    log_weight = (
        -(n - 1) / 2 * np.log(variance)
        - np.log1p(trend_variance * spread / variance) / 2
        - left / (2 * variance)
    )
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    trend = shrinkage * slope
    of_trend = trend_variance * variance / (trend_variance * spread + variance)
    deviation = np.sqrt(variance * (1 + 1 / n) + ahead**2 * of_trend)
    return Prediction(
        weight=weight.ravel(),
        mean=(values.mean() + trend * ahead).ravel(),
        deviation=np.broadcast_to(deviation, weight.shape).ravel(),
        n_earlier=n,
        trend=float(np.sum(weight * trend)),
        scatter=float(np.sqrt(np.sum(weight * variance))),
    )


# --------------------------------------------------------------------------- the check in words


# Per year: a slower course is not worth a sentence.
_NOTABLE_TREND = 0.05


def _state_check(check: NewestCheck, trends: Mapping[MeasureName, float], *, n_crawls: int) -> str:
    """Say in a few sentences what a check found, and why."""
    if check.status == "unknown":
        there = "there is 1 crawl" if n_crawls == 1 else f"there are {n_crawls} crawls"
        code = "too-few" if n_crawls < MIN_CRAWLS else "unknown"
        return say(f"newest.{code}", newest=check.newest.label, there=there, least=MIN_CRAWLS)
    coverage, size, overlap = (check.measure(name) for name in ("coverage", "size", "overlap"))
    change, expected = coverage.change.value or 0.0, coverage.expected
    was = "another"
    if expected.value is not None and expected.low is not None and expected.high is not None:
        was = percent_range(expected.value, expected.low, expected.high)
    is_known = coverage.found is not None and expected.value is not None
    if check.has_drop and coverage.course != "drop":
        codes = ["smaller" if size.course == "drop" else "apart"]
    else:
        codes = [f"{'drop' if check.has_drop else 'in-line'}{'' if is_known else '-change'}"]
    if check.cause is not None:
        codes.append("nothing-shared" if overlap.found == 0 else check.cause)
    elif not check.has_drop:
        codes += ["rise"] if coverage.course == "rise" else []
        codes += ["larger"] if size.course == "rise" else []
    values = {
        "newest": check.newest.label,
        "n_before": len(check.compared_with),
        "level": check.level,
        "found": coverage.found,
        "change": f"{percent(abs(change))} {'less' if change <= 0 else 'more'}",
        "expected": f"{was} was",
        "known": _say_known(check),
        "size": say(
            f"newest.size{'' if size.expected.low is None else '-expected'}",
            found=size.found or 0.0,
            expected=size.expected,
            level=check.level,
        ),
    }
    return " ".join([*(say(f"newest.{code}", **values) for code in codes), *_state_trends(trends)])


def _say_known(check: NewestCheck) -> str:
    for name in ("novelty", "overlap"):
        found, expected = check.measure(name).found, check.measure(name).expected.value
        if found is not None and expected is not None:
            return say(
                f"newest.{name}",
                found=found,
                expected=expected,
                overlap_with=check.overlap_with,
                level=check.level,
            )
    return say("newest.fewer-known", level=check.level)


def _state_trends(trends: Mapping[MeasureName, float]) -> Iterator[str]:
    coverage, population = trends.get("coverage", 0.0), trends.get("population", 0.0)
    if abs(coverage) < _NOTABLE_TREND:
        return
    verb, cause = "falls" if coverage < 0 else "rises", ""
    if coverage * population < 0 and abs(population) >= _NOTABLE_TREND:
        moves, rate = "grows" if population > 0 else "shrinks", math.expm1(population)
        cause = say("newest.trend-cause", moves=moves, rate=rate)
    yield say("newest.trend", verb=verb, change=abs(math.expm1(coverage)), cause=cause)


def _list_doubts(
    check: NewestCheck, table: OverlapTable, estimates: Estimates | None, *, is_one_scope: bool
) -> Iterator[str]:
    """List what to be careful about."""
    first_alike = {later: earlier for earlier, later in reversed(find_repeats(table))}
    for places in sorted(first_alike.items()):
        later, earlier = (table.crawls[place].label for place in places)
        yield say("newest.twice", later=later, earlier=earlier, level=check.level)
    if check.newest.damaged:
        yield say("newest.damaged", newest=check.newest.label)
    if not is_one_scope:
        yield say("newest.scope")
    if estimates is None or not check.measures:
        return
    if estimates.anchors:
        # What is known from elsewhere moves all crawls, and their comparison little.
        yield state_verdict(estimates.anchors, estimates)
    failed = [each.id for each in estimates.checks if each.status == "fail"]
    if check.grade == "C":
        yield say("newest.grade")
    elif failed and estimates.headline.estimator == "two-way":
        yield say("newest.failed", failed=failed[0])
