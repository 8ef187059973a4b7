"""Plan crawls: sizes for a wanted coverage, frequency at a budget, and what the next one adds.

All of it takes crawls for even draws from what lives, at the population, the turnover and the
union coverage that were estimated.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import count, percent, percent_range, span, things
from crawlgauge.model.ranges import LONGEST, is_telling
from crawlgauge.model.situation import (
    ALL_QUANTITIES,
    LASTING,
    TURNOVER,
    CoverageTarget,
    NextCrawl,
    Plan,
    Schedule,
    Situation,
    Standstill,
    UnionTarget,
    coverage_to_keep,
    coverage_to_reach,
    derive,
    find_situation,
    find_union,
    list_schedules,
    union_and_gain,
    why_no_plan,
    years_until,
)

__all__ = ["Wishes", "plan_crawls", "usual_wishes"]


# ------------------- what to be careful about in a plan: where it leaves what the crawls have shown


_BEYOND = 2.0
"""How many times the observed range a plan may reach before it is called an extrapolation."""

_ALIKE = 1.05
"""Half-yearly crawls are not just two a year by the calendar, nor their sum just twice one."""

_UNEVEN = 0.02


def list_doubts(plan: Plan, estimates: Estimates, situation: Situation) -> tuple[str, ...]:
    """List the warnings of a plan, the gravest first.

    Parameters
    ----------
    plan
        The plan.
    estimates
        What it was made from.
    situation
        Where the series stands.
    """
    what = things(estimates.level)
    return (
        *_about_trust(estimates),
        *_about_size(plan, situation, what),
        *_about_time(plan, situation, what),
        *_about_evenness(estimates, situation, what),
    )


def _about_trust(estimates: Estimates) -> Iterator[str]:
    if estimates.agreement.grade == "C":
        yield "The coverage has grade C: there are ranges to plan with, and no numbers."
    if estimates.growth_per_year.value is None:
        yield "Whether the population grows is not known; it is planned with as it is."


def _about_size(plan: Plan, situation: Situation, what: str) -> Iterator[str]:
    wanted = [plan.next_crawl.n_urls]
    if plan.coverage_target is not None:
        wanted.append(_at_least(plan.coverage_target.n_urls))
    if plan.union_target is not None:
        wanted.append(_at_least(plan.union_target.n_urls_next))
        wanted.append(_at_least(plan.union_target.n_urls_each))
    if max(wanted) > _BEYOND * situation.largest:
        yield (
            f"A crawl of {count(max(wanted))} {what} is more than twice as large as the largest so "
            f"far ({count(situation.largest)}). Whether it would draw from the same {what} is not "
            "known: larger crawls often reach further."
        )
    beyond = [
        schedule.crawls_per_year
        for schedule in plan.schedules
        if schedule.n_urls > _ALIKE * _BEYOND * situation.largest
    ]
    if beyond:
        often = " or ".join("one" if number == 1 else f"{number:.3g}" for number in beyond)
        noun = "crawl" if beyond == [1] else "crawls"
        yield (
            f"With {count(plan.budget)} {what} a year in {often} {noun}, each would be more than "
            f"twice as large as the largest so far ({count(situation.largest)}): this is "
            "extrapolated."
        )


def _at_least(n_urls: Estimate) -> float:
    return n_urls.value or n_urls.low or 0.0


def _about_time(plan: Plan, situation: Situation, what: str) -> Iterator[str]:
    interval = 1 / plan.crawls_per_year
    if interval > _BEYOND * situation.years > 0:
        yield (
            f"Crawls {span(interval)} apart lie more than twice as far apart as the first and the "
            f"newest so far ({span(situation.years)}): how {what} live that long is extrapolated."
        )
    elif interval < situation.shortest / _BEYOND:
        yield (
            f"Crawls every {span(interval)} come more than twice as often as any two so far "
            f"({span(situation.shortest)} apart): what disappears within so short a time has not "
            "shown."
        )
    ends = plan.standstill and (plan.standstill.after_years, plan.standstill.newest_after_years)
    years = max((end.value for end in ends or () if end.value is not None), default=0.0)
    if years > _BEYOND * situation.years:
        yield (
            f"The crawls so far span {span(situation.years)}: how many {what} live on for "
            f"{span(years)} is extrapolated."
        )


def _about_evenness(estimates: Estimates, situation: Situation, what: str) -> Iterator[str]:
    if abs(situation.held_ratio - 1) > _UNEVEN:
        yield (
            f"{what} that the archive holds are {situation.held_ratio:.2f} times as likely to be "
            "captured as all that live. The plan takes this for lasting; in the long run, and for "
            "other sizes and frequencies, it would change."
        )
    if estimates.headline.estimator != "histories":
        yield (
            f"The plan takes all {what} to be captured equally readily. If some are captured more "
            "readily than others, the population is larger, and crawls find less that is new."
        )


# ----------------------------------------------------- what to plan for where nothing is wished for


_STEPS = (0.8, 0.9, 0.95, 0.99)
_LEAST_STEP = 0.05
"""A goal that is nearer than this is as good as reached."""

_USUAL_FLOOR = 0.5
_FLOOR_SHARE = 0.5
"""Of what is held today, where that is less than the usual floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Shares to plan for, as in `plan_crawls`; None where nothing is to be planned."""

    target: float | None = None
    union_target: float | None = None
    floor: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wished for."""
        return (self.target, self.union_target, self.floor) == (None, None, None)


