"""The types of a plan: each part answers one question, in numbers and in a sentence."""

from dataclasses import dataclass

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.planning.situation import Situation

__all__ = [
    "CoverageTarget",
    "CurvePoint",
    "NextCrawl",
    "Plan",
    "PlanningCurves",
    "Schedule",
    "Standstill",
    "UnionTarget",
]


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
