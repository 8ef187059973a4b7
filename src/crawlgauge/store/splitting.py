"""Cut a collection-wide index into crawls, in one pass over its files."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from crawlgauge.compiled import announce_compilation
from crawlgauge.damage import Damage
from crawlgauge.errors import SourceError
from crawlgauge.keys.hashing import KERNELS
from crawlgauge.keys.host_kernel import code_hosts
from crawlgauge.provenance import Input, Setting
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.what_counts import keep
from crawlgauge.store.adding import WhenPresent, refuse_present
from crawlgauge.store.building import MAX_EXAMPLES, SetBuilder, open_builder
from crawlgauge.store.catalogue import Store
from crawlgauge.store.choices import Choices
from crawlgauge.store.cuts import Cut
from crawlgauge.store.dating import choose_date
from crawlgauge.store.key_runs import KeyMemory
from crawlgauge.store.making import (
    Addition,
    Outcome,
    ReadCrawl,
    leave_crawl,
    publish_crawl,
    settings_of,
    was_made_from,
)
from crawlgauge.store.spilling import SpillFolder

__all__ = [
    "CollectionReader",
    "ReadCollection",
    "Rest",
    "SplitResult",
    "add_split",
    "cut_captures",
    "read_collection",
]

_MAX_CRAWLS = 10_000
"""More are not crawls but a wrong expression, and each would hold memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """What came of cutting a collection into crawls.

    Parameters
    ----------
    additions
        In the order of the labels.
    unassigned
        Records that belong to none of the crawls, by reason.
    examples
        The first rejected records.
    """

    additions: tuple[Addition, ...]
    unassigned: dict[str, int]
    examples: tuple[Rejection, ...]


def add_split(
    store: Store,
    inputs: InputFiles,
    cut: Cut,
    *,
    choices: Choices,
    when_present: WhenPresent = "refuse",
    progress: ReadingProgress | None = None,
    read: "CollectionReader | None" = None,
) -> SplitResult:
    """Read a collection and put each of its crawls into the store.

    Nothing is stored before all has been read; a crawl that is there already, made from the same
    files in the same way, is left as it is.

    Parameters
    ----------
    store
        Open, with the rule of `choices`.
    inputs
        The collection's files.
    cut
        How to tell which crawl a capture belongs to.
    choices
        What counts, and how files are read.
    when_present
        ``refuse`` or ``replace`` crawls of the same labels, made from other files.
    progress
        Told how far reading has come.
    read
        Reads the inputs; `read_collection` if not given.

    Raises
    ------
    SourceError
        If an input cannot be read or is damaged, or has no captures that can be assigned.
    StoreError
        If a crawl exists with other content, or the store cannot be written.
    """
    with SpillFolder(store.path) as spill:
        memory = KeyMemory(choices.memory, spill)
        found = (read or read_collection)(inputs, cut, choices, memory=memory, progress=progress)
        rest = found.rest
        for label in [label for label, item in found.builders.items() if not item.n_captures]:
            rest.counts.update(found.builders.pop(label).excluded)
        if not found.builders:
            raise _nothing_found(inputs, found)
        crawls = {
            label: ReadCrawl(
                builder=found.builders[label],
                inputs=found.inputs,
                damage=found.damage,
                settings={**found.settings, **cut.settings()},
                unassigned=dict(rest.counts),
            )
            for label in sorted(found.builders)
        }
        if when_present == "refuse":
            _check_present(store, crawls)
        return SplitResult(
            additions=tuple(_publish(store, label, crawl) for label, crawl in crawls.items()),
            unassigned=dict(rest.counts),
            examples=tuple(rest.examples),
        )


def read_collection(
    inputs: InputFiles,
    cut: Cut,
    choices: Choices,
    *,
    memory: KeyMemory,
    progress: ReadingProgress | None,
) -> "ReadCollection":
    """Read a collection and cut it into crawls.

    Parameters
    ----------
    inputs, cut, choices, progress
        As for `add_split`.
    memory
        That all crawls share.
    """
    announce_compilation(KERNELS[choices.rule], code_hosts)
    reader = ArchiveReader(
        inputs,
        choices.request(cut.group),
        keep_damaged=choices.on_damage == "keep",
        progress=progress,
    )
    rest, builders = Rest(), dict[str, SetBuilder]()
    # Closed at once, whatever happens: it reads in threads.
    with closing(reader.captures()) as batches:
        cut_captures(batches, cut, choices, memory, builders, rest)
    return ReadCollection(
        builders=builders,
        rest=rest,
        inputs=tuple(reader.inputs),
        damage=tuple(reader.damages),
        settings=settings_of(choices, None),
    )


