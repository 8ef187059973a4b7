"""Numbers with their ranges on the scale of logarithms, carried over the time between crawls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import LEVEL, NORMAL_QUANTILE

__all__ = ["Carrying", "LogRange", "find_carrying", "typical_value"]

# A factor of half a billion is no upper end.
_MAX_UP = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange:
    """A positive number, and the ends of its range.

    Parameters
    ----------
    value
        Logarithm of the number.
    down, up
        How far the range reaches below and above it; `up` may be infinite.
    """

    value: float
    down: float = 0.0
    up: float = 0.0

    @classmethod
    def from_estimate(cls, estimate: Estimate) -> "LogRange":
        """Take the logarithm of a positive number; where there is no range, of none."""
        value, low, high = estimate.value or math.nan, estimate.low, estimate.high
        return cls(
            value=math.log(value),
            down=math.log(value / low) if low else 0.0,
            up=math.log(high / value) if high else 0.0,
        )

    def shifted(self, by: float) -> "LogRange":
        """Return the range of the number times ``exp(by)``."""
        return LogRange(value=self.value + by, down=self.down, up=self.up)

    def over(self, other: "LogRange") -> "LogRange":
        """Return the range of the ratio to an independent number."""
        return LogRange(
            value=self.value - other.value,
            down=math.hypot(self.down, other.up),
            up=math.hypot(self.up, other.down),
        )

    def widened(self, variance: float) -> "LogRange":
        """Return the range with an independent error more, by adding squares on each side."""
        more = NORMAL_QUANTILE**2 * variance
        return LogRange(
            value=self.value,
            down=math.sqrt(self.down**2 + more),
            up=math.sqrt(self.up**2 + more),
        )

    def to_estimate(self, *, most: float = math.inf, reason: str | None = None) -> Estimate:
        """Return the number with its range.

        Parameters
        ----------
        most
            Neither the number nor its range can be above this.
        reason
            Why there is no range, where it must not be shown.
        """
        value = min(most, math.exp(self.value))
        if reason is not None:
            return Estimate(value=value, reason=reason)
        if self.down == self.up == 0:
            return Estimate(value=value)
        has_end = self.up < _MAX_UP
        return Estimate(
            value=value,
            low=min(most, math.exp(self.value - self.down)),
            high=min(most, math.exp(self.value + self.up)) if has_end else None,
            basis="interval",
            reason=None if has_end else "too few are shared for an upper end",
        )


def typical_value(ranges: Sequence[LogRange], shared_variance: float = 0.0) -> LogRange:
    """Return the geometric mean of several numbers, each with an error of its own.

    Its range is the wider of two: what the errors of the numbers make of it, and what their
    scatter does, with Student's t. The former holds where the numbers differ by their errors
    alone, the latter also where they differ by themselves.

    Parameters
    ----------
    ranges
        The numbers, at least one, with errors that are independent of each other.
    shared_variance
        Of an error that all of them have in common, on the scale of logarithms.

    Examples
    --------
    >>> print(f"{math.exp(typical_value([LogRange(value=0.0), LogRange(value=2.0)]).value):.3f}")
    2.718
    """
    from scipy.special import stdtrit  # here, because it takes as long to load as all the rest

    n = len(ranges)
    if n == 1:
        return ranges[0].widened(shared_variance)
    mean = math.fsum(item.value for item in ranges) / n
    scatter = math.fsum((item.value - mean) ** 2 for item in ranges) / (n - 1)
    # What normal distributions of the same mean widths would have.
    own = math.fsum(((item.down + item.up) / (2 * NORMAL_QUANTILE)) ** 2 for item in ranges) / n
    by_scatter = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * math.sqrt(scatter / n)
    half_width = max(NORMAL_QUANTILE * math.sqrt(own / n), by_scatter)
    return LogRange(value=mean, down=half_width, up=half_width).widened(shared_variance)


# --------------------------------------- how an overlap is carried over the time between two crawls


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
    log_growth, growth_variance
        Growth of the population per year, as a logarithm, and the variance of it: of a growing
        population a smaller share was there already before the gap, if that is negative.
    """

    persistence: Estimate
    variance: float | None
    log_growth: float = 0.0
    growth_variance: float = 0.0

    def why_not(self, gap_days: int) -> str | None:
        """Return why nothing can be carried over a gap; None if it can."""
        return self.persistence.reason if gap_days and self.persistence.value is None else None

    def why_no_range(self, gap: float) -> str | None:
        """Return why what is carried over a gap has no range; None if it has one."""
        return _NO_RANGE if gap and self.variance is None else None

    def kept(self, gap_days: int) -> float:
        """Return the share of URLs that lives on over a gap; all where that is not known."""
        if self.persistence.value is None:
            return 1.0
        # No more URLs can live on than there were, whatever a series makes of it.
        kept = float(min(1.0, self.persistence.value) ** (abs(gap_days) / DAYS_PER_YEAR))
        if gap_days < 0:
            kept *= math.exp(self.log_growth * gap_days / DAYS_PER_YEAR)
        return min(1.0, kept)

    def variance_over(self, gap_years: float) -> float:
        """Return the variance of the logarithm of the share that lives on over a gap."""
        of_growth = self.growth_variance if gap_years < 0 else 0.0
        return (self.variance or 0.0) * gap_years**2 + of_growth * gap_years**2


def find_carrying(
    persistences: Sequence[Estimate],
    given: float | None = None,
    growth_per_year: Estimate | None = None,
) -> Carrying:
    """Carry with a persistence that the user knows, or with the geometric mean of what series give.

    Parameters
    ----------
    persistences
        Of each archive; those with a range count, others only if none has one.
    given
        Share of URLs that lives on for a year, where the user knows it.
    growth_per_year
        Of the population; none where that is not known.
    """
    log_growth = growth_variance = 0.0
    if growth_per_year is not None and growth_per_year.value is not None:
        log_growth = math.log1p(growth_per_year.value)
        low, high = growth_per_year.low, growth_per_year.high
        if low is not None and high is not None:
            margin = (math.log1p(high) - math.log1p(low)) / 2
            growth_variance = (margin / NORMAL_QUANTILE) ** 2
    persistence, variance = _average(persistences)
    if given is not None:
        persistence, variance = Estimate(value=given), 0.0
    return Carrying(
        persistence=persistence,
        variance=variance,
        log_growth=log_growth,
        growth_variance=growth_variance,
    )


def _average(persistences: Sequence[Estimate]) -> tuple[Estimate, float | None]:
    """Return the mean persistence, and the variance of its logarithm."""
    known = [item for item in persistences if item.value is not None]
    with_range = [item for item in known if item.low is not None and item.high is not None]
    logs = [math.log(item.value) for item in with_range or known if item.value is not None]
    if not logs:
        return Estimate.unknown(_UNKNOWN), None
    mean = math.fsum(logs) / len(logs)
    margins = [
        math.log(item.high / item.low) / 2
        for item in with_range
        if item.low is not None and item.high is not None
    ]
    if not margins:
        return Estimate(value=math.exp(mean), reason="no series has a range for it"), None
    half_width = math.hypot(*margins) / len(margins)
    low, high = math.exp(mean - half_width), math.exp(mean + half_width)
    estimate = Estimate(value=math.exp(mean), low=low, high=high, basis="interval")
    return estimate, (half_width / NORMAL_QUANTILE) ** 2
