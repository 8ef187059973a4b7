"""All estimators side by side, each with what it assumes."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawlgauge.model.estimates import Estimates, EstimatorRow
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Rows,
    base_chart,
    count_axis,
    date_axis,
    lit_opacity,
    lit_width,
    pickable,
    share_axis,
    significant,
    to_specification,
)
from crawlgauge.report.words import join, number_of, with_range

if TYPE_CHECKING:
    import altair as alt

__all__ = ["draw_agreement", "draw_capture_frequencies", "draw_estimators"]


# ------------------------------------------- all estimators side by side, each with what it assumes


_PAIRS = "from pairs, even capture assumed"
_OPEN = "from histories, with turnover"
_CLOSED = "from histories, no turnover assumed"
_KINDS = (_PAIRS, _OPEN, _CLOSED)
_OF_PAIRS = ("paper-forward", "paper-backward", "two-way", "growth")
_OF_CLOSED = (
    "lincoln-petersen",
    "chapman",
    "schnabel",
    "chao",
    "loglinear-mt",
    "loglinear-mth",
)
_ESTIMATOR_COLUMNS = ("estimator", "kind", "coverage", "persistence", "population", "is_headline")
_ROW_HEIGHT = 16


def draw_estimators(estimates: Estimates) -> Chart | NoChart:
    """Draw the typical coverage that each estimator gives.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Typical coverage by all estimators, each with other assumptions"
    known = [row for row in estimates.estimators if row.coverage is not None]
    if not known:
        reason = "no estimator gives a coverage"
        return NoChart(name="estimators", title=title, reason=reason)
    rows: Rows = tuple(
        (
            row.name,
            _kind(row.name),
            significant(row.coverage),
            significant(row.persistence),
            significant(row.population),
            "yes" if row.name == estimates.headline.estimator else "no",
        )
        for row in sorted(known, key=lambda row: _KINDS.index(_kind(row.name)))
    )
    return Chart(
        name="estimators",
        title=title,
        caption=_describe_estimators(estimates, known),
        alternative=f"A dot for each of {number_of(len(known), 'estimator')}. {_list_all(known)}.",
        columns=_ESTIMATOR_COLUMNS,
        rows=rows,
        specification=to_specification(
            _estimator_layers(estimates, rows),
            _ESTIMATOR_COLUMNS,
            rows,
            height=_ROW_HEIGHT * len(rows),
        ),
    )


def _kind(name: str) -> str:
    if name in _OF_PAIRS:
        return _PAIRS
    return _CLOSED if name in _OF_CLOSED else _OPEN


def _estimator_layers(estimates: Estimates, rows: Rows) -> "list[alt.Chart]":
    import altair as alt

    shares = [float(row[_ESTIMATOR_COLUMNS.index("coverage")] or 0) for row in rows]
    typical = estimates.headline.coverage
    most = max(*shares, typical.value or 0, shares[0])
    x = alt.X(
        "coverage:Q",
        title="Typical coverage",
        scale=alt.Scale(domain=[0, most * 1.05], nice=False),
        axis=alt.Axis(format="~%", tickCount=6, grid=True),
    )
    line = alt.Chart(alt.InlineData(values=[{}]))
    layers = []
    if typical.low is not None and typical.high is not None:
        low, high = significant(typical.low), significant(typical.high)
        band = line.mark_rect(style="band", clip=True)
        layers.append(band.encode(x=alt.datum(low), x2=alt.datum(high)))
    if most > 1:
        layers.append(line.mark_rule(style="guide").encode(x=alt.datum(1)))
    kinds = [kind for kind in _KINDS if any(row[1] == kind for row in rows)]
    scale = alt.Scale(domain=kinds)
    legend = alt.Legend(title="Estimated", direction="vertical", symbolSize=45)
    dots = (
        base_chart()
        .mark_point(filled=True, size=50)
        .encode(
            x=x,
            y=alt.Y(
                "estimator:N",
                title=None,
                sort=[str(row[0]) for row in rows],
                axis=alt.Axis(grid=True, labelLimit=120),
            ),
            shape=alt.Shape("kind:N", scale=scale, legend=legend),
            color=alt.Color("kind:N", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("estimator:N"),
                alt.Tooltip("coverage:Q", format=".1%"),
                alt.Tooltip("persistence:Q", format=".1%"),
                alt.Tooltip("population:Q", format=",.0f"),
            ],
        )
    )
    ring = (
        base_chart()
        .transform_filter("datum.is_headline === 'yes'")
        .mark_point(style="outline", size=150, shape="circle")
    )
    order = [str(row[0]) for row in rows]
    return [*layers, dots, ring.encode(x=x, y=alt.Y("estimator:N", sort=order))]


