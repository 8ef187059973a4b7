"""What numbers can be: within their bounds, in ranges that tell something."""

import math
from collections.abc import Callable

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import LEVEL, Margin
from crawlgauge.model.paper import half_life

__all__ = ["LONGEST", "WIDEST", "from_log", "half_life_years", "is_telling", "within"]

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
    low, high = scale(log_value - half_width), scale(log_value + half_width)
    return Estimate(value=value, low=low, high=high, level=LEVEL, basis="interval")


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
        level=persistence.level,
        basis=persistence.basis,
        reason=_REACHES_ONE if high is None else None,
    )
