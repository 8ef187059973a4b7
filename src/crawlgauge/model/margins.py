"""How far each estimate of the two-way model may be off, on the scale of logarithms.

The variance of an estimate is the larger of two, plus a third. The first shows when each crawl is
left out in turn; it needs no model of the errors, but sees little of crawls that few pairs tell
about. The second pools the lack of fit of all pairs. The third is that of drawing URLs from the
urn, of which the crawls show only a part among themselves, of counting in a sample, and of the
standard errors that overlaps come with.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.error_components import find_components
from crawlgauge.model.growth import growth_coefficients
from crawlgauge.model.influence import Influence, weigh_pairs
from crawlgauge.model.jackknife import delete_each_crawl, jackknife_variance
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.model.urn_variance import urn_moments, urn_state

__all__ = ["LEVEL", "NORMAL_QUANTILE", "Margin", "Margins", "find_margins"]

LEVEL = 0.95
"""Share of intervals that hold the truth."""

NORMAL_QUANTILE = 1.959964
"""Of that level, two-sided."""

_N_COMMON = 3
_MIN_REPLICATES = 3
_TOO_FEW = "fewer than 3 crawls can be left out in turn: no interval is possible"
# A factor of half a billion to either side is no information, and its square a huge number.
_MAX_HALF_WIDTH = 20.0
_TOO_WIDE = "the pairs contradict each other so much that an interval would span everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """How far an interval reaches to either side of a logarithm, or why there is none."""

    half_width: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """The margins of all estimates of a series.

    Parameters
    ----------
    typical, persistence, growth
        Of the mean log coverage, the log persistence and the rate of growth.
    coverage, population
        Of each crawl; they differ only where its size is estimated from a sample.
    sampling_alone
        What the margin of the typical coverage would be if sampling were the only error, from
        the urn and of the URLs that were counted; None where it is not known.
    sample_alone
        How far the typical coverage may be from what it would be if all URLs had been counted;
        0 if they have been, and None where it is not known.
    """

    typical: Margin
    persistence: Margin
    growth: Margin
    coverage: tuple[Margin, ...]
    population: tuple[Margin, ...]
    sampling_alone: float | None
    sample_alone: float | None


def find_margins(pairs: PairData, fit: TwoWayFit) -> Margins:
    """Find the margins of a fit; empty ones where the fit itself says why there are none.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        Their two-way model.
    """
    none = [Margin()] * (_N_COMMON + 2 * pairs.n_crawls)
    if math.isnan(fit.tau_squared) or not fit.typical.any():
        return _collect(none, None, None)
    wanted = _list_estimates(pairs, fit)
    influence = weigh_pairs(pairs, fit, wanted.parameters)
    drawing, of_sample, sample_of_populations = _sampling_variances(pairs, fit, wanted, influence)
    sampling = drawing + of_sample
    of_populations = drawing[_N_COMMON:] + sample_of_populations
    alone = [NORMAL_QUANTILE * math.sqrt(squared[0]) for squared in (sampling, of_sample)]
    if fit.n_freedom <= 0:
        return _collect(none, *alone)
    replicates = delete_each_crawl(pairs, fit.latest)
    spread = jackknife_variance(replicates.by_estimate)
    pooled = find_components(pairs, fit).variance(pairs, fit, influence)
    model = np.maximum(spread.variance, pooled)
    variance = np.concatenate([model + sampling, model[_N_COMMON:] + of_populations])
    n_replicates = np.concatenate([spread.n_replicates, spread.n_replicates[_N_COMMON:]])
    # Each replicate more is one degree of freedom more; the mean and the slope take two.
    most_freedom = replicates.n_deleted - 2
    return _collect(
        [
            _margin(float(squared), int(n), most_freedom)
            for squared, n in zip(variance, n_replicates, strict=True)
        ],
        *alone,
    )


def _margin(variance: float, n_replicates: int, most_freedom: int) -> Margin:
    from scipy.special import stdtrit  # here, because it takes as long to load as all the rest

    if n_replicates < _MIN_REPLICATES:
        return Margin(reason=_TOO_FEW)
    quantile = float(stdtrit(min(n_replicates, most_freedom), (1 + LEVEL) / 2))
    half_width = quantile * math.sqrt(variance)
    if half_width > _MAX_HALF_WIDTH:
        return Margin(reason=_TOO_WIDE)
    return Margin(half_width=half_width)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Wanted:
    """Typical coverage, persistence and growth, then the coverage of each crawl.

    Parameters
    ----------
    parameters
        For each, the coefficients of the log coverages and of the log persistence.
    sizes
        For each, the coefficients of the logarithms of the crawls' sizes.
    """

    parameters: NDArray[np.float64]
    sizes: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "parameters", "sizes")


def _list_estimates(pairs: PairData, fit: TwoWayFit) -> _Wanted:
    n, typical = pairs.n_crawls, fit.typical
    parameters, sizes = np.zeros((_N_COMMON + n, n + 1)), np.zeros((_N_COMMON + n, n))
    parameters[0, :n] = typical / typical.sum()
    parameters[1, n] = fit.has_persistence
    sizes[2] = growth_coefficients(pairs.years, typical)
    parameters[2, :n] = -sizes[2]
    parameters[_N_COMMON:, :n] = np.diag(fit.estimated)
    return _Wanted(parameters=parameters, sizes=sizes)


def _sampling_variances(
    pairs: PairData, fit: TwoWayFit, wanted: _Wanted, influence: Influence
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return how much the wanted estimates vary by what the crawls draw and by what is counted.

    The former varies over urns and, where overlaps come with standard errors, over these; the
    latter over samples of the same crawls. It is given for each crawl's population as well.
    """
    moments = urn_moments(urn_state(pairs, fit), influence)
    errors = np.zeros((pairs.n_crawls, pairs.n_crawls))
    low, high = np.minimum(pairs.start, pairs.end), np.maximum(pairs.start, pairs.end)
    errors[low, high] = pairs.relative_error**2
    drawing = moments.urn_variance() + np.sum(influence.shared**2 * errors, axis=(1, 2))
    if pairs.sample_rate == 1:
        return drawing, np.zeros_like(drawing), np.zeros(pairs.n_crawls)
    # A size that is known in full has no error of sampling.
    estimated = np.abs(pairs.n_counted / pairs.sample_rate - pairs.n_urls) <= 1
    sizes = wanted.sizes * estimated - influence.starts
    of_sample = moments.sample_variance(sizes, pairs.sample_rate)
    # The logarithm of a population is that of the size minus that of the coverage.
    sizes[_N_COMMON:] -= np.diag(estimated)
    return drawing, of_sample, moments.sample_variance(sizes, pairs.sample_rate)[_N_COMMON:]


def _collect(
    margins: list[Margin], sampling_alone: float | None, sample_alone: float | None
) -> Margins:
    n = (len(margins) - _N_COMMON) // 2
    return Margins(
        typical=margins[0],
        persistence=margins[1],
        growth=margins[2],
        coverage=tuple(margins[_N_COMMON : _N_COMMON + n]),
        population=tuple(margins[_N_COMMON + n :]),
        sampling_alone=sampling_alone,
        sample_alone=sample_alone,
    )
