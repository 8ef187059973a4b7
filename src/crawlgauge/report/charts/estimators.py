"""All estimators side by side, each with what it assumes."""

import math

import altair as alt

from crawlgauge.model.estimates import Estimates, EstimatorRow
from crawlgauge.model.panels import Panels
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.report.charts import drawing
from crawlgauge.report.words import CLOSED, join, number_of, with_range

# ------------------------------------------- all estimators side by side, each with what it assumes


_PAIRS = "from pairs, even capture assumed"
_OPEN = "from histories, with turnover"
_CLOSED = "from histories, no turnover assumed"
_KINDS = (_PAIRS, _OPEN, _CLOSED)
_OF_PAIRS = ("paper-forward", "paper-backward", "two-way", "growth")


def draw_estimators(estimates: Estimates, _: Panels) -> drawing.Picture | str:
    """Draw the typical coverage that each estimator gives."""
    known = [row for row in estimates.estimators if row.coverage is not None]
    if not known:
        return "no estimator gives a coverage"
    known.sort(key=lambda row: _KINDS.index(_kind(row.name)))
    return drawing.Picture(
        rows=[
            {
                "estimator": row.name,
                "kind": _kind(row.name),
                "coverage": drawing.significant(row.coverage),
                "persistence": drawing.significant(row.persistence),
                "population": drawing.significant(row.population),
                "is_headline": "yes" if row.name == estimates.headline.estimator else "no",
            }
            for row in known
        ],
        layers=_estimator_layers(estimates, known),
        caption=_describe_estimators(estimates, known),
        alternative=f"A dot for each of {number_of(len(known), 'estimator')}. {_list_all(known)}.",
        height=drawing.rows_height(len(known)),
    )


def _kind(name: str) -> str:
    if name in _OF_PAIRS:
        return _PAIRS
    return _CLOSED if name in CLOSED else _OPEN


def _estimator_layers(estimates: Estimates, known: list[EstimatorRow]) -> list[alt.Chart]:
    typical, order = estimates.headline.coverage, [row.name for row in known]
    most = max(typical.value or 0, *(drawing.significant(row.coverage) or 0 for row in known))
    x = drawing.range_axis("Typical coverage", most * 1.05)
    layers = drawing.draw_band(typical, "x")
    if most > 1:
        layers.append(drawing.draw_line(1, "x"))
    present = {_kind(name) for name in order}
    scale = alt.Scale(domain=[kind for kind in _KINDS if kind in present])
    legend = alt.Legend(title="Estimated", direction="vertical", symbolSize=45)
    dots = (
        drawing.base_chart()
        .mark_point(filled=True, size=50)
        .encode(
            x=x,
            y=alt.Y(
                "estimator:N", title=None, sort=order, axis=alt.Axis(grid=True, labelLimit=120)
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
        drawing.base_chart()
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
    kinds: dict[str, list[str]] = {}
    for row in known:
        kinds.setdefault(_kind(row.name), []).append(f"{row.name} {percent(row.coverage or 0)}")
    return "; ".join(f"{kind}: {', '.join(shares)}" for kind, shares in kinds.items()).capitalize()


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


def draw_agreement(estimates: Estimates, _: Panels) -> drawing.Picture | str:
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
    rows: list[drawing.Row] = [
        {
            "crawl": crawl.label,
            "date": crawl.date.isoformat(),
            "estimator": row.name,
            "coverage": drawing.significant(value),
        }
        for row in chosen
        for crawl, value in zip(estimates.crawls, row.per_crawl, strict=True)
        if value is not None
    ]
    agreement, spread = estimates.agreement, _say_spread(estimates)
    return drawing.Picture(
        rows=rows,
        layers=_agreement_layers([float(row["coverage"] or 0) for row in rows], order),
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
    base = drawing.dated_chart().encode(
        x=drawing.date_axis(),
        y=drawing.share_axis("Coverage", shares, "coverage", zero=False),
        color=alt.Color("estimator:N", scale=scale, legend=legend),
        tooltip=["crawl:N", "date:N", "estimator:N", alt.Tooltip("coverage:Q", format=".1%")],
    )
    lines = base.mark_line(strokeWidth=1, opacity=0.6)
    shape = alt.Shape("estimator:N", scale=scale, legend=legend)
    points = base.mark_point(size=28).encode(shape=shape)
    return [lines, drawing.lit(points, widths=(1.3, 2.6), pick=True)]


def _say_spread(estimates: Estimates) -> str:
    spread = estimates.agreement.spread
    if spread is None:
        return ""
    if spread > math.log(_MUCH):
        return f"The largest typical coverage is {math.exp(spread):.1f} times the smallest."
    return f"The largest typical coverage exceeds the smallest by {percent(math.expm1(spread))}."


# ------------------------------------------ how many URLs just one crawl holds, just two, and so on


_MAX_LABELLED = 12


def draw_capture_frequencies(estimates: Estimates, _: Panels) -> drawing.Picture | str:
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
    return drawing.Picture(
        rows=[
            {
                "n_crawls": number,
                "n_urls": frequency,
                "share": drawing.significant(frequency / total),
            }
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
    base = drawing.base_chart().encode(
        x=alt.X(
            "n_crawls:O",
            title="Number of crawls that hold it",
            axis=alt.Axis(labelAngle=0, labelOverlap="greedy"),
        ),
        y=drawing.count_axis("Held by exactly that many", noun, frequencies, "n_urls"),
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
