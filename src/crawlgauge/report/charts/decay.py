"""Figure 1b of the paper: the further apart two crawls are, the less they share."""

import altair as alt

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import names, percent, span, things
from crawlgauge.report.charts.drawing import (
    Picture,
    base_chart,
    lag_axis,
    log_share_axis,
    significant,
)
from crawlgauge.report.charts.pair_rows import (
    CONTAINMENT_TITLE,
    DECAY_HEIGHT,
    list_pairs,
    pair_points,
    say_left_out,
    shared_pairs,
)
from crawlgauge.report.words import join, number_of

__all__ = ["draw_decay", "draw_decay_shapes"]


def draw_decay(estimates: Estimates) -> Picture | str:
    """Draw the containment of each pair of crawls against the time between them."""
    pairs, noun = shared_pairs(estimates), things(estimates.level)
    if not pairs:
        return "no two crawls share anything"
    axis = log_share_axis(CONTAINMENT_TITLE, [pair.containment for pair in pairs])
    points = pair_points(noun, len(pairs)).encode(
        x=lag_axis(max(pair.lag_years for pair in pairs)), y=axis
    )
    n_pairs = number_of(len(pairs), "pair")
    return Picture(
        rows=list_pairs(estimates, shared=True),
        layers=[points],
        caption=join(
            f"{n_pairs} of crawls: the share of the earlier crawl's {noun} that the later one "
            "holds as well, by the time between them. A steady loss would be a straight line on "
            "this scale.",
            _say_ends(estimates),
            say_left_out(estimates),
        ),
        alternative=join(
            f"Scatter of {n_pairs}: time difference across, containment up.", _say_ends(estimates)
        ),
        height=DECAY_HEIGHT,
    )


def _say_ends(estimates: Estimates) -> str:
    pairs = sorted(shared_pairs(estimates), key=lambda pair: pair.lag_years)
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


def draw_decay_shapes(estimates: Estimates) -> Picture | str:
    """Draw the competing shapes of decay through the containments of all pairs."""
    curves, pairs = estimates.decay_curves, shared_pairs(estimates)
    if not curves or not pairs:
        return "the pairs are too few, or too alike in time, to fit a shape of decay"
    rows = [{"series": "pair", **row} for row in list_pairs(estimates, shared=True)]
    rows += [
        {
            "series": curve.name,
            "lag_years": significant(lag),
            "containment": significant(share),
        }
        for curve in curves
        for lag, share in zip(curve.lags_years, curve.containment, strict=True)
    ]
    shown = [share for curve in curves for share in curve.containment if share > 0]
    x = lag_axis(max(float(row["lag_years"] or 0) for row in rows))
    y = log_share_axis(CONTAINMENT_TITLE, [*shown, *(pair.containment for pair in pairs)])
    legend = alt.Legend(title="Shape of decay", symbolType="stroke", symbolSize=300)
    scale = alt.Scale(domain=[curve.name for curve in curves])
    points = pair_points(things(estimates.level), len(pairs), style="muted")
    lines = base_chart().transform_filter("datum.series !== 'pair'").mark_line(strokeWidth=2)
    return Picture(
        rows=rows,
        layers=[
            points.transform_filter("datum.series === 'pair'").encode(x=x, y=y),
            lines.encode(
                x=x,
                y=y,
                color=alt.Color("series:N", scale=scale, legend=legend),
                strokeDash=alt.StrokeDash("series:N", scale=scale, legend=legend),
            ),
        ],
        caption=_describe_shapes(estimates),
        alternative=(
            f"Scatter of {number_of(len(pairs), 'pair')} with {number_of(len(curves), 'curve')}. "
            f"At time difference zero: {_list_coverages(estimates)}."
        ),
        height=DECAY_HEIGHT,
    )


def _describe_shapes(estimates: Estimates) -> str:
    curves = estimates.decay_curves
    meanings = join(
        *(f"{c.name.capitalize()}: {c.meaning[:1].lower()}{c.meaning[1:]}" for c in curves)
    )
    noun = things(estimates.level)
    pairs = f"{number_of(len(shared_pairs(estimates)), 'pair')} of crawls"
    if len(curves) == 1:
        return join(
            f"The shape that the model assumes, through {pairs}; at time difference "
            f"zero it gives the typical coverage, {_list_coverages(estimates)}. {meanings}",
            "There are too few pairs to compare it with other shapes.",
            say_left_out(estimates),
        )
    coverages = [curve.coverage for curve in curves]
    return join(
        f"{number_of(len(curves), 'shape')} of decay through {pairs}. They part at "
        f"time difference zero, where no pair is, and give a typical coverage of "
        f"{_list_coverages(estimates)}. {meanings}",
        f"The choice of shape alone moves it by {percent(max(coverages) / min(coverages) - 1)}.",
        _say_curvature(estimates),
        f"A coverage above 100 % is impossible: no crawl holds more {noun} than there are."
        if max(coverages) > 1
        else None,
        say_left_out(estimates),
    )


def _say_curvature(estimates: Estimates) -> str | None:
    found = [check for check in estimates.checks if check.id == "curvature"]
    return found[0].message if found and found[0].status in ("warn", "fail") else None


def _list_coverages(estimates: Estimates) -> str:
    return names([f"{percent(c.coverage)} ({c.name})" for c in estimates.decay_curves])
