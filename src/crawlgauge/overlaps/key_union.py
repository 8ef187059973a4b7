"""All URLs of several crawls in bounded memory: key, value at the first capture, and crawls."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.strata import merge_crawl
from crawlgauge.keys.sampling import WHOLE

__all__ = ["MAX_ROWS", "KeyUnion", "count_below"]

MAX_ROWS = 1 << 25
"""32 times the keys of a crawl's attributes, at 20 bytes each: 670 MB if it has to be."""

Keys = NDArray[np.uint64]
Codes = NDArray[np.int32]


def count_below(keys: Keys, threshold: int) -> int:
    """Return how many of rising keys are below a threshold."""
    return int(np.searchsorted(keys, np.uint64(threshold - 1), side="right"))


class KeyUnion:
    """Collects the keys of crawls one after the other, in order of date.

    A URL keeps the value of the first crawl that holds it. If the URLs become too many, those in
    the upper half of the keys are dropped, in all crawls: what is left is a smaller sample.

    Parameters
    ----------
    n_crawls
        How many crawls will come.
    threshold
        Only keys below it count.
    max_rows
        How many URLs are kept at most.

    Attributes
    ----------
    keys, codes, masks
        The keys, rising; for each the code of its value, −1 for none; and for each the crawls that
        hold it, a word for each 64.
    threshold
        The URLs with keys below it are kept.
    is_cut
        Whether some were dropped because they are too many.
    """

    def __init__(self, n_crawls: int, *, threshold: int = WHOLE, max_rows: int = MAX_ROWS) -> None:
        # Memory that is not written to is not taken.
        self._room = (
            np.empty(max_rows, np.uint64),
            np.empty(max_rows, np.int32),
            np.empty((max_rows, -(-n_crawls // 64)), np.uint64),
        )
        self._n_merged, self.threshold, self.is_cut = 0, threshold, False
        self._keep(0)

    def begin(self, n_crawls: int, keys: Keys, codes: Codes, masks: Keys) -> None:
        """Take what is known of the first crawls, 64 at most."""
        self._n_merged = n_crawls
        self._keep(keys.size)
        self.keys[:], self.codes[:], self.masks[:] = keys, codes, masks[:, None]

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
            self.is_cut = True
        self._n_merged += 1
        self._keep(n_rows)

    def _keep(self, n_rows: int) -> None:
        keys, codes, masks = self._room
        self.keys, self.codes, self.masks = keys[:n_rows], codes[:n_rows], masks[:n_rows]

    def _cut(self, threshold: int) -> None:
        self.threshold = threshold
        self._keep(count_below(self.keys, threshold))
