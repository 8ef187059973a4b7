"""Curves of a plan for a chart: coverage against crawl size, union against frequency."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Literal

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Basis, Estimate, Estimates
from crawlgauge.model.intervals import LEVEL
from crawlgauge.model.pairs import years_of
from crawlgauge.model.ranges import within

__all__ = [
    "ALL_QUANTITIES",
    "LASTING",
    "TURNOVER",
    "CoverageTarget",
    "CurvePoint",
    "NextCrawl",
    "Plan",
    "PlanningCurves",
    "Schedule",
    "Situation",
    "Standstill",
    "UnionTarget",
    "coverage_to_keep",
    "coverage_to_reach",
    "derive",
    "find_situation",
    "find_union",
    "list_schedules",
    "planning_curves",
    "union_and_gain",
    "why_no_plan",
    "years_until",
]


# ---------------------------------------------------------------------------- where a series stands


Quantity = Literal["population", "persistence", "growth", "union"]

LASTING: tuple[Quantity, ...] = ("population", "persistence", "growth")
"""What the long run depends on."""

TURNOVER: tuple[Quantity, ...] = ("persistence", "growth", "union")
"""What becomes of the archive without any crawl depends on these."""

ALL_QUANTITIES: tuple[Quantity, ...] = ("population", *TURNOVER)

_BY_MODEL = (
    "worked out by the model from coverage and persistence: how well it holds is not known "
    "without capture histories"
)
_RANGE_ONLY = "the estimates settle a range only (grade C)"
_OTHER_SCOPE = (
    "not identifiable without capture histories: the scope changed, and what earlier crawls hold "
    "of the present one is not known"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One possible truth of a situation.

    Parameters
    ----------
    population
        URLs that live at the newest crawl.
    persistence
        Share of them that lives on for a year.
    growth
        Relative growth of the population per year.
    union
        Share of the living that the archive holds, just after the newest crawl.
    """

    population: float
    persistence: float
    growth: float
    union: float

    def seniority(self, years: float) -> float:
        """Return the share of the population after some years that lives already now."""
        return float(min(1.0, self.persistence / (1 + self.growth)) ** years)

    def coverage(self, n_urls: float) -> float:
        """Return the coverage of a crawl of some size at the present population."""
        return min(1.0, n_urls / self.population)

    def population_after(self, years: float) -> float:
        """Return the population after some years."""
        return float(self.population * (1 + self.growth) ** years)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a plan starts from.

    Parameters
    ----------
    population, persistence, growth, union
        As in `Point`, with their ranges; no growth where it is not known. At grade C only the
        ranges, without a value.
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
                f"the coverage is not known ({_why(coverage)}): further crawls of the same scope "
                "would help"
            )
    if estimates.persistence.value is None:
        return (
            f"how many live on is not known ({_why(estimates.persistence)}): crawls of three "
            "dates or more would help"
        )
    if estimates.half_life_years.value is None:
        return (
            "how long they live is not known, as hardly any are seen to disappear: crawls over a "
            "longer time would help"
        )
    return None


def find_situation(estimates: Estimates) -> Situation:
    """Read off where a series stands.

    Parameters
    ----------
    estimates
        The estimates, from which something can be planned.
    """
    gaps = np.diff(np.unique(years_of(estimates.crawls)))
    years = float(gaps.sum())
    settle = _leave_range if estimates.agreement.grade == "C" else _leave_all
    return Situation(
        population=settle(_find_population(estimates)),
        persistence=settle(within(estimates.persistence, most=1.0)),
        growth=settle(_find_growth(estimates)),
        union=settle(find_union(estimates)),
        held_ratio=1.0 if estimates.union is None else estimates.union.held_ratio,
        n_urls=estimates.crawls[-1].n_urls,
        largest=max(crawl.n_urls for crawl in estimates.crawls),
        years=years,
        shortest=float(gaps.min(initial=math.inf)),
        longest=float(gaps.max(initial=0.0)),
        crawls_per_year=gaps.size / years if years else None,
    )


