"""What can be true: numbers within their bounds, in ranges that tell something."""

import math
from dataclasses import replace

from crawlgauge.model.estimates import Estimate

__all__ = ["LONGEST", "WIDEST", "is_telling", "within"]

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
