"""The published method: a line through the logarithms of all containments (arXiv:2603.15416)."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import PairResidual, PaperFit, StartFit
from crawlgauge.model.pairs import MAX_LOG, Flags, Integers, Numbers, PairData
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.overlaps.table import OverlapTable, Pair

# ----------------------------- weighted least squares that says which parameters the data determine


# One day of difference among decades leaves a singular value ratio of about 1e-4, so that
# anything this small is rounding and no information.
_RANK_TOLERANCE = 1e-10
_IDENTIFIED = 1 - 1e-8


def fit_linear(design: Numbers, response: Numbers, weight: Numbers) -> tuple[Numbers, Numbers]:
    """Fit ``response = design @ parameters`` by weighted least squares.

    Returns
    -------
    tuple
        The parameters, NaN where the data do not determine one, and the residuals.

    Examples
    --------
    >>> lags = np.array([1.0, 2.0, 3.0])
    >>> fit_linear(np.column_stack([lags, 2 * lags, np.ones(3)]), 5 - lags, np.ones(3))[0]
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
    return np.where(identified, solution, np.nan), response - design @ solution


# ----------------------------------------------------------------------------- the published method


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

    def log_containments(self, lag_years: Numbers) -> Numbers:
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
    """Compute the published numbers: the pooled forward line and one for each starting crawl."""
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


def _fit_line(lag_years: Numbers, log_containment: Numbers, weight: Numbers) -> PooledLine | None:
    if np.unique(lag_years).size < _LINE_PARAMETERS:
        return None
    design = np.column_stack([np.ones(lag_years.size), lag_years])
    parameters, residuals = fit_linear(design, log_containment, weight)
    if np.abs(parameters).max() > MAX_LOG:
        return None
    centred = log_containment - np.average(log_containment, weights=weight)
    total = float(weight @ centred**2)
    has_freedom = weight.sum() > _LINE_PARAMETERS and total > 0
    return PooledLine(
        log_coverage=float(parameters[0]),
        log_persistence=float(parameters[1]),
        r_squared=1 - float(weight @ residuals**2) / total if has_freedom else None,
    )


# ------------------------------------------------------------- how far each pair lies from the fits


def list_residuals(
    table: OverlapTable, line: PooledLine | None, fit: TwoWayFit
) -> tuple[PairResidual, ...]:
    """List the similarities of every known pair and its residuals."""
    positions = {crawl.label: k for k, crawl in enumerate(table.crawls)}
    pairs = tuple(table.pairs())
    lags = np.array([(pair.b.date - pair.a.date).days for pair in pairs]) / DAYS_PER_YEAR
    ends = np.array([positions[pair.b.label] for pair in pairs], dtype=np.int64)
    by_line = np.full(len(pairs), np.nan) if line is None else line.log_containments(lags)
    by_model = fit.log_containments(ends, lags)

    def residual(pair: Pair, fitted: float) -> float | None:
        if pair.n_shared == 0 or math.isnan(fitted):
            return None
        return math.log(pair.containment_a_in_b) - fitted

    return tuple(
        PairResidual(
            a=pair.a.label,
            b=pair.b.label,
            lag_years=lag,
            n_shared=pair.n_shared,
            containment=pair.containment_a_in_b,
            containment_backward=pair.containment_b_in_a,
            jaccard=pair.jaccard,
            dice=pair.dice,
            log_r=residual(pair, on_line),
            log_r_two_way=residual(pair, in_model),
        )
        for pair, lag, on_line, in_model in zip(
            pairs, lags.tolist(), by_line.tolist(), by_model.tolist(), strict=True
        )
    )


# ------------------------------------------------------------------------- pairs that share nothing


TOO_MANY_ZEROS = "more than a fifth of the pairs share nothing: capture histories are needed"

_MAX_ZERO_SHARE = 0.2
_FEW_EXPECTED = 5
_MANY_EXPECTED = 20


class ZeroPairs(NamedTuple):
    """The pairs that share nothing, and how much each was expected to share.

    Parameters
    ----------
    pairs
        Start and end of each, one row a pair.
    expected
        URLs expected to be shared according to the fit to the other pairs; NaN without a fit.
    """

    pairs: Integers
    expected: Numbers

    @property
    def n_chance(self) -> int:
        """Number of pairs of which so little was expected that chance explains the zero."""
        return int(np.sum(self.expected < _FEW_EXPECTED))

    @property
    def is_structural(self) -> Flags:
        """For each pair, whether so much was expected that the crawler must have avoided it."""
        return self.expected >= _MANY_EXPECTED

    @property
    def n_unclear(self) -> int:
        """Number of pairs that are neither."""
        return len(self.pairs) - self.n_chance - int(self.is_structural.sum())


def has_too_many_zeros(pairs: PairData) -> bool:
    """Tell whether more than a fifth of the known pairs share nothing."""
    return len(pairs.zeros) > _MAX_ZERO_SHARE * pairs.n_known


def expect_zeros(pairs: PairData, fit: TwoWayFit, line: PooledLine | None) -> ZeroPairs:
    """Compute what the pairs that share nothing were expected to share."""
    start, end = pairs.zeros[:, 0], pairs.zeros[:, 1]
    lags = pairs.lags_between(start, end)
    log_containment = fit.log_containments(end, lags)
    if line is not None:
        unknown = np.isnan(log_containment)
        log_containment = np.where(unknown, line.log_containments(lags), log_containment)
    return ZeroPairs(pairs=pairs.zeros, expected=pairs.n_counted[start] * np.exp(log_containment))
