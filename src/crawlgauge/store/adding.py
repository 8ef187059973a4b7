"""Add one crawl to the store: a new one, in place of an old one, or further files of it."""

import datetime as dt
import logging
from dataclasses import replace
from typing import Literal

from crawlgauge.errors import StoreError
from crawlgauge.keys.levels import BY_URL
from crawlgauge.provenance import Input, Setting
from crawlgauge.sources.fingerprints import fingerprint_all, recognise
from crawlgauge.sources.inputs import STDIN, InputFiles
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.store.building import SetBuilder, open_builder
from crawlgauge.store.catalogue import Store
from crawlgauge.store.choices import Choices
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.crawl_writer import CrawlWriter
from crawlgauge.store.dating import choose_date
from crawlgauge.store.key_runs import KeyMemory, SortedKeys
from crawlgauge.store.making import (
    Addition,
    CrawlReader,
    Outcome,
    leave_crawl,
    publish_crawl,
    read_crawl,
    settings_of,
    was_made_from,
)
from crawlgauge.store.set_file import SetReader
from crawlgauge.store.spilling import SpillFolder

__all__ = ["WhenPresent", "add_to_store", "refuse_present"]

WhenPresent = Literal["refuse", "replace", "append"]

_log = logging.getLogger(__name__)


def add_to_store(
    store: Store,
    label: str,
    inputs: InputFiles,
    *,
    choices: Choices,
    date: dt.date | None = None,
    when_present: WhenPresent = "refuse",
    progress: ReadingProgress | None = None,
    read: CrawlReader = read_crawl,
) -> Addition:
    """Read the files of one crawl and put its set into the store.

    Parameters
    ----------
    store
        Open, with the rule of `choices`.
    label
        The crawl's.
    inputs
        The files to read.
    choices
        What counts, and how files are read.
    date
        The crawl's; None for the median capture, else what the label says.
    when_present
        What to do if there is a crawl of that label, made from other files or in another way.
    progress
        Told how far reading has come.
    read
        Reads the inputs.

    Raises
    ------
    SourceError
        If an input cannot be read, is damaged, or no capture is found that counts.
    StoreError
        If the label exists with other content, or the store cannot be written.
    """
    with store.writing(label) as writer, SpillFolder(store.path) as spill:
        builder = open_builder(choices, KeyMemory(choices.memory, spill))
        exists = store.holds(label)
        # What shall be replaced may be damaged, and is not looked at.
        present = store.crawl_set(label) if exists and when_present != "replace" else None
        if present is not None and when_present == "append":
            return _append(store, writer, present, inputs, choices, date, builder, progress, read)
        if present is not None:
            known = fingerprint_all(inputs, present.provenance.inputs)
            if known is not None:
                return _accept_if_same(store, present, known, settings_of(choices, date))
        crawl = read(label, inputs, choices, date=date, builder=builder, progress=progress)
        if present is not None:
            return _accept_if_same(store, present, crawl.inputs, crawl.settings)
        found_date = choose_date(label, date, builder.days)
        outcome: Outcome = "replaced" if exists else "added"
        return publish_crawl(store, writer, crawl, date=found_date, outcome=outcome)


def _accept_if_same(
    store: Store, present: CrawlSet, inputs: tuple[Input, ...], settings: dict[str, Setting]
) -> Addition:
    """Take an existing crawl for added if it came from the same bytes in the same way."""
    if was_made_from(present, inputs, settings):
        return leave_crawl(store, present)
    raise refuse_present(store, present)


def refuse_present(store: Store, present: CrawlSet) -> StoreError:
    """Return the error for a label that exists with other content."""
    return StoreError(
        f"the store {store.path} already holds a crawl {present.crawl.label!r}, made from other "
        f"files or in another way ({present.crawl.n_urls:,} URLs, {present.crawl.date}); replace "
        "it with --replace, add to it with --append, or choose another label"
    )


def _append(
    store: Store,
    writer: CrawlWriter,
    present: CrawlSet,
    inputs: InputFiles,
    choices: Choices,
    date: dt.date | None,
    builder: SetBuilder,
    progress: ReadingProgress | None,
    read: CrawlReader,
) -> Addition:
    """Read further files into a crawl; those that it was made from are not read again."""
    before = dict(present.provenance.settings)
    settings = settings_of(choices, date)
    if date is None:
        settings["date"] = before.get("date")
    before.setdefault("levels", BY_URL)
    now = {"levels": BY_URL, **settings}
    different = [name for name in now if name != "date" and now[name] != before.get(name)]
    if different:
        was = ", ".join(f"{name} {before.get(name)}" for name in different)
        raise StoreError(
            f"crawl {present.crawl.label!r} was made in another way ({was}); add to it with the "
            "same options, or make it anew with --replace"
        )
    fresh = _without_known(inputs, present)
    if not fresh.names:
        return leave_crawl(store, present)
    given = settings["date"]
    kept_date = dt.date.fromisoformat(given) if isinstance(given, str) else None
    _take_up(builder, store, present)
    label = present.crawl.label
    crawl = read(label, fresh, choices, date=kept_date, builder=builder, progress=progress)
    whole = replace(
        crawl,
        inputs=(*present.provenance.inputs, *crawl.inputs),
        damage=(*present.damage, *crawl.damage),
        unassigned=dict(present.unassigned),
    )
    found_date = choose_date(label, kept_date, builder.days)
    return publish_crawl(store, writer, whole, date=found_date, outcome="appended")


def _without_known(inputs: InputFiles, present: CrawlSet) -> InputFiles:
    """Leave out files that the crawl was made from."""
    known = {entry.checksum for entry in present.provenance.inputs}
    names = []
    for name in inputs.names:
        if name != STDIN and recognise(name, present.provenance.inputs).checksum in known:
            _log.warning("%s is in the crawl already; it is not read again", name)
        else:
            names.append(name)
    return replace(inputs, names=tuple(names))


def _take_up(builder: SetBuilder, store: Store, present: CrawlSet) -> None:
    """Begin where a crawl in the store ends."""
    builder.attributes.take_up(store.attributes(present))
    _take_up_keys(builder.runs, present)
    for level in builder.levels:
        description = store.crawl_set(present.crawl.label, level.level)
        _take_up_keys(level.runs, description)
        level.n_captures = description.n_captures
        level.n_by_digest = description.n_by_digest
        # What is left out for its URL is in both; what remains is left out at this level alone.
        level.excluded.update(description.excluded)
        level.excluded.subtract(present.excluded)
    builder.n_captures = present.n_captures
    builder.n_no_status = present.n_no_status
    builder.rejected.update(present.rejected)
    builder.excluded.update(present.excluded)
    builder.days.update(present.days)
    builder.first_capture = present.crawl.first_capture
    builder.last_capture = present.crawl.last_capture


def _take_up_keys(runs: SortedKeys, present: CrawlSet) -> None:
    runs.threshold = present.threshold
    for keys in SetReader(present.path).ranges():
        runs.add(keys)
