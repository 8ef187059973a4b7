"""Find the members of JSON objects in a block, in compiled code and without an object per record.

The kernel answers only what it is sure of. It reads an object from its first byte to its last,
with all that is nested in it, exactly as RFC 8259 has it; if anything stands in the way (an escape
in a wanted value or in a name, very deep nesting, a mistake), it says so and Python decides, as
`json_members` does. Bytes outside ASCII are taken as they are.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.words import VECTOR, first_bit, match_below, match_byte

__all__ = ["MISSING", "NUMBER", "OTHER", "STRING", "find_members", "find_special"]

MISSING = 0
"""The object has no such member, or it is null."""
STRING = 1
"""The span is what stands between the quotation marks."""
NUMBER = 2
"""The span is the number as it is written."""
OTHER = 3
"""True, false, an object or an array; there is no span."""

_MAX_DEPTH = 60
"""A signed word has a bit for each level, and some to spare."""

_QUOTE, _COMMA, _COLON, _BACKSLASH, _MINUS, _PLUS, _DOT = 0x22, 0x2C, 0x3A, 0x5C, 0x2D, 0x2B, 0x2E
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = 0x7B, 0x7D, 0x5B, 0x5D
_LETTER_N, _LETTER_U = 0x6E, 0x75
_LITERALS = (
    np.frombuffer(b"true", dtype=np.uint8),
    np.frombuffer(b"false", dtype=np.uint8),
    np.frombuffer(b"null", dtype=np.uint8),
)


@compiled
def find_members(
    block: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_ends: NDArray[np.int64],
    spans: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    is_sure: NDArray[np.bool_],
) -> None:
    """Find the members that have certain names in the objects of a block.

    Parameters
    ----------
    block
        The bytes.
    bounds
        For each object, where it starts and ends; white space around it is allowed. A start of −1
        stands for no object at all.
    names, name_ends
        The wanted names, next to each other, and where each of them ends.
    spans
        Filled: start and end of each wanted member's value, by object and name; −1 for both where
        there is none. Of several members of the same name the last counts.
    kinds
        Filled: what each wanted value is: `MISSING`, `STRING`, `NUMBER` or `OTHER`.
    is_sure
        Filled: whether the object was understood. If not, its spans and kinds mean nothing.
    """
    for record in range(bounds.shape[0]):
        spans[record] = -1
        kinds[record] = MISSING
        is_sure[record] = bounds[record, 0] >= 0 and _find(
            block,
            bounds[record, 0],
            bounds[record, 1],
            names,
            name_ends,
            spans[record],
            kinds[record],
        )


@compiled
def _find(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    names: NDArray[np.uint8],
    name_ends: NDArray[np.int64],
    spans: NDArray[np.int32],
    kinds: NDArray[np.uint8],
) -> bool:
    """Fill the spans and kinds of one object and tell whether they can be relied on."""
    place = _skip_space(block, start, end)
    if place == end or block[place] != _OPEN_OBJECT:
        return False
    place = _skip_space(block, place + 1, end)
    if place < end and block[place] == _CLOSE_OBJECT:
        return _skip_space(block, place + 1, end) == end
    while place < end:
        place = _read_member(block, place, end, names, name_ends, spans, kinds)
        if place < 0:
            return False
        place = _skip_space(block, place, end)
        if place < end and block[place] == _CLOSE_OBJECT:
            return _skip_space(block, place + 1, end) == end
        if place == end or block[place] != _COMMA:
            return False
        place = _skip_space(block, place + 1, end)
    return False


@compiled
def _read_member(
    block: NDArray[np.uint8],
    place: int,
    end: int,
    names: NDArray[np.uint8],
    name_ends: NDArray[np.int64],
    spans: NDArray[np.int32],
    kinds: NDArray[np.uint8],
) -> int:
    """Fill in the member that begins at `place` if it is wanted; return where it ends, or −1."""
    if block[place] != _QUOTE:
        return -1
    name_end = find_special(block, place + 1, end)
    if name_end == end or block[name_end] != _QUOTE:
        return -1
    value = _skip_colon(block, name_end + 1, end)
    if value < 0:
        return -1
    wanted = _which(block, place + 1, name_end, names, name_ends)
    if wanted < 0:
        return _skip_value(block, value, end)
    first = block[value]
    if first == _QUOTE:
        place = find_special(block, value + 1, end)
        if place == end or block[place] != _QUOTE:
            return -1
        spans[wanted, 0], spans[wanted, 1] = value + 1, place
        kinds[wanted] = STRING
        return place + 1
    place = _skip_value(block, value, end)
    is_number = first == _MINUS or 0x30 <= first <= 0x39
    spans[wanted, 0] = value if is_number else -1
    spans[wanted, 1] = place if is_number else -1
    kinds[wanted] = NUMBER if is_number else MISSING if first == _LETTER_N else OTHER
    return place


@compiled
def _which(
    block: NDArray[np.uint8],
    start: int,
    end: int,
    names: NDArray[np.uint8],
    name_ends: NDArray[np.int64],
) -> int:
    """Return the number of the wanted name that ``block[start:end]`` is, or −1."""
    first = 0
    for number in range(name_ends.size):
        last = name_ends[number]
        if last - first == end - start:
            place = 0
            while place < end - start and block[start + place] == names[first + place]:
                place += 1
            if place == end - start:
                return number
        first = last
    return -1


@compiled
def find_special(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the first place of a quotation mark, backslash or control byte, or `end`."""
    place = start
    while place < end and place + VECTOR <= block.size:
        found = match_byte(block, place, _QUOTE) | match_byte(block, place, _BACKSLASH)
        found |= match_below(block, place, 0x20)
        if found:
            return min(place + first_bit(found), end)
        place += VECTOR
    while place < end:
        byte = block[place]
        if byte == _QUOTE or byte == _BACKSLASH or byte < 0x20:
            return place
        place += 1
    return end


