"""Pairs of crawls: the six panels of the paper (arXiv:2603.15416), residuals, shapes of decay."""

import datetime as dt
import math
from collections.abc import Iterable, Sequence

import altair as alt

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimates, PairResidual, StartFit
from crawlgauge.model.panels import FittedUrn, LineBands, Panels, published_line
from crawlgauge.model.paper import PooledLine, half_life
from crawlgauge.model.phrases import count, names, per_year, percent, percent_range, span, things
from crawlgauge.report.charts.drawing import (
    PAIR,
    Picture,
    Row,
    base_chart,
    crawl_axis,
    date_axis,
    dated_chart,
    heatmap_size,
    lag_axis,
    lit,
    log_share_axis,
    numbers_fit,
    say_trust,
    share_axis,
    significant,
)
from crawlgauge.report.words import join, number_of, r_squared, spread

# --------------------------------------------------------------- the pairs as rows, and in the fit


_MANY = 500
_SIZE, _SMALL_SIZE = 26, 7
_OPACITY, _SMALL_OPACITY = 0.65, 0.4


def shared_pairs(estimates: Estimates) -> list[PairResidual]:
    """Return the pairs that share something, and so have a logarithm."""
    return [pair for pair in estimates.residuals if pair.n_shared]


def list_pairs(estimates: Estimates, pairs: Iterable[PairResidual]) -> list[Row]:
    """Return a row for each of these pairs, the earlier crawl first."""
    crawls, paper = {crawl.label: crawl for crawl in estimates.crawls}, estimates.paper
    rows = []
    for pair in pairs:
        a, b, expected = crawls[pair.a], crawls[pair.b], None
        if paper.coverage is not None and paper.persistence is not None:
            expected = paper.coverage * paper.persistence**pair.lag_years
        found: Row = {
            "lag_years": significant(pair.lag_years),
            "n_shared": pair.n_shared,
            "containment": significant(pair.containment),
            "containment_backward": significant(pair.containment_backward),
            "expected": significant(expected),
            "r": None if pair.log_r is None else significant(math.exp(pair.log_r)),
        }
        rows.append(_list_sides(a, b) | found)
    return rows


def _list_sides(a: Crawl, b: Crawl) -> Row:
    sides: Row = {}
    for side, crawl in (("a", a), ("b", b)):
        sides |= {side: crawl.label, f"date_{side}": str(crawl.date), f"n_{side}": crawl.n_urls}
    return sides


def pair_points(noun: str, n_pairs: int, style: str = "data") -> alt.Chart:
    """Return a point for each row of pairs, smaller and fainter where there are many.

    Parameters
    ----------
    noun
        What is counted, such as URLs.
    n_pairs
        How many.
    style
        ``data``, or ``muted`` where something else stands before them.
    """
    is_many = n_pairs > _MANY
    size, opacity = (_SMALL_SIZE, _SMALL_OPACITY) if is_many else (_SIZE, _OPACITY)
    points = base_chart().mark_point(style=style, size=size).encode(tooltip=pair_tooltip(noun))
    return lit(points, PAIR, opacity=opacity, widths=(1, 2.2), pick=True)


def say_left_out(estimates: Estimates) -> str:
    """Say how many pairs cannot be drawn on a logarithmic scale, if any."""
    n_zero = sum(pair.n_shared == 0 for pair in estimates.residuals)
    if not n_zero:
        return ""
    verb = "shares nothing and has" if n_zero == 1 else "share nothing and have"
    return f"{number_of(n_zero, 'pair')} {verb} no place on a logarithmic scale."


def pair_tooltip(noun: str) -> list[alt.Tooltip]:
    """Return what is shown of a pair when one points at it."""
    return [
        alt.Tooltip("a:N", title="crawl a"),
        alt.Tooltip("date_a:N", title="date of a"),
        alt.Tooltip("n_a:Q", title=f"{noun} of a", format=","),
        alt.Tooltip("b:N", title="crawl b"),
        alt.Tooltip("date_b:N", title="date of b"),
        alt.Tooltip("n_b:Q", title=f"{noun} of b", format=","),
        alt.Tooltip("n_shared:Q", title=f"shared {noun}", format=","),
        alt.Tooltip("containment:Q", title="share of a found in b", format=".1%"),
        alt.Tooltip("containment_backward:Q", title="share of b found in a", format=".1%"),
        alt.Tooltip("expected:Q", title="expected by the published line", format=".1%"),
        alt.Tooltip("r:Q", title="R, found over expected", format=".3f"),
    ]


