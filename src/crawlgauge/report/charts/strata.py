"""Coverage by stratum: a dot with its range for each, and the whole as a line."""

from typing import TYPE_CHECKING

from crawlgauge.model.phrases import percent
from crawlgauge.model.strata import Strata, StratumEstimate
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import Rows, base_chart, join, significant, to_specification
from crawlgauge.report.words import number_of, with_range

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_strata"]

_COLUMNS = (
    *("stratum", "held", "coverage", "coverage_low", "coverage_high"),
    *("population", "missing", "persistence"),
)
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
    many, name = strata.noun[1], f"strata-{strata.by}"
    title = f"Coverage of {many} by crawl {strata.newest}"
    known = [stratum for stratum in strata.strata if stratum.coverage.value is not None]
    if not known:
        reason = f"the coverage of no {strata.noun[0]} is known"
        return NoChart(name=name, title=title, reason=reason)
    shown = known[:_MAX_ROWS]
    rows: Rows = tuple(_row(stratum) for stratum in shown)
    return Chart(
        name=name,
        title=title,
        caption=_describe(strata, shown, len(known)),
        alternative=f"A dot with its range for each of {number_of(len(shown), 'row')}. "
        f"{strata.statement}",
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(strata, rows), _COLUMNS, rows, height=_ROW_HEIGHT * len(rows)
        ),
    )


def _row(stratum: StratumEstimate) -> tuple[str | float | None, ...]:
    coverage = stratum.coverage
    return (
        stratum.name,
        stratum.n_urls,
        significant(coverage.value),
        significant(coverage.low),
        significant(coverage.high),
        significant(stratum.population.value),
        significant(stratum.missing.value),
        significant(stratum.persistence.value),
    )


def _layers(strata: Strata, rows: Rows) -> "list[alt.Chart]":
    import altair as alt

    ends = [float(row[k] or 0) for row in rows for k in (2, 4)]
    whole = strata.post_stratified.coverage.value
    most = max(*ends, whole or 0.0)
    # A range that reaches far beyond the possible would leave no room for all others.
    domain = [0, min(most * 1.05, max(1.05, max(float(row[2] or 0) for row in rows) * 1.05))]
    x = alt.X(
        "coverage:Q",
        title="Coverage",
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(format="~%", tickCount=6, grid=True),
    )
    y = alt.Y(
        "stratum:N",
        title=None,
        sort=[str(row[0]) for row in rows],
        axis=alt.Axis(grid=True, labelLimit=220),
    )
    layers = []
    if whole is not None:
        line = alt.Chart(alt.InlineData(values=[{}])).mark_rule(style="guide")
        layers.append(line.encode(x=alt.datum(significant(whole))))
    ranges = (
        base_chart()
        .mark_rule(strokeWidth=2, opacity=0.5, clip=True)
        .encode(x=alt.X("coverage_low:Q"), x2="coverage_high:Q", y=y)
    )
    dots = (
        base_chart()
        .mark_point(filled=True, size=45, opacity=1)
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("stratum:N"),
                alt.Tooltip("held:Q", format=",.0f"),
                alt.Tooltip("coverage:Q", format=".1%"),
                alt.Tooltip("coverage_low:Q", format=".1%"),
                alt.Tooltip("coverage_high:Q", format=".1%"),
                alt.Tooltip("population:Q", format=",.0f"),
                alt.Tooltip("missing:Q", format=",.0f"),
                alt.Tooltip("persistence:Q", format=".1%"),
            ],
        )
    )
    return [*layers, ranges, dots]


def _describe(strata: Strata, shown: list[StratumEstimate], n_known: int) -> str:
    total = strata.post_stratified.coverage
    left = n_known - len(shown)
    return join(
        strata.statement,
        "Dots: the share that the newest crawl holds; lines: their ranges."
        if any(stratum.coverage.low is not None for stratum in shown)
        else "Dots: the share that the newest crawl holds; no ranges are possible.",
        "From top to bottom, what misses most URLs first.",
        None if total.value is None else f"Dashed: the sum of all, {with_range(total, percent)}.",
        f"{left:,} more, of which less is missing, are not drawn." if left else None,
    )
