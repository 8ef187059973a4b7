"""What each check means, how it is computed and what to do, for readers of its result."""

from collections.abc import Sequence
from types import MappingProxyType

from crawlgauge.errors import FitError
from crawlgauge.model.checks import PAIR_CHECKS
from crawlgauge.model.estimates import Check, Status
from crawlgauge.model.histories.checks import HISTORY_CHECKS

__all__ = ["EXPLANATIONS", "explain_check"]


EXPLANATIONS = MappingProxyType({spec.id: spec for spec in (*PAIR_CHECKS, *HISTORY_CHECKS)})

_STATUS: dict[Status, str] = {
    "ok": "nothing found",
    "info": "a finding, no fault",
    "warn": "the number holds with the repair or caveat that is named",
    "fail": "do not trust the number",
    "na": "not testable with this data",
}


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
    if check_id not in EXPLANATIONS:
        raise FitError(f"there is no check {check_id!r}; the checks are {', '.join(EXPLANATIONS)}")
    spec = EXPLANATIONS[check_id]
    found = (("What it found here", _describe(check)) for check in checks if check.id == check_id)
    return (
        (check_id, spec.question),
        *found,
        ("What it means", spec.meaning),
        ("How it is computed", spec.computation),
        ("What to do", spec.advice),
    )


def _describe(check: Check) -> str:
    numbers = ""
    if check.effect is not None:
        numbers = f", effect {check.effect:+.3f}".replace("-", "−")
    if check.threshold is not None:
        numbers += f", threshold {check.threshold:g}"
    return f"{check.status} ({_STATUS[check.status]}{numbers}). {check.message}"
