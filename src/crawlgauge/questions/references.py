"""Look for what a reference lists in every crawl of a store."""

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crawlgauge.errors import SourceError, StoreError
from crawlgauge.locations import StrPath
from crawlgauge.model.recall import HeldCounts, Kind
from crawlgauge.overlaps.key_union import count_below
from crawlgauge.overlaps.reference import (
    ReferenceList,
    ReferenceNames,
    are_domains,
    find_held,
    find_names,
    list_urls,
    read_reference_names,
    read_urls,
)
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.name_list import looks_like_names
from crawlgauge.sources.remote import to_path
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["Found", "find_reference", "reference_file"]

_STANDARD_INPUT = "standard input"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What crawls hold of a reference.

    Parameters
    ----------
    kind
        What the reference lists.
    n_entries, n_distinct, left_out
        As `Reference` has them.
    held
        What each crawl holds.
    held_by_any
        What some crawl holds.
    missing
        Entries that no crawl holds, as they stand in the reference.
    """

    kind: Kind
    n_entries: int
    n_distinct: int
    left_out: Counter[str]
    held: list[HeldCounts]
    held_by_any: HeldCounts
    missing: Iterator[bytes]


@contextmanager
def reference_file(reference: StrPath) -> Iterator[str]:
    """Give the path of a reference that can be read more than once.

    Parameters
    ----------
    reference
        A file, or ``-`` for standard input. What is no regular file is copied first.

    Raises
    ------
    SourceError
        If there is no such file.
    """
    name = os.fspath(reference)
    path = to_path(name)
    try:
        is_file = name != STDIN and path.is_file()
    except OSError as error:
        raise SourceError(f"cannot read the reference {path}: {error.strerror}") from error
    if is_file:
        yield str(path)
        return
    if path.is_dir() or (name != STDIN and not path.exists()):
        what = "is a folder" if path.is_dir() else "does not exist"
        raise SourceError(f"the reference {path} {what}; name a file, or - for standard input")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "reference"
        with copy.open("wb") as target:
            if name == STDIN:
                shutil.copyfileobj(sys.stdin.buffer, target)
            else:
                with Path(name).open("rb") as source:
                    shutil.copyfileobj(source, target)
        shown = _STANDARD_INPUT if name == STDIN else name
        try:
            yield str(copy)
        except SourceError as error:
            # Nobody knows the copy by its name.
            raise SourceError(str(error).replace(str(copy), shown)) from error


def find_reference(
    store: Store, sets: Sequence[CrawlSet], reference: ReferenceList, kind: Kind | None
) -> Found:
    """Look for everything that a reference lists in every crawl.

    Parameters
    ----------
    store, sets
        The store, and the sets of its crawls.
    reference
        The file.
    kind
        What it lists; None to find out.

    Raises
    ------
    SourceError
        If the reference cannot be read, or lists nothing.
    StoreError
        If a crawl cannot be read, or hosts are asked for of which the store has none.
    """
    if kind is None and not looks_like_names(reference.path):
        kind = "url"
    if kind == "url":
        return _find_urls(sets, reference)
    names = read_reference_names(reference.path, by=kind or "host", column=reference.column)
    if kind is None:
        kind = "domain" if are_domains(names.names) else "host"
    return _find_names(store, sets, names, kind)


def _find_urls(sets: Sequence[CrawlSet], reference: ReferenceList) -> Found:
    urls = read_urls(reference)
    n_common = count_below(urls.keys, min(item.threshold for item in sets))
    is_held = np.zeros(n_common, dtype=np.bool_)
    held = []
    for item in sets:
        found = find_held(item, urls.keys)
        is_held |= found[:n_common]
        held.append(HeldCounts(n_looked_for=found.size, n_held=int(np.count_nonzero(found))))
    missing = urls.keys[:n_common][~is_held]
    return Found(
        kind="url",
        n_entries=urls.n_entries,
        n_distinct=urls.keys.size,
        left_out=urls.left_out,
        held=held,
        held_by_any=HeldCounts(n_looked_for=n_common, n_held=n_common - missing.size),
        missing=list_urls(reference, missing),
    )


def _find_names(store: Store, sets: Sequence[CrawlSet], names: ReferenceNames, kind: Kind) -> Found:
    wanted = names.names.keys()
    by_any: set[str] = set()
    held = []
    for item in sets:
        known, is_least = find_names(store, item, by=kind)
        if not known:
            raise StoreError(
                f"crawl {item.crawl.label!r} has no hosts: it is an exported sample, or its input "
                "has no URLs; hosts can be looked for only where they are kept"
            )
        found = wanted & known
        by_any |= found
        held.append(HeldCounts(n_looked_for=len(wanted), n_held=len(found), is_least=is_least))
    return Found(
        kind=kind,
        n_entries=names.n_entries,
        n_distinct=len(wanted),
        left_out=names.left_out,
        held=held,
        held_by_any=HeldCounts(
            n_looked_for=len(wanted),
            n_held=len(by_any),
            is_least=any(counts.is_least for counts in held),
        ),
        missing=(entry.encode() for name, entry in names.names.items() if name not in by_any),
    )