def cut_captures(
    batches: Iterable[Captures],
    cut: Cut,
    choices: Choices,
    memory: KeyMemory,
    builders: dict[str, SetBuilder],
    rest: "Rest",
) -> None:
    """Put captures into the crawls that they belong to.

    Parameters
    ----------
    batches
        Of the collection.
    cut, choices
        How to tell the crawls, and what counts.
    memory
        That all crawls share.
    builders
        Of the crawls, by label; new ones are added.
    rest
        Takes what belongs to none of them.
    """
    for batch in batches:
        for label, captures in _cut_batch(batch, cut, rest):
            if label not in builders:
                if len(builders) == _MAX_CRAWLS:
                    raise SourceError(
                        f"the collection would be cut into more than {_MAX_CRAWLS:,} crawls; "
                        f"the last is {label!r}. Choose a coarser --split or another --split-by"
                    )
                builders[label] = open_builder(choices, memory)
            for selected in choices.select([captures]):
                builders[label].add(selected)


class Rest:
    """What belongs to none of the crawls.

    Attributes
    ----------
    counts
        Records by reason.
    examples
        The first rejected records.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[Rejection] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCollection:
    """A collection that was read and is not yet in the store.

    Parameters
    ----------
    builders
        Keys and counts of each crawl, by label.
    rest
        What belongs to none of them.
    inputs, damage
        What it was read from, and what was damaged there.
    settings
        What the user chose.
    """

    builders: dict[str, SetBuilder]
    rest: Rest
    inputs: tuple[Input, ...]
    damage: tuple[Damage, ...]
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


def _cut_batch(batch: Captures, cut: Cut, rest: Rest) -> Iterator[tuple[str, Captures]]:
    """Yield the captures of each crawl; what belongs to none is counted in `rest`."""
    rest.counts.update(batch.rejected)
    rest.counts.update(batch.excluded)
    rest.examples.extend(batch.examples[: MAX_EXAMPLES - len(rest.examples)])
    if len(batch) == 0:
        return
    assigned = cut.assign(batch)
    n_unassigned = int(np.count_nonzero(assigned.numbers < 0))
    if n_unassigned:
        rest.counts[assigned.reason] += n_unassigned
    bare = replace(batch, rejected={}, excluded={}, examples=())
    for number, label in enumerate(assigned.labels):
        yield label, keep(bare, assigned.numbers == number)


def _nothing_found(inputs: InputFiles, found: ReadCollection) -> SourceError:
    where = inputs.names[0] if len(inputs.names) == 1 else f"{len(inputs.names)} files"
    if found.damage:
        return SourceError(f"nothing can be kept: {'; '.join(map(str, found.damage))}")
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in found.rest.counts.most_common())
    return SourceError(
        f"{where}: no capture that counts and can be assigned to a crawl; "
        + (f"left out: {reasons}" if reasons else "the input is empty")
    )


def _check_present(store: Store, crawls: dict[str, ReadCrawl]) -> None:
    """See that no crawl stands in the way, before the first is written."""
    for label, crawl in crawls.items():
        if store.holds(label):
            present = store.crawl_set(label)
            if not was_made_from(present, crawl.inputs, crawl.settings):
                raise refuse_present(store, present)


def _publish(store: Store, label: str, crawl: ReadCrawl) -> Addition:
    with store.writing(label) as writer:
        present = store.crawl_set(label) if store.holds(label) else None
        if present is not None and was_made_from(present, crawl.inputs, crawl.settings):
            return leave_crawl(store, present)
        date = choose_date(label, None, crawl.builder.days)
        outcome: Outcome = "added" if present is None else "replaced"
        return publish_crawl(store, writer, crawl, date=date, outcome=outcome)
