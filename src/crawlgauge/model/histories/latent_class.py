"""Latent classes of URLs, with trap response: uneven capture and lifetimes seen in the histories.

URLs fall into at most two classes that differ in how likely they are captured and how long they
live, and a capture may make the next one less or more likely for a few crawls. Fits of one and of
two classes are compared by Akaike's criterion, after those that lean on an invisible class are
rejected.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.pairs import Flags, Integers, Numbers

# ---------------------------------- capture histories cut into steps from one capture to the next


_THINNING_SEED = 20131215
"""Any fixed number: the same histories give the same sample, and so the same estimates."""

_HALVINGS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoryPaths:
    """The histories that say something about recapture, and the parts that each is made of.

    They are those first captured before the last crawl, but for the URLs of crawls that share
    nothing with any other: such crawls are of another scope, and nobody can say what became of
    their URLs. The parts are the steps from a capture in crawl i to the next in crawl k, then the
    first capture in each crawl, and then the last.

    Parameters
    ----------
    n_crawls
        Number of crawls.
    counts
        URLs with each history.
    first
        Crawl of the first capture of each history.
    parts
        Sparse matrix of zeros and ones: a row for each history, a column for each part.
    parts_transposed
        The same, a row for each part.
    totals
        URLs with each part.
    """

    n_crawls: int
    counts: Numbers
    first: Integers
    parts: Any
    parts_transposed: Any
    totals: Numbers

    def split(self, parts: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return what belongs to steps (a matrix), first and last captures, of the last axis."""
        n = self.n_crawls
        steps, firsts, lasts = np.split(parts, [n * n, n * n + n], axis=-1)
        return steps.reshape(*parts.shape[:-1], n, n), firsts, lasts

    def has_recaptures(self) -> Flags:
        """Tell for each crawl whether it holds enough URLs of earlier crawls to know its coverage.

        The first crawl never does; nor do those that follow it within the trap lags if the crawler
        never returns so soon; nor does a crawl that shares nothing with the earlier ones.
        """
        enough: Flags = self.split(self.totals)[0].sum(axis=0) >= _FEWEST_RECAPTURES
        return enough


def history_paths(data: HistoryData) -> HistoryPaths:
    """Cut the histories into steps."""
    from scipy import sparse

    n = data.n_crawls
    linked = data.captured[data.captured.sum(axis=1) > 1].any(axis=0)
    tells = (data.captured & linked)[:, :-1].any(axis=1)
    row, crawl = np.nonzero(data.captured[tells])
    first, last, counts = data.first[tells], data.last[tells], data.counts[tells]
    goes_on = np.flatnonzero(row[1:] == row[:-1])
    every = np.arange(counts.size)
    rows = np.concatenate([row[goes_on], every, every])
    columns = np.concatenate(
        [crawl[goes_on] * n + crawl[goes_on + 1], n * n + first, n * n + n + last]
    )
    parts = sparse.csr_array(
        (np.ones(rows.size), (rows, columns)), shape=(counts.size, n * n + 2 * n)
    )
    transposed = parts.T.tocsr()
    return HistoryPaths(
        n_crawls=n,
        counts=counts,
        first=first,
        parts=parts,
        parts_transposed=transposed,
        totals=transposed @ counts,
    )


