"""Numbers of the newest crawl beside their predictions from the crawls before it."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate, Grade
from crawlgauge.model.intervals import LEVEL
from crawlgauge.model.pairs import MAX_LOG, PairData, freeze_arrays, pair_data
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = [
    "MIN_CRAWLS",
    "MIN_EARLIER",
    "NO_LEVEL",
    "Cause",
    "CheckStatus",
    "Comparison",
    "Comparisons",
    "Course",
    "Measure",
    "MeasureName",
    "NewestCheck",
    "Series",
    "compare_levels",
    "compare_newest",
    "find_level",
    "predict_next",
    "read_series",
]


# ------------------- the types of a check of the newest crawl: what was measured, and what it means


CheckStatus = Literal["in-line", "drop", "unknown"]
Course = Literal["in-line", "drop", "rise", "unknown"]
MeasureName = Literal["coverage", "size", "population", "overlap", "novelty"]
Cause = Literal["crawl-shrank", "web-grew-or-went-elsewhere", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number of the newest crawl beside what the earlier crawls lead one to expect.

    Parameters
    ----------
    name
        ``coverage``: share of what it could have reached. ``size``: its URLs. ``population``: what
        it could have reached. ``overlap``: share of its URLs that an earlier crawl holds as well.
        ``novelty``: share that no earlier crawl holds.
    course
        Whether it is below or above what is expected: by as much as is worth an alarm, and by more
        than chance. ``unknown`` where it cannot be told.
    found
        The number; None where it is not known. Coverage and population are those of the estimates.
    low, high
        Range of the number itself, where the estimates give one; None of what was counted.
    expected
        What was expected; its range holds that of single crawls that are in line.
    change
        The number over what was expected, minus 1: −0.5 for half of it.
    chance
        How likely a crawl that is in line would be so low or lower (so high or higher, where it is
        above); None where it is not tested by itself: population and novelty follow from overlap.
    """

    name: MeasureName
    course: Course
    found: float | None
    expected: Estimate
    change: Estimate
    chance: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestCheck:
    """Whether the newest crawl is in line with the ones before it.

    Parameters
    ----------
    status
        ``drop`` if coverage, size or overlap is below what is expected; ``unknown`` if it cannot
        be told.
    cause
        Where there is a drop, what has changed.
    statement
        The answer in words.
    level
        What was compared: ``url``, ``content`` or ``text``.
    grade
        That of the estimates, or ``none``: at C their ranges hold, and not their numbers.
    newest
        The crawl that is checked.
    compared_with
        Labels of the crawls it is compared with.
    overlap_with
        Label of the crawl that overlap is counted with; None if there is none.
    false_alarms
        How often a crawl that is in line may be taken for a drop.
    threshold
        Least drop that is worth an alarm, as a share.
    scatter
        Typical difference of a single crawl's coverage from its course, as a logarithm; None where
        it is not known.
    measures
        All that was measured; empty if nothing could be.
    warnings
        What to be careful about, in words.
    provenance
        Where the numbers come from.
    """

    status: CheckStatus
    cause: Cause | None
    statement: str
    level: str
    grade: Grade
    newest: Crawl
    measures: tuple[Measure, ...]
    compared_with: tuple[str, ...]
    overlap_with: str | None
    scatter: float | None
    false_alarms: float
    threshold: float
    warnings: tuple[str, ...]
    provenance: Provenance

    @property
    def has_drop(self) -> bool:
        """Whether there is a drop."""
        return self.status == "drop"

    def measure(self, name: MeasureName) -> Measure:
        """Return a measure by its name.

        Raises
        ------
        KeyError
            If it was not measured.
        """
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(name)


# ----- the coverage of each crawl for comparison with the others, apart from what the lags do to it


Numbers = NDArray[np.float64]

_N_SHORT = 2
"""Revisit policies reach back one crawl or two; what is older decays with time."""

_TAU = 0.05
"""Scatter of the logarithms beyond counting: pairs of millions of URLs weigh alike."""

_SMALLEST = 1e-9
"""Of the largest singular value: what lies below is not determined by the pairs."""


