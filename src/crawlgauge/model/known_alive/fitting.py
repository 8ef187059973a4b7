"""The search for the parameters under which windows are likeliest, and what is known of them.

Windows overlap, so their likelihood is composite: its curvature overstates what is known. The
spread of the scores between groups of URLs says by how much.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.population import state_shares
from crawlgauge.model.known_alive.window_model import (
    WindowModel,
    bounds_of,
    build_interiors,
    capture_chances,
    first_start,
    log_likelihood,
    log_prior,
    score,
    unpack,
)
from crawlgauge.model.known_alive.windows import N_GROUPS, WindowCounts
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["WindowFit", "fit_windows", "jackknife_sd", "minimise_within", "vectors_without_groups"]

Numbers = NDArray[np.float64]
Objective = Callable[[Numbers], tuple[float, Numbers]]

_VALUE_TOLERANCE = 1e-12
_SLOPE_TOLERANCE = 1e-8
"""The objective is per window, so that both tolerances mean the same for any archive."""

_USUAL_NEWBORN = 0.1
"""Share of newborn URLs that the tilt is computed with; it moves it by little."""

_MIN_TILT = 1e-6
"""Keeps the logarithm of the tilt finite where recent captures are never repeated."""

_MIN_CURVATURE = 1e-2
"""Far below every guard's curvature: only stops a flat direction from being divided by."""

_AT_BOUND = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowFit:
    """A window model at its optimum, with what it knows.

    Parameters
    ----------
    model
        Which effects it has.
    vector
        Its parameters.
    tilt
        ρ, for each crawl and kind of URL.
    log_likelihood
        Of the windows, without the guards.
    inverse
        Inverse of the curvature of the log-likelihood with the guards, downwards; rows and columns
        of parameters at a bound are 0.
    group_scores
        Score of each group of URLs drawn at random, around their mean.
    """

    model: WindowModel
    vector: Numbers
    tilt: Numbers
    log_likelihood: float
    inverse: Numbers
    group_scores: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "vector", "tilt", "inverse", "group_scores")

    @property
    def penalty(self) -> float:
        """Effective number of parameters: how far the likelihood profits from its own data."""
        spread = np.einsum("qi,ij,qj->", self.group_scores, self.inverse, self.group_scores)
        return float(spread) * N_GROUPS / (N_GROUPS - 1)

    @property
    def criterion(self) -> float:
        """Composite likelihood information criterion (Varin and Vidoni 2005); lower is better."""
        return -2 * (self.log_likelihood - self.penalty)

    @property
    def redundancy(self) -> float:
        """How many times over overlapping windows count the same evidence; at least 1."""
        return max(1.0, self.penalty / self.vector.size)


def fit_windows(model: WindowModel, counts: WindowCounts) -> WindowFit:
    """Fit a window model.

    The weight of a window's first capture depends on the trap effect and on uneven capture
    together; with both in the model it is updated once and the search goes on from there.

    Parameters
    ----------
    model
        Which effects to fit.
    counts
        The windows.
    """
    start = first_start(model, counts)
    tilt = np.ones((counts.n_crawls, unpack(model, counts, start)[1].share.size))
    vector = _search(model, counts, start, tilt)
    if model.trap_lags and model.is_uneven:
        tilt = _tilt_of(model, counts, vector)
        vector = _search(model, counts, vector, tilt)
    interiors = build_interiors(model, counts, vector, tilt)
    low, high = bounds_of(model, counts.n_crawls)
    free = (vector > low + _AT_BOUND) & (vector < high - _AT_BOUND)
    scores = np.array([score(counts, interiors, 1 + group) for group in range(N_GROUPS)])
    curvature = _curvature_at(lambda point: -_guarded_slopes(model, counts, point, tilt), vector)
    inverse = np.zeros((vector.size, vector.size))
    inverse[np.ix_(free, free)] = _invert_curvature(curvature[np.ix_(free, free)])
    return WindowFit(
        model=model,
        vector=vector,
        tilt=tilt,
        log_likelihood=log_likelihood(counts, interiors),
        inverse=inverse,
        group_scores=np.where(free, scores - scores.mean(axis=0), 0.0),
    )


def vectors_without_groups(fit: WindowFit, counts: WindowCounts, columns: range) -> Numbers:
    """Return the parameters without each of some groups, one step of Newton from the optimum."""
    interiors = build_interiors(fit.model, counts, fit.vector, fit.tilt)
    scores = np.array([score(counts, interiors, column) for column in columns])
    scores -= scores.mean(axis=0)
    low, high = bounds_of(fit.model, counts.n_crawls)
    steps = scores @ fit.inverse * (len(columns) / (len(columns) - 1))
    return np.clip(fit.vector - steps, low, high)


def jackknife_sd(values: Numbers) -> Numbers:
    """Return the standard error from values with one group left out each, along the first axis."""
    n_left_out = len(values)
    squares: Numbers = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return np.sqrt(squares * (n_left_out - 1) / n_left_out)


def _guarded_slopes(
    model: WindowModel, counts: WindowCounts, vector: Numbers, tilt: Numbers
) -> Numbers:
    """Return the slopes of the log-likelihood with the guards."""
    interiors = build_interiors(model, counts, vector, tilt)
    return score(counts, interiors) + log_prior(model, counts, vector)[1]


def _search(model: WindowModel, counts: WindowCounts, start: Numbers, tilt: Numbers) -> Numbers:
    bounds = bounds_of(model, counts.n_crawls)
    n_windows = max(counts.n_windows, 1.0)
    inside = np.clip(start, *bounds)

    def objective(vector: Numbers) -> tuple[float, Numbers]:
        interiors = build_interiors(model, counts, vector, tilt)
        prior, prior_slopes = log_prior(model, counts, vector)
        value = log_likelihood(counts, interiors) + prior
        return -value / n_windows, -(score(counts, interiors) + prior_slopes) / n_windows

    curvature = _curvature_at(lambda point: -_guarded_slopes(model, counts, point, tilt), inside)
    return minimise_within(
        objective,
        inside,
        bounds,
        curvature / n_windows,
        value_tolerance=_VALUE_TOLERANCE,
        slope_tolerance=_SLOPE_TOLERANCE,
    )[0]


def _tilt_of(model: WindowModel, counts: WindowCounts, vector: Numbers) -> Numbers:
    chances = capture_chances(model, counts, vector)
    shares = state_shares(chances, np.full(counts.n_crawls, _USUAL_NEWBORN))
    captured = np.einsum("jsg,jsg->jg", shares, chances)
    tilt: Numbers = np.maximum(captured / chances[:, 0], _MIN_TILT)
    return tilt


# ------------------------------------------------------------------------- a search within bounds

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


def _curvature_at(slopes: Callable[[Numbers], Numbers], point: Numbers) -> Numbers:
    """Return the second derivatives of a function from its slopes, by finite differences."""
    here = slopes(point)
    steps = np.eye(point.size) * _DIFFERENCE
    matrix = np.array([slopes(point + step) - here for step in steps]) / _DIFFERENCE
    symmetric: Numbers = (matrix + matrix.T) / 2
    return symmetric


def _invert_curvature(curvature: Numbers) -> Numbers:
    values, vectors = np.linalg.eigh(curvature)
    inverse: Numbers = (vectors / np.maximum(values, _MIN_CURVATURE)) @ vectors.T
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
