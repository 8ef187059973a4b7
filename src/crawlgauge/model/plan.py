"""What the next crawls would bring: sizes for a wanted coverage, frequency at a budget, gains.

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
from crawlgauge.model.schedule import (
    ALL_QUANTITIES,
    BEYOND,
    LASTING,
    TURNOVER,
    Point,
    Schedule,
    Situation,
    bound_ratio,
    derive,
    find_situation,
    find_union,
    list_schedules,
    why_no_plan,
)

__all__ = ["Plan", "plan_crawls", "usual_wishes"]


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
_ANY = "it may be anything, by the ranges of the estimates"
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
    ahead = [step for step in steps if step >= min(share + _LEAST_STEP, steps[-1])]
    return ahead[0] if ahead and share < ahead[0] else None


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
            raise FitError(
                f"the {name} is {share}; it is a share of what lives, above 0 and below 1, as 0.8 "
                "for 80 %"
            )
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
    situation, what = find_situation(estimates), things(estimates.level)
    often = crawls_per_year or situation.crawls_per_year
    if often is None:
        raise FitError(
            "all crawls have the same date, so that nothing says how often crawls are made; give "
            "the crawls per year"
        )
    price, budget = cost_per_million, budget or situation.n_urls * often
    schedules = list_schedules(situation, budget, often)
    plan = Plan(
        level=estimates.level,
        start=situation,
        crawls_per_year=often,
        budget=budget,
        next_crawl=_plan_next(situation, size or budget / often, 1 / often, price, what),
        coverage_target=None if target is None else _plan_coverage(situation, target, price, what),
        union_target=None
        if union_target is None
        else _plan_union(situation, union_target, often, price, what),
        standstill=None if floor is None else _stand_still(situation, floor, what),
        schedules=schedules,
        comparison=_compare_schedules(schedules, budget, situation.largest, what),
        cost_per_year=_cost(budget, price),
        warnings=(),
    )
    return replace(plan, warnings=tuple(_list_doubts(plan, estimates)))


def _plan_next(
    situation: Situation, n_urls: float, years: float, price: float | None, what: str
) -> NextCrawl:
    def crawl(point: Point) -> tuple[float, float, float]:
        return _union_and_gain(point, situation.held_ratio, n_urls, years)

    n_new = derive(situation, ALL_QUANTITIES, lambda point: crawl(point)[2])
    after = derive(situation, ALL_QUANTITIES, lambda point: sum(crawl(point)[:2]))
    cost = _cost(n_urls, price)
    statement = f"What a further crawl adds cannot be said: {n_new.why}."
    if _is_known(n_new):
        statement = (
            f"A further crawl of {count(n_urls)} {what} {span(years)} after the newest would find "
            f"{_say(n_new, count)} that no crawl holds, and lift what all crawls together hold of "
            f"the living to {_say(after, percent)}{_say_cost(cost)}."
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
        gain=derive(situation, ALL_QUANTITIES, lambda point: crawl(point)[1]),
        cost=cost,
        statement=statement,
    )


def _plan_coverage(
    situation: Situation, target: float, price: float | None, what: str
) -> CoverageTarget:
    n_urls = derive(situation, ("population",), lambda point: target * point.population)
    cost = _cost_of(n_urls, price)
    statement = f"How many {what} a crawl needs for {percent(target)} cannot be said: {n_urls.why}."
    if _is_known(n_urls):
        statement = (
            f"A crawl that is to hold {percent(target)} of the {what} that live needs "
            f"{_say(n_urls, count)} of them{_say_cost(cost)}."
        )
    return CoverageTarget(target=target, n_urls=n_urls, cost=cost, statement=statement)


def _plan_union(
    situation: Situation, target: float, often: float, price: float | None, what: str
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
        statement=_state_union(target, of_next, of_each, often, what),
    )


def _stand_still(situation: Situation, floor: float, what: str) -> Standstill:
    latest = LONGEST * situation.years
    of_all = derive(situation, TURNOVER, lambda point: _years_until(point, point.union, floor))
    of_newest = derive(
        situation,
        LASTING,
        lambda point: _years_until(point, point.coverage(situation.n_urls), floor),
    )
    of_all, of_newest = _in_time(of_all, latest), _in_time(of_newest, latest)
    return Standstill(
        floor=floor,
        after_years=of_all,
        newest_after_years=of_newest,
        statement=_state_standstill(floor, of_all, of_newest, what),
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


def _cost(n_urls: float, price: float | None) -> float | None:
    return None if price is None else n_urls / _MILLION * price


def _cost_of(n_urls: Estimate, price: float | None, times: float = 1.0) -> Estimate | None:
    if price is None:
        return None
    factor = times * price / _MILLION
    return n_urls.map(lambda number: factor * number)


# ----------------------------------------------------------------------------------- plans in words


_WHOLE_COST = 100
# Schedules closer than one in a hundred of union coverage are as good as each other.
_DIFFERENCE = 0.01


def _say(estimate: Estimate, phrase: Callable[[float], str]) -> str:
    """Write a number with its range: only the range, or a bound, where that is all that is known.

    Examples
    --------
    >>> ends = {"low": 20.0, "high": 50.0, "basis": "interval"}
    >>> _say(Estimate(value=30.0, **ends), count)
    'about 30 (20 to 50)'
    >>> _say(Estimate(value=None, **ends, reason="a range only"), count)
    'between 20 and 50'
    >>> _say(Estimate(value=30.0, low=0.0, high=50.0, basis="interval"), count)
    'at most 50'
    """
    value, low, high = estimate.value, estimate.low, estimate.high
    if low is None:
        return f"not known ({estimate.why})" if value is None else f"about {phrase(value)}"
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


def _state_union(
    target: float, of_next: Estimate, of_each: Estimate, often: float, what: str
) -> str:
    if _is_nothing(of_next):
        reach = f"All crawls together hold more than {percent(target)} without a further one"
    elif not _is_known(of_next):
        reach = (
            f"A single further crawl with which all together hold {percent(target)} cannot be "
            f"given: {of_next.why}"
        )
    else:
        reach = (
            f"For all crawls together to hold {percent(target)} of the {what} that live, the next "
            f"one needs {_say(of_next, count)}"
        )
    if not _is_known(of_each):
        neither = "It cannot" if _is_known(of_next) else "Nor can it"
        return f"{reach}. {neither} be kept by crawls of one size: {of_each.why}."
    return (
        f"{reach}; to keep it there in the long run, each of {often:.3g} crawls a year needs "
        f"{_say(of_each, count)}."
    )


def _state_standstill(floor: float, of_all: Estimate, of_newest: Estimate, what: str) -> str:
    less = f"all crawls together hold less than {percent(floor)} of the living {what}"
    if not _is_known(of_all):
        said = f"When {less} if none is added cannot be said: {of_all.why}."
    elif _is_nothing(of_all):
        said = f"{less[0].upper()}{less[1:]} already."
    else:
        said = f"If no crawl is added, {less} after {_say(of_all, span)}."
    if not _is_known(of_newest):
        return said
    if _is_nothing(of_newest):
        return f"{said} The newest crawl alone holds less than that today."
    return f"{said} The newest crawl alone does so after {_say(of_newest, span)}."


def _compare_schedules(
    schedules: tuple[Schedule, ...], budget: float, largest: float, what: str
) -> str:
    """Say how often to crawl at a fixed yearly budget, and whether such crawls were ever made."""
    known = {
        schedule.union_mean.value: schedule
        for schedule in reversed(schedules)
        if schedule.union_mean.value is not None
    }
    if not known:
        reason = schedules[0].union_mean.why
        return f"How often to crawl at a fixed yearly budget cannot be said: {reason}."
    high, low = max(known), min(known)
    best, opening = known[high], f"With {count(budget)} {what} a year"
    if high - low < _DIFFERENCE:
        return f"{opening}, it makes no difference in how many crawls they are captured."
    reason = "but fewer and larger ones would find no more than there is"
    if best.crawls_per_year <= min(schedule.crawls_per_year for schedule in known.values()):
        reason = "and the fewer they are the less of it is in vain"
    untried = ""
    if best.n_urls > (1 + _DIFFERENCE) * largest:
        untried = (
            f" It takes crawls of {count(best.n_urls)} {what}, and the largest so far has "
            f"{count(largest)}: whether a larger one would draw from the same {what} is not known."
        )
    return (
        f"{opening}, {_times(best)} would hold {percent(high)} of the living on average over time, "
        f"and {_times(known[low])} {percent(low)}: crawls that draw independently meet the same "
        f"again, {reason}. A crawler that passes over what it captured lately gains from frequency "
        "instead, and only frequent crawls see what lives for a short time or changes often."
        f"{untried}"
    )


def _times(schedule: Schedule) -> str:
    often = schedule.crawls_per_year
    return "one crawl a year" if often == 1 else f"{often:.3g} crawls a year"


# ------------------------- what to be careful about: where a plan leaves what the crawls have shown


# Half-yearly crawls are not just two a year by the calendar, nor their sum just twice one.
_ALIKE = 1.05
_UNEVEN = 0.02


def _list_doubts(plan: Plan, estimates: Estimates) -> Iterator[str]:
    """List the warnings of a plan, the gravest first."""
    situation, what = plan.start, things(plan.level)
    if estimates.agreement.grade == "C":
        yield "The coverage has grade C: there are ranges to plan with, and no numbers."
    if estimates.growth_per_year.value is None:
        yield "Whether the population grows is not known; it is planned with as it is."
    yield from _doubt_size(plan, situation, what)
    yield from _doubt_time(plan, situation, what)
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


def _doubt_size(plan: Plan, situation: Situation, what: str) -> Iterator[str]:
    sizes = []
    if plan.coverage_target is not None:
        sizes.append(plan.coverage_target.n_urls)
    if plan.union_target is not None:
        sizes += [plan.union_target.n_urls_next, plan.union_target.n_urls_each]
    largest = situation.largest
    most = max(plan.next_crawl.n_urls, *(size.value or size.low or 0.0 for size in sizes), 0.0)
    if most > BEYOND * largest:
        yield (
            f"A crawl of {count(most)} {what} is more than twice as large as the largest so far "
            f"({count(largest)}). Whether it would draw from the same {what} is not known: larger "
            "crawls often reach further."
        )
    beyond = [
        schedule.crawls_per_year
        for schedule in plan.schedules
        if schedule.n_urls > _ALIKE * BEYOND * largest
    ]
    if beyond:
        often = " or ".join("one" if number == 1 else f"{number:.3g}" for number in beyond)
        noun = "crawl" if beyond == [1] else "crawls"
        yield (
            f"With {count(plan.budget)} {what} a year in {often} {noun}, each would be more than "
            f"twice as large as the largest so far ({count(largest)}): this is extrapolated."
        )


def _doubt_time(plan: Plan, situation: Situation, what: str) -> Iterator[str]:
    interval = 1 / plan.crawls_per_year
    if interval > BEYOND * situation.years > 0:
        yield (
            f"Crawls {span(interval)} apart lie more than twice as far apart as the first and the "
            f"newest so far ({span(situation.years)}): how {what} live that long is extrapolated."
        )
    elif interval < situation.shortest / BEYOND:
        yield (
            f"Crawls every {span(interval)} come more than twice as often as any two so far "
            f"({span(situation.shortest)} apart): what disappears within so short a time has not "
            "shown."
        )
    still = plan.standstill
    ends = () if still is None else (still.after_years.value, still.newest_after_years.value)
    years = max(0.0, *(end or 0.0 for end in ends), 0.0)
    if years > BEYOND * situation.years:
        yield (
            f"The crawls so far span {span(situation.years)}: how many {what} live on for "
            f"{span(years)} is extrapolated."
        )
