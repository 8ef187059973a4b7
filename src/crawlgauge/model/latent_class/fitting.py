"""Latent classes of URLs, with trap response: uneven capture and lifetimes seen in the histories.

URLs fall into at most two classes that differ in how likely they are captured and how long they
live, and a capture may make the next one less or more likely for a few crawls. Fits of one and of
two classes are compared by Akaike's criterion, after those that lean on an invisible class are
rejected.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import EstimatorRow
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.latent_class.guards import (
    error_of_approximation,
    mean_captures,
    pooled_error_of_approximation,
    why_rejected,
)
from crawlgauge.model.latent_class.model import ClassModel
from crawlgauge.model.latent_class.paths import history_paths, thin_histories
from crawlgauge.model.latent_class.population import (
    count_living,
    has_recaptures,
    is_identifiable,
)
from crawlgauge.model.latent_class.starts import (
    Optimum,
    maximise_one_class,
    maximise_two_classes,
)
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["MAX_TRAP_LAGS", "LatentClassFit", "fit_latent_class", "latent_class_row"]

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
