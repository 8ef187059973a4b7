"""Coverage from known-alive windows: how far memory reaches, how uneven capture is, what is held.

Nothing is assumed about survival. URLs may differ in how readily they are captured, and a capture
may make the next ones less or more likely for some crawls.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.histories.data import HistoryData, Numbers
from crawlgauge.model.histories.optimisation import curvature_at, minimise_within
from crawlgauge.model.histories.window_model import (
    MAX_TRAP_LAGS,
    N_GROUPS,
    WindowCounts,
    WindowModel,
    count_windows,
)

__all__ = ["KnownAliveFit", "fit_known_alive"]


# -------------------------- from the chances of capture to the URLs that were alive at each crawl


_N_PASSES = 3
"""The share of newborn URLs and the populations settle to a thousandth in three passes."""

_USUAL_NEWBORN = 0.1
_MAX_NEWBORN = 0.9

_FEW_CAPTURES = 10
_RARE_CAPTURE = 1e-3
"""Fewer captures in a state, or rarer ones, are no basis for counting the URLs in it."""


def count_alive(model: WindowModel, vector: Numbers, by_state: Numbers, shared: Numbers) -> Numbers:
    """Count the URLs alive at each crawl; NaN for the first and the last, inside no window.

    Parameters
    ----------
    model, vector
        The model and its parameters.
    by_state, shared
        Captures of the URLs to count, as `WindowCounts.tallies` returns them.
    """
    n_crawls = len(by_state)
    chances = model.chances(vector).hit
    newborn = np.full(n_crawls, _USUAL_NEWBORN)
    alive = np.full(n_crawls, np.nan)
    for _ in range(_N_PASSES):
        shares = state_shares(chances, newborn)
        for crawl in range(1, n_crawls - 1):
            alive[crawl] = _alive_at(
                by_state[crawl][: crawl + 1],
                in_state=shares[crawl] @ model.share,
                hits=(shares[crawl] * chances[crawl]) @ model.share,
            )
        both = _both_captured(chances, shares, model.share)
        at_both = np.divide(shared, both, out=np.full_like(both, np.nan), where=both > 0)
        newborn = _newborn(alive, at_both, shared, model.trap_lags)
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


def _next_states(shares: Numbers, chances: Numbers) -> Numbers:
    """Return the states one crawl later, of those still alive; states are the last axis but one."""
    following = np.zeros_like(shares)
    if shares.shape[-2] > 1:
        following[..., 1, :] = (shares * chances).sum(axis=-2)
        following[..., 2:, :] = (shares * (1 - chances))[..., 1:-1, :]
    following[..., 0, :] = 1 - following[..., 1:, :].sum(axis=-2)
    return following


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
    states = np.zeros(chances.shape)
    for later in range(1, len(chances)):
        earlier = later - 1
        states[:earlier] = _next_states(states[:earlier], chances[earlier])
        states[earlier, min(1, chances.shape[1] - 1)] = 1.0
        yield states[:later].copy()


def _alive_at(seen: Numbers, *, in_state: Numbers, hits: Numbers) -> float:
    """Count the URLs alive at one crawl from its captures in each state.

    `in_state` is the share of those alive that is in each state, `hits` the share that is in it and
    captured.
    """
    rested = seen[0] / (hits[0] / in_state[0]) if hits[0] > 0 else 0.0
    total = rested
    for state in range(1, len(seen)):
        chance = hits[state] / in_state[state] if in_state[state] > 0 else 0.0
        if seen[state] < _FEW_CAPTURES or chance < _RARE_CAPTURE:
            # Hard avoidance: what is never captured is counted by its share instead.
            total += rested * in_state[state] / in_state[0] if rested > 0 else 0.0
        else:
            total += seen[state] / chance
    return float(total)


def _newborn(alive: Numbers, at_both: Numbers, shared: Numbers, trap_lags: int) -> Numbers:
    newborn = np.full(alive.size, np.nan)
    for crawl in range(2, alive.size - 1):
        lag = 1
        if shared[crawl - 1, crawl] < _FEW_CAPTURES:
            # Neighbours that share next to nothing tell nothing; the next free lag does.
            lag = min(trap_lags + 1, crawl)
        kept = at_both[crawl - lag, crawl] / alive[crawl] if alive[crawl] > 0 else np.nan
        newborn[crawl] = 1 - max(kept, 0.0) ** (1 / lag)
    newborn = np.clip(newborn, 0.0, _MAX_NEWBORN)
    known = newborn[np.isfinite(newborn)]
    return np.where(np.isfinite(newborn), newborn, known.mean() if known.size else _USUAL_NEWBORN)


# ------------------------------------- the parameters under which windows are likeliest

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
        The model.
    vector
        Its parameters.
    tilt
        ρ, for each crawl and kind of URL.
    log_likelihood
        Of the windows, without the guards.
    inverse
        Inverse of the curvature of the log-likelihood with the guards, downwards; rows and columns
        of parameters at a bound are 0.
    penalty
        Effective number of parameters: how far the likelihood profits from its own data.
    """

    model: WindowModel
    vector: Numbers
    tilt: Numbers
    log_likelihood: float
    inverse: Numbers
    penalty: float

    @property
    def criterion(self) -> float:
        """Composite likelihood information criterion (Varin and Vidoni 2005); lower is better."""
        return -2 * (self.log_likelihood - self.penalty)

    @property
    def redundancy(self) -> float:
        """How many times over overlapping windows count the same evidence; at least 1."""
        return max(1.0, self.penalty / self.vector.size)


