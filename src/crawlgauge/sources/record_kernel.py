"""Judge and pick the fields of records that a format's own kernel has found in a block."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.captures import NO_STATUS
from crawlgauge.sources.line_kernel import ACCEPTED, NO_SCHEME, SKIPPED, judge_line
from crawlgauge.sources.time_kernel import is_usual, parse_time, parse_usual
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import load_word

__all__ = [
    "DIGEST",
    "GROUP",
    "KEY",
    "MAX_STATUS_DIGITS",
    "MIME",
    "NO_URL",
    "N_FIELDS",
    "STATUS",
    "TIME",
    "URL",
    "is_revisit",
    "judge_records",
    "judge_url",
    "parse_status",
    "pick_field",
    "read_time",
]

URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP = range(7)
"""The fields of a record, and where their spans stand."""
N_FIELDS = 7

NO_URL = 6
"""Verdict, beside those of `line_kernel`: the record lacks the field or it is empty."""

_MINUS = 0x2D
MAX_STATUS_DIGITS = 5
_REVISIT_BYTES = 12
_REVISIT_BEGINNING = np.uint64(int.from_bytes(b"warc/rev", "little"))
_REVISIT_END = np.uint64(int.from_bytes(b"/revisit", "little"))

_ONE = np.uint64(1)
_URL, _TIME, _STATUS, _MIME = (np.uint64(2 * field) for field in (URL, TIME, STATUS, MIME))
"""Where the spans of these fields begin among those of a record."""


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
        Filled for each record that is accepted.
    """
    parts = np.empty(6, dtype=np.int64)
    places = spans.reshape(-1)
    for record in range(verdicts.size):
        if verdicts[record] != ACCEPTED:
            continue
        # Unsigned, so that numba does not look for negative ones each time.
        slot = np.uint64(2 * N_FIELDS * record)
        first, last = int(places[slot + _URL]), int(places[slot + _URL + _ONE])
        verdicts[record], first, last = judge_url(block, first, last, max_bytes)
        if verdicts[record] == NO_URL:
            continue
        places[slot + _URL], places[slot + _URL + _ONE] = first, last
        start, end = int(places[slot + _TIME]), int(places[slot + _TIME + _ONE])
        times[record] = read_time(block, start, end, parts)
        start, end = int(places[slot + _STATUS]), int(places[slot + _STATUS + _ONE])
        statuses[record] = parse_status(block, start, end)
        start, end = int(places[slot + _MIME]), int(places[slot + _MIME + _ONE])
        revisits[record] = is_revisit(block, start, end)


@compiled
def judge_url(
    block: NDArray[np.uint8], first: int, last: int, max_bytes: int
) -> tuple[int, int, int]:
    """Return the verdict on a URL, and where it stands without the space around it."""
    while first < last and is_space(block[first]):
        first += 1
    while last > first and is_space(block[last - 1]):
        last -= 1
    if first < 0 or first == last:
        return NO_URL, first, last
    verdict = judge_line(block, first, last, max_bytes)
    # What would be a comment in a list is no URL in a record.
    return NO_SCHEME if verdict == SKIPPED else verdict, first, last


@compiled
def read_time(block: NDArray[np.uint8], start: int, end: int, parts: NDArray[np.int64]) -> int:
    """Return the seconds since 1970 of a time, as `time_kernel.parse_time` does, mostly sooner."""
    if start >= 0 and is_usual(block, start, end):
        return parse_usual(load_word(block, start), load_word(block, end - 8))
    return parse_time(block, start, end, parts)


@compiled
def parse_status(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the status that ``block[start:end]`` is in digits, or `NO_STATUS`."""
    is_negative = start >= 0 and start < end and block[start] == _MINUS
    place = start + 1 if is_negative else start
    if start < 0 or place == end or end - place > MAX_STATUS_DIGITS:
        return NO_STATUS
    number = 0
    for digit in range(place, end):
        if not 0x30 <= block[digit] <= 0x39:
            return NO_STATUS
        number = 10 * number + int(block[digit]) - 0x30
    return -number if is_negative else number


@compiled
def is_revisit(block: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether the media type ``block[start:end]`` is that of revisit records."""
    return bool(
        start >= 0
        and end - start == _REVISIT_BYTES
        and load_word(block, start) == _REVISIT_BEGINNING
        and load_word(block, end - 8) == _REVISIT_END
    )


@compiled
def pick_field(
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    field: int,
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
) -> None:
    """Fill in where one field of the accepted records is.

    Parameters
    ----------
    spans, verdicts
        As for `judge_records`.
    field
        Which field.
    starts, ends
        Filled, as many as there are accepted records; −1 where the field is missing.
    """
    number = 0
    for record in range(verdicts.size):
        if verdicts[record] == ACCEPTED:
            start = spans[record, field, 0]
            starts[number] = start
            ends[number] = spans[record, field, 1] if start >= 0 else start
            number += 1