def usual_wishes(estimates: Estimates) -> Wishes:
    """Return round numbers that lie ahead of a series.

    Parameters
    ----------
    estimates
        What is known of it.
    """
    coverage, union = estimates.newest.coverage.value, find_union(estimates).value
    floor = _USUAL_FLOOR
    if union is not None and union <= _USUAL_FLOOR:
        floor = _FLOOR_SHARE * union
    return Wishes(
        target=_step_above(0.0 if coverage is None else coverage, _STEPS),
        union_target=_step_above(0.0 if union is None else union, _STEPS[1:]),
        floor=floor,
    )


def _step_above(share: float, steps: tuple[float, ...]) -> float | None:
    """Return the first step that is not as good as reached; None above all."""
    ahead = [step for step in steps if step >= min(share + _LEAST_STEP, steps[-1])]
    return ahead[0] if ahead and share < ahead[0] else None


# ----------------------------------------------------------------------------------- plans in words


_WHOLE_COST = 100
_DIFFERENCE = 0.01
"""Schedules closer than one in a hundred of union coverage are as good as each other."""


def say_number(estimate: Estimate, phrase: Callable[[float], str]) -> str:
    """Write a number with its range: only the range, or a bound, where that is all that is known.

    Parameters
    ----------
    estimate
        The number.
    phrase
        How a number of its kind is written.

    Examples
    --------
    >>> ends = {"low": 20.0, "high": 50.0, "basis": "interval"}
    >>> say_number(Estimate(value=30.0, **ends), count)
    'about 30 (20 to 50)'
    >>> say_number(Estimate(value=None, **ends, reason="a range only"), count)
    'between 20 and 50'
    >>> say_number(Estimate(value=30.0, low=0.0, high=50.0, basis="interval"), count)
    'at most 50'
    """
    value, low, high = estimate.value, estimate.low, estimate.high
    if low is None:
        return f"not known ({_why(estimate)})" if value is None else f"about {phrase(value)}"
    if high is None:
        earliest = f"{phrase(low)} at the earliest"
        return earliest if value is None else f"about {phrase(value)} ({earliest})"
    if phrase(low) == phrase(high):
        return f"about {phrase(high)}"
    if not is_telling(low, high):
        return f"at most {phrase(high)}"
    if value is None:
        return f"between {phrase(low)} and {phrase(high)}"
    if phrase is percent:
        return f"about {percent_range(value, low, high)}"
    return f"about {phrase(value)} ({phrase(low)} to {phrase(high)})"


def _is_known(estimate: Estimate) -> bool:
    return estimate.value is not None or estimate.low is not None


def _is_nothing(estimate: Estimate) -> bool:
    return estimate.value == 0 or estimate.high == 0


def _say_cost(cost: Estimate | float | None) -> str:
    """Write what something costs, behind a sentence; nothing if it is not known."""
    value = cost.value if isinstance(cost, Estimate) else cost
    if value is None:
        return ""
    return f", at a cost of {value:,.0f}" if value >= _WHOLE_COST else f", at a cost of {value:.3g}"


def state_target(target: float, n_urls: Estimate, cost: Estimate | None, what: str) -> str:
    """Say how large a crawl of a wanted coverage is."""
    if not _is_known(n_urls):
        return (
            f"How many {what} a crawl needs for {percent(target)} cannot be said: {_why(n_urls)}."
        )
    return (
        f"A crawl that is to hold {percent(target)} of the {what} that live needs "
        f"{say_number(n_urls, count)} of them{_say_cost(cost)}."
    )


