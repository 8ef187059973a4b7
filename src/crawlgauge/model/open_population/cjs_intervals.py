"""Intervals for the shares that the model of Cormack, Jolly and Seber estimates."""

import math
from statistics import NormalDist

from crawlgauge.errors import FitError
from crawlgauge.model.open_population.cormack_jolly_seber import MAX_LOGIT, CormackJollySeberFit
from crawlgauge.model.open_population.profile_likelihood import profile_limits

__all__ = ["logit_interval", "profile_coverage", "profile_persistence"]


def logit_interval(value: float, se: float, *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share that is symmetric on the scale of logits.

    Parameters
    ----------
    value
        The estimated share, between 0 and 1.
    se
        Its standard error.
    level
        Share of intervals that are to hold the truth.

    Examples
    --------
    >>> low, high = logit_interval(0.5602430, 0.0251330)
    >>> round(low, 3), round(high, 3)
    (0.511, 0.609)
    """
    half = NormalDist().inv_cdf((1 + level) / 2) * se / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return _expit(centre - half), _expit(centre + half)


def profile_coverage(
    fit: CormackJollySeberFit, crawl: int, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the profile-likelihood interval of a crawl's coverage.

    Parameters
    ----------
    fit
        The fitted model.
    crawl
        Number of the crawl, from 0; the first has no interval.
    level
        Share of intervals that are to hold the truth.

    Raises
    ------
    FitError
        If the coverage is not identifiable.
    """
    if math.isnan(fit.coverage[crawl]):
        raise FitError(f"crawl {crawl}: its coverage is {fit.coverage_reasons[crawl]}")
    number = int(fit.likelihood.parameters.coverage[crawl - 1])
    low, high = _profile(fit, number, level)
    return _expit(low), _expit(high)


def profile_persistence(
    fit: CormackJollySeberFit, interval: int = 0, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the profile-likelihood interval of the persistence per year.

    Parameters
    ----------
    fit
        The fitted model.
    interval
        Number of the interval, from 0; all are alike if the persistence is common.
    level
        Share of intervals that are to hold the truth.

    Raises
    ------
    FitError
        If the persistence is not identifiable.
    """
    if math.isnan(fit.persistence[interval]):
        reason = fit.persistence_reasons[interval]
        raise FitError(f"interval {interval}: its persistence is {reason}")
    number = int(fit.likelihood.parameters.survival[interval])
    unit_years = float(fit.likelihood.parameters.unit_years[interval])
    low, high = _profile(fit, number, level)
    return _expit(low) ** (1 / unit_years), _expit(high) ** (1 / unit_years)


def _profile(fit: CormackJollySeberFit, number: int, level: float) -> tuple[float, float]:
    return profile_limits(
        fit.likelihood.evaluate,
        fit.maximum,
        number,
        n_observations=float(fit.likelihood.recaptures.n_released.sum()),
        limit=MAX_LOGIT,
        level=level,
    )


def _expit(logit: float) -> float:
    # From the smaller side, so that no exponential can overflow.
    small = math.exp(-abs(logit))
    return 1 / (1 + small) if logit > 0 else small / (1 + small)
