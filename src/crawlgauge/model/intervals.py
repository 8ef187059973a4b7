"""How far each estimate of the two-way model may be off, on the scale of logarithms.

The variance of an estimate is the larger of two, plus a third. The first shows when each crawl is
left out in turn; it needs no model of the errors, but sees little of crawls that few pairs tell
about. The second pools the lack of fit of all pairs. The third is that of drawing URLs from the
urn, of which the crawls show only a part among themselves, of counting in a sample, and of the
standard errors that overlaps come with.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.growth import growth_coefficients
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.two_way import TwoWayFit, fit_columns

__all__ = [
    "LEVEL",
    "NORMAL_QUANTILE",
    "Margin",
    "Margins",
    "delete_each_crawl",
    "find_components",
    "find_margins",
    "jackknife_variance",
    "urn_moments",
    "urn_state",
    "weigh_pairs",
]


# ------------------------------------------------------- how much each pair counts in each estimate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Influence:
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

    shared: NDArray[np.float64]
    starts: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "shared", "starts")


def weigh_pairs(pairs: PairData, fit: TwoWayFit, combinations: NDArray[np.float64]) -> Influence:
    """Write linear combinations of a fit's parameters as sums over the pairs.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        The fit, whose weights are taken as given.
    combinations
        For each wanted estimate, the coefficients of the crawls' log coverages and, last, of the
        log persistence; 0 for what is not identifiable.
    """
    n, end, lags = pairs.n_crawls, pairs.end, pairs.lag_years
    weight = pairs.fit_weights(fit.tau_squared)
    total = np.bincount(end, weight, minlength=n)
    total[total == 0] = 1.0
    mean_lag = np.bincount(end, weight * lags, minlength=n) / total
    of_slope = weight * (lags - mean_lag[end])
    of_slope *= 1 / float(of_slope @ lags) if fit.has_persistence else 0.0
    levels, slopes = combinations[:, :n], combinations[:, n]
    rows = levels[:, end] * (weight / total[end])
    rows += (slopes - levels @ mean_lag)[:, None] * of_slope
    # Both directions of a same-date pair are the same overlap.
    low, high = np.minimum(pairs.start, end), np.maximum(pairs.start, end)
    shared = _sum_by(low * n + high, rows, n * n).reshape(len(rows), n, n)
    return Influence(shared=shared, starts=_sum_by(pairs.start, rows, n))


def _sum_by(
    places: NDArray[np.int64], rows: NDArray[np.float64], n_places: int
) -> NDArray[np.float64]:
    return np.array([np.bincount(places, row, minlength=n_places) for row in rows])


# --------------------------------------------------------------- lack of fit, pooled over all pairs


_RANK_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorComponents:
    """Variances of the two parts of a residual.

    Parameters
    ----------
    of_start
        Variance that pairs with the same earlier crawl share.
    of_pair
        Variance of single pairs, as a multiple of what the fit's weights take it for.
    """

    of_start: float
    of_pair: float

    def variance(
        self, pairs: PairData, fit: TwoWayFit, influence: Influence
    ) -> NDArray[np.float64]:
        """Return the variance of each estimate that follows."""
        n = pairs.n_crawls
        low, high = np.minimum(pairs.start, pairs.end), np.maximum(pairs.start, pairs.end)
        weight = np.bincount(low * n + high, pairs.fit_weights(fit.tau_squared), minlength=n * n)
        expected = np.divide(1.0, weight, out=np.zeros(n * n), where=weight > 0).reshape(n, n)
        by_starts = np.sum(influence.starts**2, axis=1)
        by_pairs = np.einsum("fij,fij,ij->f", influence.shared, influence.shared, expected)
        variance: NDArray[np.float64] = self.of_start * by_starts + self.of_pair * by_pairs
        return variance


def find_components(pairs: PairData, fit: TwoWayFit) -> ErrorComponents:
    """Estimate the components by their moments (Henderson's third method).

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        Their two-way model, with degrees of freedom.
    """
    n, start, end = pairs.n_crawls, pairs.start, pairs.end
    weight = pairs.fit_weights(fit.tau_squared)
    total = np.bincount(end, weight, minlength=n)
    total[total == 0] = 1.0
    # Within columns there is a residual even where the level of the column means nothing.
    lags, residuals = (
        values - (np.bincount(end, weight * values, minlength=n) / total)[end]
        for values in (pairs.lag_years, pairs.log_forward)
    )
    by_pair = np.bincount(start * n + end, weight, minlength=n * n).reshape(n, n)
    # What is left of indicators of the starts once columns and slope are fitted.
    left = np.diag(by_pair.sum(axis=1)) - (by_pair / total) @ by_pair.T
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
    return ErrorComponents(of_start=of_start, of_pair=of_pair)


# -------- sampling variance of estimates under the urn, without forming the covariance of all pairs


# Probabilities of 1 leave no randomness at all; an estimate can exceed them.
_MAX_COVERAGE = 0.999
_MAX_PERSISTENCE = 0.9999
# Of a pair that shares something so little cannot be expected, but a bad fit may say so.
_LEAST_SHARED = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrnState:
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

    coverage: NDArray[np.float64]
    alive: NDArray[np.float64]
    moments: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "coverage", "alive", "moments")

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Expected size of each crawl."""
        return self.coverage * np.diagonal(self.alive)

    @property
    def shared(self) -> NDArray[np.float64]:
        """Expected overlap of each two crawls, and the size on the diagonal."""
        shared = self.alive * np.outer(self.coverage, self.coverage)
        np.fill_diagonal(shared, self.sizes)
        return shared


def urn_state(pairs: PairData, fit: TwoWayFit) -> UrnState:
    """Make the urn at the fitted values.

    A crawl without an estimate takes over the population of the next one that has one, crawls of
    one date share a population, and a population is never smaller than what survives of the one
    before it.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        The two-way model, with a coverage for one crawl or more.
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrnMoments:
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
    square: NDArray[np.float64]
    own: NDArray[np.float64]
    with_alive: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "square", "own", "with_alive")

    def urn_variance(self) -> NDArray[np.float64]:
        """Return the variance of each estimate over urns with these sizes and populations."""
        state = self.state
        first = np.unique(state.moments, return_index=True)[1]
        between, with_alive = state.alive[np.ix_(first, first)], self.with_alive[:, first]
        by_populations = np.sum(with_alive * np.linalg.solve(between, with_alive.T).T, axis=1)
        # Given the populations, the sizes of the crawls are independent of each other.
        by_sizes = self.own**2 @ ((1 - state.coverage) / state.sizes)
        left: NDArray[np.float64] = self.square - by_populations - by_sizes
        return left.clip(min=0.0)

    def sample_variance(
        self, sizes: NDArray[np.float64], sample_rate: float
    ) -> NDArray[np.float64]:
        """Return the variance of each estimate over samples of the same crawls.

        A sample keeps each URL in all crawls or in none, so that the errors of an overlap and of
        the size that it is set against largely cancel.

        Parameters
        ----------
        sizes
            For each estimate and crawl, the coefficient of the logarithm of the sampled size.
        sample_rate
            Share of the URLs that the sample keeps.
        """
        state = self.state
        per_url = sizes / state.sizes
        with_sizes = self.own + state.coverage * (self.with_alive - self.own)
        square: NDArray[np.float64] = (
            self.square
            + 2 * np.sum(per_url * with_sizes, axis=1)
            + np.sum(per_url * (per_url @ state.shared), axis=1)
        )
        return square.clip(min=0.0) * (1 - sample_rate) / sample_rate


def urn_moments(state: UrnState, influence: Influence) -> UrnMoments:
    """Compute the moments of estimates.

    Parameters
    ----------
    state
        The urn.
    influence
        The estimates.
    """
    shared, alive = np.maximum(state.shared, _LEAST_SHARED), np.triu(state.alive, k=1)
    # One estimate at a time: its matrices stay in the processor's cache.
    each = [_moments_of(state.coverage, alive, h / shared) for h in influence.shared]
    square, own, with_alive = (np.array(parts) for parts in zip(*each, strict=True))
    return UrnMoments(state=state, square=square, own=own, with_alive=with_alive)


def _moments_of(
    coverage: NDArray[np.float64], alive: NDArray[np.float64], h: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
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


def _sum_before(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return running sums that leave their own place out."""
    return np.cumsum(values, axis=axis) - values


def _sum_after(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return running sums from the other end that leave their own place out."""
    return np.flip(_sum_before(np.flip(values, axis), axis), axis)


# --------- the two-way model without each crawl in turn, and the variance that the differences show


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicates:
    """Estimates without one crawl each, a row for each deleted crawl; NaN where unidentifiable.

    Parameters
    ----------
    log_typical, log_persistence, log_growth
        Mean log coverage of the crawls that are left, and the rates per year.
    log_coverage
        Of each crawl that is left.
    """

    log_typical: NDArray[np.float64]
    log_persistence: NDArray[np.float64]
    log_growth: NDArray[np.float64]
    log_coverage: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_typical", "log_persistence", "log_growth", "log_coverage")

    @property
    def n_deleted(self) -> int:
        """Number of crawls that were deleted in turn."""
        return len(self.log_coverage)

    @property
    def by_estimate(self) -> NDArray[np.float64]:
        """A column for each estimate: the three rates, then the crawls."""
        return np.column_stack(
            [self.log_typical, self.log_persistence, self.log_growth, self.log_coverage]
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """For each estimate its jackknife variance, and the number of replicates it rests on."""

    variance: NDArray[np.float64]
    n_replicates: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "variance", "n_replicates")


def delete_each_crawl(pairs: PairData, latest: NDArray[np.bool_] | None = None) -> Replicates:
    """Refit the pairs without each crawl that takes part in any.

    Parameters
    ----------
    pairs
        The pairs of the whole series.
    latest
        Which crawls the typical coverage and the growth are of, if not of all.
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
    return Replicates(
        log_typical=typical,
        log_persistence=fits.slope,
        log_growth=np.where(trends.any(axis=1), growth, np.nan),
        log_coverage=fits.level,
    )


def jackknife_variance(replicates: NDArray[np.float64]) -> Spread:
    """Return (n − 1)/n times the squared deviations of the n usable replicates.

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
    return Spread(variance=(at_least_one - 1) / at_least_one * squares, n_replicates=n)


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
    """Find the margins of a fit; empty ones where the fit itself says why there are none.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        Their two-way model.
    """
    none = [Margin()] * (_N_COMMON + 2 * pairs.n_crawls)
    if math.isnan(fit.tau_squared) or not fit.typical.any():
        return _collect(none, None, None)
    wanted = _list_estimates(pairs, fit)
    influence = weigh_pairs(pairs, fit, wanted.parameters)
    drawing, of_sample, sample_of_populations = _sampling_variances(pairs, fit, wanted, influence)
    sampling = drawing + of_sample
    of_populations = drawing[_N_COMMON:] + sample_of_populations
    alone = [NORMAL_QUANTILE * math.sqrt(squared[0]) for squared in (sampling, of_sample)]
    if fit.n_freedom <= 0:
        return _collect(none, *alone)
    replicates = delete_each_crawl(pairs, fit.latest)
    spread = jackknife_variance(replicates.by_estimate)
    pooled = find_components(pairs, fit).variance(pairs, fit, influence)
    model = np.maximum(spread.variance, pooled)
    variance = np.concatenate([model + sampling, model[_N_COMMON:] + of_populations])
    n_replicates = np.concatenate([spread.n_replicates, spread.n_replicates[_N_COMMON:]])
    # Each replicate more is one degree of freedom more; the mean and the slope take two.
    most_freedom = replicates.n_deleted - 2
    return _collect(
        [
            _margin(float(squared), int(n), most_freedom)
            for squared, n in zip(variance, n_replicates, strict=True)
        ],
        *alone,
    )


def _margin(variance: float, n_replicates: int, most_freedom: int) -> Margin:
    from scipy.special import stdtrit  # here, because it takes as long to load as all the rest

    if n_replicates < _MIN_REPLICATES:
        return Margin(reason=_TOO_FEW)
    quantile = float(stdtrit(min(n_replicates, most_freedom), (1 + LEVEL) / 2))
    half_width = quantile * math.sqrt(variance)
    if half_width > _MAX_HALF_WIDTH:
        return Margin(reason=_TOO_WIDE)
    return Margin(half_width=half_width)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Wanted:
    """Typical coverage, persistence and growth, then the coverage of each crawl.

    Parameters
    ----------
    parameters
        For each, the coefficients of the log coverages and of the log persistence.
    sizes
        For each, the coefficients of the logarithms of the crawls' sizes.
    """

    parameters: NDArray[np.float64]
    sizes: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "parameters", "sizes")


def _list_estimates(pairs: PairData, fit: TwoWayFit) -> _Wanted:
    n, typical = pairs.n_crawls, fit.typical
    parameters, sizes = np.zeros((_N_COMMON + n, n + 1)), np.zeros((_N_COMMON + n, n))
    parameters[0, :n] = typical / typical.sum()
    parameters[1, n] = fit.has_persistence
    sizes[2] = growth_coefficients(pairs.years, typical)
    parameters[2, :n] = -sizes[2]
    parameters[_N_COMMON:, :n] = np.diag(fit.estimated)
    return _Wanted(parameters=parameters, sizes=sizes)


def _sampling_variances(
    pairs: PairData, fit: TwoWayFit, wanted: _Wanted, influence: Influence
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return how much the wanted estimates vary by what the crawls draw and by what is counted.

    The former varies over urns and, where overlaps come with standard errors, over these; the
    latter over samples of the same crawls. It is given for each crawl's population as well.
    """
    moments = urn_moments(urn_state(pairs, fit), influence)
    errors = np.zeros((pairs.n_crawls, pairs.n_crawls))
    low, high = np.minimum(pairs.start, pairs.end), np.maximum(pairs.start, pairs.end)
    errors[low, high] = pairs.relative_error**2
    drawing = moments.urn_variance() + np.sum(influence.shared**2 * errors, axis=(1, 2))
    if pairs.sample_rate == 1:
        return drawing, np.zeros_like(drawing), np.zeros(pairs.n_crawls)
    # A size that is known in full has no error of sampling.
    estimated = np.abs(pairs.n_counted / pairs.sample_rate - pairs.n_urls) <= 1
    sizes = wanted.sizes * estimated - influence.starts
    of_sample = moments.sample_variance(sizes, pairs.sample_rate)
    # The logarithm of a population is that of the size minus that of the coverage.
    sizes[_N_COMMON:] -= np.diag(estimated)
    return drawing, of_sample, moments.sample_variance(sizes, pairs.sample_rate)[_N_COMMON:]


def _collect(
    margins: list[Margin], sampling_alone: float | None, sample_alone: float | None
) -> Margins:
    n = (len(margins) - _N_COMMON) // 2
    return Margins(
        typical=margins[0],
        persistence=margins[1],
        growth=margins[2],
        coverage=tuple(margins[_N_COMMON : _N_COMMON + n]),
        population=tuple(margins[_N_COMMON + n :]),
        sampling_alone=sampling_alone,
        sample_alone=sample_alone,
    )
