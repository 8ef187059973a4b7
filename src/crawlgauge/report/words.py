"""Words that the whole report shares: numbers with their ranges, statuses, reasons and counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from crawlgauge.model.estimates import Estimate, Status
from crawlgauge.model.phrases import names, percent, percent_range

if TYPE_CHECKING:
    from crawlgauge.model.newest import Course

__all__ = [
    "CLOSED",
    "COURSES",
    "MARKS",
    "STATUSES",
    "UNKNOWN",
    "Phrase",
    "Tone",
    "describe_basis",
    "explain_ranges",
    "grouped",
    "join",
    "name_checks",
    "number_of",
    "one_in",
    "open_sentence",
    "signed",
    "spread",
    "with_range",
]

Phrase = Callable[[float], str]
"""How a number of some kind is written."""

UNKNOWN = "–"
"""Stands for a number that is not known."""

Tone = Literal["good", "look", "bad", "plain"]

MARKS: Mapping[Tone, str] = {"good": "✓", "look": "!", "bad": "✕", "plain": "–"}
"""What stands beside a judgement, so that nothing is said by colour alone."""


class StatusWords(NamedTuple):
    """How a status is called and coloured, and what one, several and not one check of it say."""

    word: str
    tone: Tone
    one: str
    several: str
    none: str = ""


STATUSES: Mapping[Status, StatusWords] = {
    "fail": StatusWords(
        "failed",
        "bad",
        "says not to trust the number",
        "say not to trust the number",
        "say to trust the number",
    ),
    "warn": StatusWords("look", "look", "asks for a look", "ask for a look"),
    "info": StatusWords(
        "finding", "plain", "is a finding and no fault", "are findings and no faults"
    ),
    "ok": StatusWords("ok", "good", "is ok", "are ok"),
    "na": StatusWords(
        "not testable",
        "plain",
        "could not be run with this data",
        "could not be run with this data",
        "could be run with this data",
    ),
}
"""The gravest first."""

COURSES: "Mapping[Course, str]" = {
    "in-line": "in line",
    "drop": "drop",
    "rise": "rise",
    "unknown": "not known",
}

CLOSED = frozenset(
    {"lincoln-petersen", "chapman", "schnabel", "chao", "loglinear-mt", "loglinear-mth"}
)
"""Estimators that assume an unchanging web."""

_BASES = {
    "interval": ("{} interval", "{} intervals"),
    "empirical-band": (
        "range calibrated on simulations",
        "ranges from ways of reading the histories, calibrated on simulations",
    ),
}
"""What ranges rest on: of one number, and of several."""


# ------------------------------------------------------------------------------- numbers and ranges


def with_range(estimate: Estimate, phrase: Phrase) -> str:
    """Write an estimate, with its range in brackets where it has one.

    Parameters
    ----------
    estimate
        The number; only its range, where that is all that is known.
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
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None:
        return UNKNOWN if low is None or high is None else f"{phrase(low)} to {phrase(high)}"
    if phrase is percent and value > 1:
        # Nothing can be more than all.
        return UNKNOWN if low is None or low >= 1 else f"at least {percent(low)}"
    if low is None:
        return phrase(value)
    if high is None or (phrase is percent and high > 1):
        return f"{phrase(value)} (at least {phrase(low)})"
    if phrase is percent:
        return percent_range(value, low, high)
    if phrase(low) == phrase(high):
        return phrase(value)
    return f"{phrase(value)} ({_join_ends(phrase(low), phrase(high))})"


def _join_ends(low: str, high: str) -> str:
    number, _, unit = low.partition(" ")
    if high.partition(" ")[2] != unit or not number[-1].isdigit():
        return f"{low} to {high}"
    # A dash beside a sign reads like a minus.
    dash = " to " if "+" in low + high or "−" in low + high else "–"
    return f"{number}{dash}{high}"


def describe_basis(number: Estimate) -> str:
    """Say what the range of a number rests on; empty if it has none."""
    one, _ = _BASES.get(number.basis, ("", ""))
    return one.format(percent(number.level))


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
        if number.value is None or (number.basis == "none" and not number.reason):
            continue
        explanation = ("No ranges", number.reason or "")
        if number.basis != "none":
            explanation = ("In brackets", _BASES[number.basis][1].format(percent(number.level)))
        groups.setdefault(explanation, {})[name] = None
        everything[name] = None
    sentences = []
    for (opening, rest), concerned in groups.items():
        for_which = "" if concerned.keys() == everything.keys() else f" for {names([*concerned])}"
        sentences.append(f"{opening}{for_which}: {rest}.")
    return sentences


def spread(shares: Sequence[float]) -> str:
    """Write from where to where shares go."""
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def grouped(number: float) -> str:
    """Write a count in full."""
    return f"{number:,.0f}"


def signed(number: float) -> str:
    """Write a number with its sign and three decimals."""
    return f"{number:+.3f}".replace("-", "−")


def one_in(rate: float) -> str:
    """Write of how many things a sample has one."""
    return f"{1 / rate:,.1f}".removesuffix(".0")


def number_of(number: int, noun: str) -> str:
    """Write how many of something there are.

    Examples
    --------
    >>> number_of(1, "pair"), number_of(8385, "pair"), number_of(2, "entry")
    ('1 pair', '8,385 pairs', '2 entries')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


# ---------------------------------------------------------------------------------------- sentences


def join(*sentences: str | None) -> str:
    """Put the sentences that there are together.

    Examples
    --------
    >>> join("One.", None, "", "Two.")
    'One. Two.'
    """
    return " ".join(sentence for sentence in sentences if sentence)


def open_sentence(text: str) -> str:
    """Begin a sentence with what may stand within one."""
    return f"{text[:1].upper()}{text[1:]}"


def name_checks(ids: list[str]) -> str:
    """Name checks by their ids."""
    return f"check {ids[0]}" if len(ids) == 1 else f"checks {names(ids)}"
