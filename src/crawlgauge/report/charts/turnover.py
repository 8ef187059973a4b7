"""What each crawl kept, recovered and found anew, above what it missed."""

from collections.abc import Iterator
from typing import cast

import altair as alt

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.model.turnover import CrawlTurnover, Turnover
from crawlgauge.report.charts.chart import Cell, Chart
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Picture,
    base_chart,
    count_axis,
    crawl_axis,
    lit_opacity,
    make_chart,
    pickable,
    significant,
    tooltip,
)
from crawlgauge.report.words import join

__all__ = ["draw_turnover"]

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
    rows = [
        row
        for crawl, of_crawl in zip(turnover.crawls, turnover.per_crawl, strict=True)
        for row in _list_rows(crawl, of_crawl)
    ]
    title = (
        "What each crawl kept, recovered and found anew, and the "
        f"{things(turnover.level)} that it missed"
    )
    picture = Picture(
        rows=rows,
        layers=_layers(turnover, {str(row["part"]) for row in rows}),
        caption=_describe(turnover),
        alternative=f"Stacked bars, one for each crawl. {_say_course(turnover)}",
        height=_HEIGHT,
    )
    # There is always a picture of it.
    return cast("Chart", make_chart("turnover", title, picture))


def _list_rows(crawl: Crawl, row: CrawlTurnover) -> Iterator[dict[str, Cell]]:
    parts: dict[str, Estimate] = {"kept": row.kept}
    if row.kept.value is None:
        parts = {"alone": Estimate(value=crawl.n_urls)}
    elif row.new.value is None:
        parts["added"] = row.added
    else:
        parts |= {"recovered": row.recovered, "new": row.new}
    parts["missed"] = row.missed
    for part, number in parts.items():
        if number.value is not None:
            yield {
                "crawl": crawl.label,
                "date": crawl.date.isoformat(),
                "part": _PARTS[part],
                "n_urls": number.value,
                "low": significant(number.low),
                "high": significant(number.high),
                "height": -number.value if part == "missed" else number.value,
                "order": list(_PARTS).index(part),
            }


def _layers(turnover: Turnover, shown: set[str]) -> list[alt.Chart]:
    noun = things(turnover.level)
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
            scale=alt.Scale(domain=[name for name in _PARTS.values() if name in shown]),
            legend=alt.Legend(columns=_LEGEND_COLUMNS),
        ),
        order=alt.Order("order:Q"),
        opacity=lit_opacity(CRAWL),
        tooltip=tooltip(
            *("crawl:N", "date:N", "part:N"),
            ("n_urls:Q", noun, ",.0f"),
            ("low:Q", None, ",.0f"),
            ("high:Q", None, ",.0f"),
        ),
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
