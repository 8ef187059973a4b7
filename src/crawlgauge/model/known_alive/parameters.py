"""Parameters of a window model: their order, their bounds, their guards, and what they mean.

The chance that crawl j captures a URL of kind g that was captured s crawls before is
``g⁻¹(e_j + β_s + [s = 1]·u_j + θ_g)`` with β_0 = 0. The vector holds e of all crawls but the
first and the last, β_1 to β_K, the family's shape, the relative hazard δ, and u.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.families import Family, Nodes
from crawlgauge.model.known_alive.links import Link, to_effect
from crawlgauge.model.known_alive.windows import WindowCounts

__all__ = [
    "EffectSlopes",
    "Effects",
    "WindowModel",
    "bounds_of",
    "first_start",
    "fold_slopes",
    "log_prior",
    "unpack",
]

Numbers = NDArray[np.float64]

_MAX_EFFECT = 7.0
"""A thousandfold rate and a thousandth of it: farther out the likelihood is flat."""

_HIGHEST_CRAWL = 12.0
"""Archives that miss next to nothing have odds of a hundred thousand to one."""

_LOWEST_TRAP = -12.0
"""Crawlers can avoid perfectly. A bound that lets through a handful of captures where there are
none would bend the crawls' effects instead."""

_MAX_WOBBLE = 3.0
_MAX_HAZARD = 1.5
"""e^±1.5 for each interval: kinds of URL that would die out within one are no kinds."""

_MAX_END_STEP = 1.5
"""The first and the last crawl lie inside no window. Their effects follow from their sizes, up
to this difference: they only weigh the ends of windows and matter little."""

_CRAWL_SD = 0.6
"""Effects of crawls follow their sizes; the population seldom changes by more than this."""

