"""Cut a collection-wide index into crawls, in one pass over its files.

A collection is cut by the time of its captures, into the months or years of the calendar, or by a
field such as the name of the WARC file.
"""

import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import NO_TIME, Captures
from crawlgauge.crawl import check_label
from crawlgauge.errors import CrawlError, SourceError
from crawlgauge.ingest.adding import (
    Addition,
    Listener,
    Outcome,
    ReadCrawl,
    leave_crawl,
    listen,
    nothing_kept,
    publish_crawl,
    refuse_present,
    was_made_from,
)
from crawlgauge.ingest.builder import SetBuilder, open_builder
from crawlgauge.ingest.options import (
    Choices,
    ReadOptions,
    WhenPresent,
    choose_date,
    choose_reading,
    choose_when_present,
    find_all,
)
from crawlgauge.ingest.sorting import KeyMemory
from crawlgauge.keys.names import Names
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.locations import StrPath, find_store
from crawlgauge.provenance import Setting
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ReadingProgress, ReadInputs, read_inputs
from crawlgauge.store.catalogue import Store, store_for_adding
from crawlgauge.store.spilling import SpillFolder

__all__ = [
    "ByField",
    "ByTime",
    "CollectionReader",
    "Cut",
    "Period",
    "ReadCollection",
    "SplitResult",
    "Splitter",
    "add_split",
    "choose_cut",
    "split_collection",
]

Period = Literal["month", "quarter", "half-year", "year"]

