"""Find the fields of a block of CDX lines, in compiled code and without an object per line."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.line_kernel import ACCEPTED, NO_SCHEME, SKIPPED, TOO_LONG, judge_line
from crawlgauge.sources.record_kernel import KEY, N_FIELDS, STATUS, TIME, URL
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import copy_bytes, load_word

__all__ = [
    "BAD_STATUS",
    "BAD_TIME",
    "SCHEME_BYTES",
    "TOO_FEW_FIELDS",
    "TOO_MANY_FIELDS",
    "find_exactly",
    "is_legend_at",
    "restore_urls",
    "scan_cdx",
    "starts_time",
]

TOO_FEW_FIELDS = FIRST_OWN_VERDICT
TOO_MANY_FIELDS = FIRST_OWN_VERDICT + 1
BAD_TIME = FIRST_OWN_VERDICT + 2
BAD_STATUS = FIRST_OWN_VERDICT + 3

_WORD = 8
_EVERY_BYTE = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_ONE = np.uint64(1)
_TO_TOP_BYTE = np.uint64(56)

_SPACE, _TAB, _CARRIAGE_RETURN, _DASH, _COMMA, _SLASH, _COLON = 0x20, 9, 13, 0x2D, 0x2C, 0x2F, 0x3A
_OPEN, _CLOSE, _DOT = 0x28, 0x29, 0x2E
_CDX = np.frombuffer(b"CDX", dtype=np.uint8)
_SCHEME = np.frombuffer(b"http://", dtype=np.uint8)
SCHEME_BYTES = 7
"""How much longer a URL that is restored from its key can be than the key."""


@compiled
def scan_cdx(
    block: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    first_line: int,
    longest: int,
    delimiter: int,
    fewest: int,
    columns: NDArray[np.int64],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
) -> int:
    """Find the fields of lines, up to the next legend line.

    Parameters
    ----------
    block
        Whole lines.
    bounds
        Where each line begins and ends.
    first_line
        The line to begin with.
    longest
        Longest line that is taken.
    delimiter
        The byte between columns.
    fewest
        How many columns a line must have at least.
    columns
        Which column each field of `record_kernel` stands in, −1 for none; a row for each number of
        columns from `fewest` on. If there are several, a status must be a number: where it is
        not, another column was split.
    spans, verdicts
        Filled for each line: where its fields are (−1 for missing ones and those that are a
        dash), and what it is.

    Returns
    -------
    int
        The number of the legend line, or of all lines.
    """
    cells = np.empty((fewest + columns.shape[0] - 1, 2), dtype=np.int64)
    for line in range(first_line, verdicts.size):
        start, end = bounds[line, 0], bounds[line, 1]
        if is_legend_at(block, start, end):
            return line
        start, end = _trim(block, start, end)
        spans[line] = -1
        if end - start > longest:
            verdicts[line] = TOO_LONG
            continue
        n_cells = _split(block, start, end, delimiter, cells)
        if not _has_text(block, start, end):
            verdicts[line] = SKIPPED
        elif n_cells < fewest:
            verdicts[line] = TOO_FEW_FIELDS
        elif n_cells > cells.shape[0]:
            verdicts[line] = TOO_MANY_FIELDS
        else:
            verdicts[line] = _pick(block, cells, columns, n_cells - fewest, spans[line])
    return verdicts.size


@compiled
def _trim(block: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    if end > start and block[end - 1] == _CARRIAGE_RETURN:
        end -= 1
    while start < end and block[start] == _SPACE:
        start += 1
    while end > start and block[end - 1] == _SPACE:
        end -= 1
    return start, end


@compiled
def is_legend_at(block: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether a line says what the columns hold; `cdx_legend.is_legend` in compiled code."""
    while start < end and (block[start] == _SPACE or block[start] == _TAB):
        start += 1
    if start < end and not is_space(block[start]) and not _is_alphanumeric(block[start]):
        start += 1
    if start + 3 >= end:
        return False
    for place in range(3):
        if block[start + place] != _CDX[place]:
            return False
    after = block[start + 3]
    return not _is_alphanumeric(after) and after != _CARRIAGE_RETURN


@compiled
def _is_alphanumeric(byte: int) -> bool:
    return 0x30 <= byte <= 0x39 or 0x61 <= byte | 0x20 <= 0x7A


@compiled
def _split(
    block: NDArray[np.uint8], start: int, end: int, delimiter: int, cells: NDArray[np.int64]
) -> int:
    """Fill in where the cells of a line are; return how many, or one more than there is room."""
    place, n_cells = start, 0
    while n_cells < cells.shape[0]:
        cells[n_cells, 0] = place
        cells[n_cells, 1] = find_exactly(block, place, end, delimiter)
        place = cells[n_cells, 1] + 1
        n_cells += 1
        if place > end:
            return n_cells
    # One delimiter too many at the end of a line stands before nothing.
    return n_cells if place == end else n_cells + 1


