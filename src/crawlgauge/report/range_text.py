"""A number with its range in words, and what the ranges rest on."""

from collections.abc import Callable, Iterable

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import names, percent, percent_range

__all__ = ["UNKNOWN", "explain_ranges", "with_range"]

UNKNOWN = "–"
"""Stands for a number that is not known."""

_BASES = {
    "interval": "{} intervals",
    "empirical-band": "ranges from ways of reading the histories, calibrated on simulations",
}


def with_range(estimate: Estimate, phrase: Callable[[float], str]) -> str:
    """Write an estimate, with its range in brackets where it has one.

    Parameters
    ----------
    estimate
        The number.
    phrase
        How a number of its kind is written.

    Examples
    --------
    >>> with_range(Estimate(value=0.462, low=0.448, high=0.476, basis="interval"), percent)
    '46 % (45–48 %)'
    >>> with_range(Estimate(value=0.462, low=0.4601, high=0.4639, basis="interval"), percent)
    '46.2 % (46.0–46.4 %)'
    >>> with_range(Estimate(value=0.462), percent)
    '46 %'
    >>> with_range(Estimate.unknown("not identifiable: first crawl"), percent)
    '–'
    """
    if estimate.value is None:
        return UNKNOWN
    value, low, high = estimate.value, estimate.low, estimate.high
    if phrase is percent and value > 1:
        # Nothing can be more than all.
        return UNKNOWN if low is None or low >= 1 else f"at least {percent(low)}"
    if low is None:
        return phrase(value)
    if phrase is percent and high is not None and high > 1:
        return f"{percent(value)} (at least {percent(low)})"
    if high is None:
        return f"{phrase(value)} (at least {phrase(low)})"
    if phrase is percent:
        return percent_range(value, low, high)
    if phrase(low) == phrase(high):
        return phrase(value)
    return f"{phrase(value)} ({_join_ends(phrase(low), phrase(high))})"


def explain_ranges(numbers: Iterable[tuple[str, Estimate]]) -> list[str]:
    """Say what the ranges of several numbers rest on, or why there are none.

    Parameters
    ----------
    numbers
        The name and the value of each; a name may come several times.

    Returns
    -------
    list
        A sentence for each kind of range and for each reason. It names the numbers unless it
        holds for all of them.

    Examples
    --------
    >>> explain_ranges([("coverage", Estimate(value=0.4, low=0.3, high=0.5, basis="interval"))])
    ['In brackets: 95 % intervals.']
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    everything: dict[str, None] = {}
    for name, number in numbers:
        opening_and_rest = _explain(number)
        if opening_and_rest is not None:
            groups.setdefault(opening_and_rest, {})[name] = None
            everything[name] = None
    sentences = []
    for (opening, rest), concerned in groups.items():
        for_which = "" if concerned.keys() == everything.keys() else f" for {names([*concerned])}"
        sentences.append(f"{opening}{for_which}: {rest}.")
    return sentences


def _explain(number: Estimate) -> tuple[str, str] | None:
    if number.value is None:
        return None
    if number.basis != "none":
        return "In brackets", _BASES[number.basis].format(percent(number.level))
    return ("No ranges", number.reason) if number.reason else None


def _join_ends(low: str, high: str) -> str:
    number, _, unit = low.partition(" ")
    if high.partition(" ")[2] != unit or not number[-1].isdigit():
        return f"{low} to {high}"
    # A dash beside a sign reads like a minus.
    dash = " to " if "+" in low + high or "−" in low + high else "–"
    return f"{number}{dash}{high}"
