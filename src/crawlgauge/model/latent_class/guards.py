"""When two classes are not to be believed, and how well a fit reproduces the histories.

A class that is hardly ever captured can be made as large as one likes without the histories
showing it, and so can the population (Link 2003). Fits that lean on such a class are rejected,
however likely they are.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.latent_class.population import has_recaptures
from crawlgauge.model.latent_class.starts import Optimum

__all__ = [
    "error_of_approximation",
    "mean_captures",
    "pooled_error_of_approximation",
    "why_rejected",
]

_RAREST_CAPTURE = 0.01
_SMALLEST_SHARE = 0.01
_SMALLEST_RATIO = 0.015
"""Chosen by hand: a class beyond any of them has too few recaptures to say how large it is."""

_FEWEST_EXPECTED = 5
"""The usual limit for cells of a test of fit."""


def mean_captures(optimum: Optimum) -> NDArray[np.float64]:
    """Return for each class the mean over the crawls of the chance of capture, without trap effect.

    Crawls whose coverage is not identifiable are left out.

    Parameters
    ----------
    optimum
        The fit.
    """
    means: NDArray[np.float64] = _captures(optimum).mean(axis=1)
    return means


def why_rejected(optimum: Optimum) -> str | None:
    """Say why a fit of two classes is not to be believed; None if nothing speaks against it.

    Parameters
    ----------
    optimum
        The fit of two classes.
    """
    rare = float(mean_captures(optimum).min())
    if rare < _RAREST_CAPTURE:
        return (
            f"two classes: one would be captured with {rare:.2%} only, too rarely to tell how "
            "many URLs it has"
        )
    parameters = optimum.likelihood.model.unpack(optimum.theta)
    share = float(np.exp(parameters.log_shares).mean(axis=0).min())
    if share < _SMALLEST_SHARE:
        return f"two classes: one would hold {share:.2%} of the captured URLs only"
    captures = _captures(optimum)
    # In its worst crawl: few URLs make fits in which a class vanishes at times.
    ratio = float((captures.min(axis=0) / captures.max(axis=0)).min())
    if ratio < _SMALLEST_RATIO:
        return (
            f"two classes: one would be captured {1 / ratio:.0f} times as rarely as the other, "
            "too rarely to tell how many URLs it has"
        )
    return None


def _captures(optimum: Optimum) -> NDArray[np.float64]:
    """Return the chance of capture of each class (rows) in the crawls of known coverage."""
    from scipy.special import expit

    parameters = optimum.likelihood.model.unpack(optimum.theta)
    known = has_recaptures(optimum.likelihood.totals)
    captures: NDArray[np.float64] = expit(parameters.levels - parameters.gaps[:, None])[:, known]
    return captures


def error_of_approximation(optimum: Optimum) -> float:
    """Return the root mean square error of approximation over histories given first capture.

    It is ``√max(0, (G²/df − 1)/n)`` (Steiger & Lind 1980): lack of fit by degree of freedom, freed
    of what the number of URLs adds to it. Every history that occurs is a cell of its own; where
    most occur once or twice, as with many crawls, it is too high even for the true model.

    Parameters
    ----------
    optimum
        The fit.
    """
    paths = optimum.likelihood.paths
    released = _released(optimum)
    saturated = float(np.sum(paths.counts * np.log(paths.counts / released[paths.first])))
    return _approximation_error(
        optimum, 2 * (saturated - optimum.log_likelihood), paths.counts.size
    )


def pooled_error_of_approximation(optimum: Optimum) -> float:
    """Return the same with histories of few expected URLs pooled, for each first capture.

    Where all histories have many URLs, it equals the other; where they do not, this one is right.

    Parameters
    ----------
    optimum
        The fit.
    """
    paths = optimum.likelihood.paths
    released = _released(optimum)
    expected = released[paths.first] * np.exp(optimum.likelihood.log_likelihoods(optimum.theta))
    alone = expected >= _FEWEST_EXPECTED
    # What is expected of histories that do not occur is part of the rest too.
    rest = released - np.bincount(paths.first[alone], expected[alone], minlength=released.size)
    rest_found = np.bincount(paths.first[~alone], paths.counts[~alone], minlength=released.size)
    pooled = rest >= _FEWEST_EXPECTED
    found = np.concatenate([paths.counts[alone], rest_found[pooled]])
    hoped = np.concatenate([expected[alone], rest[pooled]])
    ratio = np.where(found > 0, found, 1.0) / hoped
    deviance = 2 * float(np.sum(found * np.log(ratio) - found + hoped))
    return _approximation_error(optimum, deviance, found.size)


def _released(optimum: Optimum) -> NDArray[np.float64]:
    """Count the URLs first captured in each crawl."""
    paths = optimum.likelihood.paths
    released: NDArray[np.float64] = np.bincount(
        paths.first, paths.counts, minlength=paths.n_crawls
    ).astype(np.float64)
    return released


def _approximation_error(optimum: Optimum, deviance: float, n_cells: int) -> float:
    n_cohorts = np.count_nonzero(_released(optimum))
    n_freedom = int(n_cells - n_cohorts - optimum.likelihood.model.n_parameters)
    n_urls = float(optimum.likelihood.paths.counts.sum())
    return float(np.sqrt(max(0.0, (deviance / max(n_freedom, 1) - 1) / n_urls)))
