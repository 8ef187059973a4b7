"""How many URLs of each crawl should be new, by the two-way model, and how many are.

The model sees pairs of crawls only; which URLs no earlier crawl holds depends on all of them. If
A living URLs are held by earlier crawls, a crawl of M URLs and coverage c finds ``M − c·A`` new
ones and leaves ``M + (1 − c)·A``, of which a share lives on to the next crawl.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.checks import Diagnosis
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.regimes import Regime

__all__ = ["Novelty", "measure_novelty"]

Numbers = NDArray[np.float64]

# Where the model leaves next to nothing to be new, the logarithm would be without bound.
_LEAST_SHARE = 0.01
_STEP = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Novelty:
    """New URLs of each crawl: those that no earlier crawl of the same regime holds.

    All are NaN at the first two crawls of a regime: nothing is known before the first, and what
    the second shares with it is fitted exactly. So they are where the model says nothing.

    Parameters
    ----------
    expected_share, found_share
        New URLs as a share of the crawl.
    error
        Standard error of the logarithm of expected over found, were the URLs independent.
    """

    expected_share: Numbers
    found_share: Numbers
    error: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "expected_share", "found_share", "error")

    @property
    def log_ratio(self) -> Numbers:
        """Logarithm of expected over found."""
        return np.log(self.expected_share) - np.log(self.found_share)


def measure_novelty(data: HistoryData, diagnosis: Diagnosis) -> Novelty:
    """Compare the new URLs of each crawl with what pairs of crawls lead to expect.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show, with a persistence; its crawls are those of the histories.
    """
    is_new = _find_new(data, diagnosis.regimes)
    n_new = np.where(is_new.any(axis=0), data.counts @ is_new, np.nan)
    model = _Model(data, diagnosis)
    n_expected = model.expect(model.parameters, model.log_sizes)
    return Novelty(
        expected_share=np.where(np.isnan(n_new), np.nan, n_expected) / data.sizes,
        found_share=n_new / data.sizes,
        error=model.errors(is_new, n_new),
    )


def _find_new(data: HistoryData, regimes: tuple[Regime, ...]) -> NDArray[np.bool_]:
    """Tell for each history and crawl whether its URLs are new then; of two crawls none are."""
    is_new = np.zeros(data.captured.shape, dtype=np.bool_)
    for regime in regimes:
        for crawl in regime.positions[2:]:
            seen = data.captured[:, regime.first : crawl].any(axis=1)
            is_new[:, crawl] = data.captured[:, crawl] & ~seen
    return is_new


class _Model:
    """The two-way model of the histories' own overlaps, as a linear function of their logarithms.

    That of all overlaps would do if histories were never a sample; in a sample, errors of the
    overlaps and of the new URLs cancel only if both are of the same URLs.
    """

    def __init__(self, data: HistoryData, diagnosis: Diagnosis) -> None:
        self._data = data
        self._regimes = diagnosis.regimes
        numbers = data.captured.astype(np.float64)
        shared = (numbers * data.counts[:, None]).T @ numbers
        pairs = diagnosis.pairs
        kept = shared[pairs.start, pairs.end] > 0
        self._start, self._end = pairs.start[kept], pairs.end[kept]
        self._shared = shared[self._start, self._end]
        self.log_sizes = np.log(data.sizes)
        self._operator = self._solve(pairs, kept, diagnosis.fit.tau_squared)
        # The logarithm of each crawl's coverage, then that of the persistence.
        self.parameters = self._operator @ (np.log(self._shared) - self.log_sizes[self._start])
        self.parameters[~self._identified] = np.nan

    def expect(self, parameters: Numbers, log_sizes: Numbers) -> Numbers:
        """Return the new URLs of each crawl."""
        sizes, coverage = np.exp(log_sizes), np.exp(parameters[:-1])
        living = np.exp(parameters[-1] * np.diff(self._data.years))
        expected = np.full(sizes.size, np.nan)
        for regime in self._regimes:
            known = sizes[regime.first]
            for crawl in regime.positions[1:]:
                known *= living[crawl - 1]
                new = sizes[crawl] - coverage[crawl] * known
                expected[crawl] = np.maximum(new, _LEAST_SHARE * sizes[crawl])
                known = sizes[crawl] + (1 - coverage[crawl]) * known
        return expected

    def errors(self, is_new: NDArray[np.bool_], n_new: Numbers) -> Numbers:
        """Return the standard error of the logarithm of expected over found, for each crawl.

        What one more URL adds to it is a sum over the pairs of crawls that hold the URL and over
        the crawls that do, and one term more where it is new.
        """
        n = n_new.size
        by_pair = _slopes(self._log_by_parameters, n + 1) @ self._operator
        by_size = _slopes(self._log_by_sizes, n)
        captured = self._data.captured.astype(np.float64)
        errors = np.full(n, np.nan)
        for crawl in np.flatnonzero(np.isfinite(n_new) & np.isfinite(by_pair).all(axis=1)):
            weights = np.zeros((n, n))
            np.add.at(weights, (self._start, self._end), by_pair[crawl] / self._shared)
            of_starts = np.bincount(self._start, by_pair[crawl], minlength=n)
            weights[np.diag_indices(n)] += (by_size[crawl] - of_starts) / self._data.sizes
            gain = np.sum((captured @ weights) * captured, axis=1) - is_new[:, crawl] / n_new[crawl]
            errors[crawl] = math.sqrt(float(self._data.counts @ gain**2))
        return errors

    def _solve(self, pairs: PairData, kept: NDArray[np.bool_], tau_squared: float) -> Numbers:
        design = np.zeros((int(kept.sum()), pairs.n_crawls + 1))
        design[np.arange(len(design)), self._end] = 1
        design[:, -1] = pairs.lag_years[kept]
        used = np.any(design != 0, axis=0)
        # In a thin sample no crawl may be left that shares URLs with crawls of two dates.
        is_determined = np.linalg.matrix_rank(design) == used.sum()
        self._identified = used & is_determined
        root = np.sqrt(pairs.weight[kept] / (tau_squared + 1 / self._shared))
        operator: Numbers = np.asarray(np.linalg.pinv(design * root[:, None]) * root, np.float64)
        return operator

    def _log_by_parameters(self, step: Numbers) -> Numbers:
        return np.log(self.expect(self.parameters + step, self.log_sizes))

    def _log_by_sizes(self, step: Numbers) -> Numbers:
        return np.log(self.expect(self.parameters, self.log_sizes + step))


def _slopes(function: Callable[[Numbers], Numbers], n: int) -> Numbers:
    """Return the slope of each value (row) in each of `n` steps (column), at no step."""
    steps = _STEP * np.eye(n)
    return np.column_stack([(function(step) - function(-step)) / (2 * _STEP) for step in steps])
