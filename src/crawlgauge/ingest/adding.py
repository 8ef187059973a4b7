"""Add crawls, one, a list or a collection: inputs are read into keys, these become stored sets.

The way of `add_crawl`: find the files; hold the crawl in the store; read the files, each to keys
(`add_to_store`); write the set and make it the crawl's (`_publish_crawl`).
"""

import datetime as dt
import logging
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Literal, Unpack

from crawlgauge.core.machine import count_processors
from crawlgauge.crawl import Crawl, parse_date
from crawlgauge.errors import Damage, SourceError, StoreError
from crawlgauge.ingest.builder import SetBuilder, rows_threshold
from crawlgauge.ingest.crawl_list import NewCrawl, choose_crawls, find_all, list_words
from crawlgauge.ingest.options import (
    ENGINE,
    Choices,
    ReadOptions,
    WhenPresent,
    choose_date,
    choose_reading,
    choose_when_present,
    needs_times,
)
from crawlgauge.ingest.sorting import MIN_MEMORY, KeyMemory, SortedKeys
from crawlgauge.ingest.splitting import ByField, Cut, OneCrawl, Period, Splitter, choose_cut
from crawlgauge.keys.rules import BY_CONTENT, BY_TEXT, BY_URL, rule_of
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.locations import StrPath, find_store
from crawlgauge.provenance import Input, Provenance, Setting
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.cdx_server import forget_answers, is_query, list_collections
from crawlgauge.sources.decompress import VERSION_CHECKSUM, fingerprint, version_as_input
from crawlgauge.sources.inputs import InputFiles, can_be_reread
from crawlgauge.sources.reading import (
    Progress,
    ReadingProgress,
    ReadInputs,
    read_inputs,
    total_bytes,
)
from crawlgauge.sources.remote import RemotePath, interruptible, is_remote, wait_for
from crawlgauge.sources.what_counts import DEFAULT_RATE
from crawlgauge.store.catalogue import Store, store_for_adding
from crawlgauge.store.crawl_set import CrawlSet, Manifest
from crawlgauge.store.crawl_writer import CrawlWriter, UnwrittenSet
from crawlgauge.store.files import check_room
from crawlgauge.store.key_set import KeyReader
from crawlgauge.store.spilling import SpillFolder

__all__ = [
    "Addition",
    "SplitResult",
    "add_crawl",
    "add_crawls",
    "add_split",
    "add_to_store",
    "open_for_adding",
    "split_collection",
]

Listener = Callable[[Progress], None]
Outcome = Literal["added", "replaced", "appended", "unchanged"]

_BY_CHOICE = {"redirect", "error", "status", "no-status", "mime", "no-mime", "out-of-scope"}
"""Reasons to leave out a capture that the user's options decide on."""

_WHAT_COUNTS = ("status", "mime", "scope")
_WANTED = {BY_CONTENT: "digest", BY_TEXT: "text that is known"}
"""What captures have at each level but that of URLs."""

_BYTES_PER_KEY = 8
_BYTES_PER_ATTRIBUTE = 20
"""On the disk, rounded up."""

_KEYS_AT_ONCE = 1 << 20

_MAX_AT_ONCE = 4
"""What is done between compiled parts is done by one thread at a time."""

_UNREAD = "unread:"
"""What begins the checksum of what is known to be new without being read; no other begins so."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What came of adding a crawl.

    Parameters
    ----------
    crawl_set
        The set of its URLs, as it is in the store.
    outcome
        Whether it is new there.
    others
        Its sets of other levels.
    examples
        The first records that were rejected.
    """

    crawl_set: CrawlSet
    outcome: Outcome
    others: tuple[CrawlSet, ...] = ()
    examples: tuple[Rejection, ...] = ()


