"""All crawls together: what they hold of the living URLs, and what none of them ever held.

Each crawl is a look at the living URLs. A share ρ of what it captures is held by earlier crawls. If
held URLs are captured like all others, earlier crawls hold ρ of the living ones; if they are
captured with the chance q of a recapture, they are ρ·M/q. The truth lies between the two.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crawlgauge.model.estimates import Estimate, Estimates, Union
from crawlgauge.model.histories.data import Holdings, count_holdings
from crawlgauge.model.intervals import NORMAL_QUANTILE
from crawlgauge.model.pairs import Numbers, years_of
from crawlgauge.overlaps.table import OverlapTable

_Three = tuple[float, float, float]

_OWN = 0.03
"""How far the union may be off beside what the coverage of the crawl may be, as a logarithm."""

_OTHER_SCOPE = (
    "not identifiable: the scope changed, and what lies outside of the present one may still live"
)
_EVEN = (
    "Capture is taken to be even. If it is not, the union is smaller than stated, and more was "
    "never seen."
)
_NEEDS_TWO = "not identifiable: only the newest crawl has a known coverage"


def estimate_union(
    estimates: Estimates,
    table: OverlapTable,
    *,
    first: int,
    recapture: Numbers | None,
    memory_factor: Numbers | None,
) -> Union | None:
    """Estimate what the crawls hold together; None where it is not known how much that is.

    Parameters
    ----------
    estimates
        Coverage of each crawl, and persistence.
    table
        The overlaps.
    first
        Position of the first crawl of the present scope.
    recapture
        For each crawl the chance q that it captures a living URL which an earlier one holds, NaN
        where it is not known; None if capture is taken to be even.
    memory_factor
        For each crawl, how many times as many of its captures there would be if the crawler did
        not avoid what it captured lately; None if it does not.
    """
    holdings = count_holdings(table)
    if holdings is None:
        return None
    looks = [
        _Look(
            estimates,
            holdings,
            crawl,
            math.nan if recapture is None else float(recapture[crawl]),
            1.0 if memory_factor is None else float(memory_factor[crawl]),
        )
        for crawl in range(table.n_crawls)
    ]
    newest = looks[-1]
    n_alive = newest.estimate(
        newest.n_held, lower=float(newest.size), upper=float(max(holdings.n_distinct, newest.size))
    )
    per_crawl = tuple(look.estimate(look.held_share, lower=0.0, upper=1.0) for look in looks)
    return Union(
        coverage=per_crawl[-1],
        n_distinct=holdings.n_distinct,
        n_alive=n_alive,
        dead_share=_dead_share(n_alive, holdings.n_distinct, is_one_scope=first == 0),
        n_unseen=_unseen(estimates, looks[first:]),
        per_crawl=per_crawl,
        caution=_EVEN if recapture is None else "",
        held_ratio=1.0 if newest.reason else newest.recapture(newest.coverage) / newest.coverage,
    )


class _Look:
    """One crawl, and what it says of the archive before it."""

    def __init__(
        self, estimates: Estimates, holdings: Holdings, crawl: int, chance: float, memory: float
    ) -> None:
        own = estimates.per_crawl[crawl].coverage
        self.size = estimates.crawls[crawl].n_urls
        self.reason = own.reason if own.value is None else None
        self.own = own
        self.coverage = min(own.value or math.nan, 1.0)
        self.known = float(holdings.known_share[crawl])
        self.known_error = NORMAL_QUANTILE * float(holdings.known_error[crawl])
        self._chance, self._memory = chance, memory

    def recapture(self, coverage: float) -> float:
        """Return the chance of a held URL: no less than that of all."""
        return coverage if math.isnan(self._chance) else max(self._chance, coverage)

    def held_share(self, coverage: float, known: float) -> _Three:
        """Return the share of the living URLs that is held: the least, ours and the greatest."""
        new = 1 - known
        if self._memory > 1:
            # What is avoided is held as well, and met too seldom.
            share = 1 - new * (1 / self._memory - coverage)
            return share, share, share
        least = coverage * (known / self.recapture(coverage) + new)
        greatest = 1 - new * (1 - coverage)
        return least, math.sqrt(least * greatest), greatest

    def n_held(self, coverage: float, known: float) -> _Three:
        """Return how many living URLs are held."""
        least, ours, greatest = (share / coverage for share in self.held_share(coverage, known))
        return self.size * least, self.size * ours, self.size * greatest

    def n_unseen(self, coverage: float, known: float) -> _Three:
        """Return how many living URLs no crawl holds."""
        n_living = self.size / coverage
        least, ours, greatest = self.held_share(coverage, known)
        return n_living * (1 - greatest), n_living * (1 - ours), n_living * (1 - least)

    def estimate(
        self, what: Callable[[float, float], _Three], *, lower: float, upper: float
    ) -> Estimate:
        """Return one of these with its range, cut to what is possible."""
        if self.reason is not None:
            return Estimate.unknown(self.reason)

        def cut(number: float) -> float:
            return min(max(number, lower), upper)

        value = cut(what(self.coverage, self.known)[1])
        if self.own.low is None or self.own.high is None:
            return Estimate(value=value, reason=self.own.reason)
        ends = [
            end
            for coverage in (self.own.low, min(self.own.high, 1.0))
            for shift in (-self.known_error, self.known_error)
            for end in what(coverage, min(max(self.known + shift, 0.0), 1.0))
        ]
        low = min(value, cut(min(ends) * math.exp(-_OWN)))
        return Estimate.between(
            value, low, max(value, cut(max(ends) * math.exp(_OWN))), self.own.basis
        )


def _dead_share(n_alive: Estimate, n_distinct: int, *, is_one_scope: bool) -> Estimate:
    if not is_one_scope:
        return Estimate.unknown(_OTHER_SCOPE)
    dead = n_alive.map(lambda number: 1 - number / n_distinct)
    return replace(dead, low=dead.high, high=dead.low)


def _unseen(estimates: Estimates, looks: list[_Look]) -> Estimate:
    """Count what no crawl holds: what lives at the newest one, and what died after an earlier one.

    Counted from the second crawl of a scope on, since of the first the coverage is not known.
    """
    if looks[0].reason is not None:
        looks = looks[1:]
    missing = [look.reason for look in looks if look.reason is not None]
    if not looks or missing:
        return Estimate.unknown(missing[0] if missing else _NEEDS_TWO)
    persistence = estimates.persistence
    if persistence.value is None and len(looks) > 1:
        return Estimate.unknown(persistence.reason or _NEEDS_TWO)
    years = np.diff(years_of(estimates.crawls[-len(looks) :]))

    def total(parts: list[Estimate], alpha: float | None, end: str) -> float | None:
        numbers = [getattr(part, end) for part in parts]
        if any(number is None for number in numbers) or (alpha is None and len(looks) > 1):
            return None
        dying = 1 - min(alpha or 1.0, 1.0) ** years
        return float(numbers[-1] + np.dot(numbers[:-1], dying))

    parts = [look.estimate(look.n_unseen, lower=0.0, upper=math.inf) for look in looks]
    value = total(parts, persistence.value, "value")
    low, high = total(parts, persistence.high, "low"), total(parts, persistence.low, "high")
    if value is None or low is None or high is None:
        reasons = [part.reason for part in (*parts, persistence) if part.reason]
        return Estimate(value=value, reason=reasons[0] if reasons else _NEEDS_TWO)
    return replace(parts[-1], value=value, low=low, high=high)
