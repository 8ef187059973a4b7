"""The composite likelihood of known-alive windows, and its slopes.

For a window that starts at crawl i and ends at crawl k, each interior r has the weight
``A_r = Σ_g f_g·e^(−δ·z_g·D_ik)·w_i(g)·Π_j Bern(r_j; p_j)·p_k``, in which the state of each crawl
is known since i was a capture. The likelihood is the product of A_r / Σ A over all windows. A
window that goes on is a longer one: all interiors of all windows from one crawl are built
together, each from the one that it continues, and the slopes run back the same way.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.links import CaptureTable, capture_table
from crawlgauge.model.known_alive.parameters import (
    Effects,
    EffectSlopes,
    WindowModel,
    fold_slopes,
    unpack,
)
from crawlgauge.model.known_alive.windows import WindowCounts

__all__ = ["Interiors", "build_interiors", "log_likelihood", "score"]

Numbers = NDArray[np.float64]

_TINY = 1e-300
"""Stands for a chance that underflows: an interior that cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interiors:
    """The weights of all interiors under a parameter vector.

    Parameters
    ----------
    model, effects, table
        What they were built from.
    closed
        Item L − 2: for each interior and first crawl of the windows of L crawls, the weight by
        kind of URL.
    totals
        The same summed over kinds.
    lags
        Item L − 2: for each first crawl, the length of the window in mean intervals.
    """

    model: WindowModel
    effects: Effects
    table: CaptureTable
    closed: tuple[Numbers, ...]
    totals: tuple[Numbers, ...]
    lags: tuple[Numbers, ...]


def build_interiors(
    model: WindowModel, counts: WindowCounts, vector: Numbers, tilt: Numbers
) -> Interiors:
    """Weigh all interiors.

    Parameters
    ----------
    model, counts, vector
        The model, the windows and the parameters.
    tilt
        ρ: for each crawl and kind of URL, the chance of a capture in any state over that in
        state 0.
    """
    effects = unpack(model, counts, vector)
    table = capture_table(effects.sums, model.link)
    n_crawls = counts.n_crawls
    weight = (effects.nodes.share * tilt * table.hit[:, 0])[None]
    closed, lags = [], []
    for inside in range(counts.longest):
        n_first = n_crawls - inside - 1
        weight = weight[:, :n_first]
        longer = np.empty((2 * len(weight), n_first, weight.shape[2]))
        missed, hit = longer[: len(weight)], longer[len(weight) :]
        for rows, state in _states(inside, model.trap_lags):
            np.multiply(weight[rows], table.miss[inside + 1 :, state], out=missed[rows])
            np.multiply(weight[rows], table.hit[inside + 1 :, state], out=hit[rows])
        if inside:
            lag = (counts.years[inside + 1 :] - counts.years[:n_first]) / counts.spacing
            lags.append(lag)
            if model.has_hazard:
                hit = hit * np.exp(-effects.hazard * effects.nodes.position * lag[:, None])
            closed.append(hit)
        weight = longer
    return Interiors(
        model=model,
        effects=effects,
        table=table,
        closed=tuple(closed),
        totals=tuple(np.maximum(hit.sum(axis=2), _TINY) for hit in closed),
        lags=tuple(lags),
    )


def log_likelihood(counts: WindowCounts, interiors: Interiors) -> float:
    """Return the logarithm of the composite likelihood of all URLs."""
    value = 0.0
    for seen, total in zip(counts.interiors, interiors.totals, strict=True):
        n = seen[..., 0]
        value += float(np.vdot(n, np.log(total)) - n.sum(axis=0) @ np.log(total.sum(axis=0)))
    return value


def score(counts: WindowCounts, interiors: Interiors, column: int = 0) -> Numbers:
    """Return the slopes of the log-likelihood in the parameters.

    Parameters
    ----------
    counts, interiors
        The windows, and their weights under the parameters.
    column
        0 for all URLs, 1 and more for the groups.
    """
    model, table, nodes = interiors.model, interiors.table, interiors.effects.nodes
    n_states = model.trap_lags + 1
    hits = np.zeros((counts.n_crawls, n_states, nodes.share.size))
    misses = np.zeros_like(hits)
    hazard = 0.0
    onward = np.zeros((1 << counts.longest, 0, nodes.share.size))
    for inside in reversed(range(counts.longest)):
        n_first, half = counts.n_crawls - inside - 1, 1 << inside
        excess = np.zeros((2 * half, n_first, nodes.share.size))
        excess[:, : onward.shape[1]] = onward
        if inside:
            seen, total = counts.interiors[inside - 1][..., column], interiors.totals[inside - 1]
            per_weight = seen / total - seen.sum(axis=0) / total.sum(axis=0)
            own = per_weight[:, :, None] * interiors.closed[inside - 1]
            excess[half:] += own
            if model.has_hazard:
                hazard -= float(interiors.lags[inside - 1] @ own.sum(axis=0) @ nodes.position)
        for rows, state in _states(inside, model.trap_lags):
            misses[inside + 1 :, state] += excess[:half][rows].sum(axis=0)
            hits[inside + 1 :, state] += excess[half:][rows].sum(axis=0)
        onward = excess[:half] + excess[half:]
    hits[: onward.shape[1], 0] += onward[0]
    slopes = EffectSlopes(
        sums=hits * table.hit_slope + misses * table.miss_slope,
        log_share=onward[0].sum(axis=0),
        hazard=hazard,
    )
    return fold_slopes(model, counts, interiors.effects, slopes)


def _states(inside: int, trap_lags: int) -> Iterator[tuple[slice, int]]:
    """Give the rows of equal state, after `inside` crawls within the window.

    The latest crawl is the highest bit of a row's number: the highest set bit is the latest
    capture, and rows of one state stand together. Row 0 was last captured at the window's start.
    """
    if inside < trap_lags:
        yield slice(0, 1), inside + 1
    else:
        yield slice(0, 1 << (inside - trap_lags)), 0
    for state in range(1, min(inside, trap_lags) + 1):
        yield slice(1 << (inside - state), 1 << (inside - state + 1)), state
