"""The check lack-of-fit, and what one more term would explain of the scatter that it measures."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import Check, Status
from crawlgauge.model.pairs import PairData
from crawlgauge.model.phrases import percent
from crawlgauge.model.two_way import TwoWayFit

__all__ = [
    "AddedTerm",
    "MakeTerm",
    "Term",
    "add_term",
    "best_term",
    "check_lack_of_fit",
    "crawl_lags",
    "up_to",
    "within_columns",
]

_GOOD = 0.02
_WARN = 0.05
_FAIL = 0.25
_SIGNIFICANCE = 0.001
_IDENTIFIED = 1e-9
_MIN_REPLICATES = 4

Term = NDArray[np.float64]
MakeTerm = Callable[[PairData], Term]


def check_lack_of_fit(pairs: PairData, fit: TwoWayFit) -> Check:
    """Measure how far the pairs lie from the two-way model, beyond what counting explains.

    The effect is the standard deviation of the log residuals after that of counting (and of
    published sketches) is taken away: 0.05 means that overlaps miss the model by about 5 %.

    Parameters
    ----------
    pairs
        The pairs.
    fit
        The two-way model of them.
    """
    if fit.n_freedom <= 0 or math.isnan(fit.tau_squared):
        return Check(
            id="lack-of-fit",
            status="na",
            effect=None,
            threshold=_WARN,
            message=(
                "Not testable: as many numbers are estimated as there are pairs, and nothing is "
                "left over to judge the fit by. Add crawls, or supply missing overlaps."
            ),
        )
    scatter = _measure_scatter(pairs, fit)
    return Check(
        id="lack-of-fit",
        status=_grade(scatter),
        effect=scatter,
        threshold=_WARN,
        message=_describe(scatter),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTerm:
    """One more term in the two-way model.

    Parameters
    ----------
    coefficient
        What the term adds to the logarithm of a containment.
    t_value
        The coefficient over its standard error from leaving out one crawl at a time.
    unexplained
        Sum of squares that the model leaves with the term, over that without it.
    """

    coefficient: float
    t_value: float
    unexplained: float


def add_term(
    pairs: PairData,
    fit: TwoWayFit,
    make_term: MakeTerm,
    *others: MakeTerm,
) -> AddedTerm | None:
    """Fit the two-way model with one more term, or return None where it is not identifiable.

    Rows that share a crawl depend on each other, so that only leaving out whole crawls shows
    how certain the coefficient is: an F test would take every pair for independent evidence.

    Parameters
    ----------
    pairs
        The pairs to fit.
    fit
        The two-way model of them, which gives the weights.
    make_term
        Returns the term's value in each row.
    others
        Further terms that are in the model with and without the new one.
    """
    weight = pairs.fit_weights(fit.tau_squared)
    term = make_term(pairs)
    nuisance = [pairs.lag_years, *(make(pairs) for make in others)]
    whole = _partial(pairs, weight, term, nuisance)
    if whole is None:
        return None
    replicates = []
    for crawl in range(pairs.n_crawls):
        kept = (pairs.start != crawl) & (pairs.end != crawl)
        replicate = _partial(pairs, np.where(kept, weight, 0.0), term, nuisance)
        if replicate is not None:
            replicates.append(replicate[0])
    n = len(replicates)
    # Leaving out one of two crawls that alone carry the term says nothing about it.
    if n < max(_MIN_REPLICATES, pairs.n_crawls - 1):
        return None
    variance = (n - 1) / n * float(np.sum((np.array(replicates) - np.mean(replicates)) ** 2))
    coefficient, unexplained = whole
    error = math.sqrt(variance)
    return AddedTerm(
        coefficient=coefficient,
        t_value=coefficient / error if error > 0 else math.copysign(math.inf, coefficient),
        unexplained=unexplained,
    )


def best_term(
    pairs: PairData, fit: TwoWayFit, terms: Mapping[int, MakeTerm], *others: MakeTerm
) -> int | None:
    """Return the key of the term that explains most, or None if none is identifiable.

    Parameters
    ----------
    pairs, fit, others
        As for `add_term`.
    terms
        The terms to choose among.
    """
    weight = pairs.fit_weights(fit.tau_squared)
    nuisance = [pairs.lag_years, *(make(pairs) for make in others)]
    unexplained = {
        key: partial[1]
        for key, make in terms.items()
        if (partial := _partial(pairs, weight, make(pairs), nuisance)) is not None
    }
    return min(unexplained, key=lambda key: unexplained[key], default=None)


def up_to(n_lags: int) -> MakeTerm:
    """Make the term that is 1 where crawls are up to `n_lags` crawl dates apart, else 0."""

    def make(pairs: PairData) -> Term:
        lags = crawl_lags(pairs, pairs.start, pairs.end)
        return np.where((lags > 0) & (lags <= n_lags), 1.0, 0.0)

    return make


def crawl_lags(
    pairs: PairData, start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many crawl dates each end is after each start; 0 on the same date."""
    rank: NDArray[np.int64] = np.unique(pairs.days, return_inverse=True)[1]
    return rank[end] - rank[start]


