"""Estimates for a population without births or deaths, for comparison.

Each returns the population, of the URLs that the histories were counted from, all or a sample; NaN
where it is not known.
"""

import math
from typing import Literal

import numpy as np

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.optimisation import Curve, maximise, variances_at
from crawlgauge.model.pairs import Numbers


def estimate_lincoln_petersen(data: HistoryData) -> float:
    """Estimate the population from the two newest crawls: product of sizes over overlap."""
    one, other, both = _newest_pair(data)
    return one * other / both if both else math.nan


def estimate_chapman(data: HistoryData) -> float:
    """Estimate the population from the two newest crawls, corrected for small overlaps."""
    one, other, both = _newest_pair(data)
    # Finite without any overlap, but then it says only that the population is large.
    return (one + 1) * (other + 1) / (both + 1) - 1 if both else math.nan


def _newest_pair(data: HistoryData) -> tuple[float, float, float]:
    *_, one, other = data.sizes
    return float(one), float(other), float(data.counts[data.captured[:, -2:].all(axis=1)].sum())


def estimate_schnabel(data: HistoryData) -> float:
    """Estimate the population from all crawls, each set against all URLs known before it."""
    crawl = np.arange(data.n_crawls)
    n_known = data.counts @ (data.first[:, None] < crawl)
    n_again = float(data.counts @ (data.captured.sum(axis=1) - 1))
    return float(data.sizes @ n_known) / n_again if n_again else math.nan


def estimate_chao(data: HistoryData) -> float:
    """Estimate the least population from the URLs captured once and those captured twice.

    With f_k URLs captured just k times in T crawls, and n in all, the population is at least
    ``n + (T − 1)/T · f_1²/(2·f_2)``, however unevenly the URLs are captured.
    """
    times = np.sum(data.captured, axis=1)
    once, twice = (float(data.counts[times == k].sum()) for k in (1, 2))
    if once == 0:
        return data.n_urls
    if twice == 0:
        return math.nan
    return data.n_urls + (data.n_crawls - 1) / data.n_crawls * once * (once / twice) / 2


# --------------------------------------------------------------------------- log-linear models

Form = Literal["even", "poisson", "darroch"]

MAX_NEWEST = 10
"""Newest crawls that are used: 1023 histories, fitted in milliseconds."""

# A relative error of e^10 of what was never captured says that nothing is known about it.
_MAX_LOG_ERROR = 10.0
# Part of the captured URLs below which those never captured do not matter.
_NEGLIGIBLE = 1e-6


def fit_loglinear(data: HistoryData, form: Form) -> tuple[float, float]:
    """Fit a log-linear model by Poisson regression; return the population and the deviance.

    The number of URLs with each of the ``2^T − 1`` histories that can be observed is Poisson with
    ``ln μ = γ + Σ_j β_j·(captured by crawl j) + η·h(k)``, where k is how often the URL was
    captured; exp γ is the number that was never captured.

    Parameters
    ----------
    data
        Capture histories; the newest crawls are used.
    form
        How URLs differ: not at all, without the last term; ``poisson``, h = 2^k − 1; ``darroch``,
        h = k²/2, the Rasch model with normal abilities.
    """
    from scipy.special import kl_div

    unknown = math.nan, math.nan
    n_used = min(MAX_NEWEST, data.n_crawls)
    seen_late = (data.masks >> np.uint64(data.n_crawls - n_used)).astype(np.int64)
    counts = np.bincount(seen_late, weights=data.counts, minlength=2**n_used)[1:]
    captured = (np.arange(1, 2**n_used)[:, None] >> np.arange(n_used) & 1).astype(np.float64)
    n_urls = float(counts.sum())
    # A crawl without URLs has no histories.
    held = counts @ captured > 0
    usable = ~np.any(captured[:, ~held], axis=1)
    captured = captured[:, held]
    times = captured.sum(axis=1, keepdims=True)
    if not np.any(counts[times[:, 0] > 1]):
        return unknown
    terms = {"even": times[:, :0], "poisson": 2**times - 1, "darroch": times**2 / 2}
    design = np.hstack([np.ones((counts.size, 1)), captured, terms[form]])[usable]
    counts = counts[usable].astype(np.float64)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return unknown

    def means(parameters: Numbers) -> Numbers:
        # A step too far may overflow; the likelihood then is minus infinity.
        with np.errstate(over="ignore"):
            mean: Numbers = np.exp(design @ parameters)
        return mean

    def evaluate(parameters: Numbers) -> Curve:
        mean = means(parameters)
        with np.errstate(invalid="ignore", over="ignore"):
            return (
                float(counts @ (design @ parameters) - mean.sum()),
                design.T @ (counts - mean),
                -(design.T * mean) @ design,
            )

    # Where all histories are equally frequent the way up is open.
    start = np.zeros(design.shape[1])
    start[0] = np.log(np.mean(counts))
    maximum = maximise(evaluate, start, n_observations=float(counts.sum()))
    never = math.exp(min(maximum.point[0], np.log(np.finfo(np.float64).max)))
    if never < _NEGLIGIBLE * n_urls:
        never = 0.0
    elif not (maximum.has_converged and variances_at(maximum)[0] < _MAX_LOG_ERROR**2):
        return unknown
    return n_urls + never, float(2 * np.sum(kl_div(counts, means(maximum.point))))
