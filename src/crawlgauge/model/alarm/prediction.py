"""What earlier crawls lead one to expect of the next: a level, perhaps a trend, and a scatter.

A number of each crawl, on the scale of logarithms, is taken to scatter normally about a constant or
about a line. Both are weighed by how well they give the earlier crawls, and the scatter is not
known either: all that the earlier crawls allow is averaged over, each possibility with its weight.
So a trend counts where it shows, and few crawls or scattered ones make for a wide prediction.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = ["MIN_EARLIER", "Prediction", "predict_next"]

Numbers = NDArray[np.float64]

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
