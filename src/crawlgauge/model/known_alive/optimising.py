"""A search for the lowest point of a smooth function within bounds.

Window models resemble each other: the curvature at the optimum of one is a good guess for the
next, with which a search takes a few steps in place of a hundred. Matrices are so small that the
time would otherwise go into the threads of a linear algebra library.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["curvature_at", "invert_curvature", "minimise_within"]

Numbers = NDArray[np.float64]
Objective = Callable[[Numbers], tuple[float, Numbers]]

_MAX_STEPS = 300
_MAX_HALVINGS = 40
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
    objective: Objective,
    start: Numbers,
    bounds: Numbers,
    curvature: Numbers,
    *,
    value_tolerance: float,
    slope_tolerance: float,
) -> tuple[Numbers, float]:
    """Return the lowest point that is found from a start, and the value there.

    Damped BFGS steps among the parameters that no bound holds.

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
    value_tolerance, slope_tolerance
        Stop where a step lowers the value by less than this part of it, or where no slope is
        steeper than this.
    """
    low, high = bounds
    point = np.clip(start, low, high)
    value, slope = objective(point)
    guess = _make_positive(curvature)
    for _ in range(_MAX_STEPS):
        held = ((point <= low) & (slope > 0)) | ((point >= high) & (slope < 0))
        if np.abs(slope[~held]).max(initial=0.0) < slope_tolerance:
            break
        direction = np.zeros_like(point)
        free = np.ix_(~held, ~held)
        direction[~held] = -np.linalg.solve(guess[free], slope[~held])
        direction *= min(1.0, _LONGEST_STEP / np.abs(direction).max())
        found = _step_down(objective, point, value, slope, direction, bounds)
        if found is None:
            break
        next_point, next_value, next_slope = found
        guess = _update(guess, next_point - point, next_slope - slope)
        gain = value - next_value
        point, value, slope = found
        if gain <= value_tolerance * max(abs(value), 1.0):
            break
    return point, value


def curvature_at(slopes: Callable[[Numbers], Numbers], point: Numbers) -> Numbers:
    """Return the second derivatives of a function from its slopes, by finite differences."""
    here = slopes(point)
    steps = np.eye(point.size) * _DIFFERENCE
    matrix = np.array([slopes(point + step) - here for step in steps]) / _DIFFERENCE
    symmetric: Numbers = (matrix + matrix.T) / 2
    return symmetric


def invert_curvature(curvature: Numbers, flattest: float) -> Numbers:
    """Return the inverse of a matrix of second derivatives, floored at `flattest`."""
    values, vectors = np.linalg.eigh(curvature)
    inverse: Numbers = (vectors / np.maximum(values, flattest)) @ vectors.T
    return inverse


def _step_down(
    objective: Objective,
    point: Numbers,
    value: float,
    slope: Numbers,
    direction: Numbers,
    bounds: Numbers,
) -> tuple[Numbers, float, Numbers] | None:
    for halvings in range(_MAX_HALVINGS):
        trial = np.clip(point + 0.5**halvings * direction, *bounds)
        trial_value, trial_slope = objective(trial)
        if trial_value <= value + _SUFFICIENT * float(slope @ (trial - point)):
            return trial, trial_value, trial_slope
    return None


def _update(guess: Numbers, step: Numbers, change: Numbers) -> Numbers:
    along = guess @ step
    expected, measured = float(step @ along), float(step @ change)
    if expected <= 0:
        return guess
    if measured < _DAMPING * expected:
        part = (1 - _DAMPING) * expected / (expected - measured)
        change = part * change + (1 - part) * along
        measured = float(step @ change)
    updated: Numbers = (
        guess - np.outer(along, along) / expected + np.outer(change, change) / measured
    )
    return updated


def _make_positive(curvature: Numbers) -> Numbers:
    values, vectors = np.linalg.eigh(curvature)
    size = np.abs(values)
    positive: Numbers = (vectors * np.maximum(size, _FLATTEST * size.max(initial=0.0))) @ vectors.T
    return positive if size.any() else np.eye(len(curvature))
