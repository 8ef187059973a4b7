"""Plain URL lists: one URL a line, blank lines and lines that begin with # passed over."""

from collections.abc import Iterator

import numpy as np

from crawlgauge.errors import SourceError
from crawlgauge.sources import line_kernel
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.sources.left_out import readable
from crawlgauge.sources.lines import Lines, read_lines
from crawlgauge.sources.records import MAX_URL_BYTES
from crawlgauge.sources.request import Request
from crawlgauge.sources.texts import Texts

__all__ = ["read_url_list"]

_REJECTED = {
    line_kernel.NO_SCHEME: "no-scheme",
    line_kernel.NO_HOST: "no-host",
    line_kernel.TOO_LONG: "too-long",
}
_EXCLUDED = {line_kernel.OTHER_SCHEME: "other-scheme"}
_MAX_EXAMPLES = 5


def read_url_list(stream: ByteStream, request: Request) -> Iterator[Captures]:  # noqa: ARG001
    """Yield the URLs of a list, a batch for each block.

    Parameters
    ----------
    stream
        The list.
    request
        A list has nothing but URLs.

    Raises
    ------
    SourceError
        If the bytes are no text.
    """
    if b"\0" in stream.beginning()[:MAX_URL_BYTES]:
        raise SourceError(f"{stream.name} is no text file, nor any other format that is known")
    for lines in read_lines(stream, MAX_URL_BYTES):
        yield _scan(lines, stream.name)


def _scan(lines: Lines, name: str) -> Captures:
    """Return the captures of whole lines."""
    block = np.frombuffer(lines.data, dtype=np.uint8)
    line_ends = lines.find_ends()
    starts = np.empty(line_ends.size, dtype=np.int32)
    ends = np.empty(line_ends.size, dtype=np.int32)
    counts = np.zeros(line_kernel.N_VERDICTS, dtype=np.int64)
    examples = np.empty((_MAX_EXAMPLES, 4), dtype=np.int64)
    n_urls, n_examples = line_kernel.scan_lines(
        block, line_ends, MAX_URL_BYTES, starts, ends, counts, examples
    )
    return Captures(
        url=Texts(data=block, starts=starts[:n_urls], ends=ends[:n_urls]),
        rejected={slug: int(counts[code]) for code, slug in _REJECTED.items() if counts[code]},
        excluded={slug: int(counts[code]) for code, slug in _EXCLUDED.items() if counts[code]},
        examples=tuple(
            Rejection(
                file=name,
                line=None if lines.n_before is None else lines.n_before + int(line) + 1,
                offset=lines.place + int(start),
                reason=_REJECTED[int(verdict)],
                text=readable(lines.data[start:end]),
            )
            for line, start, end, verdict in examples[:n_examples]
        ),
    )
