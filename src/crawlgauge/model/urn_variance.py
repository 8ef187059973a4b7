"""Sampling variance of estimates under the urn, without forming the covariance of all pairs.

A URL lives through a stretch of time and each crawl in it draws the URL or not, so that a set S of
crawls is expected to share ``N_first · Π c_k · α^(span of S)`` URLs. With independent URLs the
covariance of two overlaps is the expected number of URLs in all crawls of either, and the variance
of ``Q = Σ h_ij·X_ij`` is a sum over sets of two, three and four crawls. Ordered by time, the sets
depend on their inner crawls only through sums and products of matrices. What the sizes of crawls
and populations explain, which are known or are what is estimated, is then taken off.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.influence import Influence
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["UrnMoments", "UrnState", "urn_moments", "urn_state"]

# Probabilities of 1 leave no randomness at all; an estimate can exceed them.
_MAX_COVERAGE = 0.999
_MAX_PERSISTENCE = 0.9999
# Of a pair that shares something so little cannot be expected, but a bad fit may say so.
_LEAST_SHARED = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrnState:
    """An urn that can have produced the overlaps: what was fitted, made possible.

    Parameters
    ----------
    coverage
        Probability that a living URL is drawn, for each crawl.
    alive
        For each two crawls, the URLs expected to live at both, and the population on the
        diagonal; symmetric.
    moments
        Position of each crawl's date among the different dates.
    """

    coverage: NDArray[np.float64]
    alive: NDArray[np.float64]
    moments: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "coverage", "alive", "moments")

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Expected size of each crawl."""
        return self.coverage * np.diagonal(self.alive)

    @property
    def shared(self) -> NDArray[np.float64]:
        """Expected overlap of each two crawls, and the size on the diagonal."""
        shared = self.alive * np.outer(self.coverage, self.coverage)
        np.fill_diagonal(shared, self.sizes)
        return shared


def urn_state(pairs: PairData, fit: TwoWayFit) -> UrnState:
    """Make the urn at the fitted values.

    A crawl without an estimate takes over the population of the next one that has one, crawls of
    one date share a population, and a population is never smaller than what survives of the one
    before it.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        The two-way model, with a coverage for one crawl or more.
    """
    log_persistence = math.log(_MAX_PERSISTENCE)
    if fit.has_persistence:
        log_persistence = min(fit.log_persistence, log_persistence)
    positions = np.flatnonzero(fit.estimated)
    following = np.searchsorted(positions, np.arange(pairs.n_crawls))
    nearest = positions[np.minimum(following, positions.size - 1)]
    log_population = (np.log(pairs.n_urls) - fit.log_coverage)[nearest]
    days, moments = np.unique(pairs.days, return_inverse=True)
    years = pairs.years[np.searchsorted(pairs.days, days)]
    at_moment = np.bincount(moments, log_population) / np.bincount(moments)
    log_sizes = np.full(days.size, -np.inf)
    np.maximum.at(log_sizes, moments, np.log(pairs.n_urls))
    at_moment = np.maximum(at_moment, log_sizes - math.log(_MAX_COVERAGE))
    # Survivors carried forward: the largest of all earlier populations, each after its losses.
    decay = log_persistence * years
    at_moment = np.maximum.accumulate(at_moment - decay) + decay
    population = np.exp(at_moment)[moments]
    lags = np.abs(pairs.years[:, None] - pairs.years)
    earlier = np.minimum.outer(np.arange(pairs.n_crawls), np.arange(pairs.n_crawls))
    return UrnState(
        coverage=pairs.n_urls / population,
        alive=population[earlier] * np.exp(log_persistence * lags),
        moments=moments,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrnMoments:
    """Second moments of estimates ``Q = Σ h_ij·X_ij`` over independent URLs.

    Parameters
    ----------
    state
        The urn.
    square
        E Q² for each estimate.
    own
        For each estimate and crawl, E Q restricted to the overlaps that the crawl is part of.
    with_alive
        For each estimate and crawl, the covariance of Q with the population at its date.
    """

    state: UrnState
    square: NDArray[np.float64]
    own: NDArray[np.float64]
    with_alive: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "square", "own", "with_alive")

    def urn_variance(self) -> NDArray[np.float64]:
        """Return the variance of each estimate over urns with these sizes and populations."""
        state = self.state
        first = np.unique(state.moments, return_index=True)[1]
        between, with_alive = state.alive[np.ix_(first, first)], self.with_alive[:, first]
        by_populations = np.sum(with_alive * np.linalg.solve(between, with_alive.T).T, axis=1)
        # Given the populations, the sizes of the crawls are independent of each other.
        by_sizes = self.own**2 @ ((1 - state.coverage) / state.sizes)
        left: NDArray[np.float64] = self.square - by_populations - by_sizes
        return left.clip(min=0.0)

    def sample_variance(
        self, sizes: NDArray[np.float64], sample_rate: float
    ) -> NDArray[np.float64]:
        """Return the variance of each estimate over samples of the same crawls.

        A sample keeps each URL in all crawls or in none, so that the errors of an overlap and of
        the size that it is set against largely cancel.

        Parameters
        ----------
        sizes
            For each estimate and crawl, the coefficient of the logarithm of the sampled size.
        sample_rate
            Share of the URLs that the sample keeps.
        """
        state = self.state
        per_url = sizes / state.sizes
        with_sizes = self.own + state.coverage * (self.with_alive - self.own)
        square: NDArray[np.float64] = (
            self.square
            + 2 * np.sum(per_url * with_sizes, axis=1)
            + np.sum(per_url * (per_url @ state.shared), axis=1)
        )
        return square.clip(min=0.0) * (1 - sample_rate) / sample_rate


