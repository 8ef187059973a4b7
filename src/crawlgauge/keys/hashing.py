"""From a batch of URLs to their 64-bit keys."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.keys.raw import hash_raw
from crawlgauge.keys.rules import RAW, KeyRule

__all__ = ["KERNELS", "compute_keys"]

KERNELS = {RAW: hash_raw}


def compute_keys(urls: pa.Array, rule: KeyRule) -> NDArray[np.uint64]:
    """Return the key of each URL: XXH64, seed 42, of its canonical form.

    Parameters
    ----------
    urls
        An Arrow binary array without nulls.
    rule
        Which URLs are the same.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crawlgauge.keys.rules import RAW
    >>> keys = compute_keys(pa.array([b"http://a.org/", b"http://a.org/#top"]), RAW)
    >>> bool(keys[0] == keys[1])
    True
    """
    keys = np.empty(len(urls), dtype=np.uint64)
    if len(urls) == 0:
        return keys
    _, offset_buffer, data_buffer = urls.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[
        urls.offset : urls.offset + len(urls) + 1
    ]
    # An array of empty strings only has no data buffer at all.
    data = np.frombuffer(data_buffer or b"\0", dtype=np.uint8)
    KERNELS[rule](data, offsets, keys)
    return keys
