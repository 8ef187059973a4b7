"""The pair-based estimators side by side, each with what it assumes."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import EstimatorRow
from crawlgauge.model.growth import GrowthFit
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import PooledLine, fit_pooled
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["list_estimators"]

_EVEN = "All URLs are equally likely to be captured and live on at the same rate"
_ASSUMES = {
    "paper-forward": f"{_EVEN}; coverage and population are the same at all dates.",
    "paper-backward": (
        f"{_EVEN}; coverage is the same at all dates. Its persistence is not that of the URLs but "
        "persistence × e^(−growth rate): the share of a population that was alive a year before."
    ),
    "two-way": f"{_EVEN}; coverage and population may differ from crawl to crawl.",
    "growth": (
        f"{_EVEN}; the population grows or shrinks at a steady rate, by which the first crawl is "
        "extrapolated."
    ),
}


def list_estimators(
    pairs: PairData, line: PooledLine | None, fit: TwoWayFit, growth: GrowthFit | None
) -> tuple[EstimatorRow, ...]:
    """List a row for each pair-based estimator that gives a coverage.

    Parameters
    ----------
    pairs
        The pairs that all are fitted to.
    line
        The pooled forward line, where there is one.
    fit
        The two-way model.
    growth
        The model of steady growth, where it is identifiable.
    """
    return (
        *_paper_rows(pairs, line),
        *_two_way_rows(pairs, fit),
        *_growth_rows(growth),
    )


def _paper_rows(pairs: PairData, forward: PooledLine | None) -> Iterator[EstimatorRow]:
    lines = {"paper-forward": forward, "paper-backward": fit_pooled(pairs, "backward")}
    for name, line in lines.items():
        if line is not None:
            yield EstimatorRow(
                name=name,
                coverage=line.coverage,
                persistence=line.persistence,
                population=float(pairs.n_urls[-1]) / line.coverage,
                # One line knows no single crawl.
                per_crawl=(None,) * pairs.n_crawls,
                assumes=_ASSUMES[name],
            )


def _two_way_rows(pairs: PairData, fit: TwoWayFit) -> Iterator[EstimatorRow]:
    if fit.typical.any():
        coverage = _exponentials(fit.log_coverage)
        yield EstimatorRow(
            name="two-way",
            coverage=math.exp(fit.log_typical),
            persistence=math.exp(fit.log_persistence) if fit.has_persistence else None,
            population=None if coverage[-1] is None else float(pairs.n_urls[-1]) / coverage[-1],
            per_crawl=coverage,
            assumes=_ASSUMES["two-way"],
        )


def _growth_rows(growth: GrowthFit | None) -> Iterator[EstimatorRow]:
    if growth is not None:
        yield EstimatorRow(
            name="growth",
            coverage=math.exp(growth.log_typical),
            persistence=math.exp(growth.log_persistence),
            population=math.exp(growth.log_population[-1]),
            per_crawl=_exponentials(growth.log_coverage),
            assumes=_ASSUMES["growth"],
        )


def _exponentials(logs: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(log) else math.exp(log) for log in logs)
