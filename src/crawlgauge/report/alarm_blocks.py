"""A check of the newest crawl in words and a table."""

from collections.abc import Mapping

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.newest import Measure, MeasureName, NewestCheck
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.report.blocks import Block, Grid, Paragraph, cautions, lacking, notes, tabulate
from crawlgauge.report.words import COURSES, UNKNOWN, Phrase, with_range

_PHRASES: Mapping[MeasureName, Phrase] = {
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
    answer = Paragraph(text=check.statement, role="fail" if check.has_drop else "answer")
    measured: list[Block] = [[_tabulate(check)], _explain(check)] if check.measures else []
    return [[answer], *measured, *cautions(check.warnings)]


def _tabulate(check: NewestCheck) -> Grid:
    def name(measure: Measure) -> str:
        return f"size ({things(check.level)})" if measure.name == "size" else measure.name

    def found(measure: Measure) -> tuple[str, float | None]:
        phrase = _PHRASES[measure.name]
        if measure.found is None:
            return UNKNOWN, None
        if check.grade == "C" and measure.low is not None and measure.high is not None:
            return f"{phrase(measure.low)} to {phrase(measure.high)}", measure.low
        return phrase(measure.found), measure.found

    def expected(measure: Measure) -> tuple[str, float | None]:
        return with_range(measure.expected, _PHRASES[measure.name]), measure.expected.value

    return tabulate(
        check.measures,
        (check.newest.label, name),
        ("found", found, count),
        ("expected", expected, count),
        ("change", lambda row: (_say_change(row.change), row.change.value), count),
        ("verdict", lambda measure: COURSES[measure.course]),
    )


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
    unknown = [measure for measure in check.measures if measure.course == "unknown"]
    is_estimated = any(measure.low is not None for measure in check.measures)
    source = (
        "Coverage and population are those of crawlgauge estimate; what was expected of them "
        "follows from how the overlaps have changed."
    )
    return [
        *lacking(*(f"{measure.name}: {measure.change.why}" for measure in unknown)),
        *notes(
            f"Compared with the {len(earlier)} crawls from {earlier[0]} to {earlier[-1]}. In "
            "brackets: what 95 % of crawls that are in line lie within.",
            f"Population: the {what} that the crawl could have reached; coverage: the share it "
            f"holds; overlap: the share of its {what} that {partner} holds as well; novelty: the "
            "share that no earlier crawl holds.",
            *([source] if is_estimated else []),
            f"A drop is {percent(check.threshold)} or more below what was expected, and so far "
            "below that it happens by chance in at most "
            f"{percent(check.false_alarms)} of crawls.",
        ),
    ]
