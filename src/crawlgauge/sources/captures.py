"""What a reader yields: batches of captures in columns, with what it had to leave out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.sources.texts import Texts

__all__ = [
    "COLUMN_TYPES",
    "NOT_HTML",
    "NO_STATUS",
    "NO_TEXT",
    "Captures",
    "Rejection",
    "binary_buffers",
]

COLUMN_TYPES = MappingProxyType(
    {
        "url": pa.binary(),
        "key": pa.binary(),
        "time": pa.timestamp("s"),
        "status": pa.int32(),
        "revisit": pa.bool_(),
        "mime": pa.binary(),
        "digest": pa.binary(),
        "text": pa.uint64(),
        "group": pa.binary(),
    }
)
"""The columns of a batch and their types as Arrow has them; all but the URL may be missing."""

NO_STATUS = -(2**31)
"""Stands for a status that is not known."""

NO_TEXT, NOT_HTML = 0, 1
"""Stand for a text that is not known, and for that of what is no HTML page."""

_DTYPES = MappingProxyType(
    {
        "time": np.dtype("datetime64[s]"),
        "status": np.dtype(np.int32),
        "revisit": np.dtype(np.bool_),
        "text": np.dtype(np.uint64),
    }
)
"""The types of the columns that do not hold texts."""


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
    """A batch of captures in columns of equal length, that cannot be changed.

    Parameters
    ----------
    url
        URLs as bytes, as the input has them; all null where nobody needs them beside the keys.
    key
        The key by which the index file sorts them.
    time
        When the URL was captured, in UTC; "not a time" where that is not known.
    status
        With which HTTP status; Heritrix's negative codes where nothing was fetched, and `NO_STATUS`
        where it is not known.
    revisit
        Whether the record says that the content was the same as before.
    mime
        As which media type.
    digest
        The payload's digest, as the input has it.
    text
        A fingerprint of the page's text; `NO_TEXT` or `NOT_HTML` where there is none.
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
    A column is None where the format does not have it or nobody asked for it. All may be given as
    Arrow columns too.
    """

    url: Texts
    key: Texts | None = None
    time: NDArray[np.datetime64] | None = None
    status: NDArray[np.int32] | None = None
    revisit: NDArray[np.bool_] | None = None
    mime: Texts | None = None
    digest: Texts | None = None
    text: NDArray[np.uint64] | None = None
    group: Texts | None = None
    rejected: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Rejection, ...] = ()

    def __post_init__(self) -> None:
        for name in COLUMN_TYPES:
            column = getattr(self, name)
            if column is None:
                continue
            if isinstance(column, pa.Array):
                column = _from_arrow(name, column)
                object.__setattr__(self, name, column)
            if len(column) != len(self.url):
                raise ValueError("the columns of a batch differ in length")
            if isinstance(column, np.ndarray):
                if column.dtype != _DTYPES[name]:
                    raise TypeError(f"{name} must be {_DTYPES[name]}, not {column.dtype}")
                column.flags.writeable = False
        object.__setattr__(self, "rejected", MappingProxyType(dict(self.rejected)))
        object.__setattr__(self, "excluded", MappingProxyType(dict(self.excluded)))

    def __len__(self) -> int:
        return len(self.url)

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes: the texts of a batch mostly stand in one buffer."""
        return max(self.url.data.size, 0 if self.key is None else self.key.data.size)

    def columns(self) -> dict[str, pa.Array]:
        """Return the columns that the batch has as Arrow columns, by name."""
        return {
            name: _to_arrow(name, column)
            for name in COLUMN_TYPES
            if (column := getattr(self, name)) is not None
        }

    def take(self, chosen: NDArray[np.int64], excluded: Mapping[str, int]) -> "Captures":
        """Return some of the captures of a batch.

        Parameters
        ----------
        chosen
            Their numbers.
        excluded
            How many captures of the batch do not count, by reason.
        """
        columns: dict[str, Any] = {
            name: column.take(chosen)
            for name in COLUMN_TYPES
            if (column := getattr(self, name)) is not None
        }
        return Captures(
            **columns, rejected=self.rejected, excluded=excluded, examples=self.examples
        )


_Column = (
    Texts | NDArray[np.datetime64] | NDArray[np.int32] | NDArray[np.bool_] | NDArray[np.uint64]
)


def _from_arrow(name: str, column: pa.Array) -> _Column:
    kind = COLUMN_TYPES[name]
    if column.type != kind:
        raise TypeError(f"{name} must be {kind}, not {column.type}")
    if kind == pa.binary():
        return Texts.of(column)
    if name == "status":
        column = column.fill_null(NO_STATUS)
    values: _Column = column.to_numpy(zero_copy_only=False)
    return values


def _to_arrow(name: str, column: _Column) -> pa.Array:
    if isinstance(column, Texts):
        return column.to_arrow()
    is_missing = column == NO_STATUS if name == "status" else None
    return pa.array(column, COLUMN_TYPES[name], mask=is_missing)


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
