"""Read inputs into the keys of one crawl, and publish them as its set."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from crawlgauge.compiled import announce_compilation
from crawlgauge.crawl import Crawl
from crawlgauge.damage import Damage
from crawlgauge.errors import SourceError
from crawlgauge.keys.hashing import KERNELS
from crawlgauge.keys.host_kernel import code_hosts
from crawlgauge.keys.levels import BY_CONTENT, BY_TEXT, BY_URL, rule_of
from crawlgauge.provenance import Input, Provenance, Setting
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.store.building import SetBuilder
from crawlgauge.store.catalogue import Store
from crawlgauge.store.choices import Choices
from crawlgauge.store.comparability import warn_of_other_counting
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.crawl_writer import CrawlWriter
from crawlgauge.store.dating import choose_date, needs_times
from crawlgauge.store.files import check_room
from crawlgauge.store.key_runs import SortedKeys

__all__ = [
    "ENGINE",
    "Addition",
    "CrawlReader",
    "Outcome",
    "ReadCrawl",
    "check_not_empty",
    "leave_crawl",
    "publish_crawl",
    "read_crawl",
    "settings_of",
    "was_made_from",
]

_BY_CHOICE = {"redirect", "error", "status", "no-status", "mime", "no-mime", "out-of-scope"}
"""Reasons to leave out a capture that the user's options decide on."""

_BYTES_PER_KEY = 6
_BYTES_PER_ATTRIBUTE = 12
"""On the disk, as measured and rounded up."""

_WANTED = {BY_CONTENT: "digest", BY_TEXT: "text that is known"}
"""What captures have at each level but that of URLs."""

ENGINE = "engine"
"""The setting that says by what the inputs were read, where not by this machine alone."""

Outcome = Literal["added", "replaced", "appended", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What came of adding a crawl.

    Parameters
    ----------
    crawl_set
        The crawl as it stands in the store.
    outcome
        ``unchanged`` if the same files had been added before.
    others
        Its sets of other levels.
    examples
        The first rejected records.
    """

    crawl_set: CrawlSet
    outcome: Outcome
    others: tuple[CrawlSet, ...] = ()
    examples: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCrawl:
    """A crawl that was read and is not yet in the store.

    Parameters
    ----------
    builder
        Its keys and counts.
    inputs, damage
        What it was read from, and what was damaged there.
    settings
        What the user chose.
    unassigned
        Records of a collection that belong to none of its crawls, by reason.
    """

    builder: SetBuilder
    inputs: tuple[Input, ...]
    damage: tuple[Damage, ...]
    settings: dict[str, Setting]
    unassigned: dict[str, int]


class CrawlReader(Protocol):
    """What reads the inputs of a crawl: `read_crawl`, or another engine with the same result."""

    def __call__(
        self,
        label: str,
        inputs: InputFiles,
        choices: Choices,
        *,
        date: dt.date | None,
        builder: SetBuilder,
        progress: ReadingProgress | None,
    ) -> ReadCrawl:
        """Read the inputs of one crawl, as `read_crawl` does."""


def settings_of(choices: Choices, date: dt.date | None) -> dict[str, Setting]:
    """Return all choices that a crawl depends on, by name."""
    return {**choices.settings(), "date": None if date is None else date.isoformat()}


def was_made_from(
    present: CrawlSet, inputs: tuple[Input, ...], settings: dict[str, Setting]
) -> bool:
    """Tell whether a crawl was made from the same bytes in the same way: `add` can be repeated."""
    before = sorted(entry.checksum for entry in present.provenance.inputs if not entry.through)
    now = sorted(entry.checksum for entry in inputs if not entry.through)
    return before == now and _that_matter(present.provenance.settings) == _that_matter(settings)


def _that_matter(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Leave out by which engine a crawl was read: each gives the same sets."""
    return {name: value for name, value in settings.items() if name != ENGINE}


def read_crawl(
    label: str,
    inputs: InputFiles,
    choices: Choices,
    *,
    date: dt.date | None,
    builder: SetBuilder,
    progress: ReadingProgress | None,
) -> ReadCrawl:
    """Read the inputs of one crawl.

    Parameters
    ----------
    label, date
        The crawl's; without a date the captures' times are needed, or a date in the label.
    inputs, choices
        What to read, and how.
    builder
        Takes the captures; it may hold some already.
    progress
        Told how far reading has come.

    Raises
    ------
    SourceError
        If an input cannot be read, is damaged, or no capture is found that counts.
    CrawlError
        If the crawl has no date.
    """
    announce_compilation(KERNELS[choices.rule], code_hosts)
    reader = ArchiveReader(
        inputs,
        choices.request(),
        keep_damaged=choices.on_damage == "keep",
        progress=progress,
        n_threads=choices.n_threads,
    )
    # Closed at once, whatever happens: it reads in threads.
    with closing(reader.captures()) as batches:
        for captures in choices.select(batches):
            if captures.time is None and len(captures) and needs_times(label, date):
                # Hours of reading would end with the same message.
                choose_date(label, date, {})
            builder.add(captures)
    check_not_empty(builder, inputs, reader.damages)
    return ReadCrawl(
        builder=builder,
        inputs=tuple(reader.inputs),
        damage=tuple(reader.damages),
        settings=settings_of(choices, date),
        unassigned={},
    )


def check_not_empty(builder: SetBuilder, inputs: InputFiles, damages: list[Damage]) -> None:
    """See that there is something to store.

    Raises
    ------
    SourceError
        If not; it says what the inputs hold instead.
    """
    if builder.n_captures:
        return
    if damages:
        raise SourceError(f"nothing can be kept: {'; '.join(map(str, damages))}")
    where = inputs.names[0] if len(inputs.names) == 1 else f"{len(inputs.names)} files"
    left_out = builder.excluded + builder.rejected
    if not left_out:
        raise SourceError(f"{where}: no URL found; empty, or only blank lines and comments")
    if builder.excluded:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.most_common())
        advice = (
            ". What counts is chosen by --status, --mime and --scope"
            if _BY_CHOICE & builder.excluded.keys()
            else ", which are no captures"
        )
        raise SourceError(f"{where}: nothing in it counts; left out: {reasons}{advice}")
    example = "".join(
        f"; {'' if item.line is None else f'line {item.line} of '}{item.file} is {item.text!r}"
        for item in builder.examples[:1]
    )
    if left_out.total() == 1:
        raise SourceError(f"{where}: its only line is no URL{example}")
    raise SourceError(
        f"{where}: none of {left_out.total():,} lines is a URL such as "
        f"https://example.org/page{example}"
    )


