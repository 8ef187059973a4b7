"""Latent classes of URLs, with trap response: uneven capture and lifetimes seen in the histories.

URLs fall into at most two classes that differ in how likely they are captured and how long they
live, and a capture may make the next one less or more likely for a few crawls. Fits of one and of
two classes are compared by Akaike's criterion, after those that lean on an invisible class are
rejected.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import EstimatorRow
from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.latent_class_model import (
    ClassModel,
    ClassParameters,
    HistoryPaths,
    Likelihood,
    PathCounts,
    StepChances,
    history_paths,
    step_chances,
    thin_histories,
)
from crawlgauge.model.pairs import freeze_arrays

__all__ = [
    "LatentClassFit",
    "Optimum",
    "fit_latent_class",
    "has_recaptures",
    "is_identifiable",
    "latent_class_row",
    "mean_captures",
    "why_rejected",
]


# --------------------------------------------------------------- the search for the best parameters


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


# --------------------------------------------- from fitted classes to the living URLs of each crawl


_FEWEST_RECAPTURES = 10
"""With fewer URLs seen before, a crawl's coverage is a guess: its relative error is a third."""


def has_recaptures(totals: PathCounts) -> NDArray[np.bool_]:
    """Tell for each crawl whether it holds enough URLs of earlier crawls to know its coverage.

    The first crawl never does; nor do those that follow it within the trap lags if the crawler
    never returns so soon; nor does a crawl that shares nothing with the earlier ones.

    Parameters
    ----------
    totals
        The steps of all URLs.
    """
    enough: NDArray[np.bool_] = totals.steps.sum(axis=0) >= _FEWEST_RECAPTURES
    return enough


def is_identifiable(paths: HistoryPaths, trap_lags: int) -> bool:
    """Tell whether the histories hold what the classes and the trap response are estimated from.

    A crawl between the first and the last must have recaptures, and some URLs must be captured
    again after the trap lags: otherwise, as when every living URL is captured every time, one
    cannot know how likely a capture is without trap response.

    Parameters
    ----------
    paths
        The histories.
    trap_lags
        For how many crawls a capture changes the chance of the next.
    """
    totals = paths.count(paths.counts)
    after_lags = np.triu(totals.steps, k=trap_lags + 1).sum()
    return bool(has_recaptures(totals)[1:-1].any() and after_lags >= _FEWEST_RECAPTURES)


def count_living(optimum: Optimum, data: HistoryData) -> NDArray[np.float64]:
    """Estimate the living URLs of each class (rows) at each crawl (columns).

    URLs that were not captured lately stand each for as many as one over their chance of capture.
    Of those captured lately, one knows how many there were, and how many of them live on: this
    works even if they are never captured again so soon. Nothing is said of the first crawl, where
    chances of capture are unknown; its numbers are NaN.

    Parameters
    ----------
    optimum
        The fit.
    data
        The histories it was fitted to.
    """
    model = optimum.likelihood.model
    parameters = model.unpack(optimum.theta)
    chances = step_chances(model, parameters)
    counts = _with_newest(optimum.likelihood.expected_counts(optimum.theta), data, parameters)
    not_lately = np.where(model.states == 0, counts.steps, 0.0).sum(axis=1) + counts.firsts
    per_capture = 1 + np.exp(parameters.gaps[:, None] - parameters.levels)
    living: NDArray[np.float64] = not_lately * per_capture + _living_lately(model, chances, counts)
    living[:, 0] = np.nan
    return living


def _with_newest(counts: PathCounts, data: HistoryData, parameters: ClassParameters) -> PathCounts:
    """Add the URLs first captured in the last crawl, in the shares of the latest cohort."""
    only_newest = data.captured[:, -1] & ~data.captured[:, :-1].any(axis=1)
    firsts = counts.firsts.copy()
    firsts[:, -1] += data.counts[only_newest].sum() * np.exp(parameters.log_shares[-1])
    return replace(counts, firsts=firsts)


