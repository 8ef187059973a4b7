"""Is the newest crawl in line with the ones before it? Its coverage, its size and its overlap.

With M the size, c the coverage and N what could be reached, ln c = ln M − ln N. A fall of coverage
comes with a smaller crawl, or with more that could be reached. The latter shows as a smaller share
of the newest crawl's URLs that earlier ones hold as well.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.cautions import find_repeats
from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import Estimate, Estimates, Grade
from crawlgauge.model.intervals import LEVEL
from crawlgauge.model.pairs import MAX_LOG, Numbers, PairData, freeze_arrays, pair_data
from crawlgauge.model.phrases import count, growth_per_year, percent, percent_range, things
from crawlgauge.model.ranges import within
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = [
    "FALSE_ALARMS",
    "MIN_CRAWLS",
    "THRESHOLD",
    "Course",
    "Measure",
    "MeasureName",
    "NewestCheck",
    "check_newest_crawl",
    "judge_newest",
]

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
    """A number of the newest crawl beside what the earlier crawls lead one to expect.

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
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(name)


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
_NO_HISTORIES = "not identifiable: capture histories are needed"
_AS_OVERLAP = "its range is that of overlap, from which it follows"
_NOTHING_NEW = "not finite: nothing new was expected"


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
        raise FitError(
            f"a share of {false_alarms} false alarms; it must be above 0 and below "
            f"{_MOST_FALSE_ALARMS}, as 0.05 for one in twenty"
        )
    if not 0 <= threshold < 1:
        raise FitError(
            f"the threshold is {threshold}; it is the least drop worth an alarm, at least 0 and "
            "below 1, as 0.2 for a fifth less than expected"
        )
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
        comparable, first = diagnosis.table, diagnosis.regimes[-1].first
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
    n_earlier = max((prediction.n_earlier for _, prediction, _ in compared.values()), default=0)
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
        scatter=compared["coverage"][1].scatter if "coverage" in compared else None,
        measures=measures,
        warnings=(),
        provenance=table.provenance,
    )
    trends = {name: prediction.trend for name, (_, prediction, _) in compared.items()}
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


# A logarithm of the newest crawl, up to a constant; its prediction; that constant, if known.
_Compared = dict[MeasureName, tuple[float, "Prediction", float | None]]


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
            compared[name] = float(values[-1]), prediction, scale
    return compared


def _deviate(compared: _Compared, name: MeasureName) -> float:
    """Return by how much a logarithm is above what was expected; 0 where it is not known."""
    if name not in compared:
        return 0.0
    found, prediction, _ = compared[name]
    return found - prediction.expected


def _measure_all(
    compared: _Compared, false_alarms: float, threshold: float, *, shares_nothing: bool
) -> dict[MeasureName, Measure]:
    """Say of each number of the newest crawl whether it is out of line."""
    measured: dict[MeasureName, Measure] = {}
    worth = -math.log1p(-threshold)
    for name in ("coverage", "size", "population", "overlap"):
        if name not in compared:
            measured[name] = _unknown(name, _NO_OVERLAP)
            continue
        measure = measured[name] = _measure(name, compared)
        if name not in _SHARES:
            continue
        found, prediction, _ = compared[name]
        below, deviation = prediction.chance_below(found), _deviate(compared, name)
        course: Course = "in-line"
        if below < _SHARES[name] * false_alarms and deviation <= -worth:
            course = "drop"
        elif 1 - below < _SHARES[name] * false_alarms and deviation >= worth:
            course = "rise"
        measure = replace(measure, course=course, chance=min(below, 1 - below))
        if shares_nothing and name != "size":
            # Nothing stands in the place of the most that may be, which was tested.
            nothing = Estimate(value=-1.0, reason=_NOTHING_SHARED)
            measure = replace(measure, found=0.0, change=nothing)
        measured[name] = measure
    overlap, population = measured["overlap"], measured["population"]
    if overlap.found == 0:
        measured["population"] = _unknown(
            "population", f"not finite: {_NOTHING_SHARED}", population.expected
        )
    elif "population" in compared:
        # More that could be reached is what makes overlap fall.
        course = _OPPOSITE.get(overlap.course, overlap.course)
        measured["population"] = replace(population, course=course)
    return measured


def _measure(name: MeasureName, compared: _Compared) -> Measure:
    """Return a number beside what was expected, without a judgement."""
    found, prediction, scale = compared[name]
    tail = (1 - LEVEL) / 2
    low, high = prediction.quantile(tail), prediction.quantile(1 - tail)
    number, expected = None, Estimate.unknown(_NO_LEVEL)
    if scale is not None:
        # A logarithm and back: what was counted is a whole number again.
        number = math.exp(found + scale)
        if math.isclose(number, round(number), rel_tol=1e-12):
            number = float(round(number))
        most = math.inf if name in ("size", "population") else 1.0
        expected = _between(
            *(min(most, math.exp(end + scale)) for end in (prediction.expected, low, high))
        )
    ends = (prediction.expected, high, low)
    return Measure(
        name=name,
        course="unknown",
        found=number,
        expected=expected,
        change=_between(*(math.expm1(found - end) for end in ends)),
    )


