"""Growth of the population, and the model of steady growth that reaches back to the first crawl."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import MAX_LOG, Numbers, PairData
from crawlgauge.model.paper import fit_linear

__all__ = ["GrowthFit", "fit_growth_model", "growth_coefficients", "log_growth"]

_MIN_DATES = 2


class GrowthFit(NamedTuple):
    """Populations on an exponential curve through all dates, with a common persistence.

    Parameters
    ----------
    log_population
        Logarithm of the population at each crawl, the first included.
    log_coverage
        Logarithm of each crawl's size over it.
    log_typical
        Mean of `log_coverage` over the crawls that are compared with an earlier one: the same
        crawls that the two-way model averages over.
    log_persistence
        Per year.
    """

    log_population: Numbers
    log_coverage: Numbers
    log_typical: float
    log_persistence: float


def fit_growth_model(pairs: PairData) -> GrowthFit | None:
    """Fit steady growth, or return None where the pairs do not determine it.

    The model is ``ln X_ij − ln M_i − ln M_j = −ln N_0 − ρ·(t_j − t̄) + a·D_ij``. Pairs weigh
    equally, because what it leaves over is mostly the scatter of the populations about the
    curve and not the noise of counting.
    """
    years = pairs.years - pairs.years.mean()
    design = np.column_stack([np.ones(pairs.end.size), years[pairs.end], pairs.lag_years])
    # Containment is a ratio within the sample; the population is that of all URLs.
    response = pairs.log_forward - np.log(pairs.n_urls[pairs.end])
    level, trend, slope = fit_linear(design, response, pairs.weight)[0]
    log_population = -(level + trend * years)
    largest = np.abs([slope, *log_population]).max()
    if np.isnan(largest) or largest > MAX_LOG:
        return None
    log_coverage = np.log(pairs.n_urls) - log_population
    return GrowthFit(
        log_population=log_population,
        log_coverage=log_coverage,
        log_typical=float(log_coverage[np.unique(pairs.end)].mean()),
        log_persistence=float(slope),
    )


def log_growth(years: Numbers, log_population: Numbers) -> float | None:
    """Return the trend of the log population per year, or None if the dates give none.

    Examples
    --------
    >>> log_growth(np.array([0.0, 1.0, 2.0]), np.array([np.nan, 3.0, 3.5]))
    0.5
    """
    known = ~np.isnan(log_population)
    trend = growth_coefficients(years, known)
    rate = float(trend[known] @ log_population[known])
    return rate if trend.any() and abs(rate) <= MAX_LOG else None


def growth_coefficients(years: Numbers, known: NDArray[np.bool_]) -> Numbers:
    """Return how much each crawl's log population counts in the trend; all 0 without two dates.

    Examples
    --------
    >>> growth_coefficients(np.array([0.0, 1.0, 3.0]), np.array([False, True, True])).tolist()
    [0.0, -0.5, 0.5]
    """
    if np.unique(years[known]).size < _MIN_DATES:
        return np.zeros(years.size)
    centred = np.where(known, years - years[known].mean(), 0.0)
    return centred / float(centred @ centred)
