"""Links: from the effects that add up to the chance of a capture."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["CaptureTable", "Link", "capture_table", "to_effect"]

Numbers = NDArray[np.float64]
Link = Literal["logit", "cloglog"]

_MIN_EFFECT = -12.0
"""A chance of 6 in a million: no crawl is told from an empty one below it."""

_MAX_LOGIT = 12.0
_MAX_CLOGLOG = 3.2
"""Where a miss has the chance of 6 in a million (logit) and 2 in 10^11 (cloglog), and products of
nine such chances still are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CaptureTable:
    """Chances of a capture and of a miss, with the slopes of their logarithms.

    Parameters
    ----------
    hit, miss
        Chance of a capture and of none.
    hit_slope, miss_slope
        Change of the logarithm of each with the effect.
    """

    hit: Numbers
    miss: Numbers
    hit_slope: Numbers
    miss_slope: Numbers


def capture_table(effect: Numbers, link: Link) -> CaptureTable:
    """Return the chances that belong to effects.

    Parameters
    ----------
    effect
        Sums of effects, of any shape.
    link
        ``cloglog``, on which effects multiply the rate of captures, or ``logit``.

    Examples
    --------
    >>> float(capture_table(np.array([0.0]), "logit").hit[0])
    0.5
    """
    if link == "logit":
        odds = np.exp(np.clip(effect, _MIN_EFFECT, _MAX_LOGIT))
        miss = 1 / (1 + odds)
        hit = odds * miss
        return CaptureTable(hit=hit, miss=miss, hit_slope=miss, miss_slope=-hit)
    rate = np.exp(np.clip(effect, _MIN_EFFECT, _MAX_CLOGLOG))
    miss = np.exp(-rate)
    hit = -np.expm1(-rate)
    return CaptureTable(hit=hit, miss=miss, hit_slope=rate * miss / hit, miss_slope=-rate)


def to_effect(chance: Numbers, link: Link) -> Numbers:
    """Return the effect that gives a chance strictly between 0 and 1."""
    effect: Numbers = np.log(-np.log1p(-chance))
    return np.log(chance / (1 - chance)) if link == "logit" else effect
