"""Scheme and authority of a SURT in compiled code: plain hosts, others are deferred."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.surt_bytes import DEFER, IN_HOST
from crawlgauge.words import load_half

__all__ = ["MAX_LABELS", "find_authority", "write_authority"]

_HTTP = np.uint64(0x70747468)
_LOWER = np.uint64(0x20202020)
_AT, _CLOSE, _COLON, _COMMA, _DOT, _MARK, _SLASH = 0x40, 0x29, 0x3A, 0x2C, 0x2E, 0x3F, 0x2F
_ZERO, _NINE = 0x30, 0x39
_MAX_PORT = 65535
MAX_LABELS = 64
"""No name has as many; an address with more is left to the reference."""


@compiled
def find_authority(data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return where the authority of an http or https URL begins, or `DEFER` for any other."""
    if end - start < 8 or (load_half(data, start) | _LOWER) != _HTTP:
        return DEFER
    place = start + 4
    if data[place] | 0x20 == 0x73:
        place += 1
    if data[place] != _COLON or data[place + 1] != _SLASH or data[place + 2] != _SLASH:
        return DEFER
    place += 3
    return DEFER if place >= end or data[place] == _SLASH else place


@compiled
def write_authority(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    default_port: int,
    form: NDArray[np.uint8],
    labels: NDArray[np.int64],
) -> tuple[int, int]:
    """Write host and port and the closing parenthesis at the beginning of `form`.

    Parameters
    ----------
    data, start, end
        The URL, from its authority on.
    default_port
        The port that is not written.
    form
        What is written.
    labels
        Room for the place of each label and one more.

    Returns
    -------
    int
        The form's length, or `DEFER`.
    int
        Where the authority ends.
    """
    n_labels, colon, authority_end = _find_labels(data, start, end, labels)
    first = _count_www(data, labels, n_labels)
    if n_labels == 0 or not _is_plain_host(data, labels, first, n_labels):
        return DEFER, authority_end
    length = 0
    for number in range(n_labels - 1, first - 1, -1):
        for place in range(labels[number], labels[number + 1] - 1):
            form[length] = IN_HOST[data[place]]
            length += 1
        form[length] = _COMMA
        length += 1
    length = _write_port(data, colon, authority_end, default_port, form, length - 1)
    if length != DEFER:
        form[length] = _CLOSE
        length += 1
    return length, authority_end


@compiled
def _find_labels(
    data: NDArray[np.uint8], start: int, end: int, labels: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Note where each label begins, and one byte after the dot that could follow the last.

    Returns
    -------
    int
        How many labels there are; none if there is anything but names and single dots.
    int
        Where the colon of the port stands, or the end of the authority.
    int
        Where the authority ends.
    """
    n_labels = 0
    colon = -1
    is_odd = False
    begins_label = True
    place = start
    while place < end:
        byte = data[place]
        if IN_HOST[byte]:
            if begins_label:
                if n_labels == MAX_LABELS:
                    is_odd, n_labels = True, 0
                labels[n_labels] = place
                n_labels += 1
                begins_label = False
        elif byte == _DOT:
            is_odd |= begins_label
            begins_label = colon < 0
        elif byte == _SLASH or byte == _MARK:
            break
        elif byte == _AT:
            n_labels, colon, is_odd, begins_label = 0, -1, False, True
        elif byte == _COLON and colon < 0:
            labels[n_labels] = place if begins_label else place + 1
            colon = place
            begins_label = False
        else:
            is_odd = True
        place += 1
    if colon < 0:
        labels[n_labels] = place if begins_label else place + 1
        colon = place
    return 0 if is_odd else n_labels, colon, place


@compiled
def _count_www(data: NDArray[np.uint8], labels: NDArray[np.int64], n_labels: int) -> int:
    """Return how many labels at the beginning are ``www``, as long as two others remain."""
    number = 0
    while number < n_labels - 2:
        start, end = labels[number], labels[number + 1] - 1
        if not 3 <= end - start <= 6:
            break
        if not (_is_w(data[start]) and _is_w(data[start + 1]) and _is_w(data[start + 2])):
            break
        place = start + 3
        while place < end and _ZERO <= data[place] <= _NINE:
            place += 1
        if place < end:
            break
        number += 1
    return number


@compiled
def _is_w(byte: int) -> bool:
    return byte | 0x20 == 0x77


@compiled
def _is_plain_host(
    data: NDArray[np.uint8], labels: NDArray[np.int64], first: int, n_labels: int
) -> bool:
    """Tell whether a host is a name, or four decimal numbers as one writes them."""
    if not _ZERO <= data[labels[n_labels - 1]] <= _NINE:
        return True
    if n_labels - first != 4:
        return False
    for number in range(first, n_labels):
        start, end = labels[number], labels[number + 1] - 1
        if end - start > 3 or (data[start] == _ZERO and end - start > 1):
            return False
        value = 0
        for place in range(start, end):
            if not _ZERO <= data[place] <= _NINE:
                return False
            value = value * 10 + (data[place] - _ZERO)
        if value > 255:
            return False
    return True


@compiled
def _write_port(
    data: NDArray[np.uint8],
    colon: int,
    end: int,
    default_port: int,
    form: NDArray[np.uint8],
    length: int,
) -> int:
    """Write the port unless it is the default; defer what is no port as one writes it."""
    if colon == end:
        return length
    if colon + 1 == end or end - colon > 6 or data[colon + 1] == _ZERO:
        return DEFER
    port = 0
    for place in range(colon + 1, end):
        if not _ZERO <= data[place] <= _NINE:
            return DEFER
        port = port * 10 + (data[place] - _ZERO)
    if port > _MAX_PORT:
        return DEFER
    if port == default_port:
        return length
    for place in range(colon, end):
        form[length] = data[place]
        length += 1
    return length