def _living_lately(
    model: ClassModel, chances: StepChances, counts: PathCounts
) -> NDArray[np.float64]:
    """Estimate how many of those captured in the last few crawls, and not since, are alive."""
    living = np.zeros_like(counts.lasts)
    for crawl in range(1, model.n_crawls):
        for lag in range(1, min(model.trap_lags, crawl) + 1):
            last = crawl - lag
            stock = counts.steps[:, last, crawl:].sum(axis=1) + counts.lasts[:, last]
            died = chances.death[:, last, : crawl + 1].sum(axis=1)
            alive = chances.unseen[:, last, crawl - 1] - chances.death[:, last, crawl]
            living[:, crawl] += stock * alive / (alive + died)
    return living


# ------------- when two classes are not to be believed, and how well a fit reproduces the histories


_RAREST_CAPTURE = 0.01
_SMALLEST_SHARE = 0.01
_SMALLEST_RATIO = 0.015
"""Chosen by hand: a class beyond any of them has too few recaptures to say how large it is."""

_FEWEST_EXPECTED = 5
"""The usual limit for cells of a test of fit."""


def mean_captures(optimum: Optimum) -> NDArray[np.float64]:
    """Return for each class the mean over the crawls of the chance of capture, without trap effect.

    Crawls whose coverage is not identifiable are left out.

    Parameters
    ----------
    optimum
        The fit.
    """
    means: NDArray[np.float64] = _captures(optimum).mean(axis=1)
    return means


def why_rejected(optimum: Optimum) -> str | None:
    """Say why a fit of two classes is not to be believed; None if nothing speaks against it.

    Parameters
    ----------
    optimum
        The fit of two classes.
    """
    rare = float(mean_captures(optimum).min())
    if rare < _RAREST_CAPTURE:
        return (
            f"two classes: one would be captured with {rare:.2%} only, too rarely to tell how "
            "many URLs it has"
        )
    parameters = optimum.likelihood.model.unpack(optimum.theta)
    share = float(np.exp(parameters.log_shares).mean(axis=0).min())
    if share < _SMALLEST_SHARE:
        return f"two classes: one would hold {share:.2%} of the captured URLs only"
    captures = _captures(optimum)
    # In its worst crawl: few URLs make fits in which a class vanishes at times.
    ratio = float((captures.min(axis=0) / captures.max(axis=0)).min())
    if ratio < _SMALLEST_RATIO:
        return (
            f"two classes: one would be captured {1 / ratio:.0f} times as rarely as the other, "
            "too rarely to tell how many URLs it has"
        )
    return None


def _captures(optimum: Optimum) -> NDArray[np.float64]:
    """Return the chance of capture of each class (rows) in the crawls of known coverage."""
    from scipy.special import expit

    parameters = optimum.likelihood.model.unpack(optimum.theta)
    known = has_recaptures(optimum.likelihood.totals)
    captures: NDArray[np.float64] = expit(parameters.levels - parameters.gaps[:, None])[:, known]
    return captures


def error_of_approximation(optimum: Optimum) -> float:
    """Return the root mean square error of approximation over histories given first capture.

    It is ``√max(0, (G²/df − 1)/n)`` (Steiger & Lind 1980): lack of fit by degree of freedom, freed
    of what the number of URLs adds to it. Every history that occurs is a cell of its own; where
    most occur once or twice, as with many crawls, it is too high even for the true model.

    Parameters
    ----------
    optimum
        The fit.
    """
    paths = optimum.likelihood.paths
    released = _released(optimum)
    saturated = float(np.sum(paths.counts * np.log(paths.counts / released[paths.first])))
    return _approximation_error(
        optimum, 2 * (saturated - optimum.log_likelihood), paths.counts.size
    )


def pooled_error_of_approximation(optimum: Optimum) -> float:
    """Return the same with histories of few expected URLs pooled, for each first capture.

    Where all histories have many URLs, it equals the other; where they do not, this one is right.

    Parameters
    ----------
    optimum
        The fit.
    """
    paths = optimum.likelihood.paths
    released = _released(optimum)
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
    return _approximation_error(optimum, deviance, found.size)


