"""Coverage and population of each crawl over time, with their ranges."""

from collections.abc import Sequence

import altair as alt

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate, Estimates, Union
from crawlgauge.model.panels import Panels
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.report.charts import drawing
from crawlgauge.report.words import Phrase, join, number_of, with_range

# ------------------------ estimates over time: points with bars


_MOST_OF_VALUE = 2.0


def _estimate_rows(
    name: str, crawls: Sequence[Crawl], numbers: Sequence[Estimate]
) -> list[drawing.Row]:
    return [
        {
            "crawl": crawl.label,
            "date": crawl.date.isoformat(),
            "n_urls": crawl.n_urls,
            name: drawing.significant(number.value),
            "low": drawing.significant(number.low),
            "high": drawing.significant(number.high),
            "basis": number.basis,
            "reason": number.reason,
        }
        for crawl, number in zip(crawls, numbers, strict=True)
    ]


def _estimate_layers(
    name: str, numbers: Sequence[Estimate], axis: alt.Y, tips: list[alt.Tooltip]
) -> list[alt.Chart]:
    """Return bars and points of estimates over time, and dotted lines where there are none."""
    dated = drawing.dated_chart().encode(x=drawing.date_axis())
    known = dated.transform_filter(f"isValid(datum.{name})")
    bars = known.mark_rule(style="data", clip=True).encode(y=alt.Y("low:Q", title=""))
    bars = drawing.lit(bars, widths=(1.2, 2.6))
    size = alt.when("datum.crawl === chosen").then(alt.value(70)).otherwise(alt.value(30))
    points = known.mark_point(style="data", filled=True, size=30)
    points = points.encode(y=axis, size=size, tooltip=tips)
    layers = []
    if any(number.high is not None for number in numbers):
        closed = bars.transform_filter("isValid(datum.low) && isValid(datum.high)")
        layers.append(closed.encode(y2="high:Q"))
    if any(number.low is not None and number.high is None for number in numbers):
        # A range without an upper end reaches to the top.
        open_ended = bars.transform_filter("isValid(datum.low) && !isValid(datum.high)")
        layers.append(open_ended.encode(y2=alt.value(0)))
    layers.append(drawing.lit(points, pick=True))
    if any(number.value is None for number in numbers):
        absent = dated.transform_filter(f"!isValid(datum.{name})").mark_rule(style="unknown")
        layers.insert(0, drawing.lit(absent.encode(tooltip=tips)))
    return layers


def _estimate_tooltip(name: str, number_format: str, noun: str) -> list[alt.Tooltip]:
    crawl, date, reason = (alt.Tooltip(f"{text}:N") for text in ("crawl", "date", "reason"))
    size = alt.Tooltip("n_urls:Q", title=noun, format=",")
    ends = (alt.Tooltip(f"{end}:Q", format=number_format) for end in (name, "low", "high"))
    return [crawl, date, size, *ends, alt.Tooltip("basis:N", title="range"), reason]


def _short_lines(base: alt.Chart) -> alt.Chart:
    lines = base.mark_tick(style="guide", orient="horizontal", size=9, thickness=2, strokeDash=[])
    return drawing.lit(lines)


def _seen(numbers: Sequence[Estimate]) -> list[float]:
    """Return what an axis should show: all values, and the ends of ranges that are not absurd."""
    values = [number.value for number in numbers if number.value is not None]
    most = _MOST_OF_VALUE * max(values)
    return [*values, *(min(number.high, most) for number in numbers if number.high is not None)]


def _say_unknown(crawls: Sequence[Crawl], numbers: Sequence[Estimate]) -> str:
    """Say which crawls have no value, and why; each reason once."""
    lacking: dict[str, list[str]] = {}
    for crawl, number in zip(crawls, numbers, strict=True):
        if number.value is None:
            lacking.setdefault(number.why, []).append(crawl.label)
    parts = [f"{names(labels)} ({reason})" for reason, labels in lacking.items()]
    return f"Dotted upright: no value for {'; '.join(parts)}." if parts else ""


def _why_none(numbers: Sequence[Estimate]) -> str:
    """Say why no crawl has a value: the newest has the most to be told by."""
    return numbers[-1].why


# ------------------------------- coverage and population of each crawl over time, with their ranges


def draw_coverage(estimates: Estimates, _: Panels) -> drawing.Picture | str:
    """Draw the coverage of each crawl with its range, and the typical coverage."""
    noun, typical = things(estimates.level), estimates.headline.coverage
    numbers = [row.coverage for row in estimates.per_crawl]
    known = [number.value for number in numbers if number.value is not None]
    if not known:
        return _why_none(numbers)
    behind = []
    if typical.value is not None:
        line = drawing.draw_line(drawing.significant(typical.value), "y", "fit")
        behind = [*drawing.draw_band(typical, "y"), line]
    if max(known) > 1:
        # Where all is held.
        behind.append(drawing.draw_line(1, "y"))
    return _draw(
        estimates,
        "coverage",
        percent,
        axis=drawing.share_axis(
            f"Coverage (% of the {noun} within reach)", _seen(numbers), "coverage"
        ),
        behind=behind,
        opening=join(
            f"Coverage of {number_of(len(numbers), 'crawl')}{_by(estimates)}.",
            _say_typical(typical),
        ),
        closing=_say_impossible(known),
    )


