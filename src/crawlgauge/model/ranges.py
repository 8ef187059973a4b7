"""What numbers can be: within their bounds, in ranges that tell something."""

import math
from dataclasses import replace

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import LEVEL, Margin
from crawlgauge.model.paper import half_life

__all__ = [
    "LONGEST",
    "WIDEST",
    "exponential",
    "growth_rate",
    "half_life_years",
    "is_telling",
    "population",
    "within",
]


# --------------------- what can be true: numbers within their bounds, in ranges that tell something


LONGEST = 10.0
"""Times are told up to so many times the length of a series."""

WIDEST = 10.0
"""A range that is wider than this factor tells no number."""

_TOO_WIDE = "not identifiable: its range is wider than a factor of ten"
_IMPOSSIBLE = "not identifiable: the model gives what is impossible, so that it does not hold"


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

    Parameters
    ----------
    estimate
        As a model gives it.
    least, most
        What it can be.

    Examples
    --------
    >>> within(Estimate(value=1.04, low=0.99, high=1.09, basis="interval"), most=1.0).value
    1.0
    >>> within(Estimate(value=2.73, low=1.54, high=4.83, basis="interval"), most=1.0).value is None
    True
    """
    if estimate.value is None:
        return estimate

    def cut(number: float) -> float:
        return min(max(number, least), most)

    value, low, high = estimate.value, estimate.low, estimate.high
    nearest, farthest = value if low is None else low, value if high is None else high
    if nearest > most or farthest < least:
        return Estimate.unknown(_IMPOSSIBLE)
    if low is not None and high is not None and not is_telling(cut(low), cut(high)):
        return Estimate.unknown(_TOO_WIDE)
    return replace(
        estimate,
        value=cut(value),
        low=None if low is None else cut(low),
        high=None if high is None else cut(high),
    )


# ------------------------------------ from logarithms and their margins to estimates with intervals


_TOO_LONG = "longer than this series can tell"
_REACHES_ONE = "the upper end is longer than this series can tell"


def exponential(log_value: float, margin: Margin, reason: str | None) -> Estimate:
    """Return the exponential of an estimate, with an interval of the same ratio to either side.

    Parameters
    ----------
    log_value
        The estimate; NaN if it is not known.
    margin
        Its margin.
    reason
        Why the estimate or its interval is missing according to the fit; None if nothing is.
    """
    if math.isnan(log_value):
        return Estimate(value=None, reason=reason)
    value = math.exp(log_value)
    if margin.half_width is None:
        return Estimate(value=value, reason=reason or margin.reason)
    low, high = log_value - margin.half_width, log_value + margin.half_width
    return _interval(value, math.exp(low), math.exp(high))


def growth_rate(rate: float, margin: Margin, reason: str | None) -> Estimate:
    """Return the relative growth per year that belongs to a rate.

    Parameters
    ----------
    rate
        Trend of the log population per year.
    margin, reason
        As for `exponential`.
    """
    value = math.expm1(rate)
    if margin.half_width is None:
        return Estimate(value=value, reason=reason or margin.reason)
    low, high = rate - margin.half_width, rate + margin.half_width
    return _interval(value, math.expm1(low), math.expm1(high))


def half_life_years(persistence: Estimate, series_years: float) -> Estimate:
    """Return the half-life that belongs to a persistence, and its interval.

    Parameters
    ----------
    persistence
        Per year.
    series_years
        From the first crawl to the last: of much longer times a series tells nothing.
    """
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
        level=persistence.level,
        basis=persistence.basis,
        reason=_REACHES_ONE if high is None else None,
    )


def population(n_urls: int, log_coverage: float, margin: Margin, reason: str | None) -> Estimate:
    """Return the population that a crawl of known size and estimated coverage was drawn from.

    Parameters
    ----------
    n_urls
        Size of the crawl.
    log_coverage
        Its coverage; NaN if it is not known.
    margin, reason
        As for `exponential`.
    """
    return exponential(math.log(n_urls) - log_coverage, margin, reason)


def _interval(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, level=LEVEL, basis="interval")
