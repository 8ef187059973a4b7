"""Log-linear models of the capture histories of a closed population, for comparison.

The number of URLs with each of the ``2^T − 1`` histories that can be observed is Poisson with
``ln μ = γ + Σ_j β_j·(captured by crawl j) + η·h(k)``, where k is how often the URL was captured;
exp γ is the number that was never captured. Without the last term crawls differ and URLs are alike
(M_t); with it URLs differ as well (M_th).
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import FitError
from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.newton import Curve, Maximum, invert_information, maximise
from crawlgauge.model.pairs import freeze_arrays

__all__ = [
    "ClosedEstimate",
    "LoglinearFit",
    "estimate_chao",
    "estimate_chapman",
    "estimate_lincoln_petersen",
    "estimate_schnabel",
    "fit_loglinear",
]


# ------------------------------ estimates for a population without births or deaths, for comparison


_NOTHING_SHARED = "not identifiable: the two newest crawls share nothing"
_NOTHING_AGAIN = "not identifiable: no URL is captured twice"
_NO_TWICE = "not identifiable: no URL is captured just twice"
_ONE_CRAWL = "not identifiable: there is one crawl only"
_TWO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedEstimate:
    """The size of a population that is taken to be closed.

    Parameters
    ----------
    population
        Of the URLs that the histories were counted from, all or a sample; NaN if not known.
    standard_error
        Of sampling alone; NaN if not known.
    reason
        Why one of them is not known; None if both are.
    n_newest
        The newest crawls that it is made from.
    """

    population: float
    standard_error: float
    reason: str | None
    n_newest: int

    def coverage(self, data: HistoryData) -> NDArray[np.float64]:
        """Return the coverage of each crawl that it is made from; NaN for the others."""
        used = np.arange(data.n_crawls) >= data.n_crawls - self.n_newest
        return np.where(used & (data.sizes > 0), data.sizes / self.population, np.nan)


def estimate_lincoln_petersen(data: HistoryData) -> ClosedEstimate:
    """Estimate the population from the two newest crawls: product of sizes over overlap.

    Parameters
    ----------
    data
        Capture histories.
    """
    if data.n_crawls < _TWO:
        return _unknown(_ONE_CRAWL, data.n_crawls)
    one, other, both = _newest_pair(data)
    if both == 0:
        return _unknown(_NOTHING_SHARED, _TWO)
    return _known(one * other / both, one * other * (one - both) * (other - both) / both**3, _TWO)


def estimate_chapman(data: HistoryData) -> ClosedEstimate:
    """Estimate the population from the two newest crawls, corrected for small overlaps.

    Parameters
    ----------
    data
        Capture histories.
    """
    if data.n_crawls < _TWO:
        return _unknown(_ONE_CRAWL, data.n_crawls)
    one, other, both = _newest_pair(data)
    if both == 0:
        # Finite without any overlap, but then it says only that the population is large.
        return _unknown(_NOTHING_SHARED, _TWO)
    product = (one + 1) * (other + 1)
    return _known(
        product / (both + 1) - 1,
        product * (one - both) * (other - both) / ((both + 1) ** 2 * (both + 2)),
        _TWO,
    )


def estimate_schnabel(data: HistoryData) -> ClosedEstimate:
    """Estimate the population from all crawls, each set against all URLs known before it.

    Parameters
    ----------
    data
        Capture histories.
    """
    seen = np.zeros(data.counts.shape, dtype=np.bool_)
    known = np.zeros(data.n_crawls)
    n_again = 0.0
    for crawl, held in enumerate(data.captured.T):
        known[crawl] = data.counts[seen].sum()
        n_again += float(data.counts[held & seen].sum())
        seen |= held
    if n_again == 0:
        return _unknown(_NOTHING_AGAIN, data.n_crawls)
    population = float(data.sizes @ known) / n_again
    # Each crawl draws without replacement, given what is known before it. With two crawls this
    # is the variance of Lincoln and Petersen.
    drawn, marked = data.sizes / population, known / population
    spread = drawn * marked * np.maximum(1 - drawn, 0) * np.maximum(1 - marked, 0)
    return _known(population, float(spread.sum()) * population**3 / n_again**2, data.n_crawls)


def estimate_chao(data: HistoryData) -> ClosedEstimate:
    """Estimate the least population from the URLs captured once and those captured twice.

    With f_k URLs captured just k times in T crawls, and n in all, the population is at least
    ``n + (T − 1)/T · f_1²/(2·f_2)``, however unevenly the URLs are captured.

    Parameters
    ----------
    data
        Capture histories.
    """
    times = np.sum(data.captured, axis=1)
    once, twice = (float(data.counts[times == k].sum()) for k in (1, 2))
    if once == 0:
        return _known(data.n_urls, 0.0, data.n_crawls)
    if twice == 0:
        return _unknown(_NO_TWICE, data.n_crawls)
    share, ratio = (data.n_crawls - 1) / data.n_crawls, once / twice
    return _known(
        data.n_urls + share * once * ratio / 2,
        twice * (share * ratio**2 / 2 + share**2 * ratio**3 + share**2 * ratio**4 / 4),
        data.n_crawls,
    )


def _newest_pair(data: HistoryData) -> tuple[float, float, float]:
    one, other = data.captured[:, -2], data.captured[:, -1]
    return (
        float(data.counts[one].sum()),
        float(data.counts[other].sum()),
        float(data.counts[one & other].sum()),
    )


def _known(population: float, variance: float, n_newest: int) -> ClosedEstimate:
    return ClosedEstimate(
        population=float(population),
        standard_error=math.sqrt(variance),
        reason=None,
        n_newest=n_newest,
    )


def _unknown(reason: str, n_newest: int) -> ClosedEstimate:
    return ClosedEstimate(
        population=np.nan, standard_error=np.nan, reason=reason, n_newest=n_newest
    )


# ---------------- log-linear models of the capture histories of a closed population, for comparison


Heterogeneity = Literal["none", "poisson", "darroch", "chao"]

MAX_NEWEST = 10
"""Crawls that are used if not told otherwise: 1023 histories, fitted in milliseconds."""

# A quarter of a million histories: some seconds, and 40 MB.
_MOST_CRAWLS = 18
# A relative error of e^10 of what was never captured says that nothing is known about it.
_MAX_LOG_ERROR = 10.0
# Part of the captured URLs below which those never captured do not matter.
_NEGLIGIBLE = 1e-6
_TOO_FEW = "not identifiable: too few crawls for the parameters of the model"
_NO_MAXIMUM = "not identifiable: the likelihood has no clear maximum"
_ALL_HELD = "the estimate lies at its limit, the URLs captured: no standard error"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoglinearFit:
    """A fitted log-linear model.

    Parameters
    ----------
    estimate
        The population.
    deviance
        Twice the log-likelihood that a perfect fit has more; NaN if there is no fit.
    n_freedom
        Histories minus parameters.
    aic
        Akaike's criterion; NaN if there is no fit.
    """

    estimate: ClosedEstimate
    deviance: float
    n_freedom: int
    aic: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cells:
    """The histories, one row each: how many URLs have it, and the model's terms for it."""

    counts: NDArray[np.float64]
    design: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "counts", "design")

    def means(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        # A step too far may overflow; the likelihood then is minus infinity.
        with np.errstate(over="ignore"):
            return np.exp(self.design @ parameters)

    def evaluate(self, parameters: NDArray[np.float64]) -> Curve:
        mean = self.means(parameters)
        with np.errstate(invalid="ignore", over="ignore"):
            return Curve(
                value=float(self.counts @ (self.design @ parameters) - mean.sum()),
                gradient=self.design.T @ (self.counts - mean),
                hessian=-(self.design.T * mean) @ self.design,
            )

    def find_start(self) -> NDArray[np.float64]:
        """Begin where all histories are equally frequent: the way up is open from there."""
        start = np.zeros(self.design.shape[1])
        start[0] = np.log(np.mean(self.counts))
        return start


def fit_loglinear(
    data: HistoryData,
    heterogeneity: Heterogeneity = "none",
    *,
    n_newest: int = MAX_NEWEST,
    without: int | None = None,
) -> LoglinearFit:
    """Fit a log-linear model by Poisson regression over all histories.

    Parameters
    ----------
    data
        Capture histories.
    heterogeneity
        How URLs differ: not at all; ``poisson``, h = 2^k − 1; ``darroch``, h = k²/2, the Rasch
        model with normal abilities; ``chao``, free from k = 3 on as far as convex, which gives a
        lower bound.
    n_newest
        Use at most so many of the newest crawls.
    without
        A history, bit j for the j-th of the used crawls, that is not to be explained. Its URLs
        still count.

    Raises
    ------
    FitError
        If there are too many crawls.
    """
    n_used = min(n_newest, data.n_crawls)
    if n_used > _MOST_CRAWLS:
        raise FitError(
            f"{n_used} crawls have too many histories for a log-linear model; use at most the "
            f"{_MOST_CRAWLS} newest"
        )
    counts = _count_cells(data, n_used)
    captured = _list_cells(n_used)
    n_urls = float(counts.sum())
    # A crawl without URLs has no histories.
    held = counts @ captured > 0
    usable = ~np.any(captured[:, ~held], axis=1)
    if without is not None:
        usable[without - 1] = False
    captured = captured[:, held]
    times = captured.sum(axis=1)
    if not np.any(counts[times > 1]):
        return _refused(_NOTHING_AGAIN, n_used)
    terms = [np.ones((counts.size, 1)), captured, _heterogeneity_terms(times, heterogeneity)]
    cells = _Cells(counts=counts[usable], design=np.hstack(terms)[usable])
    if np.linalg.matrix_rank(cells.design) < cells.design.shape[1]:
        return _refused(_TOO_FEW, n_used)
    n_kept = cells.design.shape[1] if heterogeneity != "chao" else 1 + captured.shape[1]
    cells, maximum = _fit_convex(cells, n_kept)
    return _describe(cells, maximum, n_urls, n_used)


def _count_cells(data: HistoryData, n_used: int) -> NDArray[np.float64]:
    seen_late = (data.masks >> np.uint64(data.n_crawls - n_used)).astype(np.int64)
    counts = np.bincount(seen_late, weights=data.counts, minlength=2**n_used)
    return counts[1:].astype(np.float64)


def _list_cells(n_used: int) -> NDArray[np.float64]:
    cell = np.arange(1, 2**n_used)
    return (cell[:, None] >> np.arange(n_used) & 1).astype(np.float64)


def _heterogeneity_terms(
    times: NDArray[np.float64], heterogeneity: Heterogeneity
) -> NDArray[np.float64]:
    if heterogeneity == "poisson":
        return 2 ** times[:, None] - 1
    if heterogeneity == "darroch":
        return times[:, None] ** 2 / 2
    # Broken lines: with non-negative weights they make any convex function of k from 3 on.
    breaks = np.arange(2, times.max()) if heterogeneity == "chao" else np.zeros(0)
    return np.maximum(times[:, None] - breaks, 0.0)


def _fit_convex(cells: _Cells, n_kept: int) -> tuple[_Cells, Maximum]:
    """Fit, and fit again without the terms beyond `n_kept` that come out negative."""
    while True:
        maximum = maximise(
            cells.evaluate, cells.find_start(), n_observations=float(cells.counts.sum())
        )
        wanted = (maximum.point >= 0) | (np.arange(maximum.point.size) < n_kept)
        if wanted.all():
            return cells, maximum
        cells = replace(cells, design=cells.design[:, wanted])


def _describe(cells: _Cells, maximum: Maximum, n_urls: float, n_used: int) -> LoglinearFit:
    variance = float(invert_information(maximum).matrix[0, 0])
    never = math.exp(min(maximum.point[0], np.log(np.finfo(np.float64).max)))
    if never < _NEGLIGIBLE * n_urls:
        population, error, reason = n_urls, np.nan, _ALL_HELD
    elif not maximum.has_converged or not variance < _MAX_LOG_ERROR**2:
        return _refused(_NO_MAXIMUM, n_used)
    else:
        population, reason = n_urls + never, None
        # How many were never captured is itself a matter of chance, given their mean.
        error = math.sqrt(never + never**2 * variance)
    mean = cells.means(maximum.point)
    return LoglinearFit(
        estimate=ClosedEstimate(
            population=population, standard_error=error, reason=reason, n_newest=n_used
        ),
        deviance=_deviance(cells.counts, mean),
        n_freedom=cells.design.shape[0] - cells.design.shape[1],
        aic=-2 * _log_likelihood(cells.counts, mean) + 2 * cells.design.shape[1],
    )


def _deviance(counts: NDArray[np.float64], mean: NDArray[np.float64]) -> float:
    from scipy.special import kl_div

    return float(2 * np.sum(kl_div(counts, mean)))


def _log_likelihood(counts: NDArray[np.float64], mean: NDArray[np.float64]) -> float:
    from scipy.special import gammaln, xlogy

    return float(np.sum(xlogy(counts, mean) - mean - gammaln(counts + 1)))


def _refused(reason: str, n_used: int) -> LoglinearFit:
    return LoglinearFit(
        estimate=ClosedEstimate(
            population=np.nan, standard_error=np.nan, reason=reason, n_newest=n_used
        ),
        deviance=np.nan,
        n_freedom=0,
        aic=np.nan,
    )