def _describe_estimators(estimates: Estimates, known: list[EstimatorRow]) -> str:
    headline = estimates.headline
    lacking = [row.name for row in estimates.estimators if row.coverage is None]
    typical = headline.coverage
    ring = None
    if headline.estimator is not None and typical.value is not None:
        drawn = "Ringed, with its range as a band" if typical.low is not None else "Ringed"
        ring = f"{drawn}: the headline, {headline.estimator}, {with_range(typical, percent)}."
    closed = [row for row in known if _kind(row.name) == _CLOSED]
    return join(
        f"{number_of(len(known), 'estimator')} of the typical coverage. {_list_all(known)}.",
        ring,
        "Estimators that assume no turnover take what is gone, or not there yet, for missed, and "
        "are shown for comparison only."
        if closed
        else None,
        f"No value: {names(lacking)}." if lacking else None,
        _say_impossible(known),
    )


def _list_all(known: list[EstimatorRow]) -> str:
    kinds = [
        (
            kind,
            [
                f"{row.name} {percent(row.coverage or 0)}"
                for row in known
                if _kind(row.name) == kind
            ],
        )
        for kind in _KINDS
    ]
    return "; ".join(
        f"{kind}: {', '.join(shares)}" for kind, shares in kinds if shares
    ).capitalize()


def _say_impossible(known: list[EstimatorRow]) -> str | None:
    above = [row.name for row in known if (row.coverage or 0) > 1]
    if not above:
        return None
    return f"Above 100 % (dashed), which is impossible: {names(above)}."


# -------------------------- how far estimators with different assumptions agree from crawl to crawl


# Those of the grade: the other ones from pairs share all assumptions with the two-way model.
_COMPARED = (
    "two-way",
    "cjs",
    "jolly-seber",
    "manly-parr",
    "rested-manly-parr",
    "known-alive",
    "latent-class",
)
_AGREEMENT_COLUMNS = ("crawl", "date", "estimator", "coverage")
_AGREEMENT_HEIGHT = 190
_TWO = 2
_MUCH = 2