def urn_moments(state: UrnState, influence: Influence) -> UrnMoments:
    """Compute the moments of estimates.

    Parameters
    ----------
    state
        The urn.
    influence
        The estimates.
    """
    shared, alive = np.maximum(state.shared, _LEAST_SHARED), np.triu(state.alive, k=1)
    # One estimate at a time: its matrices stay in the processor's cache.
    each = [_moments_of(state.coverage, alive, h / shared) for h in influence.shared]
    square, own, with_alive = (np.array(parts) for parts in zip(*each, strict=True))
    return UrnMoments(state=state, square=square, own=own, with_alive=with_alive)


def _moments_of(
    coverage: NDArray[np.float64], alive: NDArray[np.float64], h: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Sum over sets of crawls by their first and last member, a and d; b and c lie between."""
    forward = h * coverage
    from_first = _sum_before(forward, axis=1)
    to_last = _sum_after(h * coverage[:, None], axis=0)
    inner = _sum_after(from_first * coverage[:, None], axis=0)
    # Pairs a–b and b–d make a set of three; the product of the sums takes them for one of four.
    # Matrices are small: starting the threads of a linear algebra library costs more than it gains.
    through = np.einsum("ab,bd->ad", forward * (1 - coverage), h)
    of_three = h * (from_first + to_last)
    of_four = h * inner + from_first * to_last
    ends = alive * coverage * coverage[:, None]
    expected = h * ends
    own = expected.sum(axis=0) + expected.sum(axis=1)
    # Pairs around the crawl or with it at an end, then pairs after it, then pairs before it.
    around = np.diagonal(_sum_after(_sum_before(expected, axis=0), axis=1)) + own
    later = (to_last * alive) @ coverage
    earlier = coverage @ (from_first * alive)
    square = float(np.sum(ends * (h**2 + 2 * (of_three + of_four + through))))
    return square, own, around + later + earlier


def _sum_before(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return running sums that leave their own place out."""
    return np.cumsum(values, axis=axis) - values


def _sum_after(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return running sums from the other end that leave their own place out."""
    return np.flip(_sum_before(np.flip(values, axis), axis), axis)
