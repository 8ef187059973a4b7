"""The query of a SURT in compiled code: the twin of `surt_query`."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.surt_bytes import DEFER, IN_QUERY, begins_with, write_special
from crawlgauge.words import copy_bytes

__all__ = ["MAX_PARAMETERS", "write_query"]

MAX_PARAMETERS = 64
"""Longer queries are so rare that the reference may sort them."""

_AND, _EQUALS, _MARK = 0x26, 0x3D, 0x3F
_KEEP, _DROP, _CFID, _CFTOKEN = 0, 1, 2, 3
_SESSION_NAMES = (
    np.frombuffer(b"jsessionid=", dtype=np.uint8),
    np.frombuffer(b"phpsessid=", dtype=np.uint8),
    np.frombuffer(b"sid=", dtype=np.uint8),
)
_ASP_NAME = np.frombuffer(b"aspsessionid", dtype=np.uint8)
_CFID_NAME = np.frombuffer(b"cfid=", dtype=np.uint8)
_CFTOKEN_NAME = np.frombuffer(b"cftoken=", dtype=np.uint8)


@compiled
def write_query(
    source: NDArray[np.uint8],
    start: int,
    end: int,
    form: NDArray[np.uint8],
    length: int,
    bounds: NDArray[np.int64],
    ordered: NDArray[np.uint8],
) -> int:
    """Append a question mark and a query to the form, or nothing if no parameter is left.

    Parameters
    ----------
    source, start, end
        The query without its question mark, with escapes undone.
    form, length
        What is written, and how much of it so far.
    bounds
        Room for the place of each parameter and one more.
    ordered
        Room for the sorted query.

    Returns
    -------
    int
        The form's new length, or `DEFER`.
    """
    form[length] = _MARK
    begin = length + 1
    length = begin
    bounds[0] = begin
    # As a literal it would make numba compile all that follows twice.
    n_parameters = np.int64(1)
    for place in range(start, end):
        byte = source[place]
        plain = IN_QUERY[byte]
        if plain:
            form[length] = plain
            length += 1
        elif byte == _AND:
            if n_parameters == MAX_PARAMETERS:
                return DEFER
            form[length] = _AND
            length += 1
            bounds[n_parameters] = length
            n_parameters += 1
        else:
            length = write_special(source, place, end, form, length)
    # Each parameter ends one byte before the next one's place.
    bounds[n_parameters] = length + 1
    length = _arrange(form, begin, length, bounds, n_parameters, ordered)
    return length if length > begin else begin - 1


@compiled
def _arrange(
    form: NDArray[np.uint8],
    begin: int,
    end: int,
    bounds: NDArray[np.int64],
    n_parameters: np.int64,
    ordered: NDArray[np.uint8],
) -> int:
    """Sort the parameters and leave out sessions; return the form's new length."""
    n_kept, has_pair = _count_kept(form, bounds, n_parameters)
    if n_kept == n_parameters and _is_sorted(form, bounds, n_parameters):
        return end
    order = bounds[MAX_PARAMETERS + 1 :]
    n_placed = 0
    for number in range(n_parameters):
        kind = _kind(form, bounds[number], bounds[number + 1] - 1)
        if kind == _DROP or (kind != _KEEP and has_pair):
            continue
        slot = n_placed
        while slot > 0 and _is_less(form, bounds, number, order[slot - 1]):
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = number
        n_placed += 1
    length = 0
    for slot in range(n_placed):
        if slot:
            ordered[length] = _AND
            length += 1
        start, stop = bounds[order[slot]], bounds[order[slot] + 1] - 1
        copy_bytes(form, start, stop, ordered, length)
        length += stop - start
    copy_bytes(ordered, 0, length, form, begin)
    return begin + length


@compiled
def _count_kept(
    form: NDArray[np.uint8], bounds: NDArray[np.int64], n_parameters: np.int64
) -> tuple[np.int64, bool]:
    """Return how many parameters name no session, and whether CFID and CFTOKEN both do."""
    n_dropped = n_cfid = n_cftoken = 0
    for number in range(n_parameters):
        kind = _kind(form, bounds[number], bounds[number + 1] - 1)
        n_dropped += kind == _DROP
        n_cfid += kind == _CFID
        n_cftoken += kind == _CFTOKEN
    has_pair = n_cfid > 0 and n_cftoken > 0
    if has_pair:
        n_dropped += n_cfid + n_cftoken
    return n_parameters - n_dropped, has_pair


@compiled
def _kind(form: NDArray[np.uint8], start: int, end: int) -> int:
    """Tell what a parameter is by its name and the shape of its value."""
    if start == end:
        return _KEEP
    first = form[start]
    if first == 0x6A or first == 0x70 or first == 0x73:
        return _DROP if _is_session(form, start, end) else _KEEP
    if first == 0x61:
        return _DROP if _is_asp_session(form, start, end) else _KEEP
    if first == 0x63:
        if begins_with(form, start, end, _CFID_NAME) and end - start > _CFID_NAME.size:
            return _CFID
        if begins_with(form, start, end, _CFTOKEN_NAME) and end - start > _CFTOKEN_NAME.size:
            return _CFTOKEN
    return _KEEP


@compiled
def _is_session(form: NDArray[np.uint8], start: int, end: int) -> bool:
    """Match ``jsessionid=``, ``phpsessid=`` or ``sid=`` and 32 letters or digits."""
    value = end - 32
    for name in _SESSION_NAMES:
        if value - start == name.size and begins_with(form, start, end, name):
            for place in range(value, end):
                byte = form[place]
                if not (0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39):
                    return False
            return True
    return False


@compiled
def _is_asp_session(form: NDArray[np.uint8], start: int, end: int) -> bool:
    """Match ``aspsessionid``, 8 letters, an equals sign and 24 letters."""
    name_end = start + _ASP_NAME.size + 8
    if end - name_end != 25 or not begins_with(form, start, end, _ASP_NAME):
        return False
    if form[name_end] != _EQUALS:
        return False
    for place in range(start, end):
        if place != name_end and not 0x61 <= form[place] <= 0x7A:
            return False
    return True


@compiled
def _is_sorted(form: NDArray[np.uint8], bounds: NDArray[np.int64], n_parameters: np.int64) -> bool:
    number = 1
    while number < n_parameters and not _is_less(form, bounds, number, number - 1):
        number += 1
    return number == n_parameters


@compiled
def _is_less(form: NDArray[np.uint8], bounds: NDArray[np.int64], one: int, other: int) -> bool:
    """Compare by name, then no value before an empty one, then by value."""
    shift = bounds[other] - bounds[one]
    end_one, end_other = bounds[one + 1] - 1, bounds[other + 1] - 1
    in_name = True
    place = bounds[one]
    while place < end_one and place + shift < end_other:
        a, b = form[place], form[place + shift]
        if a != b:
            # The end of a name comes before any character that continues it.
            if in_name and (a == _EQUALS or b == _EQUALS):
                return bool(a == _EQUALS)
            return bool(a < b)
        in_name = in_name and a != _EQUALS
        place += 1
    return bool(place == end_one and place + shift < end_other)
