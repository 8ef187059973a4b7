"""The model of latent classes with trap response: its parameters, and the chances of each step.

A URL of class g that lives at crawl j and was last captured s crawls ago is captured with the
probability whose log-odds are ``level_j − gap_g + trap_s``; trap_s is 0 for URLs not captured in
the last K crawls. Between crawls it lives on with ``exp(−hazard_g · interval)``. Given its first
capture, the chance of a history is the mean over the classes of the product over its steps
(Cormack 1964, Jolly 1965, Seber 1965; the classes: Pledger, Pollock & Norris 2003). What share of
the URLs first captured belongs to which class is free for the first crawl, whose URLs are the
standing stock, for the second, and for all later ones together, which are mostly newborn.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = ["ClassModel", "ClassParameters", "StepChances", "step_chances"]

_MAX_COHORTS = 3

_SHARE_BOUNDS = (-6.0, 6.0)
"""Log-odds of a quarter of a per cent: a smaller class would be rejected."""
_HAZARD_BOUNDS = (-12.0, 2.0)
"""Logarithm of the deaths per mean interval between crawls: from next to none to all but 0.06 %."""
_GAP_BOUNDS = (-8.0, 8.0)
_TRAP_BOUNDS = (-12.0, 12.0)
_LEVEL_BOUNDS = (-12.0, 12.0)
"""Log-odds so wide that certain capture and perfect avoidance fit, and none overflows."""

_SMALLEST = 1e-300
"""Stands for chances that underflow, so that their logarithms stay finite."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassParameters:
    """The parameters in their natural form.

    Parameters
    ----------
    log_shares
        Logarithm of the share of each class (columns) among the URLs of each cohort of first
        capture (rows).
    hazards
        For each class, deaths per unit of time.
    gaps
        For each class, how far its log-odds of capture lie below those of the first class.
    traps
        Change of the log-odds by the number of crawls since the last capture; 0 at number 0, which
        stands for all that lie longer ago.
    levels
        For each crawl, log-odds of capture in the first class; 0 for the first crawl, where it
        plays no part.
    """

    log_shares: NDArray[np.float64]
    hazards: NDArray[np.float64]
    gaps: NDArray[np.float64]
    traps: NDArray[np.float64]
    levels: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_shares", "hazards", "gaps", "traps", "levels")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassModel:
    """One or two classes and a number of trap lags; knows the order of its parameters.

    Parameters
    ----------
    n_classes
        1 or 2.
    trap_lags
        For how many crawls a capture changes the chance of the next.
    intervals
        Time from each crawl to the next; the unit is the mean interval.
    """

    n_classes: int
    trap_lags: int
    intervals: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "intervals")

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.intervals.size + 1

    @property
    def n_cohorts(self) -> int:
        """Number of cohorts of first capture with class shares of their own."""
        return min(_MAX_COHORTS, self.n_crawls - 1) if self.n_classes > 1 else 1

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of the parameters, in their order."""
        n_others = self.n_classes - 1
        return [
            *[_SHARE_BOUNDS] * (self.n_cohorts * n_others),
            *[_HAZARD_BOUNDS] * self.n_classes,
            *[_GAP_BOUNDS] * n_others,
            *[_TRAP_BOUNDS] * self.trap_lags,
            *[_LEVEL_BOUNDS] * (self.n_crawls - 1),
        ]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return len(self.bounds)

    @property
    def cohorts(self) -> NDArray[np.int64]:
        """Cohort of the URLs first captured in each crawl."""
        return np.minimum(np.arange(self.n_crawls), self.n_cohorts - 1)

    @property
    def states(self) -> NDArray[np.int64]:
        """Trap state in crawl k (columns) of what was last captured in crawl i (rows)."""
        lag = np.arange(self.n_crawls) - np.arange(self.n_crawls)[:, None]
        return np.where((lag >= 1) & (lag <= self.trap_lags), lag, 0)

    def unpack(self, theta: NDArray[np.float64]) -> ClassParameters:
        """Give the parameters their natural form: log-odds, logarithms and differences undone."""
        from scipy.special import log_expit

        n_shares = self.n_cohorts * (self.n_classes - 1)
        share, hazard, gap, trap, level = np.split(
            theta,
            np.cumsum([n_shares, self.n_classes, self.n_classes - 1, self.trap_lags]),
        )
        log_shares = np.column_stack([log_expit(-share), log_expit(share)])
        return ClassParameters(
            log_shares=log_shares if self.n_classes > 1 else np.zeros((1, 1)),
            hazards=np.exp(hazard),
            gaps=np.concatenate([[0.0], gap]),
            traps=np.concatenate([[0.0], trap]),
            levels=np.concatenate([[0.0], level]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepChances:
    """What can happen to a URL of each class (first axis) after a capture in crawl i (second).

    Parameters
    ----------
    capture
        Chance of capture in crawl k, if it lives then and was not captured in between.
    log_step
        Logarithm of the chance that the next capture is in crawl k; 0 unless k is later.
    unseen
        Chance to live at crawl k, not captured since; counted after crawl k.
    death
        Chance to die just before crawl k, not captured since.
    never
        Chance never to be captured again.
    """

    capture: NDArray[np.float64]
    log_step: NDArray[np.float64]
    unseen: NDArray[np.float64]
    death: NDArray[np.float64]
    never: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "capture", "log_step", "unseen", "death", "never")


def step_chances(model: ClassModel, parameters: ClassParameters) -> StepChances:
    """Work out the chances of all steps.

    Parameters
    ----------
    model
        The model.
    parameters
        Its parameters.
    """
    from scipy.special import expit, log_expit

    n = model.n_crawls
    later = np.triu(np.ones((n, n), dtype=np.bool_), k=1)
    log_odds = (
        parameters.levels - parameters.gaps[:, None, None] + parameters.traps[model.states][None]
    )
    survival = -parameters.hazards[:, None, None] * np.concatenate([[0.0], model.intervals])
    passed = np.where(later, survival + log_expit(-log_odds), 0.0)
    until = np.cumsum(passed, axis=2)
    before = until - passed
    unseen = np.where(later | np.eye(n, dtype=np.bool_), np.exp(until), 0.0)
    death = np.where(later, np.exp(before) * -np.expm1(survival), 0.0)
    return StepChances(
        capture=expit(log_odds),
        log_step=np.where(later, before + survival + log_expit(log_odds), 0.0),
        unseen=unseen,
        death=death,
        # A sum of positive terms, so that it keeps its digits however small it is.
        never=np.maximum(death.sum(axis=2) + unseen[:, :, -1], _SMALLEST),
    )
