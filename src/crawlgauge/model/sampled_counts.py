"""Counts of a sample as counts of the whole, with the ranges that sampling gives them.

A sample takes each URL with the same chance, whatever its history. All ranges here are score
intervals (Wilson's for shares): they hold for small counts too, and are never below zero.
"""

import math

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import NORMAL_QUANTILE

__all__ = ["part_of", "scaled", "share"]

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
    return Estimate(
        value=n / rate,
        low=max(float(n), (middle - half_width) / rate),
        high=(middle + half_width) / rate,
        basis="interval",
    )


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
    return Estimate(
        value=value,
        low=max(0.0, middle - half_width),
        high=min(1.0, middle + half_width),
        basis="interval",
    )


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
    of_all = share(n, n_all, rate)
    if of_all.value is None or of_all.low is None or of_all.high is None:
        return of_all
    value, low, high = total * of_all.value, total * of_all.low, total * of_all.high
    return Estimate(value=value, low=low, high=high, basis="interval")
