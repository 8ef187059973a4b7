"""Coverage from known-alive windows: how far memory reaches, how uneven capture is, what is held.

Nothing is assumed about survival. URLs may differ in how readily they are captured, and a capture
may make the next ones less or more likely for some crawls.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.known_alive.fitting import (
    WindowFit,
    fit_windows,
    jackknife_sd,
    vectors_without_groups,
)
from crawlgauge.model.known_alive.population import count_alive
from crawlgauge.model.known_alive.window_model import (
    WindowModel,
    build_interiors,
    capture_chances,
    kinds_of_url,
)
from crawlgauge.model.known_alive.windows import (
    MAX_TRAP_LAGS,
    Tallies,
    WindowCounts,
    count_windows,
)
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["KnownAliveFit", "RevisitEffect", "fit_known_alive"]

Numbers = NDArray[np.float64]

_USUAL_LAGS = 2
"""Memory that is chosen by the criterion; a longer one has to be proven."""

_CRAWLS_BEYOND_LAGS = 4
"""A memory of K crawls needs windows with K rested crawls inside, and a crawl to compare."""

_MIN_GAIN = 6.0
"""What a longer memory, or uneven capture, must gain of the criterion, where two is chance."""

_GAIN_SHARE = 0.03
"""A crude law of unevenness leaves some, which memory can take up: the more there is, the more a
longer memory must gain."""

_BAD_FIT = 0.005
_GOOD_FIT = 0.0015
"""Misfit that calls for a longer memory, and what is left if that is the cause."""

_MIN_WINDOWS = 30
_MIN_EXPECTED = 5.0
_MAX_SAMPLING = 0.6
"""A one-step jackknife of tiny archives can run away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitEffect:
    """What a capture some crawls ago does to the chance of being captured again.

    Parameters
    ----------
    crawls_since
        Crawls since the capture.
    effect
        β, on the complementary log-log scale.
    chance
        Chance of being captured again, in a typical crawl.
    chance_ratio
        That chance over that of a URL not captured lately: below 1 for avoidance, above 1 for
        re-seeding.
    """

    crawls_since: int
    effect: float
    chance: float
    chance_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownAliveFit:
    """Coverage from known-alive windows, as logarithms.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN for the first and the last, and wherever it is not known.
    trap_lags
        K: crawls back that a capture has an effect on being captured again.
    revisits
        That effect, for each number of crawls since a capture up to K.
    is_uneven
        Whether URLs were found to differ in how readily they are captured.
    gain
        What uneven capture gains over even capture, in units of the criterion; 6 prove it.
    misfit
        How far the windows are from being reproduced, per window; 0 if they are.
    sampling_sd
        Of the mean logarithm of coverage, from leaving out groups of URLs, or of whole hosts.
    """

    log_coverage: Numbers
    trap_lags: int
    revisits: tuple[RevisitEffect, ...]
    is_uneven: bool
    gain: float
    misfit: float
    sampling_sd: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")

    @property
    def avoids(self) -> bool:
        """Whether captures make the next ones less likely, at every distance that has an effect."""
        return bool(self.revisits) and all(effect.chance_ratio < 1 for effect in self.revisits)

    @property
    def attracts(self) -> bool:
        """Whether captures have an effect that is no avoidance."""
        return self.trap_lags > 0 and not self.avoids


def fit_known_alive(data: HistoryData) -> KnownAliveFit | None:
    """Estimate coverage from known-alive windows; None if they leave that of every crawl open.

    Parameters
    ----------
    data
        Capture histories of five crawls or more, each with captures.
    """
    counts = count_windows(data)
    if counts.n_windows == 0:
        return None
    even, uneven = _choose_memory(counts)
    misfit = _misfit(_better(even, uneven), counts)
    if misfit > _BAD_FIT:
        even, uneven, misfit = _prove_longer_memory(counts) or (even, uneven, misfit)
    gain = (even.criterion - uneven.criterion) / even.redundancy
    fit = uneven if gain >= _MIN_GAIN else even
    if fit.model.trap_lags > _USUAL_LAGS:
        fit = _better(even, uneven)
    log_coverage = _log_coverage(fit, counts, fit.vector, counts.tallies(fit.model.trap_lags))
    if not np.isfinite(log_coverage).any():
        return None
    return KnownAliveFit(
        log_coverage=log_coverage,
        trap_lags=fit.model.trap_lags,
        revisits=_revisits(fit, counts),
        is_uneven=fit.model.is_uneven,
        gain=gain,
        misfit=misfit,
        sampling_sd=max(_sampling_sd(fit, counts, columns) for columns in counts.group_kinds),
    )


