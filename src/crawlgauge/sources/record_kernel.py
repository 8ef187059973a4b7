"""Judge and copy the fields of records that a format's own kernel has found in a block."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.line_kernel import ACCEPTED, NO_SCHEME, SKIPPED, judge_line
from crawlgauge.sources.time_kernel import parse_time
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import copy_bytes

__all__ = [
    "DIGEST",
    "GROUP",
    "KEY",
    "MIME",
    "NO_STATUS",
    "NO_URL",
    "N_FIELDS",
    "STATUS",
    "TIME",
    "URL",
    "copy_field",
    "judge_records",
]

URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP = range(7)
"""The fields of a record, and where their spans stand."""
N_FIELDS = 7

NO_URL = 6
"""Verdict, beside those of `line_kernel`: the record lacks the field or it is empty."""

NO_STATUS = -(2**31)

_MINUS = 0x2D
_MAX_STATUS_DIGITS = 5
_REVISIT = np.frombuffer(b"warc/revisit", dtype=np.uint8)


@compiled
def judge_records(
    block: NDArray[np.uint8],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    max_bytes: int,
    times: NDArray[np.int64],
    statuses: NDArray[np.int32],
    revisits: NDArray[np.bool_],
) -> None:
    """Judge the URLs of records and read their times and statuses.

    Parameters
    ----------
    block
        The bytes that the spans refer to.
    spans
        For each record and field, its start and end; a start of −1 stands for a missing field.
    verdicts
        What is already known of each record; those accepted so far are judged by their URL.
    max_bytes
        Longest URL that is taken.
    times, statuses, revisits
        Filled for each record.
    """
    parts = np.empty(6, dtype=np.int64)
    for record in range(verdicts.size):
        if verdicts[record] != ACCEPTED:
            continue
        first, last = int(spans[record, URL, 0]), int(spans[record, URL, 1])
        while first < last and is_space(block[first]):
            first += 1
        while last > first and is_space(block[last - 1]):
            last -= 1
        if first < 0 or first == last:
            verdicts[record] = NO_URL
            continue
        verdict = judge_line(block, first, last, max_bytes)
        # What would be a comment in a list is no URL in a record.
        verdicts[record] = NO_SCHEME if verdict == SKIPPED else verdict
        spans[record, URL, 0], spans[record, URL, 1] = first, last
        times[record] = parse_time(
            block, int(spans[record, TIME, 0]), int(spans[record, TIME, 1]), parts
        )
        statuses[record] = _parse_status(
            block, int(spans[record, STATUS, 0]), int(spans[record, STATUS, 1])
        )
        revisits[record] = _is_revisit(
            block, int(spans[record, MIME, 0]), int(spans[record, MIME, 1])
        )


@compiled
def _parse_status(block: NDArray[np.uint8], start: int, end: int) -> int:
    is_negative = start >= 0 and start < end and block[start] == _MINUS
    place = start + 1 if is_negative else start
    if start < 0 or place == end or end - place > _MAX_STATUS_DIGITS:
        return NO_STATUS
    number = 0
    for digit in range(place, end):
        if not 0x30 <= block[digit] <= 0x39:
            return NO_STATUS
        number = 10 * number + int(block[digit]) - 0x30
    return -number if is_negative else number


@compiled
def _is_revisit(block: NDArray[np.uint8], start: int, end: int) -> bool:
    is_as_long = start >= 0 and end - start == _REVISIT.size
    return is_as_long and bool((block[start:end] == _REVISIT).all())


@compiled
def copy_field(
    block: NDArray[np.uint8],
    spans: NDArray[np.int32],
    field: int,
    chosen: NDArray[np.int64],
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32],
) -> None:
    """Copy one field of the chosen records next to each other.

    Parameters
    ----------
    block, spans
        As for `judge_records`.
    field
        Which field.
    chosen
        Numbers of the records.
    data, offsets
        Filled; long enough for all. A missing field is left empty.
    """
    n_bytes = 0
    offsets[0] = 0
    for number in range(chosen.size):
        record = chosen[number]
        start, end = int(spans[record, field, 0]), int(spans[record, field, 1])
        if start >= 0 and end > start:
            copy_bytes(block, start, end, data, n_bytes)
            n_bytes += end - start
        offsets[number + 1] = n_bytes
