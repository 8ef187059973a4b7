"""The keys of one crawl at a level beside that of its URLs: contents, or texts of pages."""

from collections import Counter

from crawlgauge.keys.content import KEYS_OF
from crawlgauge.sources.captures import Captures
from crawlgauge.store.key_runs import SortedKeys

__all__ = ["LevelBuilder"]


class LevelBuilder:
    """Collects the keys of one level and counts the captures that have none.

    Parameters
    ----------
    level
        ``content`` or ``text``.
    runs
        Takes the keys.

    Attributes
    ----------
    level, runs
        See above.
    n_captures
        Captures that have a key, repeated ones included.
    excluded
        Captures that count by their URL but have no key, by reason.
    n_by_digest
        Captures of the level ``text`` that are no HTML pages, and are told by their digest.
    """

    def __init__(self, level: str, runs: SortedKeys) -> None:
        self.level = level
        self.runs = runs
        self.n_captures = 0
        self.excluded: Counter[str] = Counter()
        self.n_by_digest = 0

    def add(self, captures: Captures) -> None:
        """Take in a batch."""
        found = KEYS_OF[self.level](captures)
        self.runs.add(found.keys)
        self.n_captures += found.keys.size
        self.n_by_digest += found.n_by_digest
        n_missing = len(captures) - found.keys.size
        if n_missing:
            self.excluded[found.reason] += n_missing
