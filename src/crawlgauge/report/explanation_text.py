"""What a check means and what it found, for a terminal."""

import textwrap

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.explanations import explain_check
from crawlgauge.model.phrases import percent

__all__ = ["ESTIMATORS", "to_text"]

ESTIMATORS = "estimators"
"""Stands for all estimators where a check is named."""

_WIDTH = 88


def to_text(check_id: str, estimates: Estimates) -> str:
    """Return what `crawlgauge estimate --explain` shows, without a final newline.

    Parameters
    ----------
    check_id
        The check to explain; ``estimators`` for what each estimator assumes.
    estimates
        Whose check it is.

    Raises
    ------
    FitError
        If there is no such check.
    """
    if check_id == ESTIMATORS:
        return _explain_estimators(estimates)
    return "\n\n".join(
        f"{heading}\n{textwrap.fill(text, _WIDTH, initial_indent='  ', subsequent_indent='  ')}"
        for heading, text in explain_check(check_id, estimates.checks)
    )


def _explain_estimators(estimates: Estimates) -> str:
    parts = []
    for row in estimates.estimators:
        value = "unknown" if row.coverage is None else percent(row.coverage)
        text = textwrap.fill(row.assumes, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        parts.append(f"{row.name}: coverage {value}\n{text}")
    return "\n\n".join(parts)
