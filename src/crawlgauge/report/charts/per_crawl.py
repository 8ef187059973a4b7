"""Coverage and population of each crawl over time, with their ranges."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.report.charts.axes import count_axis, date_axis, share_axis
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.course import (
    COURSE_HEIGHT,
    estimate_layers,
    estimate_rows,
    estimate_tooltip,
    known_values,
    say_unknown,
    seen,
    why_none,
)
from crawlgauge.report.charts.drawing import (
    CRAWL,
    base_chart,
    lit_opacity,
    significant,
    to_specification,
)
from crawlgauge.report.charts.sentences import explain_bars, join, number_of, say_trust
from crawlgauge.report.range_text import with_range

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_coverage", "draw_population"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What is drawn: its name, and how its numbers are written."""

    name: str
    phrase: Callable[[float], str]
    format: str


_COVERAGE = _Kind(name="coverage", phrase=percent, format=".1%")
_POPULATION = _Kind(name="population", phrase=count, format=",.0f")


def draw_coverage(estimates: Estimates) -> Chart | NoChart:
    """Draw the coverage of each crawl with its range, and the typical coverage.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun = things(estimates.level)
    title = f"Coverage: share of the {noun} within reach that each crawl holds"
    numbers = [row.coverage for row in estimates.per_crawl]
    known = known_values(numbers)
    if not known:
        return NoChart(name="coverage", title=title, reason=why_none(numbers))
    axis = share_axis(f"Coverage (% of the {noun} within reach)", seen(numbers), "coverage")
    typical = estimates.headline.coverage
    return _draw(
        estimates,
        _COVERAGE,
        title=title,
        axis=axis,
        behind=[*_draw_typical(typical), *_draw_limit(known)],
        caption=join(
            f"Coverage of {number_of(len(numbers), 'crawl')}{_by(estimates)}.",
            _say_typical(typical),
            _say_extremes(estimates, numbers, percent),
            explain_bars([("coverage", number) for number in numbers]),
            say_unknown(estimates.crawls, numbers),
            _say_impossible(known),
            say_trust(estimates),
        ),
    )


def draw_population(estimates: Estimates) -> Chart | NoChart:
    """Draw the population of each crawl with its range.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun = things(estimates.level)
    title = f"Population: {noun} that each crawl could have reached"
    numbers = [row.population for row in estimates.per_crawl]
    if not known_values(numbers):
        return NoChart(name="population", title=title, reason=why_none(numbers))
    sizes = [crawl.n_urls for crawl in estimates.crawls]
    axis = count_axis("Population", noun, [*seen(numbers), *sizes], "population")
    import altair as alt

    held = base_chart().transform_calculate(when="toDate(datum.date)")
    ticks = held.mark_tick(style="guide", orient="horizontal", size=9, thickness=2, strokeDash=[])
    return _draw(
        estimates,
        _POPULATION,
        title=title,
        axis=axis,
        behind=[ticks.encode(x=date_axis(), y=alt.Y("n_urls:Q"), opacity=lit_opacity(CRAWL))],
        caption=join(
            f"Population of {number_of(len(numbers), 'crawl')}{_by(estimates)}; the short lines "
            f"are the {noun} that each crawl holds.",
            _say_extremes(estimates, numbers, count),
            explain_bars([("population", number) for number in numbers]),
            say_unknown(estimates.crawls, numbers),
            say_trust(estimates),
        ),
    )


def _draw(
    estimates: Estimates,
    kind: _Kind,
    *,
    title: str,
    axis: "alt.Y",
    behind: "list[alt.Chart]",
    caption: str,
) -> Chart:
    columns = ("crawl", "date", "n_urls", kind.name, "low", "high", "basis", "reason")
    numbers = [getattr(row, kind.name) for row in estimates.per_crawl]
    rows = estimate_rows(estimates.crawls, numbers)
    tooltip = estimate_tooltip(kind.name, kind.format, things(estimates.level))
    layers = [*behind, *estimate_layers(kind.name, numbers, axis, tooltip)]
    return Chart(
        name=kind.name,
        title=title,
        caption=caption,
        alternative=join(
            f"Points over time, one for each of {number_of(len(rows), 'crawl')}.",
            _say_extremes(estimates, numbers, kind.phrase),
        ),
        columns=columns,
        rows=rows,
        specification=to_specification(layers, columns, rows, height=COURSE_HEIGHT),
    )


def _draw_typical(typical: Estimate) -> "list[alt.Chart]":
    import altair as alt

    if typical.value is None:
        return []
    line = alt.Chart(alt.InlineData(values=[{}]))
    drawn = [line.mark_rule(style="fit").encode(y=alt.datum(significant(typical.value)))]
    if typical.low is not None and typical.high is not None:
        low, high = significant(typical.low), significant(typical.high)
        band = line.mark_rect(style="band", clip=True)
        drawn.insert(0, band.encode(y=alt.datum(low), y2=alt.datum(high)))
    return drawn


def _draw_limit(known: list[float]) -> "list[alt.Chart]":
    """Draw where all is held, if some value lies beyond."""
    import altair as alt

    if max(known) <= 1:
        return []
    line = alt.Chart(alt.InlineData(values=[{}]))
    return [line.mark_rule(style="guide").encode(y=alt.datum(1))]


def _by(estimates: Estimates) -> str:
    name = estimates.headline.estimator
    return f", by the estimator {name}" if name else ""


def _say_typical(typical: Estimate) -> str:
    if typical.value is None:
        return ""
    is_band = typical.low is not None and typical.high is not None
    drawn = "Line and band" if is_band else "Line"
    return f"{drawn}: the typical crawl, {with_range(typical, percent)}."


def _say_extremes(
    estimates: Estimates, numbers: Sequence[Estimate], phrase: Callable[[float], str]
) -> str:
    known = [
        (number.value, crawl.label, number)
        for crawl, number in zip(estimates.crawls, numbers, strict=True)
        if number.value is not None
    ]
    low, high = min(known)[1:], max(known)[1:]
    if low[0] == high[0]:
        return f"{low[0]}: {with_range(low[1], phrase)}."
    return (
        f"Lowest: {low[0]} with {with_range(low[1], phrase)}; highest: {high[0]} with "
        f"{with_range(high[1], phrase)}."
    )


def _say_impossible(known: list[float]) -> str:
    n_above = sum(value > 1 for value in known)
    if not n_above:
        return ""
    which = "One crawl lies" if n_above == 1 else f"{n_above} crawls lie"
    return f"{which} above 100 % (dashed), which is impossible: the model does not hold there."
