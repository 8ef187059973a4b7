"""The rule ``surt`` in compiled code: the same form as `surt`, or the URL is left to it."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.percent_kernel import unescape_into
from crawlgauge.keys.surt_bytes import DEFER
from crawlgauge.keys.surt_host_kernel import MAX_LABELS, find_authority, write_authority
from crawlgauge.keys.surt_path_kernel import write_path
from crawlgauge.keys.surt_query_kernel import MAX_PARAMETERS, write_query
from crawlgauge.keys.xxh64 import xxh64
from crawlgauge.words import find_byte

__all__ = ["FORM_ROOM", "MAX_FORM_BYTES", "hash_surt", "write_surt"]

MAX_FORM_BYTES = 1 << 16
_AND, _COLON, _HASH, _MARK, _PLUS = 0x26, 0x3A, 0x23, 0x3F, 0x2B
FORM_ROOM = 8
"""For what a form has and its URL need not have: the signs around an empty path."""


@compiled
def hash_surt(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    keys: NDArray[np.uint64],
) -> NDArray[np.int64]:
    """Fill `keys` with the hashes of the URLs' canonical forms.

    Parameters
    ----------
    data, starts, ends
        URL k is ``data[starts[k]:ends[k]]``.
    keys
        Filled, one for each URL but those returned.

    Returns
    -------
    ndarray
        The numbers of the URLs that the reference must look at.
    """
    longest = 0
    for url in range(keys.size):
        longest = max(longest, ends[url] - starts[url])
    longest = min(longest, MAX_FORM_BYTES)
    # Each byte becomes an escape at most.
    form = np.empty(3 * longest + FORM_ROOM, dtype=np.uint8)
    plain = np.empty(longest + FORM_ROOM, dtype=np.uint8)
    ordered = np.empty(3 * longest + FORM_ROOM, dtype=np.uint8)
    bounds = np.empty(max(2 * MAX_PARAMETERS, MAX_LABELS) + 1, dtype=np.int64)
    deferred = np.empty(keys.size, dtype=np.int64)
    n_deferred = 0
    for url in range(keys.size):
        # As 32-bit numbers they would make numba compile all that follows once more.
        start, end = int(np.int64(starts[url])), int(np.int64(ends[url]))
        length = DEFER
        if end - start <= MAX_FORM_BYTES:
            length = write_surt(data, start, end, form, plain, ordered, bounds)
        if length == DEFER:
            deferred[n_deferred] = url
            n_deferred += 1
        else:
            keys[url] = xxh64(form, 0, length)
    return deferred[:n_deferred].copy()


@compiled
def write_surt(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    form: NDArray[np.uint8],
    plain: NDArray[np.uint8],
    ordered: NDArray[np.uint8],
    bounds: NDArray[np.int64],
) -> int:
    """Write the canonical form of ``data[start:end]`` to `form`.

    Returns
    -------
    int
        The form's length, or `DEFER`.
    """
    end = find_byte(data, start, end, _HASH)
    while start < end and data[start] <= 0x20:
        start += 1
    while end > start and data[end - 1] <= 0x20:
        end -= 1
    authority = find_authority(data, start, end)
    if authority == DEFER:
        return DEFER
    default_port = 80 if data[start + 4] == _COLON else 443
    length, path = write_authority(data, authority, end, default_port, form, bounds)
    if length == DEFER:
        return DEFER
    mark = find_byte(data, path, end, _MARK)
    path_end = unescape_into(data, path, mark, plain, 0, _MARK, _MARK)
    if path_end == DEFER:
        return DEFER
    length = write_path(plain, 0, path_end, form, length)
    if length == DEFER or mark == end:
        return length
    query_end = unescape_into(data, mark + 1, end, plain, path_end, _AND, _PLUS)
    if query_end == DEFER:
        return DEFER
    return write_query(plain, path_end, query_end, form, length, bounds, ordered)