def state_union_target(
    target: float,
    n_urls_next: Estimate,
    n_urls_each: Estimate,
    crawls_per_year: float,
    what: str,
) -> str:
    """Say how large crawls are with which all together reach and keep a wanted coverage."""
    if _is_nothing(n_urls_next):
        reach = f"All crawls together hold more than {percent(target)} without a further one"
    elif not _is_known(n_urls_next):
        reach = (
            f"A single further crawl with which all together hold {percent(target)} cannot be "
            f"given: {_why(n_urls_next)}"
        )
    else:
        reach = (
            f"For all crawls together to hold {percent(target)} of the {what} that live, the next "
            f"one needs {say_number(n_urls_next, count)}"
        )
    if not _is_known(n_urls_each):
        neither = "It cannot" if _is_known(n_urls_next) else "Nor can it"
        return f"{reach}. {neither} be kept by crawls of one size: {_why(n_urls_each)}."
    return (
        f"{reach}; to keep it there in the long run, each of {crawls_per_year:.3g} crawls a year "
        f"needs {say_number(n_urls_each, count)}."
    )


def state_next_crawl(
    n_urls: float, years: float, n_new: Estimate, after: Estimate, cost: float | None, what: str
) -> str:
    """Say what one more crawl adds."""
    opening = f"A further crawl of {count(n_urls)} {what} {span(years)} after the newest"
    if not _is_known(n_new):
        return f"What a further crawl adds cannot be said: {_why(n_new)}."
    return (
        f"{opening} would find {say_number(n_new, count)} that no crawl holds, and lift what all "
        f"crawls together hold of the living to {say_number(after, percent)}{_say_cost(cost)}."
    )


def state_standstill(floor: float, after_years: Estimate, of_newest: Estimate, what: str) -> str:
    """Say when all crawls, and the newest one, fall below a floor without any further crawl."""
    return f"{_state_all(floor, after_years, what)}{_state_newest(of_newest)}"


def _state_newest(after_years: Estimate) -> str:
    if not _is_known(after_years):
        return ""
    if _is_nothing(after_years):
        return " The newest crawl alone holds less than that today."
    return f" The newest crawl alone does so after {say_number(after_years, span)}."


def _state_all(floor: float, after_years: Estimate, what: str) -> str:
    if not _is_known(after_years):
        return (
            f"When all crawls together hold less than {percent(floor)} of the living {what} if "
            f"none is added cannot be said: {_why(after_years)}."
        )
    if _is_nothing(after_years):
        return f"All crawls together hold less than {percent(floor)} of the living {what} already."
    return (
        f"If no crawl is added, all crawls together hold less than {percent(floor)} of the living "
        f"{what} after {say_number(after_years, span)}."
    )


def compare_schedules(
    schedules: tuple[Schedule, ...], budget: float, largest: float, what: str
) -> str:
    """Say how often to crawl at a fixed yearly budget, and whether such crawls were ever made."""
    known = [schedule for schedule in schedules if schedule.union_mean.value is not None]
    if not known:
        reason = _why(schedules[0].union_mean)
        return f"How often to crawl at a fixed yearly budget cannot be said: {reason}."
    best = max(known, key=lambda schedule: schedule.union_mean.value or 0.0)
    worst = min(known, key=lambda schedule: schedule.union_mean.value or 0.0)
    high, low = best.union_mean.value or 0.0, worst.union_mean.value or 0.0
    opening = f"With {count(budget)} {what} a year"
    if high - low < _DIFFERENCE:
        return f"{opening}, it makes no difference in how many crawls they are captured."
    return (
        f"{opening}, {_times(best.crawls_per_year)} would hold {percent(high)} of the living on "
        f"average over time, and {_times(worst.crawls_per_year)} {percent(low)}: crawls that draw "
        f"independently meet the same again, {_say_why(best, known)}. A crawler that passes over "
        "what it captured lately gains from frequency instead, and only frequent crawls see what "
        f"lives for a short time or changes often.{_say_larger(best, largest, what)}"
    )


def _say_why(best: Schedule, schedules: list[Schedule]) -> str:
    if best.crawls_per_year <= min(schedule.crawls_per_year for schedule in schedules):
        return "and the fewer they are the less of it is in vain"
    return "but fewer and larger ones would find no more than there is"


def _say_larger(schedule: Schedule, largest: float, what: str) -> str:
    if schedule.n_urls <= (1 + _DIFFERENCE) * largest:
        return ""
    return (
        f" It takes crawls of {count(schedule.n_urls)} {what}, and the largest so far has "
        f"{count(largest)}: whether a larger one would draw from the same {what} is not known."
    )


def _times(crawls_per_year: float) -> str:
    if crawls_per_year == 1:
        return "one crawl a year"
    return f"{crawls_per_year:.3g} crawls a year"


def _why(estimate: Estimate) -> str:
    return estimate.why


# -------------------------------------------------------------------------------------- plan crawls


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
