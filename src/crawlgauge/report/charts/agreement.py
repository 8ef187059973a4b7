"""How far estimators with different assumptions agree from crawl to crawl."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates, EstimatorRow
from crawlgauge.model.phrases import percent
from crawlgauge.report.charts.axes import date_axis, share_axis
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Rows,
    base_chart,
    lit_opacity,
    lit_width,
    pickable,
    significant,
    to_specification,
)
from crawlgauge.report.charts.sentences import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_agreement"]

# Those of the grade: the other ones from pairs share all assumptions with the two-way model.
_COMPARED = (
    "two-way",
    "cjs",
    "jolly-seber",
    "manly-parr",
    "rested-manly-parr",
    "known-alive",
    "latent-class",
)
_COLUMNS = ("crawl", "date", "estimator", "coverage")
_HEIGHT = 190
_TWO = 2
_MUCH = 2


def draw_agreement(estimates: Estimates) -> Chart | NoChart:
    """Draw the coverage of each crawl by every estimator that allows for turnover.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Coverage of each crawl by the estimators that allow for turnover"
    chosen = [row for row in estimates.estimators if _has_course(row)]
    if len(chosen) < _TWO:
        reason = (
            "fewer than two estimators with different assumptions give a coverage for each crawl; "
            "capture histories are needed for more"
        )
        return NoChart(name="agreement", title=title, reason=reason)
    rows: Rows = tuple(
        (crawl.label, crawl.date.isoformat(), row.name, significant(value))
        for row in chosen
        for crawl, value in zip(estimates.crawls, row.per_crawl, strict=True)
        if value is not None
    )
    return Chart(
        name="agreement",
        title=title,
        caption=_describe_agreement(estimates, chosen),
        alternative=(
            f"{number_of(len(chosen), 'line')} over time, one for each of "
            f"{', '.join(row.name for row in chosen)}. {_say_spread(estimates)}".strip()
        ),
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _agreement_layers(rows, [row.name for row in chosen]),
            _COLUMNS,
            rows,
            height=_HEIGHT,
        ),
    )


def _has_course(row: EstimatorRow) -> bool:
    """Tell whether an estimator allows for turnover and for coverage that differs by crawl."""
    known = [value for value in row.per_crawl if value is not None]
    return row.name in _COMPARED and len(known) > 1


def _agreement_layers(rows: Rows, order: Sequence[str]) -> "list[alt.Chart]":
    import altair as alt

    shares = [float(row[_COLUMNS.index("coverage")] or 0) for row in rows]
    scale = alt.Scale(domain=list(order))
    legend = alt.Legend(title="Estimator", columns=3, symbolSize=45)
    base = (
        base_chart()
        .transform_calculate(when="toDate(datum.date)")
        .encode(
            x=date_axis(),
            y=share_axis("Coverage", shares, "coverage", zero=False),
            color=alt.Color("estimator:N", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("crawl:N"),
                alt.Tooltip("date:N"),
                alt.Tooltip("estimator:N"),
                alt.Tooltip("coverage:Q", format=".1%"),
            ],
        )
    )
    lines = base.mark_line(strokeWidth=1, opacity=0.6)
    points = base.mark_point(size=28).encode(
        shape=alt.Shape("estimator:N", scale=scale, legend=legend),
        opacity=lit_opacity(CRAWL),
        strokeWidth=lit_width(CRAWL, 1.3, 2.6),
    )
    return [lines, pickable(points, CRAWL)]


def _describe_agreement(estimates: Estimates, chosen: list[EstimatorRow]) -> str:
    agreement = estimates.agreement
    grade = f"Grade {agreement.grade}: {agreement.reason}" if agreement.grade != "none" else None
    return join(
        f"Coverage of each crawl by {number_of(len(chosen), 'estimator')}: "
        f"{', '.join(row.name for row in chosen)}.",
        _say_spread(estimates),
        grade,
        "They are made from the same crawls: agreement is needed for trust, but does not prove "
        "that they are right.",
    )


def _say_spread(estimates: Estimates) -> str:
    spread = estimates.agreement.spread
    if spread is None:
        return ""
    if spread > math.log(_MUCH):
        return f"The largest typical coverage is {math.exp(spread):.1f} times the smallest."
    return f"The largest typical coverage exceeds the smallest by {percent(math.expm1(spread))}."
