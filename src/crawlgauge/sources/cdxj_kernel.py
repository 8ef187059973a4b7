"""Find the parts of a block of CDXJ lines, in compiled code and without an object per line."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.cdx_kernel import BAD_TIME, TOO_FEW_FIELDS, is_legend_at, starts_time
from crawlgauge.sources.json_kernel import NUMBER, STRING
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED, TOO_LONG
from crawlgauge.sources.record_kernel import DIGEST, GROUP, KEY, STATUS, TIME
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.white_space import is_space

__all__ = [
    "BAD_JSON",
    "FIRST_RECORD_TYPE",
    "RECORD_TYPES",
    "REVISIT",
    "choose_members",
    "scan_cdxj",
    "trim_references",
]

BAD_JSON = FIRST_OWN_VERDICT + 4
FIRST_RECORD_TYPE = FIRST_OWN_VERDICT + 5
"""Verdict on records of the first of `RECORD_TYPES`; the others follow."""

RECORD_TYPES = ("request", "metadata", "warcinfo", "continuation")
"""Types of records that are no captures."""

REVISIT = np.frombuffer(b"warc/revisit", dtype=np.uint8)
"""The media type that says a record is a revisit; its end is the record type."""

_TYPE_BYTES = np.frombuffer("".join(RECORD_TYPES).encode(), dtype=np.uint8)
_TYPE_ENDS = np.cumsum([len(name) for name in RECORD_TYPES])
_REVISIT_TYPE = np.frombuffer(b"revisit", dtype=np.uint8)
_REFERENCE = np.frombuffer(b"warcfile:", dtype=np.uint8)

_BANG, _BRACE, _DASH, _HASH = 0x21, 0x7B, 0x2D, 0x23
_MAX_WORDS = 4
"""OpenWayback's lines have four words before the JSON: key, time, digest and record type."""


@compiled
def scan_cdxj(
    block: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    longest: int,
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
    objects: NDArray[np.int64],
    is_revisit: NDArray[np.bool_],
) -> None:
    """Find key, time and JSON of each line, and what else stands between them.

    Parameters
    ----------
    block
        Whole lines.
    bounds
        Where each line begins and ends.
    longest
        Longest line that is taken.
    spans, verdicts
        Filled for each line: where its fields are, and what it is.
    objects
        Filled: where the JSON begins and ends; −1 where no object is to be looked for.
    is_revisit
        Filled: whether the line says outside its JSON that it is a revisit.
    """
    words = np.empty((_MAX_WORDS, 2), dtype=np.int64)
    for line in range(verdicts.size):
        start, end = bounds[line, 0], bounds[line, 1]
        spans[line] = -1
        objects[line] = -1
        is_revisit[line] = False
        if is_legend_at(block, start, end):
            verdicts[line] = SKIPPED
            continue
        while start < end and is_space(block[start]):
            start += 1
        while end > start and is_space(block[end - 1]):
            end -= 1
        if start == end or block[start] == _BANG:
            verdicts[line] = SKIPPED
        elif end - start > longest:
            verdicts[line] = TOO_LONG
        else:
            n_words = _find_words(block, start, end, words, objects[line])
            verdicts[line] = _place_words(block, words, n_words, spans[line])
            if n_words > 2:
                is_revisit[line] = _is_text(block, words[n_words - 1], _REVISIT_TYPE)
            if verdicts[line] != ACCEPTED:
                objects[line] = -1


@compiled
def _find_words(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    words: NDArray[np.int64],
    json: NDArray[np.int64],
) -> int:
    """Find the words before the JSON and where that is; return their number, 0 without JSON."""
    place = start
    for number in range(_MAX_WORDS + 1):
        if place == end:
            return 0
        if block[place] == _BRACE:
            json[0], json[1] = place, end
            return number
        if number == _MAX_WORDS:
            return 0
        words[number, 0] = place
        while place < end and not is_space(block[place]):
            place += 1
        words[number, 1] = place
        while place < end and is_space(block[place]):
            place += 1
    return 0