@compiled
def _skip_space(block: NDArray[np.uint8], place: int, end: int) -> int:
    while place < end:
        byte = block[place]
        if byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09:
            return place
        place += 1
    return end


@compiled
def _skip_colon(block: NDArray[np.uint8], place: int, end: int) -> int:
    """Return where the value after a colon begins, or −1."""
    place = _skip_space(block, place, end)
    if place == end or block[place] != _COLON:
        return -1
    place = _skip_space(block, place + 1, end)
    return place if place < end else -1


@compiled
def _skip_value(block: NDArray[np.uint8], place: int, end: int) -> int:
    """Return the place after the value that begins at `place`, or −1."""
    # Below the highest bit stands one for each level: whether it is an object.
    levels = 1
    while True:
        after = _skip_simple(block, place, end)
        if after >= 0:
            place, levels = _leave(block, after, end, levels)
            if place < 0 or levels == 1:
                return place
        else:
            is_object = block[place] == _OPEN_OBJECT
            if not is_object and block[place] != _OPEN_ARRAY:
                return -1
            levels = 2 * levels + (1 if is_object else 0)
            place = _begin(block, place + 1, end, is_object)
            if place < 0 or levels >> _MAX_DEPTH:
                return -1


@compiled
def _leave(block: NDArray[np.uint8], place: int, end: int, levels: int) -> tuple[int, int]:
    """Leave the levels that end after a value; return where the next begins, and the levels.

    Where there is no level left, the place is that after the last; −1 stands for a mistake.
    """
    while levels > 1:
        is_object = levels % 2 == 1
        place = _skip_space(block, place, end)
        if place == end:
            return -1, levels
        if block[place] == _COMMA:
            return _begin(block, place + 1, end, is_object), levels
        if block[place] != (_CLOSE_OBJECT if is_object else _CLOSE_ARRAY):
            return -1, levels
        levels //= 2
        place += 1
    return place, levels


@compiled
def _begin(block: NDArray[np.uint8], place: int, end: int, is_object: bool) -> int:
    """Return where the next value of an object or array begins, or −1."""
    place = _skip_space(block, place, end)
    if place == end:
        return -1
    if not is_object:
        return place
    if block[place] != _QUOTE:
        return -1
    place = _skip_string(block, place, end)
    return _skip_colon(block, place, end) if place >= 0 else -1


@compiled
def _skip_simple(block: NDArray[np.uint8], place: int, end: int) -> int:
    """Return the place after a string, number, literal, empty object or array, or −1."""
    byte = block[place]
    if byte == _QUOTE:
        return _skip_string(block, place, end)
    if byte == _MINUS or 0x30 <= byte <= 0x39:
        return _skip_number(block, place, end)
    if byte == _OPEN_OBJECT or byte == _OPEN_ARRAY:
        place = _skip_space(block, place + 1, end)
        # In ASCII each closing bracket stands two places after the opening one.
        return place + 1 if place < end and block[place] == byte + 2 else -1
    return _skip_literal(block, place, end)


@compiled
def _skip_literal(block: NDArray[np.uint8], place: int, end: int) -> int:
    for literal in _LITERALS:
        if place + literal.size <= end:
            n_same = 0
            while n_same < literal.size and block[place + n_same] == literal[n_same]:
                n_same += 1
            if n_same == literal.size:
                return place + n_same
    return -1


@compiled
def _skip_string(block: NDArray[np.uint8], place: int, end: int) -> int:
    place += 1
    while True:
        place = find_special(block, place, end)
        if place == end or block[place] < 0x20:
            return -1
        if block[place] == _QUOTE:
            return place + 1
        if place + 1 == end:
            return -1
        letter = block[place + 1]
        place += 2
        if letter == _LETTER_U:
            if place + 4 > end:
                return -1
            for digit in range(place, place + 4):
                lower = block[digit] | 0x20
                if not (0x30 <= block[digit] <= 0x39 or 0x61 <= lower <= 0x66):
                    return -1
            place += 4
        elif not _is_short_escape(letter):
            return -1


@compiled
def _is_short_escape(letter: int) -> bool:
    if letter == _QUOTE or letter == _BACKSLASH or letter == 0x2F or letter == 0x62:
        return True
    return letter == 0x66 or letter == _LETTER_N or letter == 0x72 or letter == 0x74


@compiled
def _skip_number(block: NDArray[np.uint8], place: int, end: int) -> int:
    if block[place] == _MINUS:
        place += 1
    first = place
    place = _skip_digits(block, place, end)
    if place == first or (block[first] == 0x30 and place > first + 1):
        return -1
    if place < end and block[place] == _DOT:
        first = place + 1
        place = _skip_digits(block, first, end)
        if place == first:
            return -1
    if place < end and block[place] | 0x20 == 0x65:
        first = place + 1
        if first < end and (block[first] == _PLUS or block[first] == _MINUS):
            first += 1
        place = _skip_digits(block, first, end)
        if place == first:
            return -1
    return place


@compiled
def _skip_digits(block: NDArray[np.uint8], place: int, end: int) -> int:
    while place < end and 0x30 <= block[place] <= 0x39:
        place += 1
    return place
