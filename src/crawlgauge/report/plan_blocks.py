"""A plan in words and a table."""

from collections.abc import Callable

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, percent_range, span, things
from crawlgauge.model.plan import (
    CoverageTarget,
    Doubt,
    NextCrawl,
    Plan,
    Schedule,
    Standstill,
    UnionTarget,
)
from crawlgauge.model.ranges import is_telling
from crawlgauge.report import blocks
from crawlgauge.report.words import UNKNOWN, explain_ranges, read_toml, with_range

_ALL = 0.9995
"""A share that is nearer to 1 than this is called all."""

_ALIKE = 1.01
"""A crawl that is larger by less than this factor is not called larger."""


def to_blocks(plan: Plan) -> list[blocks.Block]:
    """Return what `crawlgauge plan` shows: answers, schedules, what it rests on, and doubts.

    Parameters
    ----------
    plan
        The plan.
    """
    said = say_parts(plan)
    asked = ("coverage_target", "union_target", "next_crawl", "standstill")
    answers = blocks.bullets((said[name] for name in asked if name in said), role="answer")
    schedules: list[blocks.Block] = []
    if any(with_range(schedule.union_mean, percent) != UNKNOWN for schedule in plan.schedules):
        cost = "" if plan.cost_per_year is None else f" at a cost of {plan.cost_per_year:,.6g}"
        effort = f"{count(plan.budget)} {things(plan.level)} a year{cost}"
        schedules = [[blocks.heading(f"{effort}, in the long run:")], [_tabulate(plan)]]
    return [
        answers,
        *schedules,
        [blocks.Paragraph(text=compare_schedules(plan))],
        _say_start(plan),
        *blocks.cautions(say_doubts(plan)),
    ]


def _tabulate(plan: Plan) -> blocks.Grid:
    def remark(schedule: Schedule) -> str:
        is_planned = schedule.crawls_per_year == plan.crawls_per_year
        usual = "as now" if schedule.is_present else "as planned" if is_planned else ""
        untried = "untried" if schedule.n_urls > plan.start.largest * _ALIKE else ""
        return ", ".join(filter(None, (usual, untried)))

    return blocks.tabulate(
        plan.schedules,
        ("a year", "crawls_per_year", lambda number: f"{number:.3g}"),
        (f"{things(plan.level)} each", "n_urls", count),
        ("coverage", lambda schedule: _share(schedule.coverage), percent),
        ("all, after one", lambda schedule: _share(schedule.union_after), percent),
        ("all, on average", lambda schedule: _share(schedule.union_mean), percent),
        ("", remark),
    )


def _share(estimate: Estimate) -> Estimate | tuple[str, float]:
    """Return a share; all of it as a word."""
    if (estimate.value or 1.0) >= _ALL and (estimate.low or estimate.value or 0.0) >= _ALL:
        return "all", 1.0
    return estimate


def _say_start(plan: Plan) -> blocks.Block:
    start = plan.start
    names = ("population", "persistence", "union")
    numbers: dict[str, Estimate] = {name: getattr(start, name) for name in names}
    unknown = [
        f"{name}: {number.reason}" for name, number in numbers.items() if not _is_known(number)
    ]
    return [
        *blocks.notes(
            "Coverage: that of each crawl. All: what all crawls together hold of the living, just "
            "after one and on average over time. Untried: larger than any crawl so far.",
            f"Planned from a population of {with_range(start.population, count)} "
            f"{things(plan.level)} at the newest crawl, of which "
            f"{with_range(start.persistence, percent)} live on for a year and "
            f"{with_range(start.union, percent)} are held by all crawls together, with a crawl "
            f"every {span(1 / plan.crawls_per_year)}.",
        ),
        *blocks.lacking(*unknown),
        *blocks.notes(
            *explain_ranges(numbers.items()),
            "All of this assumes that crawls draw evenly from what lives, and that the web and the "
            "crawler go on as they did.",
        ),
    ]


# ------------------------------------------------------------------------------- in words

