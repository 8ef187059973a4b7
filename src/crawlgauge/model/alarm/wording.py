"""A check of the newest crawl in words."""

import math
from collections.abc import Iterator, Mapping, Sequence

from crawlgauge.model.alarm.newest_check import Measure, MeasureName, NewestCheck
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import count, growth_per_year, percent, percent_range, things

__all__ = ["list_doubts", "state_check"]

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
