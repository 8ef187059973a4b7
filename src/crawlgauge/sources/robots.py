"""Find captures of robots.txt, which a crawler fetches for itself and not for the archive."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.texts import Texts
from crawlgauge.words import find_byte, load_word

__all__ = ["find_robots", "is_robots", "is_robots_key"]

_CLOSE, _SLASH, _COLON = 0x29, 0x2F, 0x3A
_N_BYTES = len(b"/robots.txt")
_BEGINNING = np.uint64(int.from_bytes(b"/robots.", "little"))
_END = np.uint64(int.from_bytes(b"bots.txt", "little"))


def find_robots(urls: Texts | pa.Array) -> NDArray[np.bool_]:
    """Tell for each URL whether its path is ``/robots.txt``.

    Parameters
    ----------
    urls
        Texts, or an Arrow binary column; without nulls.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_robots(pa.array([b"http://a.org/robots.txt", b"http://a.org/x/robots.txt"])).tolist()
    [True, False]
    """
    texts = Texts.of(urls)
    found = np.zeros(len(texts), dtype=np.bool_)
    _find_robots(texts.data, texts.starts, texts.ends, found)
    return found


@compiled
def _find_robots(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    found: NDArray[np.bool_],
) -> None:
    for url in range(found.size):
        found[url] = is_robots(data, int(np.int64(starts[url])), int(np.int64(ends[url])))


@compiled
def is_robots_key(data: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether the path of the SURT ``data[start:end]`` is ``/robots.txt``."""
    path = end - _N_BYTES
    if path <= start or load_word(data, end - 8) != _END or load_word(data, path) != _BEGINNING:
        return False
    return find_byte(data, start, end, _CLOSE) == path - 1


@compiled
def is_robots(data: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether the path of the URL ``data[start:end]`` is ``/robots.txt``."""
    path = end - _N_BYTES
    if path <= start or load_word(data, end - 8) != _END or load_word(data, path) != _BEGINNING:
        return False
    authority = find_byte(data, start, end, _COLON) + 3
    return authority < path and find_byte(data, authority, end, _SLASH) == path
