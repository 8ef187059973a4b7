"""Read the files of crawls again with other choices, into stores that are gone afterwards."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from crawlgauge.api import count_overlaps
from crawlgauge.errors import CrawlgaugeError, SourceError
from crawlgauge.ingest.many import add_crawls, read_crawl_list
from crawlgauge.ingest.options import ReadOptions, read_scope
from crawlgauge.keys.rules import BY_URL, RULES, SURT
from crawlgauge.locations import StrPath
from crawlgauge.model.phrases import names
from crawlgauge.model.sensitivity import Kind, Variation, fit_to
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Setting
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.remote import AnyPath, conceal
from crawlgauge.sources.what_counts import DEFAULT_STATUS
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["Choice", "Rereading", "list_choices", "make_room", "options_of"]

_STATUSES = (DEFAULT_STATUS, "200", "any")
_MIMES = (None, "text/html")
_FOLDER = ".crawlgauge-sensitivity-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One option that is set otherwise; all others stay."""

    kind: Kind
    change: str
    subject: str
    options: ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """Crawls that can be read again.

    Parameters
    ----------
    crawl_list
        Where their files are, as for `add_crawls`.
    table
        What was estimated from: its crawls are taken, and of their pairs those that it has.
    options
        How they were read, and which sample of them is read again.
    folder
        For stores; each is removed when it has been counted.
    """

    crawl_list: AnyPath
    table: OverlapTable
    options: ReadOptions
    folder: Path

    def __post_init__(self) -> None:
        if str(self.crawl_list) == STDIN:
            raise SourceError(
                "the list of crawls is read several times, which standard input does not allow; "
                "name a file"
            )
        listed = {crawl.label for crawl in read_crawl_list(self.crawl_list)}
        lacking = [crawl.label for crawl in self.table.crawls if crawl.label not in listed]
        if lacking:
            raise SourceError(
                f"{self.crawl_list} does not list {names(lacking)}, which the estimate is made "
                "from; add the lines, or leave the crawls out with --exclude"
            )

    def read(self, choice: Choice | None = None) -> OverlapTable:
        """Read all files again and count.

        Parameters
        ----------
        choice
            What is set otherwise; nothing if None.

        Raises
        ------
        CrawlgaugeError
            As for `add_crawls` and `count_overlaps`.
        """
        options: ReadOptions = {**self.options, **({} if choice is None else choice.options)}
        store = self.folder / "store"
        try:
            add_crawls(store, str(self.crawl_list), **options)
            return fit_to(self.table, count_overlaps(store))
        finally:
            shutil.rmtree(store, ignore_errors=True)

    def vary(self, choice: Choice) -> Variation:
        """Read all files again with a choice; if that is not possible, say why."""
        table, reason = None, ""
        try:
            table = self.read(choice)
        except CrawlgaugeError as error:
            reason = str(error)
        return Variation(
            kind=choice.kind,
            change=choice.change,
            subject=choice.subject,
            table=table,
            reason=reason,
        )


def options_of(
    table: OverlapTable, sets: Sequence[CrawlSet], *, sample: str, scope: StrPath | None
) -> ReadOptions:
    """Return the options by which crawls were read, with the sample to be read again.

    Parameters
    ----------
    table
        Its rule is taken.
    sets
        The crawls in the store, whose choices are taken where they agree; none if the table does
        not come from a store.
    sample
        As for `add_crawls`.
    scope
        The file of URLs that count, if there was one: stores keep its checksum only.

    Raises
    ------
    SourceError
        If the crawls were read with different choices or with another scope than is given, or if
        the table is not of URLs.
    """
    if table.level != BY_URL:
        raise SourceError(
            f"files are read again for their URLs only, and the estimate is of level "
            f"{table.level}; leave out --from"
        )
    rule = (table.key_rule or str(SURT)).partition("/")[0]
    options: dict[str, Any] = {"identity": rule, "sample": sample, "scope": scope}
    settings = [item.provenance.settings for item in sets]
    for name in ("status", "mime", "format", "column", "on_damage"):
        value = _common(settings, name)
        if value is not None:
            options[name] = value
    _check_scope(scope, _common(settings, "scope"))
    return cast("ReadOptions", options)


def _common(settings: Sequence[Mapping[str, Setting]], name: str) -> Setting:
    """Return what all crawls were added with; None if they do not say."""
    found = {of_crawl.get(name) for of_crawl in settings}
    if len(found) > 1:
        raise SourceError(
            f"the crawls were added with different --{name.replace('_', '-')}, so that no one "
            "reading of them is the store's; add them again with the same"
        )
    return found.pop() if found else None


def _check_scope(scope: StrPath | None, checksum: Setting) -> None:
    if scope is None:
        if checksum is not None:
            raise SourceError("the crawls were added with --scope; name the same file again")
    elif checksum is not None and read_scope(scope).checksum != checksum:
        raise SourceError(
            f"{conceal(os.fspath(scope))} is not the scope that the crawls were added with"
        )


def list_choices(options: ReadOptions) -> tuple[Choice, ...]:
    """Return all other rules of identity, statuses and media types to try.

    Parameters
    ----------
    options
        How the crawls were read.
    """
    identities = [name for name in RULES if name != options.get("identity")]
    statuses = [text for text in _STATUSES if text != options.get("status", DEFAULT_STATUS)]
    mimes = [text for text in _MIMES if text != options.get("mime")]
    return (
        *(
            Choice(
                kind="identity",
                change=f"URLs the same by {name}",
                subject=name,
                options={"identity": name},
            )
            for name in identities
        ),
        *(
            Choice(
                kind="status",
                change="captures of any status" if text == "any" else f"captures of status {text}",
                subject=text,
                options={"status": text},
            )
            for text in statuses
        ),
        *(
            Choice(
                kind="mime",
                change="all media types" if text is None else f"captures of {text} only",
                subject=text or "all",
                options={"mime": text},
            )
            for text in mimes
        ),
    )


@contextmanager
def make_room(store: Path | None) -> Iterator[Path]:
    """Give a folder for stores that is removed on every way out.

    Parameters
    ----------
    store
        The folder is made beside it, where there is room for crawls, if that is possible; else
        where the system keeps such folders.
    """
    with _make_folder(store) as folder:
        yield Path(folder)


def _make_folder(store: Path | None) -> "tempfile.TemporaryDirectory[str]":
    if store is not None:
        try:
            return tempfile.TemporaryDirectory(prefix=_FOLDER, dir=store.resolve().parent)
        except OSError:
            # A store may lie where nothing can be written.
            pass
    return tempfile.TemporaryDirectory(prefix=_FOLDER)