def derive(
    situation: Situation, needs: tuple[Quantity, ...], function: Callable[[Point], float]
) -> Estimate:
    """Return what follows from a situation, with the range that those of its quantities lead to.

    Every quantity is taken at either end of its range, in all combinations: their errors come from
    the same overlaps and go together in ways that are not known.

    Parameters
    ----------
    situation
        What is known.
    needs
        The quantities that `function` looks at.
    function
        What to compute.
    """
    known = {name: getattr(situation, name) for name in needs}
    lacking = [each.reason for each in known.values() if each.value is None]
    value = None
    if not lacking:
        value = function(_point(**{name: each.value for name, each in known.items()}))
    ends = {
        name: (each.low, each.high)
        for name, each in known.items()
        if each.low is not None and each.high is not None
    }
    if len(ends) < len(known):
        reason = lacking[0] if lacking else next(known[n].reason for n in needs if n not in ends)
        return Estimate(value=value, reason=reason)
    corners = [
        function(_point(**dict(zip(ends, corner, strict=True))))
        for corner in product(*ends.values())
    ]
    if value is not None:
        corners.append(value)
    bases: set[Basis] = {estimate.basis for estimate in known.values()}
    return Estimate(
        value=value,
        low=min(corners),
        high=max(corners),
        level=LEVEL,
        basis="empirical-band" if "empirical-band" in bases else "interval",
        reason=lacking[0] if lacking else None,
    )


def _leave_all(estimate: Estimate) -> Estimate:
    return estimate


def _leave_range(estimate: Estimate) -> Estimate:
    """Take away the value, which is not to be planned with."""
    if estimate.value is None:
        return estimate
    return replace(estimate, value=None, reason=_RANGE_ONLY)


def _why(estimate: Estimate) -> str:
    return estimate.why


def _point(**quantities: float) -> Point:
    nothing = dict.fromkeys((field.name for field in fields(Point)), math.nan)
    return Point(**(nothing | quantities))


def _find_population(estimates: Estimates) -> Estimate:
    """Return what lives at the newest crawl: no less than it holds."""
    return within(estimates.population, least=float(estimates.crawls[-1].n_urls))


def _find_growth(estimates: Estimates) -> Estimate:
    growth = estimates.growth_per_year
    # A population whose growth is not known is planned with as it is.
    return (
        Estimate(value=0.0, low=0.0, high=0.0, basis="interval") if growth.value is None else growth
    )


def find_union(estimates: Estimates) -> Estimate:
    """Return the union coverage, by the model's own recursion where it is not counted.

    Parameters
    ----------
    estimates
        The estimates.
    """
    if estimates.union is not None:
        return estimates.union.coverage
    if any(check.id == "change-point" and check.status == "warn" for check in estimates.checks):
        return Estimate.unknown(_OTHER_SCOPE)
    persistence = estimates.persistence
    rows = estimates.per_crawl
    missing = [row.coverage.reason for row in rows[1:] if row.coverage.value is None]
    if persistence.value is None or missing:
        return Estimate.unknown(missing[0] or "" if missing else persistence.reason or "")
    held, day = float(estimates.crawls[0].n_urls), estimates.crawls[0].date
    for crawl, row in zip(estimates.crawls[1:], rows[1:], strict=True):
        survival = min(1.0, persistence.value) ** ((crawl.date - day).days / DAYS_PER_YEAR)
        coverage = min(1.0, row.coverage.value or 0.0)
        held, day = crawl.n_urls + (1 - coverage) * survival * held, crawl.date
    newest = _find_population(estimates)
    if newest.value is None:
        return newest
    return Estimate(value=min(1.0, held / newest.value), reason=_BY_MODEL)


