"""Profile likelihood: how far a parameter can go before the data object."""

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.open_population.newton import Curve, Maximum, maximise

__all__ = ["profile_limits"]

_FIRST_STEP = 0.25
_ACCURACY = 1e-9


def profile_limits(
    evaluate: Callable[[NDArray[np.float64]], Curve],
    maximum: Maximum,
    parameter: int,
    *,
    n_observations: float,
    limit: float,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the ends of the range in which a parameter is not refuted.

    At each value of the parameter, the log-likelihood is maximised over all others; twice its
    loss is set against chi-squared with one degree of freedom.

    Parameters
    ----------
    evaluate
        The log-likelihood.
    maximum
        Where it is largest.
    parameter
        Number of the parameter.
    n_observations, limit
        As they were for finding the maximum.
    level
        Share of ranges that are to hold the truth.

    Returns
    -------
    tuple
        Lower and upper end; infinite where nothing refutes values up to the limit.
    """
    allowed = NormalDist().inv_cdf((1 + level) / 2) ** 2
    fixed = np.arange(maximum.point.size) == parameter
    centre = float(maximum.point[parameter])

    def excess(value: float) -> float:
        start = np.where(fixed, value, maximum.point)
        best = maximise(evaluate, start, n_observations=n_observations, limit=limit, fixed=fixed)
        return 2 * (maximum.value - best.value) - allowed

    return (
        _find_end(excess, centre, -1.0, limit),
        _find_end(excess, centre, 1.0, limit),
    )


def _find_end(
    excess: Callable[[float], float], centre: float, direction: float, limit: float
) -> float:
    from scipy.optimize import brentq

    inside, step = centre, _FIRST_STEP
    while abs(inside) < limit or inside * direction < 0:
        outside = float(np.clip(centre + direction * step, -limit, limit))
        if excess(outside) > 0:
            return float(brentq(excess, inside, outside, xtol=_ACCURACY))
        inside, step = outside, 2 * step
    return direction * np.inf
