"""Searches for the best parameters: Newton's with second derivatives, and BFGS within bounds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.pairs import Flags, Numbers

Curve = tuple[float, Numbers, Numbers]
"""A log-likelihood at one point, with its first and second derivatives."""

_MAX_HALVINGS = 40


# ---------------------------------- Newton's method: bounded, and unharmed by flat directions

# Steps longer than this leave the region where a second-order expansion on the scale of
# logarithms or logits means anything.
_MAX_STEP = 4.0
_MAX_ROUNDS = 200
# The gain that the next step promises, in log-likelihood per observation: convergence is
# quadratic, so that the step taken last leaves far less.
_SMALL_GAIN = 1e-13
# Of the curvatures scaled to a unit diagonal, those below are rounding and no information.
_FLAT = 1e-9
_IDENTIFIED = 1 - 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maximum:
    """Where a log-likelihood is largest.

    `information` is minus its second derivatives there; `at_limit` tells which parameters were
    stopped by the limit.
    """

    point: Numbers
    value: float
    information: Numbers
    at_limit: Flags
    has_converged: bool


def maximise(
    evaluate: Callable[[Numbers], Curve],
    start: Numbers,
    *,
    n_observations: float,
    limit: float = np.inf,
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
    """
    point = np.clip(start, -limit, limit)
    here = evaluate(point)
    has_converged = False
    for _ in range(_MAX_ROUNDS):
        value, gradient, hessian = here
        free = ~_is_pushed_out(point, gradient, limit)
        # A step along several axes may lead out of the limit where the gradient alone does not.
        free &= ~_is_pushed_out(point, _newton_step(gradient, hessian, free), limit)
        step = _newton_step(gradient, hessian, free)
        if float(gradient @ step) / n_observations < _SMALL_GAIN:
            # Too small a gain to be seen in the value, yet it doubles the digits of the point.
            point = np.clip(point + step, -limit, limit)
            here, has_converged = evaluate(point), True
            break
        for halving in range(_MAX_HALVINGS):
            trial = np.clip(point + 0.5**halving * step, -limit, limit)
            there = evaluate(trial)
            if there[0] > value:
                break
        else:
            break
        point, here = trial, there
    value, gradient, hessian = here
    return Maximum(
        point=point,
        value=value,
        information=-hessian,
        at_limit=_is_pushed_out(point, gradient, limit),
        has_converged=has_converged,
    )


def variances_at(maximum: Maximum) -> Numbers:
    """Return the variance of each parameter; NaN where the data do not determine it.

    Parameters at their limit count as known, and have none.
    """
    free = ~maximum.at_limit
    scale, curvature, axes = _decompose(maximum.information[np.ix_(free, free)])
    kept = curvature > _FLAT
    axes = axes[:, kept]
    variance = np.sum(axes**2 / curvature[kept], axis=1) / scale / scale
    variances = np.full(free.shape, np.nan)
    variances[free] = np.where(np.sum(axes**2, axis=1) > _IDENTIFIED, variance, np.nan)
    return variances


