"""The urn as pairs: sizes and overlaps drawn from their mean and covariance, for any population."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.urn_moments import Moments, compute_moments
from crawlgauge.simulate.urn_plan import UrnPlan, make_plan, make_random
from crawlgauge.simulate.urn_settings import UrnSettings

__all__ = ["MAX_PAIR_CRAWLS", "draw_pairs"]

MAX_PAIR_CRAWLS = 100
"""The covariance of all pairs of more crawls takes too much memory."""

_FEW = 50
_RELATIVE_JITTER = 1e-9


def draw_pairs(plan: UrnPlan) -> NDArray[np.int64]:
    """Draw how many URLs each two crawls share; the diagonal holds the sizes.

    Counts have the mean and covariance that sets would have. Their distribution is normal, and
    Poisson where fewer than 50 are expected.

    Parameters
    ----------
    plan
        What to draw from.

    Raises
    ------
    SimulationError
        If crawls depend on earlier ones, or there are too many of them.
    """
    if plan.settings.has_memory:
        raise SimulationError(
            f"the crawls of the scenario {plan.settings.scenario} depend on earlier ones, so that "
            "overlaps of this many crawls cannot be drawn without sets; simulate sets, or fewer "
            "crawls"
        )
    if plan.n_crawls > MAX_PAIR_CRAWLS:
        raise SimulationError(
            f"the overlaps of {plan.n_crawls} crawls cannot be drawn without sets, only those of "
            f"up to {MAX_PAIR_CRAWLS}; simulate sets"
        )
    law = _find_law(plan)
    noise = law.factor @ make_random(plan.seed, "counts").standard_normal(law.mean.size)
    drawn = np.rint(law.mean + law.deviation * noise).astype(np.int64)
    few = (law.mean < _FEW) & (law.first != law.last)
    drawn[few] = _to_poisson(law.mean[few], noise[few])
    n_shared = np.diag(plan.sizes)
    n_shared[law.first, law.last] = n_shared[law.last, law.first] = drawn
    return _keep_possible(n_shared, plan.populations)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Law:
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    factor: NDArray[np.float64]


def _find_law(plan: UrnPlan) -> _Law:
    if plan.settings.is_same_for_all_seeds:
        return _find_fixed_law(plan.settings)
    return _factorise(compute_moments(plan))


@functools.lru_cache(maxsize=16)
def _find_fixed_law(settings: UrnSettings) -> _Law:
    return _factorise(compute_moments(make_plan(settings, seed=0)))


def _factorise(moments: Moments) -> _Law:
    deviation = np.sqrt(np.maximum(np.diag(moments.covariance), 0))
    divisor = np.where(deviation > 0, deviation, 1)
    correlation = moments.covariance / np.outer(divisor, divisor)
    # Counts that cannot vary, and rounding, must not stop the factorisation.
    correlation[np.diag_indices_from(correlation)] = 1 + _RELATIVE_JITTER
    return _Law(
        first=moments.first,
        last=moments.last,
        mean=moments.mean,
        deviation=deviation,
        factor=np.linalg.cholesky(correlation),
    )


def _to_poisson(mean: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return Poisson counts that stand where the standard normal `noise` stands in its law."""
    counts = np.zeros(mean.size, dtype=np.int64)
    for index, (expected, deviate) in enumerate(zip(mean, noise, strict=True)):
        level = 0.5 * math.erfc(-deviate / math.sqrt(2))
        probability = math.exp(-expected)
        below = probability
        while below < level and probability > 0:
            counts[index] += 1
            probability *= expected / counts[index]
            below += probability
    return counts


def _keep_possible(
    n_shared: NDArray[np.int64], populations: NDArray[np.int64]
) -> NDArray[np.int64]:
    sizes = np.clip(np.diag(n_shared), 1, populations)
    n_shared = np.clip(n_shared, 0, np.minimum(sizes, sizes[:, None]))
    n_shared[np.diag_indices_from(n_shared)] = sizes
    return n_shared