def _heatmap_base(estimates: Estimates, down: str, across: str) -> alt.Chart:
    labels = [crawl.label for crawl in estimates.crawls]
    return base_chart().encode(
        y=crawl_axis(alt.Y, "a", down, labels),
        x=crawl_axis(alt.X, "b", across, labels, labelAngle=-90),
    )


def _cells(base: alt.Chart, color: alt.Color, tips: Sequence[alt.Tooltip]) -> alt.Chart:
    cells = base.mark_rect().encode(color=color, tooltip=tips)
    return lit(cells, PAIR, widths=(0, 1.5), pick=True)


def _numbers(base: alt.Chart, size: int, is_dark: str, number: str) -> alt.Chart:
    """Write a number into each cell, white where the cell is dark."""
    white = alt.when(is_dark).then(alt.value("#ffffff"))
    written = base.mark_text(fontSize=size).transform_calculate(number=number)
    return lit(written.encode(text="number:N", color=white.otherwise(alt.value("#000000"))), PAIR)


# --------------------------- figure 1a of the paper: how much of each crawl every other crawl holds


_FORWARD = "found in a later crawl"
_BACKWARD = "found in an earlier crawl"
_SELF = "estimated self-intersection"
_SWAPPED = {"a": "b", "date_a": "date_b", "n_a": "n_b", "containment": "containment_backward"}