def _measure_novelty(histories: Histories | None, overlap: Measure) -> Measure:
    """Return the share that no earlier crawl holds: the rest of it changes as overlap does."""
    if histories is None:
        return _unknown("novelty", _NO_HISTORIES)
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
    change = Estimate.unknown(_NOTHING_NEW)
    if value > 0:
        change = Estimate(value=found / value - 1, reason=_AS_OVERLAP)
    return Measure(
        name="novelty",
        course=_OPPOSITE.get(overlap.course, overlap.course),
        found=found,
        expected=_between(value, low, high),
        change=change,
    )


def _unknown(name: MeasureName, reason: str, expected: Estimate | None = None) -> Measure:
    unknown = Estimate.unknown(reason)
    return Measure(
        name=name,
        course="unknown",
        found=None,
        expected=expected or unknown,
        change=unknown,
    )


def _between(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, basis="interval")


def _judge(measures: tuple[Measure, ...], compared: _Compared) -> tuple[CheckStatus, Cause | None]:
    courses = {measure.name: measure.course for measure in measures}
    dropped = {name for name in _SHARES if courses.get(name) == "drop"}
    if not dropped:
        is_known = courses.get("coverage", "unknown") != "unknown"
        return ("in-line" if is_known else "unknown"), None
    shrunk, grown = (max(0.0, -_deviate(compared, name)) for name in ("size", "overlap"))
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

# Of the largest singular value: what lies below is not determined by the pairs.
_SMALLEST = 1e-9


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
    weight = np.sqrt(pairs.weight / (_TAU**2 + pairs.log_variance))
    for n_short in range(_N_SHORT, -1, -1):
        effects = _lag_effects(pairs, n_short)
        design = np.hstack([columns, effects[:, effects.any(axis=0)]]) * weight[:, None]
        if design.size and _is_determined(design):
            solved = np.linalg.lstsq(design, pairs.log_forward * weight, rcond=None)[0]
            if np.abs(solved).max() <= MAX_LOG:
                found[ends] = solved[: ends.size]
                break
    return found


def _lag_effects(pairs: PairData, n_short: int) -> Numbers:
    n_apart = np.abs(pairs.end - pairs.start)
    short = [np.where(n_apart == n, 1.0, 0.0) for n in range(1, n_short + 1)]
    return np.column_stack([pairs.lag_years, *short])


def _is_determined(design: Numbers) -> bool:
    if design.shape[0] < design.shape[1]:
        return False
    singular = np.linalg.svd(design, compute_uv=False)
    return bool(singular[-1] > _SMALLEST * singular[0])


# ----------------------------------------------- what earlier crawls lead one to expect of the next

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
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

    def __post_init__(self) -> None:
        freeze_arrays(self, "weight", "mean", "deviation")

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

_ELSEWHERE = (
    "Either the web grew out of line, or the crawl went where earlier ones did not: other "
    "seeds, another scope, a crawler trap. Overlaps cannot tell these apart; its hosts can, or "
    "the next crawl."
)


def _state_check(check: NewestCheck, trends: Mapping[MeasureName, float], *, n_crawls: int) -> str:
    """Say in a few sentences what a check found, and why."""
    name = f"newest crawl, {check.newest.label},"
    if check.status == "unknown":
        reason = (
            "the overlaps that are known do not tell its coverage, or that of three crawls before "
            "it"
        )
        if n_crawls < MIN_CRAWLS:
            there = "there is 1 crawl" if n_crawls == 1 else f"there are {n_crawls} crawls"
            reason = f"{there} of the present scope, and it takes {MIN_CRAWLS} or more"
        return f"Whether the {name} is in line cannot be told: {reason}."
    found = _state_drop(check) if check.has_drop else _state_in_line(check)
    return " ".join((f"The {name} {found[0]}", *found[1:], *_state_trends(trends)))


def _state_in_line(check: NewestCheck) -> list[str]:
    coverage, size = check.measure("coverage"), check.measure("size")
    said = f"its coverage is {_change(coverage)} than was expected."
    if coverage.found is not None and coverage.expected.value is not None:
        said = f"it covers {percent(coverage.found)}, and {_expected(coverage)} expected."
    sentences = [f"is in line with {_earlier(check)}: {said}"]
    if coverage.course == "rise":
        sentences.append(f"It covers more than was expected: {_change(coverage)}.")
    if size.course == "rise":
        sentences.append(f"It is larger than was expected: {_say_size(check)}.")
    return sentences


