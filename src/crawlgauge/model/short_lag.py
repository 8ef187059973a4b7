"""The check short-lag: whether crawls that follow each other closely share what they should.

A crawler that avoids pages it fetched recently makes neighbouring crawls share too little; one
that is seeded with them, or pages that live only briefly, make them share too much.
"""

import math
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.decay import DecayShape, slows_down
from crawlgauge.model.estimates import Check, CheckSpec
from crawlgauge.model.lack_of_fit import (
    CERTAINTY,
    AddedTerm,
    add_term,
    best_term,
    crawl_lags,
    critical_t,
    up_to,
)
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import expect_zeros, fit_pooled
from crawlgauge.model.phrases import percent, things
from crawlgauge.model.two_way import TwoWayFit, fit_columns

__all__ = ["SHORT_LAG", "ShortLag", "check_short_lag", "describe_short_lag", "find_short_lag"]

SHORT_LAG = CheckSpec(
    id="short-lag",
    threshold=0.03,
    question="Do neighbouring crawls share what the distant ones lead one to expect?",
    meaning=(
        "A crawler that avoids pages it fetched recently shares too little with the crawl before. "
        "Decay then looks slow or reversed, and coverage from all pairs is too low: in simulations "
        "by up to a quarter for an effect to −0.3, up to a half to −0.7, up to nine tenths beyond. "
        "A crawler that starts from the pages of the crawl before shares too much, and coverage is "
        "too high; but many short-lived pages look the same and make it too low. The range that is "
        "named spans both; after re-seeding its lower end was still 2 to 5 % too high in "
        "simulations."
    ),
    computation=(
        "The two-way model gets one more term, which is 1 for crawls up to L apart (L = 1, 2 or 3, "
        "whichever explains most). The effect is its coefficient: the logarithm of what such "
        f"crawls share over what they should. {CERTAINTY} (1 in 100). It warns beyond 0.03 either "
        "way and fails below −0.3, or if neighbouring crawls share nothing where at least 20 URLs "
        "are expected. An excess that a shape of decay explains three times better is left to the "
        "check curvature."
    ),
    advice=(
        "Leave out the affected pairs with --min-lag L+1. In simulations of avoidance the coverage "
        "is then right within a tenth for an effect to −0.3, too high by up to 30 % to −0.7, and "
        "up to twice too high beyond; the range over further lags held the truth in 19 of 20. "
        "Capture histories show who was avoided and resolve it."
    ),
)

_MILD = 0.3
_STRONG = 0.7
_SIGNIFICANCE = 0.01
_MAX_LAG = 3
_MIN_CRAWLS = 5
_N_CUTS = 3
# How much less a shape of decay must leave before it counts as the better account. Simulated
# with eight or more crawls: re-seeding leaves up to 3 times what the best shape leaves, mixed
# lifetimes 5 times and more.
_SHAPE_ADVANTAGE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLag:
    """What is odd about crawls that follow each other closely.

    Parameters
    ----------
    first_lag, n_lags
        How many crawls apart the affected ones are at least and at most.
    coefficient
        Logarithm of what they share over what they should; if that is nothing, of 1 over it.
    shares_nothing
        Whether most of them share nothing at all.
    cut
        Typical coverage without the affected pairs; None where it is not identifiable.
    cut_low, cut_high
        The lowest and highest typical coverage when one or two more lags are left out as well.
    """

    first_lag: int
    n_lags: int
    coefficient: float
    shares_nothing: bool
    cut: float | None
    cut_low: float | None
    cut_high: float | None

    @property
    def is_avoidance(self) -> bool:
        """Whether neighbouring crawls share too little."""
        return self.coefficient < 0