def draw_containment(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw the containment of each crawl in each other as a heatmap.

    The diagonal holds the self-intersection: what the decay reaches at time difference zero.
    """
    if not estimates.residuals:
        return "no overlap of two crawls is known"
    rows, n = _list_cells(estimates), len(estimates.crawls)
    pairs = sorted(estimates.residuals, key=lambda pair: pair.containment)
    least, most = pairs[0], pairs[-1]
    return Picture(
        rows=rows,
        layers=_containment_layers(estimates, rows),
        caption=_describe_containment(estimates),
        alternative=(
            f"Heatmap of {n} by {n} crawls. Of {most.a}, {percent(most.containment)} are found in "
            f"{most.b}, the most of all pairs; of {least.a}, {percent(least.containment)} in "
            f"{least.b}, the least."
        ),
        **heatmap_size(n),
    )


def _list_cells(estimates: Estimates) -> list[Row]:
    pairs = list_pairs(estimates, estimates.residuals)
    cells: list[Row] = [{**pair, "kind": _FORWARD} for pair in pairs]
    cells += [{**_swap(pair), "kind": _BACKWARD} for pair in pairs]
    for crawl, share in zip(estimates.crawls, estimates.paper.self_intersections, strict=True):
        if share is not None:
            own: Row = {"containment": significant(share), "kind": _SELF}
            cells.append(_list_sides(crawl, crawl) | own)
    return cells


def _swap(pair: Row) -> Row:
    """Return a pair seen from its later crawl; expectation and R are of the other direction."""
    swapped = {**pair, "expected": None, "r": None}
    for one, other in _SWAPPED.items():
        swapped[one], swapped[other] = pair[other], pair[one]
    return swapped


def _containment_layers(estimates: Estimates, rows: Sequence[Row]) -> list[alt.Chart]:
    noun = things(estimates.level)
    shares = [float(row["containment"] or 0) for row in rows]
    of, found = f"{noun} of this crawl", "Share found in this crawl"
    base = _heatmap_base(estimates, of, found)
    color = alt.Color(
        "containment:Q",
        title="Containment",
        scale=alt.Scale(domain=[min(shares), max(shares)]),
        legend=alt.Legend(format="~%", tickCount=4, gradientLength=180),
    )
    tips = [alt.Tooltip("kind:N", title="share of a"), *pair_tooltip(noun)]
    own = base.transform_filter(f"datum.kind === '{_SELF}'")
    layers = [_cells(base, color, tips), own.mark_rect(style="outline").encode()]
    if numbers_fit(len(estimates.crawls)):
        is_dark = f"datum.containment > {(min(shares) + max(shares)) / 2}"
        number = "format(100 * datum.containment, '.0f')"
        layers.append(_numbers(base, 8, is_dark, number))
    return layers


def _describe_containment(estimates: Estimates) -> str:
    noun, paper, n = things(estimates.level), estimates.paper, len(estimates.crawls)
    forward = [pair.containment for pair in estimates.residuals]
    n_missing = n * (n - 1) // 2 - len(estimates.residuals)
    self_known = [share for share in paper.self_intersections if share is not None]
    diagonal = "The diagonal is empty, as two time differences are needed for a line."
    if self_known:
        diagonal = (
            f"On the diagonal, framed: the self-intersection, which the line of each starting "
            f"crawl, or of all where it has none, reaches at time difference zero "
            f"({spread(self_known)}); it is an estimate and was not observed."
        )
    return join(
        f"Containment of {number_of(n, 'crawl')}: the share of the row's {noun} that the column's "
        f"crawl holds as well. Above the diagonal earlier crawls are looked for in later ones "
        f"({spread(forward)}), below it later ones in earlier ones.",
        "Numbers are per cent." if numbers_fit(n) else None,
        diagonal,
        "A self-intersection above 100 % is impossible: the line does not hold."
        if any(share > 1 for share in self_known)
        else None,
        f"{number_of(n_missing, 'pair')} not known and left blank." if n_missing else None,
    )


# ------------------------- which pairs of crawls share more or less than the published line expects


_CLOSE = 0.05
_DARK = 0.6
# The colours always reach so far: what differs by less is not made to look like much.
_LEAST_SPAN = 0.05
_CANNOT_SHOW = (
    "A preference that all crawls share raises all overlaps alike and is not seen here: it goes "
    "into the line."
)


def draw_residuals(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw the residuals log R of all pairs as a heatmap."""
    pairs = _fitted(estimates)
    if not pairs:
        return "without two different times between crawls there is no line to compare with"
    rows = list_pairs(estimates, pairs)
    for row, pair in zip(rows, pairs, strict=True):
        row["log_r"] = significant(pair.log_r)
        row["log_r_two_way"] = significant(pair.log_r_two_way)
    return Picture(
        rows=rows,
        layers=_residuals_layers(estimates),
        caption=_describe_residuals(estimates),
        alternative=join(
            f"Heatmap of {number_of(len(rows), 'pair')}, earlier crawls down and later ones "
            "across.",
            _say_extremes(estimates),
        ),
        **heatmap_size(len(estimates.crawls)),
    )


def _residuals_layers(estimates: Estimates) -> list[alt.Chart]:
    n_crawls = len(estimates.crawls)
    most = max(_LEAST_SPAN, *(abs(pair.log_r or 0) for pair in _fitted(estimates)))
    base = _heatmap_base(estimates, "Earlier crawl", "Later crawl")
    color = alt.Color(
        "log_r:Q",
        title="log R (more than expected above 0)",
        scale=alt.Scale(domain=[-most, most], domainMid=0),
        legend=alt.Legend(
            gradientLength=180,
            values=_legend_values(most),
            labelExpr="datum.value === 0 ? '0' : format(datum.value, '+.3~f')",
        ),
    )
    tips = [
        *pair_tooltip(things(estimates.level)),
        alt.Tooltip("log_r:Q", title="log R", format="+.3f"),
        alt.Tooltip("log_r_two_way:Q", title="log R from the two-way model", format="+.3f"),
    ]
    cells = _cells(base, color, tips)
    if numbers_fit(n_crawls):
        is_dark = f"abs(datum.log_r) > {_DARK * most}"
        number = "abs(datum.log_r) < 0.005 ? '0' : format(100 * datum.log_r, '+.0f')"
        return [cells, _numbers(base, 7, is_dark, number)]
    # What lies below zero is marked: blue and orange look the same in print without colours.
    length = 0.55 * (heatmap_size(n_crawls)["height"] / n_crawls)
    signs = base.transform_filter("datum.log_r < 0").mark_tick(
        orient="horizontal", size=length, thickness=0.6, color="#000000"
    )
    return [cells, signs]


def _legend_values(most: float) -> list[float]:
    digit = 10.0 ** math.floor(math.log10(most / 2))
    step = digit * math.floor(most / 2 / digit)
    return [-2 * step, -step, 0.0, step, 2 * step]


def _fitted(estimates: Estimates) -> list[PairResidual]:
    return [pair for pair in estimates.residuals if pair.log_r is not None]


def _describe_residuals(estimates: Estimates) -> str:
    pairs = _fitted(estimates)
    n_close = sum(abs(pair.log_r or 0) < math.log1p(_CLOSE) for pair in pairs)
    is_numbered = numbers_fit(len(estimates.crawls))
    signs = "Numbers are 100 log R." if is_numbered else "Cells below zero bear a dash."
    return join(
        f"Natural logarithm of R, the containment over what the published line expects, for "
        f"{number_of(len(pairs), 'pair')}. {percent(n_close / len(pairs))} of them lie within "
        f"{percent(_CLOSE)} of the line.",
        _say_extremes(estimates),
        signs,
        f"A column of one colour is a crawl with another coverage, a row one with other kinds of "
        f"{things(estimates.level)}, a stripe along the diagonal a decay that is no straight line.",
        _CANNOT_SHOW,
    )


def _say_extremes(estimates: Estimates) -> str:
    pairs = sorted(_fitted(estimates), key=lambda pair: pair.log_r or 0)
    least, most = pairs[0], pairs[-1]
    return f"Largest: {_say_pair(most)}" + (
        "." if least is most else f"; smallest: {_say_pair(least)}."
    )


def _say_pair(pair: PairResidual) -> str:
    return f"{pair.a} and {pair.b}, R = {math.exp(pair.log_r or 0):.2f}"


# -------------------- figure 1b of the paper: the further apart two crawls are, the less they share


def draw_decay(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw the containment of each pair of crawls against the time between them."""
    pairs, noun = shared_pairs(estimates), things(estimates.level)
    if not pairs:
        return "no two crawls share anything"
    axis = log_share_axis([pair.containment for pair in pairs])
    points = pair_points(noun, len(pairs)).encode(
        x=lag_axis(max(pair.lag_years for pair in pairs)), y=axis
    )
    n_pairs = number_of(len(pairs), "pair")
    return Picture(
        rows=list_pairs(estimates, pairs),
        layers=[points],
        caption=join(
            f"{n_pairs} of crawls: the share of the earlier crawl's {noun} that the later one "
            "holds as well, by the time between them. A steady loss would be a straight line on "
            "this scale.",
            _say_ends(estimates),
            say_left_out(estimates),
        ),
        alternative=join(
            f"Scatter of {n_pairs}: time difference across, containment up.", _say_ends(estimates)
        ),
    )


def _say_ends(estimates: Estimates) -> str:
    pairs = sorted(shared_pairs(estimates), key=lambda pair: pair.lag_years)
    first, last = pairs[0], pairs[-1]
    found = f"The closest crawls ({first.a} and {first.b}, {span(first.lag_years)} apart) give "
    found += percent(first.containment)
    if last.lag_years == first.lag_years:
        return f"{found}."
    return (
        f"{found}, the furthest ({last.a} and {last.b}, {span(last.lag_years)}) "
        f"{percent(last.containment)}."
    )


# ----------- shapes that the decay may have, which agree where there are pairs and part before them


def draw_decay_shapes(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw the competing shapes of decay through the containments of all pairs."""
    curves, pairs = estimates.decay_curves, shared_pairs(estimates)
    if not curves or not pairs:
        return "the pairs are too few, or too alike in time, to fit a shape of decay"
    rows = [{"series": "pair", **row} for row in list_pairs(estimates, pairs)]
    rows += [
        {
            "series": curve.name,
            "lag_years": significant(lag),
            "containment": significant(share),
        }
        for curve in curves
        for lag, share in zip(curve.lags_years, curve.containment, strict=True)
    ]
    shown = [share for curve in curves for share in curve.containment if share > 0]
    x = lag_axis(max(float(row["lag_years"] or 0) for row in rows))
    y = log_share_axis([*shown, *(pair.containment for pair in pairs)])
    legend = alt.Legend(title="Shape of decay", symbolType="stroke", symbolSize=300)
    scale = alt.Scale(domain=[curve.name for curve in curves])
    points = pair_points(things(estimates.level), len(pairs), style="muted")
    lines = base_chart().transform_filter("datum.series !== 'pair'").mark_line(strokeWidth=2)
    return Picture(
        rows=rows,
        layers=[
            points.transform_filter("datum.series === 'pair'").encode(x=x, y=y),
            lines.encode(
                x=x,
                y=y,
                color=alt.Color("series:N", scale=scale, legend=legend),
                strokeDash=alt.StrokeDash("series:N", scale=scale, legend=legend),
            ),
        ],
        caption=_describe_shapes(estimates),
        alternative=(
            f"Scatter of {number_of(len(pairs), 'pair')} with {number_of(len(curves), 'curve')}. "
            f"At time difference zero: {_list_coverages(estimates)}."
        ),
    )


def _describe_shapes(estimates: Estimates) -> str:
    curves = estimates.decay_curves
    meanings = join(
        *(f"{c.name.capitalize()}: {c.meaning[:1].lower()}{c.meaning[1:]}" for c in curves)
    )
    noun = things(estimates.level)
    pairs = f"{number_of(len(shared_pairs(estimates)), 'pair')} of crawls"
    if len(curves) == 1:
        return join(
            f"The shape that the model assumes, through {pairs}; at time difference "
            f"zero it gives the typical coverage, {_list_coverages(estimates)}. {meanings}",
            "There are too few pairs to compare it with other shapes.",
            say_left_out(estimates),
        )
    coverages = [curve.coverage for curve in curves]
    return join(
        f"{number_of(len(curves), 'shape')} of decay through {pairs}. They part at "
        f"time difference zero, where no pair is, and give a typical coverage of "
        f"{_list_coverages(estimates)}. {meanings}",
        f"The choice of shape alone moves it by {percent(max(coverages) / min(coverages) - 1)}.",
        f"A coverage above 100 % is impossible: no crawl holds more {noun} than there are."
        if max(coverages) > 1
        else None,
        say_left_out(estimates),
    )


def _list_coverages(estimates: Estimates) -> str:
    return names([f"{percent(c.coverage)} ({c.name})" for c in estimates.decay_curves])


# ------------------------------------------------------------------- figures 2a and 2b of the paper


_NO_LINE = "a line needs pairs with at least two different times between them"


def draw_regression(estimates: Estimates, panels: Panels) -> Picture | str:
    """Draw the published line through the containments of all pairs, with its interval."""
    line, bands = published_line(estimates), panels.bands
    if line is None or bands is None:
        return _NO_LINE
    caption = join(
        _describe_line(estimates, line),
        _describe_bands(bands),
        say_left_out(estimates),
        say_trust(estimates),
    )
    return _draw(caption, estimates, bands)


def draw_simulated_regression(estimates: Estimates, panels: Panels) -> Picture | str:
    """Draw the same for a simulated urn that has the fitted coverage and persistence."""
    line = published_line(estimates)
    if line is None:
        return _NO_LINE
    if line.log_coverage > 0:
        return f"no urn has the coverage of the line, {percent(line.coverage)}"
    if line.log_persistence > 0:
        return f"in no urn {percent(line.persistence)} live on for a year, as on the line"
    if panels.urn is None:
        return "crawls of such an urn share too little"
    caption = _describe_simulation(estimates, line, panels.urn)
    return _draw(caption, panels.urn.estimates, panels.urn.bands)


def _draw(caption: str, estimates: Estimates, bands: LineBands) -> Picture:
    pairs = list_pairs(estimates, shared_pairs(estimates))
    rows = _list_rows(pairs, bands)
    return Picture(
        rows=rows,
        layers=_layers(rows, things(estimates.level), len(pairs)),
        caption=caption,
        alternative=(
            f"Scatter of {number_of(len(pairs), 'pair')} of crawls with a line that goes from "
            f"{percent(float(bands.line[0]))} at time difference zero to "
            f"{percent(float(bands.line[-1]))} at {span(float(bands.lags_years[-1]))}."
        ),
    )


def _list_rows(pairs: list[Row], bands: LineBands) -> list[Row]:
    rows: list[Row] = [{"series": "pair", **row} for row in pairs]
    for place, (lag, value) in enumerate(zip(bands.lags_years, bands.line, strict=True)):
        on_line: Row = {
            "series": "line",
            "lag_years": significant(float(lag)),
            "containment": significant(float(value)),
        }
        for suffix, band in (("", bands.jackknife), ("_least_squares", bands.least_squares)):
            for end, k in (("low", 0), ("high", 1)):
                known = None if band is None else significant(float(band[k][place]))
                on_line[f"{end}{suffix}"] = known
        rows.append(on_line)
    return rows


def _layers(rows: list[Row], noun: str, n_pairs: int) -> list[alt.Chart]:
    longest = max(float(row["lag_years"] or 0) for row in rows)
    x = lag_axis(longest)
    # Bands may be wider than what there is to see.
    y = log_share_axis([float(row["containment"] or 0) for row in rows])
    line = base_chart().transform_filter("datum.series === 'line'").encode(x=x)
    low, high = alt.Y("low_least_squares:Q", title=""), alt.Y("high_least_squares:Q", title="")
    # A page may set this to a line through fewer crawls: {intercept, slope} of the logarithms.
    ends = alt.InlineData(values=[{"lag_years": lag} for lag in (0.0, longest)])
    fewer = (
        alt.Chart(ends)
        .add_params(alt.param(name="without", value=None))
        .transform_filter("without !== null")
        .transform_calculate(containment="exp(without.intercept + without.slope * datum.lag_years)")
        .mark_line(style="fewer", clip=True)
    )
    return [
        line.mark_area(style="band", clip=True).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        line.mark_line(style="edge", clip=True).encode(y=low),
        line.mark_line(style="edge", clip=True).encode(y=high),
        pair_points(noun, n_pairs).transform_filter("datum.series === 'pair'").encode(x=x, y=y),
        line.mark_line(style="fit").encode(y=y),
        fewer.encode(x=x, y=y),
    ]


def _describe_line(estimates: Estimates, line: PooledLine) -> str:
    noun, life = things(estimates.level), half_life(line.log_persistence)
    halves = "so that nothing seems to be lost" if life is None else f"half-life {span(life)}"
    fit = "" if line.r_squared is None else f"; {r_squared(line.r_squared)}"
    impossible = " More than 100 % is impossible: these crawls do not behave as the line assumes."
    return (
        f"The line through {number_of(estimates.paper.n_pairs, 'pair')} of crawls (the share of "
        f"the earlier crawl's {noun} found in the later one): {percent(line.coverage)} at time "
        f"difference zero, read as the coverage, and {percent(line.persistence)} live on for a "
        f"year, {halves}{fit}.{impossible if line.log_coverage > 0 else ''}"
    )


def _describe_bands(bands: LineBands) -> str:
    at_zero = float(bands.line[0])
    outer, inner = bands.jackknife, bands.least_squares
    return join(
        "No band: too few crawls can be left out in turn."
        if outer is None
        else "Band: 95 %, from leaving out each crawl in turn; at zero "
        f"{percent_range(at_zero, float(outer[0][0]), float(outer[1][0]))}.",
        None
        if inner is None
        else "Dotted: the 95 % band of ordinary least squares, at zero "
        f"{percent_range(at_zero, float(inner[0][0]), float(inner[1][0]))}, which takes pairs for "
        "independent although they share crawls.",
    )


def _describe_simulation(found: Estimates, line: PooledLine, urn: FittedUrn) -> str:
    noun, simulated, n_crawls = things(found.level), urn.estimates, len(urn.estimates.crawls)
    some = f"{n_crawls} of the {len(found.crawls)} crawls" if n_crawls < len(found.crawls) else ""
    own, data = (percent(math.expm1(_scatter(every))) for every in (simulated, found))
    held, size = count(urn.population), count(simulated.crawls[0].n_urls)
    coverage, persistence = simulated.paper.coverage or 0, simulated.paper.persistence or 0
    return join(
        f"An urn of {held} {noun}, of which {percent(urn.persistence)} live on for a year; {size} "
        f"are drawn at the dates of {some or 'the crawls'} (one simulation, seed {urn.seed}).",
        f"Its line gives {percent(coverage)} and {per_year(persistence)}; that of the data gave "
        f"{percent(line.coverage)} and {per_year(line.persistence)}, which the urn was made with.",
        f"Its pairs lie {own} from the line, as chance has it; those of the data {data} "
        "(root mean square).",
    )


def _scatter(estimates: Estimates) -> float:
    """Return how far pairs lie from the line, as a standard deviation of logarithms."""
    logs = [pair.log_r for pair in estimates.residuals if pair.log_r is not None]
    return math.sqrt(sum(log**2 for log in logs) / len(logs))


# ----------- figures 3a and 3b of the paper: a line for each starting crawl, and where it begins


_NO_START = "no crawl has pairs with two different times between them"
_EXACT = 2
_WIDE_RANGE = 1.0
_MONTH = "utcFormat(utc(floor(datum.value), floor(datum.value % 1 * 12)), '%b %Y')"
_DAYS = 366
_NOT_ITS_OWN = (
    "An intercept does not contain the starting crawl's own coverage, but that of the crawls "
    "after it; and where URLs differ in how long they live, intercepts rise by themselves."
)


def draw_start_lines(estimates: Estimates, _: Panels) -> Picture | str:
    """Draw a line through the pairs of each starting crawl."""
    fits = _start_fits(estimates)
    if not fits:
        return _NO_START
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
            _NOT_ITS_OWN,
        ),
        alternative=f"{lines} over the time difference, with dots. {_say_intercepts(fits)}",
    )


