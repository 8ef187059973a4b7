"""What the windows know about the parameters: curvature, scores by group, and a criterion.

Windows overlap, so their likelihood is composite: its curvature overstates what is known. The
spread of the scores between groups of URLs says by how much.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.fitting import WindowFit, guarded_slopes
from crawlgauge.model.known_alive.likelihood import build_interiors, score
from crawlgauge.model.known_alive.optimising import curvature_at, invert_curvature
from crawlgauge.model.known_alive.parameters import bounds_of
from crawlgauge.model.known_alive.windows import N_GROUPS, WindowCounts
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Information", "inform", "jackknife_sd", "vectors_without_groups"]

Numbers = NDArray[np.float64]

_MIN_CURVATURE = 1e-2
"""Far below every guard's curvature: only stops a flat direction from being divided by."""

_AT_BOUND = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Information:
    """A fit with what it knows.

    Parameters
    ----------
    fit
        The fit.
    curvature
        Second derivatives of the log-likelihood with the guards, downwards.
    inverse
        Inverse of the curvature; rows and columns of parameters at a bound are 0.
    group_scores
        Score of each group of URLs, around their mean.
    """

    fit: WindowFit
    curvature: Numbers
    inverse: Numbers
    group_scores: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "curvature", "inverse", "group_scores")

    @property
    def penalty(self) -> float:
        """Effective number of parameters: how far the likelihood profits from its own data."""
        spread = np.einsum("qi,ij,qj->", self.group_scores, self.inverse, self.group_scores)
        return float(spread) * N_GROUPS / (N_GROUPS - 1)

    @property
    def criterion(self) -> float:
        """Composite likelihood information criterion (Varin and Vidoni 2005); lower is better."""
        return -2 * (self.fit.log_likelihood - self.penalty)

    @property
    def redundancy(self) -> float:
        """How many times over overlapping windows count the same evidence; at least 1."""
        return max(1.0, self.penalty / self.fit.vector.size)


def inform(fit: WindowFit, counts: WindowCounts) -> Information:
    """Measure the curvature of a fit and the scores of its groups.

    Parameters
    ----------
    fit
        A fit.
    counts
        The windows it was fitted to.
    """
    low, high = bounds_of(fit.model, counts.n_crawls)
    free = (fit.vector > low + _AT_BOUND) & (fit.vector < high - _AT_BOUND)
    interiors = build_interiors(fit.model, counts, fit.vector, fit.tilt)
    scores = np.array([score(counts, interiors, group + 1) for group in range(N_GROUPS)])
    scores -= scores.mean(axis=0)
    scores[:, ~free] = 0.0
    inverse = np.zeros((fit.vector.size, fit.vector.size))
    curvature = curvature_at(
        lambda vector: -guarded_slopes(fit.model, counts, vector, fit.tilt), fit.vector
    )
    inverse[np.ix_(free, free)] = invert_curvature(curvature[np.ix_(free, free)], _MIN_CURVATURE)
    return Information(fit=fit, curvature=curvature, inverse=inverse, group_scores=scores)


def vectors_without_groups(information: Information, counts: WindowCounts) -> Numbers:
    """Return the parameters without each group, one step of Newton from the optimum."""
    low, high = bounds_of(information.fit.model, counts.n_crawls)
    steps = information.group_scores @ information.inverse * (N_GROUPS / (N_GROUPS - 1))
    return np.clip(information.fit.vector - steps, low, high)


def jackknife_sd(values: Numbers) -> Numbers:
    """Return the standard error from values with one group left out each, along the first axis."""
    n_left_out = len(values)
    squares: Numbers = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return np.sqrt(squares * (n_left_out - 1) / n_left_out)
