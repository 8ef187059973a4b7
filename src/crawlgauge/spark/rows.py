"""What tasks hand to each other and to the driver: sorted keys, attributes and reports, in rows.

A row holds keys of one level of a crawl, some of its attributes, or the report of a task, and goes
to the task that its slot leads to: the one that merges the keys of its hash range.
"""

import pickle
from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.core.batch import ROW
from crawlgauge.core.sets import first_captures, sort_unique
from crawlgauge.ingest.builder import MAX_ATTRIBUTES
from crawlgauge.keys.names import Names
from crawlgauge.keys.sampling import KEY_BITS, WHOLE
from crawlgauge.store.attributes import Attributes

__all__ = [
    "ATTRIBUTES",
    "REPORT",
    "SCHEMA",
    "Row",
    "choose_bits",
    "cut_ranges",
    "gather",
    "key_rows",
    "merge_rows",
    "pack_attributes",
    "unpack_attributes",
]

SCHEMA = "slot bigint, label string, what string, part int, n bigint, total bigint, data binary"
"""`what` is a level, `ATTRIBUTES` or `REPORT`, and `part` a hash range. Of keys, `n` says how many
there are, and `total` is their sum modulo 2**64."""

ATTRIBUTES, REPORT = "attributes", "report"

Row = tuple[int, str, str, int, int, int, bytes]
"""As in the schema."""

Keys = NDArray[np.uint64]

_ARROW_SCHEMA = pa.schema(
    [
        ("slot", pa.int64()),
        ("label", pa.string()),
        ("what", pa.string()),
        ("part", pa.int32()),
        ("n", pa.int64()),
        ("total", pa.int64()),
        ("data", pa.binary()),
    ]
)
_KEYS_PER_ROW = 1 << 19
_BATCH_BYTES = 1 << 22
"""Enough for a batch to cost nothing, and little beside a task's memory."""


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


def cut_ranges(keys: Keys, range_bits: int) -> Iterator[tuple[int, int, int]]:
    """Yield for each hash range that has some of the keys which it is, and where they are.

    Parameters
    ----------
    keys
        Rising.
    range_bits
        How many leading bits tell ranges apart.
    """
    if keys.size == 0:
        return
    shift = KEY_BITS - range_bits
    parts = range(int(keys[0]) >> shift, (int(keys[-1]) >> shift) + 1)
    lows = np.array([part << shift for part in parts[1:]], np.uint64)
    bounds = [0, *np.searchsorted(keys, lows).tolist(), keys.size]
    for part, start, end in zip(parts, bounds, bounds[1:], strict=False):
        if start < end:
            yield part, start, end


def key_rows(keys: Keys, slot: int, label: str, level: str, part: int) -> Iterator[Row]:
    """Yield sorted keys of one hash range as rows; see `SCHEMA`."""
    for start in range(0, keys.size, _KEYS_PER_ROW):
        some = keys[start : start + _KEYS_PER_ROW]
        total = int(np.add.reduce(some).astype(np.int64))
        yield slot, label, level, part, some.size, total, some.tobytes()


def pack_attributes(found: Attributes, some: slice = slice(None)) -> bytes:
    """Return attributes, or some of them, as bytes, with only those texts that they refer to."""
    hosts, mimes = (*found.hosts, ""), (*found.mimes, "")
    # A text that is met again is but referred to.
    texts = (
        [hosts[code] for code in found.host_codes[some].tolist()],
        [mimes[code] for code in found.mime_codes[some].tolist()],
    )
    return pickle.dumps(((found.keys[some], found.times[some], found.statuses[some]), texts))


def unpack_attributes(data: bytes, names: Names) -> NDArray[np.void]:
    """Return attributes of a row as `ROW`.

    Parameters
    ----------
    data
        Of a row that a task has made.
    names
        Numbers hosts and media types.
    """
    (keys, times, statuses), (hosts, mimes) = pickle.loads(data)  # noqa: S301 - of our own tasks
    rows = np.zeros(keys.size, ROW)
    rows["key"], rows["time"], rows["status"] = keys, times, statuses
    rows["host"] = names.name_hosts([text.encode() for text in hosts])
    rows["mime"] = names.name_types([text.encode() for text in mimes])
    return rows


def gather(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Put rows together to batches of some megabytes."""
    waiting: list[Row] = []
    n_bytes = 0
    for row in rows:
        waiting.append(row)
        n_bytes += len(row[-1])
        if n_bytes >= _BATCH_BYTES:
            yield _to_batch(waiting)
            waiting, n_bytes = [], 0
    if waiting:
        yield _to_batch(waiting)


def _to_batch(rows: list[Row]) -> pa.RecordBatch:
    columns = [
        pa.array(values, field.type)
        for values, field in zip(zip(*rows, strict=True), _ARROW_SCHEMA, strict=True)
    ]
    return pa.record_batch(columns, schema=_ARROW_SCHEMA)


# --------------------------------------------------------------------------------------- merging


def merge_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge what tasks have found of the same hash ranges.

    The order in which rows come in leaves no trace: whatever task is run again, and
    wherever, the outcome is the same.

    Parameters
    ----------
    batches
        Rows of tasks that have read, all of some hash ranges.
    """
    return gather(_merge(batches))


def _merge(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    found: dict[tuple[int, str, str], list[bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            if row["what"] == REPORT:
                yield cast("Row", tuple(row.values()))
            else:
                place = row["part"], row["label"], row["what"]
                found.setdefault(place, []).append(row["data"])
    for place in sorted(found):
        part, label, what = place
        pieces = found.pop(place)
        if what == ATTRIBUTES:
            yield 0, label, what, part, 0, 0, _merge_attributes(pieces)
        else:
            keys = np.concatenate([np.frombuffer(piece, np.uint64) for piece in pieces])
            yield from key_rows(keys[: sort_unique(keys)], 0, label, what, part)


def _merge_attributes(pieces: Iterable[bytes]) -> bytes:
    """Keep the first capture of each key, and no more keys than a whole crawl can need."""
    names = Names()
    rows = np.concatenate([unpack_attributes(piece, names) for piece in pieces])
    rows = first_captures(rows, names.hosts, names.types)[: MAX_ATTRIBUTES + 1]
    return pack_attributes(
        Attributes(
            keys=np.ascontiguousarray(rows["key"]),
            times=np.ascontiguousarray(rows["time"]),
            statuses=np.ascontiguousarray(rows["status"]),
            host_codes=np.ascontiguousarray(rows["host"]),
            mime_codes=np.ascontiguousarray(rows["mime"]),
            hosts=tuple(text.decode() for text in names.hosts.texts()),
            mimes=tuple(text.decode() for text in names.types.texts()),
            threshold=WHOLE,
        )
    )
