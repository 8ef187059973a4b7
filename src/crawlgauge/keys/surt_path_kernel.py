"""The path of a SURT in compiled code: the twin of `surt_path`."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.surt_bytes import DEFER, IN_PATH, begins_with, write_special

__all__ = ["write_path"]

_DOT, _OPEN, _CLOSE, _SEMICOLON, _SLASH = 0x2E, 0x28, 0x29, 0x3B, 0x2F
_SERVLET_SESSION = np.frombuffer(b";jsessionid=", dtype=np.uint8)
_PAGE = np.frombuffer(b".aspx", dtype=np.uint8)
_SESSION_LENGTH = 24


@compiled
def write_path(
    source: NDArray[np.uint8],
    start: int,
    end: int,
    form: NDArray[np.uint8],
    length: int,
) -> int:
    """Append a path to the form.

    Parameters
    ----------
    source, start, end
        The path, from its first slash on, with escapes undone; may be empty.
    form, length
        What is written, and how much of it so far.

    Returns
    -------
    int
        The form's new length, or `DEFER`.
    """
    root = length
    form[length] = _SLASH
    length += 1
    segment = length
    has_empty = False
    has_open = False
    place = start + 1
    while place < end:
        byte = source[place]
        plain = IN_PATH[byte]
        if plain:
            form[length] = plain
            length += 1
        elif byte == _SLASH:
            # Stepping back over an empty segment goes nowhere, but no trace of it is left here.
            if has_empty and _is_parent(form, segment, length):
                return DEFER
            has_empty |= length == segment
            length = _end_segment(form, root, segment, length)
            segment = length
        elif byte == _SEMICOLON and begins_with(source, place, end, _SERVLET_SESSION):
            place = _skip_parameter(source, place + 1, end) - 1
        elif byte == _OPEN or byte == _SEMICOLON:
            has_open |= byte == _OPEN
            form[length] = byte
            length += 1
        else:
            length = write_special(source, place, end, form, length)
        place += 1
    if has_empty and _is_parent(form, segment, length):
        return DEFER
    length = _end_segment(form, root, segment, length)
    if length > root + 1:
        length -= 1
    return _strip_sessions(form, root, length) if has_open else length


@compiled
def _is_parent(form: NDArray[np.uint8], segment: int, length: int) -> bool:
    return length - segment == 2 and form[segment] == _DOT and form[segment + 1] == _DOT


@compiled
def _end_segment(form: NDArray[np.uint8], root: int, segment: int, length: int) -> int:
    """Return the length of the form up to where the next segment begins."""
    if length == segment or (length == segment + 1 and form[segment] == _DOT):
        return segment
    if _is_parent(form, segment, length):
        if segment == root + 1:
            return segment
        before = segment - 1
        while form[before - 1] != _SLASH:
            before -= 1
        return before
    form[length] = _SLASH
    return length + 1


@compiled
def _skip_parameter(source: NDArray[np.uint8], place: int, end: int) -> int:
    while place < end and source[place] != _SEMICOLON and source[place] != _SLASH:
        place += 1
    return place


@compiled
def _strip_sessions(form: NDArray[np.uint8], root: int, end: int) -> int:
    """Leave out the session segments before the last name of a page."""
    page = end - _PAGE.size
    while page > root and not begins_with(form, page, end, _PAGE):
        page -= 1
    length = root + 1
    segment = root + 1
    while segment < end:
        segment_end = segment
        while segment_end < end and form[segment_end] != _SLASH:
            segment_end += 1
        if page <= segment_end + 1 or not _is_session(form, segment, segment_end):
            for place in range(segment, segment_end):
                form[length] = form[place]
                length += 1
            form[length] = _SLASH
            length += 1
        segment = segment_end + 1
    return length - 1 if length > root + 1 else length


@compiled
def _is_session(form: NDArray[np.uint8], segment: int, end: int) -> bool:
    """Match ``(24)`` or ``(a(24)b(24)…)``, where 24 is so many letters or digits."""
    if end - segment < _SESSION_LENGTH + 2 or form[segment] != _OPEN or form[end - 1] != _CLOSE:
        return False
    if end - segment == _SESSION_LENGTH + 2:
        return _is_alphanumeric(form, segment + 1, end - 1)
    unit = _SESSION_LENGTH + 3
    if (end - segment - 2) % unit:
        return False
    for start in range(segment + 1, end - 1, unit):
        if not 0x61 <= form[start] <= 0x7A:
            return False
        if form[start + 1] != _OPEN or form[start + unit - 1] != _CLOSE:
            return False
        if not _is_alphanumeric(form, start + 2, start + unit - 1):
            return False
    return True


@compiled
def _is_alphanumeric(form: NDArray[np.uint8], start: int, end: int) -> bool:
    for place in range(start, end):
        byte = form[place]
        if not (0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39):
            return False
    return True