def draw_agreement(estimates: Estimates) -> Chart | NoChart:
    """Draw the coverage of each crawl by every estimator that allows for turnover.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    title = "Coverage of each crawl by the estimators that allow for turnover"
    chosen = [row for row in estimates.estimators if _has_course(row)]
    if len(chosen) < _TWO:
        reason = (
            "fewer than two estimators with different assumptions give a coverage for each crawl; "
            "capture histories are needed for more"
        )
        return NoChart(name="agreement", title=title, reason=reason)
    rows: Rows = tuple(
        (crawl.label, crawl.date.isoformat(), row.name, significant(value))
        for row in chosen
        for crawl, value in zip(estimates.crawls, row.per_crawl, strict=True)
        if value is not None
    )
    return Chart(
        name="agreement",
        title=title,
        caption=_describe_agreement(estimates, chosen),
        alternative=(
            f"{number_of(len(chosen), 'line')} over time, one for each of "
            f"{', '.join(row.name for row in chosen)}. {_say_spread(estimates)}".strip()
        ),
        columns=_AGREEMENT_COLUMNS,
        rows=rows,
        specification=to_specification(
            _agreement_layers(rows, [row.name for row in chosen]),
            _AGREEMENT_COLUMNS,
            rows,
            height=_AGREEMENT_HEIGHT,
        ),
    )


def _has_course(row: EstimatorRow) -> bool:
    """Tell whether an estimator allows for turnover and for coverage that differs by crawl."""
    known = [value for value in row.per_crawl if value is not None]
    return row.name in _COMPARED and len(known) > 1


def _agreement_layers(rows: Rows, order: Sequence[str]) -> "list[alt.Chart]":
    import altair as alt

    shares = [float(row[_AGREEMENT_COLUMNS.index("coverage")] or 0) for row in rows]
    scale = alt.Scale(domain=list(order))
    legend = alt.Legend(title="Estimator", columns=3, symbolSize=45)
    base = (
        base_chart()
        .transform_calculate(when="toDate(datum.date)")
        .encode(
            x=date_axis(),
            y=share_axis("Coverage", shares, "coverage", zero=False),
            color=alt.Color("estimator:N", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("crawl:N"),
                alt.Tooltip("date:N"),
                alt.Tooltip("estimator:N"),
                alt.Tooltip("coverage:Q", format=".1%"),
            ],
        )
    )
    lines = base.mark_line(strokeWidth=1, opacity=0.6)
    points = base.mark_point(size=28).encode(
        shape=alt.Shape("estimator:N", scale=scale, legend=legend),
        opacity=lit_opacity(CRAWL),
        strokeWidth=lit_width(CRAWL, 1.3, 2.6),
    )
    return [lines, pickable(points, CRAWL)]


def _describe_agreement(estimates: Estimates, chosen: list[EstimatorRow]) -> str:
    agreement = estimates.agreement
    grade = f"Grade {agreement.grade}: {agreement.reason}" if agreement.grade != "none" else None
    return join(
        f"Coverage of each crawl by {number_of(len(chosen), 'estimator')}: "
        f"{', '.join(row.name for row in chosen)}.",
        _say_spread(estimates),
        grade,
        "They are made from the same crawls: agreement is needed for trust, but does not prove "
        "that they are right.",
    )


def _say_spread(estimates: Estimates) -> str:
    spread = estimates.agreement.spread
    if spread is None:
        return ""
    if spread > math.log(_MUCH):
        return f"The largest typical coverage is {math.exp(spread):.1f} times the smallest."
    return f"The largest typical coverage exceeds the smallest by {percent(math.expm1(spread))}."


# ------------------------------------------ how many URLs just one crawl holds, just two, and so on


_NAME = "capture-frequencies"
_FREQUENCIES_COLUMNS = ("n_crawls", "n_urls", "share")
_FREQUENCIES_HEIGHT = 160
_MAX_LABELLED = 12


def draw_capture_frequencies(estimates: Estimates) -> Chart | NoChart:
    """Draw in how many crawls the URLs of the archive are.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    noun = things(estimates.level)
    title = f"How many {noun} are in just one crawl, in just two, and so on"
    frequencies = estimates.capture_frequencies
    if frequencies is None:
        return NoChart(name=_NAME, title=title, reason="there are no capture histories")
    total = sum(frequencies)
    rows: Rows = tuple(
        (number, frequency, significant(frequency / total))
        for number, frequency in enumerate(frequencies, start=1)
    )
    return Chart(
        name=_NAME,
        title=title,
        caption=_describe(estimates, frequencies),
        alternative=f"Bars. {_say_ends(frequencies, noun)}",
        columns=_FREQUENCIES_COLUMNS,
        rows=rows,
        specification=to_specification(
            _layers(frequencies, noun), _FREQUENCIES_COLUMNS, rows, height=_FREQUENCIES_HEIGHT
        ),
    )


def _layers(frequencies: tuple[int, ...], noun: str) -> "list[alt.Chart]":
    import altair as alt

    base = base_chart().encode(
        x=alt.X(
            "n_crawls:O",
            title="Number of crawls that hold it",
            axis=alt.Axis(labelAngle=0, labelOverlap="greedy"),
        ),
        y=count_axis("In just so many crawls", noun, frequencies, "n_urls"),
        tooltip=[
            alt.Tooltip("n_crawls:O", title="crawls"),
            alt.Tooltip("n_urls:Q", title=noun, format=","),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    bars = base.mark_bar()
    if len(frequencies) > _MAX_LABELLED:
        return [bars]
    shares = base.mark_text(style="note", dy=-6).encode(text=alt.Text("share:Q", format=".0%"))
    return [bars, shares]


def _describe(estimates: Estimates, frequencies: tuple[int, ...]) -> str:
    noun = things(estimates.level)
    is_sample = any(crawl.n_sampled is not None for crawl in estimates.crawls)
    where = " of the sample" if is_sample else ""
    return join(
        f"{count(sum(frequencies))} {noun}{where} by the number of crawls that hold them, out of "
        f"{number_of(len(frequencies), 'crawl')}.",
        _say_ends(frequencies, noun),
        "Turnover and uneven capture both leave many in one crawl only; this figure does not tell "
        "them apart.",
    )


def _say_ends(frequencies: tuple[int, ...], noun: str) -> str:
    total = sum(frequencies)
    once, every = frequencies[0] / total, frequencies[-1] / total
    return f"{percent(once)} of the {noun} are in just one crawl, {percent(every)} in every one."
