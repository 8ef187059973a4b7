"""The pairs of crawls as rows of a chart, and as what the published line is fitted to."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimates, PairResidual, PaperFit
from crawlgauge.model.pairs import PairData, pair_data
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.report.charts.chart import Cell
from crawlgauge.report.charts.drawing import significant
from crawlgauge.report.words import number_of

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "PAIR_COLUMNS",
    "fitted_pairs",
    "list_pairs",
    "logarithmic_pairs",
    "pair_tooltip",
    "say_left_out",
]

PAIR_COLUMNS = (
    "a",
    "date_a",
    "n_a",
    "b",
    "date_b",
    "n_b",
    "lag_years",
    "n_shared",
    "containment",
    "containment_backward",
    "expected",
    "r",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CrawlPair:
    a: Crawl
    b: Crawl
    residual: PairResidual


def list_pairs(estimates: Estimates) -> tuple[tuple[Cell, ...], ...]:
    """Return a row of `PAIR_COLUMNS` for each known pair, the earlier crawl first."""
    return tuple(_to_row(pair, estimates.paper) for pair in _crawl_pairs(estimates))


def logarithmic_pairs(estimates: Estimates) -> tuple[tuple[Cell, ...], ...]:
    """Return the rows of `list_pairs` that share something, and so have a logarithm."""
    place = PAIR_COLUMNS.index("n_shared")
    return tuple(row for row in list_pairs(estimates) if row[place])


def say_left_out(estimates: Estimates) -> str:
    """Say how many pairs cannot be drawn on a logarithmic scale, if any."""
    n_zero = sum(pair.n_shared == 0 for pair in estimates.residuals)
    if not n_zero:
        return ""
    verb = "shares nothing and has" if n_zero == 1 else "share nothing and have"
    return f"{number_of(n_zero, 'pair')} {verb} no place on a logarithmic scale."


def expected_containment(paper: PaperFit, lag_years: float) -> float | None:
    """Return what the published line expects at a time difference, if there is a line."""
    if paper.coverage is None or paper.persistence is None:
        return None
    return float(paper.coverage * paper.persistence**lag_years)


def fitted_pairs(estimates: Estimates) -> PairData:
    """Return the pairs as the fits take them."""
    places = {crawl.label: k for k, crawl in enumerate(estimates.crawls)}
    n_shared = np.full((len(places), len(places)), MISSING, dtype=np.int64)
    np.fill_diagonal(n_shared, [crawl.n_counted for crawl in estimates.crawls])
    for pair in estimates.residuals:
        i, j = places[pair.a], places[pair.b]
        n_shared[i, j] = n_shared[j, i] = pair.n_shared
    return pair_data(OverlapTable(crawls=estimates.crawls, n_shared=n_shared))


def pair_tooltip(noun: str) -> "list[alt.Tooltip]":
    """Return what is shown of a pair when one points at it.

    Parameters
    ----------
    noun
        What is counted, such as URLs.
    """
    import altair as alt

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


def _crawl_pairs(estimates: Estimates) -> Iterator[_CrawlPair]:
    crawls = {crawl.label: crawl for crawl in estimates.crawls}
    for residual in estimates.residuals:
        yield _CrawlPair(a=crawls[residual.a], b=crawls[residual.b], residual=residual)


def _to_row(pair: _CrawlPair, paper: PaperFit) -> tuple[Cell, ...]:
    residual = pair.residual
    return (
        pair.a.label,
        pair.a.date.isoformat(),
        pair.a.n_urls,
        pair.b.label,
        pair.b.date.isoformat(),
        pair.b.n_urls,
        significant(residual.lag_years),
        residual.n_shared,
        significant(residual.containment),
        significant(residual.containment_backward),
        significant(expected_containment(paper, residual.lag_years)),
        None if residual.log_r is None else significant(math.exp(residual.log_r)),
    )