def within_columns(
    pairs: PairData, weight: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take from each value the weighted mean over the rows that end with the same crawl.

    What is left no longer depends on any crawl's coverage.
    """
    n = pairs.n_crawls
    total = np.bincount(pairs.end, weight, minlength=n)
    # A crawl without rows of weight has no mean, and no row that would ask for it.
    mean = np.bincount(pairs.end, weight * values, minlength=n) / np.where(total > 0, total, 1)
    return values - mean[pairs.end]


def _partial(
    pairs: PairData,
    weight: NDArray[np.float64],
    term: Term,
    nuisance: list[Term],
) -> tuple[float, float] | None:
    """Return the term's coefficient and the share of the squares that it leaves.

    Frisch–Waugh: response and term are freed of all else, then set against each other.
    """
    kept = weight > 0
    root = np.sqrt(weight)
    others = np.column_stack([root * within_columns(pairs, weight, other) for other in nuisance])
    basis, _, _ = np.linalg.svd(others, full_matrices=False)

    def free(values: NDArray[np.float64]) -> NDArray[np.float64]:
        left = root * within_columns(pairs, weight, values)
        freed: NDArray[np.float64] = left - basis @ (basis.T @ left)
        return freed

    response, freed = free(pairs.log_forward), free(term)
    size = float(freed @ freed)
    n_free = int(kept.sum()) - np.unique(pairs.end[kept]).size - len(nuisance)
    if n_free < 1 or size <= _IDENTIFIED * float(weight @ term**2):
        return None
    coefficient = float(freed @ response) / size
    before = float(response @ response)
    after = before - coefficient**2 * size
    return coefficient, max(after, 0.0) / before if before > 0 else 1.0


def _measure_scatter(pairs: PairData, fit: TwoWayFit) -> float:
    from scipy.special import chdtri

    noise = pairs.log_variance
    residuals = pairs.log_forward - fit.log_containments(pairs.end, pairs.lag_years)
    dispersion = float(pairs.weight @ (residuals**2 / noise))
    if dispersion < chdtri(fit.n_freedom, _SIGNIFICANCE):
        return 0.0
    spread = float(pairs.weight @ residuals**2) / fit.n_freedom
    return math.sqrt(max(0.0, spread - float(pairs.weight @ noise) / pairs.n_pairs))


def _grade(scatter: float) -> Status:
    if scatter < _WARN:
        return "ok"
    return "warn" if scatter < _FAIL else "fail"


def _describe(scatter: float) -> str:
    if scatter == 0:
        return "The overlaps scatter about the model no more than counting explains."
    amount = f"Overlaps miss the model by about {percent(scatter)}, beyond the noise of counting"
    match _grade(scatter):
        case "ok":
            return f"{amount}: a {'good' if scatter < _GOOD else 'fair'} fit."
        case "warn":
            return (
                f"{amount}: a rough fit. The intervals allow for scatter without a pattern; look "
                "at the residuals of single crawls, and leave out a crawl that stands apart "
                "(--exclude) to see what depends on it."
            )
        case _:
            return (
                f"{amount}: these crawls do not behave as the model assumes, and its coverage "
                "should not be used. See which other check names the reason; if none does, look "
                "for crawls of another kind or scope among them and leave them out (--exclude)."
            )
