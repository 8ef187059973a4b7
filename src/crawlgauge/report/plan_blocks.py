"""A plan in words and a table."""

from collections.abc import Callable

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, span, things
from crawlgauge.model.plan import Plan
from crawlgauge.model.schedule import Schedule
from crawlgauge.report.blocks import Block, Column, Grid, Paragraph
from crawlgauge.report.range_text import UNKNOWN, explain_ranges, with_range

__all__ = ["to_blocks"]


def to_blocks(plan: Plan) -> list[Block]:
    """Return what `crawlgauge plan` shows: answers, schedules, what it rests on, and doubts.

    Parameters
    ----------
    plan
        The plan.
    """
    asked = (plan.coverage_target, plan.union_target, plan.next_crawl, plan.standstill)
    answers = [
        Paragraph(text=part.statement, first="• ", rest="  ", role="answer")
        for part in asked
        if part is not None
    ]
    blocks: list[Block] = [answers]
    if any(_write(schedule.union_mean, percent) != UNKNOWN for schedule in plan.schedules):
        heading = (
            f"{count(plan.budget)} {things(plan.level)} a year{_cost(plan.cost_per_year)}, "
            "in the long run:"
        )
        blocks += [[Paragraph(text=heading, role="heading")], [_tabulate(plan)]]
    blocks += [[Paragraph(text=plan.comparison)], _say_start(plan)]
    if plan.warnings:
        bullets = [Paragraph(text=text, first="• ", rest="  ") for text in plan.warnings]
        blocks.append([Paragraph(text="What to be careful about:", role="heading"), *bullets])
    return blocks


def _tabulate(plan: Plan) -> Grid:
    return Grid(
        columns=(
            Column(header="a year", align="right"),
            Column(header=f"{things(plan.level)} each", align="right"),
            Column(header="coverage", align="right"),
            Column(header="all, after one", align="right"),
            Column(header="all, on average", align="right"),
            Column(header=""),
        ),
        rows=tuple(_row(schedule, plan) for schedule in plan.schedules),
    )


def _row(schedule: Schedule, plan: Plan) -> tuple[str, ...]:
    notes = []
    if schedule.is_present:
        notes.append("as now")
    elif schedule.crawls_per_year == plan.crawls_per_year:
        notes.append("as planned")
    if schedule.n_urls > plan.start.largest * _ALIKE:
        notes.append("untried")
    return (
        f"{schedule.crawls_per_year:.3g}",
        count(schedule.n_urls),
        _share(schedule.coverage),
        _share(schedule.union_after),
        _share(schedule.union_mean),
        ", ".join(notes),
    )


def _share(estimate: Estimate) -> str:
    """Write a share with its range; all of it as a word."""
    if (estimate.value or 1.0) >= _ALL and (estimate.low or estimate.value or 0.0) >= _ALL:
        return "all"
    return _write(estimate, percent)


def _write(estimate: Estimate, phrase: Callable[[float], str]) -> str:
    """Write a number with its range, or the range alone."""
    low, high = estimate.low, estimate.high
    if estimate.value is not None or low is None or high is None:
        return with_range(estimate, phrase)
    return f"{phrase(low)} to {phrase(high)}"


_ALL = 0.9995
"""A share that is nearer to 1 than this is called all."""


_ALIKE = 1.01
"""A crawl that is larger by less than this factor is not called larger."""


def _say_start(plan: Plan) -> Block:
    start, what = plan.start, things(plan.level)
    numbers = [
        ("population", start.population),
        ("persistence", start.persistence),
        ("union", start.union),
    ]
    sentence = (
        f"Planned from a population of {_write(start.population, count)} {what} at the newest "
        f"crawl, of which {_write(start.persistence, percent)} live on for a year and "
        f"{_write(start.union, percent)} are held by all crawls together, with a crawl every "
        f"{span(1 / plan.crawls_per_year)}."
    )
    columns = (
        "Coverage: that of each crawl. All: what all crawls together hold of the living, just "
        "after one and on average over time. Untried: larger than any crawl so far."
    )
    reasons = [
        Paragraph(text=f"{name}: {number.reason}", first=f"{UNKNOWN} ", rest="  ", role="note")
        for name, number in numbers
        if number.value is None and number.low is None
    ]
    ranges = [Paragraph(text=text, role="note") for text in explain_ranges(numbers)]
    assumption = (
        "All of it takes crawls for even draws from what lives, and web and crawler to go on as "
        "they did."
    )
    return [
        Paragraph(text=columns, role="note"),
        Paragraph(text=sentence, role="note"),
        *reasons,
        *ranges,
        Paragraph(text=assumption, role="note"),
    ]


def _cost(cost: float | None) -> str:
    return "" if cost is None else f" at a cost of {cost:,.6g}"
