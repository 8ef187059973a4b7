"""The search for the best parameters: from several starts, each with a bounded number of steps.

The likelihood of two classes has several summits: rarely captured URLs may be the short-lived or
the long-lived ones, and a class may be small and far off or large and near. Every start is climbed
for a while; the highest point is then climbed to the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.latent_class.likelihood import Likelihood
from crawlgauge.model.latent_class.model import ClassModel
from crawlgauge.model.latent_class.paths import HistoryPaths
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Optimum", "maximise_one_class", "maximise_two_classes"]

_SCOUTING_STEPS = 200
_FINAL_STEPS = 500

_TOLERANCE = 1e-13
"""Relative to a mean log-likelihood of about 1: a thousandth of a unit at 10^10 URLs."""

_FIRST_HAZARD = 0.2
"""Deaths per mean interval to begin with: a half-life of some three crawls."""

_FIRST_TRAP = -0.1
"""Off zero, where the gradient of a symmetric start could vanish."""

_STARTS = (
    (1.0, 3.0, 0.0),
    (3.0, 3.0, 0.0),
    (-1.0, 3.0, 0.0),
    (1.5, 1.0, 0.0),
    (2.0, 1.0, 1.5),
    (0.2, 8.0, -1.0),
    (-3.0, 3.0, 2.0),
)
"""Gap of the log-odds of capture, ratio of the hazards, log-odds of the second class's share."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """The highest point found.

    Parameters
    ----------
    likelihood
        The histories and the model.
    theta
        The parameters there.
    log_likelihood
        Of all histories, given their first captures.
    """

    likelihood: Likelihood
    theta: NDArray[np.float64]
    log_likelihood: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "theta")

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * (self.likelihood.model.n_parameters - self.log_likelihood)


def maximise_one_class(model: ClassModel, paths: HistoryPaths) -> Optimum:
    """Fit a single class, for which one start suffices.

    Parameters
    ----------
    model
        A model of one class.
    paths
        The histories.
    """
    start = np.concatenate(
        [
            [np.log(_FIRST_HAZARD)],
            np.full(model.trap_lags, _FIRST_TRAP),
            np.zeros(model.n_crawls - 1),
        ]
    )
    return _climb(Likelihood.of(model, paths), start, _FINAL_STEPS)


def maximise_two_classes(model: ClassModel, one_class: Optimum) -> Optimum:
    """Fit two classes from several starts around the fit of one.

    Parameters
    ----------
    model
        A model of two classes, otherwise the same as that of `one_class`.
    one_class
        The fit of one class to the same histories.
    """
    likelihood = Likelihood.of(model, one_class.likelihood.paths)
    scouted = [
        _climb(likelihood, start, _SCOUTING_STEPS) for start in _list_starts(model, one_class.theta)
    ]
    highest = max(scouted, key=lambda optimum: optimum.log_likelihood)
    return _climb(likelihood, highest.theta, _FINAL_STEPS)


def _list_starts(
    model: ClassModel, one_class: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    low, high = np.array(model.bounds).T
    log_hazard, trap, level = np.split(one_class, [1, 1 + model.trap_lags])
    for gap, ratio, share in _STARTS:
        start = np.concatenate(
            [
                np.full(model.n_cohorts, share),
                log_hazard + np.array([-0.5, 0.5]) * np.log(ratio),
                [gap],
                trap,
                level + gap / 2,
            ]
        )
        yield np.clip(start, low, high)


def _climb(likelihood: Likelihood, start: NDArray[np.float64], max_steps: int) -> Optimum:
    from scipy import optimize

    result = optimize.minimize(
        likelihood.objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=likelihood.model.bounds,
        options={
            "maxiter": max_steps,
            "maxfun": 2 * max_steps,
            # As much memory as parameters: they are few, and steps then find ridges quickly.
            "maxcor": likelihood.model.n_parameters,
            "ftol": _TOLERANCE,
            "gtol": 1e-9,
        },
    )
    return Optimum(
        likelihood=likelihood,
        theta=result.x,
        log_likelihood=-float(result.fun) * float(likelihood.paths.counts.sum()),
    )
