"""Hold the canonical form of each URL against prefixes, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.surt_bytes import DEFER
from crawlgauge.keys.surt_host_kernel import MAX_LABELS
from crawlgauge.keys.surt_kernel import FORM_ROOM, MAX_FORM_BYTES, write_surt
from crawlgauge.keys.surt_query_kernel import MAX_PARAMETERS
from crawlgauge.keys.xxh64 import xxh64

__all__ = ["DEFERRED", "find_prefix", "find_prefixes"]

_COMMA, _COLON, _BRACKET, _SLASH, _MARK = 0x2C, 0x3A, 0x29, 0x2F, 0x3F
DEFERRED = -2
"""Stands for a URL that the reference of the canonical form must look at."""


@compiled
def find_prefix(
    form: NDArray[np.uint8],
    n_bytes: int,
    lengths: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    is_whole: NDArray[np.bool_],
) -> int:
    """Return the longest prefix that a canonical form begins with, or −1.

    Parameters
    ----------
    form, n_bytes
        The form and its length.
    lengths
        The different lengths of the prefixes, the longest first.
    hashes, is_whole
        The prefixes' hashes, rising, and which of them must end with a label or a part
        of the path.
    """
    for length in lengths:
        if length > n_bytes:
            continue
        wanted = xxh64(form, 0, length)
        place = np.searchsorted(hashes, wanted)
        if place == hashes.size or hashes[place] != wanted:
            continue
        if not is_whole[place] or length == n_bytes:
            return int(place)
        if _is_boundary(form[length]):
            return int(place)
    return -1


@compiled
def _is_boundary(byte: int) -> bool:
    in_host = byte == _COMMA or byte == _BRACKET or byte == _COLON
    return in_host or byte == _SLASH or byte == _MARK


@compiled
def find_prefixes(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    lengths: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    is_whole: NDArray[np.bool_],
    found: NDArray[np.int64],
) -> None:
    """Fill `found` with the longest prefix of each URL's form, −1 for none, −2 if left open.

    Parameters
    ----------
    data, starts, ends
        URL k is ``data[starts[k]:ends[k]]``.
    lengths, hashes, is_whole
        As for `find_prefix`.
    found
        Filled; −2 stands for a URL that the rule's reference must look at.
    """
    longest = 0
    for url in range(found.size):
        longest = max(longest, ends[url] - starts[url])
    longest = min(longest, MAX_FORM_BYTES)
    form = np.empty(3 * longest + FORM_ROOM, dtype=np.uint8)
    plain = np.empty(longest + FORM_ROOM, dtype=np.uint8)
    ordered = np.empty(3 * longest + FORM_ROOM, dtype=np.uint8)
    bounds = np.empty(max(2 * MAX_PARAMETERS, MAX_LABELS) + 1, dtype=np.int64)
    for url in range(found.size):
        start, end = int(np.int64(starts[url])), int(np.int64(ends[url]))
        length = DEFER
        if end - start <= MAX_FORM_BYTES:
            length = write_surt(data, start, end, form, plain, ordered, bounds)
        if length == DEFER:
            found[url] = DEFERRED
        else:
            found[url] = find_prefix(form, length, lengths, hashes, is_whole)
