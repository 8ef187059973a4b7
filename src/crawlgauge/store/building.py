"""From batches of captures to the sorted, unique keys of a crawl, with all that was left out."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.levels import BY_URL
from crawlgauge.keys.rules import GIVEN, KeyRule
from crawlgauge.sources.captures import NO_STATUS, Captures, Rejection
from crawlgauge.store.attributes import AttributeBuilder, Attributes
from crawlgauge.store.choices import Choices
from crawlgauge.store.day_kernel import NOT_A_TIME, count_days, find_ends
from crawlgauge.store.key_runs import KeyMemory, KeyRuns, SortedKeys
from crawlgauge.store.level_building import LevelBuilder

__all__ = ["MAX_EXAMPLES", "SetBuilder", "open_builder"]

MAX_EXAMPLES = 5
_EPOCH = dt.date(1970, 1, 1).toordinal()
_DAY_SECONDS = 86_400


class SetBuilder:
    """Collects the keys of one crawl and counts what was left out.

    Parameters
    ----------
    rule
        Which URLs are the same.
    runs
        Takes the keys.
    levels
        Take those of other levels.

    Attributes
    ----------
    runs
        The keys so far.
    levels
        Those of other levels.
    attributes
        Host, media type and status of the smallest ones.
    n_captures
        Captures so far, repeated ones included.
    n_no_status
        How many of them come from an input that has statuses, but have none.
    rejected, excluded
        Records left out so far, by reason.
    examples
        The first rejected records.
    days
        Captures by the day on which they were made, as its ordinal number.
    first_capture, last_capture
        The earliest and latest time of a capture; None if none has a time.
    """

    def __init__(
        self, rule: KeyRule, runs: SortedKeys, levels: Sequence[LevelBuilder] = ()
    ) -> None:
        self._rule = rule
        self.runs = runs
        self.levels = tuple(levels)
        self.attributes = AttributeBuilder(threshold=runs.threshold)
        self.n_captures = 0
        self.n_no_status = 0
        self.rejected: Counter[str] = Counter()
        self.excluded: Counter[str] = Counter()
        self.examples: list[Rejection] = []
        self.days: Counter[int] = Counter()
        self.first_capture: dt.datetime | None = None
        self.last_capture: dt.datetime | None = None

    def add(self, captures: Captures) -> None:
        """Take in a batch.

        Raises
        ------
        SourceError
            If keys are to be taken from the index, and the input has none.
        """
        keys = self._keys_of(captures)
        self.runs.add(keys)
        self.attributes.add(keys, captures)
        for level in self.levels:
            level.add(captures)
        self.n_captures += len(captures)
        self._count_times(captures)
        self.n_no_status += _count_no_status(captures)
        self.rejected.update(captures.rejected)
        self.excluded.update(captures.excluded)
        self.examples.extend(captures.examples[: MAX_EXAMPLES - len(self.examples)])

    def finish_attributes(self) -> Attributes:
        """Return the attributes of the smallest keys; nothing can be added afterwards."""
        attributes = self.attributes.finish()
        if isinstance(self.runs, KeyRuns):
            # Those of a small crawl are of all its keys.
            self.runs.settle(attributes.keys, attributes.threshold)
        return attributes.below(self.runs.threshold)

    def _keys_of(self, captures: Captures) -> NDArray[np.uint64]:
        if self._rule != GIVEN:
            return compute_keys(captures.url, self._rule)
        if captures.key is None or captures.key.null_count:
            raise SourceError(
                "the identity given takes keys from the index, but an input has none; only CDX, "
                "CDXJ, ZipNum, CDX servers' JSON and Parquet with a SURT column have keys. Use "
                "--identity surt"
            )
        return compute_keys(captures.key, GIVEN)

    def _count_times(self, captures: Captures) -> None:
        if captures.time is None:
            return
        times = captures.time.view(np.int64)
        first, last = find_ends(times)
        if last == NOT_A_TIME:
            return
        first_day = first // _DAY_SECONDS
        # Readers take no time for one that lies outside of two centuries.
        counts = np.zeros(last // _DAY_SECONDS - first_day + 1, dtype=np.int64)
        count_days(times, first_day, counts)
        for day in np.flatnonzero(counts).tolist():
            self.days[_EPOCH + first_day + day] += int(counts[day])
        self.first_capture = min(_to_time(first), self.first_capture or _to_time(first))
        self.last_capture = max(_to_time(last), self.last_capture or _to_time(last))


def open_builder(choices: Choices, memory: KeyMemory) -> SetBuilder:
    """Begin to collect the keys of one crawl, at all levels that the user wants.

    Parameters
    ----------
    choices
        The user's.
    memory
        That all levels share.
    """
    return SetBuilder(
        choices.rule,
        memory.open_runs(choices.sampling),
        [
            LevelBuilder(level, memory.open_runs(choices.sampling))
            for level in choices.levels
            if level != BY_URL
        ],
    )


def _count_no_status(captures: Captures) -> int:
    if captures.status is None or captures.revisit is None:
        return 0
    return int(np.count_nonzero((captures.status == NO_STATUS) & ~captures.revisit))


def _to_time(seconds: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC)
