"""Sentences that several captions share, no surer than the checks allow."""

from collections.abc import Iterable

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import names, things
from crawlgauge.report.range_text import explain_ranges

__all__ = ["explain_bars", "join", "number_of", "say_trust"]


def join(*sentences: str | None) -> str:
    """Put the sentences that there are together.

    Examples
    --------
    >>> join("One.", None, "", "Two.")
    'One. Two.'
    """
    return " ".join(sentence for sentence in sentences if sentence)


def number_of(number: int, noun: str) -> str:
    """Write how many of something there are.

    Examples
    --------
    >>> number_of(1, "pair"), number_of(8385, "pair")
    ('1 pair', '8,385 pairs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def explain_bars(numbers: Iterable[tuple[str, Estimate]]) -> str:
    """Say what the bars of a chart rest on, or why there are none.

    Parameters
    ----------
    numbers
        The name and the value of each.

    Examples
    --------
    >>> explain_bars([("coverage", Estimate(value=0.4, low=0.3, high=0.5, basis="interval"))])
    'Bars: 95 % intervals.'
    """
    sentences = explain_ranges(numbers)
    return join(
        *(
            sentence.replace("In brackets", "Bars", 1).replace("No ranges", "No bars", 1)
            for sentence in sentences
        )
    )


def say_trust(estimates: Estimates) -> str:
    """Say what the numbers of a chart rest on, and which checks speak against them.

    Parameters
    ----------
    estimates
        With their checks.
    """
    return join(_say_assumption(estimates), _say_checks(estimates))


def _say_assumption(estimates: Estimates) -> str:
    if estimates.headline.estimator != "two-way":
        return ""
    return (
        f"This assumes that all {things(estimates.level)} are equally likely to be captured, which "
        "overlaps of pairs cannot test."
    )


def _say_checks(estimates: Estimates) -> str:
    failed = [check.id for check in estimates.checks if check.status == "fail"]
    warned = [check.id for check in estimates.checks if check.status == "warn"]
    if failed:
        return f"Do not trust these numbers: {_checks(failed)} failed."
    if warned:
        return f"Read these numbers with {_checks(warned)} in mind, which found something."
    return ""


def _checks(ids: list[str]) -> str:
    return f"the check {ids[0]}" if len(ids) == 1 else f"the checks {names(ids)}"
