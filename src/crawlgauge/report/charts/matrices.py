"""Which pairs of crawls share more or less than the published line expects."""

import math
from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates, PairResidual
from crawlgauge.model.phrases import percent, things
from crawlgauge.report.charts.chart import Cell, Chart, NoChart
from crawlgauge.report.charts.drawing import (
    PAIR,
    Rows,
    base_chart,
    cell_size,
    crawl_axis,
    heatmap_size,
    lit_opacity,
    lit_width,
    numbers_fit,
    pickable,
    significant,
    to_specification,
)
from crawlgauge.report.charts.pair_rows import (
    PAIR_COLUMNS,
    list_pairs,
    logarithmic_pairs,
    pair_tooltip,
)
from crawlgauge.report.words import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_containment", "draw_residuals"]


# --------------------------- figure 1a of the paper: how much of each crawl every other crawl holds


_CONTAINMENT_NAME = "containment"
_CONTAINMENT_COLUMNS = (*PAIR_COLUMNS, "kind")
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
        return NoChart(
            name=_CONTAINMENT_NAME, title=title, reason="no overlap of two crawls is known"
        )
    rows = _list_cells(estimates)
    return Chart(
        name=_CONTAINMENT_NAME,
        title=title,
        caption=_describe_containment(estimates),
        alternative=_describe_in_words(estimates),
        columns=_CONTAINMENT_COLUMNS,
        rows=rows,
        specification=to_specification(
            _containment_layers(estimates, rows),
            _CONTAINMENT_COLUMNS,
            rows,
            **heatmap_size(len(estimates.crawls)),
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
    return tuple(tuple(cell.get(column) for column in _CONTAINMENT_COLUMNS) for cell in cells)


def _swap(pair: dict[str, Cell]) -> dict[str, Cell]:
    """Return a pair seen from its later crawl; expectation and R are of the other direction."""
    swapped = {**pair, "expected": None, "r": None}
    for one, other in _SWAPPED.items():
        swapped[one], swapped[other] = pair[other], pair[one]
    return swapped


def _containment_layers(
    estimates: Estimates, rows: tuple[tuple[Cell, ...], ...]
) -> "list[alt.Chart]":
    import altair as alt

    noun, labels = things(estimates.level), [crawl.label for crawl in estimates.crawls]
    shares = [float(row[_CONTAINMENT_COLUMNS.index("containment")] or 0) for row in rows]
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


# ------------------------- which pairs of crawls share more or less than the published line expects


_RESIDUALS_NAME = "residuals"
_RESIDUALS_COLUMNS = (*PAIR_COLUMNS, "log_r", "log_r_two_way")
_CLOSE = 0.05
_DARK = 0.6
# The colours always reach so far: what differs by less is not made to look like much.
_LEAST_SPAN = 0.05
_CANNOT_SHOW = (
    "A preference that all crawls share raises all overlaps alike and is not seen here: it goes "
    "into the line."
)


def draw_residuals(estimates: Estimates) -> Chart | NoChart:
    """Draw the residuals log R of all pairs as a heatmap.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Residuals log R: pairs that share more or less than the published line expects"
    rows = _list_rows(estimates)
    if not rows:
        reason = "without two different times between crawls there is no line to compare with"
        return NoChart(name=_RESIDUALS_NAME, title=title, reason=reason)
    return Chart(
        name=_RESIDUALS_NAME,
        title=title,
        caption=_describe_residuals(estimates),
        alternative=join(
            f"Heatmap of {number_of(len(rows), 'pair')}, earlier crawls down and later ones "
            "across.",
            _say_extremes(estimates),
        ),
        columns=_RESIDUALS_COLUMNS,
        rows=rows,
        specification=to_specification(
            _residuals_layers(estimates),
            _RESIDUALS_COLUMNS,
            rows,
            **heatmap_size(len(estimates.crawls)),
        ),
    )


def _list_rows(estimates: Estimates) -> Rows:
    shared = [pair for pair in estimates.residuals if pair.n_shared]
    return tuple(
        (*row, significant(pair.log_r), significant(pair.log_r_two_way))
        for row, pair in zip(logarithmic_pairs(estimates), shared, strict=True)
        if pair.log_r is not None
    )


def _residuals_layers(estimates: Estimates) -> "list[alt.Chart]":
    import altair as alt

    noun, labels = things(estimates.level), [crawl.label for crawl in estimates.crawls]
    most = max(_LEAST_SPAN, *(abs(pair.log_r or 0) for pair in _fitted(estimates)))
    base = base_chart().encode(
        y=crawl_axis(alt.Y, "a", "Earlier crawl", labels),
        x=crawl_axis(alt.X, "b", "Later crawl", labels, labelAngle=-90),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "log_r:Q",
            title="log R (more than expected above 0)",
            scale=alt.Scale(domain=[-most, most], domainMid=0),
            legend=alt.Legend(
                gradientLength=180,
                values=_legend_values(most),
                labelExpr="datum.value === 0 ? '0' : format(datum.value, '+.3~f')",
            ),
        ),
        opacity=lit_opacity(PAIR),
        strokeWidth=lit_width(PAIR, 0, 1.5),
        tooltip=[
            *pair_tooltip(noun),
            alt.Tooltip("log_r:Q", title="log R", format="+.3f"),
            alt.Tooltip("log_r_two_way:Q", title="log R from the two-way model", format="+.3f"),
        ],
    )
    if not numbers_fit(len(labels)):
        return [pickable(cells, PAIR), _minus_signs(base, len(labels))]
    far = alt.when(f"abs(datum.log_r) > {_DARK * most}").then(alt.value("#ffffff"))
    numbers = base.mark_text(fontSize=7).encode(
        text="number:N",
        color=far.otherwise(alt.value("#000000")),
        opacity=lit_opacity(PAIR),
    )
    number = "abs(datum.log_r) < 0.005 ? '0' : format(100 * datum.log_r, '+.0f')"
    return [pickable(cells, PAIR), numbers.transform_calculate(number=number)]


def _minus_signs(base: "alt.Chart", n_crawls: int) -> "alt.Chart":
    """Mark what lies below zero: blue and orange look the same in print without colours."""
    length = 0.55 * cell_size(n_crawls)
    below = base.transform_filter("datum.log_r < 0")
    signs: alt.Chart = below.mark_tick(
        orient="horizontal", size=length, thickness=0.6, color="#000000"
    )
    return signs


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