def publish_crawl(
    store: Store, writer: CrawlWriter, crawl: ReadCrawl, *, date: dt.date, outcome: Outcome
) -> Addition:
    """Write the set of a crawl that was read, in place of what was there before.

    Parameters
    ----------
    store
        Where to.
    writer
        Holds the crawl's lock.
    crawl
        What was read.
    date
        The crawl's.
    outcome
        What to tell of it.
    """
    builder = crawl.builder
    attributes = builder.finish_attributes()
    _check_sample(crawl)
    description = CrawlSet(
        crawl=Crawl(
            label=writer.label,
            date=date,
            n_urls=1,  # Known when the last range is merged; the file's writer fills it in.
            first_capture=builder.first_capture,
            last_capture=builder.last_capture,
            damaged=bool(crawl.damage),
        ),
        level=BY_URL,
        key_rule=store.key_rule,
        threshold=builder.runs.threshold,
        n_captures=builder.n_captures,
        # Files are read at the same time, and whose counts came first shall leave no trace.
        rejected=dict(sorted(builder.rejected.items())),
        excluded=dict(sorted(builder.excluded.items())),
        unassigned=dict(sorted(crawl.unassigned.items())),
        n_no_status=builder.n_no_status,
        days=dict(sorted(builder.days.items())),
        damage=crawl.damage,
        checksum="",
        range_bits=builder.runs.choose_range_bits(),
        provenance=Provenance.now(settings=crawl.settings, inputs=crawl.inputs),
        path=writer.folder,
    )
    sets = [(description, builder.runs), *_describe_levels(description, builder)]
    n_keys = sum(runs.n_most for _, runs in sets)
    n_bytes = n_keys * _BYTES_PER_KEY + len(attributes) * _BYTES_PER_ATTRIBUTE
    check_room(writer.workplace, n_bytes, f"the set of crawl {writer.label!r}")
    published, *others = writer.publish(
        [(item, runs.ranges(item.range_bits)) for item, runs in sets], attributes
    )
    warn_of_other_counting(store, published)
    return Addition(
        crawl_set=published,
        outcome=outcome,
        others=tuple(others),
        examples=tuple(builder.examples),
    )


def leave_crawl(store: Store, present: CrawlSet) -> Addition:
    """Tell of a crawl that it stays as it is.

    Parameters
    ----------
    store
        Where it is.
    present
        Its set of URLs.
    """
    others = store.other_levels(present.crawl.label)
    return Addition(crawl_set=present, outcome="unchanged", others=others)


def _describe_levels(
    of_urls: CrawlSet, builder: SetBuilder
) -> Iterator[tuple[CrawlSet, SortedKeys]]:
    """Yield what is known of the sets of other levels before they are written, and their keys."""
    for level in builder.levels:
        excluded = Counter(of_urls.excluded) + level.excluded
        description = replace(
            of_urls,
            level=level.level,
            key_rule=rule_of(level.level, of_urls.key_rule),
            threshold=level.runs.threshold,
            n_captures=level.n_captures,
            excluded=dict(sorted(excluded.items())),
            n_by_digest=level.n_by_digest,
            range_bits=level.runs.choose_range_bits(),
        )
        yield description, level.runs


def _check_sample(crawl: ReadCrawl) -> None:
    builder = crawl.builder
    for level in builder.levels:
        if level.n_captures == 0:
            raise SourceError(
                f"none of {builder.n_captures:,} captures has a {_WANTED[level.level]}; leave "
                f"{level.level} out of --levels, or add the crawl from its WARC files"
            )
    for what, runs in (
        ("URL", builder.runs),
        *((item.level, item.runs) for item in builder.levels),
    ):
        if runs.n_most == 0:
            raise SourceError(
                f"the sample {crawl.settings['sample']} of {builder.n_captures:,} captures holds "
                f"no {what}; take a larger one with --sample, or the whole crawl"
            )