def draw_population(estimates: Estimates, _: Panels) -> drawing.Picture | str:
    """Draw the population of each crawl with its range."""
    noun = things(estimates.level)
    numbers = [row.population for row in estimates.per_crawl]
    if all(number.value is None for number in numbers):
        return _why_none(numbers)
    sizes = [crawl.n_urls for crawl in estimates.crawls]
    ticks = _short_lines(drawing.dated_chart().encode(x=drawing.date_axis(), y=alt.Y("n_urls:Q")))
    return _draw(
        estimates,
        "population",
        count,
        axis=drawing.count_axis("Population", noun, [*_seen(numbers), *sizes], "population"),
        behind=[ticks],
        opening=f"Population of {number_of(len(numbers), 'crawl')}{_by(estimates)}; the short "
        f"lines are the {noun} that each crawl holds.",
    )


def _draw(
    estimates: Estimates,
    name: str,
    phrase: Phrase,
    *,
    axis: alt.Y,
    behind: list[alt.Chart],
    opening: str,
    closing: str = "",
) -> drawing.Picture:
    numbers = [getattr(row, name) for row in estimates.per_crawl]
    number_format = ".1%" if phrase is percent else ",.0f"
    tips = _estimate_tooltip(name, number_format, things(estimates.level))
    extremes = _say_extremes(estimates, numbers, phrase)
    return drawing.Picture(
        rows=_estimate_rows(name, estimates.crawls, numbers),
        layers=[*behind, *_estimate_layers(name, numbers, axis, tips)],
        caption=join(
            opening,
            extremes,
            drawing.explain_bars(numbers),
            _say_unknown(estimates.crawls, numbers),
            closing,
            drawing.say_trust(estimates),
        ),
        alternative=join(
            f"Points over time, one for each of {number_of(len(numbers), 'crawl')}.", extremes
        ),
    )


def _by(estimates: Estimates) -> str:
    name = estimates.headline.estimator
    return f", by the estimator {name}" if name else ""


def _say_typical(typical: Estimate) -> str:
    if typical.value is None:
        return ""
    is_band = typical.low is not None and typical.high is not None
    drawn = "Line and band" if is_band else "Line"
    return f"{drawn}: the typical crawl, {with_range(typical, percent)}."


def _say_extremes(estimates: Estimates, numbers: Sequence[Estimate], phrase: Phrase) -> str:
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


def draw_union(estimates: Estimates, _: Panels) -> drawing.Picture | str:
    """Draw the share of the living web that all crawls so far hold, after each crawl."""
    noun, union = things(estimates.level), estimates.union
    if union is None:
        return "what all crawls hold together can only be told from capture histories"
    if all(number.value is None for number in union.per_crawl):
        return _why_none(union.per_crawl)
    single = [row.coverage.value for row in estimates.per_crawl]
    of_union = _estimate_rows("union_coverage", estimates.crawls, union.per_crawl)
    course = _say_course(estimates, union)
    return drawing.Picture(
        rows=[
            {**row, "coverage": drawing.significant(own)}
            for row, own in zip(of_union, single, strict=True)
        ],
        layers=_union_layers(union, [value for value in single if value is not None], noun),
        caption=join(
            f"Points: the share of the {noun} alive at each crawl that it or an earlier crawl "
            "holds. Short lines: the crawl alone.",
            course,
            f"Of {count(union.n_distinct)} {noun} held, {with_range(union.n_alive, count)} lived "
            "at the newest crawl."
            if union.n_alive.value is not None
            else None,
            drawing.explain_bars(union.per_crawl),
            _say_unknown(estimates.crawls, union.per_crawl),
            union.caution,
            drawing.say_trust(estimates),
        ),
        alternative=f"Points over time, with single crawls below. {course}",
    )


def _union_layers(union: Union, single: list[float], noun: str) -> list[alt.Chart]:
    shown = [*_seen(union.per_crawl), *single]
    axis = drawing.share_axis(f"Share of the living {noun}", shown, "union_coverage")
    tips = _estimate_tooltip("union_coverage", ".1%", noun)
    tips.append(alt.Tooltip("coverage:Q", title="this crawl alone", format=".1%"))
    dated = drawing.dated_chart().encode(x=drawing.date_axis())
    alone = dated.transform_filter("isValid(datum.coverage)")
    course = dated.transform_filter("isValid(datum.union_coverage)").mark_line(style="data")
    return [
        _short_lines(alone.encode(y=alt.Y("coverage:Q", title=""))),
        course.encode(y=axis),
        *_estimate_layers("union_coverage", union.per_crawl, axis, tips),
    ]


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