def draw_start_intercepts(estimates: Estimates, panels: Panels) -> Picture | str:
    """Draw where the line of each starting crawl begins, against the date of the crawl."""
    fits = _start_fits(estimates)
    if not fits:
        return _NO_START
    dates = {crawl.label: crawl.date.isoformat() for crawl in estimates.crawls}
    n_exact = sum(fit.n_pairs == _EXACT for fit in fits)
    ranges = [panels.intercepts.get(fit.label) or (None, None) for fit in fits]
    return Picture(
        rows=[
            {
                "crawl": fit.label,
                "date": dates[fit.label],
                "intercept": significant(fit.coverage),
                "low": significant(low),
                "high": significant(high),
                "persistence": significant(fit.persistence),
                "n_pairs": fit.n_pairs,
            }
            for fit, (low, high) in zip(fits, ranges, strict=True)
        ],
        layers=_intercept_layers(fits, ranges),
        caption=join(
            f"{number_of(len(fits), 'intercept')}: the containment that the line of a starting "
            "crawl reaches at time difference zero.",
            _say_intercepts(fits),
            "Bars: 95 % intervals of ordinary least squares, which takes the pairs of a crawl for "
            "independent."
            if n_exact < len(fits)
            else None,
            f"Hollow: {number_of(n_exact, 'line')} through two pairs only." if n_exact else "",
            _say_impossible_starts(fits),
            _NOT_ITS_OWN,
        ),
        alternative=join("Points over the date of the starting crawl.", _say_intercepts(fits)),
    )