def _state_drop(check: NewestCheck) -> list[str]:
    coverage, expect = check.measure("coverage"), f"than {_earlier(check)} lead one to expect"
    if coverage.course == "drop":
        fall = f"{_change(coverage)} {expect}"
        if coverage.found is None or coverage.expected.value is None:
            return [f"covers {fall}.", _state_cause(check)]
        share = f"{percent(coverage.found)} of the {things(check.level)}"
        said = f"covers {share} that it could have reached, {fall}: {_expected(coverage)} expected."
        return [said, _state_cause(check)]
    is_smaller = check.measure("size").course == "drop"
    less = "is smaller" if is_smaller else "has less in common with earlier crawls"
    return [
        f"{less} {expect}, while its coverage is not certainly lower.",
        _state_cause(check),
    ]


def _state_cause(check: NewestCheck) -> str:
    if check.measure("overlap").found == 0:
        return (
            "It shares nothing with any earlier crawl: it went elsewhere, or its URLs are written "
            "in another way."
        )
    if check.cause == "crawl-shrank":
        return f"The crawl shrank: {_say_size(check)}."
    what, known = things(check.level), ""
    said: dict[MeasureName, str] = {
        "novelty": f"of its {what} are new to the archive",
        "overlap": f"of its {what} were in {check.overlap_with} as well",
    }
    for name, of_known in said.items():
        measure = check.measure(name)
        if not known and measure.found is not None and measure.expected.value is not None:
            expected = percent(measure.expected.value)
            known = f"{percent(measure.found)} {of_known}, where {expected} was expected"
    known = known or f"fewer of its {what} were known before than was expected"
    if check.cause == "both":
        return f"The crawl shrank ({_say_size(check)}), and {known}. {_ELSEWHERE}"
    return f"The crawl did not shrink ({_say_size(check)}), but {known}. {_ELSEWHERE}"


def _say_size(check: NewestCheck) -> str:
    size = check.measure("size")
    expected, found = size.expected, f"it has {count(size.found or 0.0)} {things(check.level)}"
    if expected.value is None or expected.low is None or expected.high is None:
        return found
    ends = f"{count(expected.low)} to {count(expected.high)}"
    return f"{found}, where {count(expected.value)} ({ends}) were expected"


def _state_trends(trends: Mapping[MeasureName, float]) -> Iterator[str]:
    coverage, population = trends.get("coverage", 0.0), trends.get("population", 0.0)
    if abs(coverage) < _NOTABLE_TREND:
        return
    verb = "falls" if coverage < 0 else "rises"
    cause = ""
    if coverage * population < 0 and abs(population) >= _NOTABLE_TREND:
        moves = "grows" if population > 0 else "shrinks"
        rate = growth_per_year(math.expm1(population))
        cause = f", as what could be reached {moves} ({rate})"
    yield (
        f"The trend is allowed for: coverage {verb} by {percent(abs(math.expm1(coverage)))} a "
        f"year{cause}."
    )


def _earlier(check: NewestCheck) -> str:
    return f"the {len(check.compared_with)} crawls before it"


def _change(measure: Measure) -> str:
    value = measure.change.value or 0.0
    return f"{percent(abs(value))} {'less' if value <= 0 else 'more'}"


def _expected(measure: Measure) -> str:
    expected = measure.expected
    if expected.value is None or expected.low is None or expected.high is None:
        return "another was"
    return f"{percent_range(expected.value, expected.low, expected.high)} was"


def _list_doubts(
    check: NewestCheck, table: OverlapTable, estimates: Estimates | None, *, is_one_scope: bool
) -> Iterator[str]:
    """List what to be careful about."""
    first_alike = {later: earlier for earlier, later in reversed(find_repeats(table))}
    for later, earlier in sorted(first_alike.items()):
        yield (
            f"{table.crawls[later].label} holds the same {things(check.level)} as "
            f"{table.crawls[earlier].label}: was a file added twice?"
        )
    if check.newest.damaged:
        yield (
            f"Part of the input of {check.newest.label} was damaged and left out: what is missing "
            "may be missing for that reason."
        )
    if not is_one_scope:
        yield (
            "The scope of the crawls seems to have changed; the newest one is compared with those "
            "since the last change."
        )
    if estimates is None or not check.measures:
        return
    failed = [each.id for each in estimates.checks if each.status == "fail"]
    if check.grade == "C":
        yield (
            "The coverage has grade C: its range is known, and not where in it. How crawls compare "
            "with each other depends less on what is not known."
        )
    elif failed and estimates.headline.estimator == "two-way":
        yield (
            f"The check {failed[0]} failed, so that the level of coverage is not to be trusted. "
            "How crawls compare with each other depends less on what fails."
        )
