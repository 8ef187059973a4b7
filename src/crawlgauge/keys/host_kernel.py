"""The hosts of captures and their codes in compiled code, as in `host` or left to it."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.dictionary_kernel import FULL, NO_CODE, find_code, is_same
from crawlgauge.keys.host import MAX_HOST_BYTES
from crawlgauge.keys.recent_kernel import ROW_BYTES, choose_row, note_recent
from crawlgauge.keys.surt_bytes import DEFER, IN_HOST
from crawlgauge.keys.surt_host_kernel import MAX_LABELS, find_authority, write_authority
from crawlgauge.words import find_byte

__all__ = ["DEFERRED", "code_hosts", "make_host_room", "write_host"]

DEFERRED = -4
"""In place of a code: the reference must look at this capture."""

_CLOSE, _COLON, _COMMA, _DOT, _HASH, _SLASH = 0x29, 0x3A, 0x2C, 0x2E, 0x23, 0x2F
_ZERO, _NINE = 0x30, 0x39
_N_BEFORE_SLASH = 8
"""The first slash that can end a host stands behind ``http://`` and one byte at least."""

_ANY_PORT = 80
"""Ports are taken away, so it does not matter which of them is the default."""

_MAX_AUTHORITY_BYTES = 512
"""Room for the longest host with userinfo and port; what is longer is left to the reference."""


def make_host_room() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Make the room that kernels need to find a host; its first part is where the host will be."""
    host, form = (np.empty(_MAX_AUTHORITY_BYTES + 8, dtype=np.uint8) for _ in range(2))
    return host, form, np.empty(MAX_LABELS + 1, dtype=np.int64)


@compiled
def code_hosts(
    data: NDArray[np.uint8],
    firsts: NDArray[np.int32],
    lasts: NDArray[np.int32],
    are_keys: bool,
    chosen: NDArray[np.int64],
    codes: NDArray[np.int32],
    first: int,
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    texts: NDArray[np.uint8],
    n_texts: NDArray[np.int64],
    recent_texts: NDArray[np.uint8],
    found: NDArray[np.int32],
    host: NDArray[np.uint8],
    form: NDArray[np.uint8],
    labels: NDArray[np.int64],
) -> int:
    """Fill `codes` with the codes of the hosts of some captures, from number `first` on.

    Sorted captures come in runs of one host: the bytes that decide on it are compared with those
    of the capture before, then looked up among recent ones, and only then is the host found.

    Parameters
    ----------
    data, firsts, lasts, are_keys
        The URL of capture k, or its index key, is ``data[firsts[k]:lasts[k]]``.
    chosen, codes
        The numbers of the captures, and for each its code, `NO_CODE` if it has no host, or
        `DEFERRED`.
    first
        Place in `chosen`.
    slots, hashes, starts, texts, n_texts
        A `TextTable`, added to.
    recent_texts, found
        A `Recent`, for this table.
    host, form, labels
        As of `make_host_room`.

    Returns
    -------
    int
        Where it stopped: at the end of `chosen`, or where the table is full.
    """
    separator, n_before = (_CLOSE, 0) if are_keys else (_SLASH, _N_BEFORE_SLASH)
    old, old_bytes, code = 0, 0, NO_CODE
    for place in range(first, chosen.size):
        number = chosen[place]
        start, end = int(firsts[number]), int(lasts[number])
        if (
            old_bytes == 0
            or old_bytes > end - start
            or not is_same(data, start, data, old, old_bytes)
        ):
            old, old_bytes, row = start, 0, -1
            decisive = find_byte(data, min(start + n_before, end), end, separator) + 1
            if decisive <= end:
                row = choose_row(data, start, decisive)
                old_bytes = decisive - start
            if (
                row >= 0
                and found[row, 0] == old_bytes
                and is_same(data, start, recent_texts, row * ROW_BYTES, old_bytes)
            ):
                code = int(found[row, 1])
            else:
                n_bytes = write_host(data, start, end, are_keys, host, form, labels)
                code = NO_CODE
                if n_bytes > 0:
                    code = find_code(slots, hashes, starts, texts, n_texts, host, 0, n_bytes)
                if code == FULL:
                    return place
                if n_bytes == DEFER:
                    # More than these bytes may decide.
                    code, old_bytes = DEFERRED, 0
                else:
                    note_recent(recent_texts, found, row, data, start, decisive, code)
        codes[place] = code
    return chosen.size


@compiled
def write_host(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    is_key: bool,
    host: NDArray[np.uint8],
    form: NDArray[np.uint8],
    labels: NDArray[np.int64],
) -> int:
    """Write the host of the URL or index key ``data[start:end]`` to `host`.

    Unless it defers, what it returns depends on nothing behind the first slash or question mark
    after ``http://`` and, in a key, on nothing behind the first closing parenthesis.

    Returns
    -------
    int
        The host's length, 0 if there is none that could be resolved, or `DEFER`.
    """
    if is_key:
        host_end = _find_host_end(data, start, min(end, start + _MAX_AUTHORITY_BYTES))
        if host_end == DEFER:
            return DEFER
        length = _reverse(data, start, host_end, host)
        return _write_canonical(host, 0, length, host, form, labels)
    authority = find_authority(data, start, end)
    if authority == DEFER:
        return DEFER
    return _write_canonical(data, authority, end, host, form, labels)


@compiled
def _find_host_end(data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return where the labels of a key end, if only a port stands between them and the end."""
    place = start
    while place < end and (IN_HOST[data[place]] or data[place] == _COMMA):
        place += 1
    host_end = place
    if place < end and data[place] == _COLON:
        place += 1
        while place < end and _ZERO <= data[place] <= _NINE:
            place += 1
    if host_end == start or place == end or data[place] != _CLOSE:
        return DEFER
    return host_end


@compiled
def _write_canonical(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    host: NDArray[np.uint8],
    form: NDArray[np.uint8],
    labels: NDArray[np.int64],
) -> int:
    """Write the host of the authority that begins at `start`; `data` may be `host` itself."""
    last = min(end, start + _MAX_AUTHORITY_BYTES)
    length, authority_end = write_authority(data, start, last, _ANY_PORT, form, labels)
    if length == DEFER or (authority_end == last and last < end):
        return DEFER
    # It would hide in the userinfo, and is the URL's end.
    if find_byte(data, start, authority_end, _HASH) < authority_end:
        return DEFER
    host_end = 0
    while form[host_end] != _COLON and form[host_end] != _CLOSE:
        host_end += 1
    length = _reverse(form, 0, host_end, host)
    return length if length <= MAX_HOST_BYTES else 0


@compiled
def _reverse(data: NDArray[np.uint8], start: int, end: int, target: NDArray[np.uint8]) -> int:
    """Write the labels between commas from the last to the first, with dots between them."""
    length = 0
    label_end = end
    while True:
        label = label_end
        while label > start and data[label - 1] != _COMMA:
            label -= 1
        for place in range(label, label_end):
            target[length] = data[place]
            length += 1
        if label == start:
            return length
        target[length] = _DOT
        length += 1
        label_end = label - 1
