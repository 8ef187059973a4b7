"""The likelihood of capture histories under latent classes, and its gradient.

In one class the logarithm is a sum over all steps of all URLs, whatever history they belong to. The
single histories are needed only for how much more likely each is in one class than in the other.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.latent_class.model import (
    ClassModel,
    ClassParameters,
    StepChances,
    step_chances,
)
from crawlgauge.model.latent_class.paths import HistoryPaths, PathCounts

__all__ = ["Likelihood"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likelihood:
    """The histories under a model.

    Parameters
    ----------
    model
        The model.
    paths
        The histories, cut into steps.
    totals
        The steps of all URLs together.
    """

    model: ClassModel
    paths: HistoryPaths
    totals: PathCounts

    @classmethod
    def of(cls, model: ClassModel, paths: HistoryPaths) -> Self:
        """Set up the likelihood of the histories under the model."""
        return cls(model=model, paths=paths, totals=paths.count(paths.counts))

    def log_likelihoods(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the chance of each history, given its first capture."""
        values = self._log_parts(theta)
        first = self.paths.sum_over(values[0])
        if self.model.n_classes == 1:
            return first
        return np.logaddexp(first, self.paths.sum_over(values[1]))

    def expected_counts(self, theta: NDArray[np.float64]) -> PathCounts:
        """Share out the URLs over the classes (first axis), each by the chances of its history."""
        return self._share_out(self._log_parts(theta))[1]

    def objective(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the mean negative log-likelihood of a URL and its gradient."""
        parameters = self.model.unpack(theta)
        chances = step_chances(self.model, parameters)
        log_likelihood, counts = self._share_out(_log_parts(self.model, parameters, chances))
        gradient = _gradient(self.model, parameters, chances, counts)
        n_urls = self.paths.counts.sum()
        return -log_likelihood / n_urls, -gradient / n_urls

    def _log_parts(self, theta: NDArray[np.float64]) -> tuple[PathCounts, ...]:
        parameters = self.model.unpack(theta)
        return _log_parts(self.model, parameters, step_chances(self.model, parameters))

    def _share_out(self, values: tuple[PathCounts, ...]) -> tuple[float, PathCounts]:
        from scipy.special import expit

        log_likelihood = _dot(self.totals, values[0])
        if len(values) == 1:
            return log_likelihood, _stack(self.totals)
        log_ratio = self.paths.sum_over(_difference(values[1], values[0]))
        # Not a dot product: its threads wait for each other where the machine is busy.
        log_likelihood += float(np.sum(self.paths.counts * np.logaddexp(0.0, log_ratio)))
        second = self.paths.count(self.paths.counts * expit(log_ratio))
        return log_likelihood, _stack(_difference(self.totals, second), second)


def _log_parts(
    model: ClassModel, parameters: ClassParameters, chances: StepChances
) -> tuple[PathCounts, ...]:
    log_never = np.log(chances.never)
    return tuple(
        PathCounts(
            steps=chances.log_step[g],
            firsts=parameters.log_shares[model.cohorts, g],
            lasts=log_never[g],
        )
        for g in range(model.n_classes)
    )


def _gradient(
    model: ClassModel, parameters: ClassParameters, chances: StepChances, counts: PathCounts
) -> NDArray[np.float64]:
    """Differentiate the log-likelihood; by Fisher's identity with the classes taken as known."""
    intervals = np.concatenate([[0.0], model.intervals])
    per_never = (counts.lasts / chances.never)[:, :, None]
    ends = counts.steps + per_never * chances.death
    # URLs that came past crawl k alive and uncaptured: those whose step or life ends later.
    beyond = np.cumsum(ends[:, :, ::-1], axis=2)[:, :, ::-1] - ends
    passing = np.triu(beyond + per_never * chances.unseen[:, :, -1:], k=1)
    log_odds = counts.steps * (1 - chances.capture) - passing * chances.capture
    survived = np.exp(-parameters.hazards[:, None] * intervals)
    # Those that die before crawl k had lived until then: what the chance of it loses by survival.
    at_risk = np.zeros_like(chances.unseen)
    at_risk[:, :, 1:] = per_never * chances.unseen[:, :, :-1]
    survival = (counts.steps + passing).sum(axis=1) - np.triu(at_risk, k=1).sum(axis=1) * survived
    hazard = -parameters.hazards * (survival @ intervals)
    trap = [log_odds[:, model.states == s].sum() for s in range(1, model.trap_lags + 1)]
    return np.concatenate(
        [
            _share_gradient(model, parameters, counts.firsts),
            hazard,
            -log_odds[1:].sum(axis=(1, 2)),
            trap,
            log_odds.sum(axis=(0, 1))[1:],
        ]
    )


def _share_gradient(
    model: ClassModel, parameters: ClassParameters, firsts: NDArray[np.float64]
) -> NDArray[np.float64]:
    if model.n_classes == 1:
        return np.empty(0)
    found = np.array([np.bincount(model.cohorts, first) for first in firsts])
    gradient: NDArray[np.float64] = found[1] - found.sum(axis=0) * np.exp(
        parameters.log_shares[:, 1]
    )
    return gradient


def _dot(counts: PathCounts, values: PathCounts) -> float:
    return float(
        np.vdot(counts.steps, values.steps)
        + counts.firsts @ values.firsts
        + counts.lasts @ values.lasts
    )


def _difference(a: PathCounts, b: PathCounts) -> PathCounts:
    return PathCounts(steps=a.steps - b.steps, firsts=a.firsts - b.firsts, lasts=a.lasts - b.lasts)


def _stack(*counts: PathCounts) -> PathCounts:
    return PathCounts(
        steps=np.stack([count.steps for count in counts]),
        firsts=np.stack([count.firsts for count in counts]),
        lasts=np.stack([count.lasts for count in counts]),
    )
