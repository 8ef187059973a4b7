"""Numbers with their ranges: what they can be, of samples, and carried over time on a log scale."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import LEVEL, NORMAL_QUANTILE, Margin
from crawlgauge.model.paper import half_life

LONGEST = 10.0
"""Times are told up to so many times the length of a series."""

WIDEST = 10.0
"""A range that is wider than this factor tells no number."""

_TOO_WIDE = "not identifiable: its range is wider than a factor of ten"
_IMPOSSIBLE = "not identifiable: the model gives what is impossible, so that it does not hold"
_TOO_LONG = "longer than this series can tell"
_REACHES_ONE = "the upper end is longer than this series can tell"


def is_telling(low: float, high: float) -> bool:
    """Return whether a range is narrow enough for a number.

    Examples
    --------
    >>> is_telling(0.2, 0.5), is_telling(0.0, 7.0)
    (True, False)
    """
    return high <= WIDEST * low


def within(estimate: Estimate, *, least: float = 0.0, most: float = math.inf) -> Estimate:
    """Return a number without what is impossible of it; unknown if nothing telling is left.

    Examples
    --------
    >>> within(Estimate(value=1.04, low=0.99, high=1.09, basis="interval"), most=1.0).value
    1.0
    >>> within(Estimate(value=2.73, low=1.54, high=4.83, basis="interval"), most=1.0).value is None
    True
    """
    if estimate.value is None:
        return estimate
    nearest = estimate.value if estimate.low is None else estimate.low
    farthest = estimate.value if estimate.high is None else estimate.high
    if nearest > most or farthest < least:
        return Estimate.unknown(_IMPOSSIBLE)
    cut = estimate.map(lambda number: min(max(number, least), most))
    if cut.low is not None and cut.high is not None and not is_telling(cut.low, cut.high):
        return Estimate.unknown(_TOO_WIDE)
    return cut


def from_log(
    log_value: float, margin: Margin, reason: str | None, scale: Callable[[float], float] = math.exp
) -> Estimate:
    """Return an estimate from its logarithm, with an interval of the same ratio to either side.

    `reason` says why the estimate (NaN) or its interval is missing according to the fit; `scale`
    makes the number of the logarithm, `math.expm1` that of a relative change.
    """
    if math.isnan(log_value):
        return Estimate(value=None, reason=reason)
    value, half_width = scale(log_value), margin.half_width
    if half_width is None:
        return Estimate(value=value, reason=reason or margin.reason)
    return Estimate.between(value, scale(log_value - half_width), scale(log_value + half_width))


def half_life_years(persistence: Estimate, series_years: float) -> Estimate:
    """Return the half-life that belongs to a persistence, and its interval."""
    if persistence.value is None:
        return Estimate(value=None, reason=persistence.reason)
    value = half_life(math.log(persistence.value))
    longest = LONGEST * series_years
    if value is None or value > longest:
        return Estimate.unknown(_TOO_LONG)
    if persistence.low is None or persistence.high is None:
        return Estimate(value=value, reason=persistence.reason)
    high = half_life(math.log(persistence.high))
    high = None if high is None or high > longest else high
    return Estimate(
        value=value,
        low=half_life(math.log(persistence.low)),
        high=high,
        basis=persistence.basis,
        reason=_REACHES_ONE if high is None else None,
    )


# -------------------------------------------------------- counts of a sample as counts of the whole


# A sample takes each URL with the same chance, whatever its history. All ranges here are score
# intervals (Wilson's for shares): they hold for small counts too, and are never below zero.
_NONE_SAMPLED = "none of them is in the sample"


def scaled(n: int, rate: float) -> Estimate:
    """Return how many there are, if a sample holds `n` of them.

    Parameters
    ----------
    n
        Counted in the sample.
    rate
        Share of all that the sample takes; if it is 1, `n` is exact.

    Examples
    --------
    >>> scaled(100, 1.0).value, scaled(100, 0.25).value
    (100, 400.0)
    >>> number = scaled(100, 0.25)
    >>> round(number.low), round(number.high)
    (338, 474)
    """
    if rate == 1:
        return Estimate(value=n)
    # All totals N with (n - N rate)² <= z² N rate (1 - rate).
    spread = NORMAL_QUANTILE**2 * (1 - rate)
    middle = n + spread / 2
    half_width = math.sqrt(spread * (n + spread / 4))
    low = max(float(n), (middle - half_width) / rate)
    return Estimate.between(n / rate, low, (middle + half_width) / rate)


def share(n: int, n_all: int, rate: float) -> Estimate:
    """Return a share, if `n` of `n_all` in a sample have what it is of.

    Parameters
    ----------
    n, n_all
        Counted in the sample.
    rate
        As for `scaled`; 0 if what the sample stands for is far larger than it.

    Examples
    --------
    >>> share(30, 40, 1.0).value
    0.75
    >>> number = share(81, 263, 0.0)
    >>> f"{number.low:.4f} {number.high:.4f}"
    '0.2553 0.3662'
    >>> number = share(30, 40, 0.01)
    >>> round(number.low, 2), round(number.high, 2)
    (0.6, 0.86)
    """
    if n_all == 0:
        return Estimate.unknown(_NONE_SAMPLED)
    value = n / n_all
    if rate == 1:
        return Estimate(value=value)
    # What is in the sample is known: only the rest is in doubt.
    doubt = NORMAL_QUANTILE**2 * (1 - rate) / n_all
    middle = (value + doubt / 2) / (1 + doubt)
    half_width = math.sqrt(doubt * (value * (1 - value) + doubt / 4)) / (1 + doubt)
    return Estimate.between(value, max(0.0, middle - half_width), min(1.0, middle + half_width))


def part_of(total: int, n: int, n_all: int, rate: float) -> Estimate:
    """Return how many of a known total have something, if `n` of `n_all` in a sample have it.

    Parameters
    ----------
    total
        All of them, known exactly.
    n, n_all
        Counted in the sample.
    rate
        As for `scaled`; if it is 1, `n` is exact.

    Examples
    --------
    >>> part_of(1000, 30, 40, 0.04).value
    750.0
    """
    if rate == 1:
        return Estimate(value=n)
    if total == 0:
        return Estimate(value=0)
    return share(n, n_all, rate).map(lambda part: total * part)


# --------------------------------------------------------------- numbers on the scale of logarithms


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
            value=self.value, down=math.sqrt(self.down**2 + more), up=math.sqrt(self.up**2 + more)
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
    with_range = [item for item in known if item.low is not None]
    if not known:
        return Estimate.unknown(_UNKNOWN), None
    ranges = [LogRange.from_estimate(item) for item in with_range or known]
    mean = math.fsum(item.value for item in ranges) / len(ranges)
    if not with_range:
        return Estimate(value=math.exp(mean), reason="no series has a range for it"), None
    half_width = math.hypot(*((item.down + item.up) / 2 for item in ranges)) / len(ranges)
    ends = math.exp(mean - half_width), math.exp(mean + half_width)
    return Estimate.between(math.exp(mean), *ends), (half_width / NORMAL_QUANTILE) ** 2
