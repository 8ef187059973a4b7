"""Plan crawls: sizes for a wanted coverage, frequency at a budget, and what the next one adds.

All of it takes crawls for even draws from what lives, at the population, the turnover and the
union coverage that were estimated.
"""

import math
from dataclasses import dataclass, replace

from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import things
from crawlgauge.model.planning.arithmetic import (
    coverage_to_keep,
    coverage_to_reach,
    union_and_gain,
    years_until,
)
from crawlgauge.model.planning.doubts import list_doubts
from crawlgauge.model.planning.plan import (
    CoverageTarget,
    NextCrawl,
    Plan,
    Standstill,
    UnionTarget,
)
from crawlgauge.model.planning.schedules import list_schedules
from crawlgauge.model.planning.situation import (
    ALL_QUANTITIES,
    LASTING,
    TURNOVER,
    Situation,
    derive,
    find_situation,
    why_no_plan,
)
from crawlgauge.model.planning.wording import (
    compare_schedules,
    state_next_crawl,
    state_standstill,
    state_target,
    state_union_target,
)
from crawlgauge.model.possible import LONGEST

__all__ = ["plan_crawls"]

_MILLION = 1e6
_OUT_OF_REACH = "no crawl is large enough, as crawls keep meeting what is held already"
_ANY = "it may be anything, by the ranges of the estimates"
_TOO_LATE = "it takes longer than this series can tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """A situation with what the user settles: how often, how many, at what price."""

    situation: Situation
    crawls_per_year: float
    budget: float
    size: float | None
    cost_per_million: float | None
    what: str

    @property
    def interval(self) -> float:
        return 1 / self.crawls_per_year

    def cost(self, n_urls: float) -> float | None:
        if self.cost_per_million is None:
            return None
        return n_urls / _MILLION * self.cost_per_million

    def cost_of(self, n_urls: Estimate, times: float = 1.0) -> Estimate | None:
        if self.cost_per_million is None:
            return None
        return _scale(n_urls, times * self.cost_per_million / _MILLION)


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
        _check_share(name, share)
    _check_positive("the budget", budget, "URLs a year")
    _check_positive("the number of crawls a year", crawls_per_year, "crawls")
    _check_positive("the size of the next crawl", size, "URLs")
    _check_positive("the cost of a million URLs", cost_per_million, "any currency")
    reason = why_no_plan(estimates)
    if reason is not None:
        raise FitError(reason)
    situation = find_situation(estimates)
    often = crawls_per_year or situation.crawls_per_year
    if often is None:
        raise FitError(
            "all crawls have the same date, so that nothing says how often crawls are made; give "
            "the crawls per year"
        )
    frame = _Frame(
        situation=situation,
        crawls_per_year=often,
        budget=budget or situation.n_urls * often,
        size=size,
        cost_per_million=cost_per_million,
        what=things(estimates.level),
    )
    schedules = list_schedules(situation, frame.budget, often)
    plan = Plan(
        level=estimates.level,
        start=situation,
        crawls_per_year=often,
        budget=frame.budget,
        next_crawl=_plan_next(frame),
        coverage_target=None if target is None else _plan_coverage(frame, target),
        union_target=None if union_target is None else _plan_union(frame, union_target),
        standstill=None if floor is None else _stand_still(frame, floor),
        schedules=schedules,
        comparison=compare_schedules(schedules, frame.budget, situation.largest, frame.what),
        cost_per_year=frame.cost(frame.budget),
        warnings=(),
    )
    return replace(plan, warnings=list_doubts(plan, estimates, situation))


def _plan_next(frame: _Frame) -> NextCrawl:
    situation, years, ratio = frame.situation, frame.interval, frame.situation.held_ratio
    n_urls = frame.size or frame.budget / frame.crawls_per_year
    n_new = derive(
        situation, ALL_QUANTITIES, lambda point: union_and_gain(point, ratio, n_urls, years)[2]
    )
    after = derive(
        situation,
        ALL_QUANTITIES,
        lambda point: sum(union_and_gain(point, ratio, n_urls, years)[:2]),
    )
    return NextCrawl(
        n_urls=n_urls,
        after_years=years,
        coverage=derive(
            situation,
            ("population", "growth"),
            lambda point: min(1.0, n_urls / point.population_after(years)),
        ),
        n_new=n_new,
        union_before=derive(
            situation, TURNOVER, lambda point: point.union * point.seniority(years)
        ),
        union_after=after,
        gain=derive(
            situation, ALL_QUANTITIES, lambda point: union_and_gain(point, ratio, n_urls, years)[1]
        ),
        cost=frame.cost(n_urls),
        statement=state_next_crawl(n_urls, years, n_new, after, frame.cost(n_urls), frame.what),
    )


def _plan_coverage(frame: _Frame, target: float) -> CoverageTarget:
    n_urls = derive(frame.situation, ("population",), lambda point: target * point.population)
    cost = frame.cost_of(n_urls)
    return CoverageTarget(
        target=target,
        n_urls=n_urls,
        cost=cost,
        statement=state_target(target, n_urls, cost, frame.what),
    )


def _plan_union(frame: _Frame, target: float) -> UnionTarget:
    situation, years, ratio = frame.situation, frame.interval, frame.situation.held_ratio
    reaching = derive(
        situation,
        ALL_QUANTITIES,
        lambda point: _urls_of(
            coverage_to_reach(point.union * point.seniority(years), ratio, target),
            point.population_after(years),
        ),
    )
    keeping = derive(
        situation,
        LASTING,
        lambda point: _urls_of(
            coverage_to_keep(point.seniority(years), ratio, target), point.population
        ),
    )
    later = derive(situation, ("population", "growth"), lambda point: point.population_after(years))
    n_urls_next = _within_reach(reaching, later)
    n_urls_each = _within_reach(keeping, situation.population)
    return UnionTarget(
        target=target,
        n_urls_next=n_urls_next,
        n_urls_each=n_urls_each,
        cost_next=frame.cost_of(n_urls_next),
        cost_per_year=frame.cost_of(n_urls_each, frame.crawls_per_year),
        statement=state_union_target(
            target, n_urls_next, n_urls_each, frame.crawls_per_year, frame.what
        ),
    )


def _stand_still(frame: _Frame, floor: float) -> Standstill:
    situation = frame.situation
    latest = LONGEST * situation.years
    of_all = derive(situation, TURNOVER, lambda point: years_until(point, point.union, floor))
    of_newest = derive(
        situation,
        LASTING,
        lambda point: years_until(point, point.coverage(situation.n_urls), floor),
    )
    of_all, of_newest = _in_time(of_all, latest), _in_time(of_newest, latest)
    return Standstill(
        floor=floor,
        after_years=of_all,
        newest_after_years=of_newest,
        statement=state_standstill(floor, of_all, of_newest, frame.what),
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
        return Estimate.unknown(_ANY)
    return replace(years, high=None, reason=years.reason or _TOO_LATE)


def _within_reach(n_urls: Estimate, population: Estimate) -> Estimate:
    """Leave out what is more than there is."""
    if (n_urls.low if n_urls.value is None else n_urls.value) == math.inf:
        return Estimate.unknown(_OUT_OF_REACH)
    if n_urls.high is not None and population.high is not None:
        return replace(n_urls, high=min(n_urls.high, population.high))
    return n_urls


def _scale(estimate: Estimate, factor: float) -> Estimate:
    def scaled(number: float | None) -> float | None:
        return None if number is None else factor * number

    return replace(
        estimate,
        value=scaled(estimate.value),
        low=scaled(estimate.low),
        high=scaled(estimate.high),
    )


def _check_share(name: str, share: float | None) -> None:
    if share is not None and not 0 < share < 1:
        raise FitError(
            f"the {name} is {share}; it is a share of what lives, above 0 and below 1, as 0.8 for "
            "80 %"
        )


def _check_positive(name: str, number: float | None, unit: str) -> None:
    if number is not None and not 0 < number < math.inf:
        raise FitError(f"{name} is {number}; give a number above 0 ({unit})")
