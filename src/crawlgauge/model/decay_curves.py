"""The shapes of decay as curves for a chart: containment against time difference.

Where the curves meet the axis at time difference zero is coverage. They hardly differ where there
are pairs, and may differ much there.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.decay_shapes import DecayShape
from crawlgauge.model.estimates import DecayCurve
from crawlgauge.model.pairs import MAX_LOG, PairData
from crawlgauge.model.phrases import percent, span, things
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["draw_decay_curves"]

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
