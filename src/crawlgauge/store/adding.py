"""From the files of one crawl to its set in the store."""

import datetime as dt
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crawlgauge.compiled import announce_compilation
from crawlgauge.crawl import Crawl, date_from_label
from crawlgauge.errors import CrawlError, DamagedInput, SourceError, StoreError
from crawlgauge.keys.hashing import KERNELS
from crawlgauge.keys.rules import KeyRule
from crawlgauge.provenance import Input, Provenance
from crawlgauge.sources.blocks import BlockReader, fingerprint
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.inputs import STDIN, InputFiles
from crawlgauge.sources.line_kernel import scan_lines
from crawlgauge.sources.urllist import read_url_list
from crawlgauge.store.building import SetBuilder
from crawlgauge.store.catalogue import CrawlWriter, Store
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["Addition", "OnDamage", "Outcome", "add_to_store", "choose_date"]

OnDamage = Literal["stop", "keep"]
Outcome = Literal["added", "replaced", "unchanged"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What came of adding a crawl.

    Parameters
    ----------
    crawl_set
        The crawl as it stands in the store.
    outcome
        ``unchanged`` if the same files had been added before.
    examples
        The first rejected records.
    """

    crawl_set: CrawlSet
    outcome: Outcome
    examples: tuple[Rejection, ...] = ()


def choose_date(label: str, date: dt.date | None) -> dt.date:
    """Return the given date, or the one that the label contains.

    Raises
    ------
    CrawlError
        If there is neither.
    """
    found = date or date_from_label(label)
    if found is None:
        raise CrawlError(
            f"crawl {label!r} has no date, and its label contains none; say it with "
            "--date 2021-12-15"
        )
    return found


def add_to_store(
    store: Store,
    label: str,
    inputs: InputFiles,
    *,
    date: dt.date,
    rule: KeyRule,
    replace: bool = False,
    on_damage: OnDamage = "stop",
    on_bytes: Callable[[int], None] | None = None,
) -> Addition:
    """Read the files of one crawl and put its set into the store.

    Parameters
    ----------
    store
        Open, with the same rule.
    label, date
        The crawl's.
    inputs
        The files to read.
    rule
        Which URLs are the same.
    replace
        Whether an existing crawl of that label may be replaced.
    on_damage
        Whether damaged input stops the whole, or what can be read of it is kept.
    on_bytes
        Called with the number of bytes read, as they are read.

    Raises
    ------
    SourceError
        If an input cannot be read, is damaged, or no URL is found.
    StoreError
        If the label exists with other content, or the store cannot be written.
    """
    with store.writing(label) as writer:
        exists = store.holds(label)
        if exists and not replace:
            known = _inputs_before_reading(inputs)
            if known is not None:
                return _accept_if_same(store, label, date, known)
        announce_compilation(scan_lines, KERNELS[rule])
        builder = SetBuilder(rule)
        read, damage = _read_all(inputs, builder, on_damage, on_bytes)
        if exists and not replace:
            return _accept_if_same(store, label, date, read)
        _check_not_empty(builder, inputs, damage)
        published = _publish(writer, builder, date, read, damage, on_damage)
        return Addition(
            crawl_set=published,
            outcome="replaced" if exists else "added",
            examples=tuple(builder.examples),
        )


def _inputs_before_reading(inputs: InputFiles) -> tuple[Input, ...] | None:
    """Return sizes and checksums, or None if the inputs can be read but once."""
    if any(name == STDIN or not Path(name).is_file() for name in inputs.names):
        return None
    return tuple(fingerprint(name) for name in inputs.names)


def _accept_if_same(store: Store, label: str, date: dt.date, inputs: tuple[Input, ...]) -> Addition:
    """Take an existing crawl for added if it came from the same bytes: `add` can be repeated."""
    present = store.crawl_set(label)
    before = sorted(entry.checksum for entry in present.provenance.inputs)
    now = sorted(entry.checksum for entry in inputs)
    if (before, present.crawl.date) == (now, date):
        return Addition(crawl_set=present, outcome="unchanged")
    raise StoreError(
        f"the store {store.path} already holds a crawl {label!r}, made from other files or with "
        f"another date ({present.crawl.n_urls:,} URLs, {present.crawl.date}); replace it with "
        "--replace, or choose another label"
    )


def _read_all(
    inputs: InputFiles,
    builder: SetBuilder,
    on_damage: OnDamage,
    on_bytes: Callable[[int], None] | None,
) -> tuple[tuple[Input, ...], tuple[str, ...]]:
    for name in inputs.repeated:
        _log.warning("%s was named more than once; it is read once", name)
    read: list[Input] = []
    damage: list[str] = []
    for name in inputs.names:
        reader = BlockReader(name, on_bytes)
        n_before = builder.n_captures
        try:
            for captures in read_url_list(reader.blocks(), name=name):
                builder.add(captures)
        except DamagedInput as error:
            if on_damage == "stop":
                raise
            damage.append(error.damage)
        read.append(reader.as_input())
        if builder.n_captures == n_before and len(inputs.names) > 1:
            _log.warning("%s holds no URL", name)
    return tuple(read), tuple(damage)


def _check_not_empty(builder: SetBuilder, inputs: InputFiles, damage: tuple[str, ...]) -> None:
    if builder.n_captures:
        return
    if damage:
        raise SourceError(f"nothing can be kept: {'; '.join(damage)}")
    where = inputs.names[0] if len(inputs.names) == 1 else f"{len(inputs.names)} files"
    n_left_out = builder.rejected.total() + builder.excluded.total()
    if n_left_out == 0:
        raise SourceError(f"{where}: no URL found; empty, or only blank lines and comments")
    example = "".join(
        f"; line {item.line} of {item.file} is {item.text!r}" for item in builder.examples[:1]
    )
    raise SourceError(
        f"{where}: none of {n_left_out:,} lines is a URL such as https://example.org/page{example}"
    )


def _publish(
    writer: CrawlWriter,
    builder: SetBuilder,
    date: dt.date,
    read: tuple[Input, ...],
    damage: tuple[str, ...],
    on_damage: OnDamage,
) -> CrawlSet:
    keys = builder.keys()
    description = CrawlSet(
        crawl=Crawl(label=writer.label, date=date, n_urls=int(keys.size), damaged=bool(damage)),
        level="url",
        key_rule=writer.store.key_rule,
        sample_rate=1.0,
        n_captures=builder.n_captures,
        rejected=builder.rejected,
        excluded=builder.excluded,
        damage=damage,
        checksum="",
        range_bits=0,
        provenance=Provenance.now(settings={"on_damage": on_damage}, inputs=read),
        path=writer.folder,
    )
    return writer.publish(keys, description)
