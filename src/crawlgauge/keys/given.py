"""The rule ``given``: the key that an index file holds, hashed as it is."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.xxh64 import xxh64

__all__ = ["hash_given"]


@compiled
def hash_given(
    data: NDArray[np.uint8], offsets: NDArray[np.int32], keys: NDArray[np.uint64]
) -> None:
    """Fill `keys` with the hashes of ``data[offsets[k]:offsets[k + 1]]``, unchanged."""
    for url in range(keys.size):
        keys[url] = xxh64(data, offsets[url], offsets[url + 1])
