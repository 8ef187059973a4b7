"""What a check means and what it found, for a terminal."""

import textwrap

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.explanations import explain_check

__all__ = ["to_text"]

_WIDTH = 88


def to_text(check_id: str, estimates: Estimates) -> str:
    """Return what `crawlgauge estimate --explain` shows, without a final newline.

    Parameters
    ----------
    check_id
        The check to explain.
    estimates
        Whose check it is.

    Raises
    ------
    FitError
        If there is no such check.
    """
    return "\n\n".join(
        f"{heading}\n{textwrap.fill(text, _WIDTH, initial_indent='  ', subsequent_indent='  ')}"
        for heading, text in explain_check(check_id, estimates.checks)
    )