def compare_levels(pairs: PairData) -> Numbers:
    """Return the logarithm of each crawl's coverage, up to a constant that all have in common.

    Parameters
    ----------
    pairs
        Overlaps; where the scope changed, without the pairs across the change.

    Returns
    -------
    ndarray
        NaN for crawls without an earlier one to compare with, and for all where the pairs do not
        tell turnover from coverage.
    """
    found = np.full(pairs.n_crawls, np.nan)
    ends, column = np.unique(pairs.end, return_inverse=True)
    columns = np.zeros((pairs.end.size, ends.size))
    columns[np.arange(pairs.end.size), column] = 1
    weight = np.sqrt(pairs.weight / (_TAU**2 + pairs.log_variance))
    for n_short in range(_N_SHORT, -1, -1):
        effects = _lag_effects(pairs, n_short)
        design = np.hstack([columns, effects[:, effects.any(axis=0)]]) * weight[:, None]
        if design.size and _is_determined(design):
            solved = np.linalg.lstsq(design, pairs.log_forward * weight, rcond=None)[0]
            if np.abs(solved).max() <= MAX_LOG:
                found[ends] = solved[: ends.size]
                break
    return found


def _lag_effects(pairs: PairData, n_short: int) -> Numbers:
    n_apart = np.abs(pairs.end - pairs.start)
    short = [np.where(n_apart == n, 1.0, 0.0) for n in range(1, n_short + 1)]
    return np.column_stack([pairs.lag_years, *short])


def _is_determined(design: Numbers) -> bool:
    if design.shape[0] < design.shape[1]:
        return False
    singular = np.linalg.svd(design, compute_uv=False)
    return bool(singular[-1] > _SMALLEST * singular[0])


# --------- what is known of each crawl of the newest crawl's regime, as logarithms in order of time


_RULE_OF_THREE = 3
"""Where nothing was counted, more than three were expected in one of twenty cases at most."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """The crawls of the newest crawl's regime.

    Parameters
    ----------
    first
        Position of the first of them among all crawls.
    years
        Time of each.
    log_size
        Logarithm of the URLs of each.
    log_level
        Logarithm of the coverage of each, up to a constant; NaN where it is not known.
    error
        Standard error of the newest crawl's level by counting alone.
    partner
        Position among all crawls of the last one before the newest whose overlap with it is known;
        None if there is none.
    overlap
        Share of the newest crawl's URLs that the partner holds; None without one.
    shares_nothing
        Whether the newest crawl shares nothing with any earlier one; its level is then the most
        that it may be.
    """

    first: int
    years: Numbers
    log_size: Numbers
    log_level: Numbers
    error: float
    partner: int | None
    overlap: float | None
    shares_nothing: bool

    def __post_init__(self) -> None:
        freeze_arrays(self, "years", "log_size", "log_level")

    @property
    def log_partner(self) -> float | None:
        """What to add to the newest crawl's log level minus log size for the log of the overlap."""
        if not self.overlap or np.isnan(self.log_level[-1]):
            return None
        return math.log(self.overlap) - float(self.log_level[-1] - self.log_size[-1])


def read_series(table: OverlapTable, first: int = 0) -> Series:
    """Read off what an overlap table tells of the crawls that the newest one is comparable with.

    Parameters
    ----------
    table
        Overlaps of one crawl or more, without those across a change of scope.
    first
        Position of the first crawl of the newest crawl's scope.
    """
    newest = table.n_crawls - 1
    with_newest = table.n_shared[:newest, newest]
    known = np.flatnonzero(with_newest != MISSING)
    shares_nothing = known.size > 0 and not with_newest[known].any()
    partner = int(known[-1]) if known.size else None
    filled = table
    if shares_nothing:
        n_shared = table.n_shared.copy()
        sizes = np.array([crawl.n_counted for crawl in table.crawls])
        most = np.minimum(_RULE_OF_THREE, np.minimum(sizes[known], sizes[newest]))
        n_shared[known, newest] = n_shared[newest, known] = most
        filled = replace(table, n_shared=n_shared, histories=None)
    pairs = pair_data(filled)
    of_newest = pairs.log_variance[(pairs.end == newest) & (pairs.start < newest)]
    return Series(
        first=first,
        years=pairs.years[first:],
        log_size=np.log(pairs.n_urls[first:]),
        log_level=compare_levels(pairs)[first:],
        error=float(np.sqrt(of_newest.min(initial=np.inf))) if of_newest.size else 0.0,
        partner=partner,
        overlap=None if partner is None else with_newest[partner] / table.crawls[-1].n_counted,
        shares_nothing=bool(shares_nothing),
    )


