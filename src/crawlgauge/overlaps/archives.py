"""Count over the crawls of several archives at once: what each two share, and who holds what."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.sets import MaskCounts, count_masks, sort_unique
from crawlgauge.errors import OverlapError
from crawlgauge.keys.sampling import WHOLE, rate_of
from crawlgauge.overlaps.counting import crawl_below
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS
from crawlgauge.overlaps.table import ArchiveCounts, HostCounts
from crawlgauge.store import ranges
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import Keys
from crawlgauge.store.ranges import HashRange, Part, Progress, SetReaders

_NO_HOST = -1


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

    read, bits = SetReaders(sets).between, ranges.choose_range_bits(sets)
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
    held = [_merge(SetReaders(sets).between(0, common)) for _, sets in archives]
    keys = _merge(held)
    hosts, codes = _find_hosts(keys, attributes)
    is_held = np.zeros((len(held), keys.size), np.bool_)
    for row, own in zip(is_held, held, strict=True):
        row[np.searchsorted(keys, own)] = True
    n_holders = is_held.sum(axis=0)
    # In the last place those without a host.
    n_only = [
        np.bincount(codes[row & (n_holders == 1)], minlength=len(hosts) + 1) for row in is_held
    ]
    return HostCounts(
        hosts=hosts,
        n_only=np.stack(n_only, axis=1)[:-1],
        n_several=np.bincount(codes[n_holders > 1], minlength=len(hosts) + 1)[:-1],
        n_undisclosed=np.array([counts[-1] for counts in n_only]),
        sample_rate=rate_of(common),
    )


def _find_hosts(
    keys: Keys, attributes: Sequence[Attributes]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return all hosts, and for each key the place of its host among them, or behind them."""
    place_of: dict[str, int] = {}
    codes = np.full(keys.size, _NO_HOST, np.int64)
    for found in attributes:
        places = np.array([place_of.setdefault(name, len(place_of)) for name in found.hosts])
        # Further keys may be kept with their hosts, but none that is below the last one is new.
        n_counted = np.searchsorted(found.keys, keys[-1], side="right") if keys.size else 0
        own = found.host_codes[:n_counted]
        named = found.keys[:n_counted][own != _NO_HOST]
        codes[np.searchsorted(keys, named)] = places[own[own != _NO_HOST]]
    return tuple(place_of), np.where(codes == _NO_HOST, len(place_of), codes)
