"""A yearly budget in few large or many small crawls, once the union has settled."""

from crawlgauge.model.planning.arithmetic import mean_union, steady_union
from crawlgauge.model.planning.plan import Schedule
from crawlgauge.model.planning.situation import LASTING, Situation, derive

__all__ = ["list_schedules", "make_schedule"]

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
