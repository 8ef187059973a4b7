"""How far each estimate of the two-way model may be off, on the scale of logarithms.

The variance of an estimate is the larger of two, plus a third. The first shows when each crawl is
left out in turn; it needs no model of the errors, but sees little of crawls that few pairs tell
about. The second pools the lack of fit of all pairs. The third is that of drawing URLs from the
urn, of which the crawls show only a part among themselves, of counting in a sample, and of the
standard errors that overlaps come with.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crawlgauge.model.pairs import MAX_LOG, Flags, Integers, Numbers, PairData
from crawlgauge.model.two_way import TwoWayFit, fit_columns

# ------------------------------------------------------------ trend of the population


_MIN_DATES = 2


def log_growth(years: Numbers, log_population: Numbers) -> float | None:
    """Return the trend of the log population per year, or None if the dates give none.

    Examples
    --------
    >>> log_growth(np.array([0.0, 1.0, 2.0]), np.array([np.nan, 3.0, 3.5]))
    0.5
    """
    known = ~np.isnan(log_population)
    trend = growth_coefficients(years, known)
    rate = float(trend[known] @ log_population[known])
    return rate if trend.any() and abs(rate) <= MAX_LOG else None


def growth_coefficients(years: Numbers, known: Flags) -> Numbers:
    """Return how much each crawl's log population counts in the trend; all 0 without two dates.

    Examples
    --------
    >>> growth_coefficients(np.array([0.0, 1.0, 3.0]), np.array([False, True, True])).tolist()
    [0.0, -0.5, 0.5]
    """
    if np.unique(years[known]).size < _MIN_DATES:
        return np.zeros(years.size)
    centred = np.where(known, years - years[known].mean(), 0.0)
    return centred / float(centred @ centred)


# ------------------------------------------------------- how much each pair counts in each estimate


class Influence(NamedTuple):
    """Estimates as weighted sums of the logarithms of overlaps and sizes.

    Parameters
    ----------
    shared
        For each estimate a matrix over the crawls, strictly upper triangular: the coefficient of
        the logarithm of what two crawls share.
    starts
        For each estimate and crawl, the sum of the coefficients of the pairs that it starts; the
        logarithm of its size counts as much, with the other sign.
    """

    shared: Numbers
    starts: Numbers


def weigh_pairs(pairs: PairData, fit: TwoWayFit, combinations: Numbers) -> Influence:
    """Write linear combinations of a fit's parameters as sums over the pairs.

    Each row of `combinations` has the coefficients of the crawls' log coverages and, last, of the
    log persistence; 0 for what is not identifiable.
    """
    n, end, lags = pairs.n_crawls, pairs.end, pairs.lag_years
    weight = pairs.fit_weights(fit.tau_squared)
    mean_lag = pairs.column_means(weight, lags)
    of_slope = weight * (lags - mean_lag[end])
    of_slope *= 1 / float(of_slope @ lags) if fit.has_persistence else 0.0
    levels, slopes = combinations[:, :n], combinations[:, n]
    rows = levels[:, end] * (weight / pairs.column_totals(weight)[end])
    rows += (slopes - levels @ mean_lag)[:, None] * of_slope
    shared = [np.bincount(_cells(pairs), row, minlength=n * n).reshape(n, n) for row in rows]
    starts = [np.bincount(pairs.start, row, minlength=n) for row in rows]
    return Influence(shared=np.array(shared), starts=np.array(starts))


def _cells(pairs: PairData) -> Integers:
    """Return each pair's place above the diagonal: both directions of one date are the same."""
    low, high = np.minimum(pairs.start, pairs.end), np.maximum(pairs.start, pairs.end)
    return low * pairs.n_crawls + high


# --------------------------------------------------------------- lack of fit, pooled over all pairs


_RANK_TOLERANCE = 1e-9


def pooled_variance(pairs: PairData, fit: TwoWayFit, influence: Influence) -> Numbers:
    """Return the variance of each estimate that follows from the lack of fit."""
    of_start, of_pair = find_components(pairs, fit)
    n = pairs.n_crawls
    weight = np.bincount(_cells(pairs), pairs.fit_weights(fit.tau_squared), minlength=n * n)
    expected = np.divide(1.0, weight, out=np.zeros(n * n), where=weight > 0).reshape(n, n)
    by_starts = np.sum(influence.starts**2, axis=1)
    by_pairs = np.einsum("fij,fij,ij->f", influence.shared, influence.shared, expected)
    variance: Numbers = of_start * by_starts + of_pair * by_pairs
    return variance


