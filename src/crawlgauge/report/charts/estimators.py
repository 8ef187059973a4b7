"""All estimators side by side, each with what it assumes."""

import math

import altair as alt

from crawlgauge.model.estimates import Estimates, EstimatorRow
from crawlgauge.model.panels import Panels
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.report.charts.drawing import (
    CRAWL,
    Picture,
    base_chart,
    count_axis,
    date_axis,
    dated_chart,
    draw_band,
    lit_opacity,
    lit_width,
    mark_at,
    pickable,
    range_axis,
    rows_height,
    share_axis,
    significant,
    tooltip,
)
from crawlgauge.report.words import CLOSED, join, number_of, with_range

# ------------------------------------------- all estimators side by side, each with what it assumes


_PAIRS = "from pairs, even capture assumed"
_OPEN = "from histories, with turnover"
_CLOSED = "from histories, no turnover assumed"
_KINDS = (_PAIRS, _OPEN, _CLOSED)
_OF_PAIRS = ("paper-forward", "paper-backward", "two-way", "growth")


def draw_estimators(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw the typical coverage that each estimator gives."""
    known = [row for row in estimates.estimators if row.coverage is not None]
    if not known:
        return "no estimator gives a coverage"
    known.sort(key=lambda row: _KINDS.index(_kind(row.name)))
    return Picture(
        rows=[
            {
                "estimator": row.name,
                "kind": _kind(row.name),
                "coverage": significant(row.coverage),
                "persistence": significant(row.persistence),
                "population": significant(row.population),
                "is_headline": "yes" if row.name == estimates.headline.estimator else "no",
            }
            for row in known
        ],
        layers=_estimator_layers(estimates, known),
        caption=_describe_estimators(estimates, known),
        alternative=f"A dot for each of {number_of(len(known), 'estimator')}. {_list_all(known)}.",
        height=rows_height(len(known)),
    )


def _kind(name: str) -> str:
    if name in _OF_PAIRS:
        return _PAIRS
    return _CLOSED if name in CLOSED else _OPEN


def _estimator_layers(estimates: Estimates, known: list[EstimatorRow]) -> list[alt.Chart]:
    typical, order = estimates.headline.coverage, [row.name for row in known]
    most = max(typical.value or 0, *(significant(row.coverage) or 0 for row in known))
    x = range_axis("Typical coverage", most * 1.05)
    layers = draw_band(typical, "x")
    if most > 1:
        layers.append(mark_at().mark_rule(style="guide").encode(x=alt.datum(1)))
    present = {_kind(name) for name in order}
    scale = alt.Scale(domain=[kind for kind in _KINDS if kind in present])
    legend = alt.Legend(title="Estimated", direction="vertical", symbolSize=45)
    dots = (
        base_chart()
        .mark_point(filled=True, size=50)
        .encode(
            x=x,
            y=alt.Y(
                "estimator:N", title=None, sort=order, axis=alt.Axis(grid=True, labelLimit=120)
            ),
            shape=alt.Shape("kind:N", scale=scale, legend=legend),
            color=alt.Color("kind:N", scale=scale, legend=legend),
            tooltip=tooltip(
                "estimator:N",
                ("coverage:Q", None, ".1%"),
                ("persistence:Q", None, ".1%"),
                ("population:Q", None, ",.0f"),
            ),
        )
    )
    ring = (
        base_chart()
        .transform_filter("datum.is_headline === 'yes'")
        .mark_point(style="outline", size=150, shape="circle")
    )
    return [*layers, dots, ring.encode(x=x, y=alt.Y("estimator:N", sort=order))]


def _describe_estimators(estimates: Estimates, known: list[EstimatorRow]) -> str:
    headline = estimates.headline
    lacking = [row.name for row in estimates.estimators if row.coverage is None]
    typical = headline.coverage
    ring = None
    if headline.estimator is not None and typical.value is not None:
        drawn = "Ringed, with its range as a band" if typical.low is not None else "Ringed"
        ring = f"{drawn}: the headline, {headline.estimator}, {with_range(typical, percent)}."
    above = [row.name for row in estimates.estimators if (row.coverage or 0) > 1]
    return join(
        f"{number_of(len(known), 'estimator')} of the typical coverage.",
        ring,
        "Estimators that assume no turnover take what is gone, or not there yet, for missed, and "
        "are shown for comparison only."
        if any(row.name in CLOSED for row in known)
        else None,
        f"No value: {names(lacking)}." if lacking else None,
        f"Above 100 % (dashed), which is impossible: {names(above)}." if above else None,
    )


def _list_all(known: list[EstimatorRow]) -> str:
    parts = []
    for kind in _KINDS:
        alike = [row for row in known if _kind(row.name) == kind]
        if alike:
            shares = ", ".join(f"{row.name} {percent(row.coverage or 0)}" for row in alike)
            parts.append(f"{kind}: {shares}")
    return "; ".join(parts).capitalize()


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
_TWO = 2
_MUCH = 2


def draw_agreement(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw the coverage of each crawl by every estimator that allows for turnover."""
    chosen = [
        row
        for row in estimates.estimators
        if row.name in _COMPARED and sum(value is not None for value in row.per_crawl) > 1
    ]
    if len(chosen) < _TWO:
        return (
            "fewer than two estimators with different assumptions give a coverage for each crawl; "
            "capture histories are needed for more"
        )
    order = [row.name for row in chosen]
    points = [
        (crawl, row.name, significant(value))
        for row in chosen
        for crawl, value in zip(estimates.crawls, row.per_crawl, strict=True)
        if value is not None
    ]
    agreement, spread = estimates.agreement, _say_spread(estimates)
    return Picture(
        rows=[
            {
                "crawl": crawl.label,
                "date": crawl.date.isoformat(),
                "estimator": name,
                "coverage": share,
            }
            for crawl, name, share in points
        ],
        layers=_agreement_layers([share or 0 for _, _, share in points], order),
        caption=join(
            f"Coverage of each crawl by {number_of(len(chosen), 'estimator')}: {', '.join(order)}.",
            spread,
            f"Grade {agreement.grade}: {agreement.reason}" if agreement.grade != "none" else None,
            "They are made from the same crawls: agreement is needed for trust, but does not prove "
            "that they are right.",
        ),
        alternative=join(
            f"{number_of(len(chosen), 'line')} over time, one for each of {', '.join(order)}.",
            spread,
        ),
    )


def _agreement_layers(shares: list[float], order: list[str]) -> list[alt.Chart]:
    scale = alt.Scale(domain=order)
    legend = alt.Legend(title="Estimator", columns=3, symbolSize=45)
    base = dated_chart().encode(
        x=date_axis(),
        y=share_axis("Coverage", shares, "coverage", zero=False),
        color=alt.Color("estimator:N", scale=scale, legend=legend),
        tooltip=tooltip("crawl:N", "date:N", "estimator:N", ("coverage:Q", None, ".1%")),
    )
    lines = base.mark_line(strokeWidth=1, opacity=0.6)
    points = base.mark_point(size=28).encode(
        shape=alt.Shape("estimator:N", scale=scale, legend=legend),
        opacity=lit_opacity(CRAWL),
        strokeWidth=lit_width(CRAWL, 1.3, 2.6),
    )
    return [lines, pickable(points, CRAWL)]


def _say_spread(estimates: Estimates) -> str:
    spread = estimates.agreement.spread
    if spread is None:
        return ""
    if spread > math.log(_MUCH):
        return f"The largest typical coverage is {math.exp(spread):.1f} times the smallest."
    return f"The largest typical coverage exceeds the smallest by {percent(math.expm1(spread))}."


# ------------------------------------------ how many URLs just one crawl holds, just two, and so on


_MAX_LABELLED = 12


def draw_capture_frequencies(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw in how many crawls the URLs of the archive are."""
    noun, frequencies = things(estimates.level), estimates.capture_frequencies
    if frequencies is None:
        return "there are no capture histories"
    total = sum(frequencies)
    is_sample = any(crawl.n_sampled is not None for crawl in estimates.crawls)
    ends = (
        f"{percent(frequencies[0] / total)} of the {noun} are in just one crawl, "
        f"{percent(frequencies[-1] / total)} in every one."
    )
    return Picture(
        rows=[
            {"n_crawls": number, "n_urls": frequency, "share": significant(frequency / total)}
            for number, frequency in enumerate(frequencies, start=1)
        ],
        layers=_frequency_layers(frequencies, noun),
        caption=join(
            f"{count(total)} {noun}{' of the sample' if is_sample else ''} by the number of "
            f"crawls that hold them, out of {number_of(len(frequencies), 'crawl')}.",
            ends,
            "Turnover and uneven capture both leave many in one crawl only; this figure does not "
            "tell them apart.",
        ),
        alternative=f"Bars. {ends}",
    )


def _frequency_layers(frequencies: tuple[int, ...], noun: str) -> list[alt.Chart]:
    base = base_chart().encode(
        x=alt.X(
            "n_crawls:O",
            title="Number of crawls that hold it",
            axis=alt.Axis(labelAngle=0, labelOverlap="greedy"),
        ),
        y=count_axis("Held by exactly that many", noun, frequencies, "n_urls"),
        tooltip=tooltip(
            ("n_crawls:O", "crawls", None), ("n_urls:Q", noun, ","), ("share:Q", None, ".1%")
        ),
    )
    bars = base.mark_bar()
    if len(frequencies) > _MAX_LABELLED:
        return [bars]
    shares = base.mark_text(style="note", dy=-6).encode(text=alt.Text("share:Q", format=".0%"))
    return [bars, shares]
