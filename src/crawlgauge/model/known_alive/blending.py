"""The level, blended with that of a latent-class model where survival stays inconsistent.

Windows cannot see URLs that are hardly ever captured twice. A model with latent classes of
capture and survival can, if its parametric survival holds: it has a say where survival is
inconsistent and as far as it reproduces the histories.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.known_alive.results import LatentClassLevel
from crawlgauge.model.known_alive.shapes import Average, is_even

__all__ = ["Blend", "blend_level"]

_OVERCORRECTED = -1.0
"""Below this ζ/τ coverage was corrected too far already, and a lower level is not asked for."""

_BASE_WEIGHT = 0.35
_WEIGHT_PER_RATIO = 0.25
"""Weight of the other model at consistent survival, and what each unit of ζ/τ adds to it."""

_STRICT_RMSEA, _STRICT_RANGE = 0.006, 0.003
_LENIENT_RMSEA, _LENIENT_RANGE = 0.012, 0.006
"""Lack of fit at which the other model loses all say, and the range over which it does; where
uneven capture is proven and survival inconsistent, it need not fit as closely to be better."""

_INCONSISTENT = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """How the level is blended.

    Parameters
    ----------
    difference
        Mean logarithm of coverage of the other model minus that of the windows; NaN without one.
    weight
        Share of the difference that is taken over.
    """

    difference: float
    weight: float

    @property
    def shift(self) -> float:
        """What is added to each crawl's logarithm of coverage."""
        return self.weight * self.difference if self.weight > 0 else 0.0


_NONE = Blend(difference=math.nan, weight=0.0)


def blend_level(average: Average, latent_class: Callable[[], LatentClassLevel | None]) -> Blend:
    """Decide how far the level follows a latent-class model.

    Parameters
    ----------
    average
        Coverage from the windows.
    latent_class
        Fits the other model; called only if it could have a say.
    """
    ratio = average.heaviest.consistency.ratio
    if ratio <= _OVERCORRECTED:
        return _NONE
    level = latent_class()
    if level is None:
        return _NONE
    difference = (level.log_coverage - average.log_coverage)[1:-1]
    if not np.isfinite(difference).any():
        return _NONE
    if is_even(average.heaviest) or ratio < _INCONSISTENT:
        trust = (_STRICT_RMSEA - level.rmsea) / _STRICT_RANGE
    else:
        trust = (_LENIENT_RMSEA - level.rmsea) / _LENIENT_RANGE
    weight = _clip(_BASE_WEIGHT + _WEIGHT_PER_RATIO * ratio) * _clip(trust)
    return Blend(difference=float(np.nanmean(difference)), weight=weight)


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)