def find_components(pairs: PairData, fit: TwoWayFit) -> tuple[float, float]:
    """Estimate the two parts of a residual by their moments (Henderson's third method).

    Returns
    -------
    tuple
        The variance that pairs with the same earlier crawl share, and that of single pairs, as a
        multiple of what the fit's weights take it for.
    """
    n, start, end = pairs.n_crawls, pairs.start, pairs.end
    weight = pairs.fit_weights(fit.tau_squared)
    # Within columns there is a residual even where the level of the column means nothing.
    lags = pairs.within_columns(weight, pairs.lag_years)
    residuals = pairs.within_columns(weight, pairs.log_forward)
    by_pair = np.bincount(start * n + end, weight, minlength=n * n).reshape(n, n)
    # What is left of indicators of the starts once columns and slope are fitted.
    left = np.diag(by_pair.sum(axis=1)) - (by_pair / pairs.column_totals(weight)) @ by_pair.T
    if fit.has_persistence:
        residuals = residuals - fit.log_persistence * lags
        lag_by_start = np.bincount(start, weight * lags, minlength=n)
        left -= np.outer(lag_by_start, lag_by_start) / float(weight @ lags**2)
    eigenvalues, vectors = np.linalg.eigh(left)
    kept = eigenvalues > _RANK_TOLERANCE * float(weight.sum())
    rank = int(kept.sum())
    sums = vectors[:, kept].T @ np.bincount(start, weight * residuals, minlength=n)
    of_starts = float(np.sum(sums**2 / eigenvalues[kept]))
    of_all = float(weight @ residuals**2)
    n_left = fit.n_freedom - rank
    # Without freedom beside the starts the two cannot be told apart: all is laid to the pairs.
    of_pair = max(of_all - of_starts, 0.0) / n_left if n_left > 0 else of_all / fit.n_freedom
    excess = max(of_starts - rank * of_pair, 0.0)
    of_start = excess / float(eigenvalues[kept].sum()) if rank else 0.0
    return of_start, of_pair


# -------- sampling variance of estimates under the urn, without forming the covariance of all pairs


# Probabilities of 1 leave no randomness at all; an estimate can exceed them.
_MAX_COVERAGE = 0.999
_MAX_PERSISTENCE = 0.9999
# Of a pair that shares something so little cannot be expected, but a bad fit may say so.
_LEAST_SHARED = 1e-9


class UrnState(NamedTuple):
    """An urn that can have produced the overlaps: what was fitted, made possible.

    Parameters
    ----------
    coverage
        Probability that a living URL is drawn, for each crawl.
    alive
        For each two crawls, the URLs expected to live at both, and the population on the
        diagonal; symmetric.
    moments
        Position of each crawl's date among the different dates.
    """

    coverage: Numbers
    alive: Numbers
    moments: Integers

    @property
    def sizes(self) -> Numbers:
        """Expected size of each crawl."""
        return self.coverage * np.diagonal(self.alive)

    @property
    def shared(self) -> Numbers:
        """Expected overlap of each two crawls, and the size on the diagonal."""
        shared = self.alive * np.outer(self.coverage, self.coverage)
        np.fill_diagonal(shared, self.sizes)
        return shared


