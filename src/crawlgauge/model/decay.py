"""Shapes of decay: how containment falls with the time between two crawls.

Where the curves meet the axis at time difference zero is coverage. They hardly differ where there
are pairs, and may differ much there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.estimates import DecayCurve
from crawlgauge.model.pairs import MAX_LOG, Numbers, PairData
from crawlgauge.model.phrases import say, span
from crawlgauge.model.two_way import TwoWayFit

_MAX_RATE = 10.0
_MIN_WEIBULL_SHAPE = 0.3
_MAX_WEIBULL_SHAPE = 2.0
_N_SHAPE_PARAMETERS = 3


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

    @property
    def log_typical(self) -> float:
        """Mean logarithm of the coverage over the crawls that are estimated."""
        return float(np.nanmean(self.log_coverage))

    @property
    def coverage(self) -> float:
        """Typical coverage; above 1 where the shape leads there."""
        return math.exp(self.log_typical)


def outermost(shapes: Sequence[DecayShape]) -> tuple[DecayShape, DecayShape]:
    """Return the shapes with the lowest and the highest typical coverage."""
    ordered = sorted(shapes, key=lambda shape: shape.log_typical)
    return ordered[0], ordered[-1]


def fit_shapes(pairs: PairData, fit: TwoWayFit) -> tuple[DecayShape, ...]:
    """Fit the exponential, the Weibull and the bi-exponential shape; nothing where too few pairs.

    ``exponential``: −h·D. ``weibull``: −(h·D)^k, a rate that falls with age for k < 1.
    ``bi-exponential``: ln(w·e^(−h·D) + (1−w)·e^(−H·D)), two kinds of URL. The half-life of the
    faster kind is at least half the shortest lag: what dies sooner leaves no trace in any pair,
    and its share would be free to be anything.
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


def _fit_shape(
    pairs: PairData,
    fit: TwoWayFit,
    name: str,
    starts: list[list[float]],
    bounds: list[tuple[float, float]],
    to_parameters: Callable[[Numbers], Numbers] = np.asarray,
) -> DecayShape:
    from scipy import optimize

    weight = pairs.fit_weights(fit.tau_squared)
    root = np.sqrt(weight)

    def levels(searched: Numbers) -> Numbers:
        return pairs.log_forward - _LOG_DECAY[name](pairs.lag_years, *to_parameters(searched))

    def residuals(searched: Numbers) -> Numbers:
        return root * pairs.within_columns(weight, levels(searched))

    low, high = zip(*bounds, strict=True)
    results = [
        optimize.least_squares(residuals, start, bounds=(low, high), x_scale="jac")
        for start in starts
    ]
    best = min(results, key=lambda result: float(result.cost))
    left = levels(best.x)
    log_coverage = np.full(pairs.n_crawls, np.nan)
    log_coverage[pairs.end] = left - pairs.within_columns(weight, left)
    return DecayShape(
        name=name,
        log_coverage=log_coverage,
        squares=2 * float(best.cost),
        parameters=tuple(to_parameters(best.x).tolist()),
    )


# The logarithm of the share that lives on over each lag.
_LOG_DECAY: dict[str, Callable[..., Numbers]] = {
    "exponential": lambda lags, rate: -rate * lags,
    "weibull": lambda lags, rate, power: -((rate * lags) ** power),
    "bi-exponential": lambda lags, share, slow, fast: np.log(
        share * np.exp(-slow * lags) + (1 - share) * np.exp(-fast * lags)
    ),
}


# ---------------------------------------------------------------------------- as curves for a chart


# So many that no curve shows corners: the steepest falls to a half within a few of them.
_N_POINTS = 61

# Of what disappears more slowly, 99.9 % live on for a year: no series shows its end.
_LEAST_RATE = 1e-3


def draw_decay_curves(
    pairs: PairData, fit: TwoWayFit, shapes: Sequence[DecayShape], level: str
) -> tuple[DecayCurve, ...]:
    """Draw every shape of decay from time difference zero to the longest; nothing without a fit.

    Where the pairs are too few to compare shapes, only the exponential is drawn.
    """
    if not (fit.has_persistence and pairs.n_pairs and fit.estimated.any()):
        return ()
    steady = DecayShape(
        name="exponential",
        log_coverage=fit.log_coverage,
        squares=math.nan,
        parameters=(-fit.log_persistence,),
    )
    lags = np.linspace(0.0, float(pairs.lag_years.max()), _N_POINTS)
    return tuple(
        DecayCurve(
            name=shape.name,
            coverage=shape.coverage,
            lags_years=tuple(lags.tolist()),
            containment=tuple(np.exp(shape.log_typical + log_decay).tolist()),
            meaning=_explain(shape, level),
        )
        for shape in shapes or (steady,)
        # A curve out of all bounds, as crawls a day apart can give, says nothing.
        if float(np.max(log_decay := _LOG_DECAY[shape.name](lags, *shape.parameters))) < MAX_LOG
    )


def _explain(shape: DecayShape, level: str) -> str:
    if shape.name == "weibull":
        rate, power = shape.parameters
        half_life = math.log(2) ** (1 / power) / rate
        course = "falls" if power < 1 else "rises"
        return say("decay.weibull", level=level, course=course, half_life=half_life)
    if shape.name == "bi-exponential":
        share, *rates = shape.parameters
        slow, fast = map(_halve, rates)
        return say(
            "decay.bi-exponential", level=level, share=share, slow=slow, rest=1 - share, fast=fast
        )
    (rate,) = shape.parameters
    if rate <= 0:
        return say("decay.no-loss", level=level)
    return say("decay.exponential", level=level, half_life=math.log(2) / rate)


def _halve(rate: float) -> str:
    return f"are half gone after {span(math.log(2) / rate)}" if rate > _LEAST_RATE else "stay"
