"""The pairs of crawls as rows of a chart, and as what the published line is fitted to."""

import math

import altair as alt
import numpy as np

from crawlgauge.model.estimates import Estimates, PairResidual
from crawlgauge.model.pairs import PairData, pair_data
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.report.charts.chart import Cell
from crawlgauge.report.charts.drawing import (
    PAIR,
    base_chart,
    lit_opacity,
    lit_width,
    pickable,
    significant,
    tooltip,
)
from crawlgauge.report.words import number_of

__all__ = [
    "CONTAINMENT_TITLE",
    "DECAY_HEIGHT",
    "fitted_pairs",
    "list_pairs",
    "pair_points",
    "pair_tooltip",
    "say_left_out",
    "shared_pairs",
]

CONTAINMENT_TITLE = "Share found in the later crawl (log)"
"""Of all axes of containments."""

DECAY_HEIGHT = 190
"""Of all figures with time differences, so that they can stand side by side."""

_MANY = 500
_SIZE, _SMALL_SIZE = 26, 7
_OPACITY, _SMALL_OPACITY = 0.65, 0.4


def shared_pairs(estimates: Estimates) -> list[PairResidual]:
    """Return the pairs that share something, and so have a logarithm."""
    return [pair for pair in estimates.residuals if pair.n_shared]


def list_pairs(estimates: Estimates, *, shared: bool = False) -> list[dict[str, Cell]]:
    """Return a row for each known pair, or each that shares something, the earlier crawl first."""
    crawls, paper = {crawl.label: crawl for crawl in estimates.crawls}, estimates.paper
    rows = []
    for pair in shared_pairs(estimates) if shared else estimates.residuals:
        a, b, expected = crawls[pair.a], crawls[pair.b], None
        if paper.coverage is not None and paper.persistence is not None:
            expected = paper.coverage * paper.persistence**pair.lag_years
        row: dict[str, Cell] = {
            "a": a.label,
            "date_a": a.date.isoformat(),
            "n_a": a.n_urls,
            "b": b.label,
            "date_b": b.date.isoformat(),
            "n_b": b.n_urls,
            "lag_years": significant(pair.lag_years),
            "n_shared": pair.n_shared,
            "containment": significant(pair.containment),
            "containment_backward": significant(pair.containment_backward),
            "expected": significant(expected),
            "r": None if pair.log_r is None else significant(math.exp(pair.log_r)),
        }
        rows.append(row)
    return rows


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
    points = base_chart().mark_point(style=style, size=_SMALL_SIZE if is_many else _SIZE)
    return pickable(
        points.encode(
            opacity=lit_opacity(PAIR, _SMALL_OPACITY if is_many else _OPACITY),
            strokeWidth=lit_width(PAIR, 1, 2.2),
            tooltip=pair_tooltip(noun),
        ),
        PAIR,
    )


def say_left_out(estimates: Estimates) -> str:
    """Say how many pairs cannot be drawn on a logarithmic scale, if any."""
    n_zero = sum(pair.n_shared == 0 for pair in estimates.residuals)
    if not n_zero:
        return ""
    verb = "shares nothing and has" if n_zero == 1 else "share nothing and have"
    return f"{number_of(n_zero, 'pair')} {verb} no place on a logarithmic scale."


def fitted_pairs(estimates: Estimates) -> PairData:
    """Return the pairs as the fits take them."""
    places = {crawl.label: k for k, crawl in enumerate(estimates.crawls)}
    n_shared = np.full((len(places), len(places)), MISSING, dtype=np.int64)
    np.fill_diagonal(n_shared, [crawl.n_counted for crawl in estimates.crawls])
    for pair in estimates.residuals:
        i, j = places[pair.a], places[pair.b]
        n_shared[i, j] = n_shared[j, i] = pair.n_shared
    return pair_data(OverlapTable(crawls=estimates.crawls, n_shared=n_shared))


def pair_tooltip(noun: str) -> list[alt.Tooltip]:
    """Return what is shown of a pair when one points at it."""
    return tooltip(
        ("a:N", "crawl a", None),
        ("date_a:N", "date of a", None),
        ("n_a:Q", f"{noun} of a", ","),
        ("b:N", "crawl b", None),
        ("date_b:N", "date of b", None),
        ("n_b:Q", f"{noun} of b", ","),
        ("n_shared:Q", f"shared {noun}", ","),
        ("containment:Q", "share of a found in b", ".1%"),
        ("containment_backward:Q", "share of b found in a", ".1%"),
        ("expected:Q", "expected by the published line", ".1%"),
        ("r:Q", "R, found over expected", ".3f"),
    )