def urn_state(pairs: PairData, fit: TwoWayFit) -> UrnState:
    """Make the urn at the fitted values.

    A crawl without an estimate takes over the population of the next one that has one, crawls of
    one date share a population, and a population is never smaller than what survives of the one
    before it.
    """
    log_persistence = math.log(_MAX_PERSISTENCE)
    if fit.has_persistence:
        log_persistence = min(fit.log_persistence, log_persistence)
    positions = np.flatnonzero(fit.estimated)
    following = np.searchsorted(positions, np.arange(pairs.n_crawls))
    nearest = positions[np.minimum(following, positions.size - 1)]
    log_population = (np.log(pairs.n_urls) - fit.log_coverage)[nearest]
    days, moments = np.unique(pairs.days, return_inverse=True)
    years = pairs.years[np.searchsorted(pairs.days, days)]
    at_moment = np.bincount(moments, log_population) / np.bincount(moments)
    log_sizes = np.full(days.size, -np.inf)
    np.maximum.at(log_sizes, moments, np.log(pairs.n_urls))
    at_moment = np.maximum(at_moment, log_sizes - math.log(_MAX_COVERAGE))
    # Survivors carried forward: the largest of all earlier populations, each after its losses.
    decay = log_persistence * years
    at_moment = np.maximum.accumulate(at_moment - decay) + decay
    population = np.exp(at_moment)[moments]
    lags = np.abs(pairs.years[:, None] - pairs.years)
    earlier = np.minimum.outer(np.arange(pairs.n_crawls), np.arange(pairs.n_crawls))
    return UrnState(
        coverage=pairs.n_urls / population,
        alive=population[earlier] * np.exp(log_persistence * lags),
        moments=moments,
    )


class UrnMoments(NamedTuple):
    """Second moments of estimates ``Q = Σ h_ij·X_ij`` over independent URLs.

    Parameters
    ----------
    state
        The urn.
    square
        E Q² for each estimate.
    own
        For each estimate and crawl, E Q restricted to the overlaps that the crawl is part of.
    with_alive
        For each estimate and crawl, the covariance of Q with the population at its date.
    """

    state: UrnState
    square: Numbers
    own: Numbers
    with_alive: Numbers

    def urn_variance(self) -> Numbers:
        """Return the variance of each estimate over urns with these sizes and populations."""
        state = self.state
        first = np.unique(state.moments, return_index=True)[1]
        between, with_alive = state.alive[np.ix_(first, first)], self.with_alive[:, first]
        by_populations = np.sum(with_alive * np.linalg.solve(between, with_alive.T).T, axis=1)
        # Given the populations, the sizes of the crawls are independent of each other.
        by_sizes = self.own**2 @ ((1 - state.coverage) / state.sizes)
        left: Numbers = self.square - by_populations - by_sizes
        return left.clip(min=0.0)

    def sample_variance(self, sizes: Numbers, sample_rate: float) -> Numbers:
        """Return the variance of each estimate over samples of the same crawls.

        A sample keeps each URL in all crawls or in none, so that the errors of an overlap and of
        the size that it is set against largely cancel.
        """
        state = self.state
        per_url = sizes / state.sizes
        with_sizes = self.own + state.coverage * (self.with_alive - self.own)
        square: Numbers = (
            self.square
            + 2 * np.sum(per_url * with_sizes, axis=1)
            + np.sum(per_url * (per_url @ state.shared), axis=1)
        )
        return square.clip(min=0.0) * (1 - sample_rate) / sample_rate


def urn_moments(state: UrnState, influence: Influence) -> UrnMoments:
    """Compute the moments of estimates."""
    shared, alive = np.maximum(state.shared, _LEAST_SHARED), np.triu(state.alive, k=1)
    # One estimate at a time: its matrices stay in the processor's cache.
    each = [_moments_of(state.coverage, alive, h / shared) for h in influence.shared]
    return UrnMoments(state, *(np.array(parts) for parts in zip(*each, strict=True)))


def _moments_of(coverage: Numbers, alive: Numbers, h: Numbers) -> tuple[float, Numbers, Numbers]:
    """Sum over sets of crawls by their first and last member, a and d; b and c lie between."""
    forward = h * coverage
    from_first = _sum_before(forward, axis=1)
    to_last = _sum_after(h * coverage[:, None], axis=0)
    inner = _sum_after(from_first * coverage[:, None], axis=0)
    # Pairs a–b and b–d make a set of three; the product of the sums takes them for one of four.
    # Matrices are small: starting the threads of a linear algebra library costs more than it gains.
    through = np.einsum("ab,bd->ad", forward * (1 - coverage), h)
    of_three = h * (from_first + to_last)
    of_four = h * inner + from_first * to_last
    ends = alive * coverage * coverage[:, None]
    expected = h * ends
    own = expected.sum(axis=0) + expected.sum(axis=1)
    # Pairs around the crawl or with it at an end, then pairs after it, then pairs before it.
    around = np.diagonal(_sum_after(_sum_before(expected, axis=0), axis=1)) + own
    later = (to_last * alive) @ coverage
    earlier = coverage @ (from_first * alive)
    square = float(np.sum(ends * (h**2 + 2 * (of_three + of_four + through))))
    return square, own, around + later + earlier


