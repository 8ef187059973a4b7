"""A reference list of URLs, hosts or domains, and which of them each crawl holds."""

import csv
import datetime as dt
import io
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import ROW, Captures
from crawlgauge.core.sets import sort_unique
from crawlgauge.errors import DamagedInput, SourceError, StoreError
from crawlgauge.keys.names import host_of_url
from crawlgauge.keys.sampling import WHOLE, count_ranges
from crawlgauge.locations import StrPath
from crawlgauge.overlaps.strata import BY
from crawlgauge.overlaps.table import HeldCounts, Reference
from crawlgauge.sources.columns import find_stated
from crawlgauge.sources.decompress import STDIN, Stream, open_file, read_whole
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import Target, read_inputs
from crawlgauge.sources.remote import as_source_error, to_path
from crawlgauge.sources.what_counts import Settings, WhatCounts
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import Keys, count_below
from crawlgauge.store.ranges import HashRange, SetReaders, choose_range_bits

_Kind = Literal["url", "host", "domain"]

_NO_NAME = "no-host"
_FEW_KEYS = 1 << 20
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+|\[[0-9a-f:]+\]")
"""What a name on the public web looks like, or an address."""


@contextmanager
def need_whole() -> Iterator[None]:
    """Say of damage what helps: unlike of a crawl, nothing is made of a part of what is read."""
    try:
        yield
    except DamagedInput as error:
        raise SourceError(f"{error.damage}. {error.damage.remedy}") from error


# ----------------------------------------------------------------------------------------- URLs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceList(Settings):
    """A file of URLs, and how to read it: every entry counts that has a URL, or the key asked for.

    Parameters
    ----------
    path
        The file.
    """

    path: str
    counts: WhatCounts = field(default_factory=lambda: WhatCounts(status="any"))

    @property
    def needs_url(self) -> bool:
        """Keys of an index are enough only if the store goes by them."""
        return True

    def lacks_keys(self) -> SourceError:  # type: ignore[override]  # there it needs no instance
        """Return the error that says what to give instead."""
        return SourceError(
            "the store takes keys as its indexes gave them (--identity given), but "
            f"{self.path} has none; give a reference in CDX or CDXJ"
        )


@dataclass(slots=True, kw_only=True)
class Entries:
    """Takes what a list or log holds, each URL once, so that any length of it fits into memory.

    Parameters
    ----------
    row_threshold
        Attributes of keys below it are wanted.
    most
        How many different URLs there may be.
    too_many
        What to say if there are more.
    """

    row_threshold: int = 1
    most: int = WHOLE
    too_many: str = ""
    key_threshold: int = WHOLE
    n_entries: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    keys: list[Keys] = field(default_factory=lambda: [np.empty(0, np.uint64)])
    rows: list[NDArray[np.void]] = field(default_factory=lambda: [np.empty(0, ROW)])
    n_waiting: int = 0

    def add(self, captures: Captures) -> None:
        """Take some of what is read."""
        self.keys.append(captures.keys)
        self.rows.append(captures.rows)
        self.left_out.update(captures.rejected)
        self.left_out.update(captures.excluded)
        self.n_entries += captures.n_captures
        self.n_waiting += captures.keys.size
        if self.n_waiting > max(self.keys[0].size, _FEW_KEYS):
            self._merge()

    def finish(self, name: str) -> tuple[Keys, NDArray[np.void]]:
        """Return the keys, sorted, and a row of each where rows are wanted.

        Raises
        ------
        SourceError
            If there are none, or too many.
        """
        self._merge()
        if not self.keys[0].size:
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in self.left_out.most_common())
            why = f"; left out: {reasons}" if reasons else ""
            raise SourceError(f"{name}: no URL to look for{why}")
        return self.keys[0], self.rows[0]

    def _merge(self) -> None:
        keys, rows = sort_unique(self.keys), np.concatenate(self.rows)
        if keys.size > self.most:
            raise SourceError(self.too_many)
        rows = rows[np.unique(rows["key"], return_index=True)[1]]
        self.keys, self.rows, self.n_waiting = [keys], [rows], 0


