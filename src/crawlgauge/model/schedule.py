"""What a yearly budget leads to in few large or many small crawls, from where a series stands."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.pairs import years_of
from crawlgauge.model.ranges import within

__all__ = [
    "ALL_QUANTITIES",
    "BEYOND",
    "LASTING",
    "TURNOVER",
    "CurvePoint",
    "PlanningCurves",
    "Point",
    "Schedule",
    "Situation",
    "bound_ratio",
    "derive",
    "find_situation",
    "find_union",
    "list_schedules",
    "planning_curves",
    "why_no_plan",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a plan starts from.

    Parameters
    ----------
    population, persistence, growth, union
        URLs that live at the newest crawl; share of them that lives on for a year; relative growth
        of the population per year, none where it is not known; share of the living that the
        archive holds just after the newest crawl. At grade C only the ranges, without a value.
    held_ratio
        How likely a held URL is to be captured, over how likely any living one is.
    n_urls
        Size of the newest crawl.
    largest
        Size of the largest crawl.
    years
        Time between the first and the newest crawl.
    shortest, longest
        Time between two crawls in a row.
    crawls_per_year
        How often crawls were made; None if all are of one day.
    """

    population: Estimate
    persistence: Estimate
    growth: Estimate
    union: Estimate
    held_ratio: float
    n_urls: int
    largest: int
    years: float
    shortest: float
    longest: float
    crawls_per_year: float | None


# ---------------------------------------------------------------------------- where a series stands


_Quantity = Literal["population", "persistence", "growth", "union"]

# What the long run depends on, and what becomes of the archive without any crawl.
LASTING: tuple[_Quantity, ...] = ("population", "persistence", "growth")
TURNOVER: tuple[_Quantity, ...] = ("persistence", "growth", "union")
ALL_QUANTITIES: tuple[_Quantity, ...] = ("population", *TURNOVER)

_BY_MODEL = (
    "worked out by the model from coverage and persistence: how well it holds is not known "
    "without capture histories"
)
_RANGE_ONLY = "the estimates settle a range only (grade C)"
_OTHER_SCOPE = (
    "not identifiable without capture histories: the scope changed, and what earlier crawls hold "
    "of the present one is not known"
)


def why_no_plan(estimates: Estimates) -> str | None:
    """Return why nothing can be planned and what would help; None if something can.

    Parameters
    ----------
    estimates
        The estimates.
    """
    failed = [check.id for check in estimates.checks if check.status == "fail"]
    if failed and estimates.headline.estimator == "two-way":
        return (
            f"the check {failed[0]} failed, so that the model does not hold: crawlgauge estimate "
            f"--explain {failed[0]} says what helps"
        )
    for coverage in (estimates.headline.coverage, _find_population(estimates)):
        if coverage.value is None:
            return (
                f"the coverage is not known ({coverage.why}): further crawls of the same scope "
                "would help"
            )
    if estimates.persistence.value is None:
        return (
            f"how many live on is not known ({estimates.persistence.why}): crawls of three "
            "dates or more would help"
        )
    if estimates.half_life_years.value is None:
        return (
            "how long they live is not known, as hardly any are seen to disappear: crawls over a "
            "longer time would help"
        )
    return None


def find_situation(estimates: Estimates) -> Situation:
    """Read off where a series stands."""
    gaps = np.diff(np.unique(years_of(estimates.crawls)))
    years = float(gaps.sum())
    growth = estimates.growth_per_year
    if growth.value is None:
        # A population whose growth is not known is planned with as it is.
        growth = Estimate(value=0.0, low=0.0, high=0.0, basis="interval")

    def settle(estimate: Estimate) -> Estimate:
        if estimates.agreement.grade != "C" or estimate.value is None:
            return estimate
        return replace(estimate, value=None, reason=_RANGE_ONLY)

    return Situation(
        population=settle(_find_population(estimates)),
        persistence=settle(within(estimates.persistence, most=1.0)),
        growth=settle(growth),
        union=settle(find_union(estimates)),
        held_ratio=1.0 if estimates.union is None else estimates.union.held_ratio,
        n_urls=estimates.crawls[-1].n_urls,
        largest=max(crawl.n_urls for crawl in estimates.crawls),
        years=years,
        shortest=float(gaps.min(initial=math.inf)),
        longest=float(gaps.max(initial=0.0)),
        crawls_per_year=gaps.size / years if years else None,
    )


