"""From logarithms and their margins to estimates with intervals."""

import math

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL, Margin
from crawlgauge.model.paper import half_life
from crawlgauge.model.possible import LONGEST

__all__ = ["exponential", "growth_rate", "half_life_years", "population"]

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
