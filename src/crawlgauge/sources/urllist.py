"""Plain URL lists: one URL a line, blank lines and lines that begin with # passed over."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from crawlgauge.errors import SourceError
from crawlgauge.sources import line_kernel
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.sources.lines import whole_lines

__all__ = ["MAX_URL_BYTES", "read_url_list"]

MAX_URL_BYTES = 1 << 16
"""Longer lines are no URLs that any crawler fetched, but a file without line ends."""

_REJECTED = {
    line_kernel.NO_SCHEME: "no-scheme",
    line_kernel.NO_HOST: "no-host",
    line_kernel.TOO_LONG: "too-long",
}
_EXCLUDED = {line_kernel.OTHER_SCHEME: "other-scheme"}
_MAX_EXAMPLES = 5
_EXAMPLE_BYTES = 80
_BEGINNING_BYTES = 16
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_OTHER_FORMATS = {
    b"WARC/": "a WARC file",
    b"filedesc://": "an ARC file",
    b" CDX ": "a CDX index",
}


def read_url_list(blocks: Iterable[bytes], *, name: str) -> Iterator[Captures]:
    """Yield the URLs of a list, a batch for each block.

    Parameters
    ----------
    blocks
        The list's bytes, cut anywhere.
    name
        The input as the user named it, for messages.

    Raises
    ------
    SourceError
        If the bytes are no text or another format.
    """
    n_lines = 0
    for data, place in whole_lines(_check_beginning(iter(blocks), name), MAX_URL_BYTES):
        captures, n_more = _scan(data, name, place, n_lines)
        yield captures
        n_lines += n_more


def _check_beginning(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Yield the blocks, the first of them checked, with spaces for a byte order mark."""
    beginning = b""
    while len(beginning) < _BEGINNING_BYTES and (block := next(blocks, None)) is not None:
        beginning += block
    if beginning.startswith(_UTF16_MARKS):
        raise SourceError(f"{name} is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)")
    if b"\0" in beginning[:MAX_URL_BYTES]:
        raise SourceError(f"{name} is no text file; a URL list has one URL a line, plain or gzip")
    for magic, what in _OTHER_FORMATS.items():
        if beginning.startswith(magic):
            raise SourceError(f"{name} is {what}, not a URL list with one URL a line")
    if beginning.startswith(_UTF8_MARK):
        # Spaces are passed over, and the places of all that follows stay true.
        beginning = b" " * len(_UTF8_MARK) + beginning[len(_UTF8_MARK) :]
    yield beginning
    yield from blocks


def _scan(data: bytes, name: str, place: int, first_line: int) -> tuple[Captures, int]:
    """Return the captures of whole lines and the number of lines."""
    block = np.frombuffer(data, dtype=np.uint8)
    line_ends = np.flatnonzero(block == ord("\n"))
    if not data.endswith(b"\n"):
        line_ends = np.append(line_ends, block.size)
    urls = np.empty(block.size, dtype=np.uint8)
    offsets = np.empty(line_ends.size + 1, dtype=np.int32)
    counts = np.zeros(line_kernel.N_VERDICTS, dtype=np.int64)
    examples = np.empty((_MAX_EXAMPLES, 4), dtype=np.int64)
    n_urls, n_examples = line_kernel.scan_lines(
        block, line_ends, MAX_URL_BYTES, urls, offsets, counts, examples
    )
    captures = Captures(
        url=pa.Array.from_buffers(
            pa.binary(), n_urls, [None, pa.py_buffer(offsets[: n_urls + 1]), pa.py_buffer(urls)]
        ),
        rejected={slug: int(counts[code]) for code, slug in _REJECTED.items() if counts[code]},
        excluded={slug: int(counts[code]) for code, slug in _EXCLUDED.items() if counts[code]},
        examples=tuple(
            Rejection(
                file=name,
                line=first_line + int(line) + 1,
                offset=place + int(start),
                reason=_REJECTED[int(verdict)],
                text=_readable(data[start:end]),
            )
            for line, start, end, verdict in examples[:n_examples]
        ),
    )
    return captures, line_ends.size


def _readable(text: bytes) -> str:
    shown = text[:_EXAMPLE_BYTES].decode("utf-8", errors="replace")
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown)
    return shown + ("…" if len(text) > _EXAMPLE_BYTES else "")
