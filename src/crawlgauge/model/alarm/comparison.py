"""Numbers of the newest crawl beside their predictions from the crawls before it."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.alarm.newest_check import MeasureName
from crawlgauge.model.alarm.prediction import MIN_EARLIER, Prediction, predict_next
from crawlgauge.model.alarm.series import Series
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL

__all__ = ["MIN_CRAWLS", "NO_LEVEL", "Comparison", "Comparisons", "compare_newest", "find_level"]

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
