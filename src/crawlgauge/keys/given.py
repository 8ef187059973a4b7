"""The rule ``given``: the key that an index file holds, hashed as it is."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.xxh64 import xxh64

__all__ = ["hash_given"]


@compiled
def hash_given(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    keys: NDArray[np.uint64],
) -> None:
    """Fill `keys` with the hashes of ``data[starts[k]:ends[k]]``, unchanged."""
    for url in range(keys.size):
        keys[url] = xxh64(data, int(np.int64(starts[url])), int(np.int64(ends[url])))
