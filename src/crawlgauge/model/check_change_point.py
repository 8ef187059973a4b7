"""The check change-point: whether crawls before and after some date share too little.

When the scope or the configuration of a crawler changes, part of what it reached before is out
of reach afterwards. Pairs across the change then share less than pairs on either side of it.
"""

import math
from dataclasses import dataclass

import numpy as np

from crawlgauge.model.check_lack_of_fit import MakeTerm, Term, add_term, best_term, up_to
from crawlgauge.model.check_short_lag import ShortLag
from crawlgauge.model.estimates import Check
from crawlgauge.model.pairs import PairData
from crawlgauge.model.phrases import percent, things
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["MIN_SIDE", "ChangePoint", "check_change_point", "find_changes"]

MIN_SIDE = 3
"""Crawls that are needed on each side of a change."""

_THRESHOLD = 0.03
_SIGNIFICANCE = 0.001
_MAX_CHANGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A date across which crawls share too little.

    Parameters
    ----------
    first
        Position of the first crawl after the change.
    coefficient
        Logarithm of what crawls across the change share over what they should.
    is_certain
        Whether it is large enough to matter and stands out from the scatter of the crawls.
    """

    first: int
    coefficient: float
    is_certain: bool


def find_changes(
    pairs: PairData, fit: TwoWayFit, short_lag: ShortLag | None = None
) -> tuple[ChangePoint, ...]:
    """Find all changes that are certain; else the likeliest one; nothing where it is untestable.

    One change can hide another, so that up to three are sought together. The largest set counts
    of which each is certain beside the others.

    Parameters
    ----------
    pairs
        The pairs.
    fit
        The two-way model of them.
    short_lag
        An effect of short lags, which is kept apart from that of a change.
    """
    if fit.n_freedom <= 0 or math.isnan(fit.tau_squared):
        return ()
    others = []
    # Neighbours that share nothing at all are in no row, and their term would be empty.
    if short_lag is not None and np.any(up_to(short_lag.n_lags)(pairs)):
        others.append(up_to(short_lag.n_lags))
    best: tuple[ChangePoint, ...] = ()
    firsts: tuple[int, ...] = ()
    for _ in range(_MAX_CHANGES):
        grown = _add_first(pairs, fit, firsts, others)
        changes = None if grown is None else _weigh_changes(pairs, fit, grown, others)
        if grown is None or changes is None:
            break
        firsts = grown
        if not best or all(change.is_certain for change in changes):
            best = changes
    return best


def check_change_point(table: OverlapTable, changes: tuple[ChangePoint, ...]) -> Check:
    """Say whether the crawls fall into series that should not be mixed.

    The effect is the logarithm of what crawls on different sides share over what they should:
    −0.3 means a quarter too few. It warns below −0.03; of several changes the largest is given.

    Parameters
    ----------
    table
        The overlaps.
    changes
        From `find_changes`.
    """
    if not changes:
        return Check(
            id="change-point",
            status="na",
            effect=None,
            threshold=_THRESHOLD,
            message=(
                f"Not testable: a change of scope shows only with {MIN_SIDE} or more crawls on "
                "each side of it and overlaps across it. Note changes of scope and settings by "
                "date, and compare the crawls of one setting (--since, --until)."
            ),
        )
    largest = min(changes, key=lambda change: change.coefficient)
    if not largest.is_certain:
        return Check(
            id="change-point",
            status="ok",
            effect=largest.coefficient,
            threshold=_THRESHOLD,
            message=_describe_one_series(table, largest),
        )
    before, after = (table.crawls[largest.first + k].label for k in (-1, 0))
    latest = table.crawls[changes[-1].first].label
    more = "" if len(changes) == 1 else f" There are {len(changes)} such changes in all."
    return Check(
        id="change-point",
        status="warn",
        effect=largest.coefficient,
        threshold=_THRESHOLD,
        message=(
            f"Crawls up to {before} and from {after} on share "
            f"{percent(-math.expm1(largest.coefficient))} fewer {things(table.level)} with each "
            "other than crawls on the same side: scope or settings of the crawler seem to have "
            f"changed between them.{more} Pairs across a change are left out, and the typical "
            f"coverage is that of the crawls from {latest} on; --regime 1 shows the first ones."
        ),
    )


def _describe_one_series(table: OverlapTable, likeliest: ChangePoint) -> str:
    if likeliest.coefficient >= -_THRESHOLD:
        return "The crawls form one series: at no date does the overlap with earlier ones drop."
    return (
        "No change is certain: the likeliest one, from "
        f"{table.crawls[likeliest.first].label} on, across which crawls share "
        f"{percent(-math.expm1(likeliest.coefficient))} fewer {things(table.level)} than they "
        "should, does not stand out from the scatter between crawls."
    )


def _add_first(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: list[MakeTerm]
) -> tuple[int, ...] | None:
    """Add the date that explains most, then move each to where it does beside the others."""
    added = _best_first(pairs, fit, firsts, others)
    if added is None:
        return None
    grown = (*firsts, added)
    for first in firsts:
        rest = tuple(other for other in grown if other != first)
        moved = _best_first(pairs, fit, rest, others)
        grown = (*rest, first if moved is None else moved)
    return tuple(sorted(grown))


def _best_first(
    pairs: PairData, fit: TwoWayFit, known: tuple[int, ...], others: list[MakeTerm]
) -> int | None:
    terms = {k: _across(k) for k in _possible_firsts(pairs, known)}
    return best_term(pairs, fit, terms, *others, *map(_across, known))


def _weigh_changes(
    pairs: PairData, fit: TwoWayFit, firsts: tuple[int, ...], others: list[MakeTerm]
) -> tuple[ChangePoint, ...] | None:
    """Return each change beside the others, or None if one is not identifiable."""
    from scipy.special import stdtrit

    # The best of several dates is looked at, once for each change, so that all must pass a
    # stricter test.
    n_tests = len(firsts) * len(_possible_firsts(pairs, ()))
    critical = float(stdtrit(pairs.n_crawls - 2, 1 - _SIGNIFICANCE / n_tests))
    changes = []
    for first in firsts:
        rest = [_across(other) for other in firsts if other != first]
        term = add_term(pairs, fit, _across(first), *others, *rest)
        if term is None:
            return None
        changes.append(
            ChangePoint(
                first=first,
                coefficient=term.coefficient,
                is_certain=term.coefficient < -_THRESHOLD and term.t_value < -critical,
            )
        )
    return tuple(changes)


def _possible_firsts(pairs: PairData, known: tuple[int, ...]) -> list[int]:
    edges = (0, *known, pairs.n_crawls)
    return [
        k
        for k in range(1, pairs.n_crawls)
        # Crawls of one date cannot lie on two sides of a change between dates.
        if pairs.days[k] > pairs.days[k - 1] and all(abs(k - edge) >= MIN_SIDE for edge in edges)
    ]


def _across(first: int) -> MakeTerm:
    def make(pairs: PairData) -> Term:
        return np.where((pairs.start < first) != (pairs.end < first), 1.0, 0.0)

    return make