def thin_histories(data: HistoryData, max_histories: int) -> HistoryData:
    """Draw a sample of the URLs that has about `max_histories` distinct histories at most.

    Each URL is kept with the same chance, so that the sample is to the histories what a smaller
    hash sample would have been. It is drawn with a fixed seed.
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


# ------------------------------------------------------------------ the model and its likelihood


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

    log_shares: Numbers
    hazards: Numbers
    gaps: Numbers
    traps: Numbers
    levels: Numbers


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

    capture: Numbers
    log_step: Numbers
    unseen: Numbers
    death: Numbers
    never: Numbers


class ClassLikelihood:
    """Histories under a model of one or two classes and a number of trap lags.

    In one class the log-likelihood is a sum over all steps of all URLs, whatever history they
    belong to. The single histories are needed only for how much more likely each is in one class
    than in the other.

    Parameters
    ----------
    paths
        The histories.
    intervals
        Time from each crawl to the next; the unit is the mean interval.
    n_classes
        1 or 2.
    trap_lags
        For how many crawls a capture changes the chance of the next.
    """

    def __init__(
        self, paths: HistoryPaths, intervals: Numbers, *, n_classes: int, trap_lags: int
    ) -> None:
        n_others = n_classes - 1
        self.paths = paths
        self.n_classes, self.trap_lags = n_classes, trap_lags
        self.n_cohorts = min(_MAX_COHORTS, intervals.size) if n_others else 1
        self.bounds = [
            *[_SHARE_BOUNDS] * (self.n_cohorts * n_others),
            *[_HAZARD_BOUNDS] * n_classes,
            *[_GAP_BOUNDS] * n_others,
            *[_TRAP_BOUNDS] * trap_lags,
            *[_LEVEL_BOUNDS] * intervals.size,
        ]
        crawl = np.arange(intervals.size + 1)
        lag = crawl - crawl[:, None]
        # Trap state in crawl k (columns) of what was last captured in crawl i (rows).
        self.states = np.where((lag >= 1) & (lag <= trap_lags), lag, 0)
        self._cohorts = np.minimum(crawl, self.n_cohorts - 1)
        self._intervals = np.concatenate([[0.0], intervals])

    def unpack(self, theta: Numbers) -> ClassParameters:
        """Give the parameters their natural form: log-odds, logarithms and differences undone."""
        from scipy.special import log_expit

        n_others = self.n_classes - 1
        share, hazard, gap, trap, level = np.split(
            theta, np.cumsum([self.n_cohorts * n_others, self.n_classes, n_others, self.trap_lags])
        )
        log_shares = np.column_stack([log_expit(-share), log_expit(share)])
        return ClassParameters(
            log_shares=log_shares if n_others else np.zeros((1, 1)),
            hazards=np.exp(hazard),
            gaps=np.concatenate([[0.0], gap]),
            traps=np.concatenate([[0.0], trap]),
            levels=np.concatenate([[0.0], level]),
        )

    def step_chances(self, parameters: ClassParameters) -> StepChances:
        """Work out the chances of all steps."""
        from scipy.special import expit, log_expit

        n = self.paths.n_crawls
        later = np.triu(np.ones((n, n), dtype=np.bool_), k=1)
        log_odds = (
            parameters.levels - parameters.gaps[:, None, None] + parameters.traps[self.states][None]
        )
        survival = -parameters.hazards[:, None, None] * self._intervals
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

    def log_likelihoods(self, theta: Numbers) -> Numbers:
        """Return the logarithm of the chance of each history, given its first capture."""
        parameters = self.unpack(theta)
        logs = self._log_parts(parameters, self.step_chances(parameters))
        of_classes = [self.paths.parts @ of_class for of_class in logs]
        either: Numbers = np.logaddexp.reduce(of_classes)
        return either

    def share_out(self, parameters: ClassParameters, chances: StepChances) -> tuple[float, Numbers]:
        """Return the log-likelihood, and the parts of all URLs by class (first axis).

        The URLs of each history are shared out over the classes by the chances of the history.
        """
        paths = self.paths
        logs = self._log_parts(parameters, chances)
        pairs = zip(paths.split(paths.totals), paths.split(logs[0]), strict=True)
        log_likelihood = float(sum(np.vdot(n_urls, log) for n_urls, log in pairs))
        if self.n_classes == 1:
            return log_likelihood, paths.totals[None]
        log_ratio = paths.parts @ (logs[1] - logs[0])
        # One exponential for both, as there are many: ln(1 + e^x), and e^x over (1 + e^x).
        smaller = np.exp(-np.abs(log_ratio))
        either = np.maximum(log_ratio, 0.0) + np.log1p(smaller)
        share = np.where(log_ratio > 0, 1.0, smaller) / (1 + smaller)
        # Not a dot product: its threads wait for each other where the machine is busy.
        log_likelihood += float(np.sum(paths.counts * either))
        second = paths.parts_transposed @ (paths.counts * share)
        return log_likelihood, np.stack([paths.totals - second, second])

    def _log_parts(self, parameters: ClassParameters, chances: StepChances) -> Numbers:
        """Return the logarithm of the chance of each part (columns) in each class (rows)."""
        return np.hstack(
            [
                chances.log_step.reshape(self.n_classes, -1),
                parameters.log_shares[self._cohorts].T,
                np.log(chances.never),
            ]
        )

    def objective(self, theta: Numbers) -> tuple[float, Numbers]:
        """Return the mean negative log-likelihood of a URL and its gradient."""
        parameters = self.unpack(theta)
        chances = self.step_chances(parameters)
        log_likelihood, parts = self.share_out(parameters, chances)
        n_urls = self.paths.counts.sum()
        return -log_likelihood / n_urls, -self._gradient(parameters, chances, parts) / n_urls

    def _gradient(
        self, parameters: ClassParameters, chances: StepChances, parts: Numbers
    ) -> Numbers:
        """Differentiate the log-likelihood; by Fisher's identity with the classes as known."""
        steps, firsts, lasts = self.paths.split(parts)
        per_never = (lasts / chances.never)[:, :, None]
        ends = steps + per_never * chances.death
        # URLs that came past crawl k alive and uncaptured: those whose step or life ends later.
        beyond = np.cumsum(ends[:, :, ::-1], axis=2)[:, :, ::-1] - ends
        passing = np.triu(beyond + per_never * chances.unseen[:, :, -1:], k=1)
        log_odds = steps * (1 - chances.capture) - passing * chances.capture
        survived = np.exp(-parameters.hazards[:, None] * self._intervals)
        # Those that die before crawl k had lived until then: what its chance loses by survival.
        at_risk = np.zeros_like(chances.unseen)
        at_risk[:, :, 1:] = per_never * chances.unseen[:, :, :-1]
        survival = (steps + passing).sum(axis=1) - np.triu(at_risk, k=1).sum(axis=1) * survived
        share = np.empty(0)
        if self.n_classes > 1:
            found = np.array([np.bincount(self._cohorts, first) for first in firsts])
            share = found[1] - found.sum(axis=0) * np.exp(parameters.log_shares[:, 1])
        return np.concatenate(
            [
                share,
                -parameters.hazards * (survival @ self._intervals),
                -log_odds[1:].sum(axis=(1, 2)),
                [log_odds[:, self.states == lag].sum() for lag in range(1, self.trap_lags + 1)],
                log_odds.sum(axis=(0, 1))[1:],
            ]
        )


