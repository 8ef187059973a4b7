"""Figures 3a and 3b of the paper: a line for each starting crawl, and where it begins."""

import datetime as dt

import altair as alt

from crawlgauge.model.estimates import Estimates, StartFit
from crawlgauge.model.phrases import percent
from crawlgauge.report.charts.chart import Cell
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Picture,
    base_chart,
    date_axis,
    dated_chart,
    lag_axis,
    lit_opacity,
    lit_width,
    log_share_axis,
    pickable,
    share_axis,
    significant,
    tooltip,
)
from crawlgauge.report.charts.pair_rows import CONTAINMENT_TITLE, DECAY_HEIGHT, shared_pairs
from crawlgauge.report.words import join, number_of, spread

__all__ = ["draw_start_intercepts", "draw_start_lines"]

_NO_LINE = "no crawl has pairs with two different times between them"
_EXACT = 2
_MONTH = "utcFormat(utc(floor(datum.value), floor(datum.value % 1 * 12)), '%b %Y')"
_DAYS = 366
_CANNOT_SHOW = (
    "An intercept does not contain the starting crawl's own coverage, but that of the crawls "
    "after it; and where URLs differ in how long they live, intercepts rise by themselves."
)


def draw_start_lines(estimates: Estimates) -> Picture | str:
    """Draw a line through the pairs of each starting crawl."""
    fits = _fitted(estimates)
    if not fits:
        return _NO_LINE
    rows = _list_line_rows(estimates, fits)
    yearly = [fit.persistence for fit in fits if fit.persistence is not None]
    lines = number_of(len(fits), "line")
    return Picture(
        rows=rows,
        layers=_line_layers(rows),
        caption=join(
            f"{lines}, one for each crawl with pairs at two or more time differences, the stronger "
            f"the later it begins; dots are the pairs. {_say_persistence(yearly)}",
            "Parallel lines would mean that all crawls lose at one rate." if len(fits) > 1 else "",
            _say_intercepts(fits),
            _CANNOT_SHOW,
        ),
        alternative=f"{lines} over the time difference, with dots. {_say_intercepts(fits)}",
        height=DECAY_HEIGHT,
    )


def draw_start_intercepts(estimates: Estimates) -> Picture | str:
    """Draw where the line of each starting crawl begins, against the date of the crawl."""
    fits = _fitted(estimates)
    if not fits:
        return _NO_LINE
    dates = {crawl.label: crawl.date.isoformat() for crawl in estimates.crawls}
    n_exact = sum(fit.n_pairs == _EXACT for fit in fits)
    return Picture(
        rows=[
            {
                "crawl": fit.label,
                "date": dates[fit.label],
                "intercept": significant(fit.coverage),
                "persistence": significant(fit.persistence),
                "n_pairs": fit.n_pairs,
            }
            for fit in fits
        ],
        layers=_intercept_layers(fits),
        caption=join(
            f"{number_of(len(fits), 'intercept')}: the containment that the line of a starting "
            "crawl reaches at time difference zero.",
            _say_intercepts(fits),
            f"Hollow: {number_of(n_exact, 'line')} through two pairs only." if n_exact else "",
            _say_impossible(fits),
            _CANNOT_SHOW,
        ),
        alternative=join("Points over the date of the starting crawl.", _say_intercepts(fits)),
        height=DECAY_HEIGHT,
    )


def _fitted(estimates: Estimates) -> list[StartFit]:
    return [fit for fit in estimates.paper.per_start if fit.coverage is not None]


def _list_line_rows(estimates: Estimates, fits: list[StartFit]) -> list[dict[str, Cell]]:
    dates = {crawl.label: crawl.date.isoformat() for crawl in estimates.crawls}
    rows: list[dict[str, Cell]] = []
    for fit in fits:
        pairs = [pair for pair in shared_pairs(estimates) if pair.a == fit.label]
        longest = max(pair.lag_years for pair in pairs)
        points: list[tuple[str, str | None, float, float]] = [
            ("pair", pair.b, pair.lag_years, pair.containment) for pair in pairs
        ]
        for lag in (0.0, longest):
            share = (fit.coverage or 0) * (fit.persistence or 0) ** lag
            points.append(("line", None, lag, share))
        rows += [
            {
                "series": series,
                "crawl": fit.label,
                "date": dates[fit.label],
                "b": later,
                "lag_years": significant(lag),
                "containment": significant(share),
            }
            for series, later, lag, share in points
        ]
    return rows


def _line_layers(rows: list[dict[str, Cell]]) -> list[alt.Chart]:
    shares = [float(row["containment"] or 0) for row in rows]
    longest = max(float(row["lag_years"] or 0) for row in rows)
    begins = alt.Color(
        "begins:Q",
        title="Date of the starting crawl",
        scale=alt.Scale(nice=False, zero=False),
        legend=alt.Legend(
            values=_legend_years([str(row["date"]) for row in rows]), labelExpr=_MONTH
        ),
    )
    year = f"utcyear(toDate(datum.date)) + utcdayofyear(toDate(datum.date)) / {_DAYS}"
    base = (
        base_chart()
        .transform_calculate(begins=year)
        .encode(
            x=lag_axis(longest),
            y=log_share_axis(CONTAINMENT_TITLE, shares),
            color=begins,
            tooltip=tooltip(
                ("crawl:N", "starting crawl", None),
                ("b:N", "later crawl", None),
                ("lag_years:Q", "years between", ".2f"),
                ("containment:Q", None, ".1%"),
            ),
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


def _legend_years(dates: list[str]) -> list[float]:
    """Return the first, the middle and the last date of a starting crawl, as years."""
    ends = [dt.date.fromisoformat(date) for date in (min(dates), max(dates))]
    first, last = (end.year + end.timetuple().tm_yday / _DAYS for end in ends)
    return sorted({first, (first + last) / 2, last})


def _intercept_layers(fits: list[StartFit]) -> list[alt.Chart]:
    shares = [fit.coverage or 0 for fit in fits]
    exact = alt.when(f"datum.n_pairs === {_EXACT}")
    points = dated_chart().mark_point(style="dot", filled=True)
    points = points.encode(
        x=date_axis("Date of the starting crawl"),
        y=share_axis("Intercept (containment at zero)", shares, "intercept", zero=False),
        fillOpacity=exact.then(alt.value(0)).otherwise(alt.value(1)),
        opacity=lit_opacity(CRAWL),
        strokeWidth=lit_width(CRAWL, 1.2, 3.0),
        tooltip=tooltip(
            ("crawl:N", "starting crawl", None),
            "date:N",
            ("intercept:Q", None, ".1%"),
            ("persistence:Q", "live on for a year", ".1%"),
            ("n_pairs:Q", "pairs", None),
        ),
    )
    return [pickable(points, CRAWL)]


def _say_persistence(yearly: list[float]) -> str:
    same = "it" if len(yearly) == 1 else "each"
    by = same if percent(min(yearly)) == percent(max(yearly)) else "them"
    return f"By {by} {spread(yearly)} live on for a year."


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