def fit_windows(model: WindowModel) -> WindowFit:
    """Fit a window model.

    The weight of a window's first capture depends on the trap effect and on uneven capture
    together; with both in the model it is updated once and the search goes on from there.
    """
    tilt = np.ones((model.counts.n_crawls, model.share.size))
    vector = _search(model, model.start(), tilt)
    if model.trap_lags and model.is_uneven:
        tilt = _tilt_of(model, vector)
        vector = _search(model, vector, tilt)
    interiors = model.interiors(vector, tilt)
    low, high = model.bounds
    free = (vector > low + _AT_BOUND) & (vector < high - _AT_BOUND)
    curvature = _curvature(model, vector, tilt)[np.ix_(free, free)]
    values, vectors = np.linalg.eigh(curvature)
    inverse = np.zeros((vector.size, vector.size))
    inverse[np.ix_(free, free)] = (vectors / np.maximum(values, _MIN_CURVATURE)) @ vectors.T
    scores = np.array([model.score(interiors, 1 + group) for group in range(N_GROUPS)])
    scores = np.where(free, scores - scores.mean(axis=0), 0.0)
    spread = float(np.einsum("qi,ij,qj->", scores, inverse, scores))
    return WindowFit(
        model=model,
        vector=vector,
        tilt=tilt,
        log_likelihood=model.log_likelihood(interiors),
        inverse=inverse,
        penalty=spread * N_GROUPS / (N_GROUPS - 1),
    )


def _search(model: WindowModel, start: Numbers, tilt: Numbers) -> Numbers:
    # Per window, so that the tolerances of the search mean the same for any archive.
    n_windows = max(model.counts.n_windows, 1.0)
    inside = np.clip(start, *model.bounds)

    def objective(vector: Numbers) -> tuple[float, Numbers]:
        interiors = model.interiors(vector, tilt)
        prior, prior_slopes = model.log_prior(vector)
        value = model.log_likelihood(interiors) + prior
        return -value / n_windows, -(model.score(interiors) + prior_slopes) / n_windows

    curvature = _curvature(model, inside, tilt)
    return minimise_within(objective, inside, model.bounds, curvature / n_windows)


def _curvature(model: WindowModel, vector: Numbers, tilt: Numbers) -> Numbers:
    """Return the curvature of the log-likelihood with the guards, downwards."""
    return curvature_at(
        lambda at: -(model.score(model.interiors(at, tilt)) + model.log_prior(at)[1]), vector
    )


def _tilt_of(model: WindowModel, vector: Numbers) -> Numbers:
    chances = model.chances(vector).hit
    # The share of newborn URLs moves the tilt by little.
    shares = state_shares(chances, np.full(len(chances), _USUAL_NEWBORN))
    captured = np.einsum("jsg,jsg->jg", shares, chances)
    tilt: Numbers = np.maximum(captured / chances[:, 0], _MIN_TILT)
    return tilt


def vectors_without_groups(fit: WindowFit, columns: range) -> Numbers:
    """Return the parameters without each of some groups, one step of Newton from the optimum."""
    interiors = fit.model.interiors(fit.vector, fit.tilt)
    scores = np.array([fit.model.score(interiors, column) for column in columns])
    scores -= scores.mean(axis=0)
    steps = scores @ fit.inverse * (len(columns) / (len(columns) - 1))
    return np.clip(fit.vector - steps, *fit.model.bounds)


