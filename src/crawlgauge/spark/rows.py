"""What tasks hand to each other and to the driver: sorted keys, attributes and reports, in rows.

A row holds keys of one level of a crawl, some of its attributes, or the report of a task, and goes
to the task that its slot leads to: the one that merges the keys of its hash range.
"""

import pickle
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.core.batch import ROW
from crawlgauge.core.sets import first_captures, sort_unique
from crawlgauge.ingest.builder import MAX_ATTRIBUTES
from crawlgauge.keys.names import Names
from crawlgauge.keys.sampling import KEY_BITS, WHOLE

__all__ = [
    *("ATTRIBUTES", "REPORT", "SCHEMA", "Row", "choose_bits", "cut_ranges", "merge_rows"),
    *("pack_attributes", "pack_keys", "to_batches", "unpack_attributes"),
]

SCHEMA = "slot bigint, label string, what string, part bigint, n bigint, total bigint, data binary"
"""`what` is a level, `ATTRIBUTES` or `REPORT`, and `part` a hash range. Of keys, `n` says how many
there are, and `total` is their sum modulo 2**64."""

Row = tuple[int, str, str, int, int, int, bytes]
ATTRIBUTES, REPORT = "attributes", "report"

_NAMES = [column.split()[0] for column in SCHEMA.split(", ")]
_KEYS_PER_ROW = 1 << 19
_BATCH_BYTES = 1 << 22
"""Enough for a batch to cost nothing, and little beside a task's memory."""

Keys = NDArray[np.uint64]


def choose_bits(n_ranges: int, threshold: int) -> int:
    """Return by how many leading bits keys below a threshold are cut into so many ranges.

    Examples
    --------
    >>> choose_bits(8, WHOLE), choose_bits(8, 1 << 58)
    (3, 9)
    """
    # Of a sample, only some of the ranges have keys.
    n_beyond = (WHOLE // threshold).bit_length() - 1
    return min(KEY_BITS, (n_ranges - 1).bit_length() + n_beyond)


def cut_ranges(keys: Keys, range_bits: int) -> Iterator[tuple[int, slice]]:
    """Yield each hash range that has some of the keys, and where they are.

    Parameters
    ----------
    keys
        Rising.
    range_bits
        How many leading bits tell ranges apart.
    """
    if keys.size:
        shift = KEY_BITS - range_bits
        parts = range(int(keys[0]) >> shift, (int(keys[-1]) >> shift) + 1)
        lows = np.array([part << shift for part in parts[1:]], np.uint64)
        bounds = pairwise([0, *np.searchsorted(keys, lows).tolist(), keys.size])
        for part, (start, end) in zip(parts, bounds, strict=True):
            if start < end:
                yield part, slice(start, end)


def pack_keys(keys: Keys, slot: int, label: str, level: str, part: int) -> Iterator[Row]:
    """Yield sorted keys of one hash range as rows; see `SCHEMA`."""
    for start in range(0, keys.size, _KEYS_PER_ROW):
        some = keys[start : start + _KEYS_PER_ROW]
        total = int(np.add.reduce(some).astype(np.int64))
        yield slot, label, level, part, some.size, total, some.tobytes()


def pack_attributes(
    columns: Iterable[NDArray[np.integer]], hosts: Iterable[str], mimes: Iterable[str]
) -> bytes:
    """Return attributes as bytes, with only those texts that they refer to.

    Parameters
    ----------
    columns
        Keys, times, statuses, and codes of hosts and media types.
    hosts, mimes
        What the codes stand for.
    """
    *numbers, host_codes, mime_codes = map(np.ascontiguousarray, columns)
    of_hosts, of_mimes = [*hosts, ""], [*mimes, ""]
    # A text that is met again is but referred to.
    texts = [of_hosts[code] for code in host_codes], [of_mimes[code] for code in mime_codes]
    return pickle.dumps((numbers, texts))


def unpack_attributes(data: bytes, names: Names) -> NDArray[np.void]:
    """Return attributes as `ROW`.

    Parameters
    ----------
    data
        As `pack_attributes` has made it.
    names
        Numbers hosts and media types.
    """
    numbers, (hosts, mimes) = pickle.loads(data)  # noqa: S301 - of our own tasks
    rows = np.zeros(len(hosts), ROW)
    rows["key"], rows["time"], rows["status"] = numbers
    rows["host"] = names.name_hosts([text.encode() for text in hosts])
    rows["mime"] = names.name_types([text.encode() for text in mimes])
    return rows


def to_batches(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Put rows together to batches of some megabytes."""
    waiting: list[Row] = []
    n_bytes = 0
    for row in rows:
        waiting.append(row)
        n_bytes += len(row[-1])
        if n_bytes >= _BATCH_BYTES:
            yield pa.record_batch(list(map(pa.array, zip(*waiting, strict=True))), _NAMES)
            waiting, n_bytes = [], 0
    if waiting:
        yield pa.record_batch(list(map(pa.array, zip(*waiting, strict=True))), _NAMES)


def merge_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge what tasks have found of the same hash ranges.

    The order in which rows come in leaves no trace: whatever task is run again, and wherever, the
    outcome is the same.

    Parameters
    ----------
    batches
        Rows of tasks that have read, all of some hash ranges.
    """
    return to_batches(_merge(batches))


def _merge(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    found: dict[tuple[int, str, str], list[bytes]] = {}
    for batch in batches:
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            _, label, what, part, _, _, data = row
            if what == REPORT:
                yield row
            else:
                found.setdefault((part, label, what), []).append(data)
    for place in sorted(found):
        part, label, what = place
        pieces = found.pop(place)
        if what == ATTRIBUTES:
            yield 0, label, what, part, 0, 0, _merge_attributes(pieces)
        else:
            keys = np.concatenate([np.frombuffer(piece, np.uint64) for piece in pieces])
            yield from pack_keys(keys[: sort_unique(keys)], 0, label, what, part)


def _merge_attributes(pieces: list[bytes]) -> bytes:
    """Keep the first capture of each key, and no more keys than a whole crawl can need."""
    names = Names()
    rows = np.concatenate([unpack_attributes(piece, names) for piece in pieces])
    rows = first_captures(rows, names.hosts, names.types)[: MAX_ATTRIBUTES + 1]
    texts = ([text.decode() for text in table.texts()] for table in (names.hosts, names.types))
    return pack_attributes(
        [rows[name] for name in ("key", "time", "status", "host", "mime")], *texts
    )