def _find_population(estimates: Estimates) -> Estimate:
    """Return what lives at the newest crawl: no less than it holds."""
    return within(estimates.population, least=float(estimates.crawls[-1].n_urls))


def find_union(estimates: Estimates) -> Estimate:
    """Return the union coverage, by the model's own recursion where it is not counted."""
    if estimates.union is not None:
        return estimates.union.coverage
    if any(check.id == "change-point" and check.status == "warn" for check in estimates.checks):
        return Estimate.unknown(_OTHER_SCOPE)
    persistence, crawls = estimates.persistence, estimates.crawls
    coverages = [row.coverage for row in estimates.per_crawl[1:]]
    missing = [coverage.reason for coverage in coverages if coverage.value is None]
    if persistence.value is None or missing:
        return Estimate.unknown(missing[0] or "" if missing else persistence.reason or "")
    held, day = float(crawls[0].n_urls), crawls[0].date
    for crawl, known in zip(crawls[1:], coverages, strict=True):
        survival = min(1.0, persistence.value) ** ((crawl.date - day).days / DAYS_PER_YEAR)
        coverage = min(1.0, known.value or 0.0)
        held, day = crawl.n_urls + (1 - coverage) * survival * held, crawl.date
    newest = _find_population(estimates)
    if newest.value is None:
        return newest
    return Estimate(value=min(1.0, held / newest.value), reason=_BY_MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One possible truth of a situation; what is not looked at is not a number."""

    population: float = math.nan
    persistence: float = math.nan
    growth: float = math.nan
    union: float = math.nan

    def seniority(self, years: float) -> float:
        """Return the share of the population after some years that lives already now."""
        return float(min(1.0, self.persistence / (1 + self.growth)) ** years)

    def coverage(self, n_urls: float) -> float:
        """Return the coverage of a crawl of some size at the present population."""
        return min(1.0, n_urls / self.population)

    def population_after(self, years: float) -> float:
        """Return the population after some years."""
        return float(self.population * (1 + self.growth) ** years)


def derive(
    situation: Situation, needs: tuple[_Quantity, ...], function: Callable[[Point], float]
) -> Estimate:
    """Return what follows from some quantities, with the range that theirs lead to.

    Every quantity is taken at either end of its range, in all combinations: their errors come from
    the same overlaps and go together in ways that are not known.
    """
    known = {name: getattr(situation, name) for name in needs}
    lacking = [each.reason for each in known.values() if each.value is None]
    value = None
    if not lacking:
        value = function(Point(**{name: each.value for name, each in known.items()}))
    no_ends = [each.reason for each in known.values() if each.low is None or each.high is None]
    if no_ends:
        return Estimate(value=value, reason=(lacking or no_ends)[0])
    ends = [(each.low, each.high) for each in known.values()]
    corners = [
        function(Point(**dict(zip(known, corner, strict=True)))) for corner in product(*ends)
    ]
    if value is not None:
        corners.append(value)
    is_band = any(each.basis == "empirical-band" for each in known.values())
    return Estimate(
        value=value,
        low=min(corners),
        high=max(corners),
        basis="empirical-band" if is_band else "interval",
        reason=lacking[0] if lacking else None,
    )


# -------------------- a yearly budget in few large or many small crawls, once the union has settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A yearly budget spent in so many crawls, in the long run.

    Parameters
    ----------
    crawls_per_year
        Number of crawls.
    n_urls
        Size of each.
    coverage
        Coverage of each.
    union_after
        Union coverage just after a crawl.
    union_mean
        Union coverage averaged over time, which is also the share of all URLs ever born that some
        crawl captures.
    is_present
        Whether crawls are made so often now.
    """

    crawls_per_year: float
    n_urls: float
    coverage: Estimate
    union_after: Estimate
    union_mean: Estimate
    is_present: bool


def _steady_union(kept: float, ratio: float, coverage: float) -> float:
    """Return the union coverage after each crawl, once it has settled.

    For even capture this is ``c / (1 − (1 − c)·γ)``.

    Examples
    --------
    >>> round(_steady_union(0.5, 1.0, 0.4), 6)
    0.571429
    """
    ratio = bound_ratio(ratio, coverage)
    return min(1.0, coverage / (1 - kept + coverage * ratio * kept))


def _mean_union(kept: float, ratio: float, coverage: float) -> float:
    """Return the union coverage averaged over the time between crawls, once it has settled."""
    after = _steady_union(kept, ratio, coverage)
    if kept >= 1:
        return after
    return after * (1 - kept) / -math.log(kept) if kept > 0 else 0.0


def bound_ratio(ratio: float, coverage: float) -> float:
    """Cut a ratio by which held URLs would be captured more than certainly."""
    return min(ratio, 1 / coverage) if coverage > 0 else ratio


_USUAL_FREQUENCIES = (1.0, 2.0, 4.0, 12.0)
# Half-yearly crawls are 1.996 a year by the calendar: no other schedule than two a year.
_SAME_FREQUENCY = 0.05


def list_schedules(
    situation: Situation, budget: float, crawls_per_year: float
) -> tuple[Schedule, ...]:
    """Work out a budget at the usual frequencies, the present and the wanted one."""
    present = situation.crawls_per_year
    own = {crawls_per_year, *([present] if present else [])}
    usual = {
        often
        for often in _USUAL_FREQUENCIES
        if all(abs(often - other) > _SAME_FREQUENCY * other for other in own)
    }
    return tuple(_make_schedule(situation, budget, often) for often in sorted(own | usual))


def _make_schedule(situation: Situation, budget: float, crawls_per_year: float) -> Schedule:
    """Work out what a yearly budget leads to in so many crawls."""
    n_urls, interval, ratio = budget / crawls_per_year, 1 / crawls_per_year, situation.held_ratio

    def settle(union: Callable[[float, float, float], float]) -> Estimate:
        return derive(
            situation,
            LASTING,
            lambda point: union(point.seniority(interval), ratio, point.coverage(n_urls)),
        )

    return Schedule(
        crawls_per_year=crawls_per_year,
        n_urls=n_urls,
        coverage=_cover(situation, n_urls),
        union_after=settle(_steady_union),
        union_mean=settle(_mean_union),
        is_present=crawls_per_year == situation.crawls_per_year,
    )


# --------------------------------------------------------------------- curves of a plan for a chart


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A point of a curve with its range; the ends are None without one."""

    x: float
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningCurves:
    """Two curves for a chart.

    Parameters
    ----------
    coverage_by_size
        Coverage of a single crawl against its size.
    union_by_frequency
        Union coverage averaged over time against crawls a year, at the present yearly budget.
    crawls_per_year, budget
        What they are at present.
    largest
        Size of the largest crawl so far.
    """

    coverage_by_size: tuple[CurvePoint, ...]
    union_by_frequency: tuple[CurvePoint, ...]
    crawls_per_year: float
    budget: float
    largest: int


_N_SIZES = 41
_N_FREQUENCIES = 31
# How many times the observed range a curve is drawn, and a plan may reach before it is called an
# extrapolation.
BEYOND = 2.0

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
    sizes = np.linspace(0.0, BEYOND * situation.largest, _N_SIZES).tolist()
    budget = situation.n_urls * often
    frequencies = np.geomspace(
        min(_FEWEST_PER_YEAR, often), max(_MOST_PER_YEAR, often), _N_FREQUENCIES
    ).tolist()
    coverages = [_cover(situation, size) for size in sizes]
    unions = [_make_schedule(situation, budget, often).union_mean for often in frequencies]
    return PlanningCurves(
        coverage_by_size=_points(sizes, coverages),
        union_by_frequency=_points(frequencies, unions),
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
