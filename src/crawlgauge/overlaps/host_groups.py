"""Histories by groups of whole hosts, counted among the URLs whose hosts are kept."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from crawlgauge.core.captures import hash_texts
from crawlgauge.core.sets import MaskCounts
from crawlgauge.keys.sampling import rate_of
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, HostGroups
from crawlgauge.overlaps.key_union import KeyUnion, count_below
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.history_index import HistoryIndex

__all__ = ["N_GROUPS", "count_groups", "group_keys"]

N_GROUPS = 20
"""So many give a standard error that is itself uncertain by a sixth."""


def group_keys(
    sets: Sequence[CrawlSet],
    threshold: int,
    read_attributes: Callable[[CrawlSet], Attributes],
    index: HistoryIndex | None = None,
) -> KeyUnion | None:
    """Find the groups of keys: that of the host in the first crawl that holds a key.

    Parameters
    ----------
    sets
        The crawls' sets of URLs, in order of date.
    threshold
        Only keys below it count, and less where hosts of fewer are kept.
    read_attributes
        Tells the hosts of a crawl.
    index
        Knows the groups of the first crawls, whose attributes are then not read.

    Returns
    -------
    KeyUnion
        Its codes are the groups. None if there are too many crawls, or one of them tells no hosts.
    """
    if len(sets) > MAX_HISTORY_CRAWLS:
        return None
    union, n_known = KeyUnion(len(sets), threshold=threshold), 0
    if index is not None:
        n_known = len(index.subject.checksums)
        union.threshold = min(threshold, index.group_threshold)
        keys, masks, groups = index.below(union.threshold)
        # The greatest number of a byte stands for −1.
        union.begin(n_known, keys, groups.view(np.int8).astype(np.int32), masks)
    for item in sets[n_known:]:
        attributes = read_attributes(item)
        groups = hash_texts([host.encode() for host in attributes.hosts]) % np.uint64(N_GROUPS)
        group_of = np.append(groups.astype(np.int32), np.int32(-1))
        union.add(attributes.keys, group_of[attributes.host_codes], attributes.threshold)
        if not union.keys.size:
            return None
    return union


def count_groups(union: KeyUnion, n_crawls: int) -> HostGroups | None:
    """Count the keys of each group by which crawls hold them; None if no host is known.

    If there are too many different histories, fewer keys are counted, as for those of all keys.
    """
    end = union.threshold
    while True:
        groups = union.codes[: count_below(union.keys, end)].astype(np.uint8)
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(N_GROUPS + 1))
        together, of_groups = MaskCounts(n_crawls), []
        for start, stop in pairwise(bounds):
            counts = MaskCounts(n_crawls)
            counts.add(union.masks[order[start:stop], 0], np.ones(stop - start, np.int64))
            of_groups.append(counts.arrays())
            together.add(*of_groups[-1])
        masks, _ = together.arrays()
        if masks.size <= histories.MAX_HISTORIES:
            break
        end = 1 << ((end // 2).bit_length() - 1)
    if not masks.size:
        return None
    table = np.zeros((masks.size, N_GROUPS), np.int64)
    for group, (own, numbers) in enumerate(of_groups):
        table[np.searchsorted(masks, own), group] = numbers
    return HostGroups(
        n_crawls=n_crawls, n_groups=N_GROUPS, masks=masks, counts=table, sample_rate=rate_of(end)
    )
