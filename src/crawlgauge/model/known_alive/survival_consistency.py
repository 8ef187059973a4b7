"""Survival consistency: whether all URLs alive survive like those already known.

The windows show the upper part of the propensities; how many URLs lie below them is an
extrapolation. If too few are assumed, hardly any of the URLs that are captured rarely count as
survivors: survival of all URLs alive at a crawl then falls short of that of the URLs already known
before. Young URLs may truly die sooner; how much is told from URLs known for longer.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.population import Population
from crawlgauge.model.known_alive.windows import Tallies

__all__ = ["Consistency", "check_survival"]

Numbers = NDArray[np.float64]

_MIN_SHARED = 10
"""Survival of fewer URLs than this is left out."""

_LONE_SD = 0.05
"""Error taken for a difference that a single crawl shows."""

_AGE_STRETCH = 1.7
"""What one step of age does to survival, extrapolated to the step from all to known URLs."""

_MAX_AGE_EFFECT = 0.25
"""No list that was looked at has young URLs that much shorter-lived."""

_AGE_DOUBT = 0.5
"""The extrapolated part is known to a half of itself."""

_TOLERANCE = 0.015
_TOLERANCE_TRAP = 0.03
"""Differences of this size are found where nothing is wrong; more so next to trap effects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """How far the survival of all URLs is from that of those already known.

    Parameters
    ----------
    excess
        ζ: above 0 if coverage is still too high, below 0 if it was corrected too far; NaN where
        it cannot be told.
    error
        τ, its standard deviation where nothing is wrong.
    """

    excess: float
    error: float

    @property
    def ratio(self) -> float:
        """ζ/τ; 0 where it cannot be told."""
        return self.excess / self.error if math.isfinite(self.excess) else 0.0

    @property
    def doubt(self) -> float:
        """Twice the negative logarithm of the density of ζ, up to a constant.

        The density's height counts: a population under which survival cannot be told is not the
        better for it. 0 where it cannot be told at all.
        """
        if not math.isfinite(self.excess):
            return 0.0
        return self.ratio**2 + 2 * math.log(self.error / _TOLERANCE)


def check_survival(population: Population, tallies: Tallies, trap_lags: int) -> Consistency:
    """Compare the survival of all URLs alive with that of URLs known for some time.

    Parameters
    ----------
    population
        URLs alive.
    tallies
        Overlaps it was counted from.
    trap_lags
        K: overlaps of crawls that are no farther apart depend on the trap effect and are not used.
    """
    known, longer = trap_lags + 1, trap_lags + 2
    young = _difference(population, tallies, trap_lags + 1, known, 0)
    if young is None:
        return Consistency(excess=math.nan, error=math.inf)
    old = _difference(population, tallies, trap_lags + 1, longer, known)
    age_effect = 0.0
    if old is not None:
        sure = old[0] - (2 if trap_lags else 1) * old[1]
        age_effect = min(_AGE_STRETCH * max(0.0, sure), _MAX_AGE_EFFECT)
    tolerance = _TOLERANCE_TRAP if trap_lags else _TOLERANCE
    return Consistency(
        excess=young[0] - age_effect,
        error=math.hypot(tolerance, young[1], _AGE_DOUBT * age_effect),
    )


def _difference(
    population: Population, tallies: Tallies, lag: int, known: int, less_known: int
) -> tuple[float, float] | None:
    """Return how much longer URLs live that are known for more crawls, and its error."""
    differences, weights = [], []
    for crawl in range(max(1, known), population.alive.size - 1 - lag):
        n_shared = tallies.shared[crawl - known, crawl + lag]
        difference = _log_survival(population, crawl, lag, known) - _log_survival(
            population, crawl, lag, less_known
        )
        if n_shared > _MIN_SHARED and math.isfinite(difference):
            differences.append(difference)
            weights.append(n_shared)
    if not differences:
        return None
    values, weight = np.array(differences), np.array(weights)
    mean = float(np.average(values, weights=weight))
    error = _LONE_SD
    if values.size > 1:
        spread = float(np.average((values - mean) ** 2, weights=weight))
        error = math.sqrt(spread / (values.size - 1))
    return mean, max(error, 1 / math.sqrt(float(weight.sum())))


def _log_survival(population: Population, crawl: int, lag: int, known: int) -> float:
    """Return the survival over `lag` crawls of URLs alive at a crawl and `known` crawls before."""
    at_both = population.alive_at_both
    before = at_both[crawl - known, crawl] if known else population.alive[crawl]
    after = at_both[crawl - known, crawl + lag]
    return math.log(after / before) if after > 0 and before > 0 else math.nan
