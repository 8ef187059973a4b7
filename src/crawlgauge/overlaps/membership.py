"""Which keys of a list each crawl holds."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS, WHOLE
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import SetReader

__all__ = ["count_below", "find_held"]

_Keys = NDArray[np.uint64]


def count_below(keys: _Keys, threshold: int) -> int:
    """Return how many of sorted keys are below a threshold."""
    return keys.size if threshold == WHOLE else int(np.searchsorted(keys, np.uint64(threshold)))


def find_held(item: CrawlSet, keys: _Keys) -> NDArray[np.bool_]:
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
    is_held = np.zeros(wanted.size, dtype=np.bool_)
    for place, part in _ranges(item, wanted):
        if part.size and place.start < place.stop:
            sought = wanted[place]
            found = np.minimum(np.searchsorted(part, sought), part.size - 1)
            is_held[place] = part[found] == sought
    return is_held


def _ranges(item: CrawlSet, wanted: _Keys) -> Iterator[tuple[slice, _Keys]]:
    """Yield each hash range of the set, and where the wanted keys of the same range stand."""
    start = 0
    for number, part in enumerate(SetReader(item.path).ranges()):
        end = count_below(wanted, (number + 1) << (KEY_BITS - item.range_bits))
        yield slice(start, end), part
        start = end
