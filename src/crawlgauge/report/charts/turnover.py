"""What each crawl kept, recovered and found anew, above what it missed."""

from typing import TYPE_CHECKING

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.model.turnover import CrawlTurnover, Turnover
from crawlgauge.report.charts.chart import Cell, Chart
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Rows,
    base_chart,
    count_axis,
    crawl_axis,
    lit_opacity,
    pickable,
    significant,
    to_specification,
)
from crawlgauge.report.words import join

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_turnover"]

_NAME = "turnover"
_COLUMNS = ("crawl", "date", "part", "n_urls", "low", "high", "height", "order")
_HEIGHT = 240
_LEGEND_COLUMNS = 3
_PARTS = {
    "kept": "kept",
    "recovered": "recovered",
    "new": "new",
    "added": "not in the crawl before",
    "alone": "no crawl to compare with",
    "missed": "missed",
}
"""What parts are called, from the axis upwards; what is missed goes downwards."""


def draw_turnover(turnover: Turnover) -> Chart:
    """Draw a bar for each crawl: its URLs by whether they were known, and what it missed.

    Parameters
    ----------
    turnover
        Of the crawls.
    """
    noun = things(turnover.level)
    rows: Rows = tuple(
        row
        for crawl, of_crawl in zip(turnover.crawls, turnover.per_crawl, strict=True)
        for row in _rows(crawl, of_crawl)
    )
    return Chart(
        name=_NAME,
        title=f"What each crawl kept, recovered and found anew, and the {noun} that it missed",
        caption=_describe(turnover),
        alternative=f"Stacked bars, one for each crawl. {_say_course(turnover)}",
        columns=_COLUMNS,
        rows=rows,
        specification=to_specification(_layers(turnover, rows), _COLUMNS, rows, height=_HEIGHT),
    )


def _rows(crawl: Crawl, row: CrawlTurnover) -> Rows:
    parts: dict[str, Estimate] = {"kept": row.kept}
    if row.kept.value is None:
        parts = {"alone": Estimate(value=crawl.n_urls)}
    elif row.new.value is None:
        parts["added"] = row.added
    else:
        parts |= {"recovered": row.recovered, "new": row.new}
    parts["missed"] = row.missed
    return tuple(
        _row(crawl, part, number) for part, number in parts.items() if number.value is not None
    )


def _row(crawl: Crawl, part: str, number: Estimate) -> tuple[Cell, ...]:
    value = number.value or 0
    return (
        crawl.label,
        crawl.date.isoformat(),
        _PARTS[part],
        value,
        significant(number.low),
        significant(number.high),
        -value if part == "missed" else value,
        list(_PARTS).index(part),
    )


def _layers(turnover: Turnover, rows: Rows) -> "list[alt.Chart]":
    import altair as alt

    noun = things(turnover.level)
    shown = [name for name in _PARTS.values() if any(row[2] == name for row in rows)]
    held = [crawl.n_urls for crawl in turnover.crawls]
    missed = max((row.missed.value or 0 for row in turnover.per_crawl), default=0)
    axis = count_axis("Held above, missed below", noun, held, "height", below=missed)
    labels = [crawl.label for crawl in turnover.crawls]
    base = base_chart().encode(x=crawl_axis(alt.X, "crawl", "Crawl", labels, labelAngle=-45))
    bars = base.mark_bar().encode(
        y=axis.stack("zero"),
        color=alt.Color(
            "part:N",
            title=None,
            scale=alt.Scale(domain=shown),
            legend=alt.Legend(columns=_LEGEND_COLUMNS),
        ),
        order=alt.Order("order:Q"),
        opacity=lit_opacity(CRAWL),
        tooltip=[
            alt.Tooltip("crawl:N"),
            alt.Tooltip("date:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("n_urls:Q", title=noun, format=",.0f"),
            alt.Tooltip("low:Q", format=",.0f"),
            alt.Tooltip("high:Q", format=",.0f"),
        ],
    )
    return [pickable(bars, CRAWL)]


def _describe(turnover: Turnover) -> str:
    noun = things(turnover.level)
    return join(
        f"Above the axis: the {noun} of each crawl, by whether the crawl before held them (kept), "
        "an earlier one did (recovered) or none did (new).",
        f"Below: {noun} that were captured before and after a crawl, but not by it; they are the "
        "least that it missed."
        if turnover.capture_frequencies
        else "What was missed takes capture histories, which this table does not have.",
        _say_course(turnover),
        "What the newest crawl missed is not yet known." if turnover.capture_frequencies else None,
    )


def _say_course(turnover: Turnover) -> str:
    kept, distinct = turnover.self_overlap.value, turnover.n_distinct.value
    return join(
        None if kept is None else f"From one crawl to the next, {percent(kept)} are kept.",
        None
        if distinct is None
        else f"All crawls together hold {count(distinct)} {things(turnover.level)}.",
    )