# ------------------------------------------------------------- the search for the best parameters


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
    """The highest point found: the parameters, and the log-likelihood given first captures."""

    likelihood: ClassLikelihood
    theta: Numbers
    log_likelihood: float

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * (self.theta.size - self.log_likelihood)

    def captures(self) -> Numbers:
        """Return the chance of capture of each class (rows) in the crawls of known coverage."""
        from scipy.special import expit

        parameters = self.likelihood.unpack(self.theta)
        log_odds = parameters.levels - parameters.gaps[:, None]
        captures: Numbers = expit(log_odds)[:, self.likelihood.paths.has_recaptures()]
        return captures


def _maximise_one_class(likelihood: ClassLikelihood) -> Optimum:
    """Fit a single class, for which one start suffices."""
    start = np.concatenate(
        [
            [np.log(_FIRST_HAZARD)],
            np.full(likelihood.trap_lags, _FIRST_TRAP),
            np.zeros(likelihood.paths.n_crawls - 1),
        ]
    )
    return _climb(likelihood, start, _FINAL_STEPS)


def _maximise_two_classes(likelihood: ClassLikelihood, one_class: Optimum) -> Optimum:
    """Fit two classes from several starts around the fit of one."""
    scouted = [
        _climb(likelihood, start, _SCOUTING_STEPS) for start in _list_starts(likelihood, one_class)
    ]
    highest = max(scouted, key=lambda optimum: optimum.log_likelihood)
    return _climb(likelihood, highest.theta, _FINAL_STEPS)


def _list_starts(likelihood: ClassLikelihood, one_class: Optimum) -> Iterator[Numbers]:
    low, high = np.array(likelihood.bounds).T
    log_hazard, trap, level = np.split(one_class.theta, [1, 1 + likelihood.trap_lags])
    for gap, ratio, share in _STARTS:
        start = np.concatenate(
            [
                np.full(likelihood.n_cohorts, share),
                log_hazard + np.array([-0.5, 0.5]) * np.log(ratio),
                [gap],
                trap,
                level + gap / 2,
            ]
        )
        yield np.clip(start, low, high)


