"""From the fields that a format's kernel has found to a batch of captures."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.left_out import count_left_out
from crawlgauge.sources.request import Request
from crawlgauge.sources.texts import Texts

__all__ = [
    "FIRST_OWN_VERDICT",
    "MAX_URL_BYTES",
    "assemble",
]

MAX_URL_BYTES = 1 << 16
"""Longer lines are no URLs that any crawler fetched, but a file without line ends."""

FIRST_OWN_VERDICT = 16
"""Verdicts of a format's own begin here."""

_TEXTS = (
    ("url", record_kernel.URL),
    ("key", record_kernel.KEY),
    ("mime", record_kernel.MIME),
    ("digest", record_kernel.DIGEST),
)


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
        The block that the spans refer to. The captures refer to it too, unless it can be written
        to: then they have a copy.
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
    if block.flags.writeable:
        block = block.copy()
        block.flags.writeable = False
    n_records = verdicts.size
    times = np.empty(n_records, dtype=np.int64)
    statuses = np.empty(n_records, dtype=np.int32)
    revisits = np.empty(n_records, dtype=np.bool_)
    record_kernel.judge_records(block, spans, verdicts, MAX_URL_BYTES, times, statuses, revisits)
    left_out = count_left_out(verdicts, rejected, excluded)
    n_chosen = left_out.n_chosen
    columns: dict[str, Any] = {
        name: _pick(block, spans, verdicts, field, n_chosen)
        for name, field in _TEXTS
        if name in request.fields or field == record_kernel.URL
    }
    if request.group is not None:
        columns["group"] = _pick(block, spans, verdicts, record_kernel.GROUP, n_chosen)
    if n_chosen < n_records:
        chosen = np.flatnonzero(verdicts == line_kernel.ACCEPTED)
        times, statuses, revisits = times[chosen], statuses[chosen], revisits[chosen]
    if "time" in request.fields:
        columns["time"] = times.view("datetime64[s]")
    if "status" in request.fields:
        columns["status"], columns["revisit"] = statuses, revisits
    return Captures(
        **columns,
        rejected=left_out.rejected,
        excluded=left_out.excluded,
        examples=left_out.examples(block, bounds, name=name, first_line=first_line, place=place),
    )


def _pick(
    block: NDArray[np.uint8],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    field: int,
    n_chosen: int,
) -> Texts:
    starts, ends = np.empty(n_chosen, dtype=np.int32), np.empty(n_chosen, dtype=np.int32)
    record_kernel.pick_field(spans, verdicts, field, starts, ends)
    return Texts(data=block, starts=starts, ends=ends)
