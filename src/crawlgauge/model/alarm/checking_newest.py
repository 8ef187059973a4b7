"""Hold the newest crawl against the ones before it: coverage, size and overlap.

With M the size, c the coverage and N what could be reached, ln c = ln M − ln N. A fall of coverage
comes with a smaller crawl, or with more that could be reached. The latter shows as a smaller share
of the newest crawl's URLs that earlier ones hold as well.
"""

from dataclasses import replace

from crawlgauge.errors import FitError
from crawlgauge.model.alarm.comparison import (
    MIN_CRAWLS,
    NO_LEVEL,
    Comparisons,
    compare_newest,
    find_level,
)
from crawlgauge.model.alarm.measuring import TESTED, measure_newest
from crawlgauge.model.alarm.newest_check import Cause, CheckStatus, Grade, Measure, NewestCheck
from crawlgauge.model.alarm.series import Series, find_repeats, read_series
from crawlgauge.model.alarm.wording import list_doubts, state_check
from crawlgauge.model.checks import diagnose
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.possible import within
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["FALSE_ALARMS", "THRESHOLD", "check_newest_crawl", "judge_series"]

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
    return replace(
        check,
        statement=state_check(check, trends, n_crawls=series.years.size, min_crawls=MIN_CRAWLS),
        warnings=list_doubts(check, estimates, find_repeats(table), is_one_scope=series.first == 0),
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
