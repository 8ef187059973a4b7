"""Where captures go: into one crawl, or into those that a collection is cut into, in one pass.

A collection is cut by the time of its captures, into the months or years of the calendar, or by a
field such as the name of the WARC file.
"""

import re
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import NO_TIME, Captures
from crawlgauge.crawl import check_label
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.ingest.builder import SetBuilder, open_builder
from crawlgauge.ingest.options import Choices, choose_date
from crawlgauge.ingest.sorting import KeyMemory
from crawlgauge.keys.names import Names
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.provenance import Setting

Period = Literal["month", "quarter", "half-year", "year"]

_MONTHS: dict[Period, int] = {"month": 1, "quarter": 3, "half-year": 6, "year": 12}
_EPOCH_YEAR = 1970
_MAX_CRAWLS = 10_000
"""More are not crawls but a wrong expression, and each would hold memory."""
_REFERENCE = re.compile(rb"(?:warcfile:)+([^#]*)")


class OneCrawl:
    """Takes captures for one crawl, as long as they have times where these give its date.

    Parameters
    ----------
    label
        The crawl's.
    choices
        What the user chose.
    memory
        Takes up its keys.
    threshold
        Attributes of keys below this one are wanted.
    """

    cut = None
    needs_times = False
    """Whether its date can only come from the times of its captures."""

    def __init__(self, label: str, choices: Choices, memory: KeyMemory, threshold: int) -> None:
        self.label, self.names, self.rest = label, Names(), Counter[str]()
        self._builder = open_builder(
            choices.levels, choices.sampling, self.names, memory, row_threshold=threshold
        )
        self.builders = {label: self._builder}

    @property
    def key_threshold(self) -> int:
        """Keys below this one are wanted."""
        return self._builder.key_threshold

    @property
    def row_threshold(self) -> int:
        """Attributes of keys below this one are wanted."""
        return self._builder.row_threshold

    def add(self, captures: Captures) -> None:
        """Take in a batch."""
        if self.needs_times and captures.n_captures and not captures.has_times:
            # Hours of reading would end with the same message.
            choose_date(self.label, None, {})
        self._builder.add(captures)

    def builder(self, label: str) -> SetBuilder:
        """Return what collects the keys of its only crawl."""
        return self.builders[label]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTime:
    """Cut by capture time into the months, quarters, half-years or years of the calendar."""

    period: Period

    group: None = None
    """The field that readers are asked for: none but the time."""

    reason: str = "no-time"
    """Why a capture belongs to no crawl."""

    def settings(self) -> dict[str, Setting]:
        """Return the choice by name."""
        return {"split": self.period}

    def assign(
        self, times: NDArray[np.int64], groups: NDArray[np.int32], names: Names
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Return for each capture the number of its crawl, −1 for none, and the crawls' labels."""
        del groups, names
        is_known = times != NO_TIME
        months = times[is_known].astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
        found, codes = np.unique(months // _MONTHS[self.period], return_inverse=True)
        numbers = np.full(times.size, -1, np.int64)
        numbers[is_known] = codes.reshape(-1)
        return numbers, [self._label(int(period)) for period in found]

    def _label(self, number: int) -> str:
        year, part = divmod(number, 12 // _MONTHS[self.period])
        names = {
            "month": f"-{part + 1:02d}",
            "quarter": f"-Q{part + 1}",
            "half-year": f"-H{part + 1}",
            "year": "",
        }
        return f"{_EPOCH_YEAR + year}{names[self.period]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByField:
    """Cut by what an expression finds in a field, such as the name of the WARC file.

    Raises
    ------
    SourceError
        If it is no expression.
    """

    pattern: str
    group: str = "filename"
    """The field, that readers are asked for."""
    reason: str = "no-match"

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise SourceError(
                f"--split-by {self.pattern!r} is no regular expression: {error}"
            ) from error

    def settings(self) -> dict[str, Setting]:
        """Return the choice by name."""
        return {"split_by": self.pattern, "split_field": self.group}

    def assign(
        self, times: NDArray[np.int64], groups: NDArray[np.int32], names: Names
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Return for each capture the number of its crawl, −1 for none, and the crawls' labels."""
        del times
        # There are far fewer files than captures.
        used = np.unique(groups[groups >= 0])
        texts = names.groups.texts()
        found = {code: self._label(texts[code]) for code in used.tolist()}
        labels = sorted({label for label in found.values() if label is not None})
        place = np.full(len(texts) + 1, -1, np.int64)
        for code, label in found.items():
            place[code] = -1 if label is None else labels.index(label)
        return place[groups], labels

    def _label(self, value: bytes) -> str | None:
        reference = _REFERENCE.match(value)
        shown = (value if reference is None else reference[1]).decode(errors="replace")
        match = re.search(self.pattern, shown)
        if match is None:
            return None
        found = match.group(1) if match.re.groups else match.group()
        try:
            return check_label(found or "")
        except CrawlError as error:
            raise CrawlError(f"--split-by finds a label in {shown!r}, but {error}") from error


Cut = ByTime | ByField


def choose_cut(period: Period | None, pattern: str | None, field: str) -> Cut:
    """Return how to cut a collection into crawls: by time, or by a field."""
    if period is not None and pattern is None:
        return ByTime(period=period)
    if pattern is not None and period is None:
        return ByField(pattern=pattern, group=field)
    raise ValueError("give either a period or a pattern to cut by")


# -------------------------------------------------------------------------------- cutting


class Splitter:
    """Puts captures into the crawls that they belong to.

    Parameters
    ----------
    cut
        Where to cut.
    choices
        What the user chose.
    memory
        What all crawls share.
    """

    label = ""
    needs_times = False

    def __init__(self, cut: Cut, choices: Choices, memory: KeyMemory) -> None:
        self.cut, self._choices, self._memory = cut, choices, memory
        self._lock = threading.Lock()
        self.names = Names()
        self.builders: dict[str, SetBuilder] = {}
        self.rest: Counter[str] = Counter()
        """What belongs to none of the crawls, by reason."""
        # All captures are wanted, with their attributes.
        self.key_threshold = self.row_threshold = WHOLE

    def add(self, captures: Captures) -> None:
        """Take in a batch."""
        if captures.n_captures and isinstance(self.cut, ByTime) and not captures.has_times:
            raise SourceError(
                f"--split {self.cut.period} needs capture times, which this input does not have; "
                "use --split-by, or add the crawls one by one"
            )
        left_out, groups = captures.left_out, captures.groups
        if left_out is None or groups is None:
            raise ValueError("the captures were not read to be split")
        with self._lock:
            self.rest.update(captures.rejected)
            self.rest.update(captures.excluded)
            numbers, labels = self.cut.assign(
                np.concatenate([captures.rows["time"], left_out["time"]]),
                np.concatenate([groups, left_out["group"]]),
                self.names,
            )
            if n_unassigned := int(np.count_nonzero(numbers < 0)):
                self.rest[self.cut.reason] += n_unassigned
            rows, left = numbers[: captures.rows.size], numbers[captures.rows.size :]
            for number, label in enumerate(labels):
                self.builder(label).add_part(captures, rows == number, left == number)

    def builder(self, label: str) -> SetBuilder:
        """Return what collects the keys of one of the crawls."""
        if label not in self.builders:
            if len(self.builders) == _MAX_CRAWLS:
                raise SourceError(
                    f"the collection would be cut into more than {_MAX_CRAWLS:,} crawls; the last "
                    f"is {label!r}. Choose a coarser --split or another --split-by"
                )
            self.builders[label] = open_builder(
                self._choices.levels, self._choices.sampling, self.names, self._memory
            )
        return self.builders[label]
