"""A judgement in a word and a sentence, as it stands at the top of the page."""

from dataclasses import dataclass
from typing import Literal

from crawlgauge.model.estimates import Status

__all__ = ["Verdict", "judge_status"]

Tone = Literal["good", "look", "bad", "plain"]

MARKS: dict[Tone, str] = {"good": "✓", "look": "!", "bad": "✕", "plain": "–"}
"""What stands beside the word, so that nothing is said by colour alone."""

_STATUS: dict[Status, tuple[Tone, str]] = {
    "fail": ("bad", "failed"),
    "warn": ("look", "look"),
    "info": ("plain", "finding"),
    "ok": ("good", "ok"),
    "na": ("plain", "not testable"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judgement.

    Parameters
    ----------
    tone
        How it is coloured and marked.
    word
        The judgement in a word or two.
    sentence
        What it rests on.
    """

    tone: Tone
    word: str
    sentence: str

    @property
    def mark(self) -> str:
        """The sign beside the word."""
        return MARKS[self.tone]


def judge_status(status: Status, sentence: str) -> Verdict:
    """Return the verdict that the status of a check stands for.

    Parameters
    ----------
    status
        Of a check.
    sentence
        What the check says.

    Examples
    --------
    >>> judge_status("warn", "Overlaps scatter.").word
    'look'
    """
    tone, word = _STATUS[status]
    return Verdict(tone=tone, word=word, sentence=sentence)
