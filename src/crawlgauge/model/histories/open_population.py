"""Estimates for a population in which URLs are born and die, from when they are seen again.

Cormack, Jolly and Seber give all URLs one rate of death and each crawl its own coverage; Jolly and
Seber give each interval its own survival, in closed form; Manly and Parr assume nothing about
survival. Births do not matter: a URL counts from its first capture.
"""

import math

import numpy as np

from crawlgauge.model.histories.data import HistoryData, Recaptures, count_known_alive
from crawlgauge.model.histories.optimisation import Curve, Maximum, maximise, variances_at
from crawlgauge.model.pairs import MAX_LOG, Numbers

# --------------------------------------------------------------------- Cormack, Jolly and Seber

_MAX_LOGIT = 20.0
"""A share of 2e-9 or its complement: beyond, the likelihood is flat."""

# Survival over the mean interval, and what the share of the known URLs that crawls hold is
# multiplied by. Only where a few URLs, or a policy of revisiting, mimic death does the likelihood
# have a summit more than one.
_STARTS = ((0.75, 1.0), (0.98, 0.3), (0.3, 1.0))

_UNUSED = -1
"""Stands for a parameter that would not matter."""


def fit_cormack_jolly_seber(recaptures: Recaptures) -> tuple[Numbers, float]:
    """Return the likeliest coverage of each crawl, and the share that lives on for a year.

    NaN stands where one of them is not known: the coverage of the first crawl, that of a crawl
    which shares nothing with any earlier one, and what cannot be told from survival.
    """
    coverage = np.full(recaptures.years.size, np.nan)
    if not recaptures.n_next.any():
        return coverage, math.nan
    likelihood = _Likelihood(recaptures)
    maximum = likelihood.find_maximum()
    is_known = maximum.at_limit | ~np.isnan(variances_at(maximum))
    logs = [
        _log_expit(logit) if known and maximum.has_converged else math.nan
        for logit, known in zip(maximum.point, is_known, strict=True)
    ]
    for crawl, number in enumerate(likelihood.coverage, start=1):
        if number != _UNUSED:
            coverage[crawl] = math.exp(logs[number])
    log_per_year = logs[0] / likelihood.unit_years if likelihood.has_survival else math.nan
    # Crawls may lie too close in time to tell their turnover.
    return coverage, math.exp(log_per_year) if log_per_year >= -MAX_LOG else math.nan


class _Likelihood:
    """The log-likelihood as a function of logits: of survival, and of the coverage of crawls.

    Survival is that over the mean interval, where it is neither near 0 nor near 1, whatever it is
    over a year. It has no parameter if no time passes at all; the coverage of a crawl has none if
    nothing is seen in it again, and is 0.
    """

    def __init__(self, recaptures: Recaptures) -> None:
        self._data = recaptures
        lengths = np.diff(recaptures.years)
        is_seen = recaptures.n_seen_before[1:] > 0
        self.has_survival = bool(np.any(lengths > 0))
        self.unit_years = float(np.mean(lengths[lengths > 0])) if self.has_survival else 1.0
        self._powers = lengths / self.unit_years
        self.coverage = np.where(is_seen, np.cumsum(is_seen) - 1 + self.has_survival, _UNUSED)
        self._n = int(self.has_survival + is_seen.sum())

    def find_maximum(self) -> Maximum:
        """Return the highest of the summits that are reached from a few places."""
        # The last crawl has no later one to tell what it missed.
        seen, missed = self._data.n_seen_before[1:-1].sum(), self._data.n_missed[1:-1].sum()
        share = (seen + 1) / (seen + missed + 2)
        summits = []
        for survival, factor in _STARTS:
            start = np.full(self._n, _logit(factor * share))
            if self.has_survival:
                start[0] = _logit(survival)
            n_observations = float(self._data.n_released.sum())
            summits.append(
                maximise(self.evaluate, start, n_observations=n_observations, limit=_MAX_LOGIT)
            )
        return max(summits, key=lambda summit: summit.value)

    def evaluate(self, logits: Numbers) -> Curve:
        """Return the log-likelihood with exact first and second derivatives."""
        data, n = self._data, self._n
        seen, missed = data.n_seen_before[1:], data.n_missed[1:]
        n_gone = data.n_released - data.n_seen_again
        value, gradient, hessian = 0.0, np.zeros(n), np.zeros((n, n))
        # For the last crawl nothing comes after: χ = 1 for certain.
        chi, d_chi, dd_chi = 1.0, np.zeros(n), np.zeros((n, n))
        for k in range(len(self._powers) - 1, -1, -1):
            # Number -1 is that of the last parameter too; whatever an unused one adds is 0.
            power, h = float(self._powers[k]), self.coverage[k]
            g = 0 if power > 0 else _UNUSED
            log_phi, log_phi_1, log_phi_2 = _log_power(float(logits[g]), power)
            log_p, log_q = -math.inf, 0.0
            if h != _UNUSED:
                log_p, log_q = _log_expit(float(logits[h])), _log_expit(-float(logits[h]))
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
        return float(value), gradient, hessian