def _sum_before(values: Numbers, axis: int) -> Numbers:
    """Return running sums that leave their own place out."""
    return np.cumsum(values, axis=axis) - values


def _sum_after(values: Numbers, axis: int) -> Numbers:
    """Return running sums from the other end that leave their own place out."""
    return np.flip(_sum_before(np.flip(values, axis), axis), axis)


# --------- the two-way model without each crawl in turn, and the variance that the differences show


def delete_each_crawl(pairs: PairData, latest: Flags | None = None) -> Numbers:
    """Refit the pairs without each crawl that takes part in any.

    Returns
    -------
    numpy.ndarray
        A row for each deleted crawl: mean log coverage of the crawls that are left, log
        persistence, rate of growth, then the log coverage of each crawl; NaN where unidentifiable.
    """
    deleted = np.unique(np.concatenate([pairs.start, pairs.end]))
    included = (pairs.start != deleted[:, None]) & (pairs.end != deleted[:, None])
    fits = fit_columns(pairs, included)
    known = ~np.isnan(fits.level) & (True if latest is None else latest)
    level = np.where(known, fits.level, 0.0)
    n_known = known.sum(axis=1)
    typical = np.where(n_known > 0, level.sum(axis=1) / np.maximum(n_known, 1), np.nan)
    trends = np.array([growth_coefficients(pairs.years, crawls) for crawls in known])
    growth = np.sum(trends * (np.log(pairs.n_urls) - level), axis=1)
    growth = np.where(trends.any(axis=1), growth, np.nan)
    return np.column_stack([typical, fits.slope, growth, fits.level])


def jackknife_variance(replicates: Numbers) -> tuple[Numbers, Integers]:
    """Return (n − 1)/n times the squared deviations of the n usable replicates, and n.

    Parameters
    ----------
    replicates
        A row for each deleted crawl, a column for each estimate; NaN where it is not usable.
    """
    usable = ~np.isnan(replicates)
    n = usable.sum(axis=0)
    at_least_one = np.maximum(n, 1)
    mean = np.where(usable, replicates, 0.0).sum(axis=0) / at_least_one
    squares = np.where(usable, (replicates - mean) ** 2, 0.0).sum(axis=0)
    return (at_least_one - 1) / at_least_one * squares, n


# ---------------- how far each estimate of the two-way model may be off, on the scale of logarithms


LEVEL = 0.95
"""Share of intervals that hold the truth."""

NORMAL_QUANTILE = 1.959964
"""Of that level, two-sided."""

