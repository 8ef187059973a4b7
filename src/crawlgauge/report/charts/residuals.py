"""Which pairs of crawls share more or less than the published line expects."""

import math
from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates, PairResidual
from crawlgauge.model.phrases import percent, things
from crawlgauge.report.charts.axes import crawl_axis
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    PAIR,
    Rows,
    base_chart,
    lit_opacity,
    lit_width,
    pickable,
    significant,
    to_specification,
)
from crawlgauge.report.charts.heatmap import cell_size, heatmap_size, numbers_fit
from crawlgauge.report.charts.pair_rows import PAIR_COLUMNS, logarithmic_pairs, pair_tooltip
from crawlgauge.report.charts.sentences import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_residuals"]

_NAME = "residuals"
_COLUMNS = (*PAIR_COLUMNS, "log_r", "log_r_two_way")
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
        return NoChart(name=_NAME, title=title, reason=reason)
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates),
        alternative=join(
            f"Heatmap of {number_of(len(rows), 'pair')}, earlier crawls down and later ones "
            "across.",
            _say_extremes(estimates),
        ),
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(estimates), _COLUMNS, rows, **heatmap_size(len(estimates.crawls))
        ),
    )


def _list_rows(estimates: Estimates) -> Rows:
    shared = [pair for pair in estimates.residuals if pair.n_shared]
    return tuple(
        (*row, significant(pair.log_r), significant(pair.log_r_two_way))
        for row, pair in zip(logarithmic_pairs(estimates), shared, strict=True)
        if pair.log_r is not None
    )


def _layers(estimates: Estimates) -> "list[alt.Chart]":
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


def _describe(estimates: Estimates) -> str:
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
