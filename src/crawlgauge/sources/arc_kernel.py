"""Find the records of a block of ARC, and the fields of captures, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.header_kernel import (
    copy_field_value,
    find_name,
    name_table,
    read_number,
)
from crawlgauge.sources.http_kernel import find_http_status
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.walk_kernel import (
    AT,
    BAD_LENGTH,
    GO_ON,
    MAX_HEADER_BYTES,
    N_BYTES,
    N_RECORDS,
    NO_RECORD,
    PAYLOAD,
    RECORD,
    find_next,
    first_member_after,
    leave_record,
    stop_short,
)
from crawlgauge.words import find_byte

__all__ = ["FILEDESC", "walk_arc"]

FILEDESC = FIRST_OWN_VERDICT
"""Verdict on the record that describes the file."""

_URL, _DATE, _MEDIA = 0, 2, 3
_N_COLUMNS, _RESULT, _CHECKSUM, _GROUP = range(4)
"""What `columns` says."""
_END, _STATUS = range(2)
_N_FOUND = 2
"""What is found of a record beside its fields."""
_FEWEST_FIELDS = 5
_MIN_DATE_DIGITS = 8
_FILEDESC, _FILEDESC_LENGTH = name_table((b"filedesc:",))
_STATUS_LINE_BYTES = 64
_LINE_FEED, _CARRIAGE_RETURN, _SPACE, _COLON, _DASH = 0x0A, 0x0D, 0x20, 0x3A, 0x2D
_SEMICOLON = 0x3B


@compiled
def walk_arc(
    block: NDArray[np.uint8],
    block_place: int,
    is_last: bool,
    members: NDArray[np.int64],
    columns: NDArray[np.int64],
    constant: NDArray[np.int32],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    places: NDArray[np.int64],
    bodies: NDArray[np.int64],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> int:
    """Find the records of a block from ``state[AT]`` on, and copy the fields of captures.

    Parameters
    ----------
    block, block_place, is_last, members
        What is at hand, as `RecordWindow` describes it.
    columns
        How many fields a record's line has, and which of them are the result code, the checksum
        and the group of a capture (−1 if none is).
    constant
        Where in `out` the group of all captures stands (or −1).
    spans, verdicts, bounds, places, bodies, out, state
        As `RecordBatch` describes them.

    Returns
    -------
    int
        Why it stopped, as `walk_kernel` says.
    """
    fields = np.empty((columns[_N_COLUMNS], 2), dtype=np.int64)
    others = np.empty((columns[_N_COLUMNS], 2), dtype=np.int64)
    found = np.empty(_N_FOUND, dtype=np.int64)
    fence = -1
    outcome = GO_ON
    while outcome == GO_ON:
        outcome = find_next(block, is_last, verdicts.size, out.size, state)
        if outcome != GO_ON:
            break
        at = state[AT]
        if fence <= at:
            fence = _find_fence(block, block_place, members, at, others)
        outcome = _read_record(block, block_place, is_last, fence, state, fields, found)
        if outcome != GO_ON:
            break
        number = state[N_RECORDS]
        places[number] = block_place + at
        bodies[number, :] = -1
        spans[number, :, :] = -1
        bounds[number, :] = state[N_BYTES]
        is_capture = not _has_scheme(block, fields[_URL], _FILEDESC, _FILEDESC_LENGTH)
        verdicts[number] = line_kernel.ACCEPTED if is_capture else FILEDESC
        if is_capture:
            _copy_capture(
                block, fields, found[_STATUS], columns, constant, spans[number], out, state
            )
            bounds[number, :] = spans[number, record_kernel.URL]
            bodies[number, 0] = state[PAYLOAD]
            bodies[number, 1] = block_place + found[_END]
            bodies[number, 2] = found[_STATUS] >= 0
        outcome = leave_record(found[_END], fence, block.size, state)
    return outcome


@compiled
def _read_record(
    block: NDArray[np.uint8],
    block_place: int,
    is_last: bool,
    fence: int,
    state: NDArray[np.int64],
    fields: NDArray[np.int64],
    found: NDArray[np.int64],
) -> int:
    """Read the line of the record at hand, and the HTTP status at the beginning of its body."""
    at = state[AT]
    limit = min(fence, at + MAX_HEADER_BYTES)
    line_end = find_byte(block, at, limit, _LINE_FEED)
    if line_end == limit:
        if limit < fence or not _may_be_url(block, at, limit):
            return NO_RECORD
        state[RECORD] = block_place + at
        return stop_short(fence, block.size, is_last, state)
    if not _split_line(block, at, line_end, fields):
        return NO_RECORD
    state[RECORD] = block_place + at
    n_bytes = read_number(block, fields[-1, 0], fields[-1, 1])
    if n_bytes < 0:
        return BAD_LENGTH
    body = line_end + 1
    state[PAYLOAD] = block_place + body
    wanted = min(body + n_bytes, body + _STATUS_LINE_BYTES)
    found[_END] = body + n_bytes
    found[_STATUS] = find_http_status(block, body, min(wanted, fence))
    if found[_STATUS] < 0 and fence < wanted:
        return stop_short(fence, block.size, is_last, state)
    return GO_ON


@compiled
def _copy_capture(
    block: NDArray[np.uint8],
    fields: NDArray[np.int64],
    status: int,
    columns: NDArray[np.int64],
    constant: NDArray[np.int32],
    spans: NDArray[np.int32],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> None:
    copy_field_value(block, fields[_URL], spans[record_kernel.URL], out, state)
    copy_field_value(block, fields[_DATE], spans[record_kernel.TIME], out, state)
    fields[_MEDIA, 1] = find_byte(block, fields[_MEDIA, 0], fields[_MEDIA, 1], _SEMICOLON)
    _copy_known(block, fields[_MEDIA], spans[record_kernel.MIME], out, state)
    if status >= 0:
        code = np.array([status, status + 3])
        copy_field_value(block, code, spans[record_kernel.STATUS], out, state)
    elif columns[_RESULT] >= 0:
        _copy_known(block, fields[columns[_RESULT]], spans[record_kernel.STATUS], out, state)
    if columns[_CHECKSUM] >= 0:
        _copy_known(block, fields[columns[_CHECKSUM]], spans[record_kernel.DIGEST], out, state)
    if columns[_GROUP] >= 0:
        _copy_known(block, fields[columns[_GROUP]], spans[record_kernel.GROUP], out, state)
    else:
        spans[record_kernel.GROUP] = constant


@compiled
def _has_scheme(
    block: NDArray[np.uint8],
    field: NDArray[np.int64],
    scheme: NDArray[np.uint8],
    length: NDArray[np.int64],
) -> bool:
    end = field[0] + length[0]
    return end <= field[1] and find_name(block, field[0], end, scheme, length) >= 0


@compiled
def _may_be_url(block: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether a line begins with a scheme, as far as it goes."""
    for place in range(start, end):
        byte = block[place]
        if byte == _COLON:
            return place > start
        is_letter = 0x61 <= (byte | 0x20) <= 0x7A
        # Digits, plus, minus and dot.
        if not is_letter and not (0x30 <= byte <= 0x39) and byte not in (0x2B, _DASH, 0x2E):
            return False
    return True