# ----------------------------------------------- what earlier crawls lead one to expect of the next


MIN_EARLIER = 3
"""Two crawls show a difference; how much of it is scatter shows with a third."""

_MOST_EARLIER = 12
"""Crawls that are looked back on: longer ago, an archive was often made in another way."""

_TREND_SDS = (0.0, 0.3)
"""No trend, or one whose logarithm per year is about as large as this either way."""

_LEAST_SCATTER = 0.01
"""Crawls of one archive do not repeat each other to better than a hundredth."""

_USUAL_SCATTER = 0.3
_SCATTER_FACTOR = 2.0
"""Scatters are considered up to the usual one, or up to twice that of the earlier crawls.

Without a bound, five crawls would allow for a scatter that no archive has; a halved crawl would
then seem to be nothing unusual.
"""

_N_SCATTERS = 40
_FINE = 1e-4
_MAX_STEPS = 80
_FAR = 12.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """A mixture of normal distributions: what the next crawl's number should be.

    Parameters
    ----------
    weight, mean, deviation
        Of each normal distribution; the weights add up to 1.
    n_earlier
        Crawls that it rests on.
    trend
        Expected change of the logarithm per year.
    scatter
        Typical deviation of a single crawl.
    """

    weight: Numbers
    mean: Numbers
    deviation: Numbers
    n_earlier: int
    trend: float
    scatter: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "weight", "mean", "deviation")

    @property
    def expected(self) -> float:
        """The mean of the prediction."""
        return float(self.weight @ self.mean)

    def chance_below(self, value: float) -> float:
        """Return how likely the next crawl's number is to be so low or lower."""
        from scipy.special import ndtr

        return float(self.weight @ ndtr((value - self.mean) / self.deviation))

    def quantile(self, share: float) -> float:
        """Return the number that a share of predictions lies below."""
        low = float(np.min(self.mean - _FAR * self.deviation))
        high = float(np.max(self.mean + _FAR * self.deviation))
        for _ in range(_MAX_STEPS):
            middle = (low + high) / 2
            if self.chance_below(middle) < share:
                low = middle
            else:
                high = middle
            if high - low < _FINE:
                break
        return (low + high) / 2


def predict_next(
    years: Numbers, values: Numbers, next_year: float, least_scatter: float = 0.0
) -> Prediction | None:
    """Predict the number of the next crawl, or return None with fewer than three earlier ones.

    Parameters
    ----------
    years, values
        Time and number of each earlier crawl in order of time; NaN where it is not known.
    next_year
        Time of the next crawl.
    least_scatter
        Standard deviation that the numbers have by counting alone.

    Examples
    --------
    >>> years = np.arange(8) / 2
    >>> steady = np.array([0.02, -0.03, 0.01, 0.0, -0.02, 0.03, 0.0, -0.01])
    >>> abs(predict_next(years, steady, 4.0).expected) < 0.01
    True
    >>> round(predict_next(years, steady - 0.2 * years, 4.0).expected, 2)
    -0.8
    """
    known = ~np.isnan(values)
    years, values = years[known][-_MOST_EARLIER:], values[known][-_MOST_EARLIER:]
    n = values.size
    if n < MIN_EARLIER:
        return None
    time, level = years - years.mean(), values - values.mean()
    ahead = next_year - float(years.mean())
    spread, total = float(time @ time), float(level @ level)
    slope = float(time @ level) / spread if spread > 0 else 0.0
    least = np.hypot(_LEAST_SCATTER, least_scatter)
    most = max(_USUAL_SCATTER, _SCATTER_FACTOR * np.sqrt(total / (n - 1)), 2 * least)
    # A uniform weight over equal ratios: no scale of scatter is favoured.
    variance = np.geomspace(least, most, _N_SCATTERS) ** 2
    trend_variance = np.array(_TREND_SDS)[:, None] ** 2
    shrinkage = trend_variance * spread / (trend_variance * spread + variance)
    left = total - shrinkage * slope**2 * spread
    log_weight = (
        -(n - 1) / 2 * np.log(variance)
        - np.log1p(trend_variance * spread / variance) / 2
        - left / (2 * variance)
    )
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    trend = shrinkage * slope
    of_trend = trend_variance * variance / (trend_variance * spread + variance)
    deviation = np.sqrt(variance * (1 + 1 / n) + ahead**2 * of_trend)
    return Prediction(
        weight=weight.ravel(),
        mean=(values.mean() + trend * ahead).ravel(),
        deviation=np.broadcast_to(deviation, weight.shape).ravel(),
        n_earlier=n,
        trend=float(np.sum(weight * trend)),
        scatter=float(np.sqrt(np.sum(weight * variance))),
    )