# -------------------------------------------------------------- coverage from known-alive windows


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownAliveFit:
    """Coverage from known-alive windows, as logarithms.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN for the first and the last, and wherever it is not known.
    revisits
        For each number of crawls since a capture, as far as it has an effect, the chance of being
        captured again over that of a URL not captured lately: below 1 for avoidance, above 1 for
        re-seeding.
    is_uneven
        Whether URLs were found to differ in how readily they are captured.
    misfit
        How far the windows are from being reproduced, per window; 0 if they are.
    sampling_sd
        Of the mean logarithm of coverage, from leaving out groups of URLs, or of whole hosts.
    """

    log_coverage: Numbers
    revisits: tuple[float, ...]
    is_uneven: bool
    misfit: float
    sampling_sd: float

    @property
    def trap_lags(self) -> int:
        """Crawls back that a capture has an effect on being captured again."""
        return len(self.revisits)

    @property
    def avoids(self) -> bool:
        """Whether captures make the next ones less likely, at every distance that has an effect."""
        return bool(self.revisits) and all(ratio < 1 for ratio in self.revisits)

    @property
    def attracts(self) -> bool:
        """Whether captures have an effect that is no avoidance."""
        return bool(self.revisits) and not self.avoids


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
    misfit = _misfit(_better(even, uneven))
    if misfit > _BAD_FIT:
        even, uneven, misfit = _prove_longer_memory(counts) or (even, uneven, misfit)
    gain = (even.criterion - uneven.criterion) / even.redundancy
    fit = uneven if gain >= _MIN_GAIN else even
    if fit.model.trap_lags > _USUAL_LAGS:
        fit = _better(even, uneven)
    log_coverage = _log_coverage(fit.model, fit.vector)
    if not np.isfinite(log_coverage).any():
        return None
    return KnownAliveFit(
        log_coverage=log_coverage,
        revisits=_revisits(fit),
        is_uneven=fit.model.is_uneven,
        misfit=misfit,
        sampling_sd=max(_sampling_sd(fit, columns) for columns in counts.group_kinds),
    )


def _fit_both(counts: WindowCounts, lags: int) -> tuple[WindowFit, WindowFit]:
    """Fit even and uneven capture with the same memory: either alone would explain the other."""
    return (
        fit_windows(WindowModel(counts, trap_lags=lags, is_uneven=False)),
        fit_windows(WindowModel(counts, trap_lags=lags, is_uneven=True)),
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
        misfit = _misfit(fit)
        if misfit <= _GOOD_FIT and np.all(fit.vector[fit.model.trap] < 0):
            return even, uneven, misfit
    return None


def _misfit(fit: WindowFit) -> float:
    """Return (G² − df) / 2n of the windows' interiors; 0 where there are too few to tell."""
    interiors = fit.model.interiors(fit.vector, fit.tilt)
    deviance, n_freedom, n_windows = 0.0, 0, 0.0
    for seen, weights in zip(fit.model.counts.interiors, interiors.totals, strict=True):
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


def _log_coverage(model: WindowModel, vector: Numbers, *, without: int | None = None) -> Numbers:
    """Return the logarithm of the coverage of each crawl, of all URLs or without some."""
    by_state, shared = model.counts.tallies(model.trap_lags, without=without)
    alive, sizes = count_alive(model, vector, by_state, shared), np.diag(shared)
    known = np.isfinite(alive) & (alive > 0) & (sizes > 0)
    ratio = np.divide(sizes, alive, out=np.ones_like(alive), where=known)
    return np.where(known, np.log(ratio), np.nan)


def _sampling_sd(fit: WindowFit, columns: range) -> float:
    """Return the standard error of the mean logarithm of coverage from leaving out groups."""
    rows = [
        _log_coverage(fit.model, vector, without=column)
        for vector, column in zip(vectors_without_groups(fit, columns), columns, strict=True)
    ]
    values = np.array([row[np.isfinite(row)].mean() for row in rows if np.isfinite(row).any()])
    n = len(columns)
    if values.size < n:
        return _MAX_SAMPLING
    squares = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return min(float(np.sqrt(squares * (n - 1) / n)), _MAX_SAMPLING)


def _revisits(fit: WindowFit) -> tuple[float, ...]:
    chances = (fit.model.chances(fit.vector).hit @ fit.model.share)[1:-1]
    rested, *recent = np.exp(np.log(chances).mean(axis=0))
    return tuple(float(chance / rested) for chance in recent)
