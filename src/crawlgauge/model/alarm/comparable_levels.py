"""The coverage of each crawl for comparison with the others, apart from what the lags do to it.

The two-way model takes one persistence for all lags. Where lifetimes are mixed, or a crawler passes
over what it captured lately, crawls with few earlier ones seem to cover more or less than those
with many, for that reason alone. Here pairs one and two crawls apart have effects of their own.
What is common to all crawls, uneven capture above all, changes every level alike and cancels when
they are compared; so the levels say how coverages compare, not how large they are.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import MAX_LOG, PairData

__all__ = ["compare_levels"]

Numbers = NDArray[np.float64]

_N_SHORT = 2
"""Revisit policies reach back one crawl or two; what is older decays with time."""

_TAU = 0.05
"""Scatter of the logarithms beyond counting: pairs of millions of URLs weigh alike."""

_SMALLEST = 1e-9
"""Of the largest singular value: what lies below is not determined by the pairs."""


def compare_levels(pairs: PairData) -> Numbers:
    """Return the logarithm of each crawl's coverage, up to a constant that all have in common.

    Parameters
    ----------
    pairs
        Overlaps; where the scope changed, without the pairs across the change.

    Returns
    -------
    ndarray
        NaN for crawls without an earlier one to compare with, and for all where the pairs do not
        tell turnover from coverage.
    """
    found = np.full(pairs.n_crawls, np.nan)
    ends, column = np.unique(pairs.end, return_inverse=True)
    columns = np.zeros((pairs.end.size, ends.size))
    columns[np.arange(pairs.end.size), column] = 1
    weight = np.sqrt(pairs.weight / (_TAU**2 + pairs.log_variance))
    for n_short in range(_N_SHORT, -1, -1):
        effects = _lag_effects(pairs, n_short)
        design = np.hstack([columns, effects[:, effects.any(axis=0)]]) * weight[:, None]
        if design.size and _is_determined(design):
            solved = np.linalg.lstsq(design, pairs.log_forward * weight, rcond=None)[0]
            if np.abs(solved).max() <= MAX_LOG:
                found[ends] = solved[: ends.size]
                break
    return found


def _lag_effects(pairs: PairData, n_short: int) -> Numbers:
    n_apart = np.abs(pairs.end - pairs.start)
    short = [np.where(n_apart == n, 1.0, 0.0) for n in range(1, n_short + 1)]
    return np.column_stack([pairs.lag_years, *short])


def _is_determined(design: Numbers) -> bool:
    if design.shape[0] < design.shape[1]:
        return False
    singular = np.linalg.svd(design, compute_uv=False)
    return bool(singular[-1] > _SMALLEST * singular[0])
