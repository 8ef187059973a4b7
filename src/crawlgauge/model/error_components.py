"""Lack of fit, pooled over all pairs: what a crawl adds to its pairs, and what a pair has alone.

Leaving out crawls in turn shows the error of a crawl's coverage only through the pairs that the
crawl itself ends, of which early crawls have few and the second has one. The residuals of all pairs
together say how large such errors are. They have two parts: one that all pairs with the same
earlier crawl share (how well its URLs serve as markers), and one of each pair. Their variances
follow from the residual sums of squares with and without an effect for each earlier crawl.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.influence import Influence
from crawlgauge.model.pairs import PairData
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["ErrorComponents", "find_components"]

_RANK_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorComponents:
    """Variances of the two parts of a residual.

    Parameters
    ----------
    of_start
        Variance that pairs with the same earlier crawl share.
    of_pair
        Variance of single pairs, as a multiple of what the fit's weights take it for.
    """

    of_start: float
    of_pair: float

    def variance(
        self, pairs: PairData, fit: TwoWayFit, influence: Influence
    ) -> NDArray[np.float64]:
        """Return the variance of each estimate that follows."""
        n = pairs.n_crawls
        low, high = np.minimum(pairs.start, pairs.end), np.maximum(pairs.start, pairs.end)
        weight = np.bincount(low * n + high, pairs.fit_weights(fit.tau_squared), minlength=n * n)
        expected = np.divide(1.0, weight, out=np.zeros(n * n), where=weight > 0).reshape(n, n)
        by_starts = np.sum(influence.starts**2, axis=1)
        by_pairs = np.einsum("fij,fij,ij->f", influence.shared, influence.shared, expected)
        variance: NDArray[np.float64] = self.of_start * by_starts + self.of_pair * by_pairs
        return variance


def find_components(pairs: PairData, fit: TwoWayFit) -> ErrorComponents:
    """Estimate the components by their moments (Henderson's third method).

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        Their two-way model, with degrees of freedom.
    """
    n, start, end = pairs.n_crawls, pairs.start, pairs.end
    weight = pairs.fit_weights(fit.tau_squared)
    total = np.bincount(end, weight, minlength=n)
    total[total == 0] = 1.0
    # Within columns there is a residual even where the level of the column means nothing.
    lags, residuals = (
        values - (np.bincount(end, weight * values, minlength=n) / total)[end]
        for values in (pairs.lag_years, pairs.log_forward)
    )
    by_pair = np.bincount(start * n + end, weight, minlength=n * n).reshape(n, n)
    # What is left of indicators of the starts once columns and slope are fitted.
    left = np.diag(by_pair.sum(axis=1)) - (by_pair / total) @ by_pair.T
    if fit.has_persistence:
        residuals = residuals - fit.log_persistence * lags
        lag_by_start = np.bincount(start, weight * lags, minlength=n)
        left -= np.outer(lag_by_start, lag_by_start) / float(weight @ lags**2)
    eigenvalues, vectors = np.linalg.eigh(left)
    kept = eigenvalues > _RANK_TOLERANCE * float(weight.sum())
    rank = int(kept.sum())
    sums = vectors[:, kept].T @ np.bincount(start, weight * residuals, minlength=n)
    of_starts = float(np.sum(sums**2 / eigenvalues[kept]))
    of_all = float(weight @ residuals**2)
    n_left = fit.n_freedom - rank
    # Without freedom beside the starts the two cannot be told apart: all is laid to the pairs.
    of_pair = max(of_all - of_starts, 0.0) / n_left if n_left > 0 else of_all / fit.n_freedom
    excess = max(of_starts - rank * of_pair, 0.0)
    of_start = excess / float(eigenvalues[kept].sum()) if rank else 0.0
    return ErrorComponents(of_start=of_start, of_pair=of_pair)