_LEVEL_SD = 3.0
_TRAP_SD = 2.0
_WOBBLE_SD = 0.25
_HAZARD_SD = 0.25
"""Guards that keep what the windows leave open from running away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowModel:
    """Which effects a window model has.

    Parameters
    ----------
    family
        How unevenly URLs are captured.
    trap_lags
        K: crawls back that a capture has an effect on being captured again.
    link
        Scale on which effects add up.
    has_hazard
        Whether kinds of URL may differ in their hazard (on top of any common survival).
    """

    family: Family
    trap_lags: int
    link: Link = "cloglog"
    has_hazard: bool = False

    @property
    def n_shape(self) -> int:
        """Shape parameters of the family."""
        return len(self.family.bounds)

    def places(self, n_crawls: int) -> tuple[slice, slice, slice, slice, slice]:
        """Return where crawl effects, β, shape, δ and u stand in the vector."""
        inner = n_crawls - 2
        lengths = (
            inner,
            self.trap_lags,
            self.n_shape,
            int(self.has_hazard),
            inner if self.trap_lags else 0,
        )
        ends = np.cumsum(lengths).tolist()
        crawl, trap, shape, hazard, wobble = (
            slice(end - length, end) for end, length in zip(ends, lengths, strict=True)
        )
        return crawl, trap, shape, hazard, wobble


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Effects:
    """A parameter vector, spelled out.

    Parameters
    ----------
    sums
        Sum of effects for each crawl, state and kind of URL.
    nodes
        Kinds of URL.
    hazard
        δ, per mean interval and unit of position.
    """

    sums: Numbers
    nodes: Nodes
    hazard: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EffectSlopes:
    """Slopes of a likelihood in the terms that parameters act through.

    Parameters
    ----------
    sums
        For each crawl, state and kind of URL.
    log_share
        For each kind of URL.
    hazard
        For δ.
    """

    sums: Numbers
    log_share: Numbers
    hazard: float


def unpack(
    model: WindowModel, counts: WindowCounts, vector: Numbers, *, last: float | None = None
) -> Effects:
    """Spell out a parameter vector.

    Parameters
    ----------
    model
        What the vector's numbers mean.
    counts
        Windows, for the sizes of the crawls.
    vector
        The parameters.
    last
        Effect of the last crawl; None to take it from its size.
    """
    crawl, trap, shape, hazard, wobble = model.places(counts.n_crawls)
    effect = np.empty(counts.n_crawls)
    effect[1:-1] = vector[crawl]
    first_step, last_step = _end_steps(counts)
    effect[0] = effect[1] + first_step
    effect[-1] = effect[-2] + last_step if last is None else last
    states = np.tile(np.concatenate([[0.0], vector[trap]]), (counts.n_crawls, 1))
    if model.trap_lags:
        states[1:-1, 1] += vector[wobble]
    nodes = model.family.nodes(vector[shape])
    return Effects(
        sums=effect[:, None, None] + states[:, :, None] + nodes.effect,
        nodes=nodes,
        hazard=float(vector[hazard][0]) if model.has_hazard else 0.0,
    )


def fold_slopes(
    model: WindowModel, counts: WindowCounts, effects: Effects, slopes: EffectSlopes
) -> Numbers:
    """Return the slopes in the parameters from those in the effects they act through."""
    crawl, trap, shape, hazard, wobble = model.places(counts.n_crawls)
    folded = np.zeros(max(wobble.stop, hazard.stop))
    by_crawl = slopes.sums.sum(axis=(1, 2))
    folded[crawl] = by_crawl[1:-1]
    folded[crawl.start] += by_crawl[0]
    folded[crawl.stop - 1] += by_crawl[-1]
    folded[trap] = slopes.sums.sum(axis=(0, 2))[1:]
    folded[shape] = (
        effects.nodes.effect_slope @ slopes.sums.sum(axis=(0, 1))
        + effects.nodes.log_share_slope @ slopes.log_share
    )
    folded[hazard] = slopes.hazard
    if model.trap_lags:
        folded[wobble] = slopes.sums[1:-1, 1].sum(axis=1)
    return folded


def bounds_of(model: WindowModel, n_crawls: int) -> Numbers:
    """Return the lowest and the highest value of each parameter, as two rows."""
    crawl, trap, shape, hazard, wobble = model.places(n_crawls)
    bounds = np.zeros((2, max(wobble.stop, hazard.stop)))
    for place, limit in (
        (crawl, _MAX_EFFECT),
        (trap, _MAX_EFFECT),
        (hazard, _MAX_HAZARD),
        (wobble, _MAX_WOBBLE),
    ):
        bounds[:, place] = [[-limit], [limit]]
    bounds[1, crawl] = _HIGHEST_CRAWL
    bounds[0, trap] = _LOWEST_TRAP
    if model.n_shape:
        bounds[:, shape] = np.transpose(model.family.bounds)
    return bounds


def log_prior(model: WindowModel, counts: WindowCounts, vector: Numbers) -> tuple[float, Numbers]:
    """Return the logarithm of the guards' density, up to a constant, and its slopes."""
    crawl, trap, shape, hazard, wobble = model.places(counts.n_crawls)
    precision = np.zeros(vector.size)
    precision[trap] = _TRAP_SD**-2
    precision[shape] = np.array(model.family.prior_sd) ** -2.0
    precision[hazard] = _HAZARD_SD**-2
    precision[wobble] = _WOBBLE_SD**-2
    slopes = -precision * vector
    value = 0.5 * float(slopes @ vector)
    effect = vector[crawl]
    apart = effect - np.log(np.maximum(counts.sizes[1:-1], 1.0))
    apart = apart - apart.mean()
    level = float(effect.mean())
    value -= float(apart @ apart) / (2 * _CRAWL_SD**2) + level**2 / (2 * _LEVEL_SD**2)
    slopes[crawl] = -apart / _CRAWL_SD**2 - level / (_LEVEL_SD**2 * effect.size)
    return value, slopes


def first_start(model: WindowModel, counts: WindowCounts) -> Numbers:
    """Return a vector to start from: crawls as Manly and Parr find them, no other effect."""
    crawl, *_ = places = model.places(counts.n_crawls)
    start = np.zeros(max(place.stop for place in places))
    known, captured = counts.bracketed[1:-1].T
    # Half a URL on either side keeps shares away from 0 and 1, which have no effect.
    start[crawl] = to_effect((captured + 0.5) / (known + 1), model.link)
    return start


def _end_steps(counts: WindowCounts) -> tuple[float, float]:
    log_size = np.log(np.maximum(counts.sizes, 1.0))
    steps = np.array([log_size[0] - log_size[1], log_size[-1] - log_size[-2]])
    first, last = np.clip(steps, -_MAX_END_STEP, _MAX_END_STEP)
    return float(first), float(last)
