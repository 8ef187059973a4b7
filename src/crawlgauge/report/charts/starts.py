"""Figures 3a and 3b of the paper: a line for each starting crawl, and where it begins."""

import datetime as dt
from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates, StartFit
from crawlgauge.model.phrases import percent
from crawlgauge.report.charts.chart import Cell, Chart, NoChart
from crawlgauge.report.charts.decay import CONTAINMENT_TITLE, DECAY_HEIGHT
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Rows,
    base_chart,
    date_axis,
    lag_axis,
    lit_opacity,
    lit_width,
    log_share_axis,
    pickable,
    share_axis,
    significant,
    to_specification,
)
from crawlgauge.report.words import join, number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_start_intercepts", "draw_start_lines"]

_LINE_COLUMNS = ("series", "crawl", "date", "b", "lag_years", "containment")
_INTERCEPT_COLUMNS = ("crawl", "date", "intercept", "persistence", "n_pairs")
_NO_LINE = "no crawl has pairs with two different times between them"
_EXACT = 2
_MONTH = "utcFormat(utc(floor(datum.value), floor(datum.value % 1 * 12)), '%b %Y')"
_DAYS = 366
_CANNOT_SHOW = (
    "An intercept does not contain the starting crawl's own coverage, but that of the crawls "
    "after it; and where URLs differ in how long they live, intercepts rise by themselves."
)


def draw_start_lines(estimates: Estimates) -> Chart | NoChart:
    """Draw a line through the pairs of each starting crawl.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "A line for each starting crawl, through its containments in later crawls"
    fits = _fitted(estimates)
    if not fits:
        return NoChart(name="start-lines", title=title, reason=_NO_LINE)
    rows = _list_line_rows(estimates, fits)
    yearly = [fit.persistence for fit in fits if fit.persistence is not None]
    lines = number_of(len(fits), "line")
    return Chart(
        name="start-lines",
        title=title,
        caption=join(
            f"{lines}, one for each crawl with pairs at two or more time differences, the stronger "
            f"the later it begins; dots are the pairs. {_say_persistence(yearly)}",
            "Parallel lines would mean that all crawls lose at one rate." if len(fits) > 1 else "",
            _say_intercepts(fits),
            _CANNOT_SHOW,
        ),
        alternative=f"{lines} over the time difference, with dots. {_say_intercepts(fits)}",
        columns=_LINE_COLUMNS,
        rows=rows,
        specification=to_specification(
            _line_layers(rows), _LINE_COLUMNS, rows, height=DECAY_HEIGHT
        ),
    )


def draw_start_intercepts(estimates: Estimates) -> Chart | NoChart:
    """Draw where the line of each starting crawl begins, against the date of the crawl.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Where the line of each starting crawl begins, by the date of the crawl"
    fits = _fitted(estimates)
    if not fits:
        return NoChart(name="start-intercepts", title=title, reason=_NO_LINE)
    dates = {crawl.label: crawl.date.isoformat() for crawl in estimates.crawls}
    rows: Rows = tuple(
        (
            fit.label,
            dates[fit.label],
            significant(fit.coverage),
            significant(fit.persistence),
            fit.n_pairs,
        )
        for fit in fits
    )
    n_exact = sum(fit.n_pairs == _EXACT for fit in fits)
    hollow = f"Hollow: {number_of(n_exact, 'line')} through two pairs only." if n_exact else ""
    return Chart(
        name="start-intercepts",
        title=title,
        caption=join(
            f"{number_of(len(fits), 'intercept')}: the containment that the line of a starting "
            "crawl reaches at time difference zero.",
            _say_intercepts(fits),
            hollow,
            _say_impossible(fits),
            _CANNOT_SHOW,
        ),
        alternative=join("Points over the date of the starting crawl.", _say_intercepts(fits)),
        columns=_INTERCEPT_COLUMNS,
        rows=rows,
        specification=to_specification(
            _intercept_layers(fits), _INTERCEPT_COLUMNS, rows, height=DECAY_HEIGHT
        ),
    )


def _fitted(estimates: Estimates) -> list[StartFit]:
    return [fit for fit in estimates.paper.per_start if fit.coverage is not None]


def _list_line_rows(estimates: Estimates, fits: list[StartFit]) -> Rows:
    dates = {crawl.label: crawl.date.isoformat() for crawl in estimates.crawls}
    rows: list[tuple[Cell, ...]] = []
    for fit in fits:
        pairs = [pair for pair in estimates.residuals if pair.a == fit.label and pair.n_shared]
        rows += [
            (
                "pair",
                fit.label,
                dates[fit.label],
                pair.b,
                significant(pair.lag_years),
                significant(pair.containment),
            )
            for pair in pairs
        ]
        longest = max(pair.lag_years for pair in pairs)
        for lag in (0.0, longest):
            share = (fit.coverage or 0) * (fit.persistence or 0) ** lag
            rows.append(
                ("line", fit.label, dates[fit.label], None, significant(lag), significant(share))
            )
    return tuple(rows)


