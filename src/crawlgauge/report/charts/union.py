"""How much of the living web the whole archive holds, crawl after crawl."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimate, Estimates, Union
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.report.charts.axes import date_axis, share_axis
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.course import (
    COURSE_HEIGHT,
    estimate_layers,
    estimate_rows,
    estimate_tooltip,
    say_unknown,
    seen,
    why_none,
)
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Rows,
    base_chart,
    lit_opacity,
    significant,
    to_specification,
)
from crawlgauge.report.charts.sentences import explain_bars, join, say_trust
from crawlgauge.report.range_text import with_range

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_union"]

_NAME = "union"
_COLUMNS = (
    "crawl",
    "date",
    "n_urls",
    "union_coverage",
    "low",
    "high",
    "basis",
    "reason",
    "coverage",
)


def draw_union(estimates: Estimates) -> Chart | NoChart:
    """Draw the share of the living web that all crawls so far hold, after each crawl.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun, union = things(estimates.level), estimates.union
    title = f"Share of the living {noun} that all crawls so far hold together, after each crawl"
    if union is None:
        reason = "what all crawls hold together can only be told from capture histories"
        return NoChart(name=_NAME, title=title, reason=reason)
    if all(number.value is None for number in union.per_crawl):
        return NoChart(name=_NAME, title=title, reason=why_none(union.per_crawl))
    rows: Rows = tuple(
        (*row, significant(own.coverage.value))
        for row, own in zip(
            estimate_rows(estimates.crawls, union.per_crawl), estimates.per_crawl, strict=True
        )
    )
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates, union),
        alternative=f"Points over time, with single crawls below. {_say_course(estimates, union)}",
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(estimates, union), _COLUMNS, rows, height=COURSE_HEIGHT
        ),
    )


def _layers(estimates: Estimates, union: Union) -> "list[alt.Chart]":
    import altair as alt

    noun = things(estimates.level)
    single = [row.coverage.value for row in estimates.per_crawl if row.coverage.value is not None]
    shown = [*seen(union.per_crawl), *single]
    axis = share_axis(f"Share of the living {noun}", shown, "union_coverage")
    tooltip = [
        *estimate_tooltip("union_coverage", ".1%", noun),
        alt.Tooltip("coverage:Q", title="this crawl alone", format=".1%"),
    ]
    dated = base_chart().transform_calculate(when="toDate(datum.date)").encode(x=date_axis())
    alone = dated.transform_filter("isValid(datum.coverage)").mark_tick(
        style="guide", orient="horizontal", size=9, thickness=2, strokeDash=[]
    )
    course = dated.transform_filter("isValid(datum.union_coverage)").mark_line(style="data")
    return [
        alone.encode(y=alt.Y("coverage:Q", title=""), opacity=lit_opacity(CRAWL)),
        course.encode(y=axis),
        *estimate_layers("union_coverage", union.per_crawl, axis, tooltip),
    ]


def _describe(estimates: Estimates, union: Union) -> str:
    noun = things(estimates.level)
    return join(
        f"Points: the share of the {noun} alive at each crawl that it or an earlier crawl holds. "
        "Short lines: the crawl alone.",
        _say_course(estimates, union),
        f"Of {count(union.n_distinct)} {noun} held, {_alive(union.n_alive)}."
        if union.n_alive.value is not None
        else None,
        explain_bars([("union", number) for number in union.per_crawl]),
        say_unknown(estimates.crawls, union.per_crawl),
        union.caution,
        say_trust(estimates),
    )


def _alive(n_alive: Estimate) -> str:
    return f"{with_range(n_alive, count)} lived at the newest crawl"


def _say_course(estimates: Estimates, union: Union) -> str:
    known = [
        (crawl.label, number)
        for crawl, number in zip(estimates.crawls, union.per_crawl, strict=True)
        if number.value is not None
    ]
    (first, start), (last, end) = known[0], known[-1]
    if first == last:
        return f"After {first}: {with_range(start, percent)}."
    return (
        f"From {with_range(start, percent)} after {first} to {with_range(end, percent)} after "
        f"{last}."
    )