@compiled
def _has_text(block: NDArray[np.uint8], start: int, end: int) -> bool:
    while start < end and is_space(block[start]):
        start += 1
    return start < end


@compiled
def find_exactly(block: NDArray[np.uint8], start: int, end: int, byte: int) -> int:
    """Return the first place of `byte` in ``block[start:end]``, or `end`; fast for near places."""
    pattern = np.uint64(byte) * _EVERY_BYTE
    place = start
    while place < end and place + _WORD <= block.size:
        word = load_word(block, place) ^ pattern
        found = (word - _EVERY_BYTE) & ~word & _HIGH_BITS
        if found:
            # The lowest mark is true, and as many bytes stand before it as whole bytes below it.
            below = (found & (~found + _ONE)) - _ONE
            n_before = int(((below & _EVERY_BYTE) * _EVERY_BYTE) >> _TO_TOP_BYTE) - 1
            return min(place + n_before, end)
        place += _WORD
    while place < end and block[place] != byte:
        place += 1
    return min(place, end)


@compiled
def _pick(
    block: NDArray[np.uint8],
    cells: NDArray[np.int64],
    columns: NDArray[np.int64],
    row: int,
    spans: NDArray[np.int32],
) -> int:
    """Fill in the fields that a line has and return the verdict."""
    for field in range(N_FIELDS):
        column = columns[row, field]
        if column < 0:
            continue
        start, end = cells[column, 0], cells[column, 1]
        if start == end or (end - start == 1 and block[start] == _DASH):
            continue
        spans[field, 0], spans[field, 1] = start, end
    start, end = int(spans[TIME, 0]), int(spans[TIME, 1])
    if start >= 0 and not starts_time(block, start, end):
        return BAD_TIME
    start, end = int(spans[STATUS, 0]), int(spans[STATUS, 1])
    if columns.shape[0] > 1 and start >= 0 and not _has_digits(block, start, end):
        return BAD_STATUS
    return ACCEPTED


@compiled
def starts_time(block: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether a text begins with the four digits of a year; if not, it is another field."""
    return end - start >= 4 and _has_digits(block, start, start + 4)


@compiled
def _has_digits(block: NDArray[np.uint8], start: int, end: int) -> bool:
    while start < end and 0x30 <= block[start] <= 0x39:
        start += 1
    return start == end


@compiled
def restore_urls(
    block: NDArray[np.uint8],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    is_wanted: NDArray[np.bool_],
    urls: NDArray[np.uint8],
) -> int:
    """Write the URLs that the keys of some records stand for, and return how many bytes.

    Parameters
    ----------
    block
        What the spans refer to; `urls` will stand behind it.
    spans
        The URLs' spans are filled.
    verdicts
        Only accepted records matter.
    is_wanted
        Which records lack their URL.
    urls
        Filled; as long as the keys and `SCHEME_BYTES` for each.
    """
    n_bytes = 0
    for record in range(verdicts.size):
        start, end = int(spans[record, KEY, 0]), int(spans[record, KEY, 1])
        if verdicts[record] != ACCEPTED or not is_wanted[record] or start < 0:
            continue
        if judge_line(block, start, end, end - start) != NO_SCHEME:
            spans[record, URL, 0], spans[record, URL, 1] = start, end
            continue
        first = n_bytes
        copy_bytes(_SCHEME, 0, SCHEME_BYTES, urls, n_bytes)
        n_bytes = _write_host_first(block, start, end, urls, n_bytes + SCHEME_BYTES)
        spans[record, URL, 0], spans[record, URL, 1] = block.size + first, block.size + n_bytes
    return n_bytes


@compiled
def _write_host_first(
    block: NDArray[np.uint8], start: int, end: int, urls: NDArray[np.uint8], place: int
) -> int:
    """Write a key with the labels of its host in the usual order; return where it ends."""
    if block[start] == _OPEN:
        start += 1
    close = start
    while close < end and block[close] != _CLOSE and block[close] != _SLASH:
        close += 1
    if close == end or block[close] != _CLOSE:
        copy_bytes(block, start, end, urls, place)
        return place + end - start
    port = start
    while port < close and block[port] != _COLON:
        port += 1
    host_start, label_end = place, port
    while label_end > start:
        label = label_end
        while label > start and block[label - 1] != _COMMA:
            label -= 1
        if label < label_end:
            if place > host_start:
                urls[place] = _DOT
                place += 1
            copy_bytes(block, label, label_end, urls, place)
            place += label_end - label
        label_end = label - 1
    copy_bytes(block, port, close, urls, place)
    place += close - port
    copy_bytes(block, close + 1, end, urls, place)
    return place + end - close - 1
