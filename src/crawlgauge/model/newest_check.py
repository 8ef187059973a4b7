"""Hold the newest crawl against the ones before it: coverage, size and overlap.

With M the size, c the coverage and N what could be reached, ln c = ln M − ln N. A fall of coverage
comes with a smaller crawl, or with more that could be reached. The latter shows as a smaller share
of the newest crawl's URLs that earlier ones hold as well.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from crawlgauge.errors import FitError
from crawlgauge.model.cautions import find_repeats
from crawlgauge.model.checks import diagnose
from crawlgauge.model.estimates import Estimate, Estimates, Grade
from crawlgauge.model.expectation import (
    MIN_CRAWLS,
    NO_LEVEL,
    Cause,
    CheckStatus,
    Comparison,
    Comparisons,
    Course,
    Measure,
    MeasureName,
    NewestCheck,
    Series,
    compare_newest,
    find_level,
    read_series,
)
from crawlgauge.model.intervals import LEVEL
from crawlgauge.model.phrases import count, growth_per_year, percent, percent_range, things
from crawlgauge.model.ranges import within
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["FALSE_ALARMS", "THRESHOLD", "check_newest_crawl", "judge_series"]


# ------------------------------------------------ which numbers of the newest crawl are out of line


_SHARES: dict[MeasureName, float] = {"coverage": 0.5, "size": 0.25, "overlap": 0.25}
"""How the false alarms are divided: coverage is what is asked for."""

TESTED: tuple[MeasureName, ...] = tuple(_SHARES)
"""What can drop; the rest follows from these."""

_OPPOSITE: dict[Course, Course] = {"drop": "rise", "rise": "drop"}

_NO_OVERLAP = "not identifiable: its overlaps with earlier crawls do not tell its coverage"
_NOTHING_SHARED = "it shares nothing with any earlier crawl"
_NO_HISTORIES = "not identifiable: capture histories are needed"
_AS_OVERLAP = "its range is that of overlap, from which it follows"
_NOTHING_NEW = "not finite: nothing new was expected"


def measure_newest(
    compared: Comparisons,
    histories: Histories | None,
    *,
    shares_nothing: bool,
    false_alarms: float,
    threshold: float,
) -> tuple[Measure, ...]:
    """Say of each number of the newest crawl whether it is out of line.

    Parameters
    ----------
    compared
        The numbers beside their predictions.
    histories
        Capture histories, which tell what is new; None without any.
    shares_nothing
        Whether the newest crawl shares nothing with any earlier one.
    false_alarms, threshold
        As for `check_newest_crawl`.

    Returns
    -------
    tuple
        Coverage, size, population, overlap and novelty.
    """
    coverage, size, overlap = (
        _test(name, compared.get(name), share * false_alarms, threshold)
        for name, share in _SHARES.items()
    )
    if shares_nothing:
        coverage, overlap = _nothing_shared(coverage), _nothing_shared(overlap)
    return (
        coverage,
        size,
        _measure_population(compared.get("population"), overlap),
        overlap,
        _measure_novelty(histories, overlap),
    )


def _unknown(name: MeasureName, reason: str, expected: Estimate | None = None) -> Measure:
    unknown = Estimate.unknown(reason)
    return Measure(
        name=name,
        course="unknown",
        found=None,
        expected=expected or unknown,
        change=unknown,
        chance=None,
    )


def _test(
    name: MeasureName, comparison: Comparison | None, false_alarms: float, threshold: float
) -> Measure:
    if comparison is None:
        return _unknown(name, _NO_OVERLAP)
    below = comparison.prediction.chance_below(comparison.found)
    worth = -math.log1p(-threshold)
    course: Course = "in-line"
    if below < false_alarms and comparison.deviation <= -worth:
        course = "drop"
    elif 1 - below < false_alarms and comparison.deviation >= worth:
        course = "rise"
    expected = comparison.expected
    return Measure(
        name=name,
        course=course,
        found=comparison.value,
        expected=expected if name == "size" else _as_share(expected),
        change=comparison.change,
        chance=min(below, 1 - below),
    )


def _as_share(estimate: Estimate) -> Estimate:
    """Leave out what is more than all."""
    value, low, high = (
        None if number is None else min(1.0, number)
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, low=low, high=high)


def _nothing_shared(measure: Measure) -> Measure:
    """Put nothing in the place of the most that may be, which was tested."""
    if measure.course == "unknown":
        return measure
    return replace(measure, found=0.0, change=Estimate(value=-1.0, reason=_NOTHING_SHARED))


def _measure_population(comparison: Comparison | None, overlap: Measure) -> Measure:
    """Return what could be reached: more of it is what makes overlap fall."""
    if comparison is None:
        return _unknown("population", _NO_OVERLAP)
    if overlap.found == 0:
        return _unknown("population", f"not finite: {_NOTHING_SHARED}", comparison.expected)
    return Measure(
        name="population",
        course=_OPPOSITE.get(overlap.course, overlap.course),
        found=comparison.value,
        expected=comparison.expected,
        change=comparison.change,
        chance=None,
    )


def _measure_novelty(histories: Histories | None, overlap: Measure) -> Measure:
    """Return the share that no earlier crawl holds: the rest of it changes as overlap does."""
    if histories is None:
        return _unknown("novelty", _NO_HISTORIES)
    if overlap.change.value is None:
        return _unknown("novelty", _NO_OVERLAP)
    found = _new_share(histories)
    if overlap.found == 0:
        return replace(_unknown("novelty", _NOTHING_SHARED), found=found)
    value, low, high = (
        max(0.0, 1 - (1 - found) / (1 + (change or 0.0)))
        for change in (overlap.change.value, overlap.change.low, overlap.change.high)
    )
    return Measure(
        name="novelty",
        course=_OPPOSITE.get(overlap.course, overlap.course),
        found=found,
        expected=Estimate(value=value, low=low, high=high, level=LEVEL, basis="interval"),
        change=(
            Estimate(value=found / value - 1, reason=_AS_OVERLAP)
            if value > 0
            else Estimate.unknown(_NOTHING_NEW)
        ),
        chance=None,
    )


def _new_share(histories: Histories) -> float:
    newest = np.uint64(1) << np.uint64(histories.n_crawls - 1)
    n_newest = int(histories.counts[(histories.masks & newest) != 0].sum())
    return int(histories.counts[histories.masks == newest].sum()) / max(n_newest, 1)


# ------------------------------------------------------------- A check of the newest crawl in words


_NOTABLE_TREND = 0.05
"""Per year: a slower course is not worth a sentence."""


def state_check(
    check: NewestCheck, trends: Mapping[MeasureName, float], *, n_crawls: int, min_crawls: int
) -> str:
    """Say in a few sentences what a check found, and why.

    Parameters
    ----------
    check
        The check, without a statement.
    trends
        Expected change of each logarithm per year.
    n_crawls
        Crawls of the present scope.
    min_crawls
        How many it takes.
    """
    if check.status == "unknown":
        return _state_unknown(check, n_crawls, min_crawls)
    if check.status == "in-line":
        return " ".join((_state_in_line(check), *_state_rises(check), *_state_trends(trends)))
    return " ".join((_state_drop(check), _state_cause(check), *_state_trends(trends)))


def list_doubts(
    check: NewestCheck,
    estimates: Estimates | None,
    repeats: Sequence[tuple[str, str]],
    *,
    is_one_scope: bool,
) -> tuple[str, ...]:
    """List what to be careful about.

    Parameters
    ----------
    check
        The check.
    estimates
        Of the same table; None if there are none.
    repeats
        Labels of crawls that hold the same as another.
    is_one_scope
        Whether all crawls are of one scope.
    """
    what = things(check.level)
    same = (
        f"{later} holds the same {what} as {earlier}: was a file added twice?"
        for later, earlier in repeats
    )
    return (*same, *_doubts(check, estimates, is_one_scope))


def _doubts(check: NewestCheck, estimates: Estimates | None, is_one_scope: bool) -> Iterator[str]:
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


def _state_unknown(check: NewestCheck, n_crawls: int, min_crawls: int) -> str:
    opening = f"Whether {_name(check)} is in line cannot be told:"
    if n_crawls < min_crawls:
        there = "there is 1 crawl" if n_crawls == 1 else f"there are {n_crawls} crawls"
        return f"{opening} {there} of the present scope, and it takes {min_crawls} or more."
    return (
        f"{opening} the overlaps that are known do not tell its coverage, or that of three crawls "
        "before it."
    )


def _state_in_line(check: NewestCheck) -> str:
    coverage = check.measure("coverage")
    opening = f"{_capital(_name(check))} is in line with {_earlier(check)}"
    if coverage.found is None or coverage.expected.value is None:
        return f"{opening}: its coverage is {_change(coverage)} than was expected."
    return f"{opening}: it covers {percent(coverage.found)}, and {_expected(coverage)} expected."


def _state_drop(check: NewestCheck) -> str:
    coverage, size, what = check.measure("coverage"), check.measure("size"), things(check.level)
    if coverage.course == "drop":
        lead = f"{_capital(_name(check))} covers"
        if coverage.found is None or coverage.expected.value is None:
            return f"{lead} {_change(coverage)} than {_earlier(check)} lead one to expect."
        return (
            f"{lead} {percent(coverage.found)} of the {what} that it could have reached, "
            f"{_change(coverage)} than {_earlier(check)} lead one to expect: {_expected(coverage)} "
            "expected."
        )
    if size.course == "drop":
        return (
            f"{_capital(_name(check))} is smaller than {_earlier(check)} lead one to expect, "
            "while its coverage is not certainly lower."
        )
    return (
        f"{_capital(_name(check))} has less in common with earlier crawls than {_earlier(check)} "
        "lead one to expect, while its coverage is not certainly lower."
    )


def _state_cause(check: NewestCheck) -> str:
    if check.measure("overlap").found == 0:
        return (
            "It shares nothing with any earlier crawl: it went elsewhere, or its URLs are written "
            "in another way."
        )
    if check.cause == "crawl-shrank":
        return f"The crawl shrank: {_say_size(check)}."
    known = _say_known(check)
    reading = (
        "Either the web grew out of line, or the crawl went where earlier ones did not: other "
        "seeds, another scope, a crawler trap. Overlaps cannot tell these apart; its hosts can, or "
        "the next crawl."
    )
    if check.cause == "both":
        return f"The crawl shrank ({_say_size(check)}), and {known}. {reading}"
    return f"The crawl did not shrink ({_say_size(check)}), but {known}. {reading}"


def _say_size(check: NewestCheck) -> str:
    size = check.measure("size")
    expected, found = size.expected, f"it has {count(size.found or 0.0)} {things(check.level)}"
    if expected.value is None or expected.low is None or expected.high is None:
        return found
    ends = f"{count(expected.low)} to {count(expected.high)}"
    return f"{found}, where {count(expected.value)} ({ends}) were expected"


def _say_known(check: NewestCheck) -> str:
    overlap, novelty = check.measure("overlap"), check.measure("novelty")
    what = things(check.level)
    if novelty.found is not None and novelty.expected.value is not None:
        return (
            f"{percent(novelty.found)} of its {what} are new to the archive, where "
            f"{percent(novelty.expected.value)} was expected"
        )
    if overlap.found is not None and overlap.expected.value is not None:
        return (
            f"{percent(overlap.found)} of its {what} were in {check.overlap_with} as well, where "
            f"{percent(overlap.expected.value)} was expected"
        )
    return f"fewer of its {what} were known before than was expected"


def _state_rises(check: NewestCheck) -> Iterator[str]:
    coverage, size = check.measure("coverage"), check.measure("size")
    if coverage.course == "rise":
        yield f"It covers more than was expected: {_change(coverage)}."
    if size.course == "rise":
        yield f"It is larger than was expected: {_say_size(check)}."


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


def _name(check: NewestCheck) -> str:
    return f"the newest crawl, {check.newest.label},"


def _earlier(check: NewestCheck) -> str:
    return f"the {len(check.compared_with)} crawls before it"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _change(measure: Measure) -> str:
    value = measure.change.value or 0.0
    return f"{percent(abs(value))} {'less' if value <= 0 else 'more'}"


def _expected(measure: Measure) -> str:
    expected = measure.expected
    if expected.value is None or expected.low is None or expected.high is None:
        return "another was"
    return f"{percent_range(expected.value, expected.low, expected.high)} was"


# --------------------- hold the newest crawl against the ones before it: coverage, size and overlap


FALSE_ALARMS = 0.05
"""How often a crawl that is in line may be taken for a drop, unless told otherwise."""

THRESHOLD = 0.2
"""Least drop that is worth an alarm, unless told otherwise: a fifth."""

_MOST_FALSE_ALARMS = 0.5
"""A coin would do as well."""

_MAIN_PART = 2 / 3
"""From this share of a fall on, one cause is named and the other is not."""


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
    _check_request(false_alarms, threshold)
    diagnosis = diagnose(table)
    series = read_series(diagnosis.table, diagnosis.regimes[-1].first)
    return judge_series(table, series, estimates, false_alarms=false_alarms, threshold=threshold)


def judge_series(
    table: OverlapTable,
    series: Series,
    estimates: Estimates | None = None,
    *,
    false_alarms: float = FALSE_ALARMS,
    threshold: float = THRESHOLD,
) -> NewestCheck:
    """Judge the newest crawl by the crawls of its scope.

    Parameters
    ----------
    table
        All overlaps.
    series
        What they tell of the crawls of the newest crawl's scope.
    estimates, false_alarms, threshold
        As for `check_newest_crawl`.
    """
    coverage, population, grade = _take_newest(estimates, n_urls=table.crawls[-1].n_urls)
    # A range alone is no level that anything could be expected at.
    level = None if grade == "C" else find_level(series, coverage)
    compared = compare_newest(series, level)
    measures: tuple[Measure, ...] = ()
    if compared:
        measures = measure_newest(
            compared,
            table.histories,
            shares_nothing=series.shares_nothing,
            false_alarms=false_alarms,
            threshold=threshold,
        )
        measures = tuple(_estimated(measure, coverage, population) for measure in measures)
    status, cause = _judge(measures, compared)
    check = NewestCheck(
        status=status,
        cause=cause,
        statement="",
        level=table.level,
        grade=grade,
        newest=table.crawls[-1],
        compared_with=_list_earlier(table, series, compared),
        overlap_with=None if series.partner is None else table.crawls[series.partner].label,
        false_alarms=false_alarms,
        threshold=threshold,
        scatter=compared["coverage"].prediction.scatter if "coverage" in compared else None,
        measures=measures,
        warnings=(),
        provenance=table.provenance,
    )
    trends = {name: each.prediction.trend for name, each in compared.items()}
    first_alike = {later: earlier for earlier, later in reversed(find_repeats(table))}
    repeats = [
        (table.crawls[later].label, table.crawls[earlier].label)
        for later, earlier in sorted(first_alike.items())
    ]
    return replace(
        check,
        statement=state_check(check, trends, n_crawls=series.years.size, min_crawls=MIN_CRAWLS),
        warnings=list_doubts(check, estimates, repeats, is_one_scope=series.first == 0),
    )


def _take_newest(estimates: Estimates | None, n_urls: int) -> tuple[Estimate, Estimate, Grade]:
    """Return coverage and population of the newest crawl, and how far they are trusted."""
    if estimates is None:
        unknown = Estimate.unknown(NO_LEVEL)
        return unknown, unknown, "none"
    return (
        within(estimates.newest.coverage, most=1.0),
        within(estimates.newest.population, least=float(n_urls)),
        estimates.agreement.grade,
    )


def _estimated(measure: Measure, coverage: Estimate, population: Estimate) -> Measure:
    """Put what the estimates say of the newest crawl in the place of what was compared."""
    if measure.name not in ("coverage", "population") or measure.found == 0:
        return measure
    own = coverage if measure.name == "coverage" else population
    return replace(measure, found=own.value, low=own.low, high=own.high)


def _check_request(false_alarms: float, threshold: float) -> None:
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


def _list_earlier(table: OverlapTable, series: Series, compared: Comparisons) -> tuple[str, ...]:
    """Return the labels of the crawls that the newest one is compared with."""
    n_earlier = max((each.prediction.n_earlier for each in compared.values()), default=0)
    earlier = table.crawls[series.first : -1]
    return tuple(crawl.label for crawl in earlier[len(earlier) - n_earlier :])


def _judge(
    measures: tuple[Measure, ...], compared: Comparisons
) -> tuple[CheckStatus, Cause | None]:
    courses = {measure.name: measure.course for measure in measures}
    dropped = {name for name in TESTED if courses.get(name) == "drop"}
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
