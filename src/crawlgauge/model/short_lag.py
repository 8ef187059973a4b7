"""The check short-lag: whether crawls that follow each other closely share what they should.

A crawler that avoids pages it fetched recently makes neighbouring crawls share too little; one
that is seeded with them, or pages that live only briefly, make them share too much.
"""

import math
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.decay import DecayShape, find_bend
from crawlgauge.model.estimates import Check
from crawlgauge.model.lack_of_fit import (
    AddedTerm,
    add_term,
    best_term,
    crawl_lags,
    up_to,
)
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import expect_zeros, fit_pooled
from crawlgauge.model.phrases import percent, things
from crawlgauge.model.two_way import TwoWayFit, fit_columns

__all__ = ["ShortLag", "check_short_lag", "find_short_lag"]

_THRESHOLD = 0.03
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

    @property
    def is_grave(self) -> bool:
        """Whether leaving out the affected pairs does not repair the estimate."""
        return self.coefficient < -_MILD


def find_short_lag(
    pairs: PairData, fit: TwoWayFit, shapes: tuple[DecayShape, ...]
) -> ShortLag | None:
    """Find an effect of short lags, or return None if there is none that matters.

    Parameters
    ----------
    pairs
        All pairs.
    fit
        The two-way model of them.
    shapes
        Other shapes of decay; an excess that one of them explains better is theirs.
    """
    empty = _find_empty_lags(pairs, fit)
    if empty is not None:
        n_lags, expected = empty
        return _describe_effect(pairs, n_lags, -math.log(expected), shares_nothing=True)
    best = _strongest(pairs, fit)
    if best is None:
        return None
    lag, term = best
    if not _is_material(term, pairs.n_crawls) or _is_decay(pairs, fit, shapes, term):
        return None
    return _describe_effect(pairs, lag, term.coefficient, shares_nothing=False)


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

    Parameters
    ----------
    pairs, fit, shapes
        As for `find_short_lag`.
    found
        What it returned.
    level
        What is compared.
    """
    if found is not None:
        return Check(
            id="short-lag",
            status="fail" if found.is_grave else "warn",
            effect=found.coefficient,
            threshold=_THRESHOLD,
            message=_describe(found, shapes, things(level)),
        )
    best = _strongest(pairs, fit)
    if best is None:
        return Check(
            id="short-lag",
            status="na",
            effect=None,
            threshold=_THRESHOLD,
            message=(
                "Not testable: whether neighbouring crawls avoid or repeat each other shows only "
                f"with {_MIN_CRAWLS} or more crawls and the overlaps of most pairs. Ask how the "
                "crawler treats pages that it fetched before."
            ),
        )
    return Check(
        id="short-lag",
        status="ok",
        effect=best[1].coefficient,
        threshold=_THRESHOLD,
        message=_describe_in_order(best[1], pairs.n_crawls, things(level)),
    )


def _strongest(pairs: PairData, fit: TwoWayFit) -> tuple[int, AddedTerm] | None:
    """Return the lag up to which an effect explains most, and the effect; None if untestable."""
    if pairs.n_crawls < _MIN_CRAWLS or fit.n_freedom <= 0 or math.isnan(fit.tau_squared):
        return None
    lag = best_term(pairs, fit, {lag: up_to(lag) for lag in range(1, _MAX_LAG + 1)})
    term = None if lag is None else add_term(pairs, fit, up_to(lag))
    return None if lag is None or term is None else (lag, term)


def _is_material(term: AddedTerm, n_crawls: int) -> bool:
    from scipy.special import stdtrit

    critical = float(stdtrit(n_crawls - 2, 1 - _SIGNIFICANCE))
    return abs(term.coefficient) > _THRESHOLD and abs(term.t_value) > critical


def _is_decay(
    pairs: PairData, fit: TwoWayFit, shapes: tuple[DecayShape, ...], term: AddedTerm
) -> bool:
    """Tell whether an excess is the beginning of a decay that slows down."""
    if term.coefficient < 0 or not shapes or shapes[0].squares == 0:
        return False
    bend = find_bend(pairs, fit)
    if bend is None or not bend.is_certain:
        return False
    best = min(shape.squares for shape in shapes) / shapes[0].squares
    return _SHAPE_ADVANTAGE * best < term.unexplained


def _find_empty_lags(pairs: PairData, fit: TwoWayFit) -> tuple[int, float] | None:
    """Return up to which lag most pairs share nothing, and how much they should."""
    zeros = expect_zeros(pairs, fit, fit_pooled(pairs, "forward"))
    if not zeros.is_structural.any():
        return None
    empty = zeros.pairs[zeros.is_structural]
    empty_lags = crawl_lags(pairs, empty[:, 0], empty[:, 1])
    lags = crawl_lags(pairs, pairs.start, pairs.end)
    n_lags = 0
    for lag in range(1, pairs.n_crawls):
        if np.sum(empty_lags == lag) <= np.sum(lags == lag):
            break
        n_lags = lag
    if n_lags == 0:
        return None
    return n_lags, float(np.median(zeros.expected[zeros.is_structural]))


def _describe_effect(
    pairs: PairData, n_lags: int, coefficient: float, *, shares_nothing: bool
) -> ShortLag:
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


def _describe_in_order(term: AddedTerm, n_crawls: int, what: str) -> str:
    if abs(term.coefficient) <= _THRESHOLD:
        return "Neighbouring crawls share what the distant ones lead one to expect."
    amount = percent(abs(math.expm1(term.coefficient)))
    more = "more" if term.coefficient > 0 else "fewer"
    reason = "does not stand out from the scatter between crawls"
    if _is_material(term, n_crawls):
        reason = "a decay that slows down explains better (see curvature)"
    return (
        f"Neighbouring crawls share {amount} {more} {what} than the distant ones lead one to "
        f"expect, which {reason}."
    )


def _describe(found: ShortLag, shapes: tuple[DecayShape, ...], what: str) -> str:
    who = _name(found)
    if not found.is_avoidance:
        return _describe_excess(found, shapes, who, what)
    if found.shares_nothing:
        finding = f"{who} share hardly any {what}, although distant ones do"
    else:
        amount = percent(-math.expm1(found.coefficient))
        finding = f"{who} share {amount} fewer {what} than the distant ones lead one to expect"
    cause = "this crawler avoids pages that it fetched recently"
    return f"{finding}: {cause}. {_describe_error(found)}"


def _name(found: ShortLag) -> str:
    if found.n_lags == 1:
        return "Adjacent crawls"
    if found.first_lag == 1:
        return f"Adjacent crawls, and others up to {found.n_lags} crawls apart,"
    return f"Crawls that are at most {found.n_lags} crawls apart"


def _describe_error(found: ShortLag) -> str:
    resolve = "; capture histories resolve it"
    if found.coefficient >= -_MILD:
        by, error = "up to a quarter", "and right within a tenth"
    elif found.coefficient >= -_STRONG:
        by, error = "up to a half", f"but may still be too high by up to 30 %{resolve}"
    else:
        by, error = "a quarter to nine tenths", f"but may still be up to twice too high{resolve}"
    return (
        f"Coverage from all pairs is then too low, in simulations by {by}. Without the affected "
        f"pairs (--min-lag {found.n_lags + 1}) it is {_cut(found)}, {error}."
    )


def _cut(found: ShortLag) -> str:
    if found.cut is None or found.cut_low is None or found.cut_high is None:
        return "unknown, as too few pairs are left"
    if percent(found.cut_low) == percent(found.cut_high):
        return f"about {percent(found.cut)}"
    return (
        f"about {percent(found.cut)} ({percent(found.cut_low)} to {percent(found.cut_high)} if "
        "further lags are left out)"
    )


def _describe_excess(found: ShortLag, shapes: tuple[DecayShape, ...], who: str, what: str) -> str:
    amount = percent(math.expm1(found.coefficient))
    high = max((math.exp(shape.log_typical) for shape in shapes), default=None)
    between = "cannot be told"
    if high is not None and found.cut_low is not None:
        between = f"lies between about {percent(found.cut_low)} and {percent(high)}"
    return (
        f"{who} share {amount} more {what} than the distant ones lead one to expect. Either the "
        "crawler starts from pages of the crawl before, and coverage is lower than stated, or "
        "many pages live only briefly, and it is higher: pairs of crawls cannot tell these apart. "
        f"Coverage {between}; capture histories decide it."
    )
