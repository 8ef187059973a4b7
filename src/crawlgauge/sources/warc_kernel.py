"""Find the records of a block of WARC, and the fields of captures, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.header_kernel import (
    BROKEN,
    INCOMPLETE,
    copy_example,
    copy_field_value,
    find_name,
    name_table,
    read_header,
    read_number,
)
from crawlgauge.sources.http_kernel import NO_STATUS_LINE, UNFINISHED, is_http, read_http
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.walk_kernel import (
    AT,
    BAD_LENGTH,
    GO_ON,
    LONG_HEADER,
    MAX_HEADER_BYTES,
    MIXED_HEADERS,
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

__all__ = ["EXCLUDED_TYPES", "FIELD_NAMES", "NO_TYPE", "OTHER_TYPE", "walk_warc"]

FIELD_NAMES = (
    b"warc-type",
    b"warc-date",
    b"content-length",
    b"warc-target-uri",
    b"content-type",
    b"warc-payload-digest",
    b"warc-identified-payload-type",
)
"""The header fields that are read; one more, by which captures are grouped, may follow."""
_TYPE, _DATE, _LENGTH, _TARGET, _CONTENT_TYPE, _DIGEST, _IDENTIFIED_TYPE = range(7)
_N_SINGLE = 3
"""The first of them stand once in every header; twice only if two headers have run together."""

_CAPTURE_TYPES = (b"response", b"resource", b"revisit")
_REVISIT = 2
EXCLUDED_TYPES = (b"request", b"metadata", b"warcinfo", b"conversion", b"continuation")
"""Records that tell about captures, or hold what was made of them; in the order of verdicts."""
OTHER_TYPE = FIRST_OWN_VERDICT + len(EXCLUDED_TYPES)
NO_TYPE = OTHER_TYPE + 1
_TYPES, _TYPE_LENGTHS = name_table(_CAPTURE_TYPES + EXCLUDED_TYPES)
_N_CAPTURE_TYPES = len(_CAPTURE_TYPES)

_WARC = np.frombuffer(b"WARC/", dtype=np.uint8)
_BODY, _END, _KIND, _STATUS, _MEDIA, _MEDIA_END = range(6)
"""What is found of a record beside its fields."""
_N_FOUND = 6
_MAX_VERSION_BYTES = 24
_LINE_FEED, _CARRIAGE_RETURN, _SPACE = 0x0A, 0x0D, 0x20
_DOT, _SEMICOLON, _LESS, _GREATER = 0x2E, 0x3B, 0x3C, 0x3E
_NO, _YES, _UNSURE = range(3)


@compiled
def walk_warc(
    block: NDArray[np.uint8],
    block_place: int,
    is_last: bool,
    members: NDArray[np.int64],
    names: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    group: int,
    constants: NDArray[np.int32],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    places: NDArray[np.int64],
    bodies: NDArray[np.int64],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> int:
    """Find the records of a block from ``state[AT]`` on, and copy the fields of captures.

    Bodies are passed over, but for the HTTP header at their beginning.

    Parameters
    ----------
    block, block_place, is_last, members
        What is at hand, as `RecordWindow` describes it.
    names, lengths
        `FIELD_NAMES`, and the field by which captures are grouped.
    group
        The number of that field among them; −1 if there is none.
    constants
        Where in `out` two constants stand: the media type of revisits, and the group of all
        captures (or −1).
    spans, verdicts, bounds, places, bodies, out, state
        As `RecordBatch` describes them.

    Returns
    -------
    int
        Why it stopped, as `walk_kernel` says.
    """
    fields = np.empty((lengths.size, 2), dtype=np.int64)
    found = np.empty(_N_FOUND, dtype=np.int64)
    fence = -1
    outcome = GO_ON
    while outcome == GO_ON:
        outcome = find_next(block, is_last, verdicts.size, out.size, state)
        if outcome != GO_ON:
            break
        at = state[AT]
        if fence <= at:
            fence = _find_fence(block, block_place, members, at)
        outcome = _read_record(
            block, block_place, is_last, fence, names, lengths, state, fields, found
        )
        if outcome != GO_ON:
            break
        number = state[N_RECORDS]
        places[number] = block_place + at
        bodies[number, :] = -1
        spans[number, :, :] = -1
        verdicts[number] = _judge_type(fields, found)
        bounds[number, :] = state[N_BYTES]
        if verdicts[number] == line_kernel.ACCEPTED:
            _copy_capture(block, fields, found, group, constants, spans[number], out, state)
            bounds[number, :] = spans[number, record_kernel.URL]
            if found[_KIND] != _REVISIT:
                bodies[number, 0] = block_place + found[_BODY]
                bodies[number, 1] = block_place + found[_END]
                bodies[number, 2] = found[_STATUS] >= 0
        if verdicts[number] == NO_TYPE or bounds[number, 0] < 0:
            bounds[number, 0] = state[N_BYTES]
            bounds[number, 1] = copy_example(block, at, found[_BODY], out, state)
        outcome = leave_record(found[_END], fence, block.size, state)
    return outcome


@compiled
def _read_record(
    block: NDArray[np.uint8],
    block_place: int,
    is_last: bool,
    fence: int,
    names: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    state: NDArray[np.int64],
    fields: NDArray[np.int64],
    found: NDArray[np.int64],
) -> int:
    """Read the header of the record at hand, and the HTTP header in its body."""
    at = state[AT]
    begins = _begins_record(block, at)
    if begins == _NO:
        return NO_RECORD
    state[RECORD] = block_place + at
    if begins == _UNSURE:
        return stop_short(block.size, block.size, is_last, state)
    limit = min(fence, at + MAX_HEADER_BYTES)
    body = read_header(block, at, limit, names, lengths, _N_SINGLE, fields)
    if body == BROKEN:
        return MIXED_HEADERS
    if body == INCOMPLETE:
        if limit < fence:
            return LONG_HEADER
        return stop_short(fence, block.size, is_last, state)
    n_bytes = read_number(block, fields[_LENGTH, 0], fields[_LENGTH, 1])
    if n_bytes < 0:
        return BAD_LENGTH
    state[PAYLOAD] = block_place + body
    found[_BODY], found[_END] = body, body + n_bytes
    found[_KIND] = _find_type(block, fields[_TYPE])
    found[_STATUS] = NO_STATUS_LINE
    found[_MEDIA] = fields[_IDENTIFIED_TYPE, 0]
    found[_MEDIA_END] = fields[_IDENTIFIED_TYPE, 1]
    is_capture = 0 <= found[_KIND] < _N_CAPTURE_TYPES
    if is_capture and not _read_body(block, fields[_CONTENT_TYPE], fence, found):
        return stop_short(fence, block.size, is_last, state)
    return GO_ON


@compiled
def _read_body(
    block: NDArray[np.uint8], field: NDArray[np.int64], fence: int, found: NDArray[np.int64]
) -> bool:
    """Find status and media type of a capture, and tell whether all that tells them is at hand."""
    if not is_http(block, field):
        found[_MEDIA], found[_MEDIA_END] = field[0], field[1]
        return True
    media = np.empty((1, 2), dtype=np.int64)
    found[_STATUS] = read_http(block, found[_BODY], found[_END], fence, media)
    if media[0, 0] >= 0:
        found[_MEDIA], found[_MEDIA_END] = media[0, 0], media[0, 1]
    return bool(found[_STATUS] != UNFINISHED)


@compiled
def _judge_type(fields: NDArray[np.int64], found: NDArray[np.int64]) -> int:
    if fields[_TYPE, 0] < 0:
        return NO_TYPE
    if found[_KIND] < 0:
        return OTHER_TYPE
    if found[_KIND] < _N_CAPTURE_TYPES:
        return line_kernel.ACCEPTED
    return FIRST_OWN_VERDICT + int(found[_KIND]) - _N_CAPTURE_TYPES


@compiled
def _copy_capture(
    block: NDArray[np.uint8],
    fields: NDArray[np.int64],
    found: NDArray[np.int64],
    group: int,
    constants: NDArray[np.int32],
    spans: NDArray[np.int32],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> None:
    _copy_target(block, fields[_TARGET], spans[record_kernel.URL], out, state)
    copy_field_value(block, fields[_DATE], spans[record_kernel.TIME], out, state)
    copy_field_value(block, fields[_DIGEST], spans[record_kernel.DIGEST], out, state)
    if found[_STATUS] >= 0:
        code = np.array([found[_STATUS], found[_STATUS] + 3])
        copy_field_value(block, code, spans[record_kernel.STATUS], out, state)
    if found[_KIND] == _REVISIT:
        spans[record_kernel.MIME] = constants[0]
    elif found[_MEDIA] >= 0:
        end = find_byte(block, found[_MEDIA], found[_MEDIA_END], _SEMICOLON)
        copy_field_value(
            block, np.array([found[_MEDIA], end]), spans[record_kernel.MIME], out, state
        )
    if group >= 0:
        copy_field_value(block, fields[group], spans[record_kernel.GROUP], out, state)
    else:
        spans[record_kernel.GROUP] = constants[1]


@compiled
def _begins_record(block: NDArray[np.uint8], at: int) -> int:
    """Tell whether a line such as ``WARC/1.0`` stands at a place."""
    for place in range(_WARC.size):
        if at + place == block.size:
            return _UNSURE
        if block[at + place] != _WARC[place]:
            return _NO
    n_dots = 0
    for place in range(at + _WARC.size, at + _MAX_VERSION_BYTES):
        if place == block.size:
            return _UNSURE
        byte = block[place]
        if byte == _LINE_FEED:
            return _YES if n_dots == 1 else _NO
        if byte == _DOT:
            n_dots += 1
        elif not (0x30 <= byte <= 0x39 or byte == _CARRIAGE_RETURN or byte == _SPACE):
            return _NO
    return _NO


@compiled
def _find_fence(
    block: NDArray[np.uint8], block_place: int, members: NDArray[np.int64], at: int
) -> int:
    """Return where the first compressed member behind `at` begins with a record, or the end."""
    for member in range(first_member_after(members, block_place + at), members.size):
        place = members[member] - block_place
        if place >= block.size:
            break
        if _begins_record(block, place) == _YES:
            return int(place)
    return block.size


@compiled
def _find_type(block: NDArray[np.uint8], field: NDArray[np.int64]) -> int:
    if field[0] < 0:
        return -1
    return find_name(block, field[0], field[1], _TYPES, _TYPE_LENGTHS)


@compiled
def _copy_target(
    block: NDArray[np.uint8],
    field: NDArray[np.int64],
    span: NDArray[np.int32],
    out: NDArray[np.uint8],
    state: NDArray[np.int64],
) -> None:
    copy_field_value(block, field, span, out, state)
    # WARC 1.0 had angle brackets in its grammar, and some writers put them.
    if span[1] - span[0] >= 2 and out[span[0]] == _LESS and out[span[1] - 1] == _GREATER:
        span[0] += 1
        span[1] -= 1
