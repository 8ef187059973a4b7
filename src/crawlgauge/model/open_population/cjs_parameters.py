"""Which parameter each interval and each crawl has in the model of Cormack, Jolly and Seber."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.open_population.recaptures import Recaptures
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["UNUSED", "CjsParameters", "CoverageForm", "PersistenceForm", "number_parameters"]

PersistenceForm = Literal["common", "by-interval"]
CoverageForm = Literal["common", "by-crawl"]

UNUSED = -1
"""Stands for a parameter that would not matter."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CjsParameters:
    """The parameters, all of them shares, and what follows from them.

    Parameters
    ----------
    survival
        For each interval, the number of the parameter that its survival is a power of; `UNUSED`
        if no time passes, so that all survive.
    unit_years
        For each interval, the time over which the parameter is the survival.
    coverage
        For each crawl but the first, the number of its parameter; `UNUSED` if nothing is seen in
        it again, so that its coverage is 0.
    n_parameters
        Number of parameters.
    """

    survival: NDArray[np.int64]
    unit_years: NDArray[np.float64]
    coverage: NDArray[np.int64]
    n_parameters: int

    def __post_init__(self) -> None:
        freeze_arrays(self, "survival", "unit_years", "coverage")


def number_parameters(
    recaptures: Recaptures, persistence: PersistenceForm, coverage: CoverageForm
) -> CjsParameters:
    """Give the intervals and crawls their parameters.

    Parameters
    ----------
    recaptures
        The data.
    persistence
        Whether it is common to all intervals.
    coverage
        Whether it is common to all crawls.
    """
    lengths = recaptures.interval_years
    survival, n_survivals = _number(lengths > 0, is_common=persistence == "common")
    # Over the mean interval survival is neither near 0 nor near 1, whatever it is over a year.
    unit = np.mean(lengths[lengths > 0]) if np.any(lengths > 0) else 1.0
    is_common = coverage == "common"
    seen = recaptures.n_seen_before[1:] > 0
    ends, n_ends = _number(seen | (is_common & seen.any()), is_common=is_common)
    return CjsParameters(
        survival=survival,
        unit_years=np.full(lengths.shape, unit) if persistence == "common" else lengths,
        coverage=np.where(ends == UNUSED, UNUSED, ends + n_survivals),
        n_parameters=n_survivals + n_ends,
    )


def _number(used: NDArray[np.bool_], *, is_common: bool) -> tuple[NDArray[np.int64], int]:
    numbers = np.where(used, 0 if is_common else np.cumsum(used) - 1, UNUSED)
    return numbers, int(numbers.max(initial=UNUSED)) + 1
