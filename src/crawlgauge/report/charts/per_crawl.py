"""Coverage and population of each crawl over time, with their ranges."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate, Estimates, Union
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Channel,
    Rows,
    base_chart,
    count_axis,
    date_axis,
    explain_bars,
    lit_opacity,
    lit_width,
    pickable,
    say_trust,
    share_axis,
    significant,
    to_specification,
)
from crawlgauge.report.words import join, number_of, with_range

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_coverage", "draw_population", "draw_union"]


# ------------------------ estimates over time: points with bars, and crosses where nothing is known


COURSE_HEIGHT = 180
"""Of the area within the axes."""

_MOST_OF_VALUE = 2.0


def estimate_rows(crawls: Sequence[Crawl], numbers: Sequence[Estimate]) -> Rows:
    """Return for each crawl: label, date, size, value, low, high, basis and reason.

    Parameters
    ----------
    crawls
        The crawls.
    numbers
        What is known of each.
    """
    return tuple(
        (
            crawl.label,
            crawl.date.isoformat(),
            crawl.n_urls,
            significant(number.value),
            significant(number.low),
            significant(number.high),
            number.basis,
            number.reason,
        )
        for crawl, number in zip(crawls, numbers, strict=True)
    )


def estimate_layers(
    name: str, numbers: Sequence[Estimate], axis: "alt.Y", tooltip: "list[alt.Tooltip]"
) -> "list[alt.Chart]":
    """Return bars and points of estimates over time, and crosses where there are none.

    Parameters
    ----------
    name
        The column of the values; ``low`` and ``high`` are those of the ranges.
    numbers
        What is drawn: kinds of marks that none of them needs are left out.
    axis
        Of the values.
    tooltip
        What is shown when one points at a mark.
    """
    import altair as alt

    dated = base_chart().transform_calculate(when="toDate(datum.date)").encode(x=date_axis())
    known = dated.transform_filter(f"isValid(datum.{name})")
    bars = known.mark_rule(style="data", clip=True).encode(
        y=alt.Y("low:Q", title=""),
        opacity=lit_opacity(CRAWL),
        strokeWidth=lit_width(CRAWL, 1.2, 2.6),
    )
    points = known.mark_point(style="data", filled=True, size=30).encode(
        y=axis, opacity=lit_opacity(CRAWL), size=_lit_size(), tooltip=tooltip
    )
    unknown = dated.transform_filter(f"!isValid(datum.{name})")
    crosses = unknown.mark_point(style="unknown", angle=45).encode(
        y=alt.value(COURSE_HEIGHT - 6), opacity=lit_opacity(CRAWL), tooltip=tooltip
    )
    layers = []
    if any(number.high is not None for number in numbers):
        closed = bars.transform_filter("isValid(datum.low) && isValid(datum.high)")
        layers.append(closed.encode(y2="high:Q"))
    if any(number.low is not None and number.high is None for number in numbers):
        # A range without an upper end reaches to the top.
        open_ended = bars.transform_filter("isValid(datum.low) && !isValid(datum.high)")
        layers.append(open_ended.encode(y2=alt.value(0)))
    layers.append(pickable(points, CRAWL))
    if any(number.value is None for number in numbers):
        layers.append(crosses)
    return layers


def estimate_tooltip(name: str, number_format: str, noun: str) -> "list[alt.Tooltip]":
    """Return what is shown of a crawl's estimate when one points at it.

    Parameters
    ----------
    name
        The column of the values.
    number_format
        How they are written.
    noun
        What is counted, such as URLs.
    """
    import altair as alt

    return [
        alt.Tooltip("crawl:N"),
        alt.Tooltip("date:N"),
        alt.Tooltip("n_urls:Q", title=noun, format=","),
        alt.Tooltip(f"{name}:Q", format=number_format),
        alt.Tooltip("low:Q", format=number_format),
        alt.Tooltip("high:Q", format=number_format),
        alt.Tooltip("basis:N", title="range"),
        alt.Tooltip("reason:N"),
    ]


def known_values(numbers: Sequence[Estimate]) -> list[float]:
    """Return the values that there are."""
    return [number.value for number in numbers if number.value is not None]


def seen(numbers: Sequence[Estimate]) -> list[float]:
    """Return what an axis should show: all values, and the ends of ranges that are not absurd."""
    values = known_values(numbers)
    most = _MOST_OF_VALUE * max(values)
    return [*values, *(min(number.high, most) for number in numbers if number.high is not None)]


def say_unknown(crawls: Sequence[Crawl], numbers: Sequence[Estimate]) -> str:
    """Say which crawls have no value, and why; each reason once.

    Parameters
    ----------
    crawls
        The crawls.
    numbers
        What is known of each.
    """
    lacking: dict[str, list[str]] = {}
    for crawl, number in zip(crawls, numbers, strict=True):
        if number.value is None:
            lacking.setdefault(number.reason or "", []).append(crawl.label)
    parts = [f"{names(labels)} ({reason})" for reason, labels in lacking.items()]
    return f"Crosses: no value for {'; '.join(parts)}." if parts else ""


def why_none(numbers: Sequence[Estimate]) -> str:
    """Say why no crawl has a value."""
    reasons = list(dict.fromkeys(number.reason or "" for number in numbers))
    return "; ".join(reasons)


def _lit_size() -> Channel:
    import altair as alt

    return alt.when("datum.crawl === chosen").then(alt.value(70)).otherwise(alt.value(30))


# ------------------------------- coverage and population of each crawl over time, with their ranges


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


# ---------------------------- how much of the living web the whole archive holds, crawl after crawl


_NAME = "union"
_COLUMNS = (
    "crawl",
    "date",
    "n_urls",
    "union_coverage",
    "low",
    "high",
    "basis",
    "reason",
    "coverage",
)


def draw_union(estimates: Estimates) -> Chart | NoChart:
    """Draw the share of the living web that all crawls so far hold, after each crawl.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun, union = things(estimates.level), estimates.union
    title = f"Share of the living {noun} that all crawls so far hold together, after each crawl"
    if union is None:
        reason = "what all crawls hold together can only be told from capture histories"
        return NoChart(name=_NAME, title=title, reason=reason)
    if all(number.value is None for number in union.per_crawl):
        return NoChart(name=_NAME, title=title, reason=why_none(union.per_crawl))
    rows: Rows = tuple(
        (*row, significant(own.coverage.value))
        for row, own in zip(
            estimate_rows(estimates.crawls, union.per_crawl), estimates.per_crawl, strict=True
        )
    )
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates, union),
        alternative=f"Points over time, with single crawls below. {_say_course(estimates, union)}",
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(estimates, union), _COLUMNS, rows, height=COURSE_HEIGHT
        ),
    )


