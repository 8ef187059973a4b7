"""Coverage by stratum: a dot with its range for each, and the whole as a line."""

import altair as alt

from crawlgauge.model.phrases import percent
from crawlgauge.model.strata import Strata, StratumEstimate
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    Picture,
    base_chart,
    make_chart,
    mark_at,
    range_axis,
    significant,
    tooltip,
)
from crawlgauge.report.words import join, number_of, with_range

__all__ = ["draw_strata"]

_ROW_HEIGHT = 16
_MAX_ROWS = 40
"""As many labels as can be read on a page."""


def draw_strata(strata: Strata) -> Chart | NoChart:
    """Draw the coverage of the strata of which most is missing, with ranges.

    Parameters
    ----------
    strata
        The numbers.
    """
    known = [stratum for stratum in strata.strata if stratum.coverage.value is not None]
    picture: Picture | str = f"the coverage of no {strata.noun[0]} is known"
    if known:
        picture = _draw(strata, known[:_MAX_ROWS], len(known))
    title = f"Coverage of {strata.noun[1]} by crawl {strata.newest}"
    return make_chart(f"strata-{strata.by}", title, picture)


def _draw(strata: Strata, shown: list[StratumEstimate], n_known: int) -> Picture:
    total, left = strata.post_stratified.coverage, n_known - len(shown)
    has_ranges = any(stratum.coverage.low is not None for stratum in shown)
    return Picture(
        rows=[
            {
                "stratum": stratum.name,
                "held": stratum.n_urls,
                "coverage": significant(stratum.coverage.value),
                "coverage_low": significant(stratum.coverage.low),
                "coverage_high": significant(stratum.coverage.high),
                "population": significant(stratum.population.value),
                "missing": significant(stratum.missing.value),
                "persistence": significant(stratum.persistence.value),
            }
            for stratum in shown
        ],
        layers=_layers(strata, shown),
        caption=join(
            strata.statement,
            "Dots: the share that the newest crawl holds; "
            + ("lines: their ranges." if has_ranges else "no ranges are possible."),
            "From top to bottom, what misses most URLs first.",
            f"Dashed: the sum of all, {with_range(total, percent)}."
            if total.value is not None
            else None,
            f"{left:,} more, of which less is missing, are not drawn." if left else None,
        ),
        alternative=f"A dot with its range for each of {number_of(len(shown), 'row')}. "
        f"{strata.statement}",
        height=_ROW_HEIGHT * len(shown),
    )


def _layers(strata: Strata, shown: list[StratumEstimate]) -> list[alt.Chart]:
    values, highs = (
        [significant(getattr(stratum.coverage, end)) or 0.0 for stratum in shown]
        for end in ("value", "high")
    )
    whole = strata.post_stratified.coverage.value
    # A range that reaches far beyond the possible would leave no room for all others.
    most = max(*values, *highs, whole or 0.0)
    x = range_axis("Coverage", min(most * 1.05, max(1.05, max(values) * 1.05)))
    y = alt.Y(
        "stratum:N",
        title=None,
        sort=[stratum.name for stratum in shown],
        axis=alt.Axis(grid=True, labelLimit=220),
    )
    layers = []
    if whole is not None:
        line = mark_at().mark_rule(style="guide")
        layers.append(line.encode(x=alt.datum(significant(whole))))
    ranges = base_chart().mark_rule(strokeWidth=2, opacity=0.5, clip=True)
    dots = base_chart().mark_point(filled=True, size=45, opacity=1)
    shares = ((f"{name}:Q", None, ".1%") for name in ("coverage", "coverage_low", "coverage_high"))
    tips = tooltip(
        "stratum:N",
        ("held:Q", None, ",.0f"),
        *shares,
        ("population:Q", None, ",.0f"),
        ("missing:Q", None, ",.0f"),
        ("persistence:Q", None, ".1%"),
    )
    return [
        *layers,
        ranges.encode(x=alt.X("coverage_low:Q"), x2="coverage_high:Q", y=y),
        dots.encode(x=x, y=y, tooltip=tips),
    ]
