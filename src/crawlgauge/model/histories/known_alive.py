"""Coverage from known-alive windows: how far memory reaches, how uneven capture is, what is held.

Nothing is assumed about survival. URLs may differ in how readily they are captured, and a capture
may make the next ones less or more likely for some crawls.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.window_model import (
    MAX_TRAP_LAGS,
    N_GROUPS,
    Tallies,
    WindowCounts,
    WindowModel,
    bounds_of,
    build_interiors,
    capture_chances,
    capture_table,
    count_windows,
    first_start,
    kinds_of_url,
    log_likelihood,
    log_prior,
    score,
    unpack,
)
from crawlgauge.model.pairs import freeze_arrays

__all__ = [
    "KnownAliveFit",
    "RevisitEffect",
    "count_alive",
    "fit_known_alive",
    "fit_windows",
    "jackknife_sd",
    "minimise_within",
    "state_shares",
    "vectors_without_groups",
]


# ---------------------------- from the chances of capture to the URLs that were alive at each crawl


Numbers = NDArray[np.float64]

_N_PASSES = 3
"""The share of newborn URLs and the populations settle to a thousandth in three passes."""

_USUAL_NEWBORN = 0.1
_MAX_NEWBORN = 0.9

_FEW_CAPTURES = 10
_RARE_CAPTURE = 1e-3
"""Fewer captures in a state, or rarer ones, are no basis for counting the URLs in it."""


def count_alive(
    model: WindowModel, counts: WindowCounts, vector: Numbers, tallies: Tallies
) -> Numbers:
    """Count the URLs alive at each crawl; NaN for the first and the last, inside no window.

    Parameters
    ----------
    model, counts, vector
        The model, the windows it was fitted to and its parameters.
    tallies
        Captures of the URLs to count, with the model's states.
    """
    n_crawls = counts.n_crawls
    sums, nodes = unpack(model, counts, vector)
    chances = capture_table(sums, model.link).hit
    newborn = np.full(n_crawls, _USUAL_NEWBORN)
    alive = np.full(n_crawls, np.nan)
    for _ in range(_N_PASSES):
        shares = state_shares(chances, newborn)
        for crawl in range(1, n_crawls - 1):
            alive[crawl] = _alive_at(crawl, tallies, chances, nodes.share, shares)
        both = _both_captured(chances, shares, nodes.share)
        at_both = np.divide(tallies.shared, both, out=np.full_like(both, np.nan), where=both > 0)
        newborn = _newborn(alive, at_both, tallies, model.trap_lags)
    return alive


def state_shares(chances: Numbers, newborn: Numbers) -> Numbers:
    """Return, for each crawl and kind of URL, the share of those alive that is in each state.

    Parameters
    ----------
    chances
        Chance of a capture for each crawl, state and kind.
    newborn
        For each crawl, share of the URLs alive that were not alive at the crawl before.
    """
    shares = np.zeros_like(chances)
    shares[0, 0] = 1.0
    for crawl in range(1, len(chances)):
        old = _next_states(shares[crawl - 1], chances[crawl - 1])
        shares[crawl] = (1 - newborn[crawl]) * old
        shares[crawl, 0] += newborn[crawl]
    return shares


def _both_captured(chances: Numbers, shares: Numbers, share: Numbers) -> Numbers:
    """Return the chance that two crawls both capture a URL that is alive at both."""
    both = np.full((len(chances), len(chances)), np.nan)
    captured = np.einsum("jsg,jsg->jg", shares, chances)
    for later, states in enumerate(_states_since_capture(chances), start=1):
        again = (states * chances[later]).sum(axis=1)
        both[:later, later] = (share * captured[:later] * again).sum(axis=1)
    return both


def _states_since_capture(chances: Numbers) -> Iterator[Numbers]:
    """Give, for each crawl from the second on, the states of URLs that an earlier one captured.

    Each item holds, for each earlier crawl, state and kind of URL, the share in the state among
    those that the earlier crawl captured and that are still alive.
    """
    n_crawls, n_states, n_kinds = chances.shape
    states = np.zeros((n_crawls, n_states, n_kinds))
    for later in range(1, n_crawls):
        earlier = later - 1
        states[:earlier] = _next_states(states[:earlier], chances[earlier])
        states[earlier, min(1, n_states - 1)] = 1.0
        yield states[:later].copy()


def _alive_at(
    crawl: int, tallies: Tallies, chances: Numbers, share: Numbers, shares: Numbers
) -> float:
    """Count the URLs alive at one crawl from its captures in each state.

    Parameters
    ----------
    crawl
        Which crawl.
    tallies
        Captures by state.
    chances, shares
        Chances of capture and shares of states, for each crawl, state and kind of URL.
    share
        Share of each kind in the population.
    """
    seen = tallies.by_state[crawl]
    in_state = shares[crawl] @ share
    hits = (shares[crawl] * chances[crawl]) @ share
    rested = seen[0] / (hits[0] / in_state[0]) if hits[0] > 0 else 0.0
    total = rested
    for state in range(1, min(len(seen) - 1, crawl) + 1):
        chance = hits[state] / in_state[state] if in_state[state] > 0 else 0.0
        if seen[state] < _FEW_CAPTURES or chance < _RARE_CAPTURE:
            # Hard avoidance: what is never captured is counted by its share instead.
            total += rested * in_state[state] / in_state[0] if rested > 0 else 0.0
        else:
            total += seen[state] / chance
    return float(total)


def _next_states(shares: Numbers, chances: Numbers) -> Numbers:
    """Return the states one crawl later, of those still alive; states are the last axis but one."""
    following = np.zeros_like(shares)
    n_states = shares.shape[-2]
    if n_states > 1:
        following[..., 1, :] = (shares * chances).sum(axis=-2)
        following[..., 2:, :] = (shares * (1 - chances))[..., 1:-1, :]
    following[..., 0, :] = 1 - following[..., 1:, :].sum(axis=-2)
    return following


def _newborn(alive: Numbers, at_both: Numbers, tallies: Tallies, trap_lags: int) -> Numbers:
    n_crawls = alive.size
    newborn = np.full(n_crawls, np.nan)
    for crawl in range(2, n_crawls - 1):
        lag = 1
        if tallies.shared[crawl - 1, crawl] < _FEW_CAPTURES:
            # Neighbours that share next to nothing tell nothing; the next free lag does.
            lag = min(trap_lags + 1, crawl)
        kept = at_both[crawl - lag, crawl] / alive[crawl] if alive[crawl] > 0 else np.nan
        newborn[crawl] = 1 - max(kept, 0.0) ** (1 / lag)
    newborn = np.clip(newborn, 0.0, _MAX_NEWBORN)
    known = newborn[np.isfinite(newborn)]
    return np.where(np.isfinite(newborn), newborn, known.mean() if known.size else _USUAL_NEWBORN)


# ------- the search for the parameters under which windows are likeliest, and what is known of them

Objective = Callable[[Numbers], tuple[float, Numbers]]

_VALUE_TOLERANCE = 1e-12
_SLOPE_TOLERANCE = 1e-8
"""The objective is per window, so that both tolerances mean the same for any archive."""
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


# ---------------------------------------------------------------- coverage from known-alive windows


_USUAL_LAGS = 2
"""Memory that is chosen by the criterion; a longer one has to be proven."""

_CRAWLS_BEYOND_LAGS = 4
"""A memory of K crawls needs windows with K rested crawls inside, and a crawl to compare."""

_MIN_GAIN = 6.0
"""What a longer memory, or uneven capture, must gain of the criterion, where two is chance."""

_GAIN_SHARE = 0.03
"""A crude law of unevenness leaves some, which memory can take up: the more there is, the more a
longer memory must gain."""

_BAD_FIT = 0.005
_GOOD_FIT = 0.0015
"""Misfit that calls for a longer memory, and what is left if that is the cause."""

_MIN_WINDOWS = 30
_MIN_EXPECTED = 5.0
_MAX_SAMPLING = 0.6
"""A one-step jackknife of tiny archives can run away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitEffect:
    """What a capture some crawls ago does to the chance of being captured again.

    Parameters
    ----------
    crawls_since
        Crawls since the capture.
    effect
        β, on the complementary log-log scale.
    chance
        Chance of being captured again, in a typical crawl.
    chance_ratio
        That chance over that of a URL not captured lately: below 1 for avoidance, above 1 for
        re-seeding.
    """

    crawls_since: int
    effect: float
    chance: float
    chance_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownAliveFit:
    """Coverage from known-alive windows, as logarithms.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN for the first and the last, and wherever it is not known.
    trap_lags
        K: crawls back that a capture has an effect on being captured again.
    revisits
        That effect, for each number of crawls since a capture up to K.
    is_uneven
        Whether URLs were found to differ in how readily they are captured.
    gain
        What uneven capture gains over even capture, in units of the criterion; 6 prove it.
    misfit
        How far the windows are from being reproduced, per window; 0 if they are.
    sampling_sd
        Of the mean logarithm of coverage, from leaving out groups of URLs, or of whole hosts.
    """

    log_coverage: Numbers
    trap_lags: int
    revisits: tuple[RevisitEffect, ...]
    is_uneven: bool
    gain: float
    misfit: float
    sampling_sd: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")

    @property
    def avoids(self) -> bool:
        """Whether captures make the next ones less likely, at every distance that has an effect."""
        return bool(self.revisits) and all(effect.chance_ratio < 1 for effect in self.revisits)

    @property
    def attracts(self) -> bool:
        """Whether captures have an effect that is no avoidance."""
        return self.trap_lags > 0 and not self.avoids


