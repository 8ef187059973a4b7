"""From batches of captures to the sorted, unique keys of a crawl, with all that was left out."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.rules import KeyRule
from crawlgauge.sources.captures import Captures, Rejection

__all__ = ["SetBuilder", "sort_unique"]

_MAX_PENDING_KEYS = 1 << 24
_MAX_EXAMPLES = 5


class SetBuilder:
    """Collects the keys of one crawl and counts what was left out.

    Parameters
    ----------
    rule
        Which URLs are the same.

    Attributes
    ----------
    n_captures
        Captures so far, repeated ones included.
    rejected, excluded
        Records left out so far, by reason.
    examples
        The first rejected records.
    """

    def __init__(self, rule: KeyRule) -> None:
        self._rule = rule
        self._sorted = np.empty(0, dtype=np.uint64)
        self._pending: list[NDArray[np.uint64]] = []
        self._n_pending = 0
        self.n_captures = 0
        self.rejected: Counter[str] = Counter()
        self.excluded: Counter[str] = Counter()
        self.examples: list[Rejection] = []

    def add(self, captures: Captures) -> None:
        """Take in a batch."""
        keys = compute_keys(captures.url, self._rule)
        self._pending.append(keys)
        self._n_pending += keys.size
        self.n_captures += keys.size
        self.rejected.update(captures.rejected)
        self.excluded.update(captures.excluded)
        self.examples.extend(captures.examples[: _MAX_EXAMPLES - len(self.examples)])
        # Repeated captures shrink away early, and each key is sorted a few times only.
        if self._n_pending > max(_MAX_PENDING_KEYS, self._sorted.size):
            self._compact()

    def keys(self) -> NDArray[np.uint64]:
        """Return the sorted, unique keys of all batches so far."""
        self._compact()
        return self._sorted

    def _compact(self) -> None:
        self._sorted = sort_unique(np.concatenate([self._sorted, *self._pending]))
        self._pending, self._n_pending = [], 0


def sort_unique(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the distinct keys in rising order; `keys` is sorted in place.

    numpy's own `unique` takes many times longer on 64-bit words.
    """
    keys.sort()
    is_new = np.empty(keys.size, dtype=np.bool_)
    is_new[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    return keys[is_new]
