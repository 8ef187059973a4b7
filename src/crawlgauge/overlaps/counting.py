"""Count the overlaps of all crawls, exactly or in a sample, and no more than is not known yet.

The way of `count_store`: look for the counts in the store's cache; find the groups of hosts; pass
over all sets, or over the history index and the sets that are not in it, hash range by hash range;
keep the counts, and an index if it will save time. `count_archives` passes over the crawls of
several archives at once.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import NO_CODE
from crawlgauge.core.sets import MaskCounts, count_masks, sort_unique
from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError, StoreError
from crawlgauge.keys.rules import BY_URL
from crawlgauge.keys.sampling import WHOLE, parse_rate, rate_of, threshold_of
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories, HostGroups
from crawlgauge.overlaps.key_union import count_groups
from crawlgauge.overlaps.table import ArchiveCounts, HostCounts, OverlapTable
from crawlgauge.provenance import Input, Provenance
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store import history_index, ranges
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.documents import keep, load
from crawlgauge.store.history_index import HistoryIndex, IndexDamaged, IndexWriter, Subject
from crawlgauge.store.key_set import Keys
from crawlgauge.store.ranges import HashRange, Part, Progress

_LEAST_INDEXED = 1 << 22
"""Fewer keys are counted in less time than it takes to write an index of them."""

_MAX_OUTSIDE = 1 / 4
"""With more keys of sets outside of an index than this share of all, it is made anew."""

_SCHEMA = "crawlgauge.counts/4"
"""Counts of another version are not used: it may have counted otherwise."""

_WHAT, _REMEDY = "counts are", "overlaps are counted again"

_ReadAttributes = Callable[[CrawlSet], Attributes]
_Masks = tuple[NDArray[np.uint64], NDArray[np.int64]]
Counted = tuple[NDArray[np.int64], _Masks, HashRange | None]
"""What pairs share, histories, and in which range these became too many, if they did."""

_Found = tuple[NDArray[np.int64] | _Masks, Keys]
"""What pairs of sets share, above the diagonal and on it, or how many keys have each mask; and the
keys with their masks, if they are wanted."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """All that is counted of sets, in their order.

    Parameters
    ----------
    n_shared
        Keys that each two share, symmetric; the diagonal holds those of each.
    found
        Histories of the keys below `history_end`, in rising order, and how many keys have each;
        bit t is set t.
    history_end
        The threshold of what was counted, or less if there are too many different histories below
        it: the largest power of two, at most half of it, below which they are not. 0 if there are
        too many sets for histories.
    origins, host_groups
        Of what each crawl was made, and histories by groups of its hosts; no origins where nobody
        has looked for groups.
    """

    n_shared: NDArray[np.int64]
    found: _Masks
    history_end: int
    origins: tuple[str, ...] = ()
    host_groups: HostGroups | None = None


Engine = Callable[[Sequence[CrawlSet], int], Counts]
"""What counts keys of sets below a threshold in the place of this machine, with the same result."""


def count_store(
    store: Store,
    *,
    sample: str | None = None,
    level: str = BY_URL,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> OverlapTable:
    """Count the overlaps of all crawls of a store; what it has counted before is not read again.

    Parameters
    ----------
    store
        The store. If it cannot be written to, nothing is kept for the next time.
    sample
        Count only this share of the URLs, such as ``1/64`` or ``0.01``; None for all that the
        store has of every crawl.
    level
        What to count: ``url``, ``content`` or ``text``.
    progress
        Called with how many of how many hash ranges are done.
    engine
        What counts the keys; this machine if not given.

    Raises
    ------
    OverlapError, StoreError
        As for `count_sets`, or if `sample` is no share, or if a crawl has no set of that level.
    """
    threshold = WHOLE if sample is None else threshold_of(parse_rate(sample))
    return count_sets(
        store.crawl_sets(level),
        threshold=threshold,
        cache=store.find_cache(_WHAT),
        progress=progress,
        engine=engine,
        read_attributes=store.attributes if level == BY_URL else None,
    )


def count_sets(
    sets: Sequence[CrawlSet],
    *,
    threshold: int = WHOLE,
    cache: AnyPath | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    read_attributes: _ReadAttributes | None = None,
) -> OverlapTable:
    """Count how many URLs each two crawls share, and how many have each capture history.

    Pairs are counted for any number of crawls, histories for up to 64. If the histories are too
    many different ones, they are counted in a part of the URLs; pairs never are.

    Parameters
    ----------
    sets
        The crawls' sets, in order of date, then label.
    threshold
        Only keys below it are counted; less if a set holds less.
    cache
        Folder of counts from before; those of these sets are kept there. None for no cache.
    progress
        Called with how many of how many hash ranges are done.
    engine
        What counts the keys; this machine if not given.
    read_attributes
        Tells the hosts of a crawl, by groups of which histories are counted too; None for none.

    Raises
    ------
    OverlapError
        If there are no sets, sets that cannot be compared, or a sample without any URL of a crawl.
    StoreError
        If a set cannot be read; it is named.
    """
    _check_comparable(sets)
    common = min(threshold, *(item.threshold for item in sets))
    subject = Subject.of(sets, common)
    counts = _count(sets, subject, cache, progress, engine, read_attributes)
    n_shared, end = counts.n_shared, counts.history_end
    sample = _describe_sample(sets, threshold, common)
    if sample is not None:
        _log.info("overlaps are counted among %s", sample)
    sizes = n_shared.diagonal().tolist()
    return OverlapTable(
        crawls=tuple(crawl_below(item, common, n) for item, n in zip(sets, sizes, strict=True)),
        n_shared=n_shared,
        histories=_histories(counts.found, len(sets), rate_of(end)) if end else None,
        level=subject.level,
        key_rule=subject.key_rule,
        sample_rate=rate_of(common),
        provenance=Provenance(
            settings={} if sample is None else {"counted_among": sample},
            inputs=tuple(Input(name=item.crawl.label, checksum=item.checksum) for item in sets),
        ),
        host_groups=counts.host_groups,
    )


def _count(
    sets: Sequence[CrawlSet],
    subject: Subject,
    cache: AnyPath | None,
    progress: Progress | None,
    engine: Engine | None,
    read_attributes: _ReadAttributes | None,
) -> Counts:
    """Return what is known, or count what is not, and keep it for the next time."""
    threshold, n_sets = subject.threshold, len(sets)
    origins = tuple(map(history_index.origin_of, sets if read_attributes else ()))
    name = f"overlaps-{subject.level}-{replace(subject, threshold=0).name}-{threshold:x}.json"
    path = None if cache is None else cache / name
    known = None if path is None else load(path, _SCHEMA, Counts, _REMEDY)
    if known is not None and (known.origins == origins or not origins):
        return known
    sizes = [item.crawl.n_counted * threshold // item.threshold for item in sets]
    is_indexed = engine is None and n_sets <= MAX_HISTORY_CRAWLS
    place = cache if is_indexed and isinstance(cache, Path) else None

    def count(index: HistoryIndex | None) -> Counts:
        if engine is not None:
            return engine(sets, threshold)
        source, n_all = _Source(sets, index), sum(sizes)
        n_outside = n_all if index is None else index.count_outside(subject, sizes)
        writing: AbstractContextManager[IndexWriter | None] = nullcontext()
        if place is not None and n_all >= _LEAST_INDEXED and n_outside > _MAX_OUTSIDE * n_all:
            writing = IndexWriter(place, subject, source.range_bits, n_all)
        with writing as writer:
            first = partial(_count_between, progress=progress, writer=writer)
            return count_to_end(
                threshold,
                n_sets,
                lambda end: (first if end == threshold else _count_between)(source, (0, end)),
            )

    groups = None
    try:
        if read_attributes is not None:
            groups = count_groups(sets, threshold, read_attributes)
    except StoreError as error:
        # That crawls were made of the same is not told: they are looked at again.
        _log.warning("histories are not counted by groups of hosts: %s", error)
        origins = ()
    try:
        counts = count(None if place is None else history_index.find_index(place, subject, sizes))
    except IndexDamaged as error:
        _log.warning("%s is damaged, and is made anew", error)
        counts = count(None)
    counts = replace(counts, origins=origins, host_groups=groups)
    if path is not None:
        keep(path, _SCHEMA, counts, _WHAT)
    return counts


class _Source:
    """The keys of all sets; those of some through an index."""

    def __init__(self, sets: Sequence[CrawlSet], index: HistoryIndex | None = None) -> None:
        self.n_sets, self._index = len(sets), index
        self.has_masks = self.n_sets <= MAX_HISTORY_CRAWLS
        known = () if index is None else index.subject.checksums
        self._numbers = [k for k, item in enumerate(sets) if item.checksum not in known]
        outside = [sets[k] for k in self._numbers]
        self._readers = ranges.SetReaders(outside)
        self._targets = np.zeros(len(known), np.uint64)
        for number, item in enumerate(sets):
            if item.checksum in known:
                self._targets[known.index(item.checksum)] |= np.uint64(1 << number)
        n_known, least_bits = (0, 0) if index is None else (index.n_keys, index.range_bits)
        self.range_bits = max(ranges.choose_range_bits(outside, n_known), least_bits)

    def read(self, low: int, high: int) -> list[Part]:
        """Return what `count_masks` takes of the keys from `low` on and below `high`."""
        own = zip(self._numbers, self._readers.between(low, high), strict=True)
        parts: list[Part] = [(number, keys, None) for number, keys in own]
        if self._index is not None:
            keys, masks = self._index.between(low, high)
            parts.append((None, keys, histories.move_bits(masks, self._targets)))
        return parts


def _count_between(
    source: _Source,
    bounds: tuple[int, int],
    progress: Progress | None = None,
    writer: IndexWriter | None = None,
    n_workers: int | None = None,
) -> Counted:
    """Count the keys from one on and below another in one pass; all cores work unless told."""
    n_sets, full = source.n_sets, None
    upper = np.zeros((n_sets, n_sets), np.int64)
    total = MaskCounts(min(n_sets, MAX_HISTORY_CRAWLS))

    def count(parts: list[Part], where: HashRange) -> _Found:
        by_mask = full is None and source.has_masks
        counts: MaskCounts | NDArray[np.int64]
        counts = MaskCounts(n_sets) if by_mask else np.zeros_like(upper)
        room = np.empty((2, sum(keys.size for _, keys, _ in parts) if writer else 0), np.uint64)
        index = (room[0], room[1]) if writer else None
        n_keys = count_masks(parts, where.low, where.width, counts, index)
        found = counts.arrays() if isinstance(counts, MaskCounts) else counts
        return found, room[:, :n_keys]

    bits = source.range_bits
    done = ranges.work_on_ranges(source.read, bits, bounds, count, progress, n_workers)
    for where, (found, listed) in done:
        if not isinstance(found, tuple):
            upper += found
        elif full is not None:
            upper += np.triu(histories.pairs_of_masks(*found, n_sets))
        else:
            total.add(*found)
            full = where if len(total) > histories.MAX_HISTORIES else None
        if writer is not None:
            writer.add(*listed)
    if source.has_masks:
        upper += np.triu(histories.pairs_of_masks(*total.arrays(), n_sets))
    return upper + np.triu(upper, 1).T, total.arrays(), full


def count_group(sets: Sequence[CrawlSet], group: HashRange, threshold: int) -> Counted:
    """Count the keys of one hash range, as a part of all, in one thread."""
    source = _Source(sets)
    source.range_bits = max(source.range_bits, group.bits)
    return _count_between(source, (group.low, min(group.high, threshold)), n_workers=1)


def count_to_end(threshold: int, n_sets: int, count: Callable[[int], Counted]) -> Counts:
    """Count all keys below a threshold, and histories once more if they are too many.

    Parameters
    ----------
    threshold
        Keys below it are counted.
    n_sets
        How many sets there are.
    count
        Counts the keys below a threshold, by whatever ranges.
    """
    end = threshold
    n_shared, found, full = count(end)
    while full is not None:
        # Whatever the ranges are, the same sets have the same end. In the first range they may
        # still be too many below it.
        most = min(end // 2, full.low or full.high // 2)
        end = 1 << (most.bit_length() - 1)
        _, found, full = count(end)
    history_end = end if n_sets <= MAX_HISTORY_CRAWLS else 0
    return Counts(n_shared=n_shared, found=found, history_end=history_end)


def count_parts(
    sets: Sequence[CrawlSet], table: OverlapTable, n_parts: int
) -> tuple[OverlapTable, ...]:
    """Count overlaps and histories in parts that share no URL, by ranges of their keys.

    Each is a table as if the crawls had been sampled to it, and together they are the URLs that
    the histories of all crawls were counted from.

    Parameters
    ----------
    sets
        The crawls' sets, in the order of the table's crawls.
    table
        What was counted of all of them.
    n_parts
        How many parts, of equal width.

    Raises
    ------
    OverlapError
        If a part holds no URL of a crawl.
    StoreError
        If a set cannot be read; it is named.
    """
    rate = table.sample_rate if table.histories is None else table.histories.sample_rate
    end = min(round(rate * WHOLE), *(item.threshold for item in sets))
    part_rate = rate_of(end) / n_parts
    source, parts = _Source(sets), []
    for number in range(n_parts):
        bounds = end * number // n_parts, end * (number + 1) // n_parts
        n_shared, found, _ = _count_between(source, bounds)
        sizes = n_shared.diagonal().tolist()
        for crawl, size in zip(table.crawls, sizes, strict=True):
            if size == 0:
                raise OverlapError(
                    f"a part of the URLs holds none of the {crawl.n_urls:,} of crawl "
                    f"{crawl.label!r}: there are too few to be divided"
                )
        crawls = [replace(c, n_sampled=n) for c, n in zip(table.crawls, sizes, strict=True)]
        parts.append(
            replace(
                table,
                crawls=tuple(crawls),
                n_shared=n_shared,
                histories=table.histories and _histories(found, len(sets), part_rate),
                sample_rate=part_rate,
                host_groups=None,
            )
        )
    return tuple(parts)


def _histories(found: _Masks, n_crawls: int, rate: float) -> Histories:
    return Histories(n_crawls=n_crawls, masks=found[0], counts=found[1], sample_rate=rate)


# ----------------------------------------------------------------------- crawls of several archives


def count_archives(
    archives: Sequence[Sequence[CrawlSet]],
    *,
    threshold: int = WHOLE,
    progress: Progress | None = None,
) -> ArchiveCounts:
    """Count what the crawls of several archives share, and what the archives hold.

    Parameters
    ----------
    archives
        The sets of each archive, in order of date, then label.
    threshold
        Only keys below it are counted; less if a set holds less.
    progress
        Called with how many of how many hash ranges are done.

    Raises
    ------
    OverlapError
        If there are too many archives, or a sample holds no URL of a crawl.
    StoreError
        If a set cannot be read; it is named.
    """
    if len(archives) > MAX_HISTORY_CRAWLS:
        raise OverlapError(f"at most {MAX_HISTORY_CRAWLS} archives can be compared at once")
    sets = [item for archive in archives for item in archive]
    bounds = list(pairwise(accumulate(map(len, archives), initial=0)))
    common = min(threshold, *(item.threshold for item in sets))
    upper = np.zeros((len(sets), len(sets)), np.int64)
    held = MaskCounts(len(archives))

    def count(parts: list[Keys], where: HashRange) -> tuple[NDArray[np.int64], MaskCounts]:
        n_shared, own = np.zeros_like(upper), MaskCounts(len(archives))
        of_crawls: list[Part] = [(k, keys, None) for k, keys in enumerate(parts)]
        count_masks(of_crawls, where.low, where.width, n_shared)
        of_archives: list[Part] = [
            (k, keys, None) for k, (a, b) in enumerate(bounds) for keys in parts[a:b]
        ]
        count_masks(of_archives, where.low, where.width, own)
        return n_shared, own

    read, bits = ranges.SetReaders(sets).between, ranges.choose_range_bits(sets)
    for _, (n_shared, own) in ranges.work_on_ranges(read, bits, (0, common), count, progress):
        upper += n_shared
        held.add(*own.arrays())
    sizes = upper.diagonal().tolist()
    crawls = [crawl_below(item, common, n) for item, n in zip(sets, sizes, strict=True)]
    masks, counts = held.arrays()
    return ArchiveCounts(
        crawls=tuple(tuple(crawls[a:b]) for a, b in bounds),
        n_shared=upper + np.triu(upper, 1).T,
        masks=masks,
        counts=counts,
        sample_rate=rate_of(common),
        level=sets[0].level,
        key_rule=sets[0].key_rule,
    )


def _merge(parts: Sequence[Keys]) -> Keys:
    """Return the keys of several sets, sorted and each once."""
    return parts[0] if len(parts) == 1 else sort_unique([*parts])


def count_by_host(
    archives: Sequence[tuple[Store, Sequence[CrawlSet]]], *, threshold: int
) -> HostCounts | None:
    """Count the URLs of each host by which archives hold them.

    Parameters
    ----------
    archives
        Each store with the sets of its crawls.
    threshold
        Only keys below it are counted; less where fewer hosts are kept.

    Returns
    -------
    HostCounts
        None if no archive discloses its hosts.

    Raises
    ------
    StoreError
        If a crawl cannot be read.
    """
    attributes = [
        found
        for store, sets in archives
        for item in sets
        if len(found := store.attributes(item)) and found.hosts
    ]
    if not attributes:
        return None
    common = min(
        threshold,
        *(item.threshold for _, sets in archives for item in sets),
        *(found.threshold for found in attributes),
    )
    held = [_merge(ranges.SetReaders(sets).between(0, common)) for _, sets in archives]
    keys = _merge(held)
    hosts, codes = _find_hosts(keys, attributes)
    is_held = np.zeros((len(held), keys.size), np.bool_)
    for row, own in zip(is_held, held, strict=True):
        row[np.searchsorted(keys, own)] = True
    is_only = is_held.sum(axis=0) == 1
    # In the last place those without a host.
    *n_only, n_several = (
        np.bincount(codes[row], minlength=len(hosts) + 1) for row in (*is_held & is_only, ~is_only)
    )
    return HostCounts(
        hosts=hosts,
        n_only=np.stack(n_only, axis=1)[:-1],
        n_several=n_several[:-1],
        n_undisclosed=np.array([counts[-1] for counts in n_only]),
        sample_rate=rate_of(common),
    )


def _find_hosts(
    keys: Keys, attributes: Sequence[Attributes]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return all hosts, and for each key the place of its host among them, or behind them."""
    place_of: dict[str, int] = {}
    codes = np.full(keys.size, NO_CODE, np.int64)
    for found in attributes:
        places = np.array([place_of.setdefault(name, len(place_of)) for name in found.hosts])
        # Further keys may be kept with their hosts, but none that is below the last one is new.
        n_counted = np.searchsorted(found.keys, keys[-1], side="right") if keys.size else 0
        own = found.host_codes[:n_counted]
        named = found.keys[:n_counted][own != NO_CODE]
        codes[np.searchsorted(keys, named)] = places[own[own != NO_CODE]]
    return tuple(place_of), np.where(codes == NO_CODE, len(place_of), codes)