def fit_known_alive(data: HistoryData) -> KnownAliveFit | None:
    """Estimate coverage from known-alive windows; None if they leave that of every crawl open.

    Parameters
    ----------
    data
        Capture histories of five crawls or more, each with captures.
    """
    counts = count_windows(data)
    if counts.n_windows == 0:
        return None
    even, uneven = _choose_memory(counts)
    misfit = _misfit(_better(even, uneven), counts)
    if misfit > _BAD_FIT:
        even, uneven, misfit = _prove_longer_memory(counts) or (even, uneven, misfit)
    gain = (even.criterion - uneven.criterion) / even.redundancy
    fit = uneven if gain >= _MIN_GAIN else even
    if fit.model.trap_lags > _USUAL_LAGS:
        fit = _better(even, uneven)
    log_coverage = _log_coverage(fit, counts, fit.vector, counts.tallies(fit.model.trap_lags))
    if not np.isfinite(log_coverage).any():
        return None
    return KnownAliveFit(
        log_coverage=log_coverage,
        trap_lags=fit.model.trap_lags,
        revisits=_revisits(fit, counts),
        is_uneven=fit.model.is_uneven,
        gain=gain,
        misfit=misfit,
        sampling_sd=max(_sampling_sd(fit, counts, columns) for columns in counts.group_kinds),
    )


