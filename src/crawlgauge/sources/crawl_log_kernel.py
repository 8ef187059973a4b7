"""Find the columns of Heritrix's crawl.log in a block of lines, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED, TOO_LONG
from crawlgauge.sources.record_kernel import DIGEST, GROUP, MIME, STATUS, TIME, URL
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.time_kernel import NO_TIME, parse_time
from crawlgauge.sources.white_space import is_space

__all__ = ["COLUMNS", "NO_COLUMN", "TOO_FEW_FIELDS", "WARC_NAME", "scan_log"]

COLUMNS = (
    "time",
    "status",
    "size",
    "url",
    "path",
    "referrer",
    "mime",
    "thread",
    "fetched",
    "digest",
    "source",
    "annotations",
)
"""The columns in order; what follows them is a JSON object."""
_N_COLUMNS = len(COLUMNS)
(
    _LOG_TIME,
    _STATUS,
    _SIZE,
    _URL,
    _PATH,
    _REFERRER,
    _MIME,
    _THREAD,
    _FETCHED,
    _DIGEST,
    _SOURCE,
    _ANNOTATIONS,
) = range(_N_COLUMNS)

_MIN_COLUMNS = _THREAD + 1
"""Every version of Heritrix writes these and more; a line with fewer was cut."""

NO_COLUMN, WARC_NAME = -1, -2
"""In place of a column to group by: none, or ``warcFilename`` of the JSON object."""

TOO_FEW_FIELDS = FIRST_OWN_VERDICT

_COMMA, _PLUS, _MINUS, _BRACE, _BACKSLASH, _QUOTE = 0x2C, 0x2B, 0x2D, 0x7B, 0x5C, 0x22
_MISSING = -1
_HEADER = np.frombuffer(b"metadata://", dtype=np.uint8)
_NO_TYPE = np.frombuffer(b"no-type", dtype=np.uint8)
_UNKNOWN = np.frombuffer(b"unknown", dtype=np.uint8)
_DUPLICATE = np.frombuffer(b"duplicate:", dtype=np.uint8)
_REVISIT = np.frombuffer(b"warcRevisit:", dtype=np.uint8)
_NAME_MEMBER = np.frombuffer(b'"warcFilename"', dtype=np.uint8)
_NAME_VALUE = np.frombuffer(b':"', dtype=np.uint8)


@compiled
def scan_log(
    block: NDArray[np.uint8],
    line_ends: NDArray[np.int64],
    longest: int,
    group: int,
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    revisits: NDArray[np.bool_],
    objects: NDArray[np.int64],
) -> None:
    """Find the fields of each line.

    Parameters
    ----------
    block
        Whole lines.
    line_ends
        Where each line ends: the place of its newline, or the block's end.
    longest
        Longest line that is taken.
    group
        Number of the column to group by, `NO_COLUMN` or `WARC_NAME`.
    spans, verdicts, bounds
        Filled for each line, as `records.assemble` takes them.
    revisits
        Filled: whether the annotations say that the content was the same as before.
    objects
        Filled: where the JSON object begins whose file name must be read by a JSON parser, or −1.
    """
    columns = np.empty((_N_COLUMNS, 2), dtype=np.int64)
    parts = np.empty(6, dtype=np.int64)
    start = 0
    for line in range(line_ends.size):
        first, last = start, line_ends[line]
        start = last + 1
        while first < last and is_space(block[first]):
            first += 1
        while last > first and is_space(block[last - 1]):
            last -= 1
        bounds[line, 0], bounds[line, 1] = first, last
        spans[line] = _MISSING
        revisits[line] = False
        objects[line] = _MISSING
        # Netarkivet keeps logs with the header of the record that they were stored in.
        if first == last or _starts(block, first, last, _HEADER):
            verdicts[line] = SKIPPED
            continue
        if last - first > longest:
            verdicts[line] = TOO_LONG
            continue
        n_columns, rest = _cut_columns(block, first, last, columns)
        if n_columns < _MIN_COLUMNS:
            verdicts[line] = TOO_FEW_FIELDS
            continue
        verdicts[line] = ACCEPTED
        _fill(block, columns, n_columns, spans[line], parts)
        # Early versions had no source tag, and later ones leave out annotations if there are none.
        if n_columns > _SOURCE:
            revisits[line], rest = _read_annotations(
                block, columns[min(n_columns - 1, _ANNOTATIONS), 0], last
            )
        if group >= 0 and group < n_columns:
            _set(block, spans[line], GROUP, columns[group, 0], columns[group, 1])
        elif group == WARC_NAME and rest < last:
            objects[line] = _find_warc_name(block, rest, last, spans[line])


@compiled
def _cut_columns(
    block: NDArray[np.uint8], start: int, end: int, columns: NDArray[np.int64]
) -> tuple[int, int]:
    """Find the white-space separated columns; return how many, and where the rest begins."""
    n_columns, place = 0, start
    while n_columns < _N_COLUMNS:
        while place < end and is_space(block[place]):
            place += 1
        # The JSON object may follow where annotations were left out.
        if place == end or (n_columns > _SOURCE and block[place] == _BRACE):
            break
        columns[n_columns, 0] = place
        while place < end and not is_space(block[place]):
            place += 1
        columns[n_columns, 1] = place
        n_columns += 1
    return n_columns, place


@compiled
def _fill(
    block: NDArray[np.uint8],
    columns: NDArray[np.int64],
    n_columns: int,
    span: NDArray[np.int32],
    parts: NDArray[np.int64],
) -> None:
    _set(block, span, URL, columns[_URL, 0], columns[_URL, 1])
    _set(block, span, STATUS, columns[_STATUS, 0], columns[_STATUS, 1])
    _set(block, span, TIME, columns[_LOG_TIME, 0], columns[_LOG_TIME, 1])
    start, end = columns[_MIME, 0], columns[_MIME, 1]
    if not (_equals(block, start, end, _NO_TYPE) or _equals(block, start, end, _UNKNOWN)):
        _set(block, span, MIME, start, end)
    if n_columns > _DIGEST:
        _set(block, span, DIGEST, columns[_DIGEST, 0], columns[_DIGEST, 1])
    if n_columns > _FETCHED:
        start, end = columns[_FETCHED, 0], columns[_FETCHED, 0]
        while end < columns[_FETCHED, 1] and block[end] != _PLUS:
            end += 1
        if parse_time(block, start, end, parts) != NO_TIME:
            _set(block, span, TIME, start, end)


@compiled
def _set(
    block: NDArray[np.uint8], span: NDArray[np.int32], field: int, start: int, end: int
) -> None:
    """Note where a field stands, unless it is a dash, which stands for nothing."""
    if end - start != 1 or block[start] != _MINUS:
        span[field, 0], span[field, 1] = start, end


@compiled
def _read_annotations(block: NDArray[np.uint8], start: int, end: int) -> tuple[bool, int]:
    """Return whether one of the annotations tells of a revisit, and where they end."""
    is_revisit, place, before = False, start, _COMMA
    while place < end:
        byte = int(block[place])
        if byte == _BRACE and is_space(before):
            break
        if before == _COMMA or is_space(before):
            is_revisit = (
                is_revisit
                or _starts(block, place, end, _DUPLICATE)
                or _starts(block, place, end, _REVISIT)
            )
        before = byte
        place += 1
    return is_revisit, place


@compiled
def _find_warc_name(block: NDArray[np.uint8], start: int, end: int, span: NDArray[np.int32]) -> int:
    """Find the file name in a JSON object, or return where to begin parsing, or −1.

    Without escapes and objects within the object, a member's name can be found by its bytes.
    """
    place = start
    while place < end and is_space(block[place]):
        place += 1
    if place == end or block[place] != _BRACE:
        return _MISSING
    begin, found, n_found = place, place, 0
    for current in range(place + 1, end):
        byte = block[current]
        if byte == _BACKSLASH or byte == _BRACE:
            return begin
        if byte == _QUOTE and _starts(block, current, end, _NAME_MEMBER):
            found = current + _NAME_MEMBER.size
            n_found += 1
    if n_found == 0:
        return _MISSING
    if n_found > 1 or not _starts(block, found, end, _NAME_VALUE):
        return begin
    first = last = found + _NAME_VALUE.size
    while last < end and block[last] != _QUOTE:
        last += 1
    if last == end:
        return begin
    span[GROUP, 0], span[GROUP, 1] = first, last
    return _MISSING


@compiled
def _starts(block: NDArray[np.uint8], start: int, end: int, text: NDArray[np.uint8]) -> bool:
    if end - start < text.size:
        return False
    n_same = 0
    while n_same < text.size and block[start + n_same] == text[n_same]:
        n_same += 1
    return bool(n_same == text.size)


@compiled
def _equals(block: NDArray[np.uint8], start: int, end: int, text: NDArray[np.uint8]) -> bool:
    return end - start == text.size and _starts(block, start, end, text)
