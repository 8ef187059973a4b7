"""The model of Cormack, Jolly and Seber: coverage and persistence from capture histories.

URLs die at a rate that may be common or differ by interval, and are captured with a probability
that may be common or differ by crawl. Births do not matter: a URL counts from its first capture.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.open_population.cjs_likelihood import CjsLikelihood
from crawlgauge.model.open_population.cjs_parameters import (
    UNUSED,
    CoverageForm,
    PersistenceForm,
    number_parameters,
)
from crawlgauge.model.open_population.newton import (
    Covariance,
    Maximum,
    invert_information,
    maximise,
)
from crawlgauge.model.open_population.recaptures import Recaptures
from crawlgauge.model.pairs import MAX_LOG, freeze_arrays
from crawlgauge.model.two_way import FIRST_CRAWL

__all__ = ["MAX_LOGIT", "CormackJollySeberFit", "fit_cormack_jolly_seber"]

MAX_LOGIT = 20.0
"""A share of 2e-9 or its complement: beyond, the likelihood is flat."""

_NOTHING_SHARED = "not identifiable: it shares nothing with any earlier crawl"
_NO_TIME = "not identifiable: no time passes between the two crawls"
_NOTHING_AGAIN = "not identifiable: no URL is captured twice"
_NOT_APART = "not identifiable: coverage cannot be told from survival"
_TOO_CLOSE = "not identifiable: the crawls lie too close in time to tell their turnover"
_NO_MAXIMUM = "not identifiable: the likelihood has no clear maximum"
_AT_LIMIT = "the estimate lies at its limit: no standard error"

# A single URL that is missed, or captured, gives a standard error of about 1 on the scale of
# logits; far more means that there is none.
_MAX_LOGIT_ERROR = 10.0
# Survival over the mean interval, and what the share of the known URLs that crawls hold is
# multiplied by. Only where a few URLs, or a policy of revisiting, mimic death does the likelihood
# have a summit more than one.
_STARTS = ((0.75, 1.0), (0.98, 0.3), (0.3, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CormackJollySeberFit:
    """Coverage of each crawl and persistence over each interval, with standard errors.

    Parameters
    ----------
    coverage, coverage_se
        For each crawl; NaN where not known.
    coverage_reasons
        For each crawl, why its coverage or the standard error is missing; None if neither is.
    persistence, persistence_se
        For each interval, the share that would live on for a year; all equal if it is common.
    persistence_reasons
        The same for each interval.
    minus_two_log_likelihood
        At the maximum, given first captures, without the constant.
    n_parameters
        Parameters, or combinations of them, that the data determine.
    likelihood, maximum
        What was maximised, and where that led.
    """

    coverage: NDArray[np.float64]
    coverage_se: NDArray[np.float64]
    coverage_reasons: tuple[str | None, ...]
    persistence: NDArray[np.float64]
    persistence_se: NDArray[np.float64]
    persistence_reasons: tuple[str | None, ...]
    minus_two_log_likelihood: float
    n_parameters: int
    likelihood: CjsLikelihood
    maximum: Maximum

    def __post_init__(self) -> None:
        freeze_arrays(self, "coverage", "coverage_se", "persistence", "persistence_se")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """One parameter: its logarithm, its standard error as a logit, and what is wrong with it."""

    log: float
    logit_se: float
    reason: str | None

    @property
    def value(self) -> float:
        return math.exp(self.log)

    @property
    def complement(self) -> float:
        return -math.expm1(self.log)


def fit_cormack_jolly_seber(
    recaptures: Recaptures,
    *,
    persistence: PersistenceForm = "common",
    coverage: CoverageForm = "by-crawl",
) -> CormackJollySeberFit:
    """Fit the model by maximum likelihood.

    Standard errors are those of the observed information on the scale of logits.

    Parameters
    ----------
    recaptures
        When captured URLs are seen again.
    persistence
        Whether it is common to all times or each interval has its own.
    coverage
        Whether it is common to all crawls or each has its own.
    """
    parameters = number_parameters(recaptures, persistence, coverage)
    likelihood = CjsLikelihood(recaptures=recaptures, parameters=parameters)
    if not recaptures.n_next.any():
        return _know_nothing(likelihood)
    maximum = _find_maximum(likelihood)
    covariance = invert_information(maximum)
    shares = _judge(maximum, covariance)
    ends = [_end_of(shares, number) for number in parameters.coverage]
    intervals = [
        _per_year(shares, number, unit)
        for number, unit in zip(parameters.survival, parameters.unit_years, strict=True)
    ]
    return CormackJollySeberFit(
        coverage=np.array([np.nan, *(end[0] for end in ends)]),
        coverage_se=np.array([np.nan, *(end[1] for end in ends)]),
        coverage_reasons=(FIRST_CRAWL, *(end[2] for end in ends)),
        persistence=np.array([interval[0] for interval in intervals]),
        persistence_se=np.array([interval[1] for interval in intervals]),
        persistence_reasons=tuple(interval[2] for interval in intervals),
        minus_two_log_likelihood=-2 * maximum.value,
        n_parameters=covariance.rank + int(maximum.at_limit.sum()),
        likelihood=likelihood,
        maximum=maximum,
    )


def _know_nothing(likelihood: CjsLikelihood) -> CormackJollySeberFit:
    n_crawls, n = likelihood.recaptures.n_crawls, likelihood.parameters.n_parameters
    unknown = np.full(n_crawls, np.nan)
    return CormackJollySeberFit(
        coverage=unknown,
        coverage_se=unknown,
        coverage_reasons=(FIRST_CRAWL, *(_NOTHING_AGAIN,) * (n_crawls - 1)),
        persistence=unknown[1:],
        persistence_se=unknown[1:],
        persistence_reasons=(_NOTHING_AGAIN,) * (n_crawls - 1),
        minus_two_log_likelihood=0.0,
        n_parameters=0,
        likelihood=likelihood,
        maximum=Maximum(
            point=np.full(n, np.nan),
            value=0.0,
            information=np.zeros((n, n)),
            at_limit=np.zeros(n, dtype=np.bool_),
            has_converged=False,
        ),
    )


def _find_maximum(likelihood: CjsLikelihood) -> Maximum:
    """Return the highest of the summits that are reached from a few places."""
    data, parameters = likelihood.recaptures, likelihood.parameters
    seen, missed = data.n_seen_before[1:], data.n_missed[1:]
    # The last crawl has no later one to tell what it missed.
    share = (seen[:-1].sum() + 1) / (seen[:-1].sum() + missed[:-1].sum() + 2)
    used = parameters.survival[parameters.survival != UNUSED]
    summits = []
    for survival, factor in _STARTS:
        start = np.full(parameters.n_parameters, _logit(factor * share))
        start[used] = _logit(survival)
        summits.append(
            maximise(
                likelihood.evaluate,
                start,
                n_observations=float(data.n_released.sum()),
                limit=MAX_LOGIT,
            )
        )
    return max(summits, key=lambda summit: summit.value)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _judge(maximum: Maximum, covariance: Covariance) -> list[_Share]:
    variances = np.diagonal(covariance.matrix)
    return [
        _Share(
            log=-float(np.logaddexp(0.0, -logit)),
            logit_se=math.sqrt(variance) if variance >= 0 else np.nan,
            reason=_why(maximum, at_limit=at_limit, determined=determined, variance=variance),
        )
        for logit, variance, at_limit, determined in zip(
            maximum.point, variances, maximum.at_limit, covariance.determined, strict=True
        )
    ]


def _why(maximum: Maximum, *, at_limit: bool, determined: bool, variance: float) -> str | None:
    if not maximum.has_converged:
        return _NO_MAXIMUM
    if at_limit:
        return _AT_LIMIT
    if not determined:
        return _NOT_APART
    return _AT_LIMIT if variance > _MAX_LOGIT_ERROR**2 else None


def _end_of(shares: list[_Share], number: int) -> tuple[float, float, str | None]:
    """Return coverage, standard error and reason of a crawl."""
    if number == UNUSED:
        return np.nan, np.nan, _NOTHING_SHARED
    share = shares[number]
    if share.reason in {_NO_MAXIMUM, _NOT_APART}:
        return np.nan, np.nan, share.reason
    se = np.nan if share.reason else share.logit_se * share.value * share.complement
    return share.value, se, share.reason


def _per_year(
    shares: list[_Share], number: int, unit_years: float
) -> tuple[float, float, str | None]:
    """Return persistence, standard error and reason of an interval."""
    if number == UNUSED:
        return np.nan, np.nan, _NO_TIME
    share = shares[number]
    if share.reason in {_NO_MAXIMUM, _NOT_APART}:
        return np.nan, np.nan, share.reason
    if share.log / unit_years < -MAX_LOG:
        return np.nan, np.nan, _TOO_CLOSE
    value = math.exp(share.log / unit_years)
    se = np.nan if share.reason else share.logit_se * share.complement * value / unit_years
    return value, se, share.reason
