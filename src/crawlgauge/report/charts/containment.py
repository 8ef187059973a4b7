"""Figure 1a of the paper: how much of each crawl every other crawl holds."""

from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import percent, things
from crawlgauge.report.charts.axes import crawl_axis
from crawlgauge.report.charts.chart import Cell, Chart, NoChart
from crawlgauge.report.charts.drawing import (
    PAIR,
    base_chart,
    lit_opacity,
    lit_width,
    pickable,
    significant,
    to_specification,
)
from crawlgauge.report.charts.heatmap import heatmap_size, numbers_fit
from crawlgauge.report.charts.pair_rows import PAIR_COLUMNS, list_pairs, pair_tooltip
from crawlgauge.report.charts.sentences import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_containment"]

_NAME = "containment"
_COLUMNS = (*PAIR_COLUMNS, "kind")
_FORWARD = "found in a later crawl"
_BACKWARD = "found in an earlier crawl"
_SELF = "estimated self-intersection"
_SWAPPED = {"a": "b", "date_a": "date_b", "n_a": "n_b", "containment": "containment_backward"}


def draw_containment(estimates: Estimates) -> Chart | NoChart:
    """Draw the containment of each crawl in each other as a heatmap.

    The diagonal holds the self-intersection: what the decay reaches at time difference zero.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun = things(estimates.level)
    title = (
        f"Share of each crawl's {noun} found in each other crawl, with the estimated "
        "self-intersection on the diagonal"
    )
    if not estimates.residuals:
        return NoChart(name=_NAME, title=title, reason="no overlap of two crawls is known")
    rows = _list_cells(estimates)
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates),
        alternative=_describe_in_words(estimates),
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(estimates, rows), _COLUMNS, rows, **heatmap_size(len(estimates.crawls))
        ),
    )


def _list_cells(estimates: Estimates) -> tuple[tuple[Cell, ...], ...]:
    pairs = [dict(zip(PAIR_COLUMNS, row, strict=True)) for row in list_pairs(estimates)]
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
    return tuple(tuple(cell.get(column) for column in _COLUMNS) for cell in cells)


def _swap(pair: dict[str, Cell]) -> dict[str, Cell]:
    """Return a pair seen from its later crawl; expectation and R are of the other direction."""
    swapped = {**pair, "expected": None, "r": None}
    for one, other in _SWAPPED.items():
        swapped[one], swapped[other] = pair[other], pair[one]
    return swapped


def _layers(estimates: Estimates, rows: tuple[tuple[Cell, ...], ...]) -> "list[alt.Chart]":
    import altair as alt

    noun, labels = things(estimates.level), [crawl.label for crawl in estimates.crawls]
    shares = [float(row[_COLUMNS.index("containment")] or 0) for row in rows]
    middle = (min(shares) + max(shares)) / 2
    of, found = f"Of this crawl's {noun} …", "… the share found in this crawl"
    base = base_chart().encode(
        y=crawl_axis(alt.Y, "a", of, labels),
        x=crawl_axis(alt.X, "b", found, labels, labelAngle=-90),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "containment:Q",
            title="Containment",
            scale=alt.Scale(domain=[min(shares), max(shares)]),
            legend=alt.Legend(format="~%", tickCount=5, gradientLength=180),
        ),
        opacity=lit_opacity(PAIR),
        strokeWidth=lit_width(PAIR, 0, 1.5),
        tooltip=[alt.Tooltip("kind:N", title="share of a"), *pair_tooltip(noun)],
    )
    layers = [pickable(cells, PAIR)]
    own = base.transform_filter(f"datum.kind === '{_SELF}'")
    layers.append(own.mark_rect(style="outline").encode())
    if numbers_fit(len(labels)):
        dark = alt.when(f"datum.containment > {middle}")
        layers.append(
            base.mark_text(fontSize=8)
            .encode(
                text=alt.Text("number:N"),
                color=dark.then(alt.value("#ffffff")).otherwise(alt.value("#000000")),
                opacity=lit_opacity(PAIR),
            )
            .transform_calculate(number="format(100 * datum.containment, '.0f')")
        )
    return layers


def _describe(estimates: Estimates) -> str:
    noun, paper, n = things(estimates.level), estimates.paper, len(estimates.crawls)
    forward = [pair.containment for pair in estimates.residuals]
    n_missing = n * (n - 1) // 2 - len(estimates.residuals)
    self_known = [share for share in paper.self_intersections if share is not None]
    diagonal = "The diagonal is empty, as two time differences are needed for a line."
    if self_known:
        diagonal = (
            f"On the diagonal, framed: the self-intersection, which the line of each starting "
            f"crawl, or of all where it has none, reaches at time difference zero "
            f"({_spread(self_known)}); it is an estimate and was not observed."
        )
    return join(
        f"Containment of {number_of(n, 'crawl')}: the share of the row's {noun} that the column's "
        f"crawl holds as well. Above the diagonal earlier crawls are looked for in later ones "
        f"({_spread(forward)}), below it later ones in earlier ones.",
        "Numbers are per cent." if numbers_fit(n) else None,
        diagonal,
        _say_impossible(self_known),
        f"{number_of(n_missing, 'pair')} not known and left blank." if n_missing else None,
    )


def _say_impossible(shares: list[float]) -> str:
    above = [share for share in shares if share > 1]
    return "A self-intersection above 100 % is impossible: the line does not hold." if above else ""


def _spread(shares: list[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def _describe_in_words(estimates: Estimates) -> str:
    pairs = sorted(estimates.residuals, key=lambda pair: pair.containment)
    least, most = pairs[0], pairs[-1]
    return (
        f"Heatmap of {len(estimates.crawls)} by {len(estimates.crawls)} crawls. "
        f"Of {most.a}, {percent(most.containment)} are found in {most.b}, the most of all pairs; "
        f"of {least.a}, {percent(least.containment)} in {least.b}, the least."
    )
