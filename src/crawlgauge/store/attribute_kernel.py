"""The first captures of the smallest keys, as sorted rows, in compiled code."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.dictionary_kernel import TextTable, compare_texts

__all__ = [
    "NO_STATUS",
    "NO_TIME",
    "ROW",
    "Columns",
    "choose_captures",
    "choose_first",
    "gather_rows",
    "lengthen_columns",
    "make_columns",
    "merge_columns",
    "pack_order",
    "write_rows",
]

_Number = TypeVar("_Number", bound=np.generic)

NO_TIME = np.iinfo(np.int64).max
"""Stands for a missing time, which comes after all others."""

NO_STATUS = np.iinfo(np.int16).max
"""Stands for a missing status, which comes after all others."""

ROW = np.dtype(
    [("key", "u8"), ("time", "i8"), ("host", "i4"), ("mime", "i4"), ("status", "i4")], align=True
)
"""Half a cache line: a row in any place costs one look into memory."""


class Columns(NamedTuple):
    """Rows that are read in their order, column by column."""

    keys: NDArray[np.uint64]
    times: NDArray[np.int64]
    statuses: NDArray[np.int16]
    hosts: NDArray[np.int32]
    mimes: NDArray[np.int32]


def make_columns(n_rows: int) -> Columns:
    """Make columns without content; memory that is never written to is not taken."""
    return Columns(
        keys=np.empty(n_rows, dtype=np.uint64),
        times=np.empty(n_rows, dtype=np.int64),
        statuses=np.empty(n_rows, dtype=np.int16),
        hosts=np.empty(n_rows, dtype=np.int32),
        mimes=np.empty(n_rows, dtype=np.int32),
    )


def lengthen_columns(columns: Columns, n_rows: int) -> Columns:
    """Copy columns to the beginning of longer ones."""

    def lengthen(column: NDArray[_Number]) -> NDArray[_Number]:
        longer = np.empty(n_rows, dtype=column.dtype)
        longer[: column.size] = column
        return longer

    return Columns(
        keys=lengthen(columns.keys),
        times=lengthen(columns.times),
        statuses=lengthen(columns.statuses),
        hosts=lengthen(columns.hosts),
        mimes=lengthen(columns.mimes),
    )


@compiled
def choose_captures(
    keys: NDArray[np.uint64],
    times: NDArray[np.int64],
    last_key: np.uint64,
    chosen: NDArray[np.int64],
) -> int:
    """Choose the captures whose keys are not too large, without repeats that follow each other.

    Parameters
    ----------
    keys, times
        Of each capture; no times at all if none is known.
    last_key
        The largest key that is wanted.
    chosen
        Filled with the numbers of the captures; as long as `keys`.

    Returns
    -------
    int
        How many are chosen.
    """
    n_chosen = 0
    for number in range(keys.size):
        chosen[n_chosen] = number
        is_wanted = keys[number] <= last_key
        if is_wanted and n_chosen > 0 and times.size > 0:
            before = chosen[n_chosen - 1]
            is_wanted = keys[before] != keys[number] or times[before] >= times[number]
        n_chosen += is_wanted
    return n_chosen


@compiled
def write_rows(
    keys: NDArray[np.uint64],
    times: NDArray[np.int64],
    statuses: NDArray[np.int32],
    chosen: NDArray[np.int64],
    hosts: NDArray[np.int32],
    mimes: NDArray[np.int32],
    rows: NDArray[np.void],
) -> None:
    """Write a row for each chosen capture.

    Parameters
    ----------
    keys, times, statuses
        Of each capture; no times or statuses at all if none is known.
    chosen, hosts, mimes
        Numbers of captures, and the codes of each of them.
    rows
        Filled; as long as `chosen`.
    """
    for place in range(chosen.size):
        number = chosen[place]
        row = rows[place]
        row.key = keys[number]
        row.time = times[number] if times.size > 0 else NO_TIME
        row.host = hosts[place]
        row.mime = mimes[place]
        status = statuses[number] if statuses.size > 0 else NO_STATUS
        row.status = status if -NO_STATUS <= status <= NO_STATUS else NO_STATUS


@compiled
def pack_order(rows: NDArray[np.void], n_key_shift: int, n_row_bits: int) -> NDArray[np.uint64]:
    """Return the leading bits of each key with the row's number behind them, to be sorted.

    One sort of plain words then orders keys and rows together.

    Parameters
    ----------
    rows
        Not more than ``2**n_row_bits``.
    n_key_shift
        How many leading bits are zero in all keys, and left out.
    n_row_bits
        How many bits the row's number takes.
    """
    packed = np.empty(rows.size, dtype=np.uint64)
    row_mask = (np.uint64(1) << np.uint64(n_row_bits)) - np.uint64(1)
    for number in range(rows.size):
        key = rows[number].key << np.uint64(n_key_shift)
        packed[number] = (key & ~row_mask) | np.uint64(number)
    return packed


@compiled
def choose_first(
    rows: NDArray[np.void],
    packed: NDArray[np.uint64],
    n_row_bits: int,
    hosts: TextTable,
    mimes: TextTable,
) -> NDArray[np.int64]:
    """Return the row of the first capture of each key, in the order of keys.

    Parameters
    ----------
    rows
        In any order.
    packed, n_row_bits
        As of `pack_order`, sorted.
    hosts, mimes
        What the codes in the rows stand for.
    """
    host_starts, host_texts = hosts.starts, hosts.texts
    mime_starts, mime_texts = mimes.starts, mimes.texts
    row_mask = (np.uint64(1) << np.uint64(n_row_bits)) - np.uint64(1)
    order = np.empty(packed.size, dtype=np.int64)
    for place in range(packed.size):
        order[place] = np.int64(packed[place] & row_mask)
    n_first = 0
    start = 0
    while start < packed.size:
        end = start + 1
        while end < packed.size and (packed[end] ^ packed[start]) <= row_mask:
            end += 1
        if end - start > 1:
            _sort_by_key(rows, order, start, end)
        best = order[start]
        for place in range(start + 1, end):
            other = order[place]
            if rows[other].key != rows[best].key:
                order[n_first] = best
                n_first += 1
                best = other
            elif _comes_before(
                rows[other].time,
                rows[other].status,
                rows[other].host,
                rows[other].mime,
                rows[best].time,
                rows[best].status,
                rows[best].host,
                rows[best].mime,
                host_starts,
                host_texts,
                mime_starts,
                mime_texts,
            ):
                best = other
        order[n_first] = best
        n_first += 1
        start = end
    return order[:n_first]


@compiled
def _sort_by_key(rows: NDArray[np.void], order: NDArray[np.int64], start: int, end: int) -> None:
    """Sort a part of `order` by the whole keys, if they are not all the same."""
    is_sorted = True
    for place in range(start + 1, end):
        is_sorted &= rows[order[place - 1]].key <= rows[order[place]].key
    if is_sorted:
        return
    keys = np.empty(end - start, dtype=np.uint64)
    for place in range(start, end):
        keys[place - start] = rows[order[place]].key
    order[start:end] = order[start:end][np.argsort(keys)]


@compiled
def _comes_before(
    time: int,
    status: int,
    host: int,
    mime: int,
    other_time: int,
    other_status: int,
    other_host: int,
    other_mime: int,
    host_starts: NDArray[np.int64],
    host_texts: NDArray[np.uint8],
    mime_starts: NDArray[np.int64],
    mime_texts: NDArray[np.uint8],
) -> bool:
    """Tell whether a capture is earlier; of two at the same time the one of smaller values is.

    What is missing comes last. Texts are compared, not their codes, which depend on the order in
    which captures were met.
    """
    if time != other_time:
        return time < other_time
    if status != other_status:
        return status < other_status
    difference = compare_texts(mime_starts, mime_texts, mime, other_mime)
    if difference == 0:
        difference = compare_texts(host_starts, host_texts, host, other_host)
    return difference < 0


@compiled
def gather_rows(rows: NDArray[np.void], order: NDArray[np.int64], target: Columns) -> None:
    """Copy rows in a given order to the beginning of columns."""
    keys, times, statuses, hosts, mimes = target
    for place in range(order.size):
        row = rows[order[place]]
        keys[place] = row.key
        times[place] = row.time
        statuses[place] = row.status
        hosts[place] = row.host
        mimes[place] = row.mime


@compiled
def merge_columns(
    kept: Columns, n_kept: int, new: Columns, hosts: TextTable, mimes: TextTable
) -> int:
    """Merge rows into those that are kept, as many of the smallest keys as there is room for.

    Two passes and no further memory: from the smallest key on, rows whose key is kept already
    replace the kept row or are dropped; from the largest key on, the others are put in their
    places, which lie behind all kept rows that are still to be moved.

    Parameters
    ----------
    kept, n_kept
        The first `n_kept` are in use: sorted, one for each key.
    new
        The rows to merge: sorted, one for each key; changed.
    hosts, mimes
        What the codes in all rows stand for.

    Returns
    -------
    int
        How many rows are kept now.
    """
    keys, times, statuses, host_codes, mime_codes = kept
    new_keys, new_times, new_statuses, new_hosts, new_mimes = new
    last = _replace_later(kept, n_kept, new, hosts, mimes) - 1
    old = n_kept - 1
    while old + last + 2 > keys.size:
        if last < 0 or (old >= 0 and keys[old] > new_keys[last]):
            old -= 1
        else:
            last -= 1
    n_merged = old + last + 2
    while last >= 0:
        target = old + last + 1
        if old >= 0 and keys[old] > new_keys[last]:
            keys[target] = keys[old]
            times[target] = times[old]
            statuses[target] = statuses[old]
            host_codes[target] = host_codes[old]
            mime_codes[target] = mime_codes[old]
            old -= 1
        else:
            keys[target] = new_keys[last]
            times[target] = new_times[last]
            statuses[target] = new_statuses[last]
            host_codes[target] = new_hosts[last]
            mime_codes[target] = new_mimes[last]
            last -= 1
    return n_merged


@compiled
def _replace_later(
    kept: Columns, n_kept: int, new: Columns, hosts: TextTable, mimes: TextTable
) -> int:
    """Let new rows replace later captures of the same key; move those of other keys to the front.

    Returns
    -------
    int
        How many have other keys.
    """
    keys, times, statuses, host_codes, mime_codes = kept
    new_keys, new_times, new_statuses, new_hosts, new_mimes = new
    host_starts, host_texts = hosts.starts, hosts.texts
    mime_starts, mime_texts = mimes.starts, mimes.texts
    n_new, old = 0, 0
    for place in range(new_keys.size):
        key = new_keys[place]
        while old < n_kept and keys[old] < key:
            old += 1
        if old < n_kept and keys[old] == key:
            if _comes_before(
                new_times[place],
                new_statuses[place],
                new_hosts[place],
                new_mimes[place],
                times[old],
                statuses[old],
                host_codes[old],
                mime_codes[old],
                host_starts,
                host_texts,
                mime_starts,
                mime_texts,
            ):
                times[old] = new_times[place]
                statuses[old] = new_statuses[place]
                host_codes[old] = new_hosts[place]
                mime_codes[old] = new_mimes[place]
        else:
            new_keys[n_new] = key
            new_times[n_new] = new_times[place]
            new_statuses[n_new] = new_statuses[place]
            new_hosts[n_new] = new_hosts[place]
            new_mimes[n_new] = new_mimes[place]
            n_new += 1
    return n_new
