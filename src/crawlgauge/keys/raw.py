"""The rule ``raw``: the URL as it is, without surrounding space and without its fragment."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.xxh64 import xxh64
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import find_byte

__all__ = ["canonical_raw", "hash_raw"]

_HASH = 0x23
_SPACES = b" \t\n\v\f\r"


def canonical_raw(url: bytes) -> bytes:
    """Return the canonical form of a URL: the readable twin of `hash_raw`.

    Examples
    --------
    >>> canonical_raw(b"  http://example.org/a#part ")
    b'http://example.org/a'
    """
    return url.split(b"#", 1)[0].strip(_SPACES)


@compiled
def hash_raw(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    keys: NDArray[np.uint64],
) -> None:
    """Fill `keys` with the hashes of the URLs' canonical forms.

    Parameters
    ----------
    data, starts, ends
        URL k is ``data[starts[k]:ends[k]]``.
    keys
        Filled, one for each URL.
    """
    for url in range(keys.size):
        start = int(np.int64(starts[url]))
        end = find_byte(data, start, int(np.int64(ends[url])), _HASH)
        while start < end and is_space(data[start]):
            start += 1
        while end > start and is_space(data[end - 1]):
            end -= 1
        keys[url] = xxh64(data, start, end)