def _climb(likelihood: ClassLikelihood, start: Numbers, max_steps: int) -> Optimum:
    from scipy import optimize

    result = optimize.minimize(
        likelihood.objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=likelihood.bounds,
        options={
            "maxiter": max_steps,
            "maxfun": 2 * max_steps,
            # As much memory as parameters: they are few, and steps then find ridges quickly.
            "maxcor": start.size,
            "ftol": _TOLERANCE,
            "gtol": 1e-9,
        },
    )
    return Optimum(
        likelihood=likelihood,
        theta=result.x,
        log_likelihood=-float(result.fun) * float(likelihood.paths.counts.sum()),
    )


# --------------------------------------------------------------- what a fit says, if it is believed


_FEWEST_CRAWLS = 5
_CRAWLS_BEYOND_LAGS = 4
"""Fewer leave too little beside the crawls that the trap response hides."""

_MAX_HISTORIES = 100_000
"""Distinct histories that are fitted in seconds; more are sampled."""

_FEWEST_RECAPTURES = 10
"""With fewer URLs seen before, a crawl's coverage is a guess: its relative error is a third."""

_RAREST_CAPTURE = 0.01
_SMALLEST_SHARE = 0.01
_SMALLEST_RATIO = 0.015
"""Chosen by hand: a class beyond any of them has too few recaptures to say how large it is."""

