"""Charts of questions: what each crawl kept and missed, and coverage by stratum."""

from collections.abc import Iterator
from typing import cast

import altair as alt

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.model.strata import Strata, StratumEstimate
from crawlgauge.model.turnover import CrawlTurnover, Turnover
from crawlgauge.report.charts import drawing
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.words import join, number_of, with_range

# --------------------- what each crawl kept, recovered and found anew, above what it missed


_LEGEND_COLUMNS = 3
_PARTS = {
    "kept": "kept",
    "recovered": "recovered",
    "new": "new",
    "added": "not in the crawl before",
    "alone": "not compared",
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
    picture = drawing.Picture(
        rows=rows,
        layers=_layers(turnover, {str(row["part"]) for row in rows}),
        caption=_describe(turnover),
        alternative=f"Stacked bars, one for each crawl. {_say_course(turnover)}",
    )
    # There is always a picture of it.
    return cast("Chart", drawing.make_chart("turnover", title, picture))


def _list_rows(crawl: Crawl, row: CrawlTurnover) -> Iterator[drawing.Row]:
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
                "low": drawing.significant(number.low),
                "high": drawing.significant(number.high),
                "height": -number.value if part == "missed" else number.value,
                "order": list(_PARTS).index(part),
            }


def _layers(turnover: Turnover, shown: set[str]) -> list[alt.Chart]:
    noun = things(turnover.level)
    held = [crawl.n_urls for crawl in turnover.crawls]
    missed = max((row.missed.value or 0 for row in turnover.per_crawl), default=0)
    axis = drawing.count_axis("↑ held, ↓ missed", noun, held, "height", below=missed)
    labels = [crawl.label for crawl in turnover.crawls]
    base = drawing.base_chart().encode(
        x=drawing.crawl_axis(alt.X, "crawl", "Crawl", labels, labelAngle=-45)
    )
    bars = base.mark_bar().encode(
        y=axis.stack("zero"),
        color=alt.Color(
            "part:N",
            title=None,
            scale=alt.Scale(domain=[name for name in _PARTS.values() if name in shown]),
            legend=alt.Legend(columns=_LEGEND_COLUMNS),
        ),
        order=alt.Order("order:Q"),
        tooltip=[
            *("crawl:N", "date:N", "part:N"),
            alt.Tooltip("n_urls:Q", title=noun, format=",.0f"),
            alt.Tooltip("low:Q", format=",.0f"),
            alt.Tooltip("high:Q", format=",.0f"),
        ],
    )
    return [drawing.lit(bars, pick=True)]


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


# ---------------- coverage by stratum: a dot with its range for each, and the whole as a line


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
    picture: drawing.Picture | str = f"the coverage of no {strata.noun[0]} is known"
    if known:
        picture = _draw_known(strata, known[:_MAX_ROWS], len(known))
    title = f"Coverage of {strata.noun[1]} by crawl {strata.newest}"
    return drawing.make_chart(f"strata-{strata.by}", title, picture)


def _draw_known(strata: Strata, shown: list[StratumEstimate], n_known: int) -> drawing.Picture:
    total, left = strata.post_stratified.coverage, n_known - len(shown)
    has_ranges = any(stratum.coverage.low is not None for stratum in shown)
    return drawing.Picture(
        rows=[
            {
                "stratum": stratum.name,
                "held": stratum.n_urls,
                "coverage": drawing.significant(stratum.coverage.value),
                "coverage_low": drawing.significant(stratum.coverage.low),
                "coverage_high": drawing.significant(stratum.coverage.high),
                "population": drawing.significant(stratum.population.value),
                "missing": drawing.significant(stratum.missing.value),
                "persistence": drawing.significant(stratum.persistence.value),
            }
            for stratum in shown
        ],
        layers=_strata_layers(strata, shown),
        caption=join(
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
        height=drawing.rows_height(len(shown)),
    )


def _strata_layers(strata: Strata, shown: list[StratumEstimate]) -> list[alt.Chart]:
    values, highs = (
        [drawing.significant(getattr(stratum.coverage, end)) or 0.0 for stratum in shown]
        for end in ("value", "high")
    )
    whole = strata.post_stratified.coverage.value
    # A range that reaches far beyond the possible would leave no room for all others.
    most = max(*values, *highs, whole or 0.0)
    x = drawing.range_axis("Coverage", min(most * 1.05, max(1.05, max(values) * 1.05)))
    y = alt.Y(
        "stratum:N",
        title=None,
        sort=[stratum.name for stratum in shown],
        axis=alt.Axis(grid=True, labelLimit=220),
    )
    behind = [] if whole is None else [drawing.draw_line(drawing.significant(whole), "x")]
    ranges = drawing.base_chart().mark_rule(strokeWidth=2, opacity=0.5, clip=True)
    dots = drawing.base_chart().mark_point(filled=True, size=45, opacity=1)
    tips = [
        alt.Tooltip("stratum:N"),
        alt.Tooltip("held:Q", format=",.0f"),
        *(alt.Tooltip(f"coverage{end}:Q", format=".1%") for end in ("", "_low", "_high")),
        alt.Tooltip("population:Q", format=",.0f"),
        alt.Tooltip("missing:Q", format=",.0f"),
        alt.Tooltip("persistence:Q", format=".1%"),
    ]
    return [
        *behind,
        ranges.encode(x=alt.X("coverage_low:Q"), x2="coverage_high:Q", y=y),
        dots.encode(x=x, y=y, tooltip=tips),
    ]
