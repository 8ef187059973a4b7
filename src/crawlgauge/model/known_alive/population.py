"""From the chances of capture to the URLs that were alive at each crawl."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.window_model import WindowModel, capture_table, unpack
from crawlgauge.model.known_alive.windows import Tallies, WindowCounts

__all__ = ["count_alive", "state_shares"]

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
