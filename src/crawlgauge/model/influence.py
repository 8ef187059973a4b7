"""How much each pair counts in each estimate: the two-way model as a linear estimator."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["Influence", "weigh_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Influence:
    """Estimates as weighted sums of the logarithms of overlaps and sizes.

    Parameters
    ----------
    shared
        For each estimate a matrix over the crawls, strictly upper triangular: the coefficient of
        the logarithm of what two crawls share.
    starts
        For each estimate and crawl, the sum of the coefficients of the pairs that it starts; the
        logarithm of its size counts as much, with the other sign.
    """

    shared: NDArray[np.float64]
    starts: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "shared", "starts")


def weigh_pairs(pairs: PairData, fit: TwoWayFit, combinations: NDArray[np.float64]) -> Influence:
    """Write linear combinations of a fit's parameters as sums over the pairs.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        The fit, whose weights are taken as given.
    combinations
        For each wanted estimate, the coefficients of the crawls' log coverages and, last, of the
        log persistence; 0 for what is not identifiable.
    """
    n, end, lags = pairs.n_crawls, pairs.end, pairs.lag_years
    weight = pairs.fit_weights(fit.tau_squared)
    total = np.bincount(end, weight, minlength=n)
    total[total == 0] = 1.0
    mean_lag = np.bincount(end, weight * lags, minlength=n) / total
    of_slope = weight * (lags - mean_lag[end])
    of_slope *= 1 / float(of_slope @ lags) if fit.has_persistence else 0.0
    levels, slopes = combinations[:, :n], combinations[:, n]
    rows = levels[:, end] * (weight / total[end])
    rows += (slopes - levels @ mean_lag)[:, None] * of_slope
    # Both directions of a same-date pair are the same overlap.
    low, high = np.minimum(pairs.start, end), np.maximum(pairs.start, end)
    shared = _sum_by(low * n + high, rows, n * n).reshape(len(rows), n, n)
    return Influence(shared=shared, starts=_sum_by(pairs.start, rows, n))


def _sum_by(
    places: NDArray[np.int64], rows: NDArray[np.float64], n_places: int
) -> NDArray[np.float64]:
    return np.array([np.bincount(places, row, minlength=n_places) for row in rows])
