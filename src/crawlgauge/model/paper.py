"""The published method: a line through the logarithms of all containments (arXiv:2603.15416)."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import PaperFit, StartFit
from crawlgauge.model.least_squares import fit_linear
from crawlgauge.model.pairs import MAX_LOG, PairData

__all__ = ["PooledLine", "fit_paper", "fit_pooled", "half_life"]

Direction = Literal["forward", "backward"]

_LINE_PARAMETERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledLine:
    """A line through log containments against the time difference.

    Parameters
    ----------
    log_coverage
        Intercept.
    log_persistence
        Slope per year.
    r_squared
        Share of the variance that the line explains; None without degrees of freedom.
    """

    log_coverage: float
    log_persistence: float
    r_squared: float | None

    @property
    def coverage(self) -> float:
        """The containment at time difference zero."""
        return math.exp(self.log_coverage)

    @property
    def persistence(self) -> float:
        """The factor by which the containment changes in a year."""
        return math.exp(self.log_persistence)

    def log_containments(self, lag_years: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the containment on the line at each time difference."""
        return self.log_coverage + self.log_persistence * lag_years


def fit_pooled(pairs: PairData, direction: Direction) -> PooledLine | None:
    """Fit one line through all pairs, or return None if the lags do not determine one.

    Parameters
    ----------
    pairs
        The pairs to fit.
    direction
        ``forward``: share of the earlier crawl found in the later, whose slope is the logarithm
        of the persistence. ``backward``: share of the later found in the earlier, whose slope is
        that minus the growth rate of the population.
    """
    log_containment = pairs.log_forward if direction == "forward" else pairs.log_backward
    return _fit_line(pairs.lag_years, log_containment, pairs.weight)


def fit_paper(pairs: PairData, labels: tuple[str, ...]) -> PaperFit:
    """Compute the published numbers: the pooled forward line and one for each starting crawl.

    Parameters
    ----------
    pairs
        The pairs to fit.
    labels
        Of the crawls, in date order.
    """
    pooled = fit_pooled(pairs, "forward")
    starts = tuple(_fit_start(pairs, k, label) for k, label in enumerate(labels))
    coverage = None if pooled is None else pooled.coverage
    return PaperFit(
        coverage=coverage,
        persistence=None if pooled is None else pooled.persistence,
        half_life_years=None if pooled is None else half_life(pooled.log_persistence),
        r_squared=None if pooled is None else pooled.r_squared,
        n_pairs=pairs.n_pairs,
        direction="forward",
        per_start=starts,
        self_intersections=tuple(
            coverage if start.coverage is None else start.coverage for start in starts
        ),
    )


def half_life(log_persistence: float) -> float | None:
    """Return the years in which half of the URLs are gone, or None if none ever are.

    Examples
    --------
    >>> round(half_life(math.log(0.73)), 1)
    2.2
    >>> half_life(0.0) is None
    True
    """
    return math.log(2) / -log_persistence if log_persistence < 0 else None


def _fit_start(pairs: PairData, crawl: int, label: str) -> StartFit:
    rows = pairs.start == crawl
    # Within one start a same-date pair occurs once, so that each row weighs the same.
    line = _fit_line(pairs.lag_years[rows], pairs.log_forward[rows], np.ones(int(rows.sum())))
    return StartFit(
        label=label,
        coverage=None if line is None else line.coverage,
        persistence=None if line is None else line.persistence,
        n_pairs=int(rows.sum()),
    )


def _fit_line(
    lag_years: NDArray[np.float64],
    log_containment: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> PooledLine | None:
    if np.unique(lag_years).size < _LINE_PARAMETERS:
        return None
    design = np.column_stack([np.ones(lag_years.size), lag_years])
    fit = fit_linear(design, log_containment, weight)
    if np.abs(fit.parameters).max() > MAX_LOG:
        return None
    centred = log_containment - np.average(log_containment, weights=weight)
    total = float(weight @ centred**2)
    has_freedom = weight.sum() > _LINE_PARAMETERS and total > 0
    return PooledLine(
        log_coverage=float(fit.parameters[0]),
        log_persistence=float(fit.parameters[1]),
        r_squared=1 - float(weight @ fit.residuals**2) / total if has_freedom else None,
    )
