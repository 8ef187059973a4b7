"""What to be careful about in a plan: where it leaves what the crawls have shown."""

from collections.abc import Iterator

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import count, span, things
from crawlgauge.model.planning.plan import Plan
from crawlgauge.model.planning.situation import Situation

__all__ = ["list_doubts"]

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
