"""What the next crawls would bring: sizes for a wanted coverage, frequency at a budget, gains.

All of it takes crawls for even draws from what lives, at the population, the turnover and the
union coverage that were estimated.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.pairs import years_of
from crawlgauge.model.phrases import say
from crawlgauge.model.ranges import LONGEST, within
from crawlgauge.provenance import Provenance

__all__ = ["Plan"]

# ------------------------------ where a series stands, and what a yearly budget leads to from there


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
    shortest
        Time between two crawls in a row, at least.
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
    crawls_per_year: float | None


# ---------------------------------------------------------------------------- where a series stands


_Quantity = Literal["population", "persistence", "growth", "union"]

# What the long run depends on, and what becomes of the archive without any crawl.
LASTING: tuple[_Quantity, ...] = ("population", "persistence", "growth")
TURNOVER: tuple[_Quantity, ...] = ("persistence", "growth", "union")
ALL_QUANTITIES: tuple[_Quantity, ...] = ("population", *TURNOVER)

_RANGE_ONLY = "the estimates settle a range only (grade C)"


def why_no_plan(estimates: Estimates) -> str | None:
    """Return why nothing can be planned and what would help; None if something can.

    Parameters
    ----------
    estimates
        The estimates.
    """
    failed = [check.id for check in estimates.checks if check.status == "fail"]
    if failed and estimates.headline.estimator == "two-way":
        return say("plan.failed", failed=failed[0])
    for coverage in (estimates.headline.coverage, _find_population(estimates)):
        if coverage.value is None:
            return say("plan.no-coverage", coverage=coverage)
    if estimates.persistence.value is None:
        return say("plan.no-persistence", persistence=estimates.persistence)
    return say("plan.no-half-life") if estimates.half_life_years.value is None else None


def find_situation(estimates: Estimates) -> Situation:
    """Read off where a series stands."""
    gaps = np.diff(np.unique(years_of(estimates.crawls)))
    years = float(gaps.sum())
    growth = estimates.growth_per_year
    if growth.value is None:
        # A population whose growth is not known is planned with as it is.
        growth = Estimate.between(0.0, 0.0, 0.0)

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
        return Estimate.unknown(say("plan.other-scope"))
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
    return Estimate(value=min(1.0, held / newest.value), reason=say("plan.by-model"))


class Point(NamedTuple):
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
    is_known = None not in (situation.population.value, situation.persistence.value)
    if often is None or why_no_plan(estimates) or not is_known:
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
    """

    n_urls: float
    after_years: float
    coverage: Estimate
    n_new: Estimate
    union_before: Estimate
    union_after: Estimate
    gain: Estimate
    cost: float | None


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
    """

    target: float
    n_urls: Estimate
    cost: Estimate | None


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
    """

    target: float
    n_urls_next: Estimate
    n_urls_each: Estimate
    cost_next: Estimate | None
    cost_per_year: Estimate | None


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
    """

    floor: float
    after_years: Estimate
    newest_after_years: Estimate


class Doubt(NamedTuple):
    """Where a plan leaves what the crawls have shown, and numbers that say how far.

    Parameters
    ----------
    code
        ``range-only``; ``growth-unknown``; ``larger-crawl``, than twice the largest so far;
        ``larger-schedules``, the crawls a year that would be; ``longer-interval`` and
        ``shorter-interval``, than twice or half of those so far; ``longer-time``, the years that
        are told of; ``uneven``; ``even-assumed``.
    numbers
        Of the crawl, the schedules or the time that it is about.
    """

    code: str
    numbers: tuple[float, ...] = ()


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
    cost_per_year
        Of the budget; None if no cost is given.
    doubts
        What to be careful about, the gravest first.
    newest
        The newest crawl.
    provenance
        Where the estimates come from.
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
    cost_per_year: float | None
    doubts: tuple[Doubt, ...]
    newest: Crawl
    provenance: Provenance


# ------------- what crawls of a size and at intervals lead to, if each draws evenly from what lives


def _union_and_gain(
    point: Point, ratio: float, n_urls: float, years: float
) -> tuple[float, float, float]:
    """Return union coverage before a crawl, what the crawl adds to it, and its new URLs.

    Examples
    --------
    >>> point = Point(population=1000.0, persistence=0.5, growth=0.0, union=0.8)
    >>> _union_and_gain(point, 1.0, 300.0, 1.0)
    (0.4, 0.18, 180.0)
    """
    population = point.population_after(years)
    before = point.union * point.seniority(years)
    captured = min(n_urls, population)
    ratio = bound_ratio(ratio, captured / population)
    new = captured * (1 - min(1.0, ratio * before))
    return before, min(new / population, 1 - before), new


def _coverage_to_reach(before: float, ratio: float, target: float) -> float:
    """Return the coverage of one crawl that lifts the union to `target`; above 1 if none does.

    Examples
    --------
    >>> round(_coverage_to_reach(0.4, 1.0, 0.7), 6)
    0.5
    """
    if target <= before:
        return 0.0
    room = 1 - ratio * before
    return (target - before) / room if room > 0 else math.inf


def _coverage_to_keep(kept: float, ratio: float, target: float) -> float:
    """Return the coverage of every crawl that keeps the union at `target` after each."""
    room = 1 - ratio * kept * target
    return target * (1 - kept) / room if room > 0 else math.inf


def _years_until(point: Point, held: float, floor: float) -> float:
    """Return when a held share of the living falls to `floor` by turnover; infinite if never.

    Examples
    --------
    >>> point = Point(population=1000.0, persistence=0.5, growth=0.0, union=0.8)
    >>> _years_until(point, 0.8, 0.2)
    2.0
    """
    if held <= floor:
        return 0.0
    yearly = point.seniority(1.0)
    return math.log(held / floor) / -math.log(yearly) if yearly < 1 else math.inf


# -------------------------------------------------------------------------------------- plan crawls


_MILLION = 1e6
_OUT_OF_REACH = "no crawl is large enough, as crawls keep meeting what is held already"
_TOO_LATE = "it takes longer than this series can tell"

_STEPS = (0.8, 0.9, 0.95, 0.99)
# A goal that is nearer than this is as good as reached.
_LEAST_STEP = 0.05

_USUAL_FLOOR = 0.5
# Of what is held today, where that is less than the usual floor.
_FLOOR_SHARE = 0.5


def usual_wishes(estimates: Estimates) -> dict[str, float | None]:
    """Return round numbers that lie ahead of a series: what to plan for where nothing is asked.

    Parameters
    ----------
    estimates
        What is known of it.

    Returns
    -------
    dict
        ``target``, ``union_target`` and ``floor`` of `plan_crawls`; None above all round numbers.
    """
    coverage, union = estimates.newest.coverage.value, find_union(estimates).value
    floor = _USUAL_FLOOR
    if union is not None and union <= _USUAL_FLOOR:
        floor = _FLOOR_SHARE * union
    return {
        "target": _step_above(coverage or 0.0, _STEPS),
        "union_target": _step_above(union or 0.0, _STEPS[1:]),
        "floor": floor,
    }


def _step_above(share: float, steps: tuple[float, ...]) -> float | None:
    """Return the first step that is not as good as reached; None above all."""
    ahead = next(step for step in steps if step >= min(share + _LEAST_STEP, steps[-1]))
    return ahead if share < ahead else None


def plan_crawls(
    estimates: Estimates,
    *,
    target: float | None = None,
    union_target: float | None = None,
    budget: float | None = None,
    crawls_per_year: float | None = None,
    size: float | None = None,
    floor: float | None = None,
    cost_per_million: float | None = None,
) -> Plan:
    """Plan crawls from the estimates of a series.

    Parameters
    ----------
    estimates
        What is known of the series.
    target
        Coverage that a single crawl should have.
    union_target
        Share of what lives that all crawls together should hold.
    budget
        URLs a year; else the newest crawl's size as often as crawls are made.
    crawls_per_year
        How often to crawl; else as often as so far.
    size
        URLs of the next crawl; else as the budget has it.
    floor
        Share of what lives for which to say when it is lost if crawling stops.
    cost_per_million
        What a million captured URLs cost, in any currency.

    Returns
    -------
    Plan
        What cannot be known is an estimate without a value, with the reason. At grade C all
        estimates are ranges without a value.

    Raises
    ------
    FitError
        If a wish is out of bounds, if coverage or turnover is not known or the model was rejected,
        or if nothing says how often crawls are made.
    """
    for name, share in (("target", target), ("union target", union_target), ("floor", floor)):
        if share is not None and not 0 < share < 1:
            raise FitError(say("refused.share", name=name, share=share))
    for name, number, unit in (
        ("the budget", budget, "URLs a year"),
        ("the number of crawls a year", crawls_per_year, "crawls"),
        ("the size of the next crawl", size, "URLs"),
        ("the cost of a million URLs", cost_per_million, "any currency"),
    ):
        if number is not None and not 0 < number < math.inf:
            raise FitError(f"{name} is {number}; give a number above 0 ({unit})")
    reason = why_no_plan(estimates)
    if reason is not None:
        raise FitError(reason)
    situation = find_situation(estimates)
    often = crawls_per_year or situation.crawls_per_year
    if often is None:
        raise FitError(say("refused.one-date"))
    price, budget = cost_per_million, budget or situation.n_urls * often
    plan = Plan(
        level=estimates.level,
        start=situation,
        crawls_per_year=often,
        budget=budget,
        next_crawl=_plan_next(situation, size or budget / often, 1 / often, price),
        coverage_target=None if target is None else _plan_coverage(situation, target, price),
        union_target=None
        if union_target is None
        else _plan_union(situation, union_target, often, price),
        standstill=None if floor is None else _stand_still(situation, floor),
        schedules=list_schedules(situation, budget, often),
        cost_per_year=_cost(budget, price),
        doubts=(),
        newest=estimates.crawls[-1],
        provenance=estimates.provenance,
    )
    return replace(plan, doubts=tuple(_list_doubts(plan, estimates)))


def _plan_next(situation: Situation, n_urls: float, years: float, price: float | None) -> NextCrawl:
    def crawl(point: Point) -> tuple[float, float, float]:
        return _union_and_gain(point, situation.held_ratio, n_urls, years)

    return NextCrawl(
        n_urls=n_urls,
        after_years=years,
        coverage=derive(
            situation,
            ("population", "growth"),
            lambda point: min(1.0, n_urls / point.population_after(years)),
        ),
        n_new=derive(situation, ALL_QUANTITIES, lambda point: crawl(point)[2]),
        union_before=derive(
            situation, TURNOVER, lambda point: point.union * point.seniority(years)
        ),
        union_after=derive(situation, ALL_QUANTITIES, lambda point: sum(crawl(point)[:2])),
        gain=derive(situation, ALL_QUANTITIES, lambda point: crawl(point)[1]),
        cost=_cost(n_urls, price),
    )


def _plan_coverage(situation: Situation, target: float, price: float | None) -> CoverageTarget:
    n_urls = derive(situation, ("population",), lambda point: target * point.population)
    return CoverageTarget(target=target, n_urls=n_urls, cost=_cost_of(n_urls, price))


def _plan_union(
    situation: Situation, target: float, often: float, price: float | None
) -> UnionTarget:
    years, ratio = 1 / often, situation.held_ratio
    reaching = derive(
        situation,
        ALL_QUANTITIES,
        lambda point: _urls_of(
            _coverage_to_reach(point.union * point.seniority(years), ratio, target),
            point.population_after(years),
        ),
    )
    keeping = derive(
        situation,
        LASTING,
        lambda point: _urls_of(
            _coverage_to_keep(point.seniority(years), ratio, target), point.population
        ),
    )
    later = derive(situation, ("population", "growth"), lambda point: point.population_after(years))
    of_next = _within_reach(reaching, later)
    of_each = _within_reach(keeping, situation.population)
    return UnionTarget(
        target=target,
        n_urls_next=of_next,
        n_urls_each=of_each,
        cost_next=_cost_of(of_next, price),
        cost_per_year=_cost_of(of_each, price, often),
    )


def _stand_still(situation: Situation, floor: float) -> Standstill:
    latest = LONGEST * situation.years
    of_all = derive(situation, TURNOVER, lambda point: _years_until(point, point.union, floor))
    of_newest = derive(
        situation,
        LASTING,
        lambda point: _years_until(point, point.coverage(situation.n_urls), floor),
    )
    return Standstill(
        floor=floor,
        after_years=_in_time(of_all, latest),
        newest_after_years=_in_time(of_newest, latest),
    )


def _urls_of(coverage: float, population: float) -> float:
    """Return the size of a crawl; infinite if it would hold more than there is."""
    return coverage * population if coverage <= 1 else math.inf


def _in_time(years: Estimate, latest: float) -> Estimate:
    """Leave out times that are later than a series can tell."""
    first = years.low if years.value is None else years.value
    if first is not None and first > latest:
        return Estimate.unknown(_TOO_LATE)
    if years.high is None or years.high <= latest:
        return years
    if not years.low:
        return Estimate.unknown("it may be anything, by the ranges of the estimates")
    return replace(years, high=None, reason=years.reason or _TOO_LATE)


def _within_reach(n_urls: Estimate, population: Estimate) -> Estimate:
    """Leave out what is more than there is."""
    if (n_urls.low if n_urls.value is None else n_urls.value) == math.inf:
        return Estimate.unknown(_OUT_OF_REACH)
    if n_urls.high is not None and population.high is not None:
        return replace(n_urls, high=min(n_urls.high, population.high))
    return n_urls


def _cost(n_urls: float, price: float | None) -> float | None:
    return None if price is None else n_urls / _MILLION * price


def _cost_of(n_urls: Estimate, price: float | None, times: float = 1.0) -> Estimate | None:
    if price is None:
        return None
    factor = times * price / _MILLION
    return n_urls.map(lambda number: factor * number)


# ------------------------- what to be careful about: where a plan leaves what the crawls have shown


# Half-yearly crawls are not just two a year by the calendar, nor their sum just twice one.
_ALIKE = 1.05
_UNEVEN = 0.02


def _list_doubts(plan: Plan, estimates: Estimates) -> Iterator[Doubt]:
    situation = plan.start
    if estimates.agreement.grade == "C":
        yield Doubt("range-only")
    if estimates.growth_per_year.value is None:
        yield Doubt("growth-unknown")
    wanted = plan.coverage_target, plan.union_target
    sizes = [] if wanted[0] is None else [wanted[0].n_urls]
    sizes += [] if wanted[1] is None else [wanted[1].n_urls_next, wanted[1].n_urls_each]
    most = max(plan.next_crawl.n_urls, *(size.value or size.low or 0.0 for size in sizes), 0.0)
    if most > BEYOND * situation.largest:
        yield Doubt("larger-crawl", (most,))
    beyond = tuple(
        schedule.crawls_per_year
        for schedule in plan.schedules
        if schedule.n_urls > _ALIKE * BEYOND * situation.largest
    )
    if beyond:
        yield Doubt("larger-schedules", beyond)
    interval = 1 / plan.crawls_per_year
    if interval > BEYOND * situation.years > 0:
        yield Doubt("longer-interval", (interval,))
    elif interval < situation.shortest / BEYOND:
        yield Doubt("shorter-interval", (interval,))
    still = plan.standstill
    ends = () if still is None else (still.after_years.value, still.newest_after_years.value)
    years = max(0.0, *(end or 0.0 for end in ends), 0.0)
    if years > BEYOND * situation.years:
        yield Doubt("longer-time", (years,))
    if abs(situation.held_ratio - 1) > _UNEVEN:
        yield Doubt("uneven")
    if estimates.headline.estimator != "histories":
        yield Doubt("even-assumed")