def _line_layers(rows: Rows) -> "list[alt.Chart]":
    import altair as alt

    shares = [float(row[_LINE_COLUMNS.index("containment")] or 0) for row in rows]
    longest = max(float(row[_LINE_COLUMNS.index("lag_years")] or 0) for row in rows)
    begins = alt.Color(
        "begins:Q",
        title="Date of the starting crawl",
        scale=alt.Scale(nice=False, zero=False),
        legend=alt.Legend(values=_legend_years(rows), labelExpr=_MONTH),
    )
    year = f"utcyear(toDate(datum.date)) + utcdayofyear(toDate(datum.date)) / {_DAYS}"
    base = (
        base_chart()
        .transform_calculate(begins=year)
        .encode(
            x=lag_axis(longest),
            y=log_share_axis(CONTAINMENT_TITLE, shares),
            color=begins,
            tooltip=[
                alt.Tooltip("crawl:N", title="starting crawl"),
                alt.Tooltip("b:N", title="later crawl"),
                alt.Tooltip("lag_years:Q", title="years between", format=".2f"),
                alt.Tooltip("containment:Q", format=".1%"),
            ],
        )
    )
    lines = (
        base.transform_filter("datum.series === 'line'")
        .mark_line()
        .encode(
            detail="crawl:N",
            opacity=lit_opacity(CRAWL, 0.9),
            strokeWidth=lit_width(CRAWL, 1.2, 3.0),
        )
    )
    dots = base.transform_filter("datum.series === 'pair'").mark_point(filled=True, size=10)
    return [lines, pickable(dots.encode(opacity=lit_opacity(CRAWL, 0.8)), CRAWL)]


def _legend_years(rows: Rows) -> list[float]:
    """Return the first, the middle and the last date of a starting crawl, as years."""
    dates = sorted(str(row[_LINE_COLUMNS.index("date")]) for row in rows)
    ends = [dt.date.fromisoformat(date) for date in (dates[0], dates[-1])]
    first, last = (end.year + end.timetuple().tm_yday / _DAYS for end in ends)
    return sorted({first, (first + last) / 2, last})


def _intercept_layers(fits: list[StartFit]) -> "list[alt.Chart]":
    import altair as alt

    shares = [fit.coverage or 0 for fit in fits]
    points = (
        base_chart()
        .transform_calculate(when="toDate(datum.date)")
        .mark_point(style="dot", filled=True)
    )
    exact = f"datum.n_pairs === {_EXACT}"
    points = points.encode(
        x=date_axis("Date of the starting crawl"),
        y=share_axis("Intercept (containment at zero)", shares, "intercept", zero=False),
        fillOpacity=alt.when(exact).then(alt.value(0)).otherwise(alt.value(1)),
        opacity=lit_opacity(CRAWL),
        strokeWidth=lit_width(CRAWL, 1.2, 3.0),
        tooltip=[
            alt.Tooltip("crawl:N", title="starting crawl"),
            alt.Tooltip("date:N"),
            alt.Tooltip("intercept:Q", format=".1%"),
            alt.Tooltip("persistence:Q", title="live on for a year", format=".1%"),
            alt.Tooltip("n_pairs:Q", title="pairs"),
        ],
    )
    return [pickable(points, CRAWL)]


def _say_persistence(yearly: list[float]) -> str:
    low, high = percent(min(yearly)), percent(max(yearly))
    if low == high:
        return f"By {'it' if len(yearly) == 1 else 'each'} {low} live on for a year."
    return f"By them {low} to {high} live on for a year."


def _say_intercepts(fits: list[StartFit]) -> str:
    if len(fits) == 1:
        return f"It begins at {percent(fits[0].coverage or 0)} ({fits[0].label})."
    low = min(fits, key=lambda fit: fit.coverage or 0)
    high = max(fits, key=lambda fit: fit.coverage or 0)
    if percent(low.coverage or 0) == percent(high.coverage or 0):
        return f"All begin at {percent(low.coverage or 0)}."
    return (
        f"They begin at {percent(low.coverage or 0)} ({low.label}) to "
        f"{percent(high.coverage or 0)} ({high.label})."
    )


def _say_impossible(fits: list[StartFit]) -> str:
    n_above = sum((fit.coverage or 0) > 1 for fit in fits)
    if not n_above:
        return ""
    which = "One line begins" if n_above == 1 else f"{n_above} lines begin"
    return f"{which} above 100 %, which no coverage can be."
