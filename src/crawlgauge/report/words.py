"""Words that the whole report shares: numbers with their ranges, statuses, checks and counts."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from crawlgauge.errors import FitError
from crawlgauge.model.phrases import load_texts, names, percent, percent_range

if TYPE_CHECKING:
    # A list of crawls is shown without what estimates are.
    from crawlgauge.model.estimates import Check, Estimate, Status
    from crawlgauge.model.newest import Course

Phrase = Callable[[float], str]
"""How a number of some kind is written."""

UNKNOWN = "–"
"""Stands for a number that is not known."""

Tone = Literal["good", "look", "bad", "plain"]

MARKS: Mapping[Tone, str] = {"good": "✓", "look": "!", "bad": "✕", "plain": "–"}
"""What stands beside a judgement, so that nothing is said by colour alone."""


def read_toml(name: str) -> dict[str, Any]:
    """Read words or looks that ship with the report."""
    place = resources.files("crawlgauge").joinpath("report", f"{name}.toml")
    return tomllib.loads(place.read_text("utf-8"))


_WORDS = read_toml("words")


class StatusWords(NamedTuple):
    """How a status is called and coloured, what one, several and no check of it say, and means."""

    word: str
    tone: Tone
    one: str
    several: str
    meaning: str
    none: str = ""


STATUSES: "Mapping[Status, StatusWords]" = {
    status: StatusWords(**words) for status, words in _WORDS["checks"].items()
}
"""The gravest first."""

COURSES: "Mapping[Course, str]" = _WORDS["newest"]

CLOSED = frozenset(
    {"lincoln-petersen", "chapman", "schnabel", "chao", "loglinear-mt", "loglinear-mth"}
)
"""Estimators that assume an unchanging web."""

_BASES: Mapping[str, tuple[str, str]] = _WORDS["ranges"]


# ------------------------------------------------------------------------------- numbers and ranges


def with_range(estimate: "Estimate", phrase: Phrase) -> str:
    """Write an estimate, with its range in brackets where it has one.

    Parameters
    ----------
    estimate
        The number; only its range, where that is all that is known.
    phrase
        How a number of its kind is written.

    Examples
    --------
    >>> from crawlgauge.model.estimates import Estimate
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


def describe_basis(number: "Estimate") -> str:
    """Say what the range of a number rests on; empty if it has none."""
    one, _ = _BASES.get(number.basis, ("", ""))
    return one.format(percent(number.level))


def explain_ranges(
    numbers: "Iterable[tuple[str, Estimate]]", where: str = "In brackets", what: str = "ranges"
) -> list[str]:
    """Say what the ranges of several numbers rest on, or why there are none.

    Parameters
    ----------
    numbers
        The name and the value of each; a name may come several times.
    where, what
        How ranges are shown.

    Returns
    -------
    list
        A sentence for each kind of range and for each reason. It names the numbers unless it
        holds for all of them.

    Examples
    --------
    >>> from crawlgauge.model.estimates import Estimate
    >>> explain_ranges([("coverage", Estimate(value=0.4, low=0.3, high=0.5, basis="interval"))])
    ['In brackets: 95 % intervals.']
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    everything: dict[str, None] = {}
    for name, number in numbers:
        if number.value is None or (number.basis == "none" and not number.reason):
            continue
        explanation = (f"No {what}", number.reason or "")
        if number.basis != "none":
            explanation = (where, _BASES[number.basis][1].format(percent(number.level)))
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


def r_squared(share: float) -> str:
    """Write how much of the variance a line explains, with as many nines as it has.

    Examples
    --------
    >>> r_squared(0.8068), r_squared(0.99987)
    ('R² 0.81', 'R² 0.9999')
    """
    text = f"{share:.2f}"
    # 1.00 would claim too much.
    return f"R² {text}" if text != "1.00" else f"R² {share:.4f}"


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


# ------------------------------------------- what checks ask and mean: the texts of ``checks.toml``


class Explanation(NamedTuple):
    """What a check asks, for those who read its result.

    Parameters
    ----------
    question
        What it asks.
    meaning
        What it means if the answer is no, and what that does to the estimates.
    computation
        How it is computed, and what its effect and thresholds are.
    advice
        What to do.
    next
        What to do first, if there is one thing.
    """

    question: str
    meaning: str
    computation: str
    advice: str
    next: str = ""

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Headings with a paragraph each."""
        return (
            ("What it means", self.meaning),
            ("How it is computed", self.computation),
            ("What to do", self.advice),
        )


def _explain_all() -> dict[str, Explanation]:
    texts = dict(load_texts("checks.toml"))
    certainty = texts.pop("certainty")
    explanations = {}
    for check, parts in texts.items():
        known = [part for part in Explanation._fields if part in parts]
        explanations[check] = Explanation(**{p: parts[p].format(**certainty) for p in known})
    return explanations


EXPLANATIONS: Mapping[str, Explanation] = _explain_all()
"""By the id of the check, in the order in which checks are run."""


def explain_check(check_id: str, checks: "Sequence[Check]") -> tuple[tuple[str, str], ...]:
    """Explain a check and say what it found, as headings with a paragraph each.

    Parameters
    ----------
    check_id
        The check to explain.
    checks
        The results.

    Raises
    ------
    FitError
        If there is no such check.
    """
    if check_id not in EXPLANATIONS:
        raise FitError(f"there is no check {check_id!r}; the checks are {', '.join(EXPLANATIONS)}")
    spec = EXPLANATIONS[check_id]
    found = (("What it found here", _describe(check)) for check in checks if check.id == check_id)
    return ((check_id, spec.question), *found, *spec.parts)


def _describe(check: "Check") -> str:
    numbers = ""
    if check.effect is not None:
        numbers = f", effect {signed(check.effect)}"
    if check.threshold is not None:
        numbers += f", threshold {check.threshold:g}"
    return f"{check.status} ({STATUSES[check.status].meaning}{numbers}). {check.message}"