def _layers(estimates: Estimates, union: Union) -> "list[alt.Chart]":
    import altair as alt

    noun = things(estimates.level)
    single = [row.coverage.value for row in estimates.per_crawl if row.coverage.value is not None]
    shown = [*seen(union.per_crawl), *single]
    axis = share_axis(f"Share of the living {noun}", shown, "union_coverage")
    tooltip = [
        *estimate_tooltip("union_coverage", ".1%", noun),
        alt.Tooltip("coverage:Q", title="this crawl alone", format=".1%"),
    ]
    dated = base_chart().transform_calculate(when="toDate(datum.date)").encode(x=date_axis())
    alone = dated.transform_filter("isValid(datum.coverage)").mark_tick(
        style="guide", orient="horizontal", size=9, thickness=2, strokeDash=[]
    )
    course = dated.transform_filter("isValid(datum.union_coverage)").mark_line(style="data")
    return [
        alone.encode(y=alt.Y("coverage:Q", title=""), opacity=lit_opacity(CRAWL)),
        course.encode(y=axis),
        *estimate_layers("union_coverage", union.per_crawl, axis, tooltip),
    ]


def _describe(estimates: Estimates, union: Union) -> str:
    noun = things(estimates.level)
    return join(
        f"Points: the share of the {noun} alive at each crawl that it or an earlier crawl holds. "
        "Short lines: the crawl alone.",
        _say_course(estimates, union),
        f"Of {count(union.n_distinct)} {noun} held, {_alive(union.n_alive)}."
        if union.n_alive.value is not None
        else None,
        explain_bars([("union", number) for number in union.per_crawl]),
        say_unknown(estimates.crawls, union.per_crawl),
        union.caution,
        say_trust(estimates),
    )


def _alive(n_alive: Estimate) -> str:
    return f"{with_range(n_alive, count)} lived at the newest crawl"


def _say_course(estimates: Estimates, union: Union) -> str:
    known = [
        (crawl.label, number)
        for crawl, number in zip(estimates.crawls, union.per_crawl, strict=True)
        if number.value is not None
    ]
    (first, start), (last, end) = known[0], known[-1]
    if first == last:
        return f"After {first}: {with_range(start, percent)}."
    return (
        f"From {with_range(start, percent)} after {first} to {with_range(end, percent)} after "
        f"{last}."
    )