@compiled
def _place_words(
    block: NDArray[np.uint8], words: NDArray[np.int64], n_words: int, spans: NDArray[np.int32]
) -> int:
    """Fill in the fields that stand before the JSON and return the verdict."""
    if n_words < 2:
        return TOO_FEW_FIELDS
    spans[KEY, 0], spans[KEY, 1] = words[0, 0], words[0, 1]
    if _is_dash(block, words[1, 0], words[1, 1]):
        pass
    elif starts_time(block, words[1, 0], words[1, 1]):
        spans[TIME, 0], spans[TIME, 1] = words[1, 0], words[1, 1]
    else:
        return BAD_TIME
    if n_words == _MAX_WORDS and not _is_dash(block, words[2, 0], words[2, 1]):
        spans[DIGEST, 0], spans[DIGEST, 1] = words[2, 0], words[2, 1]
    if n_words > 2:
        first = 0
        for number in range(_TYPE_ENDS.size):
            if _is_text(block, words[n_words - 1], _TYPE_BYTES[first : _TYPE_ENDS[number]]):
                return FIRST_RECORD_TYPE + number
            first = _TYPE_ENDS[number]
    return ACCEPTED


@compiled
def _is_text(block: NDArray[np.uint8], word: NDArray[np.int64], text: NDArray[np.uint8]) -> bool:
    return word[1] - word[0] == text.size and _starts_with(block, word[0], word[1], text)


@compiled
def _starts_with(block: NDArray[np.uint8], start: int, end: int, text: NDArray[np.uint8]) -> bool:
    place = 0
    while place < text.size and start + place < end and block[start + place] == text[place]:
        place += 1
    return place == text.size


@compiled
def _is_dash(block: NDArray[np.uint8], start: int, end: int) -> bool:
    return end - start == 1 and block[start] == _DASH


@compiled
def choose_members(
    block: NDArray[np.uint8],
    members: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    fields: NDArray[np.int64],
    spans: NDArray[np.int32],
) -> None:
    """Fill in the fields that the members of the JSON give, the first names first.

    Parameters
    ----------
    block
        What the spans refer to.
    members, kinds
        Where each member's value is and what it is, by line and name.
    fields
        Which field of `record_kernel` each name stands for.
    spans
        Filled where there is no such field yet; numbers count for status and group only, and
        what is empty or a dash for nothing.
    """
    for line in range(members.shape[0]):
        for number in range(fields.size):
            field, kind = fields[number], kinds[line, number]
            may_be_number = field == STATUS or field == GROUP
            if spans[line, field, 0] >= 0 or not (
                kind == STRING or (kind == NUMBER and may_be_number)
            ):
                continue
            start, end = int(members[line, number, 0]), int(members[line, number, 1])
            if start == end or _is_dash(block, start, end):
                continue
            spans[line, field, 0], spans[line, field, 1] = start, end


@compiled
def trim_references(
    block: NDArray[np.uint8], verdicts: NDArray[np.uint8], spans: NDArray[np.int32]
) -> None:
    """Cut the groups of accepted lines down to the file name that they refer to."""
    for line in range(verdicts.size):
        start, end = int(spans[line, GROUP, 0]), int(spans[line, GROUP, 1])
        if verdicts[line] == ACCEPTED and start >= 0:
            start, end = _trim_reference(block, start, end)
            spans[line, GROUP, 0], spans[line, GROUP, 1] = start, end


@compiled
def _trim_reference(block: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    """Return where the file name in ``warcfile:NAME#OFFSET`` is; other texts are left whole."""
    if not _starts_with(block, start, end, _REFERENCE):
        return start, end
    while _starts_with(block, start, end, _REFERENCE):
        start += _REFERENCE.size
    last = start
    while last < end and block[last] != _HASH:
        last += 1
    return start, last
