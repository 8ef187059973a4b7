"""How an overlap is carried over the time between two crawls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL, NORMAL_QUANTILE

__all__ = ["Carrying", "carrying_from_series", "carrying_with"]

_UNKNOWN = (
    "how many URLs live on between crawls of different dates is not known: no archive has three "
    "crawls. Give the share that lives on for a year with --persistence"
)
_NO_RANGE = "how many URLs live on between the crawls is known without a range"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrying:
    """How many URLs live on over a gap.

    Parameters
    ----------
    persistence
        Share of URLs that lives on for a year.
    variance
        Of its logarithm; None if it is not known.
    """

    persistence: Estimate
    variance: float | None

    def why_not(self, gap_days: int) -> str | None:
        """Return why nothing can be carried over a gap; None if it can."""
        return self.persistence.reason if gap_days and self.persistence.value is None else None

    def why_no_range(self, gap_days: float) -> str | None:
        """Return why what is carried over a gap has no range; None if it has one."""
        return _NO_RANGE if gap_days and self.variance is None else None

    def kept(self, gap_days: int) -> float:
        """Return the share of URLs that lives on over a gap; all where that is not known."""
        if self.persistence.value is None:
            return 1.0
        # No more URLs can live on than there were, whatever a series makes of it.
        return float(min(1.0, self.persistence.value) ** (abs(gap_days) / DAYS_PER_YEAR))

    def variance_over(self, gap_years: float) -> float:
        """Return the variance of the logarithm of the share that lives on over a gap."""
        return (self.variance or 0.0) * gap_years**2


def carrying_with(persistence: float) -> Carrying:
    """Carry with a persistence that the user knows.

    Parameters
    ----------
    persistence
        Share of URLs that lives on for a year, above 0 and at most 1.
    """
    return Carrying(persistence=Estimate(value=persistence), variance=0.0)


def carrying_from_series(persistences: Sequence[Estimate]) -> Carrying:
    """Carry with the geometric mean of what the archives' own series give.

    Parameters
    ----------
    persistences
        Of each archive; those with a range count, others only if none has one.
    """
    known = [item for item in persistences if item.value is not None]
    with_range = [item for item in known if item.low is not None and item.high is not None]
    chosen = with_range or known
    if not chosen:
        return Carrying(persistence=Estimate.unknown(_UNKNOWN), variance=None)
    logs = [math.log(item.value) for item in chosen if item.value is not None]
    mean = math.fsum(logs) / len(logs)
    if not with_range:
        estimate = Estimate(value=math.exp(mean), reason="no series has a range for it")
        return Carrying(persistence=estimate, variance=None)
    margins = [
        math.log(item.high / item.low) / 2
        for item in chosen
        if item.low is not None and item.high is not None
    ]
    half_width = math.hypot(*margins) / len(margins)
    estimate = Estimate(
        value=math.exp(mean),
        low=math.exp(mean - half_width),
        high=math.exp(mean + half_width),
        level=LEVEL,
        basis="interval",
    )
    return Carrying(persistence=estimate, variance=(half_width / NORMAL_QUANTILE) ** 2)
