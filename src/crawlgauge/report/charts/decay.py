"""Figure 1b of the paper: the further apart two crawls are, the less they share."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import percent, span, things
from crawlgauge.report.charts.axes import lag_axis, log_share_axis
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    PAIR,
    base_chart,
    lit_opacity,
    lit_width,
    pickable,
    to_specification,
)
from crawlgauge.report.charts.pair_rows import (
    PAIR_COLUMNS,
    logarithmic_pairs,
    pair_tooltip,
    say_left_out,
)
from crawlgauge.report.charts.sentences import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["CONTAINMENT_TITLE", "DECAY_HEIGHT", "draw_decay", "pair_points"]

_NAME = "decay"
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
        return NoChart(name=_NAME, title=title, reason="no two crawls share anything")
    pairs = [pair for pair in estimates.residuals if pair.n_shared]
    noun = things(estimates.level)
    axis = log_share_axis(CONTAINMENT_TITLE, [pair.containment for pair in pairs])
    points = pair_points(noun, len(rows)).encode(
        x=lag_axis(max(pair.lag_years for pair in pairs)), y=axis
    )
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates),
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


def _describe(estimates: Estimates) -> str:
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