_WHOLE_COST = 100
# Schedules closer than one in a hundred of union coverage are as good as each other.
_DIFFERENCE = 0.01


def _say(estimate: Estimate, phrase: Callable[[float], str]) -> str:
    """Write a number with its range: only the range, or a bound, where that is all that is known.

    Examples
    --------
    >>> ends = {"low": 20.0, "high": 50.0, "basis": "interval"}
    >>> _say(Estimate(value=30.0, **ends), count)
    'about 30 (20 to 50)'
    >>> _say(Estimate(value=None, **ends, reason="a range only"), count)
    'between 20 and 50'
    >>> _say(Estimate(value=30.0, low=0.0, high=50.0, basis="interval"), count)
    'at most 50'
    """
    value, low, high = estimate.value, estimate.low, estimate.high
    if low is None:
        return f"not known ({estimate.why})" if value is None else f"about {phrase(value)}"
    if high is None:
        earliest = f"{phrase(low)} at the earliest"
        return earliest if value is None else f"about {phrase(value)} ({earliest})"
    if phrase(low) == phrase(high):
        return f"about {phrase(high)}"
    if not is_telling(low, high):
        return f"at most {phrase(high)}"
    if value is None:
        return f"between {phrase(low)} and {phrase(high)}"
    if phrase is percent:
        return f"about {percent_range(value, low, high)}"
    return f"about {phrase(value)} ({phrase(low)} to {phrase(high)})"


def _is_known(estimate: Estimate) -> bool:
    return estimate.value is not None or estimate.low is not None


def _is_nothing(estimate: Estimate) -> bool:
    return estimate.value == 0 or estimate.high == 0


def _say_cost(cost: Estimate | float | None) -> str:
    """Write what something costs, behind a sentence; nothing if it is not known."""
    value = cost.value if isinstance(cost, Estimate) else cost
    if value is None:
        return ""
    return f", at a cost of {value:,.0f}" if value >= _WHOLE_COST else f", at a cost of {value:.3g}"


def say_parts(plan: Plan) -> dict[str, str]:
    """Say what each part of a plan brings.

    Parameters
    ----------
    plan
        The plan.

    Returns
    -------
    dict
        By the name of the part; those that were not asked for are left out.
    """
    what = things(plan.level)
    said = {"next_crawl": _say_next(plan.next_crawl, what)}
    if plan.coverage_target is not None:
        said["coverage_target"] = _say_coverage(plan.coverage_target, what)
    if plan.union_target is not None:
        said["union_target"] = _say_union(plan.union_target, plan.crawls_per_year, what)
    if plan.standstill is not None:
        said["standstill"] = _say_standstill(plan.standstill, what)
    return said


def _say_next(crawl: NextCrawl, what: str) -> str:
    if not _is_known(crawl.n_new):
        return f"What a further crawl adds cannot be said: {crawl.n_new.why}."
    return (
        f"A further crawl of {count(crawl.n_urls)} {what} {span(crawl.after_years)} after the "
        f"newest would find {_say(crawl.n_new, count)} that no crawl holds, and lift what all "
        f"crawls together hold of the living to {_say(crawl.union_after, percent)}"
        f"{_say_cost(crawl.cost)}."
    )


def _say_coverage(wanted: CoverageTarget, what: str) -> str:
    share = percent(wanted.target)
    if not _is_known(wanted.n_urls):
        return f"How many {what} a crawl needs for {share} cannot be said: {wanted.n_urls.why}."
    return (
        f"A crawl that is to hold {share} of the {what} that live needs "
        f"{_say(wanted.n_urls, count)} of them{_say_cost(wanted.cost)}."
    )


