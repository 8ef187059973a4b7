"""Match the crawls of two archives by their dates."""

from collections.abc import Sequence
from dataclasses import dataclass

from crawlgauge.crawl import Crawl

__all__ = ["Matching", "match_crawls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Which crawls of two archives belong together.

    Parameters
    ----------
    pairs
        Places of the matched crawls in the two lists, in order of date.
    unmatched_a, unmatched_b
        Places of the others.
    """

    pairs: tuple[tuple[int, int], ...]
    unmatched_a: tuple[int, ...]
    unmatched_b: tuple[int, ...]


def match_crawls(a: Sequence[Crawl], b: Sequence[Crawl], *, max_gap_days: int) -> Matching:
    """Give each crawl at most one partner: the nearest two first, then the nearest of the rest.

    Parameters
    ----------
    a, b
        The crawls of the two archives.
    max_gap_days
        Crawls farther apart are not matched.
    """
    near = sorted(
        (gap, i, j)
        for i, one in enumerate(a)
        for j, other in enumerate(b)
        if (gap := abs((other.date - one.date).days)) <= max_gap_days
    )
    partner_of: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in near:
        if i not in partner_of and j not in taken:
            partner_of[i] = j
            taken.add(j)
    return Matching(
        pairs=tuple(sorted(partner_of.items(), key=lambda pair: (a[pair[0]].date, pair))),
        unmatched_a=tuple(i for i in range(len(a)) if i not in partner_of),
        unmatched_b=tuple(j for j in range(len(b)) if j not in taken),
    )
