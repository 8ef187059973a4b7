"""The newest crawl: an extrapolation, since nothing after it shows what was alive.

Two ways lead to it. Older URLs die at the hazard of earlier intervals, and how many of the
survivors the newest crawl holds is its chance of capture. Or the population grows as it did.
Each is as good as the past was steady; they are combined by that. Both start from several of the
latest crawls, since the last one before the newest is itself known least.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.parameters import WindowModel, unpack
from crawlgauge.model.known_alive.population import (
    Population,
    alive_at,
    capture_chances,
    lags_between,
    state_shares,
    states_since_capture,
)
from crawlgauge.model.known_alive.windows import Tallies, WindowCounts

__all__ = ["Newest", "extrapolate_newest"]

Numbers = NDArray[np.float64]

_MIN_SHARED = 5
"""Overlaps this small say nothing about a hazard."""

_LOWEST_EFFECT = -9.0
_HIGHEST_EFFECT = {"logit": 9.0, "cloglog": 3.0}
"""From a capture in eight thousand to all but certain."""

_LONE_HAZARD_SD = 0.1
_LONE_GROWTH_SD = 0.2
"""Spread per year taken where there is a single past interval to tell it from."""

_HAZARD_FLOOR = 0.02
_GROWTH_FLOOR = 0.03
"""Neither way is better than this (of the logarithm), however steady the past."""

_N_BASES = 3
"""Crawls to start from; earlier ones would be carried too far."""

_MAD_TO_SD = 1.4826
"""Median absolute deviation of a normal law, turned into its standard deviation."""

_SHRINK_SD = 0.7
"""The plain standard deviation counts in part: with few intervals the median's is often 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """Coverage of the newest crawl.

    Parameters
    ----------
    log_coverage
        Its logarithm; NaN where no past interval tells a hazard.
    variance
        By what past intervals vary and by how far the two ways disagree.
    """

    log_coverage: float
    variance: float


_UNKNOWN = Newest(log_coverage=math.nan, variance=math.nan)


def extrapolate_newest(
    model: WindowModel,
    counts: WindowCounts,
    vector: Numbers,
    tallies: Tallies,
    population: Population,
    crawl_errors: Numbers,
) -> Newest:
    """Extrapolate the coverage of the newest crawl.

    Parameters
    ----------
    model, counts, vector
        The model, the windows it was fitted to and its parameters.
    tallies, population
        Captures, and the URLs alive that follow from them.
    crawl_errors
        For each crawl, sampling error of the logarithm of the URLs alive.
    """
    hazards = _past_hazards(model, counts, tallies, population)
    alive = population.alive[1:-1]
    if not hazards.size or not (np.isfinite(alive) & (alive > 0)).all():
        return _UNKNOWN
    years = float(counts.years[-1] - counts.years[-2])
    hazard = max(float(np.median(hazards)), 0.0)
    hazard_sd = _spread(hazards, hazard, max(abs(hazard), _LONE_HAZARD_SD))
    bases = _weigh_bases(crawl_errors, hazard_sd * years, _HAZARD_FLOOR)
    by_survival, n_shared = _alive_by_survival(
        model,
        counts,
        vector,
        tallies,
        population.newborn,
        _survivors(model, counts, population, hazard, bases),
    )
    if not 0 < by_survival < math.inf:
        return _UNKNOWN
    # Both ends of an overlap are counts: the logarithm of either varies by 1/n, with a margin.
    survival_variance = (
        (hazard_sd * years) ** 2 * (1 + 1 / hazards.size)
        + 4 / max(n_shared, 1.0)
        + _HAZARD_FLOOR**2
    )
    growths = _past_growths(counts, np.log(alive))
    growth = float(np.median(growths)) if growths.size else 0.0
    growth_sd = _spread(growths, growth, _LONE_GROWTH_SD)
    growth_variance = (growth_sd * years) ** 2 * (1 + 1 / max(growths.size, 1)) + _GROWTH_FLOOR**2
    log_survival = math.log(by_survival)
    bases = _weigh_bases(crawl_errors, growth_sd * years, _GROWTH_FLOOR)
    log_growth = sum(
        weight
        * (math.log(population.alive[base]) + growth * (counts.years[-1] - counts.years[base]))
        for base, weight in bases.items()
    )
    weight = growth_variance / (survival_variance + growth_variance)
    log_alive = weight * log_survival + (1 - weight) * log_growth
    return Newest(
        log_coverage=math.log(tallies.sizes[-1]) - log_alive,
        variance=weight * survival_variance
        + weight * (1 - weight) * (log_survival - log_growth) ** 2,
    )


def _past_hazards(
    model: WindowModel, counts: WindowCounts, tallies: Tallies, population: Population
) -> Numbers:
    """Return the hazard per year of earlier intervals, from lags that no trap reaches."""
    lag, n_crawls, at_both = model.trap_lags + 1, counts.n_crawls, population.alive_at_both
    hazards = []
    for crawl in range(lag, n_crawls - 2):
        years = counts.years[crawl + 1] - counts.years[crawl]
        old = slice(0, crawl - lag + 1)
        before, after = at_both[old, crawl], at_both[old, crawl + 1]
        usable = np.isfinite(before) & np.isfinite(after)
        usable &= (tallies.shared[old, crawl + 1] > _MIN_SHARED) & (before > 0)
        if years > 0 and usable.any():
            hazards.append(-math.log(after[usable].sum() / before[usable].sum()) / years)
    return np.array(hazards)


def _past_growths(counts: WindowCounts, log_alive: Numbers) -> Numbers:
    years = np.diff(counts.years[1:-1])
    return np.diff(log_alive)[years > 0] / years[years > 0]


def _spread(values: Numbers, centre: float, lone: float) -> float:
    if values.size < 2:  # noqa: PLR2004 (a spread needs two)
        return lone
    robust = _MAD_TO_SD * float(np.median(np.abs(values - centre)))
    return max(robust, _SHRINK_SD * float(np.std(values, ddof=1)))


def _weigh_bases(crawl_errors: Numbers, step_sd: float, floor: float) -> dict[int, float]:
    """Return the crawls to start from, each with its weight.

    What varies from interval to interval is in part the sampling error of both its ends; only
    the rest grows with the way to go.
    """
    last = crawl_errors.size - 2
    bases = range(max(last - _N_BASES + 1, 1), last + 1)
    sampling = np.nan_to_num(crawl_errors[bases.start : bases.stop]) ** 2
    process = max(step_sd**2 - 2 * float(np.median(sampling)), floor**2)
    steps = last + 1 - np.arange(bases.start, bases.stop)
    weight = 1 / (sampling + process * steps)
    return dict(zip(bases, (weight / weight.sum()).tolist(), strict=True))


def _survivors(
    model: WindowModel,
    counts: WindowCounts,
    population: Population,
    hazard: float,
    bases: dict[int, float],
) -> Numbers:
    """Return how many URLs of each crawl are alive at the newest; NaN where it is not known."""
    total, weights = np.zeros(counts.n_crawls), np.zeros(counts.n_crawls)
    for base, weight in bases.items():
        years = counts.years[-1] - counts.years[base]
        alive = population.alive_at_both[:, base]
        usable = np.arange(counts.n_crawls) < base - model.trap_lags
        usable &= np.isfinite(alive) & (alive > 0)
        total[usable] += weight * (np.log(alive[usable]) - hazard * years)
        weights[usable] += weight
    known = weights > 0
    mean = np.divide(total, weights, out=np.full_like(total, np.nan), where=known)
    return np.exp(mean)


def _alive_by_survival(
    model: WindowModel,
    counts: WindowCounts,
    vector: Numbers,
    tallies: Tallies,
    newborn: Numbers,
    survivors: Numbers,
) -> tuple[float, float]:
    """Return the URLs alive at the newest crawl, and the overlaps they were told from."""
    from scipy import optimize

    effects = unpack(model, counts, vector)
    nodes, chances = effects.nodes, capture_chances(model, counts, vector)
    old = np.flatnonzero(np.isfinite(survivors))
    n_shared = float(tallies.shared[old, -1].sum())
    shares = state_shares(chances, newborn)
    captured = np.einsum("jsg,jsg->jg", shares, chances)[old]
    *_, states = states_since_capture(chances)
    kept = nodes.share * np.exp(
        -effects.hazard * nodes.position * lags_between(counts)[old, -1, None]
    )
    first = kept * captured / kept.sum(axis=1, keepdims=True)

    def excess(last: float) -> float:
        again = capture_chances(model, counts, vector, last=last)[-1]
        both = (first * (states[old] * again).sum(axis=1)).sum(axis=1)
        return float(survivors[old] @ both) - n_shared

    low, high = _LOWEST_EFFECT, _HIGHEST_EFFECT[model.link]
    if excess(high) < 0:
        last = high
    elif excess(low) > 0:
        last = low
    else:
        last = float(optimize.brentq(excess, low, high))
    chances = capture_chances(model, counts, vector, last=last)
    return alive_at(counts.n_crawls - 1, tallies, chances, nodes.share, shares), n_shared