def _fit_both(counts: WindowCounts, lags: int) -> tuple[WindowFit, WindowFit]:
    """Fit even and uneven capture with the same memory: either alone would explain the other."""
    return (
        fit_windows(WindowModel(trap_lags=lags, is_uneven=False), counts),
        fit_windows(WindowModel(trap_lags=lags, is_uneven=True), counts),
    )


def _better(even: WindowFit, uneven: WindowFit) -> WindowFit:
    return min(even, uneven, key=lambda fit: fit.criterion)


def _choose_memory(counts: WindowCounts) -> tuple[WindowFit, WindowFit]:
    """Take the shortest memory whose criterion is as good as any."""
    longest = min(_USUAL_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    fits = [_fit_both(counts, lags) for lags in range(longest + 1)]
    lowest = min(_better(*both).criterion for both in fits)
    even = fits[0][0]
    gain = (even.criterion - _better(*fits[0]).criterion) / even.redundancy
    margin = max(_MIN_GAIN, _GAIN_SHARE * gain)
    return next(
        both for both in fits if _better(*both).criterion <= lowest + margin * both[0].redundancy
    )


def _prove_longer_memory(counts: WindowCounts) -> tuple[WindowFit, WindowFit, float] | None:
    """Return the first longer memory that reproduces the windows and is avoidance throughout.

    By the criterion alone, archives of whole hosts or in rotation would get one that is none.
    """
    longest = min(MAX_TRAP_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    for lags in range(_USUAL_LAGS + 1, longest + 1):
        even, uneven = _fit_both(counts, lags)
        fit = _better(even, uneven)
        misfit = _misfit(fit, counts)
        effects = fit.vector[fit.model.places(counts.n_crawls)[1]]
        if misfit <= _GOOD_FIT and np.all(effects < 0):
            return even, uneven, misfit
    return None


def _misfit(fit: WindowFit, counts: WindowCounts) -> float:
    """Return (G² − df) / 2n of the windows' interiors; 0 where there are too few to tell."""
    interiors = build_interiors(fit.model, counts, fit.vector, fit.tilt)
    deviance, n_freedom, n_windows = 0.0, 0, 0.0
    for seen, weights in zip(counts.interiors, interiors.totals, strict=True):
        totals = seen[..., 0].sum(axis=0)
        expected = weights / weights.sum(axis=0) * totals
        for first in np.flatnonzero(totals >= _MIN_WINDOWS):
            found, likely = seen[:, first, 0], expected[:, first]
            rare = likely < _MIN_EXPECTED
            pooled = likely[rare].sum()
            cells, means = found[~rare], likely[~rare]
            if pooled >= 1:
                cells, means = np.append(cells, found[rare].sum()), np.append(means, pooled)
            held = cells > 0
            deviance += 2 * float(cells[held] @ np.log(cells[held] / means[held]))
            n_freedom += max(cells.size - 1, 0)
            n_windows += float(totals[first])
    return (deviance - n_freedom) / (2 * n_windows) if n_windows else 0.0


def _log_coverage(
    fit: WindowFit, counts: WindowCounts, vector: Numbers, tallies: Tallies
) -> Numbers:
    alive = count_alive(fit.model, counts, vector, tallies)
    known = np.isfinite(alive) & (alive > 0) & (tallies.sizes > 0)
    ratio = np.divide(tallies.sizes, alive, out=np.ones_like(alive), where=known)
    return np.where(known, np.log(ratio), np.nan)


def _sampling_sd(fit: WindowFit, counts: WindowCounts, columns: range) -> float:
    """Return the standard error of the mean logarithm of coverage from leaving out groups."""
    vectors = vectors_without_groups(fit, counts, columns)
    rows = [
        _log_coverage(fit, counts, vector, counts.tallies(fit.model.trap_lags, without=column))
        for vector, column in zip(vectors, columns, strict=True)
    ]
    values = np.array([row[np.isfinite(row)].mean() for row in rows if np.isfinite(row).any()])
    if values.size < len(columns):
        return _MAX_SAMPLING
    return min(float(jackknife_sd(values)), _MAX_SAMPLING)


def _revisits(fit: WindowFit, counts: WindowCounts) -> tuple[RevisitEffect, ...]:
    _, trap, sigma, _ = fit.model.places(counts.n_crawls)
    share = kinds_of_url(float(fit.vector[sigma][0]) if fit.model.is_uneven else None).share
    chances = (capture_chances(fit.model, counts, fit.vector) @ share)[1:-1]
    means = np.exp(np.log(chances).mean(axis=0))
    return tuple(
        RevisitEffect(
            crawls_since=since,
            effect=float(effect),
            chance=float(means[since]),
            chance_ratio=float(means[since] / means[0]),
        )
        for since, effect in enumerate(fit.vector[trap], start=1)
    )
