"""Figure 1b of the paper: the further apart two crawls are, the less they share."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import names, percent, span, things
from crawlgauge.report.charts.chart import Cell, Chart, NoChart
from crawlgauge.report.charts.drawing import (
    PAIR,
    Rows,
    base_chart,
    lag_axis,
    lit_opacity,
    lit_width,
    log_share_axis,
    pickable,
    significant,
    to_specification,
)
from crawlgauge.report.charts.pair_rows import (
    PAIR_COLUMNS,
    logarithmic_pairs,
    pair_tooltip,
    say_left_out,
)
from crawlgauge.report.words import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["CONTAINMENT_TITLE", "DECAY_HEIGHT", "draw_decay", "draw_decay_shapes", "pair_points"]


# -------------------- figure 1b of the paper: the further apart two crawls are, the less they share


_DECAY_NAME = "decay"
CONTAINMENT_TITLE = "Share found in the later crawl (log)"
"""Of all axes of containments."""

DECAY_HEIGHT = 190
"""Of all figures with time differences, so that they can stand side by side."""

_MANY = 500
_SIZE, _SMALL_SIZE = 26, 7
_OPACITY, _SMALL_OPACITY = 0.65, 0.4


def draw_decay(estimates: Estimates) -> Chart | NoChart:
    """Draw the containment of each pair of crawls against the time between them.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Containment of pairs of crawls against the time between them, on a logarithmic scale"
    rows = logarithmic_pairs(estimates)
    if not rows:
        return NoChart(name=_DECAY_NAME, title=title, reason="no two crawls share anything")
    pairs = [pair for pair in estimates.residuals if pair.n_shared]
    noun = things(estimates.level)
    axis = log_share_axis(CONTAINMENT_TITLE, [pair.containment for pair in pairs])
    points = pair_points(noun, len(rows)).encode(
        x=lag_axis(max(pair.lag_years for pair in pairs)), y=axis
    )
    return Chart(
        name=_DECAY_NAME,
        title=title,
        caption=_describe_decay(estimates),
        alternative=join(
            f"Scatter of {number_of(len(rows), 'pair')}: time difference across, containment up.",
            _say_ends(estimates),
        ),
        columns=PAIR_COLUMNS,
        rows=rows,
        specification=to_specification([points], PAIR_COLUMNS, rows, height=DECAY_HEIGHT),
    )


def pair_points(noun: str, n_pairs: int, style: str = "data") -> "alt.Chart":
    """Return a point for each row of pairs, smaller and fainter where there are many.

    Parameters
    ----------
    noun
        What is counted, such as URLs.
    n_pairs
        How many.
    style
        ``data``, or ``muted`` where something else stands before them.
    """
    is_many = n_pairs > _MANY
    points = base_chart().mark_point(style=style, size=_SMALL_SIZE if is_many else _SIZE)
    return pickable(
        points.encode(
            opacity=lit_opacity(PAIR, _SMALL_OPACITY if is_many else _OPACITY),
            strokeWidth=lit_width(PAIR, 1, 2.2),
            tooltip=pair_tooltip(noun),
        ),
        PAIR,
    )


def _describe_decay(estimates: Estimates) -> str:
    noun = things(estimates.level)
    n_pairs = sum(pair.n_shared > 0 for pair in estimates.residuals)
    return join(
        f"{number_of(n_pairs, 'pair')} of crawls: the share of the earlier crawl's {noun} that "
        "the later one holds as well, by the time between them. A steady loss would be a straight "
        "line on this scale.",
        _say_ends(estimates),
        say_left_out(estimates),
    )


def _say_ends(estimates: Estimates) -> str:
    pairs = sorted(
        (pair for pair in estimates.residuals if pair.n_shared), key=lambda pair: pair.lag_years
    )
    first, last = pairs[0], pairs[-1]
    found = f"The closest crawls ({first.a} and {first.b}, {span(first.lag_years)} apart) give "
    found += percent(first.containment)
    if last.lag_years == first.lag_years:
        return f"{found}."
    return (
        f"{found}, the furthest ({last.a} and {last.b}, {span(last.lag_years)}) "
        f"{percent(last.containment)}."
    )


# ----------- shapes that the decay may have, which agree where there are pairs and part before them


_SHAPES_NAME = "decay-shapes"
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
        return NoChart(name=_SHAPES_NAME, title=title, reason=reason)
    rows = _list_rows(estimates, pairs)
    return Chart(
        name=_SHAPES_NAME,
        title=title,
        caption=_describe_shapes(estimates),
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


def _describe_shapes(estimates: Estimates) -> str:
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