_MONTHS: dict[Period, int] = {"month": 1, "quarter": 3, "half-year": 6, "year": 12}
_EPOCH_YEAR = 1970
_MAX_CRAWLS = 10_000
"""More are not crawls but a wrong expression, and each would hold memory."""
_REFERENCE = re.compile(rb"(?:warcfile:)+([^#]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """What came of cutting a collection into crawls.

    Parameters
    ----------
    additions
        The crawls, in the order of their labels.
    unassigned
        How many records belong to none of them, by reason.
    examples
        The first records that were rejected.
    """

    additions: tuple[Addition, ...]
    unassigned: Mapping[str, int]
    examples: tuple[Rejection, ...]


def split_collection(
    store: StrPath | None,
    inputs: StrPath | Iterable[StrPath],
    *,
    period: Period | None = None,
    pattern: str | None = None,
    field: str = "filename",
    replace: bool = False,
    progress: Listener | None = None,
    **options: Unpack[ReadOptions],
) -> SplitResult:
    """Cut a collection-wide index into crawls, in one pass over its files.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    inputs
        As for `add_crawl`.
    period
        Cut by capture time into the months, quarters, half-years or years of the calendar.
    pattern, field
        Or cut by what a regular expression finds in a field; its first group, or all that it
        finds, is the crawl's label.
    replace
        Whether crawls that are there are replaced.
    progress
        Called now and then with how far reading has come.
    **options
        What counts and how files are read; see `ReadOptions`.

    Raises
    ------
    CrawlgaugeError
        If something cannot be read or used; the store is as before.
    """
    cut = choose_cut(period, pattern, field)
    place = find_store(store)
    choices = choose_reading(options, place)
    files = find_all(inputs)
    with store_for_adding(place, choices.rule) as opened:
        return add_split(
            opened,
            files,
            cut,
            choices=choices,
            when_present=choose_when_present(replace=replace, append=False),
            progress=listen(progress, [files]),
        )


# ------------------------------------------------------------------------------ where to cut


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
    field: str = "filename"
    reason: str = "no-match"

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise SourceError(
                f"--split-by {self.pattern!r} is no regular expression: {error}"
            ) from error

    @property
    def group(self) -> str:
        """The field that readers are asked for."""
        return self.field

    def settings(self) -> dict[str, Setting]:
        """Return the choice by name."""
        return {"split_by": self.pattern, "split_field": self.field}

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
        return ByField(pattern=pattern, field=field)
    raise ValueError("give either a period or a pattern to cut by")


# -------------------------------------------------------------------------------- cutting


class Splitter:
    """Puts captures into the crawls that they belong to; a target of reading.

    Parameters
    ----------
    cut
        Where to cut.
    choices
        What the user chose.
    memory
        What all crawls share.
    """

    def __init__(self, cut: Cut, choices: Choices, memory: KeyMemory) -> None:
        self._cut = cut
        self._choices = choices
        self._memory = memory
        self._lock = threading.Lock()
        self.names = Names()
        self.builders: dict[str, SetBuilder] = {}
        self.rest: Counter[str] = Counter()
        """What belongs to none of the crawls, by reason."""
        # All captures are wanted, with their attributes.
        self.key_threshold = self.row_threshold = WHOLE

    def add(self, captures: Captures) -> None:
        """Take in a batch."""
        if captures.n_captures and isinstance(self._cut, ByTime) and not captures.has_times:
            raise SourceError(
                f"--split {self._cut.period} needs capture times, which this input does not have; "
                "use --split-by, or add the crawls one by one"
            )
        left_out, groups = captures.left_out, captures.groups
        if left_out is None or groups is None:
            raise ValueError("the captures were not read to be split")
        with self._lock:
            self.rest.update(captures.rejected)
            self.rest.update(captures.excluded)
            numbers, labels = self._cut.assign(
                np.concatenate([captures.rows["time"], left_out["time"]]),
                np.concatenate([groups, left_out["group"]]),
                self.names,
            )
            if n_unassigned := int(np.count_nonzero(numbers < 0)):
                self.rest[self._cut.reason] += n_unassigned
            rows, left = numbers[: captures.rows.size], numbers[captures.rows.size :]
            for number, label in enumerate(labels):
                self._builder(label).add_part(captures, rows == number, left == number)

    def _builder(self, label: str) -> SetBuilder:
        if label not in self.builders:
            if len(self.builders) == _MAX_CRAWLS:
                raise SourceError(
                    f"the collection would be cut into more than {_MAX_CRAWLS:,} crawls; the last "
                    f"is {label!r}. Choose a coarser --split or another --split-by"
                )
            choices = self._choices
            self.builders[label] = open_builder(
                choices.levels, choices.sampling, self.names, self._memory
            )
        return self.builders[label]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCollection:
    """A collection that was read and is not yet in the store.

    Parameters
    ----------
    builders
        Hold the keys and counts of its crawls, by label.
    rest
        What belongs to none of them, by reason.
    read
        What it was read from.
    settings
        What the user chose.
    """

    builders: dict[str, SetBuilder]
    rest: Counter[str]
    read: ReadInputs
    settings: dict[str, Setting]


class CollectionReader(Protocol):
    """What reads a collection: `read_collection`, or another engine with the same result."""

    def __call__(
        self,
        inputs: InputFiles,
        cut: Cut,
        choices: Choices,
        *,
        memory: KeyMemory,
        progress: ReadingProgress | None,
    ) -> ReadCollection:
        """Read a collection and cut it into crawls, as `read_collection` does."""


def read_collection(
    inputs: InputFiles,
    cut: Cut,
    choices: Choices,
    *,
    memory: KeyMemory,
    progress: ReadingProgress | None,
) -> ReadCollection:
    """Read a collection and cut it into crawls."""
    splitter = Splitter(cut, choices, memory)
    settings = choices.reading(splitter.names, is_split=True, group=cut.group)
    read = read_inputs(inputs, settings, splitter, progress=progress)
    return ReadCollection(
        builders=splitter.builders,
        rest=splitter.rest,
        read=read,
        settings=choices.settings(None),
    )


def add_split(
    store: Store,
    inputs: InputFiles,
    cut: Cut,
    *,
    choices: Choices,
    when_present: WhenPresent = "refuse",
    progress: ReadingProgress | None = None,
    read: CollectionReader = read_collection,
) -> SplitResult:
    """Read a collection and put each of its crawls into the store.

    Parameters
    ----------
    store
        The store.
    inputs
        Its files.
    cut
        Where to cut.
    choices, when_present, progress
        As for `crawlgauge.ingest.adding.add_to_store`.
    read
        Reads the inputs.
    """
    with SpillFolder(store.path) as spill:
        memory = KeyMemory(choices.memory, spill)
        found = read(inputs, cut, choices, memory=memory, progress=progress)
        for label in [label for label, item in found.builders.items() if not item.n_captures]:
            found.rest.update(found.builders.pop(label).excluded)
        if not found.builders:
            raise _nothing_found(inputs, cut, found)
        crawls = {
            label: ReadCrawl(
                builder=found.builders[label],
                read=replace(found.read, examples=()),
                settings={**found.settings, **cut.settings()},
                unassigned=dict(found.rest),
            )
            for label in sorted(found.builders)
        }
        if when_present == "refuse":
            # Before the first is written.
            for label, crawl in crawls.items():
                _check_present(store, label, crawl)
        return SplitResult(
            additions=tuple(_publish(store, label, crawl) for label, crawl in crawls.items()),
            unassigned=dict(found.rest),
            examples=found.read.examples,
        )


def _nothing_found(inputs: InputFiles, cut: Cut, found: ReadCollection) -> SourceError:
    where = inputs.names[0] if len(inputs.names) == 1 else f"{len(inputs.names)} files"
    if found.read.damages:
        return nothing_kept(found.read.damages)
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in found.rest.most_common())
    why = f"left out: {reasons}" if reasons else "the input is empty"
    if isinstance(cut, ByField) and found.rest[cut.reason]:
        why += (
            f". --split-by finds no label in the field {cut.field!r}; name another field with "
            "--split-field, or add the crawls one by one"
        )
    return SourceError(f"{where}: no capture that counts and can be assigned to a crawl; {why}")


def _check_present(store: Store, label: str, crawl: ReadCrawl) -> None:
    if store.holds(label):
        present = store.manifest(label)
        if not was_made_from(present, crawl.read.inputs, crawl.settings):
            raise refuse_present(store, present)


def _publish(store: Store, label: str, crawl: ReadCrawl) -> Addition:
    with store.writing(label) as writer:
        present = store.manifest(label) if store.holds(label) else None
        if present is not None and was_made_from(present, crawl.read.inputs, crawl.settings):
            return leave_crawl(present)
        date = choose_date(label, None, crawl.builder.days)
        outcome: Outcome = "added" if present is None else "replaced"
        return publish_crawl(store, writer, crawl, date=date, outcome=outcome)
