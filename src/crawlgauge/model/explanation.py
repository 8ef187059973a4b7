"""What is to be said about a check to those who read its result."""

from dataclasses import dataclass

__all__ = ["Explanation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A check in words.

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
    """

    question: str
    meaning: str
    computation: str
    advice: str
