"""What may mislead in the counts from crawl to crawl."""

from itertools import pairwise

from crawlgauge.model.phrases import names, things
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["list_warnings"]


def list_warnings(table: OverlapTable) -> tuple[str, ...]:
    """Say in words what to be careful about.

    Parameters
    ----------
    table
        What was counted from.
    """
    noun = things(table.level)
    found = []
    damaged = [crawl.label for crawl in table.crawls if crawl.damaged]
    if damaged:
        found.append(
            f"Part of the input of {names(damaged)} was damaged and left out: {noun} in it count "
            "as dropped or missed, and as recovered afterwards."
        )
    same_day = [b.label for a, b in pairwise(table.crawls) if a.date == b.date]
    if same_day:
        found.append(
            f"Same date as the crawl before: {names(same_day)}. No time lies between the two, so "
            "that nothing was dropped because it was gone."
        )
    return tuple(found)