def _released(optimum: Optimum) -> NDArray[np.float64]:
    """Count the URLs first captured in each crawl."""
    paths = optimum.likelihood.paths
    released: NDArray[np.float64] = np.bincount(
        paths.first, paths.counts, minlength=paths.n_crawls
    ).astype(np.float64)
    return released


def _approximation_error(optimum: Optimum, deviance: float, n_cells: int) -> float:
    n_cohorts = np.count_nonzero(_released(optimum))
    n_freedom = int(n_cells - n_cohorts - optimum.likelihood.model.n_parameters)
    n_urls = float(optimum.likelihood.paths.counts.sum())
    return float(np.sqrt(max(0.0, (deviance / max(n_freedom, 1) - 1) / n_urls)))


# ------------------------------------------------------- latent classes of URLs, with trap response


MAX_TRAP_LAGS = 5

_FEWEST_CRAWLS = 5
_CRAWLS_BEYOND_LAGS = 4
"""Fewer leave too little beside the crawls that the trap response hides."""

_MAX_HISTORIES = 100_000
"""Distinct histories that are fitted in seconds; more are sampled."""

_ASSUMES = (
    "URLs are of at most two kinds, each captured with its own chance and living on at its own "
    "steady rate; a capture may change the chance of the next {lags}; no URLs are invisible. "
    "Coverage and population may differ from crawl to crawl."
)
_LAGS = (
    "in no way",
    "in the following crawl",
    *(f"in the {n} following crawls" for n in range(2, 6)),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatentClassFit:
    """The classes found, and the coverage of each crawl that follows from them.

    Parameters
    ----------
    n_classes
        1 or 2; the class that is captured more often comes first.
    trap_lags
        For how many crawls a capture changes the chance of the next.
    log_coverage
        For each crawl; NaN where it is not identifiable.
    log_persistence
        Logarithm of the share of living URLs that live on for a year.
    class_shares
        Of the living URLs, mean over the crawls with a coverage.
    cohort_shares
        Of the URLs first captured in the first crawl, in the second and in all later ones (rows),
        the share of each class (columns).
    class_captures
        For each class, mean over the crawls of the chance of capture, without trap effect.
    class_log_persistence
        For each class, per year.
    trap_effects
        Change of the log-odds of capture one and two crawls after a capture.
    log_likelihood, aic, n_parameters
        Of the histories given their first captures.
    rmsea
        Root mean square error of approximation of the same, every history being a cell.
    rmsea_pooled
        The same with rare histories pooled.
    n_urls
        URLs that were fitted: those first captured before the last crawl, without those of crawls
        that share nothing with any other.
    sample_rate
        Share of the keys that the fit is from; below that of the histories if they were sampled
        further because too many are distinct.
    rejected
        What speaks against each candidate that was not taken, in words.
    """

    n_classes: int
    trap_lags: int
    log_coverage: NDArray[np.float64]
    log_persistence: float
    class_shares: NDArray[np.float64]
    cohort_shares: NDArray[np.float64]
    class_captures: NDArray[np.float64]
    class_log_persistence: NDArray[np.float64]
    trap_effects: NDArray[np.float64]
    log_likelihood: float
    aic: float
    n_parameters: int
    rmsea: float
    rmsea_pooled: float
    n_urls: float
    sample_rate: float
    rejected: tuple[str, ...]

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage", "class_shares", "cohort_shares")
        freeze_arrays(self, "class_captures", "class_log_persistence", "trap_effects")

    @property
    def log_typical(self) -> float:
        """Mean logarithm of the coverage over the crawls but the first and last; NaN without."""
        inner = self.log_coverage[1:-1]
        known = inner[~np.isnan(inner)]
        return float(known.mean()) if known.size else math.nan


def fit_latent_class(data: HistoryData, *, trap_lags: int) -> LatentClassFit | None:
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
    LatentClassFit or None
        None with fewer than five crawls, with fewer than four beyond the trap lags, if all crawls
        are of the same date, if no crawl but the first and last shares enough with the earlier
        ones, or if hardly any URL is captured again after the trap lags.
    """
    if not 0 <= trap_lags <= MAX_TRAP_LAGS:
        raise ValueError(f"trap_lags must be 0 to {MAX_TRAP_LAGS}, not {trap_lags}")
    n = data.n_crawls
    if n < max(_FEWEST_CRAWLS, trap_lags + _CRAWLS_BEYOND_LAGS) or np.ptp(data.years) <= 0:
        return None
    sample = thin_histories(data, _MAX_HISTORIES)
    paths = history_paths(sample)
    if not is_identifiable(paths, trap_lags):
        return None
    intervals = np.diff(sample.years)
    unit_years = float(intervals.mean())
    one = maximise_one_class(
        ClassModel(n_classes=1, trap_lags=trap_lags, intervals=intervals / unit_years), paths
    )
    two = maximise_two_classes(
        ClassModel(n_classes=2, trap_lags=trap_lags, intervals=intervals / unit_years), one
    )
    chosen, reason = _choose(one, two)
    return _describe(chosen, sample, unit_years, reason)


def _choose(one: Optimum, two: Optimum) -> tuple[Optimum, str]:
    invisible = why_rejected(two)
    if invisible is not None:
        return one, invisible
    gain = one.aic - two.aic
    if gain > 0:
        return two, f"one class: Akaike's criterion is higher by {gain:.1f}"
    return one, f"two classes: Akaike's criterion is higher by {-gain:.1f}"


def _describe(
    optimum: Optimum, data: HistoryData, unit_years: float, reason: str
) -> LatentClassFit:
    model = optimum.likelihood.model
    parameters = model.unpack(optimum.theta)
    captures = mean_captures(optimum)
    order = np.argsort(-captures)
    living = count_living(optimum, data)[order]
    known = has_recaptures(optimum.likelihood.totals)
    log_coverage = np.full(model.n_crawls, np.nan)
    log_coverage[known] = np.log(data.sizes[known] / living[:, known].sum(axis=0))
    shares = (living[:, known] / living[:, known].sum(axis=0)).mean(axis=1)
    class_log_persistence = -parameters.hazards[order] / unit_years
    return LatentClassFit(
        n_classes=model.n_classes,
        trap_lags=model.trap_lags,
        log_coverage=log_coverage,
        log_persistence=float(np.logaddexp.reduce(np.log(shares) + class_log_persistence)),
        class_shares=shares,
        cohort_shares=np.exp(parameters.log_shares[:, order]),
        class_captures=captures[order],
        class_log_persistence=class_log_persistence,
        trap_effects=parameters.traps[1:],
        log_likelihood=optimum.log_likelihood,
        aic=optimum.aic,
        n_parameters=model.n_parameters,
        rmsea=error_of_approximation(optimum),
        rmsea_pooled=pooled_error_of_approximation(optimum),
        n_urls=float(optimum.likelihood.paths.counts.sum()),
        sample_rate=data.sample_rate,
        rejected=(reason,),
    )


def latent_class_row(
    fit: LatentClassFit | None, n_urls: NDArray[np.float64]
) -> EstimatorRow | None:
    """Set the fit beside the other estimators; None without a typical coverage.

    Parameters
    ----------
    fit
        The fit, where there is one.
    n_urls
        URLs of each crawl, all of them and not of a sample.
    """
    if fit is None or math.isnan(fit.log_typical):
        return None
    coverage = tuple(None if np.isnan(log) else math.exp(log) for log in fit.log_coverage)
    return EstimatorRow(
        name="latent-class",
        coverage=math.exp(fit.log_typical),
        persistence=math.exp(fit.log_persistence),
        population=None if coverage[-1] is None else float(n_urls[-1]) / coverage[-1],
        per_crawl=coverage,
        assumes=_ASSUMES.format(lags=_LAGS[fit.trap_lags]),
    )
