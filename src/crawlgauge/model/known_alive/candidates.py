"""Candidates: window models at their optimum, with the coverage and the survival they imply."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.families import Family
from crawlgauge.model.known_alive.fitting import fit_windows
from crawlgauge.model.known_alive.information import (
    Information,
    inform,
    jackknife_sd,
    vectors_without_groups,
)
from crawlgauge.model.known_alive.links import capture_table
from crawlgauge.model.known_alive.newest import extrapolate_newest
from crawlgauge.model.known_alive.parameters import WindowModel, unpack
from crawlgauge.model.known_alive.population import count_alive
from crawlgauge.model.known_alive.survival_consistency import Consistency, check_survival
from crawlgauge.model.known_alive.windows import N_GROUPS, Tallies, WindowCounts
from crawlgauge.model.pairs import freeze_arrays

__all__ = [
    "Candidate",
    "SamplingError",
    "crawl_errors",
    "fit_informed",
    "mean_inside",
    "refit_informed",
    "sampling_error",
    "weigh_up",
]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A fitted window model with what follows from it.

    Parameters
    ----------
    information
        The fit and what it knows.
    log_coverage
        For each crawl; NaN where it is not known.
    newest_variance
        Variance of the last crawl's, by extrapolation.
    consistency
        Whether survival is consistent under it.
    """

    information: Information
    log_coverage: Numbers
    newest_variance: float
    consistency: Consistency

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")

    @property
    def model(self) -> WindowModel:
        """Which effects it has."""
        return self.information.fit.model

    @property
    def log_typical(self) -> float:
        """Mean over the crawls inside windows."""
        return mean_inside(self.log_coverage)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplingError:
    """Standard errors from leaving out groups of URLs.

    Parameters
    ----------
    per_crawl
        Of each crawl's logarithm of coverage.
    typical
        Of their mean over the crawls inside windows.
    """

    per_crawl: Numbers
    typical: float


def fit_informed(
    model: WindowModel, counts: WindowCounts, starts: Sequence[Numbers] | None = None
) -> Information:
    """Fit a window model and measure what it knows."""
    return inform(fit_windows(model, counts, starts), counts)


def refit_informed(near: Information, family: Family, counts: WindowCounts) -> Information:
    """Fit the model of another fit with a family that has the same parameters, from there."""
    model = replace(near.fit.model, family=family)
    return inform(fit_windows(model, counts, [near.fit.vector], near.curvature), counts)


def weigh_up(information: Information, counts: WindowCounts) -> Candidate:
    """Work out what follows from a fit."""
    fit = information.fit
    tallies = counts.tallies(fit.model.trap_lags)
    population = count_alive(fit.model, counts, fit.vector, tallies)
    newest = extrapolate_newest(
        fit.model, counts, fit.vector, tallies, population, crawl_errors(information, counts)
    )
    log_coverage = _log_coverage(tallies, population.alive)
    log_coverage[-1] = newest.log_coverage
    return Candidate(
        information=information,
        log_coverage=log_coverage,
        newest_variance=newest.variance,
        consistency=check_survival(population, tallies, fit.model.trap_lags),
    )


def sampling_error(candidate: Candidate, counts: WindowCounts) -> SamplingError:
    """Measure the sampling error of a candidate by leaving out each group of URLs."""
    model, vectors = candidate.model, vectors_without_groups(candidate.information, counts)
    errors = crawl_errors(candidate.information, counts)
    values = np.empty((N_GROUPS, counts.n_crawls))
    for group in range(N_GROUPS):
        tallies = counts.tallies(model.trap_lags, without_group=group)
        population = count_alive(model, counts, vectors[group], tallies)
        newest = extrapolate_newest(model, counts, vectors[group], tallies, population, errors)
        values[group] = _log_coverage(tallies, population.alive)
        values[group, -1] = newest.log_coverage
    typical = np.array([mean_inside(row) for row in values])
    return SamplingError(per_crawl=jackknife_sd(values), typical=float(jackknife_sd(typical)))


def crawl_errors(information: Information, counts: WindowCounts) -> Numbers:
    """Return the sampling error of each crawl's chance of capture, on a log scale, roughly.

    That of its own effect alone, which is nearly all of it; NaN for the first and the last crawl.
    """
    fit = information.fit
    crawl, *_ = fit.model.places(counts.n_crawls)
    effects = unpack(fit.model, counts, fit.vector)
    slope = capture_table(effects.sums[:, 0], fit.model.link).hit_slope @ effects.nodes.share
    errors = np.full(counts.n_crawls, np.nan)
    errors[1:-1] = jackknife_sd(vectors_without_groups(information, counts))[crawl]
    return errors * slope


def mean_inside(log_coverage: Numbers) -> float:
    """Return the mean over the crawls inside windows, those that are known; NaN without any."""
    inside = log_coverage[1:-1]
    known = inside[np.isfinite(inside)]
    return float(known.mean()) if known.size else float("nan")


def _log_coverage(tallies: Tallies, alive: Numbers) -> Numbers:
    known = np.isfinite(alive) & (alive > 0) & (tallies.sizes > 0)
    ratio = np.divide(tallies.sizes, alive, out=np.ones_like(alive), where=known)
    return np.where(known, np.log(ratio), np.nan)