def add_crawl(
    store: StrPath | None,
    label: str,
    inputs: StrPath | Iterable[StrPath],
    *,
    date: dt.date | str | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Listener | None = None,
    **options: Unpack[ReadOptions],
) -> Addition:
    """Read the files of one crawl into a store, which is made if it is missing.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    label
        Name of the crawl.
    inputs
        Files, folders, globs, ``@list.txt`` or ``-`` for standard input, of any format; also
        remote ones, such as ``s3://bucket/folder/*.gz``, and queries of CDX servers,
        ``cdx+https://HOST/PATH?url=…``.
    date
        The crawl's date; if not given, the day of the median capture, else the one that the
        label contains.
    replace, append
        Whether an existing crawl of that label is replaced, or further files are added to it.
    progress
        Called now and then with how far reading has come.
    **options
        What counts and how files are read; see `ReadOptions`.

    Returns
    -------
    Addition
        The crawl as it is in the store, and what came of adding it.

    Raises
    ------
    CrawlgaugeError
        If the label, the date, an input or the store cannot be used; the store is as before.
    """
    files = find_all(inputs, options)
    crawl = NewCrawl.of(label, date, files)
    present = choose_when_present(replace=replace, append=append)
    with open_for_adding(store, options) as (opened, choices):
        return add_to_store(opened, crawl, choices, present, _listen(progress, [crawl.inputs]))


