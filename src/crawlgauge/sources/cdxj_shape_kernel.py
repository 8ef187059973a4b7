"""Read CDXJ lines that are made like others before, in compiled code.

A program that writes an index writes every line in the same way. What stands between two values
of the JSON, such as ``", "mime": "``, is the same in each line and need not be understood again:
it is compared, as a whole, with what stood there before. Lines that are made in any other way are
left to the kernels that read them closely.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.record_kernel import KEY, N_FIELDS, TIME
from crawlgauge.sources.time_kernel import are_digits
from crawlgauge.words import (
    VECTOR,
    count_bits,
    first_bit,
    load_word,
    match_below,
    match_byte,
    match_same,
)

__all__ = [
    "BEGINNING",
    "FIELD",
    "FOLLOWER",
    "IS_TEXT",
    "LENGTH",
    "MAX_JOINTS",
    "NONE",
    "N_KNOWN",
    "N_QUOTES",
    "ROOM",
    "UNKNOWN",
    "UNSURE",
    "scan_alike",
]

UNSURE = 255
"""Verdict on lines that are to be read closely."""

MAX_JOINTS = 64
"""More than all programs together write."""

N_KNOWN = 8
LENGTH, N_QUOTES, IS_TEXT, FIELD, FOLLOWER = np.arange(5, dtype=np.uint64)
"""What is known of a joint, in a row of `N_KNOWN` numbers: its length; how many quotation marks it
has; whether it ends with one, so that a text follows and no number; which field of `record_kernel`
the value behind it is, or `NONE`; and where the row of the joint begins that followed it last."""

BEGINNING = np.uint64(MAX_JOINTS * N_KNOWN)
"""The row that stands for what is before the first joint."""

UNKNOWN = np.uint64((MAX_JOINTS + 1) * N_KNOWN)
"""The row that stands for a joint that is not known."""

NONE = -1
"""No field, or no place."""

ROOM = 64
"""How much longer the block and the list of its special bytes are than what is read."""

_TIME_BYTES = 14
_NEWLINE, _RETURN, _SPACE, _QUOTE, _COMMA, _DASH = 0x0A, 0x0D, 0x20, 0x22, 0x2C, 0x2D
_ZERO, _NINE, _LETTER_C, _BACKSLASH, _OPEN, _CLOSE = 0x30, 0x39, 0x43, 0x5C, 0x7B, 0x7D
_N_PLACES = 2 * N_FIELDS
_ROW_BITS = np.uint64(3)
_JOINT_BITS = np.uint64(2)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_AT_ONCE = 8

_CHUNK = 1 << 16
"""How many bytes are looked through at a time: with what is found in them, a core's own cache holds
them."""


@compiled
def scan_alike(  # noqa: C901, PLR0912, PLR0915 - see below
    block: NDArray[np.uint8],
    n_bytes: int,
    is_last: bool,
    cuts: NDArray[np.int64],
    joints: NDArray[np.uint8],
    masks: NDArray[np.uint64],
    known: NDArray[np.int64],
    n_joints: int,
    specials: NDArray[np.int32],
    bounds: NDArray[np.int64],
    spans: NDArray[np.int32],
    verdicts: NDArray[np.uint8],
) -> tuple[int, int]:
    """Find the lines of a block, and the fields of those whose JSON has known joints only.

    Parameters
    ----------
    block, n_bytes
        Lines, and how many bytes of them matter; the block has `ROOM` more.
    is_last
        Whether the last line ends there; if not, it is left out.
    cuts
        Where one line ends and another begins without a newline, in rising order, and behind them
        a place beyond all.
    joints
        What stands before the values: joint k begins at ``k * VECTOR``. Its first byte is ``{``, or
        the quotation mark or comma that ends the value before.
    masks
        For each joint a bit for each of its bytes; for an unknown one, a bit that never fits.
    known
        What is known of each joint; see `LENGTH`. Followers are updated.
    n_joints
        How many there are.
    specials
        Room for the places of quotation marks, backslashes and control bytes; `ROOM` longer than
        the bytes that matter.
    bounds, spans, verdicts
        Filled for each line; the verdict is `ACCEPTED` or `UNSURE`.

    Returns
    -------
    int
        How many lines were found.
    int
        Where the next one begins.
    """
    places = spans.reshape(-1)
    line, start, n_cuts, chunk = 0, 0, 0, _CHUNK
    # All in one function, and most numbers unsigned: numba hands on an array in so many parts that
    # a call for each line would take as long as the line, and sees to negative ones each time.
    while start < n_bytes:
        # Lines are read soon after their special bytes were found, while they are near the
        # processor. One that does not end in the chunk is left to the next, which begins with it.
        first_line, stop, special = line, min(start + chunk, n_bytes), 0
        n_specials = _find_specials(block, start, stop, specials)
        while start < stop:
            record = np.uint64(line * _N_PLACES)
            for number in range(_N_PLACES):
                places[record + np.uint64(number)] = NONE
            key_end = _find_key_end(block, start)
            place, end = key_end + _TIME_BYTES + 2, NONE
            after, before, seen = np.uint64(special), BEGINNING, 0
            is_alike = key_end != NONE and specials[after] > place
            while is_alike and place < stop:
                row = np.uint64(known[before + FOLLOWER])
                wanted = masks[row >> _ROW_BITS]
                if match_same(block, place, joints, int(row << _JOINT_BITS)) & wanted != wanted:
                    row = _find_joint(block, place, joints, masks, known, n_joints, before)
                    if row == UNKNOWN:
                        break
                    known[before + FOLLOWER] = row
                before = row
                first = place + known[row + LENGTH]
                after += np.uint64(known[row + N_QUOTES])
                if known[row + IS_TEXT]:
                    place = int(np.int64(specials[after]))
                    closing = place + 1
                    is_alike = block[np.uint64(place)] == _QUOTE
                else:
                    place = _find_number_end(block, first)
                    closing = place
                    is_alike = place > first
                field = known[row + FIELD]
                if field != NONE:
                    # Which of two members counts is for others to decide.
                    is_alike = is_alike and not seen >> field & 1
                    seen |= 1 << field
                    if place - first > 1 or (place > first and block[np.uint64(first)] != _DASH):
                        slot = record + np.uint64(2 * field)
                        places[slot], places[slot + _ONE] = first, place
                if block[np.uint64(closing)] == _CLOSE:
                    end = closing + 1 if is_alike else NONE
                    break
            cut = cuts[n_cuts]
            if end != NONE:
                end += block[end] == _RETURN
                is_end = block[end] == _NEWLINE or end == cut or (is_last and end == n_bytes)
                end = end if is_end and end <= min(cut, stop) else NONE
            if end != NONE and (end < stop or stop == n_bytes):
                verdicts[line] = ACCEPTED
                spans[line, KEY, 0], spans[line, KEY, 1] = start, key_end
                spans[line, TIME, 0], spans[line, TIME, 1] = key_end + 1, key_end + 1 + _TIME_BYTES
                special = int(np.int64(after))
            else:
                verdicts[line] = UNSURE
                newline = special
                while newline < n_specials and block[specials[newline]] != _NEWLINE:
                    newline += 1
                end = min(int(np.int64(specials[newline])), cut)
                if end == stop and (stop < n_bytes or not is_last):
                    break
            bounds[line, 0], bounds[line, 1] = start, end
            line += 1
            is_cut = end == cut
            n_cuts += is_cut
            start = end if is_cut else end + 1
            while special < n_specials and specials[special] < start:
                special += 1
        if line > first_line:
            chunk = _CHUNK
        elif stop < n_bytes:
            chunk *= 2
        else:
            break
    return line, start


@compiled
def _find_specials(
    block: NDArray[np.uint8], start: int, stop: int, specials: NDArray[np.int32]
) -> int:
    """Find quotation marks, backslashes and control bytes; return how many there are.

    Behind them, the list has `stop` for what is looked for and not found.
    """
    n_found = np.uint64(0)
    for place in range(start, stop, 2 * VECTOR):
        found = _match_special(block, place) | _match_special(block, place + VECTOR) << _HALF
        n_new = np.uint64(count_bits(found))
        # How many there are is hard to foresee. What is too much is overwritten.
        for number in range(_AT_ONCE):
            specials[n_found + np.uint64(number)] = place + first_bit(found)
            found &= found - _ONE
        number = _AT_ONCE
        while found:
            specials[n_found + np.uint64(number)] = place + first_bit(found)
            found &= found - _ONE
            number += 1
        n_found += n_new
    n_specials = np.int64(n_found)
    while n_specials > 0 and specials[n_specials - 1] >= stop:
        n_specials -= 1
    # No joint has more quotation marks.
    specials[n_specials : n_specials + _AT_ONCE] = stop
    return int(n_specials)


@compiled
def _match_special(block: NDArray[np.uint8], place: int) -> np.uint64:
    found = match_byte(block, place, _QUOTE) | match_byte(block, place, _BACKSLASH)
    return found | match_below(block, place, _SPACE)


@compiled
def _find_key_end(block: NDArray[np.uint8], start: int) -> int:
    """Return where the key ends of a line of key, time and JSON; `NONE` if it seems to be another.

    The block has room behind the line.
    """
    first = block[start]
    # No legend, comment or JSON begins so.
    is_letter = 0x61 <= first | 0x20 <= 0x7A and first != _LETTER_C
    if not (is_letter or _ZERO <= first <= _NINE):
        return NONE
    place = start
    found = match_below(block, place, _SPACE + 1)
    while not found and place + 2 * VECTOR + _TIME_BYTES < block.size:
        place += VECTOR
        found = match_below(block, place, _SPACE + 1)
    place += first_bit(found)
    json = place + _TIME_BYTES + 2
    if json >= block.size:
        return NONE
    is_plain = block[place] == _SPACE and block[json - 1] == _SPACE and block[json] == _OPEN
    date, clock = load_word(block, place + 1), load_word(block, json - 9)
    return place if is_plain and are_digits(date) and are_digits(clock) else NONE


@compiled
def _find_number_end(block: NDArray[np.uint8], start: int) -> int:
    """Return where a plain whole number ends that begins at `start`; `start` if there is none."""
    are_digits = match_below(block, start, _NINE + 1) & ~match_below(block, start, _ZERO)
    n_digits = first_bit(~are_digits)
    is_plain = n_digits == 1 or (0 < n_digits < VECTOR and block[start] != _ZERO)
    return start + n_digits if is_plain else start


@compiled
def _find_joint(
    block: NDArray[np.uint8],
    place: int,
    joints: NDArray[np.uint8],
    masks: NDArray[np.uint64],
    known: NDArray[np.int64],
    n_joints: int,
    before: np.uint64,
) -> np.uint64:
    """Return the row of the longest joint that stands at a place and can follow another."""
    opening = _COMMA
    if before == BEGINNING:
        opening = _OPEN
    elif known[before + IS_TEXT]:
        opening = _QUOTE
    found, longest = UNKNOWN, 0
    for joint in range(n_joints):
        row, wanted = np.uint64(joint * N_KNOWN), masks[joint]
        is_longer = joints[joint * VECTOR] == opening and known[row + LENGTH] > longest
        if is_longer and match_same(block, place, joints, joint * VECTOR) & wanted == wanted:
            found, longest = row, known[row + LENGTH]
    return found