_FEWEST_EXPECTED = 5
"""The usual limit for cells of a test of fit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatentClassFit:
    """The classes found, and the coverage of each crawl that follows from them.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN where it is not identifiable.
    trap_lags
        For how many crawls a capture changes the chance of the next.
    n_classes
        1 or 2.
    log_persistence
        Logarithm of the share of living URLs that live on for a year.
    rmsea
        Root mean square error of approximation of the histories given their first captures.
    """

    log_coverage: Numbers
    trap_lags: int
    n_classes: int = 1
    log_persistence: float = math.nan
    rmsea: float = math.inf


def fit_latent_class(data: HistoryData, *, trap_lags: int) -> LatentClassFit:
    """Fit one and two classes and return the better one that can be believed.

    The work is bounded: a fixed number of starts and steps, over 100,000 distinct histories at
    most. Where there are more, the fit is to a random sample of the URLs, drawn with a fixed seed.

    Parameters
    ----------
    data
        The capture histories.
    trap_lags
        For how many crawls a capture changes the chance of the next: 0 to 5.

    Returns
    -------
    LatentClassFit
        Its coverage is NaN with fewer than five crawls, with fewer than four beyond the trap lags,
        if all crawls are of the same date, if no crawl but the first and last shares enough with
        the earlier ones, or if hardly any URL is captured again after the trap lags.
    """
    n = data.n_crawls
    unknown = LatentClassFit(log_coverage=np.full(n, np.nan), trap_lags=trap_lags)
    if n < max(_FEWEST_CRAWLS, trap_lags + _CRAWLS_BEYOND_LAGS) or np.ptp(data.years) <= 0:
        return unknown
    sample = thin_histories(data, _MAX_HISTORIES)
    paths = history_paths(sample)
    if not is_identifiable(paths, trap_lags):
        return unknown
    intervals = np.diff(sample.years)
    unit_years = float(intervals.mean())
    of_one, of_two = (
        ClassLikelihood(paths, intervals / unit_years, n_classes=n_classes, trap_lags=trap_lags)
        for n_classes in (1, 2)
    )
    one = _maximise_one_class(of_one)
    two = _maximise_two_classes(of_two, one)
    chosen = two if is_believable(two) and two.aic < one.aic else one
    return _describe(chosen, sample, unit_years)


def is_identifiable(paths: HistoryPaths, trap_lags: int) -> bool:
    """Tell whether the histories hold what the classes and the trap response are estimated from.

    A crawl between the first and the last must have recaptures, and some URLs must be captured
    again after the trap lags: otherwise, as when every living URL is captured every time, one
    cannot know how likely a capture is without trap response.
    """
    after_lags = np.triu(paths.split(paths.totals)[0], k=trap_lags + 1).sum()
    return bool(paths.has_recaptures()[1:-1].any() and after_lags >= _FEWEST_RECAPTURES)


def is_believable(optimum: Optimum) -> bool:
    """Tell whether both of two classes are large enough, and captured often enough."""
    captures = optimum.captures()
    log_shares = optimum.likelihood.unpack(optimum.theta).log_shares
    # In its worst crawl: few URLs make fits in which a class vanishes at times.
    ratio = float((captures.min(axis=0) / captures.max(axis=0)).min())
    return (
        float(captures.mean(axis=1).min()) >= _RAREST_CAPTURE
        and float(np.exp(log_shares).mean(axis=0).min()) >= _SMALLEST_SHARE
        and ratio >= _SMALLEST_RATIO
    )


def _describe(optimum: Optimum, data: HistoryData, unit_years: float) -> LatentClassFit:
    likelihood = optimum.likelihood
    # The class that is captured more often comes first.
    order = np.argsort(-optimum.captures().mean(axis=1))
    known = likelihood.paths.has_recaptures()
    living = _count_living(optimum, data)[order][:, known]
    log_coverage = np.full(data.n_crawls, np.nan)
    log_coverage[known] = np.log(data.sizes[known] / living.sum(axis=0))
    shares = (living / living.sum(axis=0)).mean(axis=1)
    log_persistence = -likelihood.unpack(optimum.theta).hazards[order] / unit_years
    return LatentClassFit(
        n_classes=likelihood.n_classes,
        trap_lags=likelihood.trap_lags,
        log_coverage=log_coverage,
        log_persistence=float(np.logaddexp.reduce(np.log(shares) + log_persistence)),
        rmsea=_error_of_approximation(optimum),
    )


def _count_living(optimum: Optimum, data: HistoryData) -> Numbers:
    """Estimate the living URLs of each class (rows) at each crawl (columns) but the first.

    URLs that were not captured lately stand each for as many as one over their chance of capture.
    Of those captured lately, one knows how many there were, and how many of them live on: this
    works even if they are never captured again so soon.
    """
    likelihood = optimum.likelihood
    parameters = likelihood.unpack(optimum.theta)
    chances = likelihood.step_chances(parameters)
    steps, firsts, lasts = likelihood.paths.split(likelihood.share_out(parameters, chances)[1])
    # URLs first captured in the last crawl, in the shares of the latest cohort.
    n_newest = data.counts[data.first == data.n_crawls - 1].sum()
    firsts = firsts.copy()
    firsts[:, -1] += n_newest * np.exp(parameters.log_shares[-1])
    not_lately = np.where(likelihood.states == 0, steps, 0.0).sum(axis=1) + firsts
    lately = np.zeros_like(lasts)
    for crawl in range(1, data.n_crawls):
        for last in range(crawl - 1, max(crawl - likelihood.trap_lags, 0) - 1, -1):
            stock = steps[:, last, crawl:].sum(axis=1) + lasts[:, last]
            died = chances.death[:, last, : crawl + 1].sum(axis=1)
            alive = chances.unseen[:, last, crawl - 1] - chances.death[:, last, crawl]
            lately[:, crawl] += stock * alive / (alive + died)
    per_capture = 1 + np.exp(parameters.gaps[:, None] - parameters.levels)
    living: Numbers = not_lately * per_capture + lately
    return living


def _error_of_approximation(optimum: Optimum) -> float:
    """Return the root mean square error of approximation over histories given first capture.

    It is ``√max(0, (G²/df − 1)/n)`` (Steiger & Lind 1980): lack of fit by degree of freedom, freed
    of what the number of URLs adds to it. Histories of few expected URLs are pooled for each first
    capture; as cells of their own they would make it too high even for the true model.
    """
    paths = optimum.likelihood.paths
    released = np.bincount(paths.first, paths.counts, minlength=paths.n_crawls)
    expected = released[paths.first] * np.exp(optimum.likelihood.log_likelihoods(optimum.theta))
    alone = expected >= _FEWEST_EXPECTED
    # What is expected of histories that do not occur is part of the rest too.
    rest = released - np.bincount(paths.first[alone], expected[alone], minlength=released.size)
    rest_found = np.bincount(paths.first[~alone], paths.counts[~alone], minlength=released.size)
    pooled = rest >= _FEWEST_EXPECTED
    found = np.concatenate([paths.counts[alone], rest_found[pooled]])
    hoped = np.concatenate([expected[alone], rest[pooled]])
    ratio = np.where(found > 0, found, 1.0) / hoped
    deviance = 2 * float(np.sum(found * np.log(ratio) - found + hoped))
    n_freedom = int(found.size - np.count_nonzero(released) - optimum.theta.size)
    n_urls = float(paths.counts.sum())
    return float(np.sqrt(max(0.0, (deviance / max(n_freedom, 1) - 1) / n_urls)))
