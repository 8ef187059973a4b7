"""Other shapes of decay: how coverage would change if URLs did not all die at one steady rate.

Coverage is the containment carried back to lag zero, where there are no data: the shape decides.
Each shape stands in the two-way model in place of the straight line a·D.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.check_lack_of_fit import add_term, within_columns
from crawlgauge.model.pairs import PairData, freeze_arrays
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["Bend", "CoverageRange", "DecayShape", "coverage_range", "find_bend", "fit_shapes"]

Numbers = NDArray[np.float64]

_MAX_RATE = 10.0
_MIN_WEIBULL_SHAPE = 0.3
_MAX_WEIBULL_SHAPE = 2.0
_N_SHAPE_PARAMETERS = 3
_SIGNIFICANCE = 0.01
_MIN_CRAWLS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecayShape:
    """The two-way model with one shape of decay.

    Parameters
    ----------
    name
        ``exponential``, ``weibull`` or ``bi-exponential``.
    log_coverage
        For each crawl; NaN where it is not identifiable.
    squares
        Weighted sum of squares that the shape leaves.
    parameters
        Exponential: the rate h per year. Weibull: h and the power k. Bi-exponential: the share w
        of the slower kind, its rate h and the rate H of the faster kind.
    """

    name: str
    log_coverage: Numbers
    squares: float
    parameters: tuple[float, ...]

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")

    @property
    def log_typical(self) -> float:
        """Mean logarithm of the coverage over the crawls that are estimated."""
        return float(np.nanmean(self.log_coverage))

    def log_decay(self, lag_years: Numbers) -> Numbers:
        """Return the logarithm of the share that lives on over each lag."""
        return _CURVES[self.name](np.array(self.parameters), lag_years)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRange:
    """The typical coverage over several shapes of decay: the lowest and the highest.

    Parameters
    ----------
    low, high
        The coverages; above 1 where a shape leads there.
    low_shape, high_shape
        The shapes that give them.
    """

    low: float
    high: float
    low_shape: str
    high_shape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """How decay departs from a steady rate.

    Parameters
    ----------
    coefficient
        Above 0 if overlaps shrink fast at first and more slowly later.
    is_certain
        Whether it is above 0 and stands out from what leaving out single crawls does to it.
    """

    coefficient: float
    is_certain: bool


def find_bend(pairs: PairData, fit: TwoWayFit) -> Bend | None:
    """Tell whether decay slows down, or return None where it cannot be told.

    Parameters
    ----------
    pairs
        The pairs.
    fit
        The two-way model of them.
    """
    from scipy.special import stdtrit

    if pairs.n_crawls < _MIN_CRAWLS or fit.n_freedom <= 0 or math.isnan(fit.tau_squared):
        return None
    term = add_term(pairs, fit, _lag_times_its_log)
    if term is None:
        return None
    critical = float(stdtrit(pairs.n_crawls - 2, 1 - _SIGNIFICANCE))
    return Bend(coefficient=term.coefficient, is_certain=term.t_value > critical)


def fit_shapes(pairs: PairData, fit: TwoWayFit) -> tuple[DecayShape, ...]:
    """Fit the exponential, the Weibull and the bi-exponential shape; nothing where too few pairs.

    ``exponential``: −h·D. ``weibull``: −(h·D)^k, a rate that falls with age for k < 1.
    ``bi-exponential``: ln(w·e^(−h·D) + (1−w)·e^(−H·D)), two kinds of URL. The half-life of the
    faster kind is at least half the shortest lag: what dies sooner leaves no trace in any pair,
    and its share would be free to be anything.

    Parameters
    ----------
    pairs
        The pairs to fit.
    fit
        The two-way model of them, which gives the weights and the exponential shape.
    """
    lags = pairs.lag_years
    n_lags = np.unique(lags[lags > 0]).size
    if fit.n_freedom < _N_SHAPE_PARAMETERS or n_lags <= _N_SHAPE_PARAMETERS:
        return ()
    rate = float(np.clip(-fit.log_persistence, 0.01, _MAX_RATE / 2))
    fastest = 2 * math.log(2) / float(lags[lags > 0].min())
    slowest_step = fastest / 20

    def with_fast_rate(p: Numbers) -> Numbers:
        share, slow, gap = p
        return np.array([share, slow, slow + gap * max(fastest - slow, 0.0)])

    return (
        _fit_shape(pairs, fit, "exponential", [[rate]], [(-np.inf, np.inf)]),
        _fit_shape(
            pairs,
            fit,
            "weibull",
            [[rate, 1.0], [rate, 0.6]],
            [(1e-6, _MAX_RATE), (_MIN_WEIBULL_SHAPE, _MAX_WEIBULL_SHAPE)],
        ),
        _fit_shape(
            pairs,
            fit,
            "bi-exponential",
            [[0.95, rate, 0.1], [0.6, rate / 3, 0.3], [0.7, rate / 2, 0.9]],
            [(0.02, 1.0), (0.0, max(fastest, rate + slowest_step)), (0.0, 1.0)],
            with_fast_rate,
        ),
    )


def coverage_range(shapes: Sequence[DecayShape]) -> CoverageRange:
    """Return the lowest and the highest typical coverage among `shapes`.

    Parameters
    ----------
    shapes
        From `fit_shapes`, at least one.
    """
    ordered = sorted(shapes, key=lambda shape: shape.log_typical)
    return CoverageRange(
        low=math.exp(ordered[0].log_typical),
        high=math.exp(ordered[-1].log_typical),
        low_shape=ordered[0].name,
        high_shape=ordered[-1].name,
    )


def _lag_times_its_log(pairs: PairData) -> Numbers:
    # D·ln D is how a power of the lag departs from the lag itself: it bends most where lags are
    # short, which is where coverage is decided. The unit of time falls out, being linear in D.
    lags = pairs.lag_years
    return np.where(lags > 0, lags * np.log(np.where(lags > 0, lags, 1.0)), 0.0)


def _fit_shape(
    pairs: PairData,
    fit: TwoWayFit,
    name: str,
    starts: list[list[float]],
    bounds: list[tuple[float, float]],
    to_parameters: Callable[[Numbers], Numbers] = np.asarray,
) -> DecayShape:
    from scipy import optimize

    def curve(searched: Numbers) -> Numbers:
        return _CURVES[name](to_parameters(searched), pairs.lag_years)

    weight = pairs.fit_weights(fit.tau_squared)
    root = np.sqrt(weight)

    def residuals(searched: Numbers) -> Numbers:
        return root * within_columns(pairs, weight, pairs.log_forward - curve(searched))

    low, high = zip(*bounds, strict=True)
    results = [
        optimize.least_squares(residuals, start, bounds=(low, high), x_scale="jac")
        for start in starts
    ]
    best = min(results, key=lambda result: float(result.cost))
    left = pairs.log_forward - curve(best.x)
    level = left - within_columns(pairs, weight, left)
    log_coverage = np.full(pairs.n_crawls, np.nan)
    log_coverage[pairs.end] = level
    return DecayShape(
        name=name,
        log_coverage=log_coverage,
        squares=2 * float(best.cost),
        parameters=tuple(to_parameters(best.x).tolist()),
    )


def _exponential(p: Numbers, lags: Numbers) -> Numbers:
    curve: Numbers = -p[0] * lags
    return curve


def _weibull(p: Numbers, lags: Numbers) -> Numbers:
    curve: Numbers = -((p[0] * lags) ** p[1])
    return curve


def _bi_exponential(p: Numbers, lags: Numbers) -> Numbers:
    share, slow, fast = p
    curve: Numbers = np.log(share * np.exp(-slow * lags) + (1 - share) * np.exp(-fast * lags))
    return curve


_CURVES = {
    "exponential": _exponential,
    "weibull": _weibull,
    "bi-exponential": _bi_exponential,
}
