"""All URLs of several crawls in bounded memory: key, value at the first capture, and crawls."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps.stratum_kernel import count_new, merge_crawl
from crawlgauge.store.attribute_coding import HostCoding, TypeCoding
from crawlgauge.store.attributes import NO_STATUS, Attributes

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_ROWS", "KeyUnion"]

MAX_ROWS = 1 << 25
"""Eight times the keys of a crawl's attributes, at 20 bytes each: 670 MB if it has to be."""

_WORD_BITS = 64
_N_STATUSES = 1000


class KeyUnion:
    """Collects the keys of crawls one after the other, in order of date.

    A URL keeps the value of the first crawl that holds it. If the URLs become too many, those in
    the upper half of the keys are dropped, in all crawls: what is left is a smaller sample.

    Parameters
    ----------
    column
        The attribute that counts: ``host``, ``mime`` or ``status``.
    n_crawls
        How many crawls will come.
    max_rows
        How many URLs are kept at most.

    Attributes
    ----------
    threshold
        The URLs with keys below it are kept.
    """

    def __init__(self, column: str, n_crawls: int, *, max_rows: int = MAX_ROWS) -> None:
        n_words = (n_crawls + _WORD_BITS - 1) // _WORD_BITS
        # Memory that is not written to is not taken.
        self._keys = np.empty(max_rows, dtype=np.uint64)
        self._codes = np.empty(max_rows, dtype=np.int32)
        self._masks = np.empty((max_rows, n_words), dtype=np.uint64)
        self._n_rows = self._n_merged = 0
        self.threshold = WHOLE
        coders: dict[str, Callable[[], _Values]] = {"host": _Hosts, "mime": _Types}
        self._values = coders.get(column, _Statuses)()

    def add(self, attributes: Attributes) -> None:
        """Take in the next crawl."""
        codes = self._values.code(attributes)
        self._cut(min(self.threshold, attributes.threshold))
        keys = self._below(attributes.keys)
        n_new = count_new(self._keys[: self._n_rows], keys)
        while self._n_rows + n_new > self._keys.size:
            self._cut(self.threshold // 2)
            keys = self._below(keys)
            n_new = count_new(self._keys[: self._n_rows], keys)
        merge_crawl(
            self._keys,
            self._codes,
            self._masks,
            self._n_rows,
            n_new,
            keys,
            codes[: keys.size],
            self._n_merged,
        )
        self._n_rows += n_new
        self._n_merged += 1

    @property
    def codes(self) -> NDArray[np.int32]:
        """For each URL the code of its value, −1 for none."""
        return self._codes[: self._n_rows]

    @property
    def masks(self) -> NDArray[np.uint64]:
        """For each URL the crawls that hold it."""
        return self._masks[: self._n_rows]

    def values(self) -> list[str]:
        """Return what the codes stand for."""
        return self._values.texts()

    def _cut(self, threshold: int) -> None:
        self.threshold = threshold
        self._n_rows = self._below(self._keys[: self._n_rows]).size

    def _below(self, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        if self.threshold == WHOLE:
            return keys
        return keys[: int(np.searchsorted(keys, np.uint64(self.threshold)))]


class _Hosts:
    def __init__(self) -> None:
        self._coding = HostCoding()

    def code(self, attributes: Attributes) -> NDArray[np.int32]:
        return self._coding.enter(attributes.hosts)[attributes.host_codes]

    def texts(self) -> list[str]:
        return _to_list(self._coding.strings())


class _Types:
    def __init__(self) -> None:
        self._coding = TypeCoding()

    def code(self, attributes: Attributes) -> NDArray[np.int32]:
        return self._coding.enter(attributes.mimes)[attributes.mime_codes]

    def texts(self) -> list[str]:
        return _to_list(self._coding.strings())


class _Statuses:
    def code(self, attributes: Attributes) -> NDArray[np.int32]:
        statuses = attributes.statuses
        is_status = (statuses >= 0) & (statuses < _N_STATUSES) & (statuses != NO_STATUS)
        return np.where(is_status, statuses, -1).astype(np.int32)

    def texts(self) -> list[str]:
        return [str(status) for status in range(_N_STATUSES)]


_Values = _Hosts | _Types | _Statuses


def _to_list(strings: pa.Array) -> list[str]:
    texts: list[str] = strings.to_pylist()
    return texts
