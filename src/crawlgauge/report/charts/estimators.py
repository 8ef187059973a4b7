"""All estimators side by side, each with what it assumes."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates, EstimatorRow
from crawlgauge.model.phrases import names, percent
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    Rows,
    base_chart,
    significant,
    to_specification,
)
from crawlgauge.report.charts.sentences import join, number_of
from crawlgauge.report.range_text import with_range

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_estimators"]

_PAIRS = "from pairs, even capture assumed"
_OPEN = "from histories, with turnover"
_CLOSED = "from histories, no turnover assumed"
_KINDS = (_PAIRS, _OPEN, _CLOSED)
_OF_PAIRS = ("paper-forward", "paper-backward", "two-way", "growth")
_OF_CLOSED = (
    "lincoln-petersen",
    "chapman",
    "schnabel",
    "chao",
    "loglinear-mt",
    "loglinear-mth",
)
_ESTIMATOR_COLUMNS = ("estimator", "kind", "coverage", "persistence", "population", "is_headline")
_ROW_HEIGHT = 16


def draw_estimators(estimates: Estimates) -> Chart | NoChart:
    """Draw the typical coverage that each estimator gives.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Typical coverage by all estimators, each with other assumptions"
    known = [row for row in estimates.estimators if row.coverage is not None]
    if not known:
        reason = "no estimator gives a coverage"
        return NoChart(name="estimators", title=title, reason=reason)
    rows: Rows = tuple(
        (
            row.name,
            _kind(row.name),
            significant(row.coverage),
            significant(row.persistence),
            significant(row.population),
            "yes" if row.name == estimates.headline.estimator else "no",
        )
        for row in sorted(known, key=lambda row: _KINDS.index(_kind(row.name)))
    )
    return Chart(
        name="estimators",
        title=title,
        caption=_describe_estimators(estimates, known),
        alternative=f"A dot for each of {number_of(len(known), 'estimator')}. {_list_all(known)}.",
        columns=_ESTIMATOR_COLUMNS,
        rows=rows,
        specification=to_specification(
            _estimator_layers(estimates, rows),
            _ESTIMATOR_COLUMNS,
            rows,
            height=_ROW_HEIGHT * len(rows),
        ),
    )


def _kind(name: str) -> str:
    if name in _OF_PAIRS:
        return _PAIRS
    return _CLOSED if name in _OF_CLOSED else _OPEN


def _estimator_layers(estimates: Estimates, rows: Rows) -> "list[alt.Chart]":
    import altair as alt

    shares = [float(row[_ESTIMATOR_COLUMNS.index("coverage")] or 0) for row in rows]
    typical = estimates.headline.coverage
    most = max(*shares, typical.value or 0, shares[0])
    x = alt.X(
        "coverage:Q",
        title="Typical coverage",
        scale=alt.Scale(domain=[0, most * 1.05], nice=False),
        axis=alt.Axis(format="~%", tickCount=6, grid=True),
    )
    line = alt.Chart(alt.InlineData(values=[{}]))
    layers = []
    if typical.low is not None and typical.high is not None:
        low, high = significant(typical.low), significant(typical.high)
        band = line.mark_rect(style="band", clip=True)
        layers.append(band.encode(x=alt.datum(low), x2=alt.datum(high)))
    if most > 1:
        layers.append(line.mark_rule(style="guide").encode(x=alt.datum(1)))
    kinds = [kind for kind in _KINDS if any(row[1] == kind for row in rows)]
    scale = alt.Scale(domain=kinds)
    legend = alt.Legend(title="Estimated", direction="vertical", symbolSize=45)
    dots = (
        base_chart()
        .mark_point(filled=True, size=50)
        .encode(
            x=x,
            y=alt.Y(
                "estimator:N",
                title=None,
                sort=[str(row[0]) for row in rows],
                axis=alt.Axis(grid=True, labelLimit=120),
            ),
            shape=alt.Shape("kind:N", scale=scale, legend=legend),
            color=alt.Color("kind:N", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("estimator:N"),
                alt.Tooltip("coverage:Q", format=".1%"),
                alt.Tooltip("persistence:Q", format=".1%"),
                alt.Tooltip("population:Q", format=",.0f"),
            ],
        )
    )
    ring = (
        base_chart()
        .transform_filter("datum.is_headline === 'yes'")
        .mark_point(style="outline", size=150, shape="circle")
    )
    order = [str(row[0]) for row in rows]
    return [*layers, dots, ring.encode(x=x, y=alt.Y("estimator:N", sort=order))]


def _describe_estimators(estimates: Estimates, known: list[EstimatorRow]) -> str:
    headline = estimates.headline
    lacking = [row.name for row in estimates.estimators if row.coverage is None]
    typical = headline.coverage
    ring = None
    if headline.estimator is not None and typical.value is not None:
        drawn = "Ringed, with its range as a band" if typical.low is not None else "Ringed"
        ring = f"{drawn}: the headline, {headline.estimator}, {with_range(typical, percent)}."
    closed = [row for row in known if _kind(row.name) == _CLOSED]
    return join(
        f"{number_of(len(known), 'estimator')} of the typical coverage. {_list_all(known)}.",
        ring,
        "Estimators that assume no turnover take what is gone, or not there yet, for missed, and "
        "are shown for comparison only."
        if closed
        else None,
        f"No value: {names(lacking)}." if lacking else None,
        _say_impossible(known),
    )


def _list_all(known: list[EstimatorRow]) -> str:
    kinds = [
        (
            kind,
            [
                f"{row.name} {percent(row.coverage or 0)}"
                for row in known
                if _kind(row.name) == kind
            ],
        )
        for kind in _KINDS
    ]
    return "; ".join(
        f"{kind}: {', '.join(shares)}" for kind, shares in kinds if shares
    ).capitalize()


def _say_impossible(known: list[EstimatorRow]) -> str | None:
    above = [row.name for row in known if (row.coverage or 0) > 1]
    if not above:
        return None
    return f"Above 100 % (dashed), which is impossible: {names(above)}."
