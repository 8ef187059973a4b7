"""Find the wanted cells of rows of CSV in a block, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED, TOO_LONG
from crawlgauge.sources.record_kernel import N_FIELDS
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import find_byte

__all__ = ["BAD_QUOTES", "TOO_FEW_CELLS", "UNCLOSED_QUOTE", "find_cells"]

TOO_FEW_CELLS = FIRST_OWN_VERDICT
BAD_QUOTES = FIRST_OWN_VERDICT + 1
UNCLOSED_QUOTE = FIRST_OWN_VERDICT + 2

_INCOMPLETE = 255
"""The row goes on behind the block."""

_QUOTE, _SPACE, _MINUS, _RETURN = 0x22, 0x20, 0x2D, 0x0D


@compiled
def find_cells(
    block: NDArray[np.uint8],
    line_ends: NDArray[np.int64],
    delimiter: int,
    wanted: NDArray[np.uint8],
    url_column: int,
    max_bytes: int,
    trusted: int,
    is_end: bool,
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    bounds: NDArray[np.int64],
) -> tuple[int, int]:
    """Find the wanted cells of all rows that end in the block.

    Each line is a record; those in which a row goes on, after a newline within quotes, are
    skipped. A row whose quotes are wrong is one line, and reading goes on at the next one. What
    was looked at for its end is not looked at again for the end of another such row, so that a
    block of wrong quotes takes no longer than any other.

    Parameters
    ----------
    block
        Whole lines. Doubled quotes of wanted cells are made single in place.
    line_ends
        Where each line ends: the place of its newline, or the block's end.
    delimiter
        The byte between cells; a newline if there is one cell a row.
    wanted
        For each column up to the last that matters, the set of its fields as bits.
    url_column
        The column without which a row has too few cells.
    max_bytes
        Longest row that is taken.
    trusted
        Newlines within quotes are taken for part of a cell in rows from here on only.
    is_end
        Whether nothing follows the block.
    spans, verdicts, bounds
        Filled for each line, as `records.assemble` takes them.

    Returns
    -------
    tuple
        How many lines are done, and `trusted` for what follows.
    """
    state = np.empty(2, dtype=np.int64)
    is_doubled = np.zeros(N_FIELDS, dtype=np.bool_)
    line, start = 0, 0
    while line < line_ends.size:
        bounds[line, 0] = start
        spans[line, :, :] = -1
        verdict = _read_row(
            block,
            line_ends,
            line,
            start,
            delimiter,
            wanted,
            url_column,
            max_bytes,
            start >= trusted,
            spans[line],
            is_doubled,
            state,
        )
        last_line, reached = state[0], state[1]
        if verdict == _INCOMPLETE:
            if not is_end:
                break
            verdict = UNCLOSED_QUOTE
        if verdict == BAD_QUOTES or verdict == UNCLOSED_QUOTE:
            trusted = max(trusted, reached)
            last_line = line
        verdicts[line] = verdict
        if verdict == ACCEPTED:
            _undouble(block, spans[line], is_doubled)
        end = line_ends[last_line]
        bounds[line, 1] = end - 1 if end > start and block[end - 1] == _RETURN else end
        for other in range(line + 1, last_line + 1):
            verdicts[other] = SKIPPED
            spans[other, :, :] = -1
            bounds[other, 0] = bounds[other, 1] = line_ends[last_line]
        line = last_line + 1
        start = line_ends[last_line] + 1
    return line, trusted


@compiled
def _read_row(
    block: NDArray[np.uint8],
    line_ends: NDArray[np.int64],
    line: int,
    start: int,
    delimiter: int,
    wanted: NDArray[np.uint8],
    url_column: int,
    max_bytes: int,
    may_go_on: bool,
    spans: NDArray[np.int32],
    is_doubled: NDArray[np.bool_],
    state: NDArray[np.int64],
) -> int:
    """Return the verdict on the row that begins with a line.

    `state` is filled with the row's last line and the place that was reached.
    """
    limit = line_ends[line]
    state[0], state[1] = line, limit
    if limit - start > max_bytes:
        return TOO_LONG
    if _skip(block, start, limit, 0) == limit:
        return SKIPPED
    is_doubled[:] = False
    place, column, next_quote = start, 0, -1
    while True:
        first = _skip_spaces(block, place, limit)
        has_doubled = False
        if first < limit and block[first] == _QUOTE:
            first += 1
            verdict = _find_close(
                block, line_ends, start, first, delimiter, max_bytes, may_go_on, state
            )
            if verdict > 1:
                return verdict
            has_doubled = verdict == 1
            last, limit = state[1], line_ends[state[0]]
            place = _skip(block, last + 1, limit, delimiter)
        else:
            last = place = find_byte(block, first, limit, delimiter)
        if column < wanted.size and wanted[column]:
            _note(block, first, last, wanted[column], has_doubled, spans, is_doubled)
        column += 1
        if place >= limit:
            break
        place += 1
        # Looked for once, however many cells stand before it.
        if column >= wanted.size and next_quote < place:
            next_quote = find_byte(block, place, limit, _QUOTE)
        if next_quote == limit:
            break
    # Cells behind that of the URL may be missing, as some programs leave empty ones out.
    return ACCEPTED if column > url_column else TOO_FEW_CELLS


@compiled
def _find_close(
    block: NDArray[np.uint8],
    line_ends: NDArray[np.int64],
    start: int,
    place: int,
    delimiter: int,
    max_bytes: int,
    may_go_on: bool,
    state: NDArray[np.int64],
) -> int:
    """Find the quote that closes a cell; return 0, 1 if it has doubled quotes, or a verdict.

    `state` holds the line and is filled with that of the closing quote and with its place.
    """
    has_doubled = 0
    line = state[0]
    limit = line_ends[line]
    while True:
        place = find_byte(block, place, limit, _QUOTE)
        if place + 1 < limit and block[place + 1] == _QUOTE:
            has_doubled = 1
            place += 2
        elif place < limit:
            break
        else:
            state[1] = limit
            if not may_go_on:
                return UNCLOSED_QUOTE
            line += 1
            if line == line_ends.size:
                return _INCOMPLETE
            place = limit + 1
            limit = line_ends[line]
            if limit - start > max_bytes:
                return UNCLOSED_QUOTE
    state[0], state[1] = line, place
    after = _skip(block, place + 1, limit, delimiter)
    return has_doubled if after == limit or block[after] == delimiter else BAD_QUOTES


@compiled
def _skip(block: NDArray[np.uint8], place: int, limit: int, delimiter: int) -> int:
    """Return the first place that holds no space, or the delimiter."""
    while place < limit and is_space(block[place]) and block[place] != delimiter:
        place += 1
    return place


@compiled
def _skip_spaces(block: NDArray[np.uint8], place: int, limit: int) -> int:
    while place < limit and block[place] == _SPACE:
        place += 1
    return place


@compiled
def _note(
    block: NDArray[np.uint8],
    first: int,
    last: int,
    fields: int,
    has_doubled: bool,
    spans: NDArray[np.int32],
    is_doubled: NDArray[np.bool_],
) -> None:
    """Note where a cell stands, without the space around it; empty ones and ``-`` are missing."""
    while first < last and is_space(block[first]):
        first += 1
    while last > first and is_space(block[last - 1]):
        last -= 1
    if first == last or (last - first == 1 and block[first] == _MINUS):
        return
    for field in range(N_FIELDS):
        if fields >> field & 1:
            spans[field, 0], spans[field, 1] = first, last
            is_doubled[field] = has_doubled


@compiled
def _undouble(
    block: NDArray[np.uint8], spans: NDArray[np.int32], is_doubled: NDArray[np.bool_]
) -> None:
    """Make doubled quotes single; fields that share a cell share the work."""
    for field in range(N_FIELDS):
        if not is_doubled[field]:
            continue
        first, last = spans[field, 0], spans[field, 1]
        place, end = first, first
        while place < last:
            block[end] = block[place]
            end += 1
            is_pair = place + 1 < last and block[place] == _QUOTE and block[place + 1] == _QUOTE
            place += 2 if is_pair else 1
        for other in range(field, N_FIELDS):
            if is_doubled[other] and spans[other, 0] == first:
                spans[other, 1] = end
                is_doubled[other] = False