def add_crawls(
    store: StrPath | None,
    crawl_list: StrPath | None = None,
    *,
    each: StrPath | Iterable[StrPath] | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Listener | None = None,
    on_added: Callable[[Addition], None] | None = None,
    **options: Unpack[ReadOptions],
) -> tuple[Addition, ...]:
    """Add all crawls of a CSV list, or one of each file; what is there already is passed over.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    crawl_list
        The list: ``label,date,path``, and a line for each crawl. The date may be empty; the path is
        a file, folder, glob or ``@list.txt``, seen from the list's folder.
    each
        In place of a list: inputs as for `add_crawl`, each file of which is a crawl, labelled by
        the date in its name, such as 2021-12, 20211201 or CC-MAIN-2023-40, else by the name.
    replace, append, progress
        As for `add_crawl`.
    on_added
        Called with each crawl when it is in the store.
    **options
        What counts and how files are read; see `ReadOptions`.

    Returns
    -------
    tuple of Addition
        In the order of the list, or of the files.

    Raises
    ------
    CrawlgaugeError
        If the list or one of the crawls cannot be read; those before it are in the store.
    """
    present = choose_when_present(replace=replace, append=append)
    crawls = choose_crawls(crawl_list, each, options)
    reading = _listen(progress, [crawl.inputs for crawl in crawls])
    with open_for_adding(store, options) as (opened, choices):
        n_at_once = _count_at_once(crawls, choices.memory)
        if n_at_once > 1:
            own = changed(choices, memory=choices.memory // n_at_once, n_threads=0)
        else:
            own = choices

        def add_one(crawl: NewCrawl, progress: ReadingProgress) -> Addition:
            return add_to_store(opened, crawl, own, present, progress)

        additions = []
        # Closed at once, whatever happens: it adds in threads.
        with closing(_add_in_order(crawls, add_one, n_at_once, reading)) as added:
            for addition in added:
                additions.append(addition)
                if on_added is not None:
                    on_added(addition)
        return tuple(additions)


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
    period: Period | Literal["collection"] | None = None,
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
        Cut by capture time into the months, quarters, half-years or years of the calendar; or by
        ``"collection"``, where the input is the list of a CDX server's.
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
    present = choose_when_present(replace=replace, append=False)
    if period == "collection":
        return _add_collections(store, list_words(inputs), present, progress, options)
    cut = choose_cut(period, pattern, field)
    files = find_all(inputs, options)
    with open_for_adding(store, options) as (opened, choices):
        return add_split(opened, files, cut, choices, present, _listen(progress, [files]))


def _add_collections(
    store: StrPath | None,
    words: list[str],
    when_present: WhenPresent,
    progress: Listener | None,
    options: ReadOptions,
) -> SplitResult:
    """Add what each collection of a CDX server holds as a crawl of its own."""
    found = list_collections(words[0], options.get("rate", DEFAULT_RATE))
    if found is None or len(words) > 1:
        raise SourceError(
            "only what a server lists is cut by collection: name one input, such as "
            "cdx+https://index.commoncrawl.org/collinfo.json?url=*.example.org"
        )
    additions = []
    with open_for_adding(store, options) as (opened, choices):
        for label, query in found.items():
            crawl = NewCrawl.of(label, None, InputFiles(names=(query,)))
            reading = _listen(progress, [crawl.inputs])
            try:
                additions.append(add_to_store(opened, crawl, choices, when_present, reading))
            except _NothingFound as error:
                _log.info("%s is left out: %s", label, error)
        if not additions:
            raise SourceError(f"none of {len(found):,} collections holds any capture that counts")
    examples = tuple(one for added in additions for one in added.examples)
    return SplitResult(additions=tuple(additions), unassigned={}, examples=examples)


@contextmanager
def open_for_adding(store: StrPath | None, options: ReadOptions) -> Iterator[tuple[Store, Choices]]:
    """Open a store, or make it, and understand what the user chose."""
    place = find_store(store)
    choices = choose_reading(options, place)
    with store_for_adding(place, choices.key_rule) as opened:
        yield opened, choices


def _listen(listener: Listener | None, groups: list[InputFiles]) -> ReadingProgress:
    """Return what tells a listener how far reading of some groups of inputs has come."""
    sizes = [total_bytes(group) for group in groups] if listener is not None else [None]
    known = [size for size in sizes if size is not None]
    return ReadingProgress(listener, sum(known) if len(known) == len(sizes) else None)


# ------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCrawl:
    """A crawl that was read and is not yet in the store.

    Parameters
    ----------
    builder
        Holds its keys and counts.
    read
        What it was read from, with damage and examples.
    settings
        What the user chose.
    date
        The crawl's, if the user stated it.
    unassigned
        How many records of a collection belong to none of its crawls, by reason.
    """

    builder: SetBuilder
    read: ReadInputs
    settings: dict[str, Setting]
    date: dt.date | None
    unassigned: Mapping[str, int]


Reader = Callable[[InputFiles, Choices, OneCrawl | Splitter, ReadingProgress | None], ReadInputs]
"""What reads inputs into a target: `_read_here`, or another engine with the same result."""


def _read_here(
    inputs: InputFiles,
    choices: Choices,
    target: OneCrawl | Splitter,
    progress: ReadingProgress | None,
) -> ReadInputs:
    """Read inputs on this machine."""
    settings = choices.reading(target.names, target.cut)
    return read_inputs(inputs, settings, target, progress=progress, n_threads=choices.n_threads)


class _NothingFound(SourceError):  # noqa: N818 - it is what was found
    """Inputs hold nothing that counts, and are whole."""


def _nothing_found(builder: SetBuilder, inputs: InputFiles, read: ReadInputs) -> SourceError:
    """Return the error that says why there is nothing to store."""
    if read.damages:
        return _nothing_kept(read.damages)
    where = _name_all(inputs)
    left_out = builder.excluded + builder.rejected
    if all(map(is_query, inputs.names)) and not left_out:
        return _NothingFound(f"{where}: the server holds nothing for this query")
    if not left_out:
        return SourceError(f"{where}: no URL found; empty, or only blank lines and comments")
    if builder.excluded:
        reasons = _count_left_out(left_out)
        advice = (
            ". What counts is chosen by --status, --mime and --scope"
            if _BY_CHOICE & builder.excluded.keys()
            else ", which are no captures"
        )
        return _NothingFound(f"{where}: nothing in it counts; left out: {reasons}{advice}")
    example = "".join(
        f"; {'' if item.line is None else f'line {item.line} of '}{item.file} is {item.text!r}"
        for item in read.examples[:1]
    )
    if left_out.total() == 1:
        return SourceError(f"{where}: its only line is no URL{example}")
    return SourceError(
        f"{where}: none of {left_out.total():,} lines is a URL such as "
        f"https://example.org/page{example}"
    )


def _name_all(inputs: InputFiles) -> str:
    """Name the inputs in a message."""
    return inputs.names[0] if len(inputs.names) == 1 else f"{len(inputs.names)} files"


def _count_left_out(reasons: Counter[str]) -> str:
    """Say how many records were left out for which reasons."""
    return ", ".join(f"{n:,} {reason}" for reason, n in reasons.most_common())


def _nothing_kept(damages: Iterable[Damage]) -> SourceError:
    """Return the error that says that damage has left nothing."""
    return SourceError(f"nothing can be kept: {'; '.join(map(str, damages))}")


# -------------------------------------------------------------------------- what is there already


def add_to_store(
    store: Store,
    crawl: NewCrawl,
    choices: Choices,
    when_present: WhenPresent,
    progress: ReadingProgress | None = None,
    read: Reader = _read_here,
) -> Addition:
    """Read the files of one crawl and put its set into the store.

    Adding the same files in the same way again is no error and changes nothing.

    Parameters
    ----------
    store
        The store.
    crawl
        What to add.
    choices
        What the user chose.
    when_present
        What to do if there is a crawl of that label already.
    progress
        Is told how far reading has come.
    read
        Reads the inputs.
    """
    label, before = crawl.label, None
    with store.writing(label) as writer, SpillFolder(store.path) as spill:
        memory = KeyMemory(choices.memory, spill)
        target = OneCrawl(label, choices, memory, rows_threshold(crawl.inputs, choices.format))
        builder = target.builder(label)
        exists = store.holds(label)
        # What shall be replaced may be damaged, and is not looked at.
        present = store.manifest(label) if exists and when_present != "replace" else None
        if present is not None and when_present == "append":
            before = present.of_urls
            crawl = _leave_known(crawl, before, choices)
            if not crawl.inputs.names:
                return _leave_crawl(present)
            _take_up(store, present, builder)
        elif present is not None and all(map(can_be_reread, crawl.inputs.names)):
            known = present.of_urls.provenance.inputs
            # What an index has led to was read in parts.
            parts = {entry.name for entry in known if entry.through}
            names = [name for name in crawl.inputs.names if name not in parts]
            found = tuple(_recognise(name, known) for name in names)
            return _accept_if_same(store, present, found, choices.settings(crawl.date))
        target.needs_times = needs_times(label, crawl.date, crawl.inputs.names)
        was_read = read(crawl.inputs, choices, target, progress)
        if not builder.n_captures:
            raise _nothing_found(builder, crawl.inputs, was_read)
        settings = choices.settings(crawl.date)
        if before is not None:
            was_read = changed(
                was_read,
                inputs=(*before.provenance.inputs, *was_read.inputs),
                damages=(*before.damage, *was_read.damages),
            )
        elif present is not None:
            return _accept_if_same(store, present, was_read.inputs, settings)
        done = ReadCrawl(
            builder=builder,
            read=was_read,
            settings=settings,
            date=crawl.date,
            unassigned={} if before is None else before.unassigned,
        )
        outcome: Outcome = "replaced" if exists else "added"
        outcome = outcome if before is None else "appended"
        added = _publish_crawl(store, writer, done, outcome)
        forget_answers(crawl.inputs.names)
        return added


def _accept_if_same(
    store: Store, present: Manifest, inputs: tuple[Input, ...], settings: dict[str, Setting]
) -> Addition:
    """Take an existing crawl for added if it came from the same bytes in the same way."""
    if _was_made_from(present, inputs, settings):
        return _leave_crawl(present)
    raise _refuse_present(store, present)


def _was_made_from(
    present: Manifest, inputs: tuple[Input, ...], settings: Mapping[str, Setting]
) -> bool:
    """Tell whether a crawl was made from the same bytes in the same way: `add` can be repeated."""
    provenance = present.of_urls.provenance
    before = sorted(entry.checksum for entry in provenance.inputs if not entry.through)
    now = sorted(entry.checksum for entry in inputs if not entry.through)
    return before == now and _that_matter(provenance.settings) == _that_matter(settings)


def _that_matter(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Leave out by which engine a crawl was read: each gives the same sets."""
    return {name: value for name, value in settings.items() if name != ENGINE}


def _leave_crawl(present: Manifest) -> Addition:
    """Tell of a crawl that it stays as it is."""
    return Addition(crawl_set=present.of_urls, outcome="unchanged", others=present.of_other_levels)


def _refuse_present(store: Store, present: Manifest) -> StoreError:
    """Return the error for a label that exists with other content."""
    crawl = present.of_urls.crawl
    return StoreError(
        f"the store {store.path} already holds a crawl {crawl.label!r}, made from other files or "
        f"in another way ({crawl.n_urls:,} URLs, {crawl.date}); replace it with --replace, add to "
        "it with --append, or choose another label"
    )


def _recognise(name: str, known: Iterable[Input]) -> Input:
    """Return name, size and checksum of an input, reading no more of it than is needed.

    A server's answer may change from day to day; the same question is the same input.
    """
    if is_query(name):
        same = (entry for entry in known if entry.name == name)
        return next(same, Input(name=name, checksum=_UNREAD + name, n_bytes=-1))
    if not is_remote(name):
        return fingerprint(name)
    try:
        facts = RemotePath(name).stat()
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror or error}") from error
    alike = [entry for entry in known if entry.n_bytes == facts.st_size or facts.st_size < 0]
    if facts.version is not None:
        for entry in alike:
            if entry.name == name and entry.version == facts.version:
                return entry
    if all(entry.checksum.startswith(VERSION_CHECKSUM) for entry in alike):
        if facts.version is not None and facts.st_size >= 0:
            return version_as_input(name, facts)
        return Input(name=name, checksum=_UNREAD, n_bytes=facts.st_size)
    return fingerprint(name)


def _leave_known(crawl: NewCrawl, present: CrawlSet, choices: Choices) -> NewCrawl:
    """Leave out the files that a crawl was made from, and keep the date that was given to it."""
    before = {"levels": BY_URL, **present.provenance.settings}
    settings = choices.settings(crawl.date)
    given = before.get("date") if crawl.date is None else settings["date"]
    now = {"levels": BY_URL, **_that_matter(settings)}
    different = [name for name in now if name != "date" and now[name] != before.get(name)]
    if different:
        was = ", ".join(f"{name} {before.get(name)}" for name in different)
        raise StoreError(
            f"crawl {crawl.label!r} was made in another way ({was}); add to it with the same "
            "options, or make it anew with --replace"
        )
    known = {entry.checksum for entry in present.provenance.inputs}
    names = []
    for name in crawl.inputs.names:
        if can_be_reread(name) and _recognise(name, present.provenance.inputs).checksum in known:
            _log.warning("%s is in the crawl already; it is not read again", name)
        else:
            names.append(name)
    date = parse_date(given) if isinstance(given, str) else None
    return changed(crawl, date=date, inputs=changed(crawl.inputs, names=tuple(names)))


def _take_up(store: Store, present: Manifest, builder: SetBuilder) -> None:
    """Let a builder begin where a crawl that is in the store ends."""
    of_urls = present.of_urls
    builder.take_up(of_urls, store.attributes(of_urls))
    _take_up_keys(builder.runs, of_urls)
    for level in builder.levels:
        level.take_up(present.sets[level.level], of_urls)
        _take_up_keys(level.runs, present.sets[level.level])


def _take_up_keys(runs: SortedKeys, present: CrawlSet) -> None:
    runs.threshold = present.threshold
    reader = KeyReader(present)
    # There may be more keys than memory: part by part, so that they can be spilled.
    n_parts = present.stored.n_keys // _KEYS_AT_ONCE + 1
    for number in range(n_parts):
        runs.add(reader.between(WHOLE * number // n_parts, WHOLE * (number + 1) // n_parts))


# ----------------------------------------------------------------------------------- publishing


def _publish_crawl(
    store: Store, writer: CrawlWriter, crawl: ReadCrawl, outcome: Outcome
) -> Addition:
    """Write the set of a crawl that was read, in place of what was there before.

    Parameters
    ----------
    store
        The store.
    writer
        Holds the crawl.
    crawl
        What was read.
    outcome
        What this is, for the answer.
    """
    builder = crawl.builder
    # Keys are sorted now, and only then it is known where a sample of so many ends.
    _check_sample(crawl)
    attributes = builder.finish_attributes()
    description = CrawlSet(
        crawl=Crawl(
            label=writer.label,
            date=choose_date(
                writer.label, crawl.date, builder.days, (item.name for item in crawl.read.inputs)
            ),
            n_urls=1,  # Known when the last key is written.
            first_capture=_to_time(builder.first_time),
            last_capture=_to_time(builder.last_time),
            damaged=bool(crawl.read.damages),
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
        damage=crawl.read.damages,
        checksum="",
        provenance=Provenance.now(settings=crawl.settings, inputs=crawl.read.inputs),
        folder=writer.folder,
    )
    sets = [(description, builder.runs), *_describe_levels(description, builder)]
    unwritten = [
        UnwrittenSet(description=item, ranges=runs.ranges(), n_most=runs.n_most)
        for item, runs in sets
    ]
    n_bytes = sum(item.n_most for item in unwritten) * _BYTES_PER_KEY
    n_bytes += len(attributes) * _BYTES_PER_ATTRIBUTE
    check_room(writer.workplace, n_bytes, f"the set of crawl {writer.label!r}")
    written = writer.publish(unwritten, attributes)
    _warn_of_other_counting(store, written.of_urls)
    return Addition(
        crawl_set=written.of_urls,
        outcome=outcome,
        others=written.of_other_levels,
        examples=crawl.read.examples,
    )


def _to_time(seconds: int | None) -> dt.datetime | None:
    return None if seconds is None else dt.datetime.fromtimestamp(seconds, tz=dt.UTC)


def _describe_levels(
    of_urls: CrawlSet, builder: SetBuilder
) -> Iterator[tuple[CrawlSet, SortedKeys]]:
    """Yield what is known of the sets of other levels before they are written, and their keys."""
    for level in builder.levels:
        excluded = Counter(of_urls.excluded) + level.excluded
        description = changed(
            of_urls,
            level=level.level,
            key_rule=rule_of(level.level, of_urls.key_rule),
            threshold=level.runs.threshold,
            n_captures=level.n_captures,
            excluded=dict(sorted(excluded.items())),
            n_by_digest=level.n_by_digest,
        )
        yield description, level.runs


def _check_sample(crawl: ReadCrawl) -> None:
    """See that each set has a key."""
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


def _warn_of_other_counting(store: Store, added: CrawlSet) -> None:
    """Warn if crawls of the store were made with other rules of what counts.

    It is held against one of them: what differs from that was told when it was added.
    """
    try:
        others = (label for label in store.labels() if label != added.crawl.label)
        other = store.crawl_set(next(others, added.crawl.label))
    except StoreError:
        # Whatever is wrong with others is no matter of this crawl, which is there.
        return
    before, now = other.provenance.settings, added.provenance.settings
    different = [name for name in _WHAT_COUNTS if before.get(name) != now.get(name)]
    if different:
        _log.warning(
            "crawl %s was made with another %s than crawl %s: their overlaps compare different "
            "things; make all crawls of a store alike",
            added.crawl.label,
            " and ".join(f"--{name}" for name in different),
            other.crawl.label,
        )


# ------------------------------------------------------------- several crawls at the same time


def _add_in_order(
    crawls: Sequence[NewCrawl],
    add_one: Callable[[NewCrawl, ReadingProgress], Addition],
    n_at_once: int,
    progress: ReadingProgress,
) -> Generator[Addition, None, None]:
    if n_at_once == 1:
        yield from (add_one(crawl, progress) for crawl in crawls)
        return
    must_stop = threading.Event()

    def check() -> None:
        if must_stop.is_set():
            raise _Stopped

    def add_interruptibly(crawl: NewCrawl) -> Addition:
        check()
        with interruptible(check):
            return add_one(crawl, _Stoppable(progress, check))

    with ThreadPoolExecutor(n_at_once) as pool:
        jobs = [pool.submit(add_interruptibly, crawl) for crawl in crawls]
        try:
            yield from map(wait_for, jobs)
        finally:
            # In the end there is nothing left to stop, unless one has failed or the user wants to.
            must_stop.set()
            for job in jobs:
                job.cancel()


def _count_at_once(crawls: Sequence[NewCrawl], memory: int) -> int:
    if not all(can_be_reread(name) for crawl in crawls for name in crawl.inputs.names):
        # A thread that waits for a pipe cannot be interrupted.
        return 1
    n_files = max((len(crawl.inputs.names) for crawl in crawls), default=1)
    n_idle = count_processors() // n_files
    return max(1, min(n_idle, _MAX_AT_ONCE, memory // MIN_MEMORY, len(crawls)))


class _Stopped(Exception):  # noqa: N818 - nobody sees it
    """Another crawl has failed, or the user wants no more."""


class _Stoppable(ReadingProgress):
    """Tells how far one of several crawls has come to what all share, until that is to stop."""

    def __init__(self, shared: ReadingProgress, check: Callable[[], None]) -> None:
        super().__init__()
        self._shared = shared
        self._check = check

    def add_bytes(
        self, n_bytes: int, file: str, pages: tuple[int | None, int | None] = (None, None)
    ) -> None:
        self._check()
        self._shared.add_bytes(n_bytes, file, pages)

    def add_captures(self, n_captures: int) -> None:
        self._shared.add_captures(n_captures)


# ----------------------------------------------------------------- the crawls of a collection


def add_split(
    store: Store,
    inputs: InputFiles,
    cut: Cut,
    choices: Choices,
    when_present: WhenPresent,
    progress: ReadingProgress | None = None,
    read: Reader = _read_here,
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
    choices, when_present, progress, read
        As for `crawlgauge.ingest.adding.add_to_store`.
    """
    with SpillFolder(store.path) as spill:
        target = Splitter(cut, choices, KeyMemory(choices.memory, spill))
        found = read(inputs, choices, target, progress)
        builders, rest = target.builders, target.rest
        for label in [label for label, item in builders.items() if not item.n_captures]:
            rest.update(builders.pop(label).excluded)
        if not builders:
            raise _none_assigned(inputs, cut, rest, found)
        settings = {**choices.settings(None), **cut.settings()}
        crawls = {
            label: ReadCrawl(
                builder=builders[label],
                read=changed(found, examples=()),
                settings=settings,
                date=None,
                unassigned=dict(rest),
            )
            for label in sorted(builders)
        }
        if when_present == "refuse":
            # Before the first is written.
            for label, crawl in crawls.items():
                _check_present(store, label, crawl)
        additions = tuple(_publish(store, label, crawl) for label, crawl in crawls.items())
        forget_answers(inputs.names)
        return SplitResult(
            additions=additions,
            unassigned=dict(rest),
            examples=found.examples,
        )


def _none_assigned(
    inputs: InputFiles, cut: Cut, rest: Counter[str], read: ReadInputs
) -> SourceError:
    if read.damages:
        return _nothing_kept(read.damages)
    why = f"left out: {_count_left_out(rest)}" if rest else "the input is empty"
    if isinstance(cut, ByField) and rest[cut.reason]:
        why += (
            f". --split-by finds no label in the field {cut.group!r}; name another field with "
            "--split-field, or add the crawls one by one"
        )
    return SourceError(
        f"{_name_all(inputs)}: no capture that counts and can be assigned to a crawl; {why}"
    )


def _check_present(store: Store, label: str, crawl: ReadCrawl) -> None:
    if store.holds(label):
        present = store.manifest(label)
        if not _was_made_from(present, crawl.read.inputs, crawl.settings):
            raise _refuse_present(store, present)


def _publish(store: Store, label: str, crawl: ReadCrawl) -> Addition:
    with store.writing(label) as writer:
        present = store.manifest(label) if store.holds(label) else None
        if present is not None and _was_made_from(present, crawl.read.inputs, crawl.settings):
            return _leave_crawl(present)
        return _publish_crawl(store, writer, crawl, "added" if present is None else "replaced")
