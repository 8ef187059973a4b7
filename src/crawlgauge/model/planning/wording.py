"""Plans in words."""

from collections.abc import Callable

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, percent_range, span
from crawlgauge.model.planning.plan import Schedule
from crawlgauge.model.possible import is_telling

__all__ = [
    "compare_schedules",
    "say_number",
    "state_next_crawl",
    "state_standstill",
    "state_target",
    "state_union_target",
]

_WHOLE_COST = 100
_PREFIX = "not identifiable: "
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
    return (estimate.reason or "").removeprefix(_PREFIX)
