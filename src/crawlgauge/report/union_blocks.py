"""What all crawls together hold, in words."""

from crawlgauge.model.estimates import Estimate, Union
from crawlgauge.model.phrases import count, percent
from crawlgauge.report.blocks import Block, Paragraph
from crawlgauge.report.range_text import explain_ranges, with_range

__all__ = ["say_union"]

_INDENT = " " * len("Persistence  ")


def say_union(union: Union, what: str) -> Block:
    """Return what all crawls together hold of the living, what of it is gone, what none holds.

    Parameters
    ----------
    union
        The numbers.
    what
        What is counted, in the plural.
    """
    numbers = [
        ("all crawls", union.coverage),
        ("dead", union.dead_share),
        ("unseen", union.n_unseen),
    ]
    lines = [
        _line(
            "All crawls",
            f"{union.n_distinct:,} different {what}, {{}} of those that lived at the newest crawl",
            union.coverage,
            with_range(union.coverage, percent),
        ),
        _line(
            "Dead",
            "{} of what all crawls hold did not live any more",
            union.dead_share,
            with_range(union.dead_share, percent),
        ),
        _line(
            "Unseen",
            f"{{}} {what} lived at the time of a crawl and are in none",
            union.n_unseen,
            with_range(union.n_unseen, count),
        ),
    ]
    notes = [*explain_ranges(numbers), *([union.caution] if union.caution else [])]
    return [*lines, *(Paragraph(text=text, role="note") for text in notes)]


def _line(name: str, sentence: str, number: Estimate, text: str) -> Paragraph:
    said = sentence.format(text)
    if number.value is None:
        said = f"unknown ({number.reason})"
    return Paragraph(text=said, first=name.ljust(len(_INDENT)), rest=_INDENT)
