"""Pairs of crawls as heatmaps: what they share, and how far that is from what one expects."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from crawlgauge.model.estimates import Estimates, PairResidual
from crawlgauge.model.phrases import percent, things
from crawlgauge.report.charts.chart import Cell
from crawlgauge.report.charts.drawing import (
    PAIR,
    Picture,
    Row,
    base_chart,
    crawl_axis,
    heatmap_size,
    lit_opacity,
    lit_width,
    numbers_fit,
    pickable,
    significant,
    tooltip,
)
from crawlgauge.report.charts.pair_rows import list_pairs, pair_tooltip, shared_pairs
from crawlgauge.report.words import join, number_of, spread

__all__ = ["draw_containment", "draw_residuals"]


def _heatmap_base(estimates: Estimates, down: str, across: str) -> alt.Chart:
    labels = [crawl.label for crawl in estimates.crawls]
    return base_chart().encode(
        y=crawl_axis(alt.Y, "a", down, labels),
        x=crawl_axis(alt.X, "b", across, labels, labelAngle=-90),
    )


def _cells(base: alt.Chart, color: alt.Color, tips: Sequence[alt.Tooltip]) -> alt.Chart:
    cells = base.mark_rect().encode(
        color=color,
        opacity=lit_opacity(PAIR),
        strokeWidth=lit_width(PAIR, 0, 1.5),
        tooltip=tips,
    )
    return pickable(cells, PAIR)


def _numbers(base: alt.Chart, text: Any, size: int, is_dark: str, number: str) -> alt.Chart:  # noqa: ANN401
    """Write a number into each cell, white where the cell is dark."""
    white = alt.when(is_dark).then(alt.value("#ffffff"))
    numbers = base.mark_text(fontSize=size).encode(
        text=text,
        color=white.otherwise(alt.value("#000000")),
        opacity=lit_opacity(PAIR),
    )
    written: alt.Chart = numbers.transform_calculate(number=number)
    return written


# --------------------------- figure 1a of the paper: how much of each crawl every other crawl holds


_FORWARD = "found in a later crawl"
_BACKWARD = "found in an earlier crawl"
_SELF = "estimated self-intersection"
_SWAPPED = {"a": "b", "date_a": "date_b", "n_a": "n_b", "containment": "containment_backward"}


def draw_containment(estimates: Estimates) -> Picture | str:
    """Draw the containment of each crawl in each other as a heatmap.

    The diagonal holds the self-intersection: what the decay reaches at time difference zero.
    """
    if not estimates.residuals:
        return "no overlap of two crawls is known"
    rows, n = _list_cells(estimates), len(estimates.crawls)
    pairs = sorted(estimates.residuals, key=lambda pair: pair.containment)
    least, most = pairs[0], pairs[-1]
    return Picture(
        rows=rows,
        layers=_containment_layers(estimates, rows),
        caption=_describe_containment(estimates),
        alternative=(
            f"Heatmap of {n} by {n} crawls. Of {most.a}, {percent(most.containment)} are found in "
            f"{most.b}, the most of all pairs; of {least.a}, {percent(least.containment)} in "
            f"{least.b}, the least."
        ),
        **heatmap_size(n),
    )


def _list_cells(estimates: Estimates) -> list[dict[str, Cell]]:
    pairs = list_pairs(estimates)
    cells: list[dict[str, Cell]] = [{**pair, "kind": _FORWARD} for pair in pairs]
    cells += [{**_swap(pair), "kind": _BACKWARD} for pair in pairs]
    for crawl, share in zip(estimates.crawls, estimates.paper.self_intersections, strict=True):
        if share is not None:
            cell: dict[str, Cell] = {"containment": significant(share), "kind": _SELF}
            for side in "ab":
                cell |= {
                    side: crawl.label,
                    f"date_{side}": crawl.date.isoformat(),
                    f"n_{side}": crawl.n_urls,
                }
            cells.append(cell)
    return cells


def _swap(pair: dict[str, Cell]) -> dict[str, Cell]:
    """Return a pair seen from its later crawl; expectation and R are of the other direction."""
    swapped = {**pair, "expected": None, "r": None}
    for one, other in _SWAPPED.items():
        swapped[one], swapped[other] = pair[other], pair[one]
    return swapped


def _containment_layers(estimates: Estimates, rows: Sequence[Row]) -> list[alt.Chart]:
    noun = things(estimates.level)
    shares = [float(row["containment"] or 0) for row in rows]
    of, found = f"Of this crawl's {noun} …", "… the share found in this crawl"
    base = _heatmap_base(estimates, of, found)
    color = alt.Color(
        "containment:Q",
        title="Containment",
        scale=alt.Scale(domain=[min(shares), max(shares)]),
        legend=alt.Legend(format="~%", tickCount=5, gradientLength=180),
    )
    tips = [*tooltip(("kind:N", "share of a", None)), *pair_tooltip(noun)]
    own = base.transform_filter(f"datum.kind === '{_SELF}'")
    layers = [_cells(base, color, tips), own.mark_rect(style="outline").encode()]
    if numbers_fit(len(estimates.crawls)):
        is_dark = f"datum.containment > {(min(shares) + max(shares)) / 2}"
        number = "format(100 * datum.containment, '.0f')"
        layers.append(_numbers(base, alt.Text("number:N"), 8, is_dark, number))
    return layers


def _describe_containment(estimates: Estimates) -> str:
    noun, paper, n = things(estimates.level), estimates.paper, len(estimates.crawls)
    forward = [pair.containment for pair in estimates.residuals]
    n_missing = n * (n - 1) // 2 - len(estimates.residuals)
    self_known = [share for share in paper.self_intersections if share is not None]
    diagonal = "The diagonal is empty, as two time differences are needed for a line."
    if self_known:
        diagonal = (
            f"On the diagonal, framed: the self-intersection, which the line of each starting "
            f"crawl, or of all where it has none, reaches at time difference zero "
            f"({spread(self_known)}); it is an estimate and was not observed."
        )
    return join(
        f"Containment of {number_of(n, 'crawl')}: the share of the row's {noun} that the column's "
        f"crawl holds as well. Above the diagonal earlier crawls are looked for in later ones "
        f"({spread(forward)}), below it later ones in earlier ones.",
        "Numbers are per cent." if numbers_fit(n) else None,
        diagonal,
        "A self-intersection above 100 % is impossible: the line does not hold."
        if any(share > 1 for share in self_known)
        else None,
        f"{number_of(n_missing, 'pair')} not known and left blank." if n_missing else None,
    )


# ------------------------- which pairs of crawls share more or less than the published line expects


_CLOSE = 0.05
_DARK = 0.6
# The colours always reach so far: what differs by less is not made to look like much.
_LEAST_SPAN = 0.05
_CANNOT_SHOW = (
    "A preference that all crawls share raises all overlaps alike and is not seen here: it goes "
    "into the line."
)


def draw_residuals(estimates: Estimates) -> Picture | str:
    """Draw the residuals log R of all pairs as a heatmap."""
    rows = [
        {
            **row,
            "log_r": significant(pair.log_r),
            "log_r_two_way": significant(pair.log_r_two_way),
        }
        for row, pair in zip(
            list_pairs(estimates, shared=True), shared_pairs(estimates), strict=True
        )
        if pair.log_r is not None
    ]
    if not rows:
        return "without two different times between crawls there is no line to compare with"
    return Picture(
        rows=rows,
        layers=_residuals_layers(estimates),
        caption=_describe_residuals(estimates),
        alternative=join(
            f"Heatmap of {number_of(len(rows), 'pair')}, earlier crawls down and later ones "
            "across.",
            _say_extremes(estimates),
        ),
        **heatmap_size(len(estimates.crawls)),
    )


def _residuals_layers(estimates: Estimates) -> list[alt.Chart]:
    n_crawls = len(estimates.crawls)
    most = max(_LEAST_SPAN, *(abs(pair.log_r or 0) for pair in _fitted(estimates)))
    base = _heatmap_base(estimates, "Earlier crawl", "Later crawl")
    color = alt.Color(
        "log_r:Q",
        title="log R (more than expected above 0)",
        scale=alt.Scale(domain=[-most, most], domainMid=0),
        legend=alt.Legend(
            gradientLength=180,
            values=_legend_values(most),
            labelExpr="datum.value === 0 ? '0' : format(datum.value, '+.3~f')",
        ),
    )
    tips = [
        *pair_tooltip(things(estimates.level)),
        *tooltip(
            ("log_r:Q", "log R", "+.3f"),
            ("log_r_two_way:Q", "log R from the two-way model", "+.3f"),
        ),
    ]
    cells = _cells(base, color, tips)
    if numbers_fit(n_crawls):
        is_dark = f"abs(datum.log_r) > {_DARK * most}"
        number = "abs(datum.log_r) < 0.005 ? '0' : format(100 * datum.log_r, '+.0f')"
        return [cells, _numbers(base, "number:N", 7, is_dark, number)]
    # What lies below zero is marked: blue and orange look the same in print without colours.
    length = 0.55 * (heatmap_size(n_crawls)["height"] / n_crawls)
    signs = base.transform_filter("datum.log_r < 0").mark_tick(
        orient="horizontal", size=length, thickness=0.6, color="#000000"
    )
    return [cells, signs]


def _legend_values(most: float) -> list[float]:
    digit = 10.0 ** math.floor(math.log10(most / 2))
    step = digit * math.floor(most / 2 / digit)
    return [-2 * step, -step, 0.0, step, 2 * step]


def _fitted(estimates: Estimates) -> list[PairResidual]:
    return [pair for pair in estimates.residuals if pair.log_r is not None]


def _describe_residuals(estimates: Estimates) -> str:
    pairs = _fitted(estimates)
    n_close = sum(abs(pair.log_r or 0) < math.log1p(_CLOSE) for pair in pairs)
    is_numbered = numbers_fit(len(estimates.crawls))
    signs = "Numbers are 100 log R." if is_numbered else "Cells below zero bear a dash."
    return join(
        f"Natural logarithm of R, the containment over what the published line expects, for "
        f"{number_of(len(pairs), 'pair')}. {percent(n_close / len(pairs))} of them lie within "
        f"{percent(_CLOSE)} of the line.",
        _say_extremes(estimates),
        signs,
        f"A column of one colour is a crawl with another coverage, a row one with other kinds of "
        f"{things(estimates.level)}, a stripe along the diagonal a decay that is no straight line.",
        _CANNOT_SHOW,
    )


def _say_extremes(estimates: Estimates) -> str:
    pairs = sorted(_fitted(estimates), key=lambda pair: pair.log_r or 0)
    least, most = pairs[0], pairs[-1]
    return f"Largest: {_say_pair(most)}" + (
        "." if least is most else f"; smallest: {_say_pair(least)}."
    )


def _say_pair(pair: PairResidual) -> str:
    return f"{pair.a} and {pair.b}, R = {math.exp(pair.log_r or 0):.2f}"
