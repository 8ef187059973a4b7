"""The check lack-of-fit, and what one more term would explain of the scatter that it measures."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import Check, CheckSpec
from crawlgauge.model.intervals import jackknife_variance
from crawlgauge.model.pairs import Numbers, PairData
from crawlgauge.model.phrases import percent
from crawlgauge.model.two_way import TwoWayFit

__all__ = [
    "CERTAINTY",
    "LACK_OF_FIT",
    "AddedTerm",
    "add_term",
    "best_term",
    "check_lack_of_fit",
    "crawl_lags",
    "critical_t",
    "up_to",
]

LACK_OF_FIT = CheckSpec(
    id="lack-of-fit",
    threshold=0.05,
    question="Do the overlaps lie where the model puts them?",
    meaning=(
        "The model gives each crawl one coverage and all URLs one rate of decay. Scatter about it "
        "that has no pattern (a crawl that was disturbed, junk URLs that are never seen again) "
        "widens the intervals, which allow for it. Large scatter has a cause that the other checks "
        "may name. That URLs differ lastingly in how easily they are captured shows in no scatter "
        "at all: it moves every pair alike."
    ),
    computation=(
        "The effect is the standard deviation of ln(overlap) about the two-way model, after the "
        "variance of counting and of published sketches is taken away; it is 0 if a chi-square "
        "test (1 in 1000) finds nothing beyond counting. Below 0.02 is a good fit, below 0.05 a "
        "fair one; from 0.05 on the check warns, from 0.25 on it fails. After a change-point it is "
        "that of the pairs within regimes."
    ),
    advice=(
        "Look at the residuals by crawl. A crawl whose pairs all stand apart can be left out with "
        "--exclude; if the answer then changes, say so with the number."
    ),
)

_GOOD = 0.02
_FAIL = 0.25
_SIGNIFICANCE = 0.001


def check_lack_of_fit(pairs: PairData, fit: TwoWayFit) -> Check:
    """Measure how far the pairs lie from the two-way model, beyond what counting explains.

    The effect is the standard deviation of the log residuals after that of counting (and of
    published sketches) is taken away: 0.05 means that overlaps miss the model by about 5 %.
    """
    if not fit.has_remainder:
        return LACK_OF_FIT.not_testable(
            "as many numbers are estimated as there are pairs, and nothing is left over to judge "
            "the fit by. Add crawls, or supply missing overlaps."
        )
    scatter = _measure_scatter(pairs, fit)
    if scatter == 0:
        in_order = "The overlaps scatter about the model no more than counting explains."
        return LACK_OF_FIT.found("ok", scatter, in_order)
    amount = f"Overlaps miss the model by about {percent(scatter)}, beyond the noise of counting"
    if scatter < LACK_OF_FIT.threshold:
        grade = "good" if scatter < _GOOD else "fair"
        return LACK_OF_FIT.found("ok", scatter, f"{amount}: a {grade} fit.")
    if scatter < _FAIL:
        return LACK_OF_FIT.found(
            "warn",
            scatter,
            f"{amount}: a rough fit. The intervals allow for scatter without a pattern; look at "
            "the residuals of single crawls, and leave out a crawl that stands apart (--exclude) "
            "to see what depends on it.",
        )
    return LACK_OF_FIT.found(
        "fail",
        scatter,
        f"{amount}: these crawls do not behave as the model assumes, and its coverage should not "
        "be used. See which other check names the reason; if none does, look for crawls of another "
        "kind or scope among them and leave them out (--exclude).",
    )


def _measure_scatter(pairs: PairData, fit: TwoWayFit) -> float:
    from scipy.special import chdtri

    noise = pairs.log_variance
    residuals = pairs.log_forward - fit.log_containments(pairs.end, pairs.lag_years)
    dispersion = float(pairs.weight @ (residuals**2 / noise))
    if dispersion < chdtri(fit.n_freedom, _SIGNIFICANCE):
        return 0.0
    spread = float(pairs.weight @ residuals**2) / fit.n_freedom
    return math.sqrt(max(0.0, spread - float(pairs.weight @ noise) / pairs.n_pairs))


# --------------------------------------------------------------- one more term in the two-way model


CERTAINTY = (
    "Its certainty comes from leaving out one crawl at a time: the coefficient over its jackknife "
    "standard error is held against Student's t with T − 2 degrees of freedom"
)
"""In the words of every check that adds a term."""

_IDENTIFIED = 1e-9
_MIN_REPLICATES = 4


class AddedTerm(NamedTuple):
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


def add_term(pairs: PairData, fit: TwoWayFit, term: Numbers, *others: Numbers) -> AddedTerm | None:
    """Fit the two-way model with one more term, or return None where it is not identifiable.

    Rows that share a crawl depend on each other, so that only leaving out whole crawls shows
    how certain the coefficient is: an F test would take every pair for independent evidence.
    The other terms are in the model with and without the new one.
    """
    weight = pairs.fit_weights(fit.tau_squared)
    whole = _partial(pairs, weight, term, others)
    if whole is None:
        return None
    kept = ((pairs.start != crawl) & (pairs.end != crawl) for crawl in range(pairs.n_crawls))
    without = [_partial(pairs, np.where(rows, weight, 0.0), term, others) for rows in kept]
    replicates = np.array([replicate[0] for replicate in without if replicate is not None])
    # Leaving out one of two crawls that alone carry the term says nothing about it.
    if replicates.size < max(_MIN_REPLICATES, pairs.n_crawls - 1):
        return None
    coefficient, unexplained = whole
    error = math.sqrt(jackknife_variance(replicates[:, None])[0][0])
    t_value = coefficient / error if error > 0 else math.copysign(math.inf, coefficient)
    return AddedTerm(coefficient, t_value, unexplained)


def best_term(
    pairs: PairData, fit: TwoWayFit, terms: Mapping[int, Numbers], *others: Numbers
) -> int | None:
    """Return the key of the term that explains most, or None if none is identifiable."""
    weight = pairs.fit_weights(fit.tau_squared)
    unexplained = {
        key: partial[1]
        for key, term in terms.items()
        if (partial := _partial(pairs, weight, term, others)) is not None
    }
    return min(unexplained, key=lambda key: unexplained[key], default=None)


def critical_t(n_crawls: int, significance: float) -> float:
    """Return the value beyond which the t value of a term is certain."""
    from scipy.special import stdtrit

    return float(stdtrit(n_crawls - 2, 1 - significance))


def up_to(pairs: PairData, n_lags: int) -> Numbers:
    """Make the term that is 1 where crawls are up to `n_lags` crawl dates apart, else 0."""
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    return np.where((lags > 0) & (lags <= n_lags), 1.0, 0.0)


def crawl_lags(
    pairs: PairData, start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many crawl dates each end is after each start; 0 on the same date."""
    rank: NDArray[np.int64] = np.unique(pairs.days, return_inverse=True)[1]
    return rank[end] - rank[start]


def _partial(
    pairs: PairData, weight: Numbers, term: Numbers, others: tuple[Numbers, ...]
) -> tuple[float, float] | None:
    """Return the term's coefficient and the share of the squares that it leaves.

    Frisch–Waugh: response and term are freed of all else, then set against each other.
    """
    kept = weight > 0
    root = np.sqrt(weight)
    nuisance = [root * pairs.within_columns(weight, other) for other in (pairs.lag_years, *others)]
    basis, _, _ = np.linalg.svd(np.column_stack(nuisance), full_matrices=False)

    def free(values: Numbers) -> Numbers:
        left = root * pairs.within_columns(weight, values)
        freed: Numbers = left - basis @ (basis.T @ left)
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