def _decompose(information: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the scale of each parameter, and the curvatures along the axes so scaled."""
    diagonal = np.abs(np.diagonal(information))
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    # One after the other: the product of two small scales may vanish.
    curvature, axes = np.linalg.eigh(information / scale[:, None] / scale)
    return scale, curvature, axes


def _is_pushed_out(point: Numbers, direction: Numbers, limit: float) -> Flags:
    is_out: Flags = (np.abs(point) >= limit) & (np.sign(direction) == np.sign(point))
    return is_out


def _newton_step(gradient: Numbers, hessian: Numbers, free: Flags) -> Numbers:
    step = np.zeros(free.shape)
    if not free.any():
        return step
    scale, curvature, axes = _decompose(-hessian[np.ix_(free, free)])
    # Taking the size of each curvature turns a climb to a saddle into one to a summit.
    size = np.maximum(np.abs(curvature), _FLAT)
    step[free] = axes @ ((axes.T @ (gradient[free] / scale)) / size) / scale
    longest = np.max(np.abs(step))
    return step * min(1.0, _MAX_STEP / longest) if longest > 0 else step


# ---------------------------------------------------------------- damped BFGS within bounds

_MAX_STEPS = 300

_VALUE_TOLERANCE = 1e-12
_SLOPE_TOLERANCE = 1e-8
"""For an objective of about 1, such as one per observation."""

_SUFFICIENT = 1e-4
"""A step must lower the function by this part of what its slope promises (Armijo)."""

_LONGEST_STEP = 2.0
"""No parameter moves farther at once: on the scale of the links that is a factor of seven."""

_DAMPING = 0.2
"""Share of the old curvature below which an update is damped (Powell 1978): it stays positive."""

_DIFFERENCE = 1e-4
"""Step of the finite differences: their error is then a thousandth of what is measured."""

_FLATTEST = 1e-8
"""Curvatures are floored at this part of the largest: flat directions take part but do not rule."""


def minimise_within(
    objective: Callable[[Numbers], tuple[float, Numbers]],
    start: Numbers,
    bounds: Numbers,
    curvature: Numbers,
) -> Numbers:
    """Return the lowest point that is found from a start.

    Parameters
    ----------
    objective
        Gives the value and the slopes at a point.
    start
        Where to start.
    bounds
        Lowest and highest value of each parameter, as two rows.
    curvature
        A guess of the second derivatives.
    """
    low, high = bounds
    point = np.clip(start, low, high)
    value, slope = objective(point)
    guess = _make_positive(curvature)
    for _ in range(_MAX_STEPS):
        held = ((point <= low) & (slope > 0)) | ((point >= high) & (slope < 0))
        if np.abs(slope[~held]).max(initial=0.0) < _SLOPE_TOLERANCE:
            break
        direction = np.zeros_like(point)
        direction[~held] = -np.linalg.solve(guess[np.ix_(~held, ~held)], slope[~held])
        direction *= min(1.0, _LONGEST_STEP / np.abs(direction).max())
        for halving in range(_MAX_HALVINGS):
            trial = np.clip(point + 0.5**halving * direction, low, high)
            trial_value, trial_slope = objective(trial)
            if trial_value <= value + _SUFFICIENT * float(slope @ (trial - point)):
                break
        else:
            break
        guess = _update(guess, trial - point, trial_slope - slope)
        gain = value - trial_value
        point, value, slope = trial, trial_value, trial_slope
        if gain <= _VALUE_TOLERANCE * max(abs(value), 1.0):
            break
    return point


def curvature_at(slopes: Callable[[Numbers], Numbers], point: Numbers) -> Numbers:
    """Return the second derivatives of a function by finite differences of its slopes.

    It gives the slopes at several points (rows) at once.
    """
    here, *there = slopes(np.vstack([point, point + np.eye(point.size) * _DIFFERENCE]))
    matrix = (np.array(there) - here) / _DIFFERENCE
    symmetric: Numbers = (matrix + matrix.T) / 2
    return symmetric


def _update(guess: Numbers, step: Numbers, change: Numbers) -> Numbers:
    along = guess @ step
    expected, measured = float(step @ along), float(step @ change)
    if expected <= 0:
        return guess
    if measured < _DAMPING * expected:
        part = (1 - _DAMPING) * expected / (expected - measured)
        change = part * change + (1 - part) * along
        measured = float(step @ change)
    return guess - np.outer(along, along) / expected + np.outer(change, change) / measured


def _make_positive(curvature: Numbers) -> Numbers:
    values, vectors = np.linalg.eigh(curvature)
    size = np.abs(values)
    positive: Numbers = (vectors * np.maximum(size, _FLATTEST * size.max(initial=0.0))) @ vectors.T
    return positive if size.any() else np.eye(len(curvature))