def read_urls(reference: ReferenceList) -> tuple[Keys, int, Counter[str]]:
    """Read the URLs of a reference.

    Returns
    -------
    tuple
        Their keys, sorted, each once; how many URLs were read, repeated ones included; and how
        many lines are no URLs or do not count, by reason.

    Raises
    ------
    SourceError
        If it cannot be read, or holds no URL.
    """
    found = Entries()
    _read(reference, found)
    keys, _ = found.finish(reference.path)
    return keys, found.n_entries, found.left_out


def _read(reference: ReferenceList, target: Target) -> None:
    # In this thread: what is missing is told in the order of the list.
    with need_whole():
        read_inputs(InputFiles(names=(reference.path,)), reference, target, n_threads=0)


def list_urls(reference: ReferenceList, keys: Keys) -> Iterator[bytes]:
    """Yield the URLs of a reference whose keys are given, as they stand there, each once.

    Parameters
    ----------
    reference
        It is read once more.
    keys
        Sorted.
    """
    # There may be more of them than fit into memory.
    with tempfile.TemporaryFile() as file:
        if keys.size:
            _read(replace(reference, keeps_urls=True), _Finder(keys, file))
        file.seek(0)
        yield from (line.removesuffix(b"\n") for line in file)


class _Finder:
    """Writes the URLs of some keys into a file, a line each."""

    key_threshold = row_threshold = WHOLE

    def __init__(self, keys: Keys, file: IO[bytes]) -> None:
        self._keys, self._file, self._is_left = keys, file, np.ones(keys.size, np.bool_)

    def add(self, captures: Captures) -> None:
        places = np.searchsorted(self._keys[:-1], captures.rows["key"])
        wanted = (self._keys[places] == captures.rows["key"]) & self._is_left[places]
        for number in np.flatnonzero(wanted).tolist():
            if self._is_left[places[number]]:
                self._is_left[places[number]] = False
                self._file.write(((captures.digests or [])[number] or b"") + b"\n")


def find_held(item: CrawlSet, keys: Keys) -> NDArray[np.bool_]:
    """Tell which keys a crawl holds.

    Parameters
    ----------
    item
        The crawl's set.
    keys
        Sorted; those that the set's sample does not reach are not looked for.

    Returns
    -------
    array
        For each key below the set's threshold.

    Raises
    ------
    StoreError
        If the set cannot be read.
    """
    wanted = keys[: count_below(keys, item.threshold)]
    is_held = np.zeros(wanted.size, np.bool_)
    readers, bits, start = SetReaders([item]), choose_range_bits([item]), 0
    for number in range(count_ranges(bits, item.threshold)):
        where = HashRange(number=number, bits=bits)
        end = count_below(wanted, where.high)
        (part,) = readers.between(where.low, where.high) if start < end else (wanted[:0],)
        if part.size:
            places = np.searchsorted(part[:-1], wanted[start:end])
            is_held[start:end] = part[places] == wanted[start:end]
        start = end
    return is_held


# ------------------------------ lists of hosts or domains: one a line, or in a column of CSV or TSV


_HEADERS = ("host", "hostname", "domain", "site", "name", "url")
_LISTED = re.compile(r"[^\s/.]+(\.[^\s/.]+)+\.?(:\d+)?")
_DELIMITERS = "\t,;"
_MAX_BYTES = 1 << 28
"""Some ten million hosts."""


def looks_like_names(path: str) -> bool:
    """Tell whether a file lists hosts or domains, and not URLs.

    Parameters
    ----------
    path
        A file, plain or compressed.
    """
    with Stream(path) as stream:
        beginning = stream.beginning()
    return b"://" not in beginning and b"\0" not in beginning and b")/" not in beginning


