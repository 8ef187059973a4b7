"""The shapes of decay as curves for a chart: containment against time difference.

Where the curves meet the axis at time difference zero is coverage. They hardly differ where there
are pairs, and may differ much there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import DecayCurve
from crawlgauge.model.lack_of_fit import add_term, within_columns
from crawlgauge.model.pairs import MAX_LOG, PairData, freeze_arrays
from crawlgauge.model.phrases import percent, span, things
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["DecayShape", "coverage_range", "draw_decay_curves", "find_bend", "fit_shapes"]


# ---------------------------------------------------------------------------- other shapes of decay


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


# ------------------- the shapes of decay as curves for a chart: containment against time difference


_N_POINTS = 61
"""So many that no curve shows corners: the steepest falls to a half within a few of them."""


def draw_decay_curves(
    pairs: PairData, fit: TwoWayFit, shapes: Sequence[DecayShape], level: str
) -> tuple[DecayCurve, ...]:
    """Draw every shape of decay from time difference zero to the longest; nothing without a fit.

    Where the pairs are too few to compare shapes, only the exponential is drawn.

    Parameters
    ----------
    pairs
        The fitted pairs.
    fit
        Their two-way model.
    shapes
        The shapes that compete, the exponential first; empty where they are not fitted.
    level
        What is compared.
    """
    if not (fit.has_persistence and pairs.n_pairs and fit.estimated.any()):
        return ()
    lags = np.linspace(0.0, float(pairs.lag_years.max()), _N_POINTS)
    if not shapes:
        log_coverage = float(np.mean(fit.log_coverage[fit.estimated]))
        rate = -fit.log_persistence
        return (_draw("exponential", log_coverage, -rate * lags, lags, _steady(rate, level)),)
    return tuple(
        _draw(shape.name, shape.log_typical, log_decay, lags, _explain(shape, level))
        for shape in shapes
        # A curve out of all bounds, as crawls a day apart can give, says nothing.
        if float(np.max(log_decay := shape.log_decay(lags))) < MAX_LOG
    )


def _draw(
    name: str,
    log_coverage: float,
    log_decay: NDArray[np.float64],
    lags: NDArray[np.float64],
    meaning: str,
) -> DecayCurve:
    return DecayCurve(
        name=name,
        coverage=math.exp(log_coverage),
        lags_years=tuple(lags.tolist()),
        containment=tuple(np.exp(log_coverage + log_decay).tolist()),
        meaning=meaning,
    )


def _explain(shape: DecayShape, level: str) -> str:
    what = things(level)
    match shape.name, shape.parameters:
        case "weibull", (rate, power):
            half = math.log(2) ** (1 / power) / rate
            course = "falls" if power < 1 else "rises"
            return (
                f"The rate at which {what} disappear {course} steadily with the time since they "
                f"were captured; half of them are gone after {span(half)}."
            )
        case "bi-exponential", (share, slow, fast):
            return (
                f"There are two kinds of {what}: of those captured, {percent(share)} "
                f"{_halve(slow)}, and {percent(1 - share)} {_halve(fast)}."
            )
        case _, (rate, *_):
            return _steady(rate, level)
    raise ValueError(f"unknown shape of decay {shape.name!r}")


def _steady(rate: float, level: str) -> str:
    what = things(level)
    if rate <= 0:
        return f"All {what} are equally likely to disappear at any time; the overlaps show no loss."
    return (
        f"All {what} are equally likely to disappear at any time; half of them are gone after "
        f"{span(math.log(2) / rate)}."
    )


def _halve(rate: float) -> str:
    return f"are half gone after {span(math.log(2) / rate)}" if rate > _LEAST_RATE else "stay"


_LEAST_RATE = 1e-3
"""Of what disappears more slowly, 99.9 % live on for a year: no series shows its end."""
