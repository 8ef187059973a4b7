"""Pairs that share nothing: their logarithm is undefined, but they are not without meaning."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.paper import PooledLine
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["TOO_MANY_ZEROS", "ZeroPairs", "expect_zeros", "has_too_many_zeros"]

TOO_MANY_ZEROS = "more than a fifth of the pairs share nothing: capture histories are needed"

_MAX_ZERO_SHARE = 0.2
_FEW_EXPECTED = 5
_MANY_EXPECTED = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ZeroPairs:
    """The pairs that share nothing, and how much each was expected to share.

    Parameters
    ----------
    pairs
        Start and end of each, one row a pair.
    expected
        URLs expected to be shared according to the fit to the other pairs; NaN without a fit.
    """

    pairs: NDArray[np.int64]
    expected: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "pairs", "expected")

    @property
    def n_chance(self) -> int:
        """Number of pairs of which so little was expected that chance explains the zero."""
        return int(np.sum(self.expected < _FEW_EXPECTED))

    @property
    def is_structural(self) -> NDArray[np.bool_]:
        """For each pair, whether so much was expected that the crawler must have avoided it."""
        return self.expected >= _MANY_EXPECTED

    @property
    def n_unclear(self) -> int:
        """Number of pairs that are neither."""
        return len(self.pairs) - self.n_chance - int(self.is_structural.sum())


def has_too_many_zeros(pairs: PairData) -> bool:
    """Tell whether more than a fifth of the known pairs share nothing."""
    return len(pairs.zeros) > _MAX_ZERO_SHARE * pairs.n_known


def expect_zeros(pairs: PairData, fit: TwoWayFit, line: PooledLine | None) -> ZeroPairs:
    """Compute what the pairs that share nothing were expected to share.

    Parameters
    ----------
    pairs
        All pairs.
    fit
        The two-way model of the pairs that share something.
    line
        Their pooled line, which stands in where the two-way model says nothing.
    """
    start, end = pairs.zeros[:, 0], pairs.zeros[:, 1]
    lags = pairs.lags_between(start, end)
    log_containment = fit.log_containments(end, lags)
    if line is not None:
        unknown = np.isnan(log_containment)
        log_containment = np.where(unknown, line.log_containments(lags), log_containment)
    return ZeroPairs(pairs=pairs.zeros, expected=pairs.n_counted[start] * np.exp(log_containment))
