"""Figures 2a and 2b of the paper: the line through all pairs, and through those of an urn."""

import math
from dataclasses import dataclass, replace

import altair as alt
import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.intervals import jackknife_variance
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import PooledLine, fit_pooled, half_life
from crawlgauge.model.phrases import count, per_year, percent, percent_range, span, things
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report.charts.chart import Cell
from crawlgauge.report.charts.drawing import (
    Picture,
    base_chart,
    lag_axis,
    log_share_axis,
    say_trust,
    significant,
)
from crawlgauge.report.charts.pair_rows import (
    CONTAINMENT_TITLE,
    DECAY_HEIGHT,
    fitted_pairs,
    list_pairs,
    pair_points,
    say_left_out,
)
from crawlgauge.report.words import join, number_of
from crawlgauge.simulate.urn_settings import UrnSettings, first_value
from crawlgauge.simulate.urn_table import draw_table

__all__ = ["draw_regression", "draw_simulated_regression", "find_bands"]


# ------------------------------------------------------------------- how sure the published line is


Numbers = NDArray[np.float64]

_N_POINTS = 41
_LEVEL = 0.975
_LINE_PARAMETERS = 2
_MIN_REPLICATES = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineBands:
    """The published line and 95 % bands around it, as containments at several time differences.

    Parameters
    ----------
    lags_years
        From zero to the longest.
    line
        On the line.
    jackknife
        Low and high ends from leaving out each crawl in turn; None with fewer than four crawls.
    least_squares
        Low and high ends as ordinary least squares has them, which takes pairs for independent;
        None without degrees of freedom.
    """

    lags_years: Numbers
    line: Numbers
    jackknife: tuple[Numbers, Numbers] | None
    least_squares: tuple[Numbers, Numbers] | None


def find_bands(pairs: PairData, line: PooledLine) -> LineBands:
    """Return the line with its bands.

    Parameters
    ----------
    pairs
        What the line was fitted to.
    line
        The line.
    """
    lags = np.linspace(0, float(pairs.lag_years.max()), _N_POINTS)
    logs = line.log_containments(lags)
    return LineBands(
        lags_years=lags,
        line=np.exp(logs),
        jackknife=_around(logs, _jackknife(pairs, lags)),
        least_squares=_around(logs, _least_squares(pairs, line, lags)),
    )


def _around(logs: Numbers, margin: Numbers | None) -> tuple[Numbers, Numbers] | None:
    return None if margin is None else (np.exp(logs - margin), np.exp(logs + margin))


def _least_squares(pairs: PairData, line: PooledLine, lags: Numbers) -> Numbers | None:
    from scipy.special import stdtrit

    n_freedom = pairs.n_pairs - _LINE_PARAMETERS
    if n_freedom < 1:
        return None
    weight, x = pairs.weight, pairs.lag_years
    left = pairs.log_forward - line.log_containments(x)
    variance = float(weight @ left**2) / n_freedom
    mean = float(np.average(x, weights=weight))
    spread = float(weight @ (x - mean) ** 2)
    error: Numbers = np.sqrt(variance * (1 / weight.sum() + (lags - mean) ** 2 / spread))
    return float(stdtrit(n_freedom, _LEVEL)) * error


def _jackknife(pairs: PairData, lags: Numbers) -> Numbers | None:
    from scipy.special import stdtrit

    crawls = np.unique(np.concatenate([pairs.start, pairs.end]))
    lines = [fit_pooled(_without(pairs, int(crawl)), "forward") for crawl in crawls]
    found = np.array([line.log_containments(lags) for line in lines if line is not None])
    if len(found) < max(_MIN_REPLICATES, len(crawls)):
        return None
    # As many degrees of freedom as the model's own intervals have.
    quantile = float(stdtrit(len(crawls) - _LINE_PARAMETERS, _LEVEL))
    return quantile * np.sqrt(jackknife_variance(found)[0])


def _without(pairs: PairData, crawl: int) -> PairData:
    kept = (pairs.start != crawl) & (pairs.end != crawl)
    of_pairs = ("start", "end", "n_shared", "relative_error", "weight")
    return replace(pairs, **{name: getattr(pairs, name)[kept] for name in of_pairs})


# ------------------------------------------------------------------- figures 2a and 2b of the paper


_NO_LINE = "a line needs pairs with at least two different times between them"
_SEED = 1
# 780 pairs show all there is to see, and are drawn within a second.
_MAX_SIMULATED = 40


def draw_regression(estimates: Estimates) -> Picture | str:
    """Draw the published line through the containments of all pairs, with its interval."""
    line = _published_line(estimates)
    if line is None:
        return _NO_LINE
    bands = find_bands(fitted_pairs(estimates), line)
    caption = join(
        _describe_line(estimates, line),
        _describe_bands(bands),
        say_left_out(estimates),
        say_trust(estimates),
    )
    return _draw(caption, estimates, bands)


def draw_simulated_regression(estimates: Estimates) -> Picture | str:
    """Draw the same for a simulated urn that has the fitted coverage and persistence."""
    line = _published_line(estimates)
    if line is None:
        return _NO_LINE
    if line.log_coverage > 0:
        return f"no urn has the coverage of the line, {percent(line.coverage)}"
    if line.log_persistence > 0:
        return f"in no urn {percent(line.persistence)} live on for a year, as on the line"
    crawls = _choose_crawls(estimates)
    settings = _settle_urn(crawls, line)
    simulated = _simulate(crawls, settings, estimates.level)
    drawn = _published_line(simulated)
    if drawn is None:
        return "crawls of such an urn share too little"
    caption = _describe_simulation(estimates, line, simulated, drawn, settings)
    return _draw(caption, simulated, find_bands(fitted_pairs(simulated), drawn))


