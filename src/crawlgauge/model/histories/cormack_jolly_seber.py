"""The model of Cormack, Jolly and Seber: coverage and persistence from capture histories.

URLs die at a rate that may be common or differ by interval, and are captured with a probability
that may be common or differ by crawl. Births do not matter: a URL counts from its first capture.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.histories.data import Recaptures
from crawlgauge.model.histories.newton import (
    Covariance,
    Curve,
    Maximum,
    invert_information,
    maximise,
)
from crawlgauge.model.pairs import MAX_LOG, freeze_arrays
from crawlgauge.model.two_way import FIRST_CRAWL

__all__ = ["CjsLikelihood", "CormackJollySeberFit", "fit_cormack_jolly_seber", "number_parameters"]


# -------- which parameter each interval and each crawl has in the model of Cormack, Jolly and Seber


PersistenceForm = Literal["common", "by-interval"]
CoverageForm = Literal["common", "by-crawl"]

UNUSED = -1
"""Stands for a parameter that would not matter."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CjsParameters:
    """The parameters, all of them shares, and what follows from them.

    Parameters
    ----------
    survival
        For each interval, the number of the parameter that its survival is a power of; `UNUSED`
        if no time passes, so that all survive.
    unit_years
        For each interval, the time over which the parameter is the survival.
    coverage
        For each crawl but the first, the number of its parameter; `UNUSED` if nothing is seen in
        it again, so that its coverage is 0.
    n_parameters
        Number of parameters.
    """

    survival: NDArray[np.int64]
    unit_years: NDArray[np.float64]
    coverage: NDArray[np.int64]
    n_parameters: int

    def __post_init__(self) -> None:
        freeze_arrays(self, "survival", "unit_years", "coverage")


def number_parameters(
    recaptures: Recaptures, persistence: PersistenceForm, coverage: CoverageForm
) -> CjsParameters:
    """Give the intervals and crawls their parameters.

    Parameters
    ----------
    recaptures
        The data.
    persistence
        Whether it is common to all intervals.
    coverage
        Whether it is common to all crawls.
    """
    lengths = recaptures.interval_years
    survival, n_survivals = _number(lengths > 0, is_common=persistence == "common")
    # Over the mean interval survival is neither near 0 nor near 1, whatever it is over a year.
    unit = np.mean(lengths[lengths > 0]) if np.any(lengths > 0) else 1.0
    is_common = coverage == "common"
    seen = recaptures.n_seen_before[1:] > 0
    ends, n_ends = _number(seen | (is_common & seen.any()), is_common=is_common)
    return CjsParameters(
        survival=survival,
        unit_years=np.full(lengths.shape, unit) if persistence == "common" else lengths,
        coverage=np.where(ends == UNUSED, UNUSED, ends + n_survivals),
        n_parameters=n_survivals + n_ends,
    )


def _number(used: NDArray[np.bool_], *, is_common: bool) -> tuple[NDArray[np.int64], int]:
    numbers = np.where(used, 0 if is_common else np.cumsum(used) - 1, UNUSED)
    return numbers, int(numbers.max(initial=UNUSED)) + 1


# -------------- the likelihood of Cormack, Jolly and Seber, with exact first and second derivatives


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CjsLikelihood:
    """The log-likelihood as a function of the parameters' logits.

    Parameters
    ----------
    recaptures
        The data.
    parameters
        Which parameter each interval and crawl has.
    """

    recaptures: Recaptures
    parameters: CjsParameters

    def evaluate(self, logits: NDArray[np.float64]) -> Curve:
        """Return the log-likelihood and its derivatives."""
        data, n = self.recaptures, self.parameters.n_parameters
        seen, missed = data.n_seen_before[1:], data.n_missed[1:]
        n_gone = data.n_released - data.n_seen_again
        value, gradient, hessian = 0.0, np.zeros(n), np.zeros((n, n))
        # For the last crawl nothing comes after: χ = 1 for certain.
        chi, d_chi, dd_chi = 1.0, np.zeros(n), np.zeros((n, n))
        for k in range(data.n_crawls - 2, -1, -1):
            # Number -1 is that of the last parameter too; whatever an unused one adds is 0.
            g, h = self.parameters.survival[k], self.parameters.coverage[k]
            log_phi, log_phi_1, log_phi_2 = self._log_survival(logits, k)
            log_p, log_q = self._log_coverage(logits, k)
            p, q = np.exp(log_p), np.exp(log_q)
            n_alive = seen[k] + missed[k]
            value += n_alive * log_phi + missed[k] * log_q
            value += seen[k] * log_p if seen[k] else 0.0
            gradient[g] += n_alive * log_phi_1
            hessian[g, g] += n_alive * log_phi_2
            gradient[h] += seen[k] * q - missed[k] * p
            hessian[h, h] -= n_alive * p * q

            # y = (1 − p)·χ_{i+1}
            y, d_y, dd_y = q * chi, q * d_chi, q * dd_chi
            dd_y[h] -= p * q * d_chi
            dd_y[:, h] -= p * q * d_chi
            d_y[h] -= p * q * chi
            dd_y[h, h] -= p * q * (q - p) * chi
            # χ_i = 1 − φ·(1 − y)
            phi = np.exp(log_phi)
            phi_1, phi_2 = phi * log_phi_1, phi * (log_phi_2 + log_phi_1**2)
            chi, d_chi, dd_chi = -np.expm1(log_phi) + phi * y, phi * d_y, phi * dd_y
            dd_chi[g] += phi_1 * d_y
            dd_chi[:, g] += phi_1 * d_y
            d_chi[g] -= phi_1 * (1 - y)
            dd_chi[g, g] -= phi_2 * (1 - y)

            value += n_gone[k] * np.log(chi)
            gradient += n_gone[k] * d_chi / chi
            hessian += n_gone[k] * (dd_chi / chi - np.outer(d_chi, d_chi) / chi**2)
        return Curve(value=float(value), gradient=gradient, hessian=hessian)

    def _log_survival(
        self, logits: NDArray[np.float64], interval: int
    ) -> tuple[float, float, float]:
        """Return ln φ of an interval and its derivatives by the logit."""
        parameter = self.parameters.survival[interval]
        if parameter == UNUSED:
            return 0.0, 0.0, 0.0
        years = self.recaptures.interval_years[interval]
        power = float(years / self.parameters.unit_years[interval])
        logit = float(logits[parameter])
        log, log_rest = _log_expit(logit), _log_expit(-logit)
        return power * log, power * math.exp(log_rest), -power * math.exp(log + log_rest)

    def _log_coverage(self, logits: NDArray[np.float64], interval: int) -> tuple[float, float]:
        """Return ln p and ln(1 − p) of the crawl that ends an interval."""
        parameter = self.parameters.coverage[interval]
        if parameter == UNUSED:
            return -math.inf, 0.0
        logit = float(logits[parameter])
        return _log_expit(logit), _log_expit(-logit)


def _log_expit(logit: float) -> float:
    return -float(np.logaddexp(0.0, -logit))


# ------------------------------------------------------------ the model of Cormack, Jolly and Seber


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
