"""Curves of a plan for a chart: coverage against crawl size, union against frequency."""

import math

import numpy as np

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.planning.plan import CurvePoint, PlanningCurves
from crawlgauge.model.planning.schedules import make_schedule
from crawlgauge.model.planning.situation import Situation, derive, find_situation, why_no_plan

__all__ = ["planning_curves"]

_N_SIZES = 41
_N_FREQUENCIES = 31
_BEYOND = 2.0
"""Sizes are drawn up to twice the largest crawl: further on nothing has been observed."""

_FEWEST_PER_YEAR = 0.5
_MOST_PER_YEAR = 12.0


def planning_curves(estimates: Estimates) -> PlanningCurves | None:
    """Return the curves of a series, or None where nothing can be planned, or only a range.

    Parameters
    ----------
    estimates
        What is known of the series.
    """
    situation = find_situation(estimates)
    often = situation.crawls_per_year
    if often is None or why_no_plan(estimates) or situation.population.value is None:
        return None
    sizes = np.linspace(0.0, _BEYOND * situation.largest, _N_SIZES).tolist()
    budget = situation.n_urls * often
    frequencies = np.geomspace(
        min(_FEWEST_PER_YEAR, often), max(_MOST_PER_YEAR, often), _N_FREQUENCIES
    ).tolist()
    return PlanningCurves(
        coverage_by_size=_points(sizes, [_cover(situation, size) for size in sizes]),
        union_by_frequency=_points(
            frequencies,
            [make_schedule(situation, budget, often).union_mean for often in frequencies],
        ),
        crawls_per_year=often,
        budget=budget,
        largest=situation.largest,
    )


def _cover(situation: Situation, n_urls: float) -> Estimate:
    return derive(situation, ("population",), lambda point: point.coverage(n_urls))


def _points(places: list[float], estimates: list[Estimate]) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(x=place, value=estimate.value, low=estimate.low, high=estimate.high)
        for place, estimate in zip(places, estimates, strict=True)
        if estimate.value is not None and math.isfinite(estimate.value)
    )