def _draw(caption: str, estimates: Estimates, bands: LineBands) -> Picture:
    pairs = list_pairs(estimates, shared=True)
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
        height=DECAY_HEIGHT,
    )


def _list_rows(pairs: list[dict[str, Cell]], bands: LineBands) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = [{"series": "pair", **row} for row in pairs]
    for place, (lag, value) in enumerate(zip(bands.lags_years, bands.line, strict=True)):
        on_line: dict[str, Cell] = {
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


def _layers(rows: list[dict[str, Cell]], noun: str, n_pairs: int) -> list[alt.Chart]:
    x = lag_axis(max(float(row["lag_years"] or 0) for row in rows))
    # Bands may be wider than what there is to see.
    y = log_share_axis(CONTAINMENT_TITLE, [float(row["containment"] or 0) for row in rows])
    line = base_chart().transform_filter("datum.series === 'line'").encode(x=x)
    low, high = alt.Y("low_least_squares:Q", title=""), alt.Y("high_least_squares:Q", title="")
    return [
        line.mark_area(style="band", clip=True).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        line.mark_line(style="edge", clip=True).encode(y=low),
        line.mark_line(style="edge", clip=True).encode(y=high),
        pair_points(noun, n_pairs).transform_filter("datum.series === 'pair'").encode(x=x, y=y),
        line.mark_line(style="fit").encode(y=y),
    ]


def _published_line(estimates: Estimates) -> PooledLine | None:
    paper = estimates.paper
    if paper.coverage is None or paper.persistence is None:
        return None
    return PooledLine(
        log_coverage=math.log(paper.coverage),
        log_persistence=math.log(paper.persistence),
        r_squared=paper.r_squared,
    )


def _choose_crawls(estimates: Estimates) -> list[Crawl]:
    """Return all crawls, or as many as are simulated, at equal distances in the series."""
    n_crawls = len(estimates.crawls)
    places = np.linspace(0, n_crawls - 1, min(n_crawls, _MAX_SIMULATED)).round().astype(int)
    return [estimates.crawls[place] for place in places]


def _settle_urn(crawls: list[Crawl], line: PooledLine) -> UrnSettings:
    """Return the paper's urn: one size and one population, at the dates of these crawls."""
    size = round(float(np.median([crawl.n_urls for crawl in crawls])))
    return UrnSettings(
        dates=tuple(crawl.date for crawl in crawls),
        population=max(size, round(size / line.coverage)),
        size=size,
        persistence=line.persistence,
    )


def _simulate(crawls: list[Crawl], settings: UrnSettings, level: str) -> Estimates:
    table = draw_table(settings, seed=_SEED, with_histories=False)
    # Under the labels of the crawls that they stand for, so that these can be chosen.
    named = tuple(
        replace(drawn, label=crawl.label) for drawn, crawl in zip(table.crawls, crawls, strict=True)
    )
    return estimate_coverage(OverlapTable(crawls=named, n_shared=table.n_shared, level=level))


def _describe_line(estimates: Estimates, line: PooledLine) -> str:
    noun, life = things(estimates.level), half_life(line.log_persistence)
    halves = "so that nothing seems to be lost" if life is None else f"half-life {span(life)}"
    impossible = " More than 100 % is impossible: these crawls do not behave as the line assumes."
    return (
        f"The line through {number_of(estimates.paper.n_pairs, 'pair')} of crawls (the share of "
        f"the earlier crawl's {noun} found in the later one): {percent(line.coverage)} at time "
        f"difference zero, read as the coverage, and {percent(line.persistence)} live on for a "
        f"year, {halves}{_say_fit(line)}.{impossible if line.log_coverage > 0 else ''}"
    )


def _say_fit(line: PooledLine) -> str:
    if line.r_squared is None:
        return ""
    # As many nines as it has: 1.00 would claim too much.
    text = f"{line.r_squared:.2f}"
    return f"; R² {text}" if text != "1.00" else f"; R² {line.r_squared:.4f}"


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


def _describe_simulation(
    found: Estimates, line: PooledLine, simulated: Estimates, drawn: PooledLine, urn: UrnSettings
) -> str:
    noun, n_crawls = things(found.level), len(simulated.crawls)
    some = f"{n_crawls} of the {len(found.crawls)} crawls" if n_crawls < len(found.crawls) else ""
    own, data = (percent(math.expm1(_scatter(every))) for every in (simulated, found))
    held, size = count(first_value(urn.population)), count(simulated.crawls[0].n_urls)
    return join(
        f"An urn of {held} {noun}, of which {percent(urn.persistence)} live on for a year; {size} "
        f"are drawn at the dates of {some or 'the crawls'} (one simulation, seed {_SEED}).",
        f"Its line gives {percent(drawn.coverage)} and {per_year(drawn.persistence)}; that of the "
        f"data gave {percent(line.coverage)} and {per_year(line.persistence)}, which the urn was "
        "made with.",
        f"Its pairs lie {own} from the line, as chance has it; those of the data {data} "
        "(root mean square).",
    )


def _scatter(estimates: Estimates) -> float:
    """Return how far pairs lie from the line, as a standard deviation of logarithms."""
    logs = [pair.log_r for pair in estimates.residuals if pair.log_r is not None]
    return math.sqrt(sum(log**2 for log in logs) / len(logs))
