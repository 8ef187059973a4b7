"""Hold crawls against a reference: which share of its URLs, hosts or domains they hold."""

import datetime as dt
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge import api
from crawlgauge.crawl import Crawl, parse_date
from crawlgauge.errors import CrawlgaugeError, FitError, SourceError, StoreError
from crawlgauge.ingest.options import read_scope
from crawlgauge.locations import StrPath, find_store
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.recall import (
    HeldCounts,
    Kind,
    Recall,
    Reference,
    recall_reference,
)
from crawlgauge.overlaps.key_union import count_below
from crawlgauge.overlaps.reference import (
    ReferenceList,
    are_domains,
    find_held,
    find_names,
    list_urls,
    read_reference_names,
    read_urls,
)
from crawlgauge.provenance import Input, Provenance
from crawlgauge.report import recall_blocks, result_json
from crawlgauge.report.section import Answer, Section
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.name_list import looks_like_names
from crawlgauge.sources.remote import conceal, to_path
from crawlgauge.store.catalogue import Store, stored_rule
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import partial_file, write_durably

if TYPE_CHECKING:
    from crawlgauge.report.blocks import Block

__all__ = ["ReferenceRecall", "recall"]


_STANDARD_INPUT = "standard input"
_MIN_SERIES = 3
_QUEUED = re.compile(r"(?:(?P<label>.+)=)?(?P<n>\d[\d_,]*)")
_LEAST = (
    "Hosts are kept of a part of the URLs only, and hosts with few URLs may be missing there: the "
    "crawls hold at least what is said."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRecall(Answer):
    """How much of a reference the crawls hold, ready to be read, printed or saved.

    Parameters
    ----------
    recall
        The numbers.
    """

    recall: Recall

    def _blocks(self) -> "list[Block]":
        return recall_blocks.to_blocks(self.recall)

    def _document(self) -> dict[str, Any]:
        return result_json.recall_document(self.recall)

    def _section(self) -> Section:
        title = "How much of a reference list the crawls hold"
        return Section(name="recall", title=title, blocks=tuple(self._blocks()))


def recall(
    store: StrPath | None,
    reference: StrPath | None,
    *,
    kind: Kind | None = None,
    uniform: bool = False,
    date: dt.date | str | None = None,
    persistence: float | None = None,
    queued: str | int | None = None,
    missing: StrPath | None = None,
    format: str | None = None,  # noqa: A002 - as everywhere where files are read
    column: str | None = None,
    scope: StrPath | None = None,
) -> ReferenceRecall:
    """Tell which share of a reference list each crawl holds, and all of them together.

    Parameters
    ----------
    store
        As for `open_store`.
    reference
        A file of URLs in any format that can be read, or of hosts or domains, one a line or in a
        column; ``-`` for standard input. None if only `queued` is asked about.
    kind
        ``url``, ``host`` or ``domain``; found out from the content by default.
    uniform
        Whether the reference is a uniform sample of the URLs that could be crawled at its date.
    date
        When the reference was drawn; needed for `uniform`.
    persistence
        Share of URLs that lives on for a year; by default what the series of crawls says.
    queued
        URLs that the newest crawl knew of and did not fetch; or ``LABEL=N`` for another crawl.
    missing
        A file for what no crawl holds, one entry a line, as the reference has it.
    format, column
        As for `add_crawl`.
    scope
        A file of scope rules, as for `add_crawl`: only URLs in it count.

    Raises
    ------
    SourceError
        If the reference cannot be read, or lists nothing.
    StoreError
        If the store cannot be read.
    FitError
        If the questions contradict each other.
    """
    path = find_store(store)
    opened = api.open_store(str(path))
    sets = opened.crawl_sets()
    if not sets:
        raise StoreError(f"the store {path} holds no crawls; add some with crawlgauge add")
    day = parse_date(date) if isinstance(date, str) else date
    _check(reference, uniform=uniform, day=day, persistence=persistence, queued=queued)
    crawls = [item.crawl for item in sets]
    answer = partial(
        recall_reference,
        crawls,
        key_rule=opened.key_rule,
        queued=None if queued is None else _parse_queued(queued, crawls),
    )
    series = _estimate_series(str(path), len(sets))
    if reference is None:
        return ReferenceRecall(recall=answer(series, reference=None))
    from crawlgauge.sources.decompress import fingerprint

    rule = stored_rule(opened.path)
    if rule is None:
        raise StoreError(f"the store {opened.path} was removed meanwhile")
    name = conceal(os.fspath(reference))
    with _reference_file(reference) as file:
        listed = ReferenceList(
            path=file,
            rule=rule,
            format=format,
            column=column,
            scope=None if scope is None else read_scope(to_path(os.fspath(scope))),
        )
        found, held, held_by_any, lacking = _find(opened, sets, listed, kind, name=name, day=day)
        if uniform and found.kind != "url":
            raise FitError("--uniform is about URLs: a sample of hosts says nothing of coverage")
        if missing is not None:
            _write_lines(Path(missing), lacking)
        source = fingerprint(file)
    own = Input(name=name, checksum=source.checksum, n_bytes=source.n_bytes)
    of_sets = (Input(name=item.crawl.label, checksum=item.checksum) for item in sets)
    return ReferenceRecall(
        recall=answer(
            series,
            reference=found,
            held=held,
            held_by_any=held_by_any,
            is_uniform=uniform,
            persistence=persistence,
            warnings=[_LEAST] if held_by_any.is_least else [],
            provenance=Provenance(inputs=(own, *of_sets)),
        )
    )


def _check(
    reference: StrPath | None,
    *,
    uniform: bool,
    day: dt.date | None,
    persistence: float | None,
    queued: str | int | None,
) -> None:
    if reference is None and queued is None:
        raise SourceError("no reference was named; give a file of URLs, hosts or domains, or -")
    if uniform and day is None:
        raise FitError(
            "a uniform reference needs its date, since URLs come and go: say when it was drawn "
            "with --date"
        )
    if persistence is not None and not 0 < persistence <= 1:
        raise FitError(f"the persistence is {persistence}; it is a share above 0 and at most 1")


def _parse_queued(queued: str | int, crawls: Sequence[Crawl]) -> tuple[str, int]:
    match = _QUEUED.fullmatch(str(queued).strip())
    if match is None:
        raise FitError(f"--queued {queued} is no number of URLs; write 1200000 or 2021-12=1200000")
    label = match["label"] or crawls[-1].label
    known = [crawl.label for crawl in crawls]
    if label not in known:
        raise FitError(f"--queued names the crawl {label!r}; the store holds {', '.join(known)}")
    return label, int(re.sub(r"\D", "", match["n"]))


def _estimate_series(path: str, n_crawls: int) -> Estimates | str:
    if n_crawls < _MIN_SERIES:
        return f"a series of {n_crawls} says too little of coverage; 3 are needed"
    try:
        return api.estimate(api.count_overlaps(path), store=path).estimates
    except FitError as error:
        return f"the series gives no estimate: {error}"


# ---------------------------------------- look for what a reference lists in every crawl of a store


# The reference, what each crawl holds of it, what some crawl holds, and what none does.
_Found = tuple[Reference, list[HeldCounts], HeldCounts, Iterator[bytes]]


def _find(
    store: Store,
    sets: Sequence[CrawlSet],
    listed: ReferenceList,
    kind: Kind | None,
    *,
    name: str,
    day: dt.date | None,
) -> _Found:
    """Look for everything that a reference lists in every crawl; find out what it lists."""
    if kind is None and not looks_like_names(listed.path):
        kind = "url"
    if kind == "url":
        urls = read_urls(listed)
        n_entries, n_distinct = urls.n_entries, urls.keys.size
        left_out, found = urls.left_out, _find_urls(sets, listed, urls.keys)
    else:
        names = read_reference_names(listed.path, by=kind or "host", column=listed.column)
        if kind is None:
            kind = "domain" if are_domains(names.names) else "host"
        n_entries, n_distinct = names.n_entries, len(names.names)
        left_out, found = names.left_out, _find_names(store, sets, names.names, kind)
    reference = Reference(
        name=name,
        kind=kind,
        n_entries=n_entries,
        n_distinct=n_distinct,
        left_out=tuple(left_out.most_common()),
        date=day,
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
    store: Store, sets: Sequence[CrawlSet], names: Mapping[str, str], kind: Kind
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
def _reference_file(reference: StrPath) -> Iterator[str]:
    """Give the path of a reference that can be read more than once.

    What is no regular file is copied first.
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


def _write_lines(path: Path, lines: Iterator[bytes]) -> None:
    # A link stays a link: the file that it leads to is replaced.
    place = path.resolve()
    try:
        with partial_file(place.parent, place.name) as partial:
            with write_durably(partial) as file:
                file.writelines(line + b"\n" for line in lines)
            partial.replace(place)
    except OSError as error:
        raise CrawlgaugeError(f"{path} cannot be written: {error.strerror}") from error