@compiled
def _split_line(block: NDArray[np.uint8], start: int, end: int, fields: NDArray[np.int64]) -> bool:
    """Find the fields of a record's line, and tell whether it can be one.

    They are told from the end, as URLs may contain spaces.
    """
    while end > start and (block[end - 1] == _CARRIAGE_RETURN or block[end - 1] == _SPACE):
        end -= 1
    last = fields.shape[0] - 1
    for field in range(last, 0, -1):
        space = _space_before(block, start, end)
        if space < start:
            return False
        fields[field, 0], fields[field, 1] = space + 1, end
        if field == _DATE and last + 1 == _FEWEST_FIELDS:
            # A media type with parameters may contain spaces too.
            while not _is_date(block, space + 1, end):
                fields[_MEDIA, 0] = space + 1
                end = space
                space = _space_before(block, start, end)
                if space < start:
                    return False
            fields[field, 0], fields[field, 1] = space + 1, end
        elif field == _DATE and not _is_date(block, space + 1, end):
            return False
        end = space
    fields[_URL, 0], fields[_URL, 1] = start, end
    colon = find_byte(block, start, end, _COLON)
    return start < colon < end and _may_be_url(block, start, colon)


@compiled
def _space_before(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the place of the last space before `end`, or one before `start`."""
    place = end - 1
    while place >= start and block[place] != _SPACE:
        place -= 1
    return place


@compiled
def _is_date(block: NDArray[np.uint8], start: int, end: int) -> bool:
    for place in range(start, end):
        if not 0x30 <= block[place] <= 0x39:
            return False
    return end - start >= _MIN_DATE_DIGITS


@compiled
def _find_fence(
    block: NDArray[np.uint8],
    block_place: int,
    members: NDArray[np.int64],
    at: int,
    fields: NDArray[np.int64],
) -> int:
    """Return where the first compressed member behind `at` begins with a record, or the end."""
    for member in range(first_member_after(members, block_place + at), members.size):
        place = members[member] - block_place
        if place >= block.size:
            break
        limit = min(block.size, place + MAX_HEADER_BYTES)
        line_end = find_byte(block, place, limit, _LINE_FEED)
        if line_end < limit and _split_line(block, place, line_end, fields):
            return int(place)
    return block.size


@compiled
def _copy_known(
    block: NDArray[np.uint8],
    field: NDArray[np.int64],
    span: NDArray[np.int32],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> None:
    """Copy a field unless it is a dash, which stands for what is not known."""
    if field[1] - field[0] != 1 or block[field[0]] != _DASH:
        copy_field_value(block, field, span, out, state)
