"""What the figures show beyond the estimates: how sure the published line is, and plans."""

import math
from dataclasses import dataclass, replace

import numpy as np

from crawlgauge.model.estimates import Estimates, PaperFit, StartFit
from crawlgauge.model.intervals import jackknife_variance
from crawlgauge.model.pairs import Flags, Numbers, PairData, pair_data
from crawlgauge.model.paper import PooledLine, fit_pooled
from crawlgauge.model.plan import PlanningCurves
from crawlgauge.overlaps.table import MISSING, OverlapTable

_N_POINTS = 41
_LEVEL = 0.975
_LINE_PARAMETERS = 2
_MIN_REPLICATES = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineBands:
    """The published line and 95 % bands around it, as containments at several time differences.

    Parameters
    ----------
    lags_years
        From zero to the longest.
    line
        On the line.
    jackknife
        Low and high ends from leaving out each crawl in turn; None with fewer than four crawls.
    least_squares
        Low and high ends as ordinary least squares has them, which takes pairs for independent;
        None without degrees of freedom.
    """

    lags_years: Numbers
    line: Numbers
    jackknife: tuple[Numbers, Numbers] | None
    least_squares: tuple[Numbers, Numbers] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedUrn:
    """A simulated urn of the coverage and persistence that the published line gives.

    Parameters
    ----------
    estimates
        From its overlaps.
    bands
        Of its own line.
    population, persistence, seed
        What it was made with.
    """

    estimates: Estimates
    bands: LineBands
    population: float
    persistence: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panels:
    """What is drawn beside the estimates themselves.

    Parameters
    ----------
    bands
        Of the published line; None where there is no line.
    intercepts
        Low and high end of the interval of each starting crawl's intercept, by the crawl's label;
        a line through two points has none.
    urn
        None where no urn has such numbers, or its crawls share too little.
    curves
        What other crawls would hold; None where nothing can be planned, or only a range.
    """

    bands: LineBands | None
    intercepts: dict[str, tuple[float, float] | None]
    urn: FittedUrn | None
    curves: PlanningCurves | None


def published_line(estimates: Estimates) -> PooledLine | None:
    """Return the published line of the estimates, if there is one."""
    return _line_of(estimates.paper, estimates.paper.r_squared)


def _line_of(fit: PaperFit | StartFit, r_squared: float | None = None) -> PooledLine | None:
    if fit.coverage is None or fit.persistence is None:
        return None
    log_coverage, log_persistence = math.log(fit.coverage), math.log(fit.persistence)
    return PooledLine(
        log_coverage=log_coverage, log_persistence=log_persistence, r_squared=r_squared
    )


def fitted_pairs(estimates: Estimates) -> PairData:
    """Return the pairs as the fits take them."""
    places = {crawl.label: k for k, crawl in enumerate(estimates.crawls)}
    n_shared = np.full((len(places), len(places)), MISSING, dtype=np.int64)
    np.fill_diagonal(n_shared, [crawl.n_counted for crawl in estimates.crawls])
    for pair in estimates.residuals:
        i, j = places[pair.a], places[pair.b]
        n_shared[i, j] = n_shared[j, i] = pair.n_shared
    return pair_data(OverlapTable(crawls=estimates.crawls, n_shared=n_shared))


def find_bands(estimates: Estimates) -> LineBands | None:
    """Return the published line with its bands, if there is one."""
    line = published_line(estimates)
    if line is None:
        return None
    pairs = fitted_pairs(estimates)
    lags = np.linspace(0, float(pairs.lag_years.max()), _N_POINTS)
    logs = line.log_containments(lags)
    return LineBands(
        lags_years=lags,
        line=np.exp(logs),
        jackknife=_around(logs, _jackknife(pairs, lags)),
        least_squares=_around(logs, _least_squares(pairs, line, lags)),
    )


def _around(logs: Numbers, margin: Numbers | None) -> tuple[Numbers, Numbers] | None:
    return None if margin is None else (np.exp(logs - margin), np.exp(logs + margin))


def _least_squares(pairs: PairData, line: PooledLine, lags: Numbers) -> Numbers | None:
    from scipy.special import stdtrit

    n_freedom = pairs.n_pairs - _LINE_PARAMETERS
    if n_freedom < 1:
        return None
    weight, x = pairs.weight, pairs.lag_years
    left = pairs.log_forward - line.log_containments(x)
    variance = float(weight @ left**2) / n_freedom
    mean = float(np.average(x, weights=weight))
    spread = float(weight @ (x - mean) ** 2)
    error: Numbers = np.sqrt(variance * (1 / weight.sum() + (lags - mean) ** 2 / spread))
    return float(stdtrit(n_freedom, _LEVEL)) * error


def _jackknife(pairs: PairData, lags: Numbers) -> Numbers | None:
    from scipy.special import stdtrit

    crawls = np.unique(np.concatenate([pairs.start, pairs.end]))
    lines = [
        fit_pooled(_choose(pairs, (pairs.start != crawl) & (pairs.end != crawl)), "forward")
        for crawl in crawls
    ]
    found = np.array([line.log_containments(lags) for line in lines if line is not None])
    if len(found) < max(_MIN_REPLICATES, len(crawls)):
        return None
    # As many degrees of freedom as the model's own intervals have.
    quantile = float(stdtrit(len(crawls) - _LINE_PARAMETERS, _LEVEL))
    return quantile * np.sqrt(jackknife_variance(found)[0])


def _choose(pairs: PairData, kept: Flags) -> PairData:
    of_pairs = ("start", "end", "n_shared", "relative_error", "weight")
    return replace(pairs, **{name: getattr(pairs, name)[kept] for name in of_pairs})


def find_intercepts(estimates: Estimates) -> dict[str, tuple[float, float] | None]:
    """Return the interval of each starting crawl's intercept, by the crawl's label."""
    pairs, places = fitted_pairs(estimates), [crawl.label for crawl in estimates.crawls]
    found: dict[str, tuple[float, float] | None] = {}
    for fit in estimates.paper.per_start:
        line = _line_of(fit)
        if line is None:
            continue
        own = _choose(pairs, pairs.start == places.index(fit.label))
        # As the line of one start has them: a pair of the same date occurs once among its pairs.
        alike = replace(own, weight=np.ones(own.weight.size))
        margin = _least_squares(alike, line, np.zeros(1))
        found[fit.label] = None
        if margin is not None:
            low, high = (line.log_coverage + sign * float(margin[0]) for sign in (-1, 1))
            found[fit.label] = math.exp(low), math.exp(high)
    return found
