"""How an overlap is carried over the time between two crawls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import LEVEL, NORMAL_QUANTILE

__all__ = ["Carrying", "LogRange", "carrying_from_series", "carrying_with", "typical_value"]


# ----------- A positive number and how far it may be off to either side, on the scale of logarithms


_MAX_UP = 20.0
"""A factor of half a billion is no upper end."""


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

    @property
    def variance(self) -> float:
        """What a normal distribution of the same mean width would have."""
        return ((self.down + self.up) / (2 * NORMAL_QUANTILE)) ** 2

    def shifted(self, by: float) -> "LogRange":
        """Return the range of the number times ``exp(by)``."""
        return LogRange(value=self.value + by, down=self.down, up=self.up)

    def inverted(self) -> "LogRange":
        """Return the range of one over the number."""
        return LogRange(value=-self.value, down=self.up, up=self.down)

    def widened(self, variance: float) -> "LogRange":
        """Return the range with an independent error more, by adding squares on each side.

        Parameters
        ----------
        variance
            Of the further error, on the scale of logarithms.
        """
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
            level=LEVEL,
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
    own = math.fsum(item.variance for item in ranges) / n
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
