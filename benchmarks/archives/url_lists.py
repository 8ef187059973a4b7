"""A crawl as a list of URLs, one a line, in no order but that of capture; gzip."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from archives.captures import Captures
from archives.compressing import write_gzip
from archives.names import Namer

__all__ = ["write_url_list"]

LINES_AT_A_TIME = 1 << 16
ONE_FORM = 20
"""The crawl whose forms of URLs all lists have, so that lists can be compared byte by byte."""


def write_url_list(path: Path, blocks: Iterable[Captures], namer: Namer) -> tuple[int, int]:
    """Write the URLs of a crawl; return their number and the list's size when uncompressed."""
    n_urls = 0

    def lines() -> Iterator[bytes]:
        nonlocal n_urls
        for block in blocks:
            n_urls += block.numbers.size
            yield from _to_lines(block.numbers[np.argsort(block.seconds)], namer)

    n_bytes = write_gzip(path, lines())
    return n_urls, n_bytes


def _to_lines(numbers: NDArray[np.uint64], namer: Namer) -> Iterator[bytes]:
    line_end = pa.scalar(b"\n", pa.binary())
    nothing = pa.scalar(b"", pa.binary())
    for first in range(0, numbers.size, LINES_AT_A_TIME):
        urls = namer.urls(numbers[first : first + LINES_AT_A_TIME], ONE_FORM)
        lines = pa.compute.binary_join_element_wise(urls, line_end, nothing)
        _, offsets, data = lines.buffers()
        yield data.to_pybytes()[: np.frombuffer(offsets, dtype=np.int32)[len(lines)]]