# ------------------------------------------------------------------------------ what is counted


def _check_comparable(sets: Sequence[CrawlSet]) -> None:
    if not sets:
        raise OverlapError("the store holds no crawls; add some first")
    first = sets[0]
    for other in sets[1:]:
        for what in ("key_rule", "level"):
            if getattr(other, what) != getattr(first, what):
                raise OverlapError(
                    f"crawls {first.crawl.label!r} and {other.crawl.label!r} cannot be compared: "
                    f"their {what.replace('_', ' ')} is {getattr(first, what)} and "
                    f"{getattr(other, what)}; add one of them again from its files with --replace"
                )


def crawl_below(item: CrawlSet, threshold: int, n_counted: int) -> Crawl:
    """Return the crawl with the size that it has below a threshold.

    Parameters
    ----------
    item
        Its set.
    threshold
        At most the set's own.
    n_counted
        How many of its keys are below.

    Raises
    ------
    OverlapError
        If none is.
    """
    if threshold == WHOLE:
        return item.crawl
    if n_counted == 0:
        raise OverlapError(
            f"none of the {item.crawl.n_urls:,} URLs of crawl {item.crawl.label!r} is in the "
            f"sample of {_one_in(threshold)}; take a larger sample, or leave the crawl out"
        )
    # A size that is known stays as it is; another is as uncertain as the sample it comes from.
    is_known = item.threshold == WHOLE
    n_urls = item.crawl.n_urls if is_known else round(n_counted * WHOLE / threshold)
    return replace(item.crawl, n_urls=n_urls, n_sampled=n_counted)


def _describe_sample(sets: Sequence[CrawlSet], wanted: int, common: int) -> str | None:
    """Return in words what part of the URLs is counted, and why; None if all are."""
    if common == WHOLE:
        return None
    text = f"{_one_in(common)} of the URLs"
    if common == wanted:
        return text
    cause = next(item for item in sets if item.threshold == common)
    how = cause.provenance.settings.get("sample") or f"{cause.sample_rate:.6g}"
    return f"{text}: {cause.crawl.label} was added with --sample {how}"


def _one_in(threshold: int) -> str:
    return "1 in " + f"{1 / rate_of(threshold):,.1f}".removesuffix(".0")