def _fit_both(counts: WindowCounts, lags: int) -> tuple[WindowFit, WindowFit]:
    """Fit even and uneven capture with the same memory: either alone would explain the other."""
    return (
        fit_windows(WindowModel(trap_lags=lags, is_uneven=False), counts),
        fit_windows(WindowModel(trap_lags=lags, is_uneven=True), counts),
    )


def _better(even: WindowFit, uneven: WindowFit) -> WindowFit:
    return min(even, uneven, key=lambda fit: fit.criterion)


def _choose_memory(counts: WindowCounts) -> tuple[WindowFit, WindowFit]:
    """Take the shortest memory whose criterion is as good as any."""
    longest = min(_USUAL_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    fits = [_fit_both(counts, lags) for lags in range(longest + 1)]
    lowest = min(_better(*both).criterion for both in fits)
    even = fits[0][0]
    gain = (even.criterion - _better(*fits[0]).criterion) / even.redundancy
    margin = max(_MIN_GAIN, _GAIN_SHARE * gain)
    return next(
        both for both in fits if _better(*both).criterion <= lowest + margin * both[0].redundancy
    )


def _prove_longer_memory(counts: WindowCounts) -> tuple[WindowFit, WindowFit, float] | None:
    """Return the first longer memory that reproduces the windows and is avoidance throughout.

    By the criterion alone, archives of whole hosts or in rotation would get one that is none.
    """
    longest = min(MAX_TRAP_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    for lags in range(_USUAL_LAGS + 1, longest + 1):
        even, uneven = _fit_both(counts, lags)
        fit = _better(even, uneven)
        misfit = _misfit(fit, counts)
        effects = fit.vector[fit.model.places(counts.n_crawls)[1]]
        if misfit <= _GOOD_FIT and np.all(effects < 0):
            return even, uneven, misfit
    return None


def _misfit(fit: WindowFit, counts: WindowCounts) -> float:
    """Return (G² − df) / 2n of the windows' interiors; 0 where there are too few to tell."""
    interiors = build_interiors(fit.model, counts, fit.vector, fit.tilt)
    deviance, n_freedom, n_windows = 0.0, 0, 0.0
    for seen, weights in zip(counts.interiors, interiors.totals, strict=True):
        totals = seen[..., 0].sum(axis=0)
        expected = weights / weights.sum(axis=0) * totals
        for first in np.flatnonzero(totals >= _MIN_WINDOWS):
            found, likely = seen[:, first, 0], expected[:, first]
            rare = likely < _MIN_EXPECTED
            pooled = likely[rare].sum()
            cells, means = found[~rare], likely[~rare]
            if pooled >= 1:
                cells, means = np.append(cells, found[rare].sum()), np.append(means, pooled)
            held = cells > 0
            deviance += 2 * float(cells[held] @ np.log(cells[held] / means[held]))
            n_freedom += max(cells.size - 1, 0)
            n_windows += float(totals[first])
    return (deviance - n_freedom) / (2 * n_windows) if n_windows else 0.0


def _log_coverage(
    fit: WindowFit, counts: WindowCounts, vector: Numbers, tallies: Tallies
) -> Numbers:
    alive = count_alive(fit.model, counts, vector, tallies)
    known = np.isfinite(alive) & (alive > 0) & (tallies.sizes > 0)
    ratio = np.divide(tallies.sizes, alive, out=np.ones_like(alive), where=known)
    return np.where(known, np.log(ratio), np.nan)


def _sampling_sd(fit: WindowFit, counts: WindowCounts, columns: range) -> float:
    """Return the standard error of the mean logarithm of coverage from leaving out groups."""
    vectors = vectors_without_groups(fit, counts, columns)
    rows = [
        _log_coverage(fit, counts, vector, counts.tallies(fit.model.trap_lags, without=column))
        for vector, column in zip(vectors, columns, strict=True)
    ]
    values = np.array([row[np.isfinite(row)].mean() for row in rows if np.isfinite(row).any()])
    if values.size < len(columns):
        return _MAX_SAMPLING
    return min(float(jackknife_sd(values)), _MAX_SAMPLING)


def _revisits(fit: WindowFit, counts: WindowCounts) -> tuple[RevisitEffect, ...]:
    _, trap, sigma, _ = fit.model.places(counts.n_crawls)
    share = kinds_of_url(float(fit.vector[sigma][0]) if fit.model.is_uneven else None).share
    chances = (capture_chances(fit.model, counts, fit.vector) @ share)[1:-1]
    means = np.exp(np.log(chances).mean(axis=0))
    return tuple(
        RevisitEffect(
            crawls_since=since,
            effect=float(effect),
            chance=float(means[since]),
            chance_ratio=float(means[since] / means[0]),
        )
        for since, effect in enumerate(fit.vector[trap], start=1)
    )
