"""A plan in words and a table."""

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, span, things
from crawlgauge.model.plan import Plan
from crawlgauge.model.schedule import Schedule
from crawlgauge.report.blocks import (
    Block,
    Grid,
    Paragraph,
    bullets,
    cautions,
    heading,
    lacking,
    notes,
    tabulate,
)
from crawlgauge.report.words import UNKNOWN, explain_ranges, with_range

__all__ = ["to_blocks"]

_ALL = 0.9995
"""A share that is nearer to 1 than this is called all."""

_ALIKE = 1.01
"""A crawl that is larger by less than this factor is not called larger."""


def to_blocks(plan: Plan) -> list[Block]:
    """Return what `crawlgauge plan` shows: answers, schedules, what it rests on, and doubts.

    Parameters
    ----------
    plan
        The plan.
    """
    asked = (plan.coverage_target, plan.union_target, plan.next_crawl, plan.standstill)
    answers = bullets((part.statement for part in asked if part is not None), role="answer")
    schedules: list[Block] = []
    if any(with_range(schedule.union_mean, percent) != UNKNOWN for schedule in plan.schedules):
        cost = "" if plan.cost_per_year is None else f" at a cost of {plan.cost_per_year:,.6g}"
        effort = f"{count(plan.budget)} {things(plan.level)} a year{cost}"
        schedules = [[heading(f"{effort}, in the long run:")], [_tabulate(plan)]]
    return [
        answers,
        *schedules,
        [Paragraph(text=plan.comparison)],
        _say_start(plan),
        *cautions(plan.warnings),
    ]


def _tabulate(plan: Plan) -> Grid:
    def remark(schedule: Schedule) -> str:
        remarks = []
        if schedule.is_present:
            remarks.append("as now")
        elif schedule.crawls_per_year == plan.crawls_per_year:
            remarks.append("as planned")
        if schedule.n_urls > plan.start.largest * _ALIKE:
            remarks.append("untried")
        return ", ".join(remarks)

    return tabulate(
        plan.schedules,
        ("a year", "crawls_per_year", lambda number: f"{number:.3g}"),
        (f"{things(plan.level)} each", "n_urls", count),
        ("coverage", lambda schedule: _share(schedule.coverage), percent),
        ("all, after one", lambda schedule: _share(schedule.union_after), percent),
        ("all, on average", lambda schedule: _share(schedule.union_mean), percent),
        ("", remark),
    )


def _share(estimate: Estimate) -> Estimate | str:
    """Return a share; all of it as a word."""
    if (estimate.value or 1.0) >= _ALL and (estimate.low or estimate.value or 0.0) >= _ALL:
        return "all"
    return estimate


def _say_start(plan: Plan) -> Block:
    start = plan.start
    numbers = [
        ("population", start.population),
        ("persistence", start.persistence),
        ("union", start.union),
    ]
    unknown = [
        f"{name}: {number.reason}"
        for name, number in numbers
        if number.value is None and number.low is None
    ]
    return [
        *notes(
            "Coverage: that of each crawl. All: what all crawls together hold of the living, just "
            "after one and on average over time. Untried: larger than any crawl so far.",
            f"Planned from a population of {with_range(start.population, count)} "
            f"{things(plan.level)} at the newest crawl, of which "
            f"{with_range(start.persistence, percent)} live on for a year and "
            f"{with_range(start.union, percent)} are held by all crawls together, with a crawl "
            f"every {span(1 / plan.crawls_per_year)}.",
        ),
        *lacking(*unknown),
        *notes(
            *explain_ranges(numbers),
            "All of it takes crawls for even draws from what lives, and web and crawler to go on "
            "as they did.",
        ),
    ]