def _start_fits(estimates: Estimates) -> list[StartFit]:
    return [fit for fit in estimates.paper.per_start if fit.coverage is not None]


def _list_line_rows(estimates: Estimates, fits: list[StartFit]) -> list[Row]:
    dates = {crawl.label: crawl.date.isoformat() for crawl in estimates.crawls}
    rows: list[Row] = []
    for fit in fits:
        pairs = [pair for pair in shared_pairs(estimates) if pair.a == fit.label]
        points: list[tuple[str, str | None, float, float]] = [
            ("pair", pair.b, pair.lag_years, pair.containment) for pair in pairs
        ]
        for lag in (0.0, max(pair.lag_years for pair in pairs)):
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


def _line_layers(rows: list[Row]) -> list[alt.Chart]:
    shares = [float(row["containment"] or 0) for row in rows]
    longest = max(float(row["lag_years"] or 0) for row in rows)
    # Dates have no continuous legend; years with a fraction do.
    year = f"utcyear(toDate(datum.date)) + utcdayofyear(toDate(datum.date)) / {_DAYS}"
    base = (
        base_chart()
        .transform_calculate(begins=year)
        .encode(
            x=lag_axis(longest),
            y=log_share_axis(shares),
            color=alt.Color(
                "begins:Q",
                title="Date of the starting crawl",
                scale=alt.Scale(nice=False, zero=False),
                legend=alt.Legend(values=_legend_years(rows), labelExpr=_MONTH, gradientLength=200),
            ),
            tooltip=[
                alt.Tooltip("crawl:N", title="starting crawl"),
                alt.Tooltip("b:N", title="later crawl"),
                alt.Tooltip("lag_years:Q", title="years between", format=".2f"),
                alt.Tooltip("containment:Q", format=".1%"),
            ],
        )
    )
    lines = base.transform_filter("datum.series === 'line'").mark_line().encode(detail="crawl:N")
    # Strokes as the lines: of one kind of marks, the legend is continuous as the scale is.
    dots = base.transform_filter("datum.series === 'pair'").mark_point(size=7)
    return [lit(lines, opacity=0.9, widths=(1.2, 3.0)), lit(dots, opacity=0.8, pick=True)]