def find_short_lag(
    pairs: PairData, fit: TwoWayFit, shapes: tuple[DecayShape, ...]
) -> ShortLag | None:
    """Find an effect of short lags, or return None if there is none that matters."""
    empty = _find_empty_lags(pairs, fit)
    if empty is not None:
        n_lags, expected = empty
        return _cut_off(pairs, n_lags, -math.log(expected), shares_nothing=True)
    strongest = _strongest(pairs, fit)
    if strongest is None:
        return None
    n_lags, term = strongest
    if not _is_material(term, pairs.n_crawls) or _is_decay(pairs, fit, shapes, term):
        return None
    return _cut_off(pairs, n_lags, term.coefficient, shares_nothing=False)


def _find_empty_lags(pairs: PairData, fit: TwoWayFit) -> tuple[int, float] | None:
    """Return up to which lag most pairs share nothing, and how much they should."""
    zeros = expect_zeros(pairs, fit, fit_pooled(pairs, "forward"))
    empty = zeros.pairs[zeros.is_structural]
    empty_lags = crawl_lags(pairs, empty[:, 0], empty[:, 1])
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    n_lags = 0
    while np.sum(empty_lags == n_lags + 1) > np.sum(lags == n_lags + 1):
        n_lags += 1
    return (n_lags, float(np.median(zeros.expected[zeros.is_structural]))) if n_lags else None


def _strongest(pairs: PairData, fit: TwoWayFit) -> tuple[int, AddedTerm] | None:
    """Return the lag up to which an effect explains most, and the effect; None if untestable."""
    if pairs.n_crawls < _MIN_CRAWLS or not fit.has_remainder:
        return None
    terms = {lag: up_to(pairs, lag) for lag in range(1, _MAX_LAG + 1)}
    lag = best_term(pairs, fit, terms)
    term = None if lag is None else add_term(pairs, fit, terms[lag])
    return None if lag is None or term is None else (lag, term)


def _is_material(term: AddedTerm, n_crawls: int) -> bool:
    is_certain = abs(term.t_value) > critical_t(n_crawls, _SIGNIFICANCE)
    return abs(term.coefficient) > SHORT_LAG.threshold and is_certain


def _is_decay(
    pairs: PairData, fit: TwoWayFit, shapes: tuple[DecayShape, ...], term: AddedTerm
) -> bool:
    """Tell whether an excess is the beginning of a decay that slows down."""
    if term.coefficient < 0 or not shapes or shapes[0].squares == 0 or not slows_down(pairs, fit):
        return False
    best = min(shape.squares for shape in shapes) / shapes[0].squares
    return _SHAPE_ADVANTAGE * best < term.unexplained


def _cut_off(pairs: PairData, n_lags: int, coefficient: float, *, shares_nothing: bool) -> ShortLag:
    """Describe an effect, with the coverage of the pairs that it leaves alone."""
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    # Nothing was avoided between crawls of the same date: their pairs stay.
    included = np.array([(lags == 0) | (lags > n_lags + more) for more in range(_N_CUTS)])
    fits = fit_columns(pairs, included)
    cuts = [
        math.exp(float(np.nanmean(level)))
        for level, n_freedom in zip(fits.level, fits.n_freedom, strict=True)
        if n_freedom > 0 and not np.isnan(level).all()
    ]
    return ShortLag(
        first_lag=1 if shares_nothing else int(lags[lags > 0].min()),
        n_lags=n_lags,
        coefficient=coefficient,
        shares_nothing=shares_nothing,
        cut=cuts[0] if cuts else None,
        cut_low=min(cuts, default=None),
        cut_high=max(cuts, default=None),
    )


