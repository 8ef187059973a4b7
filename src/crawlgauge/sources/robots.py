"""Find captures of robots.txt, which a crawler fetches for itself and not for the archive."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.captures import binary_buffers
from crawlgauge.words import find_byte

__all__ = ["find_robots"]

_SLASH, _COLON = 0x2F, 0x3A
_ROBOTS = np.frombuffer(b"/robots.txt", dtype=np.uint8)


def find_robots(urls: pa.Array) -> NDArray[np.bool_]:
    """Tell for each URL whether its path is ``/robots.txt``.

    Parameters
    ----------
    urls
        An Arrow binary array without nulls.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_robots(pa.array([b"http://a.org/robots.txt", b"http://a.org/x/robots.txt"])).tolist()
    [True, False]
    """
    found = np.zeros(len(urls), dtype=np.bool_)
    if len(urls):
        _find_robots(*binary_buffers(urls), found)
    return found


@compiled
def _find_robots(
    data: NDArray[np.uint8], offsets: NDArray[np.int32], found: NDArray[np.bool_]
) -> None:
    n_bytes = _ROBOTS.size
    for url in range(found.size):
        start, end = int(offsets[url]), int(offsets[url + 1])
        path = end - n_bytes
        # The last letter rules out nearly all.
        if path <= start or data[end - 1] != _ROBOTS[n_bytes - 1]:
            continue
        if not (data[path:end] == _ROBOTS).all():
            continue
        authority = find_byte(data, start, end, _COLON) + 3
        found[url] = authority < path and find_byte(data, authority, end, _SLASH) == path
