"""What the user chooses when adding: which URLs are the same, what counts, how files are read."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import PurePath
from typing import Literal, Protocol, TypedDict

from crawlgauge.crawl import date_from_label
from crawlgauge.errors import CrawlError, SourceError, StoreError
from crawlgauge.ingest.sorting import default_memory, parse_memory
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import BY_TEXT, BY_URL, SURT, find_rule, parse_levels
from crawlgauge.keys.sampling import Sampling, parse_sampling
from crawlgauge.keys.scope import Scope, parse_scope
from crawlgauge.locations import StrPath
from crawlgauge.provenance import Setting
from crawlgauge.sources import what_counts
from crawlgauge.sources.decompress import read_whole
from crawlgauge.sources.page_text import check_extractor
from crawlgauge.sources.remote import AnyPath
from crawlgauge.sources.what_counts import Settings, WhatCounts, Wishes
from crawlgauge.store.catalogue import stored_rule

__all__ = ["ReadOptions"]

_MAX_SCOPE_BYTES = 1 << 26

# ----------------------------------------------------------------- the date that stands for a crawl


def needs_times(label: str, date: dt.date | None, names: Iterable[str] = ()) -> bool:
    """Tell whether a crawl has no date unless its captures have times."""
    return date is None and date_from_label(label) is None and _date_in_names(names) is None


def _date_in_names(names: Iterable[str]) -> dt.date | None:
    """Return the date that the names of all files contain, if it is the same."""
    found = {date_from_label(PurePath(name).name) for name in names}
    return found.pop() if len(found) == 1 else None


def choose_date(
    label: str, date: dt.date | None, days: Mapping[int, int], names: Iterable[str] = ()
) -> dt.date:
    """Return the date of a crawl.

    Parameters
    ----------
    label
        May contain a date.
    date
        As the user gave it.
    days
        How many captures were made on each day, by its ordinal.
    names
        Of the files; they may all contain the same date.

    Raises
    ------
    CrawlError
        If none can be found.
    """
    found = date or median_day(days) or date_from_label(label) or _date_in_names(names)
    if found is None:
        raise CrawlError(
            f"crawl {label!r} has no date: its files have no capture times, and neither its label "
            "nor their names contain one; say it with --date 2021-12-15, or in the list of crawls "
            "if there are several"
        )
    return found


def median_day(days: Mapping[int, int]) -> dt.date | None:
    """Return the day on which half of the captures had been made; None if there are none.

    Examples
    --------
    >>> median_day({737791: 1, 737800: 3})
    datetime.date(2021, 1, 10)
    """
    half, n_so_far = sum(days.values()) / 2, 0
    for day in sorted(days):
        n_so_far += days[day]
        if n_so_far >= half:
            return dt.date.fromordinal(day)
    return None


# ---------------------------------------------------------------- what the user chooses when adding


ENGINE = "engine"
"""The setting that says by what the inputs were read; each engine gives the same sets."""

OnDamage = Literal["stop", "keep"]
WhenPresent = Literal["refuse", "replace", "append"]


class ReadOptions(TypedDict, total=False):
    """What counts and how files are read; each may be left out.

    Parameters
    ----------
    identity
        Which URLs are the same: ``surt``, ``scheme-free``, ``raw`` or ``given``; one for a whole
        store. By default that of the store, and ``surt`` for a new one.
    status
        HTTP statuses that count, as text: ``any``, or some of ``2xx``, ``404``, ``200-299`` and
        ``none`` (captures without a status) between commas. ``2xx,none`` by default.
    mime
        Media types that count, between commas: ``text/html``, ``image/*``. All by default.
    scope
        A file of hosts, domains or SURT prefixes, one a line; ``!`` before one excludes it.
    format
        Format of the inputs, where it should not be found out from their content.
    column
        Which column holds the URLs, by name or by position from 1.
    on_damage
        ``stop`` at damaged input (the default), or ``keep`` what can be read of it.
    max_expansion
        How many times its compressed size an input may have.
    sample
        Keep a part of the URLs: a share such as ``1/64``, the same URLs of every crawl, or
        ``auto`` for the 2**22 URLs with the smallest keys. All by default.
    memory
        How much memory to take at most, such as ``2G``; what does not fit is sorted on the disk,
        beside the store. By default a quarter of the machine's.
    levels
        What is kept of the captures that count, between commas: ``url`` (always), ``content``
        (the digests of what was captured) and ``text`` (the words of HTML pages; WARC, ARC and
        WACZ alone). By default ``url``.
    rate
        How many times a minute a CDX server is asked at most, by all processes of this machine
        together. 20 by default.
    """

    identity: str | None
    status: str
    mime: str | None
    scope: StrPath | None
    format: str | None
    column: str | None
    on_damage: OnDamage
    max_expansion: float
    sample: str | None
    memory: str | None
    levels: str
    rate: float


class _Cut(Protocol):
    @property
    def group(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choices(Wishes):
    """The user's choices for adding crawls: `ReadOptions`, understood.

    Parameters
    ----------
    sampling
        Which URLs are kept.
    n_threads
        How many inputs are read at once; None to choose by the machine.
    engine
        What reads them, where not this machine alone.
    """

    memory: int = field(default_factory=default_memory)
    sampling: Sampling = field(default_factory=Sampling)
    n_threads: int | None = None
    engine: str | None = None

    def reading(self, names: Names, cut: "_Cut | None") -> Settings:
        """Return what readers are asked for.

        Parameters
        ----------
        names
            Numbers the hosts and media types.
        cut
            How inputs are cut into crawls, by a field or else by the time; None if they are not.
        """
        wishes = {one.name: getattr(self, one.name) for one in fields(Wishes)}
        group = None if cut is None else cut.group
        return Settings(**wishes, is_split=cut is not None, group=group, names=names)

    def settings(self, date: dt.date | None) -> dict[str, Setting]:
        """Return all choices that a crawl depends on, by name."""
        settings: dict[str, Setting] = {
            "status": self.counts.status,
            "mime": self.counts.mime,
            "scope": None if self.scope is None else self.scope.checksum,
            "format": self.format,
            "column": self.column,
            "on_damage": "keep" if self.keep_damaged else "stop",
            "sample": self.sampling.text,
        }
        if self.levels != (BY_URL,):
            # Left out where it says nothing.
            settings["levels"] = ",".join(self.levels)
        settings["date"] = None if date is None else date.isoformat()
        return settings if self.engine is None else {**settings, ENGINE: self.engine}


def choose_reading(options: ReadOptions, store: AnyPath) -> Choices:
    """Return what the user chose, with the store's own identity where none was named."""
    levels = parse_levels(options.get("levels", BY_URL))
    if BY_TEXT in levels:
        # Hours of reading would end with the same message.
        check_extractor()
    if (rate := options.get("rate", what_counts.DEFAULT_RATE)) <= 0:
        raise SourceError(f"a server cannot be asked {rate} times a minute; state a rate above 0")
    identity, scope = options.get("identity"), options.get("scope")
    memory = options.get("memory")
    return Choices(
        key_rule=stored_rule(store) or SURT if identity is None else find_rule(identity),
        counts=WhatCounts(
            status=options.get("status", what_counts.DEFAULT_STATUS), mime=options.get("mime")
        ),
        scope=None if scope is None else read_scope(scope),
        format=options.get("format"),
        column=options.get("column"),
        keep_damaged=options.get("on_damage") == "keep",
        max_expansion=options.get("max_expansion", what_counts.DEFAULT_MAX_EXPANSION),
        sampling=parse_sampling(options.get("sample")),
        memory=default_memory() if memory is None else parse_memory(memory),
        levels=levels,
        rate_per_minute=rate,
    )


def read_scope(path: StrPath | AnyPath) -> Scope:
    """Read a file of scope rules, one a line.

    Raises
    ------
    SourceError
        If it cannot be read or understood.
    """
    return parse_scope(read_whole(str(path), max_bytes=_MAX_SCOPE_BYTES), str(path))


def choose_when_present(*, replace: bool, append: bool) -> WhenPresent:
    """Return what to do if there is a crawl of that label already."""
    if replace and append:
        raise StoreError("a crawl can be replaced or appended to, not both; choose one of them")
    if append:
        return "append"
    return "replace" if replace else "refuse"