def read_names(path: str, *, column: str | None = None) -> Iterator[str]:
    """Yield the entries of a list, as they stand there.

    Blank lines and lines that begin with # are passed over, and so is a header.

    Parameters
    ----------
    path
        A file, plain or compressed.
    column
        Name or number, from 1, of the column that holds them; by default one that is called host,
        domain or such, or the first that looks like it.

    Raises
    ------
    SourceError
        If the file is no text, or has no such column.
    """
    rows = _split_rows(path)
    first = next(rows, None)
    if first is None:
        raise SourceError(f"{path}: no hosts or domains found; empty, or only comments")
    place, is_header = _find_column(first, column, path)
    for row in rows if is_header else chain([first], rows):
        yield row[place].strip() if place < len(row) else ""


def _split_rows(path: str) -> Iterator[list[str]]:
    try:
        text = read_whole(path, max_bytes=_MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is no UTF-8 text at byte {error.start:,}") from error
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    delimiter = next((mark for mark in _DELIMITERS if lines and mark in lines[0]), None)
    if delimiter is None:
        return iter([line.strip()] for line in lines)
    return csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)


def _find_column(first: Sequence[str], column: str | None, path: str) -> tuple[int, bool]:
    """Return the place of the column, and whether the first row is a header."""
    cells = [cell.strip().lower() for cell in first]
    if column is None:
        for place, cell in enumerate(cells):
            if cell in _HEADERS:
                return place, True
        return next((k for k, cell in enumerate(cells) if _LISTED.fullmatch(cell)), 0), False
    place = find_stated(first, column, path)
    return place, cells[place] in _HEADERS or not column.isdecimal()


# --------------------------------------------------------------------------------------- names


def read_reference_names(
    path: str, *, by: str, column: str | None = None
) -> tuple[dict[str, str], int, Counter[str]]:
    """Read the hosts or domains of a reference; URLs stand for their hosts.

    Parameters
    ----------
    path
        The file.
    by
        ``host`` or ``domain``.
    column
        Which column holds them; None to find out.

    Returns
    -------
    tuple
        The names, each once, as crawls have them, with the entry that it was first read from; how
        many entries were read, repeated ones included; and how many name no host, by reason.

    Raises
    ------
    SourceError
        If it cannot be read, or names no host.
    """
    names: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    n_entries = 0
    with need_whole():
        entries = [*read_names(path, column=column)]
    for entry in entries:
        host = host_of_url(entry.encode()).decode()
        if not _NAME.fullmatch(host):
            left_out[_NO_NAME] += 1
            continue
        n_entries += 1
        names.setdefault(BY[by].name(host), entry)
    if not names:
        raise SourceError(f"{path}: none of {left_out.total():,} lines names a host or domain")
    return names, n_entries, left_out


def are_domains(names: Iterable[str]) -> bool:
    """Tell whether all names are registered domains, and none is a host below one."""
    return all(BY["domain"].name(name) == name for name in names)


def find_names(store: Store, item: CrawlSet, *, by: str) -> tuple[set[str], bool]:
    """Return the hosts or domains that a crawl holds a URL of, and whether there may be more.

    Only those of the crawl's smallest keys are known: of a crawl with more URLs than these, hosts
    with few URLs may be missing.

    Parameters
    ----------
    store
        The crawl's store.
    item
        Its set.
    by
        ``host`` or ``domain``.

    Raises
    ------
    StoreError
        If the crawl cannot be read.
    """
    attributes = store.attributes(item)
    used = np.unique(attributes.host_codes).tolist()
    hosts = {BY[by].name(attributes.hosts[code]) for code in used if code >= 0}
    return hosts, attributes.threshold < WHOLE


# ---------------------------------------- look for what a reference lists in every crawl of a store


