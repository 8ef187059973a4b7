"""What each check means, how it is computed and what to do, for readers of its result."""

from collections.abc import Sequence
from types import MappingProxyType

from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Check, Status
from crawlgauge.model.explanation import Explanation
from crawlgauge.model.history_checks.explanations import HISTORY_EXPLANATIONS
from crawlgauge.model.pair_explanations import PAIR_EXPLANATIONS

__all__ = ["EXPLANATIONS", "explain_check", "find_explanation"]

EXPLANATIONS = MappingProxyType({**PAIR_EXPLANATIONS, **HISTORY_EXPLANATIONS})

_STATUS: dict[Status, str] = {
    "ok": "nothing found",
    "info": "a finding, no fault",
    "warn": "the number holds with the repair or caveat that is named",
    "fail": "do not trust the number",
    "na": "not testable with this data",
}


def find_explanation(check_id: str) -> Explanation:
    """Return what is to be said about a check.

    Parameters
    ----------
    check_id
        Its id.

    Raises
    ------
    FitError
        If there is no such check.
    """
    if check_id not in EXPLANATIONS:
        raise FitError(f"there is no check {check_id!r}; the checks are {', '.join(EXPLANATIONS)}")
    return EXPLANATIONS[check_id]


def explain_check(check_id: str, checks: Sequence[Check]) -> tuple[tuple[str, str], ...]:
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
    explanation = find_explanation(check_id)
    found = tuple(
        ("What it found here", _describe(check)) for check in checks if check.id == check_id
    )
    return (
        (check_id, explanation.question),
        *found,
        ("What it means", explanation.meaning),
        ("How it is computed", explanation.computation),
        ("What to do", explanation.advice),
    )


def _describe(check: Check) -> str:
    numbers = "" if check.effect is None else f", effect {_signed(check.effect)}"
    if check.threshold is not None:
        numbers += f", threshold {check.threshold:g}"
    return f"{check.status} ({_STATUS[check.status]}{numbers}). {check.message}"


def _signed(effect: float) -> str:
    return f"{effect:+.3f}".replace("-", "−")