def _legend_years(rows: list[Row]) -> list[float]:
    """Return the first, the middle and the last date of a starting crawl, as years."""
    dates = [str(row["date"]) for row in rows]
    ends = [dt.date.fromisoformat(date) for date in (min(dates), max(dates))]
    first, last = (end.year + end.timetuple().tm_yday / _DAYS for end in ends)
    return sorted({first, (first + last) / 2, last})


def _intercept_layers(
    fits: list[StartFit], ranges: Sequence[tuple[float | None, float | None]]
) -> list[alt.Chart]:
    shares = [fit.coverage or 0 for fit in fits]
    ends = [end for both in ranges for end in both if end is not None]
    # A range that is much wider than all there is to see is cut off.
    room = _WIDE_RANGE * (max(shares) - min(shares)) + min(shares) / 10
    seen = [min(max(end, min(shares) - room, 0), max(shares) + room) for end in ends]
    low, axis = (
        share_axis("Intercept (containment at zero)", [*shares, *seen], field, zero=False)
        for field in ("low", "intercept")
    )
    x = date_axis("Date of the starting crawl")
    bars = dated_chart().transform_filter("isValid(datum.low)").mark_rule(style="data", clip=True)
    exact = alt.when(f"datum.n_pairs === {_EXACT}")
    points = dated_chart().mark_point(style="dot", filled=True)
    points = points.encode(
        x=x,
        y=axis,
        fillOpacity=exact.then(alt.value(0)).otherwise(alt.value(1)),
        tooltip=[
            alt.Tooltip("crawl:N", title="starting crawl"),
            "date:N",
            *(alt.Tooltip(f"{name}:Q", format=".1%") for name in ("intercept", "low", "high")),
            alt.Tooltip("persistence:Q", title="live on for a year", format=".1%"),
            alt.Tooltip("n_pairs:Q", title="pairs"),
        ],
    )
    bars = bars.encode(x=x, y=low, y2="high:Q")
    return [lit(bars), lit(points, widths=(1.2, 3.0), pick=True)]


def _say_persistence(yearly: list[float]) -> str:
    same = "it" if len(yearly) == 1 else "each"
    by = same if percent(min(yearly)) == percent(max(yearly)) else "them"
    if max(yearly) > 1:
        return f"By {by} {percent(min(yearly))} to over 100 % live on for a year, as cannot be."
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


def _say_impossible_starts(fits: list[StartFit]) -> str:
    n_above = sum((fit.coverage or 0) > 1 for fit in fits)
    if not n_above:
        return ""
    which = "One line begins" if n_above == 1 else f"{n_above} lines begin"
    return f"{which} above 100 %, which no coverage can be."
