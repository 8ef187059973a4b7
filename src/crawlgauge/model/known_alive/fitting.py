"""The search for the parameters under which the windows are likeliest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.likelihood import build_interiors, log_likelihood, score
from crawlgauge.model.known_alive.optimising import curvature_at, minimise_within
from crawlgauge.model.known_alive.parameters import (
    WindowModel,
    bounds_of,
    first_start,
    log_prior,
    unpack,
)
from crawlgauge.model.known_alive.population import capture_chances, state_shares
from crawlgauge.model.known_alive.windows import WindowCounts
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["WindowFit", "fit_windows", "guarded_slopes", "start_vectors"]

Numbers = NDArray[np.float64]

_VALUE_TOLERANCE = 1e-12
_SLOPE_TOLERANCE = 1e-8
"""The objective is per window, so that both tolerances mean the same for any archive."""

_USUAL_NEWBORN = 0.1
"""Share of newborn URLs that the tilt is computed with; it moves it by little."""

_MIN_TILT = 1e-6
"""Keeps the logarithm of the tilt finite where recent captures are never repeated."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowFit:
    """A window model at its optimum.

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
    """

    model: WindowModel
    vector: Numbers
    tilt: Numbers
    log_likelihood: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "vector", "tilt")


def fit_windows(
    model: WindowModel,
    counts: WindowCounts,
    starts: Sequence[Numbers] | None = None,
    curvature: Numbers | None = None,
) -> WindowFit:
    """Fit a window model, from several starts.

    The weight of a window's first capture depends on the trap effect and on uneven capture
    together; with both in the model it is updated once and the search goes on from there.

    Parameters
    ----------
    model
        Which effects to fit.
    counts
        The windows.
    starts
        Vectors to start from; None for the family's own.
    curvature
        Of the log-likelihood near the starts, downwards; None to measure it.
    """
    vectors = start_vectors(model, counts) if starts is None else starts
    tilt = np.ones((counts.n_crawls, unpack(model, counts, vectors[0]).nodes.share.size))
    found = [_search(model, counts, start, tilt, curvature) for start in vectors]
    vector = min(found, key=lambda pair: pair[1])[0]
    if model.trap_lags and tilt.shape[1] > 1:
        tilt = _tilt_of(model, counts, vector)
        vector, _ = _search(model, counts, vector, tilt, curvature)
    value = log_likelihood(counts, build_interiors(model, counts, vector, tilt))
    return WindowFit(model=model, vector=vector, tilt=tilt, log_likelihood=value)


def start_vectors(model: WindowModel, counts: WindowCounts) -> list[Numbers]:
    """Return the vectors to start from when nothing is known: one for each start of the family."""
    _, _, shape, _, _ = model.places(counts.n_crawls)
    vectors = []
    for start in model.family.starts:
        vector = first_start(model, counts)
        vector[shape] = start
        vectors.append(vector)
    return vectors


def guarded_slopes(
    model: WindowModel, counts: WindowCounts, vector: Numbers, tilt: Numbers
) -> Numbers:
    """Return the slopes of the log-likelihood with the guards."""
    interiors = build_interiors(model, counts, vector, tilt)
    return score(counts, interiors) + log_prior(model, counts, vector)[1]


def _search(
    model: WindowModel,
    counts: WindowCounts,
    start: Numbers,
    tilt: Numbers,
    curvature: Numbers | None,
) -> tuple[Numbers, float]:
    bounds = bounds_of(model, counts.n_crawls)
    n_windows = max(counts.n_windows, 1.0)
    inside = np.clip(start, *bounds)

    def objective(vector: Numbers) -> tuple[float, Numbers]:
        interiors = build_interiors(model, counts, vector, tilt)
        prior, prior_slopes = log_prior(model, counts, vector)
        value = log_likelihood(counts, interiors) + prior
        return -value / n_windows, -(score(counts, interiors) + prior_slopes) / n_windows

    if curvature is None:
        curvature = curvature_at(
            lambda vector: -guarded_slopes(model, counts, vector, tilt), inside
        )
    return minimise_within(
        objective,
        inside,
        bounds,
        curvature / n_windows,
        value_tolerance=_VALUE_TOLERANCE,
        slope_tolerance=_SLOPE_TOLERANCE,
    )


def _tilt_of(model: WindowModel, counts: WindowCounts, vector: Numbers) -> Numbers:
    chances = capture_chances(model, counts, vector)
    newborn = np.full(counts.n_crawls, _USUAL_NEWBORN)
    shares = state_shares(chances, newborn)
    captured = np.einsum("jsg,jsg->jg", shares, chances)
    tilt: Numbers = np.maximum(captured / chances[:, 0], _MIN_TILT)
    return tilt
