"""From the fields that a format's kernel has found to a batch of captures."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.sources.request import Request
from crawlgauge.sources.time_kernel import NO_TIME

__all__ = [
    "FIRST_OWN_VERDICT",
    "MAX_URL_BYTES",
    "assemble",
    "find_line_ends",
    "printable",
    "readable",
]

MAX_URL_BYTES = 1 << 16
"""Longer lines are no URLs that any crawler fetched, but a file without line ends."""

FIRST_OWN_VERDICT = 16
"""Verdicts of a format's own begin here."""

_REJECTED = MappingProxyType(
    {
        line_kernel.NO_SCHEME: "no-scheme",
        line_kernel.NO_HOST: "no-host",
        line_kernel.TOO_LONG: "too-long",
        record_kernel.NO_URL: "no-url",
    }
)
_EXCLUDED = MappingProxyType({line_kernel.OTHER_SCHEME: "other-scheme"})
_MAX_EXAMPLES = 5
_EXAMPLE_BYTES = 80


def assemble(
    data: bytes | NDArray[np.uint8],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    *,
    request: Request,
    name: str,
    bounds: NDArray[np.int64],
    place: int,
    first_line: int | None,
    rejected: Mapping[int, str] = MappingProxyType({}),
    excluded: Mapping[int, str] = MappingProxyType({}),
) -> Captures:
    """Make a batch of captures from records whose fields have been found.

    Parameters
    ----------
    data
        The block that the spans refer to.
    spans
        For each record and field of `record_kernel`, start and end; a start of −1 if missing.
    verdicts
        For each record 0 (a capture, to be judged by its URL), `line_kernel.SKIPPED` (nothing to
        be counted), or a number from `FIRST_OWN_VERDICT` on.
    request
        Which columns are wanted.
    name
        The input as the user named it.
    bounds
        For each record, where it starts and ends in `data`, for examples.
    place
        Where `data` begins in the decompressed input.
    first_line
        How many lines stand before the first record, if each record is a line.
    rejected, excluded
        What the format's own verdicts mean.
    """
    block = np.frombuffer(data, dtype=np.uint8) if isinstance(data, bytes) else data
    n_records = verdicts.size
    times = np.full(n_records, NO_TIME, dtype=np.int64)
    statuses = np.full(n_records, record_kernel.NO_STATUS, dtype=np.int32)
    revisits = np.zeros(n_records, dtype=np.bool_)
    record_kernel.judge_records(block, spans, verdicts, MAX_URL_BYTES, times, statuses, revisits)
    chosen = np.flatnonzero(verdicts == line_kernel.ACCEPTED)
    reasons = {**_REJECTED, **rejected}
    columns = {"url": _binary_column(block, spans, record_kernel.URL, chosen)}
    if "key" in request.fields:
        columns["key"] = _nullable_column(block, spans, record_kernel.KEY, chosen)
    if "mime" in request.fields:
        columns["mime"] = _nullable_column(block, spans, record_kernel.MIME, chosen)
    if "digest" in request.fields:
        columns["digest"] = _nullable_column(block, spans, record_kernel.DIGEST, chosen)
    if request.group is not None:
        columns["group"] = _nullable_column(block, spans, record_kernel.GROUP, chosen)
    if "time" in request.fields:
        columns["time"] = pa.array(times[chosen].view("datetime64[s]"), pa.timestamp("s"))
    if "status" in request.fields:
        status = statuses[chosen]
        columns["status"] = pa.array(status, mask=status == record_kernel.NO_STATUS)
        columns["revisit"] = pa.array(revisits[chosen])
    return Captures(
        **columns,
        rejected=_count(verdicts, reasons),
        excluded=_count(verdicts, {**_EXCLUDED, **excluded}),
        examples=_examples(block, verdicts, bounds, reasons, name, place, first_line),
    )


def find_line_ends(data: bytes) -> NDArray[np.int64]:
    r"""Return where each line of whole lines ends: the place of its newline, or the data's end.

    Examples
    --------
    >>> find_line_ends(b"a\nbc").tolist()
    [1, 4]
    """
    block = np.frombuffer(data, dtype=np.uint8)
    line_ends = np.flatnonzero(block == ord("\n"))
    return line_ends if data.endswith(b"\n") else np.append(line_ends, block.size)


def readable(text: bytes) -> str:
    """Return the beginning of `text`, safe to print on a terminal."""
    shown = printable(text[:_EXAMPLE_BYTES].decode("utf-8", errors="replace"))
    return shown + ("…" if len(text) > _EXAMPLE_BYTES else "")


def printable(text: str) -> str:
    """Return `text` as it is safe to print on a terminal and to write as UTF-8."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _binary_column(
    block: NDArray[np.uint8], spans: NDArray[np.int32], field: int, chosen: NDArray[np.int64]
) -> pa.Array:
    lengths = spans[chosen, field, 1] - spans[chosen, field, 0]
    data = np.empty(int(lengths.sum(where=lengths > 0)), dtype=np.uint8)
    offsets = np.empty(chosen.size + 1, dtype=np.int32)
    record_kernel.copy_field(block, spans, field, chosen, data, offsets)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), chosen.size, buffers)


def _nullable_column(
    block: NDArray[np.uint8], spans: NDArray[np.int32], field: int, chosen: NDArray[np.int64]
) -> pa.Array:
    column = _binary_column(block, spans, field, chosen)
    is_missing = spans[chosen, field, 0] < 0
    if not is_missing.any():
        return column
    validity = pa.array(~is_missing).buffers()[1]
    return pa.Array.from_buffers(pa.binary(), chosen.size, [validity, *column.buffers()[1:]])


def _count(verdicts: NDArray[np.uint8], reasons: Mapping[int, str]) -> dict[str, int]:
    counts = np.bincount(verdicts, minlength=max(reasons, default=0) + 1)
    return {reason: int(counts[code]) for code, reason in reasons.items() if counts[code]}


def _examples(
    block: NDArray[np.uint8],
    verdicts: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    reasons: Mapping[int, str],
    name: str,
    place: int,
    first_line: int | None,
) -> tuple[Rejection, ...]:
    found = np.flatnonzero(np.isin(verdicts, list(reasons)))[:_MAX_EXAMPLES]
    return tuple(
        Rejection(
            file=name,
            line=None if first_line is None else first_line + int(record) + 1,
            offset=place + int(bounds[record, 0]),
            reason=reasons[int(verdicts[record])],
            text=readable(block[bounds[record, 0] : bounds[record, 1]].tobytes()),
        )
        for record in found
    )
