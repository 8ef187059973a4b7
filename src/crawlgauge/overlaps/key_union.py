"""All URLs of several crawls in bounded memory: key, value at the first capture, and crawls.

Histories by groups of whole hosts are counted among them: the value of a URL is its host's group.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.captures import hash_texts
from crawlgauge.core.sets import MaskCounts
from crawlgauge.core.strata import merge_crawl
from crawlgauge.keys.sampling import WHOLE, rate_of
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, HostGroups
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import Keys, count_below

MAX_ROWS = 1 << 25
"""32 times the keys of a crawl's attributes, at 20 bytes each: 670 MB if it has to be."""

N_GROUPS = 20
"""So many give a standard error that is itself uncertain by a sixth."""

Codes = NDArray[np.int32]


class KeyUnion:
    """Collects the keys of crawls one after the other, in order of date.

    A URL keeps the value of the first crawl that holds it. If the URLs become more than `MAX_ROWS`,
    those in the upper half of the keys are dropped, in all crawls: what is left is a smaller
    sample.

    Parameters
    ----------
    n_crawls
        How many crawls will come.
    threshold
        Only keys below it count.

    Attributes
    ----------
    keys, codes, masks
        The keys, rising; for each the code of its value, −1 for none; and for each the crawls that
        hold it, a word for each 64.
    threshold
        The URLs with keys below it are kept.
    """

    def __init__(self, n_crawls: int, *, threshold: int = WHOLE) -> None:
        # Memory that is not written to is not taken.
        self._room = (
            np.empty(MAX_ROWS, np.uint64),
            np.empty(MAX_ROWS, np.int32),
            np.empty((MAX_ROWS, -(-n_crawls // 64)), np.uint64),
        )
        self._n_merged, self.threshold = 0, threshold
        self._keep(0)

    def add(self, keys: Keys, codes: Codes, threshold: int) -> None:
        """Take in the next crawl.

        Parameters
        ----------
        keys, codes
            Rising keys, and for each the code of its value, −1 for none.
        threshold
            All keys of the crawl below it are there.
        """
        self._cut(min(self.threshold, threshold))
        while True:
            n_own = count_below(keys, self.threshold)
            own = keys[:n_own], codes[:n_own]
            n_rows = merge_crawl(*self._room, self.keys.size, *own, self._n_merged)
            if n_rows >= 0:
                break
            self._cut(self.threshold // 2)
        self._n_merged += 1
        self._keep(n_rows)

    def _keep(self, n_rows: int) -> None:
        keys, codes, masks = self._room
        self.keys, self.codes, self.masks = keys[:n_rows], codes[:n_rows], masks[:n_rows]

    def _cut(self, threshold: int) -> None:
        self.threshold = threshold
        self._keep(count_below(self.keys, threshold))


# ------------------------------------------------------------------------------- groups of hosts


def count_groups(
    sets: Sequence[CrawlSet], threshold: int, read_attributes: Callable[[CrawlSet], Attributes]
) -> HostGroups | None:
    """Count the keys of each group by which crawls hold them.

    The group of a key is that of its host in the first crawl that holds it. If there are too many
    different histories, fewer keys are counted, as for those of all keys.

    Parameters
    ----------
    sets
        The crawls' sets of URLs, in order of date.
    threshold
        Only keys below it count, and less where hosts of fewer are kept.
    read_attributes
        Tells the hosts of a crawl.

    Returns
    -------
    HostGroups
        None if there are too many crawls, or one of them tells no hosts, or no host is known.
    """
    n_crawls = len(sets)
    if n_crawls > MAX_HISTORY_CRAWLS:
        return None
    union = KeyUnion(n_crawls, threshold=threshold)
    for item in sets:
        attributes = read_attributes(item)
        groups = hash_texts([host.encode() for host in attributes.hosts]) % np.uint64(N_GROUPS)
        group_of = np.append(groups.astype(np.int32), np.int32(-1))
        union.add(attributes.keys, group_of[attributes.host_codes], attributes.threshold)
        if not union.keys.size:
            return None
    return _count_by_group(union, n_crawls)


def _count_by_group(union: KeyUnion, n_crawls: int) -> HostGroups | None:
    end = union.threshold
    while True:
        codes = union.codes[: count_below(union.keys, end)]
        together, of_groups = MaskCounts(n_crawls), []
        for group in range(N_GROUPS):
            own = union.masks[: codes.size, 0][codes == group]
            counts = MaskCounts(n_crawls)
            counts.add(own, np.ones(own.size, np.int64))
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
