"""Host, media type and status of the URLs with the smallest keys of a crawl."""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.keys.dictionary_kernel import NO_CODE
from crawlgauge.keys.thresholds import KEY_BITS, WHOLE
from crawlgauge.sources.captures import Captures
from crawlgauge.store.attribute_coding import HostCoding, TypeCoding
from crawlgauge.store.attribute_kernel import (
    NO_STATUS,
    NO_TIME,
    ROW,
    choose_captures,
    choose_first,
    gather_rows,
    lengthen_columns,
    make_columns,
    merge_columns,
    pack_order,
    write_rows,
)

__all__ = ["MAX_KEYS", "NO_STATUS", "NO_TIME", "AttributeBuilder", "Attributes"]

MAX_KEYS = 1 << 22
"""Enough for some hundred strata of 2**14 URLs each, at 26 bytes of memory for each URL."""

_Number = TypeVar("_Number", bound=np.generic)

_MAX_PENDING = 1 << 20
"""A quarter of the keys: a merge, which passes over all of them, costs as much as the sort."""

_MAX_SPARE = 4
_spare: deque[NDArray[np.void]] = deque(maxlen=_MAX_SPARE)
"""Room for pending rows, from one crawl to the next: new memory comes slowly from the system."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attributes:
    """What is known of the first capture of each URL below a threshold of keys.

    Parameters
    ----------
    keys
        Sorted and unique.
    times
        Of each first capture, in seconds since 1970, UTC; `NO_TIME` where it is not known.
    statuses
        Its HTTP status; `NO_STATUS` where it is not known.
    host_codes, mime_codes
        Its host and media type: places in `hosts` and `mimes`, −1 where there is none.
    hosts, mimes
        Arrow arrays of distinct strings.
    threshold
        All keys of the crawl below it are here, and none of the others.
    """

    keys: NDArray[np.uint64]
    times: NDArray[np.int64]
    statuses: NDArray[np.int16]
    host_codes: NDArray[np.int32]
    mime_codes: NDArray[np.int32]
    hosts: pa.Array
    mimes: pa.Array
    threshold: int

    def __post_init__(self) -> None:
        columns = (self.keys, self.times, self.statuses, self.host_codes, self.mime_codes)
        if any(column.shape != self.keys.shape for column in columns):
            raise ValueError("the columns of attributes differ in length")
        if np.any(self.keys[1:] <= self.keys[:-1]):
            raise ValueError("the keys of attributes are not sorted and unique")
        if not 0 < self.threshold <= WHOLE or int(self.keys[-1:].sum()) >= self.threshold:
            raise ValueError("the keys of attributes are not below their threshold")
        for codes, texts in ((self.host_codes, self.hosts), (self.mime_codes, self.mimes)):
            if codes.size and not NO_CODE <= codes.min() <= codes.max() < len(texts):
                raise ValueError("attributes refer to a host or media type that is not there")
        for column in columns:
            column.flags.writeable = False

    def __len__(self) -> int:
        return int(self.keys.size)

    def below(self, threshold: int) -> "Attributes":
        """Return those of the keys below a threshold, without holding on to the others."""
        if threshold >= self.threshold:
            return self
        n_kept = int(np.searchsorted(self.keys, np.uint64(threshold)))
        return replace(
            self,
            keys=self.keys[:n_kept].copy(),
            times=self.times[:n_kept].copy(),
            statuses=self.statuses[:n_kept].copy(),
            host_codes=self.host_codes[:n_kept].copy(),
            mime_codes=self.mime_codes[:n_kept].copy(),
            threshold=threshold,
        )


class AttributeBuilder:
    """Collects the attributes of the smallest keys of one crawl, in bounded memory.

    What comes out does not depend on the order in which captures come in: of two captures of a
    URL at the same time, the one with the smaller status, media type and host counts, and what is
    missing comes last. Several threads must not share one: let each have its own, and let one
    `take_up` what the others have found.

    Parameters
    ----------
    limit
        How many keys are kept.
    threshold
        Only keys below it are taken.
    """

    def __init__(self, *, limit: int = MAX_KEYS, threshold: int = WHOLE) -> None:
        self._last_key = threshold - 1
        self._limit = limit
        self._kept = make_columns(0)
        self._n_kept = 0
        self._pending = _take_room()
        self._n_pending = 0
        self._hosts = HostCoding()
        self._types = TypeCoding()

    def add(self, keys: NDArray[np.uint64], captures: Captures) -> None:
        """Take in a batch.

        Parameters
        ----------
        keys
            Of each capture.
        captures
            With their times, statuses and media types where they have them.
        """
        keys = _read_only(keys)
        times = _read_times(captures.time)
        chosen = np.empty(keys.size, dtype=np.int64)
        chosen = chosen[: choose_captures(keys, times, np.uint64(self._last_key), chosen)]
        statuses = _read_statuses(captures.status)
        while chosen.size:
            part = chosen[: self._pending.size - self._n_pending]
            hosts, types = self._hosts.code(captures, part), self._types.code(captures, part)
            rows = self._pending[self._n_pending : self._n_pending + part.size]
            write_rows(keys, times, statuses, part, hosts, types, rows)
            self._n_pending += part.size
            chosen = chosen[part.size :]
            if self._n_pending == self._pending.size:
                self._compact()
                chosen = chosen[keys[chosen] <= self._last_key]

    def take_up(self, attributes: Attributes) -> None:
        """Take in what is known already of the same crawl, from its file or another builder."""
        self._compact()
        self._cut(attributes.threshold - 1)
        hosts, types = self._hosts.enter(attributes.hosts), self._types.enter(attributes.mimes)
        for start in range(0, len(attributes), self._pending.size):
            part = slice(start, start + self._pending.size)
            self._n_pending = attributes.keys[part].size
            rows = self._pending[: self._n_pending]
            rows["key"] = attributes.keys[part]
            rows["time"] = attributes.times[part]
            rows["status"] = attributes.statuses[part]
            rows["host"] = hosts[attributes.host_codes[part]]
            rows["mime"] = types[attributes.mime_codes[part]]
            self._merge()
        self._drop_unused()

    def finish(self) -> Attributes:
        """Return what is known of all captures; nothing can be added afterwards."""
        self._merge()
        self._drop_unused()
        # Parts of the columns are handed on as they are: what is behind them takes no memory.
        kept, n_kept = self._kept, self._n_kept
        _spare.append(self._pending)
        del self._kept, self._pending
        return Attributes(
            keys=kept.keys[:n_kept],
            times=kept.times[:n_kept],
            statuses=kept.statuses[:n_kept],
            host_codes=kept.hosts[:n_kept],
            mime_codes=kept.mimes[:n_kept],
            hosts=self._hosts.strings(),
            mimes=self._types.strings(),
            threshold=self._last_key + 1,
        )

    def _compact(self) -> None:
        self._merge()
        # However many texts come in, those that no row refers to do not pile up.
        if max(len(self._hosts), len(self._types)) > self._n_kept:
            self._drop_unused()

    def _merge(self) -> None:
        """Merge what is pending into what is kept."""
        if self._n_pending:
            rows = self._pending[: self._n_pending]
            tables = self._hosts.dictionary.table, self._types.dictionary.table
            n_row_bits = rows.size.bit_length()
            n_key_shift = KEY_BITS - int(rows["key"].max()).bit_length()
            packed = pack_order(rows, min(n_key_shift, KEY_BITS - 1), n_row_bits)
            packed.sort()
            order = choose_first(rows, packed, n_row_bits, *tables)
            self._make_room(order.size)
            if self._n_kept == 0:
                order = order[: self._limit]
                gather_rows(rows, order, self._kept)
                self._n_kept = order.size
            else:
                new = make_columns(order.size)
                gather_rows(rows, order, new)
                self._n_kept = merge_columns(self._kept, self._n_kept, new, *tables)
            self._n_pending = 0
        is_full = self._n_kept == self._limit
        self._cut(int(self._kept.keys[-1]) if is_full else self._last_key)

    def _make_room(self, n_more: int) -> None:
        """Let the columns be long enough for what is kept and for more."""
        n_needed, n_rows = self._n_kept + n_more, self._kept.keys.size
        if n_needed > n_rows < self._limit:
            self._kept = lengthen_columns(self._kept, min(self._limit, max(n_needed, 2 * n_rows)))

    def _cut(self, last_key: int) -> None:
        """Keep and take no keys above this one."""
        self._last_key = min(self._last_key, last_key)
        keys = self._kept.keys[: self._n_kept]
        self._n_kept = int(np.searchsorted(keys, np.uint64(self._last_key), side="right"))

    def _drop_unused(self) -> None:
        self._hosts.drop_unused(self._kept.hosts[: self._n_kept])
        self._types.drop_unused(self._kept.mimes[: self._n_kept])


def _take_room() -> NDArray[np.void]:
    # There may be none, and another thread may be faster.
    with suppress(IndexError):
        rows = _spare.pop()
        if rows.size == _MAX_PENDING:
            return rows
    return np.empty(_MAX_PENDING, dtype=ROW)


def _read_only(column: NDArray[_Number]) -> NDArray[_Number]:
    """Return the same view for all batches: numba compiles for each kind of them."""
    view = column.view()
    view.flags.writeable = False
    return view


def _read_times(column: NDArray[np.datetime64] | None) -> NDArray[np.int64]:
    if column is None:
        return _read_only(np.empty(0, dtype=np.int64))
    seconds, is_missing = column.view(np.int64), np.isnat(column)
    return _read_only(np.where(is_missing, NO_TIME, seconds) if is_missing.any() else seconds)


def _read_statuses(column: NDArray[np.int32] | None) -> NDArray[np.int32]:
    return _read_only(np.empty(0, dtype=np.int32) if column is None else column)