def _say_union(wanted: UnionTarget, often: float, what: str) -> str:
    target, of_next, of_each = wanted.target, wanted.n_urls_next, wanted.n_urls_each
    if _is_nothing(of_next):
        reach = f"All crawls together hold more than {percent(target)} without a further one"
    elif not _is_known(of_next):
        reach = (
            f"A single further crawl with which all together hold {percent(target)} cannot be "
            f"given: {of_next.why}"
        )
    else:
        reach = (
            f"For all crawls together to hold {percent(target)} of the {what} that live, the next "
            f"one needs {_say(of_next, count)}"
        )
    if not _is_known(of_each):
        neither = "It cannot" if _is_known(of_next) else "Nor can it"
        return f"{reach}. {neither} be kept by crawls of one size: {of_each.why}."
    return (
        f"{reach}; to keep it there in the long run, each of {often:.3g} crawls a year needs "
        f"{_say(of_each, count)}."
    )


def _say_standstill(still: Standstill, what: str) -> str:
    floor, of_all, of_newest = still.floor, still.after_years, still.newest_after_years
    less = f"all crawls together hold less than {percent(floor)} of the living {what}"
    if not _is_known(of_all):
        said = f"When {less} if none is added cannot be said: {of_all.why}."
    elif _is_nothing(of_all):
        said = f"{less[0].upper()}{less[1:]} already."
    else:
        said = f"If no crawl is added, {less} after {_say(of_all, span)}."
    if not _is_known(of_newest):
        return said
    if _is_nothing(of_newest):
        return f"{said} The newest crawl alone holds less than that today."
    return f"{said} The newest crawl alone does so after {_say(of_newest, span)}."


def compare_schedules(plan: Plan) -> str:
    """Say how often to crawl at a fixed yearly budget, and whether such crawls were ever made.

    Parameters
    ----------
    plan
        The plan.
    """
    what, largest = things(plan.level), plan.start.largest
    known = {
        schedule.union_mean.value: schedule
        for schedule in reversed(plan.schedules)
        if schedule.union_mean.value is not None
    }
    if not known:
        reason = plan.schedules[0].union_mean.why
        return f"How often to crawl at a fixed yearly budget cannot be said: {reason}."
    high, low = max(known), min(known)
    best, opening = known[high], f"With {count(plan.budget)} {what} a year"
    if high - low < _DIFFERENCE:
        return f"{opening}, it makes no difference in how many crawls they are captured."
    reason = "but fewer and larger ones would find no more than there is"
    if best.crawls_per_year <= min(schedule.crawls_per_year for schedule in known.values()):
        reason = "and the fewer they are the less of it is in vain"
    untried = ""
    if best.n_urls > (1 + _DIFFERENCE) * largest:
        untried = (
            f" It takes crawls of {count(best.n_urls)} {what}, and the largest so far has "
            f"{count(largest)}: whether a larger one would draw from the same {what} is not known."
        )
    return (
        f"{opening}, {_times(best)} would hold {percent(high)} of the living on average over time, "
        f"and {_times(known[low])} {percent(low)}: crawls that draw independently meet the same "
        f"again, {reason}. A crawler that passes over what it captured lately gains from frequency "
        "instead, and only frequent crawls see what lives for a short time or changes often."
        f"{untried}"
    )


def _times(schedule: Schedule) -> str:
    often = schedule.crawls_per_year
    return "one crawl a year" if often == 1 else f"{often:.3g} crawls a year"


def say_doubts(plan: Plan) -> tuple[str, ...]:
    """Say what to be careful about.

    Parameters
    ----------
    plan
        The plan.
    """
    return tuple(_say_doubt(plan, doubt) for doubt in plan.doubts)


def _say_doubt(plan: Plan, doubt: Doubt) -> str:
    situation, numbers = plan.start, doubt.numbers
    number = numbers[0] if numbers else 0.0
    text: str = _DOUBTS[doubt.code].format(
        what=things(plan.level),
        number=count(number),
        time=span(number),
        often=" or ".join("one" if number == 1 else f"{number:.3g}" for number in numbers),
        crawls="crawl" if numbers == (1,) else "crawls",
        budget=count(plan.budget),
        largest=count(situation.largest),
        years=span(situation.years),
        shortest=span(situation.shortest),
        ratio=f"{situation.held_ratio:.2f}",
    )
    return text


_DOUBTS = read_toml("doubts")
