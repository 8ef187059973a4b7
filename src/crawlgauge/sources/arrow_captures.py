"""From Arrow columns of any type to a batch of captures."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.arrow_columns import find_missing, to_column, to_values
from crawlgauge.errors import SourceError
from crawlgauge.sources import column_kernel
from crawlgauge.sources.captures import NO_STATUS, Captures, Rejection
from crawlgauge.sources.left_out import LeftOut, count_left_out
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.record_kernel import (
    DIGEST,
    GROUP,
    KEY,
    MAX_STATUS_DIGITS,
    MIME,
    STATUS,
    TIME,
    URL,
)
from crawlgauge.sources.records import MAX_URL_BYTES
from crawlgauge.sources.request import Request
from crawlgauge.sources.texts import Texts
from crawlgauge.sources.time_kernel import NO_TIME

__all__ = ["to_captures"]

_MIN_SECONDS, _MAX_SECONDS = (
    int(np.datetime64(year, "s").astype(np.int64)) for year in ("1990", "2201")
)
"""As for times that are written in digits: others are mistakes."""

_NO_TEXT = pa.nulls(1, pa.binary())
_TEXTS = (("key", KEY), ("mime", MIME), ("digest", DIGEST))


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
        By field of `record_kernel`, of equal lengths. Without a URL all rows are captures.
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
    ArrowInvalid
        If a column refers to texts that are not there.
    """
    n_rows = len(next(iter(columns.values())))
    verdicts = np.zeros(n_rows, dtype=np.uint8)
    urls = _to_texts(columns, URL, n_rows, name)
    found: dict[str, Any] = {"url": _judge_urls(urls, verdicts) if URL in columns else urls}
    mime = _to_texts(columns, MIME, n_rows, name)
    for column_name, field in _TEXTS:
        if column_name in request.fields:
            found[column_name] = mime if field == MIME else _to_texts(columns, field, n_rows, name)
    if "time" in request.fields:
        found["time"] = _to_times(columns.get(TIME), n_rows, name)
    if "status" in request.fields:
        found["status"] = _to_statuses(columns.get(STATUS), n_rows, name)
        found["revisit"] = np.empty(n_rows, dtype=np.bool_)
        column_kernel.find_revisits(mime.data, mime.starts, mime.ends, found["revisit"])
    if group is not None:
        found["group"] = Texts.of(pa.repeat(pa.scalar(group, pa.binary()), n_rows))
    elif request.group is not None:
        found["group"] = _to_texts(columns, GROUP, n_rows, name)
    left_out = count_left_out(verdicts)
    if left_out.n_chosen < n_rows:
        chosen = np.flatnonzero(verdicts == ACCEPTED)
        found = {column_name: column.take(chosen) for column_name, column in found.items()}
    return Captures(
        **found,
        rejected=left_out.rejected,
        excluded=left_out.excluded,
        examples=_show_rejected(left_out, urls, name, n_before) if left_out.rejected else (),
    )


def _show_rejected(
    left_out: LeftOut, urls: Texts, name: str, n_before: int
) -> tuple[Rejection, ...]:
    bounds = np.maximum(np.stack([urls.starts, urls.ends], axis=1), 0).astype(np.int64)
    # A row has a number, but no place in the file that anybody could look up.
    return left_out.examples(urls.data, bounds, name=name, first_line=n_before)


def _judge_urls(urls: Texts, verdicts: NDArray[np.uint8]) -> Texts:
    """Judge URLs, and return them without the space around them."""
    firsts, lasts = np.empty_like(urls.starts), np.empty_like(urls.ends)
    column_kernel.judge_urls(
        urls.data, urls.starts, urls.ends, MAX_URL_BYTES, verdicts, firsts, lasts
    )
    return Texts(data=urls.data, starts=firsts, ends=lasts)


def _to_texts(columns: Mapping[int, pa.Array], field: int, n_rows: int, name: str) -> Texts:
    """Return a column as texts; none where there is no such column."""
    column = columns.get(field)
    if column is None:
        nowhere = np.full(n_rows, -1, dtype=np.int32)
        return Texts(data=np.zeros(1, dtype=np.uint8), starts=nowhere, ends=nowhere)
    if not pa.types.is_dictionary(column.type):
        return Texts.of(_to_binary(column, field, name))
    texts = Texts.of(pa.concat_arrays([_to_binary(column.dictionary, field, name), _NO_TEXT]))
    # The last text, which is not there, is that of nulls: they have no code.
    codes = to_values(column.indices, np.int64, missing=-1)
    n_nulls, largest = np.count_nonzero(codes < 0), codes.max(initial=-1)
    if n_nulls != column.indices.null_count or largest >= len(texts) - 1:
        raise pa.ArrowInvalid("there is a code that is not in its dictionary")
    return texts.take(codes)


def _to_times(column: pa.Array | None, n_rows: int, name: str) -> NDArray[np.datetime64]:
    if column is not None and pa.types.is_temporal(column.type):
        return _to_seconds(column, name)
    times = np.full(n_rows, NO_TIME, dtype=np.int64)
    if column is not None:
        texts = Texts.of(_to_binary(column, TIME, name))
        column_kernel.read_times(texts.data, texts.starts, texts.ends, times)
    return times.view("datetime64[s]")


def _to_statuses(column: pa.Array | None, n_rows: int, name: str) -> NDArray[np.int32]:
    statuses = np.full(n_rows, NO_STATUS, dtype=np.int32)
    if column is None:
        return statuses
    if pa.types.is_floating(column.type):
        # A column of integers in which some are missing is often stored so.
        column = _to_integers(column)
    if pa.types.is_integer(column.type):
        numbers = to_values(column, column.type.to_pandas_dtype(), missing=0)
        is_status = numbers < 10**MAX_STATUS_DIGITS
        if pa.types.is_signed_integer(column.type):
            is_status &= numbers > -(10**MAX_STATUS_DIGITS)
        if column.null_count:
            is_status &= ~find_missing(column)
        statuses[is_status] = numbers[is_status]
        return statuses
    texts = Texts.of(_to_binary(column, STATUS, name))
    column_kernel.read_statuses(texts.data, texts.starts, texts.ends, statuses)
    return statuses


def _to_seconds(column: pa.Array, name: str) -> NDArray[np.datetime64]:
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
    seconds = to_values(numbers, np.int64, missing=0)
    if per_second > 1:
        seconds = seconds // per_second
    if pa.types.is_date(kind):
        seconds = seconds * 86_400
    is_wrong = (seconds < _MIN_SECONDS) | (seconds >= _MAX_SECONDS)
    if column.null_count:
        is_wrong |= find_missing(column)
    return np.where(is_wrong, NO_TIME, seconds).view("datetime64[s]")


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
    numbers = to_values(column, np.float64, missing=np.nan)
    is_whole = (np.abs(numbers) < 2.0**53) & (np.floor(numbers) == numbers)
    return to_column(np.where(is_whole, numbers, 0).astype(np.int64), ~is_whole)


def _unusable(column: pa.Array, field: int, name: str) -> SourceError:
    names = ("URL", "key", "time", "status", "media type", "digest", "group")
    return SourceError(
        f"{name}: the column for the {names[field]} holds {column.type}, which cannot be read as "
        "one; name another column or write it as text"
    )