# ------------------- numbers of the newest crawl beside their predictions from the crawls before it


MIN_CRAWLS = MIN_EARLIER + 2
"""The newest crawl, three to tell its coverage from, and a first, whose coverage never shows."""

NO_LEVEL = "not identifiable: the level of coverage is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A logarithm and its prediction.

    Parameters
    ----------
    found
        The logarithm of the newest crawl's number, up to a constant.
    prediction
        Of it, from the earlier crawls.
    scale
        That constant; None if it is not known.
    """

    found: float
    prediction: Prediction
    scale: float | None

    @property
    def deviation(self) -> float:
        """By how much the logarithm is above what was expected."""
        return self.found - self.prediction.expected

    @property
    def value(self) -> float | None:
        """The number itself."""
        if self.scale is None:
            return None
        # A logarithm and back: what was counted is a whole number again.
        value = math.exp(self.found + self.scale)
        return float(round(value)) if math.isclose(value, round(value), rel_tol=1e-12) else value

    @property
    def expected(self) -> Estimate:
        """What was expected of it."""
        if self.scale is None:
            return Estimate.unknown(NO_LEVEL)
        low, high = self._ends
        return Estimate(
            value=math.exp(self.prediction.expected + self.scale),
            low=math.exp(low + self.scale),
            high=math.exp(high + self.scale),
            level=LEVEL,
            basis="interval",
        )

    @property
    def change(self) -> Estimate:
        """The number over what was expected, minus 1."""
        low, high = self._ends
        return Estimate(
            value=math.expm1(self.deviation),
            low=math.expm1(self.found - high),
            high=math.expm1(self.found - low),
            level=LEVEL,
            basis="interval",
        )

    @property
    def _ends(self) -> tuple[float, float]:
        tail = (1 - LEVEL) / 2
        return self.prediction.quantile(tail), self.prediction.quantile(1 - tail)


Comparisons = dict[MeasureName, Comparison]


def find_level(series: Series, coverage: Estimate) -> float | None:
    """Return what to add to the levels of a series so that the newest crawl has its coverage.

    Parameters
    ----------
    series
        Levels up to a constant.
    coverage
        Of the newest crawl, by the estimates.
    """
    level = float(series.log_level[-1])
    if not coverage.value or math.isnan(level):
        return None
    return math.log(coverage.value) - level


def compare_newest(series: Series, level: float | None) -> Comparisons:
    """Compare coverage, size, overlap and population with what the earlier crawls predict.

    Parameters
    ----------
    series
        The crawls of one scope.
    level
        From `find_level`.

    Returns
    -------
    dict
        What can be predicted; empty with too few crawls.
    """
    if series.years.size < MIN_CRAWLS:
        return {}
    # Which share of the newest crawl earlier ones hold changes with what could be reached alone.
    log_known = series.log_level - series.log_size
    found: dict[MeasureName, Comparison | None] = {
        "coverage": _compare(series, series.log_level, level, series.error),
        "size": _compare(series, series.log_size, 0.0, 0.0),
        "overlap": _compare(series, log_known, series.log_partner, series.error),
    }
    overlap = found["overlap"]
    if overlap is not None:
        prediction = replace(
            overlap.prediction, mean=-overlap.prediction.mean, trend=-overlap.prediction.trend
        )
        scale = None if level is None else -level
        found["population"] = Comparison(found=-overlap.found, prediction=prediction, scale=scale)
    return {name: comparison for name, comparison in found.items() if comparison is not None}


def _compare(
    series: Series, values: NDArray[np.float64], scale: float | None, error: float
) -> Comparison | None:
    prediction = predict_next(series.years[:-1], values[:-1], float(series.years[-1]), error)
    if prediction is None or np.isnan(values[-1]):
        return None
    return Comparison(found=float(values[-1]), prediction=prediction, scale=scale)
