"""Newton's method for smooth log-likelihoods: bounded, and unharmed by flat directions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Covariance", "Curve", "Maximum", "invert_information", "maximise"]

# Steps longer than this leave the region where a second-order expansion on the scale of
# logarithms or logits means anything.
_MAX_STEP = 4.0
_MAX_ROUNDS = 200
_MAX_HALVINGS = 40
# The gain that the next step promises, in log-likelihood per observation: convergence is
# quadratic, so that the step taken last leaves far less.
_SMALL_GAIN = 1e-13
# Of the curvatures scaled to a unit diagonal, those below are rounding and no information.
_FLAT = 1e-9
_IDENTIFIED = 1 - 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """A log-likelihood at one point, with its first and second derivatives."""

    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maximum:
    """Where a log-likelihood is largest.

    Parameters
    ----------
    point
        The parameters.
    value
        The log-likelihood there.
    information
        Minus the second derivatives there.
    at_limit
        Which parameters were stopped by the limit.
    has_converged
        Whether the search ended at a maximum.
    """

    point: NDArray[np.float64]
    value: float
    information: NDArray[np.float64]
    at_limit: NDArray[np.bool_]
    has_converged: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, "point", "information", "at_limit")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Covariance:
    """How well the parameters are determined.

    Parameters
    ----------
    matrix
        Their covariance; NaN for those that are not determined.
    determined
        Which of them the data determine.
    rank
        Number of parameters, or combinations of them, that the data determine.
    """

    matrix: NDArray[np.float64]
    determined: NDArray[np.bool_]
    rank: int

    def __post_init__(self) -> None:
        freeze_arrays(self, "matrix", "determined")


def maximise(
    evaluate: Callable[[NDArray[np.float64]], Curve],
    start: NDArray[np.float64],
    *,
    n_observations: float,
    limit: float = np.inf,
    fixed: NDArray[np.bool_] | None = None,
) -> Maximum:
    """Find the largest value of a log-likelihood.

    Parameters
    ----------
    evaluate
        Gives the log-likelihood at a point; not finite where the point is impossible.
    start
        Where to begin; a possible point.
    n_observations
        By how much the log-likelihood grows with the data: sets the accuracy.
    limit
        Parameters stay between minus this and this.
    fixed
        Which parameters keep the value that they start with.
    """
    held = np.zeros(start.shape, dtype=np.bool_) if fixed is None else fixed
    point = np.where(held, start, np.clip(start, -limit, limit))
    here = evaluate(point)
    has_converged = False
    for _ in range(_MAX_ROUNDS):
        free = ~held & ~_is_pushed_out(point, here.gradient, limit)
        # A step along several axes may lead out of the limit where the gradient alone does not.
        free &= ~_is_pushed_out(point, _find_step(here, free), limit)
        step = _find_step(here, free)
        gain = float(here.gradient @ step) / n_observations
        if gain < _SMALL_GAIN:
            # Too small a gain to be seen in the value, yet it doubles the digits of the point.
            point = np.where(held, point, np.clip(point + step, -limit, limit))
            here, has_converged = evaluate(point), True
            break
        moved = _move(evaluate, point, here, step, limit, held)
        if moved is None:
            break
        point, here = moved
    return Maximum(
        point=point,
        value=here.value,
        information=-here.hessian,
        at_limit=_is_pushed_out(point, here.gradient, limit),
        has_converged=has_converged,
    )


def invert_information(maximum: Maximum) -> Covariance:
    """Return how well the data determine the parameters at a maximum.

    Parameters
    ----------
    maximum
        Parameters at their limit count as known.
    """
    free = ~maximum.at_limit
    information = maximum.information[np.ix_(free, free)]
    scale, curvature, axes = _decompose(information)
    kept = curvature > _FLAT
    axes = axes[:, kept]
    determined = np.zeros(free.shape, dtype=np.bool_)
    determined[free] = np.sum(axes**2, axis=1) > _IDENTIFIED
    matrix = np.full(maximum.information.shape, np.nan)
    matrix[np.ix_(free, free)] = (axes / curvature[kept]) @ axes.T / scale[:, None] / scale
    matrix[~determined] = np.nan
    matrix[:, ~determined] = np.nan
    return Covariance(matrix=matrix, determined=determined, rank=int(kept.sum()))


def _decompose(
    information: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the scale of each parameter, and the curvatures along the axes so scaled."""
    diagonal = np.abs(np.diagonal(information))
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    # One after the other: the product of two small scales may vanish.
    curvature, axes = np.linalg.eigh(information / scale[:, None] / scale)
    return scale, curvature, axes


def _is_pushed_out(
    point: NDArray[np.float64], direction: NDArray[np.float64], limit: float
) -> NDArray[np.bool_]:
    is_out: NDArray[np.bool_] = (np.abs(point) >= limit) & (np.sign(direction) == np.sign(point))
    return is_out


def _find_step(here: Curve, free: NDArray[np.bool_]) -> NDArray[np.float64]:
    step = np.zeros(free.shape)
    if not free.any():
        return step
    scale, curvature, axes = _decompose(-here.hessian[np.ix_(free, free)])
    # Taking the size of each curvature turns a climb to a saddle into one to a summit.
    size = np.maximum(np.abs(curvature), _FLAT)
    step[free] = axes @ ((axes.T @ (here.gradient[free] / scale)) / size) / scale
    longest = np.max(np.abs(step))
    return step * min(1.0, _MAX_STEP / longest) if longest > 0 else step


def _move(
    evaluate: Callable[[NDArray[np.float64]], Curve],
    point: NDArray[np.float64],
    here: Curve,
    step: NDArray[np.float64],
    limit: float,
    held: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], Curve] | None:
    """Go along the step, or part of it, to a higher place; None if there is none."""
    for halving in range(_MAX_HALVINGS):
        trial = point + step * 0.5**halving
        trial = np.where(held, point, np.clip(trial, -limit, limit))
        there = evaluate(trial)
        if there.value > here.value:
            return trial, there
    return None
