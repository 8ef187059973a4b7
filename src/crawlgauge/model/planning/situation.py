"""Where a series stands: population, turnover and union, and the ranges of what follows."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Literal

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Basis, Estimate, Estimates
from crawlgauge.model.margins import LEVEL
from crawlgauge.model.pairs import years_of
from crawlgauge.model.possible import within

__all__ = [
    "ALL_QUANTITIES",
    "LASTING",
    "TURNOVER",
    "Point",
    "Quantity",
    "Situation",
    "derive",
    "find_situation",
    "find_union",
    "why_no_plan",
]

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
    return (estimate.reason or "").removeprefix("not identifiable: ")


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
