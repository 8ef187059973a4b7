"""What tasks hand to each other: sorted keys, attributes and counts, in a few rows of bytes."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crawlgauge.keys.thresholds import KEY_BITS, WHOLE
from crawlgauge.store.attributes import Attributes

__all__ = [
    "ATTRIBUTES",
    "FACTS",
    "KEYS",
    "SPARK_SCHEMA",
    "attribute_rows",
    "decode_attributes",
    "decode_keys",
    "encode_attributes",
    "facts_row",
    "key_rows",
    "make_row",
    "table_of",
]

KEYS, ATTRIBUTES, FACTS = range(3)
"""Kinds of rows."""

SPARK_SCHEMA = (
    "slot bigint, kind int, label string, level string, part int, n bigint, n_first bigint, "
    "total bigint, data binary"
)
_ARROW_SCHEMA = pa.schema(
    [
        ("slot", pa.int64()),
        ("kind", pa.int32()),
        ("label", pa.string()),
        ("level", pa.string()),
        ("part", pa.int32()),
        ("n", pa.int64()),
        ("n_first", pa.int64()),
        ("total", pa.int64()),
        ("data", pa.binary()),
    ]
)
"""A row goes to the task that `slot` leads to; `part` is its hash range. Of keys, `n` says how
many there are, `n_first` how many of these are in the first of the parts that tell their number,
and `total` is their sum, modulo 2**64."""

_KEYS_PER_ROW = 1 << 19
"""Four megabytes: enough for a row to cost nothing, and little beside a task's memory."""

_Keys = NDArray[np.uint64]
_COLUMNS = pa.schema(
    [
        ("key", pa.uint64()),
        ("time", pa.int64()),
        ("status", pa.int16()),
        ("host", pa.dictionary(pa.int32(), pa.string())),
        ("mime", pa.dictionary(pa.int32(), pa.string())),
    ]
)


def make_row(
    kind: int,
    data: bytes,
    *,
    slot: int,
    label: str = "",
    level: str = "",
    part: int = 0,
    n: int = 0,
    n_first: int = 0,
    total: int = 0,
) -> pa.RecordBatch:
    """Return one row as a batch; see the schema for what its columns mean."""
    values = (slot, kind, label, level, part, n, n_first, total, data)
    arrays = [
        pa.array([value], field.type) for value, field in zip(values, _ARROW_SCHEMA, strict=True)
    ]
    return pa.record_batch(arrays, schema=_ARROW_SCHEMA)


def key_rows(
    keys: _Keys, *, slot: int, label: str, level: str, part: int, first_end: int
) -> Iterator[pa.RecordBatch]:
    """Yield sorted keys of one hash range as rows.

    Parameters
    ----------
    keys
        May be none: then there is no row.
    slot, label, level, part
        As in the schema.
    first_end
        Keys below it are counted apart.
    """
    for start in range(0, keys.size, _KEYS_PER_ROW):
        some = keys[start : start + _KEYS_PER_ROW]
        n_first = some.size
        if first_end < WHOLE:
            n_first = int(np.searchsorted(some, np.uint64(first_end)))
        yield make_row(
            KEYS,
            np.ascontiguousarray(some, dtype="<u8").tobytes(),
            slot=slot,
            label=label,
            level=level,
            part=part,
            n=some.size,
            n_first=n_first,
            total=int(np.add.reduce(some).astype(np.int64)),
        )


def decode_keys(data: bytes) -> _Keys:
    """Return the keys of a row."""
    return np.frombuffer(data, dtype="<u8").astype(np.uint64, copy=False)


def facts_row(facts: dict[str, Any], slot: int) -> pa.RecordBatch:
    """Return what a task has counted as a row."""
    return make_row(FACTS, json.dumps(facts).encode(), slot=slot)


def attribute_rows(
    attributes: Attributes, *, slots: list[int], label: str, range_bits: int
) -> Iterator[pa.RecordBatch]:
    """Yield the attributes of each hash range as rows."""
    if len(attributes) == 0:
        return
    table = table_of(attributes)
    shift = np.uint64(KEY_BITS - range_bits) if range_bits else None
    numbers = np.zeros(len(attributes), dtype=np.int64)
    if shift is not None:
        numbers = (attributes.keys >> shift).astype(np.int64)
    parts, starts = np.unique(numbers, return_index=True)
    for part, (start, end) in zip(
        parts.tolist(), pairwise([*starts.tolist(), len(attributes)]), strict=True
    ):
        some = table.slice(start, end - start)
        yield make_row(
            ATTRIBUTES,
            encode_attributes(some),
            slot=slots[part],
            label=label,
            part=part,
            n=some.num_rows,
        )


def table_of(attributes: Attributes) -> pa.Table:
    """Return attributes as a table."""
    columns = [
        pa.array(attributes.keys),
        pa.array(attributes.times),
        pa.array(attributes.statuses),
        _dictionary(attributes.host_codes, attributes.hosts),
        _dictionary(attributes.mime_codes, attributes.mimes),
    ]
    return pa.table(columns, schema=_COLUMNS)


def encode_attributes(table: pa.Table) -> bytes:
    """Return a table of attributes as bytes, with only those texts that it refers to."""
    for place, name in enumerate(_COLUMNS.names):
        if pa.types.is_dictionary(_COLUMNS.field(name).type):
            texts = table.column(name).combine_chunks().cast(pa.string())
            encoded = pc.dictionary_encode(texts)
            table = table.set_column(place, _COLUMNS.field(name), encoded)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _COLUMNS) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_attributes(pieces: list[bytes], threshold: int = WHOLE) -> Attributes:
    """Return the attributes of rows whose keys rise from one to the next.

    Parameters
    ----------
    pieces
        As `encode_attributes` returns them.
    threshold
        What is at it or above is left out.
    """
    tables = [pa.ipc.open_stream(piece).read_all() for piece in pieces]
    table = pa.concat_tables([_COLUMNS.empty_table(), *tables]).unify_dictionaries()
    table = table.combine_chunks()
    keys = table.column("key").to_numpy()
    if threshold < WHOLE:
        table = table.slice(0, int(np.searchsorted(keys, np.uint64(threshold))))
    hosts, mimes = (_codes(table.column(name)) for name in ("host", "mime"))
    return Attributes(
        keys=table.column("key").to_numpy().copy(),
        times=table.column("time").to_numpy().copy(),
        statuses=table.column("status").to_numpy().copy(),
        host_codes=hosts[0],
        hosts=hosts[1],
        mime_codes=mimes[0],
        mimes=mimes[1],
        threshold=threshold,
    )


def _dictionary(codes: NDArray[np.int32], texts: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)


def _codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    if column.num_chunks == 0:
        return np.empty(0, dtype=np.int32), pa.array([], pa.string())
    whole = column.combine_chunks() if column.num_chunks > 1 else column.chunk(0)
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32).copy(), whole.dictionary
