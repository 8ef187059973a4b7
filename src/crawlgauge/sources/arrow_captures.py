"""From Arrow columns of any type to a batch of captures."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.record_kernel import GROUP, KEY, N_FIELDS, TIME, URL
from crawlgauge.sources.records import assemble
from crawlgauge.sources.request import Request

__all__ = ["to_captures"]

_MIN_SECONDS, _MAX_SECONDS = (
    int(np.datetime64(year, "s").astype(np.int64)) for year in ("1990", "2201")
)
"""As for times that are written in digits: others are mistakes."""


def to_captures(
    columns: Mapping[int, pa.Array],
    *,
    request: Request,
    name: str,
    n_before: int,
    group: bytes | None = None,
) -> Captures:
    """Make a batch of captures from columns, judged as the records of all other formats are.

    Parameters
    ----------
    columns
        By field of `record_kernel`, of equal lengths; less than 2 GiB together, as places in a
        block of records have 32 bits.
    request
        Which columns are wanted.
    name
        The input as the user named it.
    n_before
        How many rows stand before these.
    group
        The group of all rows, where no column tells it.

    Raises
    ------
    SourceError
        If a column's type is none that its field can have.
    """
    n_rows = len(columns[URL])
    times = None
    texts: dict[int, pa.Array] = {}
    for field, column in columns.items():
        if field == TIME and pa.types.is_temporal(column.type):
            times = _to_seconds(column, name)
        else:
            texts[field] = _to_binary(column, field, name)
    block, spans = _lay_out(texts, n_rows)
    verdicts = np.zeros(n_rows, dtype=np.uint8)
    bounds = np.maximum(spans[:, URL].astype(np.int64), 0)
    captures = assemble(
        block,
        spans,
        verdicts,
        request=request,
        name=name,
        bounds=bounds,
        place=0,
        first_line=n_before,
    )
    # A row has a number, but no place in the file that anybody could look up.
    examples = tuple(replace(example, offset=0) for example in captures.examples)
    captures = replace(captures, examples=examples)
    is_chosen = pa.array(verdicts == ACCEPTED)
    if times is not None and "time" in request.fields:
        captures = replace(captures, time=times.filter(is_chosen))
    if group is not None:
        captures = replace(captures, group=pa.repeat(pa.scalar(group, pa.binary()), len(captures)))
    return captures


def _to_seconds(column: pa.Array, name: str) -> pa.Array:
    """Return times in UTC, to which those with a zone are converted where they are stored."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.unit]
        numbers = column.cast(pa.timestamp(kind.unit)).cast(pa.int64())
    elif pa.types.is_date(kind):
        per_second = 1
        numbers = column.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.int64())
    else:
        raise _unusable(column, TIME, name)
    seconds = numbers.fill_null(0).to_numpy(zero_copy_only=False) // per_second
    if pa.types.is_date(kind):
        seconds = seconds * 86_400
    is_wrong = (seconds < _MIN_SECONDS) | (seconds >= _MAX_SECONDS)
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(seconds.view("datetime64[s]"), pa.timestamp("s"), mask=is_null | is_wrong)


def _to_binary(column: pa.Array, field: int, name: str) -> pa.Array:
    """Return a column as bytes; numbers as they are written."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.binary())
    if _is_text(kind):
        return column.cast(pa.binary())
    if field not in (URL, KEY):
        if pa.types.is_floating(kind):
            # A column of integers in which some are missing is often stored so.
            return _to_binary(_to_integers(column), field, name)
        if pa.types.is_integer(kind) or (field == GROUP and not pa.types.is_nested(kind)):
            return column.cast(pa.string()).cast(pa.binary())
    raise _unusable(column, field, name)


def _is_text(kind: pa.DataType) -> bool:
    return any(
        check(kind)
        for check in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
            pa.types.is_string_view,
            pa.types.is_binary_view,
        )
    )


def _to_integers(column: pa.Array) -> pa.Array:
    """Return whole numbers as integers, and null for all others."""
    numbers = column.cast(pa.float64()).fill_null(np.nan).to_numpy()
    is_whole = (np.abs(numbers) < 2.0**53) & (np.floor(numbers) == numbers)
    return pa.array(np.where(is_whole, numbers, 0).astype(np.int64), mask=~is_whole)


def _lay_out(
    texts: Mapping[int, pa.Array], n_rows: int
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Put the columns' bytes behind each other, and find where each row's field stands."""
    spans = np.full((n_rows, N_FIELDS, 2), -1, dtype=np.int32)
    pieces: list[NDArray[np.uint8]] = []
    n_bytes = 0
    for field, column in texts.items():
        _, offset_buffer, data_buffer = column.buffers()
        if n_rows == 0 or data_buffer is None or column.null_count == n_rows:
            continue
        offsets = np.frombuffer(offset_buffer, dtype=np.int32)
        offsets = offsets[column.offset : column.offset + n_rows + 1].astype(np.int64)
        first, last = int(offsets[0]), int(offsets[-1])
        spans[:, field, 0] = offsets[:-1] - first + n_bytes
        spans[:, field, 1] = offsets[1:] - first + n_bytes
        if column.null_count:
            spans[column.is_null().to_numpy(zero_copy_only=False), field] = -1
        pieces.append(np.frombuffer(data_buffer, dtype=np.uint8)[first:last])
        n_bytes += last - first
    return np.concatenate([np.empty(0, dtype=np.uint8), *pieces]), spans


def _unusable(column: pa.Array, field: int, name: str) -> SourceError:
    names = ("URL", "key", "time", "status", "media type", "digest", "group")
    return SourceError(
        f"{name}: the column for the {names[field]} holds {column.type}, which cannot be read as "
        "one; name another column or write it as text"
    )
