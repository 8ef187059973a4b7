"""The likelihood of Cormack, Jolly and Seber, with exact first and second derivatives.

Given that a URL was captured, what happens to it later depends on the survival φ over each
interval and on the coverage p of each later crawl alone. With χ_i the probability that a URL of
crawl i is never seen again, ``χ_i = 1 − φ_i·(1 − (1 − p_{i+1})·χ_{i+1})`` and

    ln L = Σ_j (m_j·ln p_j + z_j·ln(1 − p_j)) + Σ_i (m_{i+1} + z_{i+1})·ln φ_i + Σ_i u_i·ln χ_i

with m the URLs seen before, z those missed and u those never seen again. An evaluation therefore
costs the same for a hundred URLs and for a billion.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.open_population.cjs_parameters import UNUSED, CjsParameters
from crawlgauge.model.open_population.newton import Curve
from crawlgauge.model.open_population.recaptures import Recaptures

__all__ = ["CjsLikelihood"]


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
