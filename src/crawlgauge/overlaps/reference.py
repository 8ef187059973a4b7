"""A reference list of URLs, hosts or domains, and which of them each crawl holds."""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import Captures
from crawlgauge.core.sets import sort_unique
from crawlgauge.errors import SourceError
from crawlgauge.keys.names import host_of_url
from crawlgauge.keys.rules import KeyRule
from crawlgauge.keys.sampling import WHOLE, count_ranges
from crawlgauge.keys.scope import Scope
from crawlgauge.overlaps.key_union import count_below
from crawlgauge.overlaps.strata import BY
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.name_list import read_names
from crawlgauge.sources.reading import Target, read_inputs
from crawlgauge.sources.what_counts import Settings, WhatCounts
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.ranges import HashRange, Keys, SetReaders, choose_range_bits

__all__ = [
    "ReferenceList",
    "are_domains",
    "find_held",
    "find_names",
    "list_urls",
    "read_reference_names",
    "read_urls",
]

_NO_NAME = "no-host"
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+|\[[0-9a-f:]+\]")
"""What a name on the public web looks like, or an address."""


# ----------------------------------------------------------------------------------------- URLs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceList:
    """A file of URLs, and how to read it.

    Parameters
    ----------
    path
        The file.
    rule
        Which URLs are the same.
    format, column
        Its format and the column that holds the URLs; None to find out.
    scope
        Only URLs in it count; None for all.
    """

    path: str
    rule: KeyRule
    format: str | None = None
    column: str | None = None
    scope: Scope | None = None

    def read(self, target: Target, *, keeps_urls: bool) -> None:
        """Hand all entries on, whatever their status."""
        settings = _ReferenceSettings(
            path=self.path,
            key_rule=self.rule,
            counts=WhatCounts(status="any"),
            scope=self.scope,
            format=self.format,
            column=self.column,
            keeps_urls=keeps_urls,
        )
        # In this thread: what is missing is told in the order of the list.
        read_inputs(InputFiles(names=(self.path,), repeated=()), settings, target, n_threads=0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ReferenceSettings(Settings):
    """Every entry must have a URL, and a key if the store goes by those of indexes."""

    path: str

    @property
    def needs_url(self) -> bool:
        return True

    def lacks_keys(self) -> SourceError:  # type: ignore[override]  # there it needs no instance
        return SourceError(
            "the store takes keys as its indexes gave them (--identity given), but "
            f"{self.path} has none; give a reference in CDX or CDXJ"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceUrls:
    """The URLs of a reference.

    Parameters
    ----------
    keys
        Sorted, each once.
    n_entries
        URLs that were read, repeated ones included.
    left_out
        Lines that are no URLs or do not count, by reason.
    """

    keys: Keys
    n_entries: int
    left_out: Counter[str]


@dataclass(slots=True, kw_only=True)
class _Target:
    """Takes the entries of a reference: what needs their keys, and what their rows."""

    add: Callable[[Captures], None]
    key_threshold: int = WHOLE
    row_threshold: int = 1


def read_urls(reference: ReferenceList) -> ReferenceUrls:
    """Read the URLs of a reference.

    Raises
    ------
    SourceError
        If it cannot be read, or holds no URL.
    """
    batches: list[Captures] = []
    reference.read(_Target(add=batches.append), keeps_urls=False)
    n_entries, left_out = sum(batch.n_captures for batch in batches), Counter[str]()
    for batch in batches:
        left_out.update(batch.rejected)
        left_out.update(batch.excluded)
    if n_entries == 0:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.most_common())
        raise SourceError(
            f"{reference.path}: no URL to look for" + (f"; left out: {reasons}" if reasons else "")
        )
    keys = np.concatenate([batch.keys for batch in batches])
    keys = keys[: sort_unique(keys)]
    return ReferenceUrls(keys=keys, n_entries=n_entries, left_out=left_out)


def list_urls(reference: ReferenceList, keys: Keys) -> Iterator[bytes]:
    """Yield the URLs of a reference whose keys are given, as they stand there, each once.

    Parameters
    ----------
    reference
        It is read once more.
    keys
        Sorted.
    """
    is_left = np.ones(keys.size, np.bool_)
    # There may be more of them than fit into memory.
    with tempfile.TemporaryFile() as file:

        def add(captures: Captures) -> None:
            places = np.searchsorted(keys[:-1], captures.rows["key"])
            wanted = (keys[places] == captures.rows["key"]) & is_left[places]
            for number in np.flatnonzero(wanted).tolist():
                if is_left[places[number]]:
                    is_left[places[number]] = False
                    file.write(((captures.digests or [])[number] or b"") + b"\n")

        if keys.size:
            reference.read(_Target(add=add, row_threshold=WHOLE), keeps_urls=True)
        file.seek(0)
        yield from (line.removesuffix(b"\n") for line in file)


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


# --------------------------------------------------------------------------------------- names


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceNames:
    """The hosts or domains of a reference.

    Parameters
    ----------
    names
        Each once, as crawls have them, with the entry that it was first read from.
    n_entries
        Entries that were read, repeated ones included.
    left_out
        Entries that name no host, by reason.
    """

    names: dict[str, str]
    n_entries: int
    left_out: Counter[str]


def read_reference_names(path: str, *, by: str, column: str | None = None) -> ReferenceNames:
    """Read the hosts or domains of a reference; URLs stand for their hosts.

    Parameters
    ----------
    path
        The file.
    by
        ``host`` or ``domain``.
    column
        Which column holds them; None to find out.

    Raises
    ------
    SourceError
        If it cannot be read, or names no host.
    """
    names: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    n_entries = 0
    for entry in read_names(path, column=column):
        host = host_of_url(entry.encode()).decode()
        if not _NAME.fullmatch(host):
            left_out[_NO_NAME] += 1
            continue
        n_entries += 1
        names.setdefault(BY[by].name(host), entry)
    if not names:
        raise SourceError(f"{path}: none of {left_out.total():,} lines names a host or domain")
    return ReferenceNames(names=names, n_entries=n_entries, left_out=left_out)


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