# ------------------------------------------------------------------------------ the types of a plan


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCrawl:
    """What one more crawl would add.

    Parameters
    ----------
    n_urls
        Its size.
    after_years
        Time since the newest crawl.
    coverage
        Share of what lives then that it holds by itself.
    n_new
        URLs of it that no crawl holds so far.
    union_before, union_after
        Union coverage just before and just after it.
    gain
        The difference.
    cost
        What it costs; None if no cost is given.
    statement
        The same in words.
    """

    n_urls: float
    after_years: float
    coverage: Estimate
    n_new: Estimate
    union_before: Estimate
    union_after: Estimate
    gain: Estimate
    cost: float | None
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTarget:
    """How large a crawl must be to hold a wanted share of what lives.

    Parameters
    ----------
    target
        The wanted coverage of a single crawl.
    n_urls
        Its size, at the population of the newest crawl.
    cost
        Of such a crawl; None if no cost is given.
    statement
        The same in words.
    """

    target: float
    n_urls: Estimate
    cost: Estimate | None
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionTarget:
    """How large crawls must be for all of them together to hold a wanted share of what lives.

    Parameters
    ----------
    target
        The wanted union coverage.
    n_urls_next
        Size of the next crawl with which it is reached at once.
    n_urls_each
        Size of every crawl with which it is kept in the long run.
    cost_next, cost_per_year
        Of that crawl, and of a year of such crawls; None if no cost is given.
    statement
        The same in words.
    """

    target: float
    n_urls_next: Estimate
    n_urls_each: Estimate
    cost_next: Estimate | None
    cost_per_year: Estimate | None
    statement: str


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    """When the share of the living that is held falls below a floor if no crawl is made any more.

    Parameters
    ----------
    floor
        The share to stay above.
    after_years
        Time since the newest crawl until all crawls together hold less.
    newest_after_years
        The same of the newest crawl alone.
    statement
        The same in words.
    """

    floor: float
    after_years: Estimate
    newest_after_years: Estimate
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to crawl, and what it would bring.

    Parameters
    ----------
    level
        What was compared: ``url``, ``content`` or ``text``.
    start
        What is known of the series, from which it is planned.
    crawls_per_year
        How often crawls are made in this plan.
    budget
        URLs a year.
    next_crawl
        The next crawl, of the wanted size or at this budget.
    coverage_target, union_target, standstill
        What was asked for; None if it was not.
    schedules
        The budget in fewer and larger, or more and smaller crawls.
    comparison
        What the schedules show, in words.
    cost_per_year
        Of the budget; None if no cost is given.
    warnings
        What to be careful about, in words.
    """

    level: str
    start: Situation
    crawls_per_year: float
    budget: float
    next_crawl: NextCrawl
    coverage_target: CoverageTarget | None
    union_target: UnionTarget | None
    standstill: Standstill | None
    schedules: tuple[Schedule, ...]
    comparison: str
    cost_per_year: float | None
    warnings: tuple[str, ...]

    @property
    def statements(self) -> tuple[str, ...]:
        """All that the plan says, a sentence or two for each question."""
        parts = (self.coverage_target, self.union_target, self.next_crawl, self.standstill)
        asked = [part.statement for part in parts if part is not None]
        return (*asked, self.comparison)


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


# ------------- what crawls of a size and at intervals lead to, if each draws evenly from what lives


def union_and_gain(
    point: Point, ratio: float, n_urls: float, years: float
) -> tuple[float, float, float]:
    """Return union coverage before a crawl, what the crawl adds to it, and its new URLs.

    Parameters
    ----------
    point
        The situation just after the newest crawl.
    ratio
        How likely a held URL is to be captured, over how likely any living one is.
    n_urls, years
        Size of the crawl, and the time until it.

    Examples
    --------
    >>> point = Point(population=1000.0, persistence=0.5, growth=0.0, union=0.8)
    >>> union_and_gain(point, 1.0, 300.0, 1.0)
    (0.4, 0.18, 180.0)
    """
    population = point.population_after(years)
    before = point.union * point.seniority(years)
    captured = min(n_urls, population)
    ratio = _possible(ratio, captured / population)
    new = captured * (1 - min(1.0, ratio * before))
    return before, min(new / population, 1 - before), new


def coverage_to_reach(before: float, ratio: float, target: float) -> float:
    """Return the coverage of one crawl that lifts the union to `target`; above 1 if none does.

    Examples
    --------
    >>> round(coverage_to_reach(0.4, 1.0, 0.7), 6)
    0.5
    """
    if target <= before:
        return 0.0
    room = 1 - ratio * before
    return (target - before) / room if room > 0 else math.inf


def coverage_to_keep(kept: float, ratio: float, target: float) -> float:
    """Return the coverage of every crawl that keeps the union at `target` after each.

    Parameters
    ----------
    kept
        Share of the union that is left when the next crawl comes.
    ratio
        As in `union_and_gain`.
    target
        The union coverage just after a crawl.
    """
    room = 1 - ratio * kept * target
    return target * (1 - kept) / room if room > 0 else math.inf


def steady_union(kept: float, ratio: float, coverage: float) -> float:
    """Return the union coverage after each crawl, once it has settled.

    For even capture this is ``c / (1 − (1 − c)·γ)``.

    Examples
    --------
    >>> round(steady_union(0.5, 1.0, 0.4), 6)
    0.571429
    """
    ratio = _possible(ratio, coverage)
    return min(1.0, coverage / (1 - kept + coverage * ratio * kept))


def mean_union(kept: float, ratio: float, coverage: float) -> float:
    """Return the union coverage averaged over the time between crawls, once it has settled."""
    after = steady_union(kept, ratio, coverage)
    if kept >= 1:
        return after
    return after * (1 - kept) / -math.log(kept) if kept > 0 else 0.0


def _possible(ratio: float, coverage: float) -> float:
    """Cut a ratio by which held URLs would be captured more than certainly."""
    return min(ratio, 1 / coverage) if coverage > 0 else ratio


def years_until(point: Point, held: float, floor: float) -> float:
    """Return when a held share of the living falls to `floor` by turnover; infinite if never.

    Examples
    --------
    >>> point = Point(population=1000.0, persistence=0.5, growth=0.0, union=0.8)
    >>> years_until(point, 0.8, 0.2)
    2.0
    """
    if held <= floor:
        return 0.0
    yearly = point.seniority(1.0)
    return math.log(held / floor) / -math.log(yearly) if yearly < 1 else math.inf


# -------------------- A yearly budget in few large or many small crawls, once the union has settled


_USUAL_FREQUENCIES = (1.0, 2.0, 4.0, 12.0)
_ALIKE = 0.05
"""Half-yearly crawls are 1.996 a year by the calendar: no other schedule than two a year."""


def list_schedules(
    situation: Situation, budget: float, crawls_per_year: float
) -> tuple[Schedule, ...]:
    """Work out a budget at the usual frequencies, the present and the wanted one.

    Parameters
    ----------
    situation
        Where the series stands.
    budget
        URLs a year.
    crawls_per_year
        The wanted frequency.
    """
    present = situation.crawls_per_year
    own = {crawls_per_year, *([present] if present else [])}
    usual = {
        often
        for often in _USUAL_FREQUENCIES
        if all(abs(often - other) > _ALIKE * other for other in own)
    }
    return tuple(make_schedule(situation, budget, often) for often in sorted(own | usual))


def make_schedule(situation: Situation, budget: float, crawls_per_year: float) -> Schedule:
    """Work out what a yearly budget leads to in so many crawls.

    Parameters
    ----------
    situation
        Where the series stands.
    budget
        URLs a year.
    crawls_per_year
        Number of crawls they are captured in.
    """
    n_urls, interval, ratio = budget / crawls_per_year, 1 / crawls_per_year, situation.held_ratio
    return Schedule(
        crawls_per_year=crawls_per_year,
        n_urls=n_urls,
        coverage=derive(situation, ("population",), lambda point: point.coverage(n_urls)),
        union_after=derive(
            situation,
            LASTING,
            lambda point: steady_union(point.seniority(interval), ratio, point.coverage(n_urls)),
        ),
        union_mean=derive(
            situation,
            LASTING,
            lambda point: mean_union(point.seniority(interval), ratio, point.coverage(n_urls)),
        ),
        is_present=crawls_per_year == situation.crawls_per_year,
    )


# --------------------------------------------------------------------- curves of a plan for a chart


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
