"""Shapes that the decay may have, which agree where there are pairs and part before them."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import names, percent, things
from crawlgauge.report.charts.axes import lag_axis, log_share_axis
from crawlgauge.report.charts.chart import Cell, Chart, NoChart
from crawlgauge.report.charts.decay import CONTAINMENT_TITLE, DECAY_HEIGHT, pair_points
from crawlgauge.report.charts.drawing import Rows, base_chart, significant, to_specification
from crawlgauge.report.charts.pair_rows import PAIR_COLUMNS, logarithmic_pairs, say_left_out
from crawlgauge.report.charts.sentences import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_decay_shapes"]

_NAME = "decay-shapes"
_COLUMNS = ("series", *PAIR_COLUMNS)


def draw_decay_shapes(estimates: Estimates) -> Chart | NoChart:
    """Draw the competing shapes of decay through the containments of all pairs.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Shapes of decay that compete, and the coverage that each reaches at zero"
    curves, pairs = estimates.decay_curves, logarithmic_pairs(estimates)
    if not curves or not pairs:
        reason = "the pairs are too few, or too alike in time, to fit a shape of decay"
        return NoChart(name=_NAME, title=title, reason=reason)
    rows = _list_rows(estimates, pairs)
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates),
        alternative=(
            f"Scatter of {number_of(len(pairs), 'pair')} with {number_of(len(curves), 'curve')}. "
            f"At time difference zero: {_list_coverages(estimates)}."
        ),
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(estimates, rows, len(pairs)), _COLUMNS, rows, height=DECAY_HEIGHT
        ),
    )


def _list_rows(estimates: Estimates, pairs: Rows) -> Rows:
    rows: list[tuple[Cell, ...]] = [("pair", *row) for row in pairs]
    for curve in estimates.decay_curves:
        for lag, share in zip(curve.lags_years, curve.containment, strict=True):
            point = {
                "series": curve.name,
                "lag_years": significant(lag),
                "containment": significant(share),
            }
            rows.append(tuple(point.get(column) for column in _COLUMNS))
    return tuple(rows)


def _layers(estimates: Estimates, rows: Rows, n_pairs: int) -> "list[alt.Chart]":
    import altair as alt

    curves = estimates.decay_curves
    order = [curve.name for curve in curves]
    shown = [share for curve in curves for share in curve.containment if share > 0]
    shown += [pair.containment for pair in estimates.residuals if pair.n_shared]
    x = lag_axis(max(float(row[_COLUMNS.index("lag_years")] or 0) for row in rows))
    y = log_share_axis(CONTAINMENT_TITLE, shown)
    legend = alt.Legend(title="Shape of decay", symbolType="stroke", symbolSize=300)
    scale = alt.Scale(domain=order)
    points = pair_points(things(estimates.level), n_pairs, style="muted")
    return [
        points.transform_filter("datum.series === 'pair'").encode(x=x, y=y),
        base_chart()
        .transform_filter("datum.series !== 'pair'")
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("series:N", scale=scale, legend=legend),
            strokeDash=alt.StrokeDash("series:N", scale=scale, legend=legend),
        ),
    ]


def _describe(estimates: Estimates) -> str:
    curves = estimates.decay_curves
    meanings = join(*(f"{curve.name.capitalize()}: {_lower(curve.meaning)}" for curve in curves))
    noun = things(estimates.level)
    if len(curves) == 1:
        return join(
            f"The shape that the model assumes, through {_pairs(estimates)}; at time difference "
            f"zero it gives the typical coverage, {_list_coverages(estimates)}. {meanings}",
            "There are too few pairs to compare it with other shapes.",
            say_left_out(estimates),
        )
    coverages = [curve.coverage for curve in curves]
    return join(
        f"{number_of(len(curves), 'shape')} of decay through {_pairs(estimates)}. They part at "
        f"time difference zero, where no pair is, and give a typical coverage of "
        f"{_list_coverages(estimates)}. {meanings}",
        f"The choice of shape alone moves it by {percent(max(coverages) / min(coverages) - 1)}.",
        _say_curvature(estimates),
        f"A coverage above 100 % is impossible: no crawl holds more {noun} than there are."
        if max(coverages) > 1
        else None,
        say_left_out(estimates),
    )


def _pairs(estimates: Estimates) -> str:
    return f"{number_of(sum(pair.n_shared > 0 for pair in estimates.residuals), 'pair')} of crawls"


def _say_curvature(estimates: Estimates) -> str | None:
    found = [check for check in estimates.checks if check.id == "curvature"]
    return found[0].message if found and found[0].status in ("warn", "fail") else None


def _list_coverages(estimates: Estimates) -> str:
    return names([f"{percent(c.coverage)} ({c.name})" for c in estimates.decay_curves])


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