def look_up(
    store: Store,
    sets: Sequence[CrawlSet],
    listed: ReferenceList,
    kind: _Kind | None,
    *,
    name: str,
    date: dt.date | None,
) -> tuple[Reference, list[HeldCounts], HeldCounts, Iterator[bytes]]:
    """Look for everything that a reference lists in every crawl.

    Parameters
    ----------
    store, sets
        The crawls' store, and their sets.
    listed
        The reference.
    kind
        What it lists; None to find out.
    name, date
        As those of `Reference`.

    Returns
    -------
    tuple
        The reference, what each crawl holds of it, what some crawl holds, and what none does.

    Raises
    ------
    SourceError
        If it cannot be read, or lists nothing.
    StoreError
        If a crawl cannot be read.
    """
    if kind is None and not looks_like_names(listed.path):
        kind = "url"
    if kind == "url":
        keys, n_entries, left_out = read_urls(listed)
        n_distinct, found = keys.size, _find_urls(sets, listed, keys)
    else:
        by = kind or "host"
        names, n_entries, left_out = read_reference_names(listed.path, by=by, column=listed.column)
        kind = kind or ("domain" if are_domains(names) else "host")
        n_distinct, found = len(names), _find_names(store, sets, names, kind)
    reference = Reference(
        name=name,
        kind=kind,
        n_entries=n_entries,
        n_distinct=n_distinct,
        left_out=tuple(left_out.most_common()),
        date=date,
    )
    return reference, *found


def _find_urls(
    sets: Sequence[CrawlSet], listed: ReferenceList, keys: NDArray[np.uint64]
) -> tuple[list[HeldCounts], HeldCounts, Iterator[bytes]]:
    n_common = count_below(keys, min(item.threshold for item in sets))
    is_held = np.zeros(n_common, dtype=np.bool_)
    held = []
    for item in sets:
        found = find_held(item, keys)
        is_held |= found[:n_common]
        held.append(HeldCounts(n_looked_for=found.size, n_held=int(np.count_nonzero(found))))
    missing = keys[:n_common][~is_held]
    by_any = HeldCounts(n_looked_for=n_common, n_held=n_common - missing.size)
    return held, by_any, list_urls(listed, missing)


def _find_names(
    store: Store, sets: Sequence[CrawlSet], names: Mapping[str, str], kind: _Kind
) -> tuple[list[HeldCounts], HeldCounts, Iterator[bytes]]:
    by_any: set[str] = set()
    held = []
    for item in sets:
        known, is_least = find_names(store, item, by=kind)
        if not known:
            raise StoreError(
                f"crawl {item.crawl.label!r} has no hosts: it is an exported sample, or its input "
                "has no URLs; hosts can be looked for only where they are kept"
            )
        found = names.keys() & known
        by_any |= found
        held.append(HeldCounts(n_looked_for=len(names), n_held=len(found), is_least=is_least))
    is_least = any(counts.is_least for counts in held)
    of_any = HeldCounts(n_looked_for=len(names), n_held=len(by_any), is_least=is_least)
    return held, of_any, (entry.encode() for name, entry in names.items() if name not in by_any)


@contextmanager
def open_reference(reference: StrPath) -> Iterator[str]:
    """Give the path of a reference that can be read more than once.

    What is no regular file is copied first.
    """
    name = os.fspath(reference)
    path = to_path(name)
    with as_source_error(f"the reference {path}"):
        is_file = name != STDIN and path.is_file()
    if is_file:
        yield str(path)
        return
    if path.is_dir() or (name != STDIN and not path.exists()):
        what = "is a folder" if path.is_dir() else "does not exist"
        raise SourceError(f"the reference {path} {what}; name a file, or - for standard input")
    with tempfile.NamedTemporaryFile(prefix="reference-") as copy:
        with open_file(None if name == STDIN else path) as source:
            shutil.copyfileobj(source, copy)
        copy.flush()
        try:
            yield copy.name
        except SourceError as error:
            # Nobody knows the copy by its name.
            shown = "standard input" if name == STDIN else name
            raise SourceError(str(error).replace(copy.name, shown)) from error