def check_short_lag(
    pairs: PairData,
    fit: TwoWayFit,
    found: ShortLag | None,
    shapes: tuple[DecayShape, ...],
    level: str,
) -> Check:
    """Say whether crawls that follow each other closely share what they should.

    The effect is the logarithm of what they share over what the later pairs lead to expect:
    −0.1 means a tenth too few. It warns below −0.03 or above 0.03, and fails below −0.3, from
    where on leaving out the affected pairs no longer repairs the estimate.
    """
    what = things(level)
    if found is not None:
        return SHORT_LAG.found(
            "fail" if found.coefficient < -_MILD else "warn",
            found.coefficient,
            describe_short_lag(found, what, shapes),
        )
    strongest = _strongest(pairs, fit)
    if strongest is None:
        return SHORT_LAG.not_testable(
            f"whether neighbouring crawls avoid or repeat each other shows only with {_MIN_CRAWLS} "
            "or more crawls and the overlaps of most pairs. Ask how the crawler treats pages that "
            "it fetched before."
        )
    term = strongest[1]
    if abs(term.coefficient) <= SHORT_LAG.threshold:
        message = "Neighbouring crawls share what the distant ones lead one to expect."
        return SHORT_LAG.found("ok", term.coefficient, message)
    amount = percent(abs(math.expm1(term.coefficient)))
    more = "more" if term.coefficient > 0 else "fewer"
    reason = "does not stand out from the scatter between crawls"
    if _is_material(term, pairs.n_crawls):
        reason = "a decay that slows down explains better (see curvature)"
    return SHORT_LAG.found(
        "ok",
        term.coefficient,
        f"Neighbouring crawls share {amount} {more} {what} than the distant ones lead one to "
        f"expect, which {reason}.",
    )


def describe_short_lag(
    found: ShortLag, what: str, shapes: tuple[DecayShape, ...] = (), *, is_settled: bool = False
) -> str:
    """Say what neighbouring crawls share, and what pairs can only guess at unless it is settled."""
    describe = _describe_avoidance if found.is_avoidance else _describe_excess
    return describe(found, what, shapes, is_settled)


def _describe_avoidance(
    found: ShortLag, what: str, _shapes: tuple[DecayShape, ...], is_settled: bool
) -> str:
    if found.shares_nothing:
        finding = f"{_name(found)} share hardly any {what}, although distant ones do"
    else:
        amount = percent(-math.expm1(found.coefficient))
        finding = (
            f"{_name(found)} share {amount} fewer {what} than the distant ones lead one to expect"
        )
    resolve = "" if is_settled else "; capture histories resolve it"
    if found.coefficient >= -_MILD:
        by, error = "up to a quarter", "and right within a tenth"
    elif found.coefficient >= -_STRONG:
        by, error = "up to a half", f"but may still be too high by up to 30 %{resolve}"
    else:
        by, error = "a quarter to nine tenths", f"but may still be up to twice too high{resolve}"
    return (
        f"{finding}: this crawler avoids pages that it fetched recently. Coverage from all pairs "
        f"is then too low, in simulations by {by}. Without the affected pairs (--min-lag "
        f"{found.n_lags + 1}) it is {_say_cut(found)}, {error}."
    )


def _describe_excess(
    found: ShortLag, what: str, shapes: tuple[DecayShape, ...], is_settled: bool
) -> str:
    amount = percent(math.expm1(found.coefficient))
    finding = f"{_name(found)} share {amount} more {what} than the distant ones lead one to expect."
    if is_settled:
        return finding
    between = "cannot be told"
    if shapes and found.cut_low is not None:
        high = max(shape.coverage for shape in shapes)
        between = f"lies between about {percent(found.cut_low)} and {percent(high)}"
    return (
        f"{finding} Either the crawler starts from pages of the crawl before, and coverage is "
        "lower than stated, or many pages live only briefly, and it is higher: pairs of crawls "
        f"cannot tell these apart. Coverage {between}; capture histories decide it."
    )


def _name(found: ShortLag) -> str:
    if found.n_lags == 1:
        return "Adjacent crawls"
    if found.first_lag == 1:
        return f"Adjacent crawls, and others up to {found.n_lags} crawls apart,"
    return f"Crawls that are at most {found.n_lags} crawls apart"


def _say_cut(found: ShortLag) -> str:
    if found.cut is None or found.cut_low is None or found.cut_high is None:
        return "unknown, as too few pairs are left"
    cut, low, high = (percent(share) for share in (found.cut, found.cut_low, found.cut_high))
    if low == high:
        return f"about {cut}"
    return f"about {cut} ({low} to {high} if further lags are left out)"
