"""Weighted least squares that says which parameters the data determine."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = ["LinearFit", "fit_linear"]

# One day of difference among decades leaves a singular value ratio of about 1e-4, so that
# anything this small is rounding and no information.
_RANK_TOLERANCE = 1e-10
_IDENTIFIED = 1 - 1e-8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearFit:
    """Parameters of a linear model, and what they leave unexplained.

    Parameters
    ----------
    parameters
        One for each column of the design; NaN where the data do not determine it.
    residuals
        Response minus fit, for each row.
    rank
        Number of independent columns.
    """

    parameters: NDArray[np.float64]
    residuals: NDArray[np.float64]
    rank: int

    def __post_init__(self) -> None:
        freeze_arrays(self, "parameters", "residuals")


def fit_linear(
    design: NDArray[np.float64], response: NDArray[np.float64], weight: NDArray[np.float64]
) -> LinearFit:
    """Fit ``response = design @ parameters`` by weighted least squares.

    Parameters
    ----------
    design
        A row for each observation, a column for each parameter.
    response
        What is to be explained.
    weight
        Weight of each row, positive.

    Examples
    --------
    >>> lags = np.array([1.0, 2.0, 3.0])
    >>> fit_linear(np.column_stack([lags, 2 * lags, np.ones(3)]), 5 - lags, np.ones(3)).parameters
    array([nan, nan,  5.])
    """
    root = np.sqrt(weight)
    left, singular, right = np.linalg.svd(design * root[:, None], full_matrices=False)
    kept = singular > _RANK_TOLERANCE * singular.max(initial=0.0)
    left, singular, right = left[:, kept], singular[kept], right[kept]
    # The shortest of all solutions fits as well as any; a parameter is determined if its unit
    # vector lies in the space that the rows span.
    solution = right.T @ ((left.T @ (response * root)) / singular)
    identified = np.sum(right**2, axis=0) > _IDENTIFIED
    return LinearFit(
        parameters=np.where(identified, solution, np.nan),
        residuals=response - design @ solution,
        rank=int(kept.sum()),
    )
