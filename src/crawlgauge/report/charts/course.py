"""Estimates over time: points with bars, and crosses where nothing is known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import names
from crawlgauge.report.charts.axes import date_axis
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Channel,
    Rows,
    base_chart,
    lit_opacity,
    lit_width,
    pickable,
    significant,
)

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "COURSE_HEIGHT",
    "estimate_layers",
    "estimate_rows",
    "estimate_tooltip",
    "known_values",
    "say_unknown",
    "seen",
    "why_none",
]

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
