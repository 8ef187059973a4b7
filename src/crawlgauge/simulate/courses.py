"""A number that each crawl has: constant, growing, shrinking, noisy, or given for each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SimulationError

__all__ = ["Course", "Series", "course_values", "first_value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A number that changes from crawl to crawl.

    Parameters
    ----------
    first
        Its value at the first crawl, before noise.
    growth_per_year
        What it grows by in a year: 0.2 for a fifth more, -0.2 for a fifth less.
    noise_sd
        Standard deviation of its logarithm around that course, drawn anew for each crawl.
    jump
        Factor by which it is larger from the middle of the series on.
    """

    first: float
    growth_per_year: float = 0.0
    noise_sd: float = 0.0
    jump: float = 1.0

    def __post_init__(self) -> None:
        if not self.growth_per_year > -1:
            raise SimulationError(
                f"a growth of {self.growth_per_year} a year; it must be above -1, "
                "which is a loss of all"
            )
        if not self.noise_sd >= 0:
            raise SimulationError(f"a noise of {self.noise_sd}; it cannot be negative")
        if not self.jump > 0:
            raise SimulationError(f"a jump by the factor {self.jump}; it must be above 0")


Series = float | Course | tuple[float, ...]
"""One number for all crawls, a course, or a number for each crawl."""


def course_values(
    series: Series, years: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the value of a series at each crawl.

    Parameters
    ----------
    series
        A number, a course, or a number for each crawl.
    years
        When the crawls take place.
    rng
        Used for noise only.

    Raises
    ------
    SimulationError
        If there is not one number for each crawl.
    """
    if isinstance(series, Course):
        values = series.first * (1 + series.growth_per_year) ** years
        values[years.size // 2 :] *= series.jump
        if series.noise_sd > 0:
            values = values * np.exp(series.noise_sd * rng.standard_normal(years.size))
        return values
    if isinstance(series, Sequence):
        if len(series) != years.size:
            raise SimulationError(
                f"{len(series)} numbers were given for {years.size} crawls; give one for each"
            )
        return np.array(series, dtype=np.float64)
    return np.full(years.size, float(series))


def first_value(series: Series) -> float:
    """Return the value of a series at the first crawl, before noise."""
    if isinstance(series, Course):
        return series.first
    return float(series[0]) if isinstance(series, Sequence) else float(series)
