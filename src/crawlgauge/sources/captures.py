"""What a reader yields: batches of captures as Arrow columns, with what it had to leave out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["COLUMN_TYPES", "Captures", "Rejection", "binary_buffers"]

COLUMN_TYPES = MappingProxyType(
    {
        "url": pa.binary(),
        "key": pa.binary(),
        "time": pa.timestamp("s"),
        "status": pa.int32(),
        "revisit": pa.bool_(),
        "mime": pa.binary(),
        "digest": pa.binary(),
        "group": pa.binary(),
    }
)
"""The columns of a batch and their types; all but the URL may be missing or hold nulls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An example of a record that is no capture, and where it stands.

    Parameters
    ----------
    file
        The input as the user named it.
    line
        Its line, from 1; None where there are no lines or they can no longer be counted.
    offset
        Its first byte, from 0, in the decompressed input.
    reason
        Why it was rejected, as a slug such as ``no-scheme``.
    text
        Its beginning, readable on a terminal.
    """

    file: str
    line: int | None
    offset: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Captures:
    """A batch of captures in Arrow columns of equal length.

    Parameters
    ----------
    url
        URLs as bytes, as the input has them; never null.
    key
        The key by which the index file sorts them.
    time
        When the URL was captured, in UTC.
    status
        With which HTTP status; Heritrix's negative codes where nothing was fetched.
    revisit
        Whether the record says that the content was the same as before.
    mime
        As which media type.
    digest
        The payload's digest, as the input has it.
    group
        The field by which a collection is cut into crawls, such as the WARC file's name.
    rejected
        How many records of the batch were no captures, by reason.
    excluded
        How many records of the batch were captures of something that does not count, by reason.
    examples
        The first of the rejected records.

    Notes
    -----
    A column is None where the format does not have it or nobody asked for it.
    """

    url: pa.Array
    key: pa.Array | None = None
    time: pa.Array | None = None
    status: pa.Array | None = None
    revisit: pa.Array | None = None
    mime: pa.Array | None = None
    digest: pa.Array | None = None
    group: pa.Array | None = None
    rejected: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Rejection, ...] = ()

    def __post_init__(self) -> None:
        for name, column in self.columns().items():
            if column.type != COLUMN_TYPES[name]:
                raise TypeError(f"{name} must be {COLUMN_TYPES[name]}, not {column.type}")
            if len(column) != len(self.url):
                raise ValueError("the columns of a batch differ in length")
        object.__setattr__(self, "rejected", MappingProxyType(dict(self.rejected)))
        object.__setattr__(self, "excluded", MappingProxyType(dict(self.excluded)))

    def __len__(self) -> int:
        return len(self.url)

    def columns(self) -> dict[str, pa.Array]:
        """Return the columns that the batch has, by name."""
        named = {name: getattr(self, name) for name in COLUMN_TYPES}
        return {name: column for name, column in named.items() if column is not None}


def binary_buffers(column: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return all bytes of a binary column, and where each value begins and the last ends."""
    _, offset_buffer, data_buffer = column.buffers()
    first, last = column.offset, column.offset + len(column) + 1
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[first:last]
    # An array of empty strings only has no data buffer at all.
    data = np.frombuffer(data_buffer or b"\0", dtype=np.uint8)
    # Whether Arrow lets one write differs from batch to batch, and numba compiles for each.
    data.flags.writeable = offsets.flags.writeable = False
    return data, offsets
