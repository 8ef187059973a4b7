"""Estimate from changed tables, and see how far the numbers move."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median, stdev
from typing import Literal, NamedTuple

import numpy as np

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.model.checks import diagnose
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Check, Estimate, Estimates
from crawlgauge.model.intervals import weigh_pairs
from crawlgauge.model.phrases import percent, say, things
from crawlgauge.model.window import choose_window, keep_crawls
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["Movements"]

# ------------------------ how far the estimates move when something is left out or chosen otherwise


Kind = Literal["crawl", "regime", "short-lags", "part", "identity", "status", "mime"]
"""What is changed: a crawl or a regime is left out, pairs of short lags are, only a part of the
URLs is counted; or files are read again with another rule for which URLs are the same, other
statuses or other media types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One change, and what the estimates are with it.

    Parameters
    ----------
    kind
        What is changed.
    change
        The change in words, such as ``without crawl 2018-06``.
    subject
        What it is about: a label, a rule, or the number of a regime or part.
    coverage, persistence
        With the change.
    coverage_before, persistence_before
        Without it, from the same data by the same estimators; None where unknown. They are those of
        the headline except for short lags, where both are from pairs, and for files that were
        read again, where both are from those.
    estimator
        Whose coverage it is.
    weight
        For a crawl, the share of the two-way model's weight that its pairs carry; else None.
    """

    kind: Kind
    change: str
    subject: str
    coverage: Estimate
    persistence: Estimate
    coverage_before: float | None
    persistence_before: float | None
    estimator: str | None
    weight: float | None = None

    @property
    def coverage_moves(self) -> float | None:
        """Relative change of the coverage, such as -0.1 for a tenth less; None where unknown."""
        return _relative(self.coverage.value, self.coverage_before)

    @property
    def persistence_moves(self) -> float | None:
        """Relative change of the persistence; None where unknown."""
        return _relative(self.persistence.value, self.persistence_before)

    @property
    def size(self) -> float:
        """How far the coverage moves, as a logarithm without sign; -1 where it is unknown."""
        moves = self.coverage_moves
        return -1.0 if moves is None else abs(math.log1p(moves))


@dataclass(frozen=True, slots=True, kw_only=True)
class Movements:
    """All changes that were tried, those that move the coverage most first.

    Parameters
    ----------
    coverage, persistence
        The headline's, without any change.
    estimator
        Of the headline.
    level
        What is counted.
    movements
        The changes.
    part_rate
        Share of the URLs in each part; None without parts.
    reading_rate
        Share of the URLs that was kept when files were read again; None if none were.
    verdict
        In a sentence or two, what moves the number most.
    meanings
        What follows from it, in words.
    not_tried
        What could not be tried, and why.
    """

    level: str
    coverage: Estimate
    persistence: Estimate
    estimator: str | None
    verdict: str
    meanings: tuple[str, ...]
    movements: tuple[Movement, ...]
    part_rate: float | None
    reading_rate: float | None
    not_tried: tuple[str, ...]


def _relative(value: float | None, before: float | None) -> float | None:
    return None if value is None or not before else value / before - 1


# ----------------------------------------------------------- overlap tables with something left out


N_PARTS = 4
"""Enough to see how far parts scatter; each takes as long as an estimate."""

# What a crawler avoids or repeats is mostly its last crawl or the last two.
_LAGS = {2: "without adjacent crawls", 3: "only 3 crawls apart or more"}

_MIN_CRAWLS = 2
_SEED = 1


class Variation(NamedTuple):
    """A changed table, or why there is none.

    Parameters
    ----------
    kind, change, subject
        As those of `Movement`.
    table
        What to estimate from; if the change is not possible, why not.
    """

    kind: Kind
    change: str
    subject: str
    table: OverlapTable | str


def leave_out(table: OverlapTable) -> Iterator[Variation]:
    """Leave out each crawl in turn, each regime, and pairs of crawls that are close in time.

    Parameters
    ----------
    table
        The overlaps: crawls are left out of three or more, regimes where the check change-point
        finds several, short lags where longer ones are enough. Histories do not come in pairs, and
        are then left out altogether.
    """
    places = range(table.n_crawls)
    if table.n_crawls > _MIN_CRAWLS:
        for position, crawl in enumerate(table.crawls):
            rest = keep_crawls(table, [k for k in places if k != position])
            yield Variation("crawl", f"without crawl {crawl.label}", crawl.label, rest)
    regimes = diagnose(table).regimes
    for number, regime in enumerate(regimes if len(regimes) > 1 else (), start=1):
        kept = [k for k in places if k not in regime]
        first, last = table.crawls[regime[0]].label, table.crawls[regime[-1]].label
        yield Variation(
            "regime",
            f"without regime {number} ({first} to {last})",
            str(number),
            keep_crawls(table, kept)
            if len(kept) >= _MIN_CRAWLS
            else "fewer than two crawls would be left",
        )
    for lag, change in _LAGS.items():
        try:
            chosen = choose_window(replace(table, histories=None), min_lag=lag)
        except FitError:
            return
        yield Variation("short-lags", change, str(lag), chosen)


def divide_histories(table: OverlapTable) -> tuple[OverlapTable, ...]:
    """Divide the URLs of capture histories at random into disjoint parts.

    Keys are as good as random, so that URLs of one history are as good as each other.

    Parameters
    ----------
    table
        With histories; without them nothing can be divided, and no part comes back.
    """
    histories = table.histories
    if histories is None:
        return ()
    rng = np.random.default_rng(_SEED)
    shares = np.full(N_PARTS, 1 / N_PARTS)
    counts = rng.multinomial(histories.counts, shares).T
    rate = histories.sample_rate / N_PARTS
    parts = []
    for n in counts:
        part = replace(histories, masks=histories.masks[n > 0], counts=n[n > 0], sample_rate=rate)
        n_shared = part.count_pairs()
        sizes = n_shared.diagonal()
        if np.any(sizes == 0):
            raise FitError("there are too few URLs to be divided into parts")
        crawls = zip(table.crawls, sizes.tolist(), strict=True)
        parts.append(
            replace(
                table,
                crawls=tuple(replace(crawl, n_sampled=size) for crawl, size in crawls),
                n_shared=np.where(table.n_shared == MISSING, MISSING, n_shared),
                histories=part,
                sample_rate=rate,
            )
        )
    return tuple(parts)


def as_parts(tables: tuple[OverlapTable, ...]) -> Iterator[Variation]:
    """Make a variation of each of several disjoint parts of the URLs."""
    for number, table in enumerate(tables, start=1):
        change = f"only part {number} of {len(tables)} of the {things(table.level)}"
        yield Variation("part", change, str(number), table)


def fit_to(table: OverlapTable, other: OverlapTable) -> OverlapTable:
    """Reduce another count of the same crawls to the crawls and pairs of a table.

    Parameters
    ----------
    table
        What is estimated from.
    other
        Counted from the same crawls, and maybe further ones.

    Raises
    ------
    CrawlgaugeError
        If it lacks a crawl.
    """
    places = {crawl.label: k for k, crawl in enumerate(other.crawls)}
    lacking = [crawl.label for crawl in table.crawls if crawl.label not in places]
    if lacking:
        raise CrawlgaugeError(f"there is no crawl {lacking[0]!r} among those that were read again")
    kept = sorted(places[crawl.label] for crawl in table.crawls)
    chosen = keep_crawls(other, kept)
    order = [crawl.label for crawl in chosen.crawls]
    if order != [crawl.label for crawl in table.crawls]:
        return chosen
    return replace(chosen, n_shared=np.where(table.n_shared == MISSING, MISSING, chosen.n_shared))


# ---------------------------------------- how much of the two-way model's weight each crawl carries


def weigh_crawls(table: OverlapTable) -> tuple[float | None, ...]:
    """Return for each crawl the share that its pairs have in the typical coverage.

    The two-way model is a weighted sum of logarithms of overlaps. A pair counts half for each of
    its crawls, by the size of its weight; all crawls together have 1.

    Parameters
    ----------
    table
        The overlaps.

    Returns
    -------
    tuple
        None for every crawl where the model cannot be fitted.
    """
    diagnosis = diagnose(table)
    pairs, fit = diagnosis.pairs, diagnosis.fit
    if np.isnan(fit.tau_squared) or not fit.typical.any():
        return (None,) * table.n_crawls
    typical = np.zeros(pairs.n_crawls + 1)
    typical[:-1] = fit.typical / fit.typical.sum()
    sizes = np.abs(weigh_pairs(pairs, fit, typical[None, :]).shared[0])
    total = float(sizes.sum())
    if total == 0:
        return (None,) * table.n_crawls
    of_crawls = (sizes.sum(axis=0) + sizes.sum(axis=1)) / (2 * total)
    return tuple(float(weight) for weight in of_crawls)


# ----------------------------------------- what it means that a change moves the coverage, in words


# Relative change of coverage above which something is said of it: that of grade A's range.
_NOTABLE = 0.05

# A crawl that moves the coverage so many times as far as the median crawl is unlike the others.
_STANDS_OUT = 3.0

_MIN_OTHERS = 3
# Of a relative change: less than a thousandth is not worth a digit.
_DECIMALS = 3

_FOUND = ("warn", "fail")
# Times the even share of the weight, from which on the weight is worth a word.
_HEAVY = 2.0


def _say_verdict(coverage: Estimate, movements: Sequence[Movement]) -> str:
    """Say what moves the coverage most.

    Parameters
    ----------
    coverage
        Without any change.
    movements
        All changes, those that move it most first.
    """
    if coverage.value is None:
        return say("movement.none", coverage=coverage)
    # Parts scatter by chance: they are the measure of the others, not a choice that one could make.
    known = [movement for movement in movements if movement.size >= 0 and movement.kind != "part"]
    sentences = [say("movement.not-tried")]
    if known:
        most = known[0]
        code = "little" if most.size < math.log1p(_NOTABLE) else "most"
        sentences = [say(f"movement.{code}", change=_say_change(most), notable=_NOTABLE)]
        low, high = coverage.low, coverage.high
        if most.coverage_before == coverage.value and low is not None and high is not None:
            is_within = low <= (most.coverage.value or 0.0) <= high
            sentences.append(say(f"movement.{'within' if is_within else 'outside'}"))
    values = [movement.coverage.value for movement in movements if movement.kind == "part"]
    logs = [math.log(value) for value in values if value]
    if len(logs) > 1:
        # Of the logarithm of the coverage of all parts together.
        sentences.append(say("movement.chance", error=stdev(logs) / math.sqrt(len(logs))))
    return " ".join(sentences)


def _say_change(movement: Movement) -> str:
    before, after = (
        percent(share or 0.0) for share in (movement.coverage_before, movement.coverage.value)
    )
    moves = signed_percent(movement.coverage_moves or 0.0)
    if before == after:
        return f"{movement.change} ({moves})"
    return f"{movement.change}, from {before} to {after} ({moves})"


def _say_meanings(
    movements: Sequence[Movement], level: str, checks: Sequence[Check]
) -> tuple[str, ...]:
    """Say for each kind of change that matters what follows from it, the gravest first.

    Parameters
    ----------
    movements
        All changes, those that move the coverage most first.
    level
        What is counted.
    checks
        Of the estimates without any change: where one speaks of the same thing, it decides.
    """
    is_found = any(check.id == "short-lag" and check.status in _FOUND for check in checks)
    by_kind: dict[Kind, list[Movement]] = {}
    for movement in movements:
        if movement.size >= 0 and (movement.kind != "short-lags" or is_found):
            by_kind.setdefault(movement.kind, []).append(movement)
    return tuple(
        _say_meaning(kind, alike, level)
        for kind, alike in by_kind.items()
        if alike[0].size >= math.log1p(_NOTABLE)
    )


def _say_meaning(kind: Kind, alike: list[Movement], level: str) -> str:
    if kind == "crawl":
        return _say_crawl(alike)
    is_more = kind == "short-lags" and (alike[0].coverage_moves or 0.0) > 0
    return say(
        f"movement.{kind}{'-more' if is_more else ''}",
        level=level,
        change=_say_change(alike[0]),
        values=", ".join(f"{m.change}: {percent(m.coverage.value or 0.0)}" for m in alike),
    )


def _say_crawl(alike: list[Movement]) -> str:
    most, others = alike[0], alike[1:]
    moves = signed_percent(most.coverage_moves or 0.0)
    if len(others) < _MIN_OTHERS or most.size < _STANDS_OUT * median(m.size for m in others):
        return say("movement.few-crawls", subject=most.subject, moves=moves)
    is_heavy = most.weight is not None and most.weight > _HEAVY / len(alike)
    return say(
        "movement.crawl",
        subject=most.subject,
        moves=moves,
        others=abs(others[0].coverage_moves or 0.0),
        weight=f" {say('movement.weight', weight=most.weight)}" if is_heavy else "",
    )


def signed_percent(moves: float) -> str:
    """Write a relative change with its sign.

    Examples
    --------
    >>> [signed_percent(moves) for moves in (0.123, -0.05, 0.00241, 0.00001)]
    ['+12 %', '−5 %', '+0.2 %', '0 %']
    """
    rounded = round(abs(moves), _DECIMALS)
    if rounded == 0:
        return percent(0)
    return f"{'+' if moves > 0 else '−'}{percent(rounded)}"


# ----------------------------------- estimate from changed tables, and see how far the numbers move


def estimate_like(table: OverlapTable, estimates: Estimates) -> Estimates:
    """Estimate from another table as others were estimated.

    Parameters
    ----------
    table
        What to estimate from.
    estimates
        The others; a persistence that was given for two crawls is given again.

    Raises
    ------
    FitError
        If nothing can be estimated.
    """
    given = estimates.provenance.settings.get("persistence")
    if isinstance(given, float) and table.n_crawls == _MIN_CRAWLS:
        return estimate_coverage(table, persistence=given)
    return estimate_coverage(table)


def measure(variation: Variation, before: Estimates, weight: float | None = None) -> Movement:
    """Estimate with a change, and put the numbers beside those without it.

    Parameters
    ----------
    variation
        The change.
    before
        Estimates without it.
    weight
        As that of `Movement`.
    """
    after, reason = None, "not estimated"
    if isinstance(variation.table, str):
        reason = variation.table or reason
    else:
        try:
            after = estimate_like(variation.table, before)
        except CrawlgaugeError as error:
            reason = str(error)
    unknown = Estimate.unknown(reason)
    return Movement(
        kind=variation.kind,
        change=variation.change,
        subject=variation.subject,
        coverage=unknown if after is None else after.headline.coverage,
        persistence=unknown if after is None else after.persistence,
        coverage_before=before.headline.coverage.value,
        persistence_before=before.persistence.value,
        estimator=None if after is None else after.headline.estimator,
        weight=weight,
    )


def rank_movements(
    estimates: Estimates,
    movements: list[Movement],
    *,
    part_rate: float | None = None,
    reading_rate: float | None = None,
    not_tried: tuple[str, ...] = (),
) -> Movements:
    """Put all changes in order, and say what they mean.

    Parameters
    ----------
    estimates
        Without any change.
    movements
        All changes that were tried.
    part_rate, reading_rate, not_tried
        As those of `Movements`.
    """
    ranked = tuple(sorted(movements, key=lambda movement: -movement.size))
    return Movements(
        coverage=estimates.headline.coverage,
        persistence=estimates.persistence,
        estimator=estimates.headline.estimator,
        level=estimates.level,
        movements=ranked,
        part_rate=part_rate,
        reading_rate=reading_rate,
        verdict=_say_verdict(estimates.headline.coverage, ranked),
        meanings=_say_meanings(ranked, estimates.level, estimates.checks),
        not_tried=not_tried,
    )
