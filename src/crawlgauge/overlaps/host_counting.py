"""Count by host which archives hold its URLs, in the part of the URLs whose hosts are kept."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import rate_of
from crawlgauge.overlaps.archive_counts import HostCounts
from crawlgauge.overlaps.archive_pass import merge_keys
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import SetReader

__all__ = ["count_by_host"]

_Keys = NDArray[np.uint64]
_NO_HOST = -1


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
        if len(found := store.attributes(item)) and len(found.hosts)
    ]
    if not attributes:
        return None
    common = min(
        threshold,
        *(item.threshold for _, sets in archives for item in sets),
        *(found.threshold for found in attributes),
    )
    held = [merge_keys([_read_keys(item, common) for item in sets]) for _, sets in archives]
    keys = merge_keys(held)
    hosts, codes = _find_hosts(keys, attributes)
    is_held = np.stack([_holds(keys, own) for own in held])
    n_holders = is_held.sum(axis=0)
    n_only = np.zeros((len(hosts) + 1, len(held)), dtype=np.int64)
    for place, own in enumerate(is_held):
        n_only[:, place] = _tally(codes[own & (n_holders == 1)], len(hosts))
    return HostCounts(
        hosts=hosts,
        n_only=n_only[:-1],
        n_several=_tally(codes[n_holders > 1], len(hosts))[:-1],
        n_undisclosed=n_only[-1],
        sample_rate=rate_of(common),
    )


def _read_keys(item: CrawlSet, threshold: int) -> _Keys:
    return np.concatenate(list(SetReader(item.path).ranges(threshold)))


def _find_hosts(
    keys: _Keys, attributes: Sequence[Attributes]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return all hosts, and for each key the place of its host among them, or `_NO_HOST`."""
    place_of: dict[str, int] = {}
    codes = np.full(keys.size, _NO_HOST, dtype=np.int64)
    for found in attributes:
        names = found.hosts.to_pylist()
        places = np.array([place_of.setdefault(name, len(place_of)) for name in names])
        # Further keys may be kept with their hosts, but none that is below the last one is new.
        n_counted = np.searchsorted(found.keys, keys[-1], side="right") if keys.size else 0
        own = found.host_codes[:n_counted]
        is_named = own != _NO_HOST
        named = found.keys[:n_counted][is_named]
        codes[np.searchsorted(keys, named)] = places[own[is_named]]
    return tuple(place_of), codes


def _holds(keys: _Keys, own: _Keys) -> NDArray[np.bool_]:
    is_held = np.zeros(keys.size, dtype=np.bool_)
    is_held[np.searchsorted(keys, own)] = True
    return is_held


def _tally(codes: NDArray[np.int64], n_hosts: int) -> NDArray[np.int64]:
    """Count each host, and in the last place the keys without one."""
    return np.bincount(np.where(codes == _NO_HOST, n_hosts, codes), minlength=n_hosts + 1)
