"""A check of the newest crawl in words and a table."""

from collections.abc import Callable, Mapping

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.newest import Course, Measure, MeasureName, NewestCheck
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.report.blocks import Block, Column, Grid, Paragraph, Role
from crawlgauge.report.range_text import UNKNOWN, with_range

__all__ = ["to_blocks"]

_VERDICTS: Mapping[Course, str] = {
    "in-line": "in line",
    "drop": "drop",
    "rise": "rise",
    "unknown": "not known",
}
_PHRASES: Mapping[MeasureName, Callable[[float], str]] = {
    "coverage": percent,
    "size": count,
    "population": count,
    "overlap": percent,
    "novelty": percent,
}

_LEAST_CHANGE = 0.0005
"""Below this a change is written as none."""


def to_blocks(check: NewestCheck) -> list[Block]:
    """Return what `crawlgauge check` shows: the answer, a table of what was measured, doubts.

    Parameters
    ----------
    check
        The check.
    """
    role: Role = "fail" if check.has_drop else "answer"
    blocks: list[Block] = [[Paragraph(text=check.statement, role=role)]]
    if check.measures:
        blocks += [[_tabulate(check)], _explain(check)]
    if check.warnings:
        bullets = [Paragraph(text=text, first="• ", rest="  ") for text in check.warnings]
        blocks.append([Paragraph(text="What to be careful about:", role="heading"), *bullets])
    return blocks


def _tabulate(check: NewestCheck) -> Grid:
    return Grid(
        columns=(
            Column(header=check.newest.label),
            Column(header="found", align="right"),
            Column(header="expected", align="right"),
            Column(header="change", align="right"),
            Column(header="verdict"),
        ),
        rows=tuple(_row(measure, check) for measure in check.measures),
    )


def _row(measure: Measure, check: NewestCheck) -> tuple[str, ...]:
    phrase = _PHRASES[measure.name]
    name = f"size ({things(check.level)})" if measure.name == "size" else measure.name
    return (
        name,
        _say_found(measure, phrase, is_range_only=check.grade == "C"),
        with_range(measure.expected, phrase),
        _say_change(measure.change),
        _VERDICTS[measure.course],
    )


def _say_found(measure: Measure, phrase: Callable[[float], str], *, is_range_only: bool) -> str:
    if measure.found is None:
        return UNKNOWN
    if is_range_only and measure.low is not None and measure.high is not None:
        return f"{phrase(measure.low)} to {phrase(measure.high)}"
    return phrase(measure.found)


def _say_change(change: Estimate) -> str:
    """Write a relative change with its sign."""
    if change.value is None:
        return UNKNOWN
    if abs(change.value) < _LEAST_CHANGE:
        return percent(0)
    sign = "−" if change.value < 0 else "+"
    return f"{sign}{percent(abs(change.value))}"


def _explain(check: NewestCheck) -> Block:
    what, earlier = things(check.level), check.compared_with
    partner = check.overlap_with or "the crawl before it"
    reasons = [
        Paragraph(
            text=f"{measure.name}: {measure.change.reason}",
            first=f"{UNKNOWN} ",
            rest="  ",
            role="note",
        )
        for measure in check.measures
        if measure.course == "unknown"
    ]
    is_estimated = any(measure.low is not None for measure in check.measures)
    compared = (
        f"Compared with the {len(earlier)} crawls from {earlier[0]} to {earlier[-1]}. In brackets: "
        "what 95 % of crawls that are in line lie within."
    )
    terms = (
        f"Population: the {what} that the crawl could have reached; coverage: the share it holds; "
        f"overlap: the share of its {what} that {partner} holds as well; novelty: the share that "
        "no earlier crawl holds."
    )
    source = (
        "Coverage and population are those of crawlgauge estimate. What was expected of them is "
        "what they are less the change that overlaps show."
    )
    rule = (
        f"A drop is {percent(check.threshold)} or more below what was expected, and so far below "
        f"that it happens by chance in at most {percent(check.false_alarms)} of crawls."
    )
    sentences = (compared, terms, *([source] if is_estimated else []), rule)
    return [*reasons, *(Paragraph(text=sentence, role="note") for sentence in sentences)]