def _log_power(logit: float, power: float) -> tuple[float, float, float]:
    """Return the logarithm of a share to some power, and its derivatives by the logit."""
    if power == 0:
        return 0.0, 0.0, 0.0
    log, log_rest = _log_expit(logit), _log_expit(-logit)
    return power * log, power * math.exp(log_rest), -power * math.exp(log + log_rest)


def _log_expit(logit: float) -> float:
    return -float(np.logaddexp(0.0, -logit))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


# ------------------------------------------------------------------------------- Jolly and Seber


def fit_jolly_seber(recaptures: Recaptures) -> tuple[Numbers, Numbers, Numbers]:
    """Return the coverage of each crawl, and for each interval the survival, also per year.

    The URLs that were known before crawl j and are still alive number M_j: those seen in it (m_j)
    and those missed. Of the missed, z_j are seen later, as many in proportion as r_j of the R_j
    released: ``M_j = m_j + R_j·z_j/r_j``. Hence coverage m_j/M_j and survival
    ``M_{j+1}/(M_j − m_j + R_j)``, which may come out above 1. NaN stands where a number is not
    known, as for the first and the last crawl.
    """
    seen, again = recaptures.n_seen_before, recaptures.n_seen_again
    released = recaptures.n_released
    is_first = np.arange(seen.size) == 0
    known = ~is_first & (seen > 0) & (again > 0)
    years = np.diff(recaptures.years)
    with np.errstate(invalid="ignore", divide="ignore"):
        marked = np.where(known, seen + released * recaptures.n_missed / again, np.nan)
        # At the first crawl nothing is known before, so that no URL is marked.
        marked[is_first] = 0.0
        survival = marked[1:] / (marked - seen + released)[:-1]
        log_per_year = np.log(survival) / years
        is_possible = (years > 0) & (np.abs(log_per_year) < MAX_LOG)
        coverage = np.where(known, seen / marked, np.nan)
    return coverage, survival, np.exp(np.where(is_possible, log_per_year, np.nan))


# -------------------------------------------------------------------------------- Manly and Parr


def fit_manly_parr(data: HistoryData) -> Numbers:
    """Return the coverage of each crawl among URLs that are known to be alive; NaN without any.

    A URL seen both before and after a crawl was alive at it, whatever the law of its survival. The
    share of such URLs that the crawl holds is its coverage, if all are captured alike.
    """
    n_known, n_held = count_known_alive(data)
    coverage = np.full(data.n_crawls, np.nan)
    np.divide(n_held, n_known, out=coverage, where=n_held > 0)
    return coverage


def fit_rested_manly_parr(data: HistoryData, *, rest: int = 1) -> Numbers:
    """Return coverage from the shares of the URLs captured of late, and of those that were not.

    It allows for a crawler that avoids, or prefers, what it fetched of late. URLs count as known
    alive at a crawl if they are seen before it, and again later than `rest` crawls after it, so
    that what happens at the crawl does not decide whether they are known. The captured ones of
    either kind, divided by the share that is captured, make the population.

    Parameters
    ----------
    data
        Capture histories.
    rest
        How many of the crawls just before count as of late.
    """
    coverage = np.full(data.n_crawls, np.nan)
    for crawl in range(rest + 1, data.n_crawls - rest - 1):
        now = data.captured[:, crawl]
        recent = np.any(data.captured[:, crawl - rest : crawl], axis=1)
        old = np.any(data.captured[:, : crawl - rest], axis=1) & ~recent
        returning = data.last > crawl + rest
        n_alive, n_held, n_all = (
            np.array([data.counts[kind].sum() for kind in kinds])
            for kinds in (
                (old & returning, recent & returning),
                (old & returning & now, recent & returning & now),
                (now & ~recent, now & recent),
            )
        )
        if n_held.all():
            coverage[crawl] = n_all.sum() / (n_all / (n_held / n_alive)).sum()
    return coverage
