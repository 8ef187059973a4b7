"""What it means that a change moves the coverage, in words."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median, stdev

from crawlgauge.model.estimates import Check, Estimate
from crawlgauge.model.phrases import percent, things
from crawlgauge.model.sensitivity.results import Kind, Movement

__all__ = ["NOTABLE", "say_meanings", "say_verdict", "signed_percent"]

NOTABLE = 0.05
"""Relative change of coverage above which something is said of it: that of grade A's range."""

_STANDS_OUT = 3.0
"""A crawl that moves the coverage so many times as far as the median crawl is unlike the others."""

_MIN_OTHERS = 3
_DECIMALS = 3
"""Of a relative change: less than a thousandth is not worth a digit."""

_FOUND = ("warn", "fail")
_HEAVY = 2.0
"""Times the even share of the weight, from which on the weight is worth a word."""


def say_verdict(coverage: Estimate, movements: Sequence[Movement]) -> str:
    """Say what moves the coverage most.

    Parameters
    ----------
    coverage
        Without any change.
    movements
        All changes, those that move it most first.
    """
    if coverage.value is None:
        return f"There is no typical coverage that could move: {coverage.reason}."
    # Parts scatter by chance: they are the measure of the others, not a choice that one could make.
    known = [movement for movement in movements if movement.size >= 0 and movement.kind != "part"]
    if not known:
        return (
            f"No change could be tried that leaves enough to estimate from.{_say_chance(movements)}"
        )
    most = known[0]
    if most.size < math.log1p(NOTABLE):
        opening = (
            f"Nothing that was tried moves the coverage by {percent(NOTABLE)} of it or more. What "
            "moves it most: "
        )
    else:
        opening = "What moves the coverage most: "
    return f"{opening}{_say_change(most)}.{_say_range(coverage, most)}{_say_chance(movements)}"


def _say_chance(movements: Sequence[Movement]) -> str:
    error = _error_of_parts([movement for movement in movements if movement.kind == "part"])
    if error is None:
        return ""
    return (
        f" Chance, by which URLs were captured, moves it by about {percent(error)} either way, as "
        "its parts show."
    )


def _error_of_parts(parts: Sequence[Movement]) -> float | None:
    """Return the standard error of the logarithm of the coverage of all parts together."""
    logs = [math.log(part.coverage.value) for part in parts if part.coverage.value]
    return stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else None


def _say_change(movement: Movement) -> str:
    before, after = (
        percent(share or 0.0) for share in (movement.coverage_before, movement.coverage.value)
    )
    moves = signed_percent(movement.coverage_moves or 0.0)
    if before == after:
        return f"{movement.change} ({moves})"
    return f"{movement.change}, from {before} to {after} ({moves})"


def _say_range(coverage: Estimate, most: Movement) -> str:
    if most.coverage_before != coverage.value or coverage.low is None or coverage.high is None:
        return ""
    value = most.coverage.value or 0.0
    if coverage.low <= value <= coverage.high:
        return " That is within the range that is given with it."
    return " That is outside of the range that is given with it."


def say_meanings(
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
        _MEANINGS[kind](alike, things(level))
        for kind, alike in by_kind.items()
        if alike[0].size >= math.log1p(NOTABLE)
    )


def _say_crawl(alike: list[Movement], _noun: str) -> str:
    most, others = alike[0], alike[1:]
    moves = signed_percent(most.coverage_moves or 0.0)
    if len(others) < _MIN_OTHERS or most.size < _STANDS_OUT * median(m.size for m in others):
        return (
            f"The number rests on few crawls: leaving out one, such as {most.subject}, moves it by "
            f"up to {moves}. Further crawls make it steadier."
        )
    weight = ""
    if most.weight is not None and most.weight > _HEAVY / len(alike):
        weight = f" Its pairs carry {percent(most.weight)} of the weight."
    return (
        f"Crawl {most.subject} is unlike the others: leaving it out moves the coverage by {moves}, "
        f"any other by {percent(abs(others[0].coverage_moves or 0.0))} at most.{weight} Look at "
        "its scope, its size and its log. To estimate without it: crawlgauge estimate --exclude "
        f"{most.subject}."
    )


def _say_regime(alike: list[Movement], noun: str) -> str:
    values = ", ".join(f"{m.change}: {percent(m.coverage.value or 0.0)}" for m in alike)
    return (
        f"The crawls are of different scopes, which give different answers ({values}). The "
        f"coverage is that of the latest regime, of the {noun} that its crawls could have reached; "
        "do not compare it across the change."
    )


def _say_short_lags(alike: list[Movement], noun: str) -> str:
    most = alike[0]
    if (most.coverage_moves or 0.0) > 0:
        cause = (
            f"less than time explains: the crawler seems to avoid {noun} that it captured lately"
        )
    else:
        cause = (
            f"more than time explains: the crawler returns to the same {noun}, or many live for a "
            "short time only"
        )
    return (
        f"Crawls that follow each other share {cause}. By pairs alone: {_say_change(most)}. See "
        "crawlgauge estimate --explain short-lag."
    )


def _say_part(_alike: list[Movement], noun: str) -> str:
    return (
        f"Parts of the {noun} give different answers by chance; if that is too much, count more "
        f"{noun}: a larger sample, or larger crawls."
    )


def _say_identity(alike: list[Movement], noun: str) -> str:
    most = alike[0]
    return (
        f"It matters which {noun} count as the same: {_say_change(most)}. Differences of scheme, "
        "www, letter case, order of the query or session ids, which one rule keeps and another "
        "does not, look like turnover of the web. Choose the rule by what a page is to you, say "
        "it with the number, and compare only numbers of one rule."
    )


def _say_status(alike: list[Movement], noun: str) -> str:
    return (
        f"It matters which answers count as captures: {_say_change(alike[0])}. Redirects and "
        "errors come and go otherwise than pages; the coverage is that of the "
        f"{noun} whose answers count."
    )


def _say_mime(alike: list[Movement], noun: str) -> str:
    return (
        f"It matters which media types count: {_say_change(alike[0])}. Crawlers reach pages, "
        f"images and documents unevenly; the coverage of all {noun} is a mean over types that "
        "differ."
    )


_MEANINGS: Mapping[Kind, Callable[[list[Movement], str], str]] = {
    "crawl": _say_crawl,
    "regime": _say_regime,
    "short-lags": _say_short_lags,
    "part": _say_part,
    "identity": _say_identity,
    "status": _say_status,
    "mime": _say_mime,
}


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