_N_COMMON = 3
_MIN_REPLICATES = 3
_TOO_FEW = "fewer than 3 crawls can be left out in turn: no interval is possible"
# A factor of half a billion to either side is no information, and its square a huge number.
_MAX_HALF_WIDTH = 20.0
_TOO_WIDE = "the pairs contradict each other so much that an interval would span everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """How far an interval reaches to either side of a logarithm, or why there is none."""

    half_width: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """The margins of all estimates of a series.

    Parameters
    ----------
    typical, persistence, growth
        Of the mean log coverage, the log persistence and the rate of growth.
    coverage, population
        Of each crawl; they differ only where its size is estimated from a sample.
    sampling_alone
        What the margin of the typical coverage would be if sampling were the only error, from
        the urn and of the URLs that were counted; None where it is not known.
    sample_alone
        How far the typical coverage may be from what it would be if all URLs had been counted;
        0 if they have been, and None where it is not known.
    """

    typical: Margin
    persistence: Margin
    growth: Margin
    coverage: tuple[Margin, ...]
    population: tuple[Margin, ...]
    sampling_alone: float | None
    sample_alone: float | None


def find_margins(pairs: PairData, fit: TwoWayFit) -> Margins:
    """Find the margins of a fit; empty ones where the fit itself says why there are none."""
    n = pairs.n_crawls
    margins = [Margin()] * (_N_COMMON + 2 * n)
    sampling_alone = sample_alone = None
    if not math.isnan(fit.tau_squared) and fit.typical.any():
        parameters, sizes = _list_estimates(pairs, fit)
        influence = weigh_pairs(pairs, fit, parameters)
        drawing, of_sample = _sampling_variances(pairs, fit, sizes, influence)
        sampling = drawing + of_sample
        sampling_alone, sample_alone = (
            NORMAL_QUANTILE * math.sqrt(variance[0]) for variance in (sampling, of_sample)
        )
        if fit.n_freedom > 0:
            margins = _leave_out(pairs, fit, influence, sampling)
    return Margins(
        typical=margins[0],
        persistence=margins[1],
        growth=margins[2],
        coverage=tuple(margins[_N_COMMON : _N_COMMON + n]),
        population=tuple(margins[_N_COMMON + n :]),
        sampling_alone=sampling_alone,
        sample_alone=sample_alone,
    )


def _list_estimates(pairs: PairData, fit: TwoWayFit) -> tuple[Numbers, Numbers]:
    """List typical coverage, persistence and growth, then the coverage of each crawl.

    For each, the coefficients of the log coverages and of the log persistence, and those of the
    logarithms of the crawls' sizes.
    """
    n, typical = pairs.n_crawls, fit.typical
    parameters, sizes = np.zeros((_N_COMMON + n, n + 1)), np.zeros((_N_COMMON + n, n))
    parameters[0, :n] = typical / typical.sum()
    parameters[1, n] = fit.has_persistence
    sizes[2] = growth_coefficients(pairs.years, typical)
    parameters[2, :n] = -sizes[2]
    parameters[_N_COMMON:, :n] = np.diag(fit.estimated)
    return parameters, sizes


def _and_populations(numbers: Numbers) -> Numbers:
    """Repeat the numbers of the crawls' coverages for their populations."""
    return np.concatenate([numbers, numbers[_N_COMMON:]])


def _sampling_variances(
    pairs: PairData, fit: TwoWayFit, sizes: Numbers, influence: Influence
) -> tuple[Numbers, Numbers]:
    """Return how much estimates vary by what the crawls draw and by what is counted.

    The former varies over urns and, where overlaps come with standard errors, over these; the
    latter over samples of the same crawls. After the listed estimates come the populations.
    """
    n, rate = pairs.n_crawls, pairs.sample_rate
    moments = urn_moments(urn_state(pairs, fit), influence)
    errors = np.zeros((n, n))
    errors.flat[_cells(pairs)] = pairs.relative_error**2
    drawing = moments.urn_variance() + np.sum(influence.shared**2 * errors, axis=(1, 2))
    of_sample = np.zeros(_N_COMMON + 2 * n)
    if rate < 1:
        # A size that is known in full has no error of sampling.
        estimated = np.abs(pairs.n_counted / rate - pairs.n_urls) <= 1
        sizes = sizes * estimated - influence.starts
        of_sample[: _N_COMMON + n] = moments.sample_variance(sizes, rate)
        # The logarithm of a population is that of the size minus that of the coverage.
        sizes[_N_COMMON:] -= np.diag(estimated)
        of_sample[_N_COMMON + n :] = moments.sample_variance(sizes, rate)[_N_COMMON:]
    return _and_populations(drawing), of_sample


def _leave_out(
    pairs: PairData, fit: TwoWayFit, influence: Influence, sampling: Numbers
) -> list[Margin]:
    """Add what leaving out crawls and the lack of fit show to the variance of sampling."""
    from scipy.special import stdtrit  # here, because it takes as long to load as all the rest

    replicates = delete_each_crawl(pairs, fit.latest)
    spread, n_replicates = jackknife_variance(replicates)
    model = np.maximum(spread, pooled_variance(pairs, fit, influence))
    n_usable = _and_populations(n_replicates.astype(np.float64))
    # Each replicate more is one degree of freedom more; the mean and the slope take two.
    quantiles = stdtrit(np.minimum(n_usable, len(replicates) - 2), (1 + LEVEL) / 2)
    half_widths = quantiles * np.sqrt(_and_populations(model) + sampling)
    return [
        Margin(reason=_TOO_FEW)
        if n < _MIN_REPLICATES
        else Margin(reason=_TOO_WIDE)
        if half_width > _MAX_HALF_WIDTH
        else Margin(half_width=half_width)
        for n, half_width in zip(n_usable.tolist(), half_widths.tolist(), strict=True)
    ]
