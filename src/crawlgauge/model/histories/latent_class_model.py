"""The likelihood of capture histories under latent classes, and its gradient.

In one class the logarithm is a sum over all steps of all URLs, whatever history they belong to. The
single histories are needed only for how much more likely each is in one class than in the other.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.pairs import freeze_arrays

__all__ = [
    "ClassModel",
    "ClassParameters",
    "HistoryPaths",
    "Likelihood",
    "PathCounts",
    "StepChances",
    "history_paths",
    "step_chances",
    "thin_histories",
]


# --------------------------------------------------- the model of latent classes with trap response


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


# ------------------------------------ capture histories cut into steps from one capture to the next


_THINNING_SEED = 20131215
"""Any fixed number: the same histories give the same sample, and so the same estimates."""

_HALVINGS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PathCounts:
    """How many URLs took each step, in all or (by their chances) in each class.

    Parameters
    ----------
    steps
        URLs captured in crawl i and next in crawl k, the last two axes.
    firsts, lasts
        URLs first and last captured in each crawl, the last axis.
    """

    steps: NDArray[np.float64]
    firsts: NDArray[np.float64]
    lasts: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "steps", "firsts", "lasts")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoryPaths:
    """The histories that say something about recapture.

    They are those first captured before the last crawl, but for the URLs of crawls that share
    nothing with any other: such crawls are of another scope, and nobody can say what became of
    their URLs.

    Parameters
    ----------
    n_crawls
        Number of crawls.
    counts
        URLs with each history.
    first
        Crawl of the first capture of each history.
    parts
        Sparse matrix of zeros and ones, a row for each history: which steps, which first and
        which last capture it is made of.
    parts_transposed
        The same, a row for each part.
    """

    n_crawls: int
    counts: NDArray[np.float64]
    first: NDArray[np.int64]
    parts: Any
    parts_transposed: Any

    def __post_init__(self) -> None:
        freeze_arrays(self, "counts", "first")

    def sum_over(self, parts: PathCounts) -> NDArray[np.float64]:
        """Return the sum over its parts for each history, of values given in the form of counts."""
        values = np.concatenate([parts.steps.ravel(), parts.firsts, parts.lasts])
        total: NDArray[np.float64] = self.parts @ values
        return total

    def count(self, weights: NDArray[np.float64]) -> PathCounts:
        """Count the parts of all histories, each history with its weight."""
        n = self.n_crawls
        flat = self.parts_transposed @ weights
        return PathCounts(
            steps=flat[: n * n].reshape(n, n),
            firsts=flat[n * n : n * n + n],
            lasts=flat[n * n + n :],
        )


def history_paths(data: HistoryData) -> HistoryPaths:
    """Cut the histories into steps.

    Parameters
    ----------
    data
        The capture histories.
    """
    from scipy import sparse

    n = data.n_crawls
    linked = data.captured[data.captured.sum(axis=1) > 1].any(axis=0)
    tells = (data.captured & linked)[:, :-1].any(axis=1)
    captured = data.captured[tells]
    row, crawl = np.nonzero(captured)
    first = captured.argmax(axis=1)
    last = n - 1 - captured[:, ::-1].argmax(axis=1)
    goes_on = np.flatnonzero(row[1:] == row[:-1])
    every = np.arange(len(captured))
    rows = np.concatenate([row[goes_on], every, every])
    columns = np.concatenate(
        [crawl[goes_on] * n + crawl[goes_on + 1], n * n + first, n * n + n + last]
    )
    parts = sparse.csr_array(
        (np.ones(rows.size), (rows, columns)), shape=(len(captured), n * n + 2 * n)
    )
    return HistoryPaths(
        n_crawls=n,
        counts=data.counts[tells],
        first=first,
        parts=parts,
        parts_transposed=parts.T.tocsr(),
    )


def thin_histories(data: HistoryData, max_histories: int) -> HistoryData:
    """Draw a sample of the URLs that has about `max_histories` distinct histories at most.

    Each URL is kept with the same chance, so that the sample is to the histories what a smaller
    hash sample would have been. It is drawn with a fixed seed.

    Parameters
    ----------
    data
        The capture histories; returned as they are if they are few enough.
    max_histories
        Number of distinct histories that is expected to remain.
    """
    if data.counts.size <= max_histories:
        return data
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        if np.sum(1 - (1 - rate) ** data.counts) > max_histories:
            high = rate
        else:
            low = rate
    kept = np.random.default_rng(_THINNING_SEED).binomial(data.counts.astype(np.int64), low)
    some = kept > 0
    return replace(
        data,
        captured=data.captured[some],
        masks=data.masks[some],
        counts=kept[some].astype(np.float64),
        sample_rate=data.sample_rate * low,
    )


# ----------------------- the likelihood of capture histories under latent classes, and its gradient


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
