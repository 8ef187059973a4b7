"""The checks in words: what each asks, what it found, and how to read it."""

from dataclasses import dataclass

from crawlgauge.model.estimates import Check, Estimates, Status
from crawlgauge.model.explanations import EXPLANATIONS
from crawlgauge.report.page.verdict import Verdict, judge_status

__all__ = ["CheckCard", "count_verdicts", "list_checks"]

_GRAVEST_FIRST: tuple[Status, ...] = ("fail", "warn", "info", "ok", "na")
_COUNTED: tuple[tuple[Status, str, str], ...] = (
    ("fail", "says not to trust the number", "say not to trust the number"),
    ("warn", "asks for a look", "ask for a look"),
    ("info", "is a finding and no fault", "are findings and no faults"),
    ("ok", "is ok", "are ok"),
    ("na", "could not be run with this data", "could not be run with this data"),
)
"""What the checks of a status say, if it is one and if they are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCard:
    """One check.

    Parameters
    ----------
    id
        Its name in the program.
    question
        What it asks.
    verdict
        What it found.
    effect
        How large the deviation is, beside the threshold; empty if it was not measured.
    explanations
        Headings with a paragraph each: what it means, how it is computed, what to do.
    """

    id: str
    question: str
    verdict: Verdict
    effect: str
    explanations: tuple[tuple[str, str], ...]


def list_checks(estimates: Estimates) -> tuple[CheckCard, ...]:
    """Return the checks, the gravest first.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    ordered = sorted(estimates.checks, key=lambda check: _GRAVEST_FIRST.index(check.status))
    return tuple(_describe(check) for check in ordered)


def _describe(check: Check) -> CheckCard:
    explanation = EXPLANATIONS.get(check.id)
    return CheckCard(
        id=check.id,
        question=check.id if explanation is None else explanation.question,
        verdict=judge_status(check.status, check.message),
        effect=_describe_effect(check),
        explanations=()
        if explanation is None
        else (
            ("What it means", explanation.meaning),
            ("How it is computed", explanation.computation),
            ("What to do", explanation.advice),
        ),
    )


def _describe_effect(check: Check) -> str:
    if check.effect is None:
        return ""
    effect = f"Effect {check.effect:+.3f}".replace("-", "−")
    return effect if check.threshold is None else f"{effect}, threshold {check.threshold:g}"


def count_verdicts(estimates: Estimates) -> str:
    """Write how many checks say what.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    n_checks = len(estimates.checks)
    if n_checks == 0:
        return "So few crawls leave nothing to check."
    counted = [
        (sum(check.status == status for check in estimates.checks), one, several)
        for status, one, several in _COUNTED
    ]
    parts = [f"{n} {one if n == 1 else several}" for n, one, several in counted if n]
    if len(parts) > 1:
        return f"Of {n_checks} checks, {', '.join(parts[:-1])} and {parts[-1]}."
    phrase = parts[0].partition(" ")[2]
    if n_checks == 1:
        return f"The one check {phrase}."
    return (
        f"None of {n_checks} checks {phrase.replace('not ', '')}."
        if "not" in phrase
        else (f"All {n_checks} checks {phrase}.")
    )
