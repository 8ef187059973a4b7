"""Heritrix's crawl.log, of its versions 1.x and 3.x: a line for each URL that was tried."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.crawl_log_kernel import (
    COLUMNS,
    NO_COLUMN,
    TOO_FEW_FIELDS,
    WARC_NAME,
    scan_log,
)
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.lines import Lines, read_lines
from crawlgauge.sources.record_kernel import GROUP, N_FIELDS
from crawlgauge.sources.records import MAX_URL_BYTES, assemble
from crawlgauge.sources.request import Request

__all__ = ["looks_like_crawl_log", "read_crawl_log"]

_LONGEST = 4 * MAX_URL_BYTES
"""Room for two URLs of the greatest length, source tag, annotations and the JSON object."""

_REJECTED = MappingProxyType({TOO_FEW_FIELDS: "too-few-fields"})
_FILE_GROUP, _FILE_MEMBER = "filename", "warcFilename"

_N_LINES = 10
"""The first lines may be a header, blank or cut; soon after, one must be whole."""
_LINE = re.compile(
    rb"\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|\d{14}|\d{17})\s+-?\d{1,5}"
    rb"(\s+\S+){5}\s+#\d+(\s|$)"
)


def looks_like_crawl_log(beginning: bytes) -> bool:
    """Tell whether an input is a crawl.log: by the times, statuses and threads of its lines.

    Parameters
    ----------
    beginning
        Its first bytes, decompressed.

    Examples
    --------
    >>> looks_like_crawl_log(
    ...     b"2018-11-26T14:27:48.282Z   404        233 http://a.org/robots.txt P http://a.org/ "
    ...     b"text/html #002 20181126142747555+280 sha1:YQG6T7YOWGUK3NUNZVZGNUXFZDZWCDUM - -"
    ... )
    True
    """
    lines = beginning[:_LONGEST].split(b"\n", _N_LINES)[:_N_LINES]
    return any(_LINE.match(line) for line in lines)


def read_crawl_log(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield what was tried, with its status, a batch for each block.

    A capture's time is when its fetch began or, where nothing was fetched, that of the line. What
    the annotations call a duplicate is a revisit; its media type is kept.

    Parameters
    ----------
    stream
        The log.
    request
        Which columns are wanted. It may be grouped by ``filename`` (of the WARC file, which
        Heritrix 3 writes with ``logExtraInfo``) or by a column of `COLUMNS`.

    Raises
    ------
    SourceError
        If it is to be grouped by something that a log does not have.
    """
    group = _find_group(request.group, stream.name)
    for lines in read_lines(stream, _LONGEST):
        yield _scan(lines, group, stream.name, request)


def _find_group(wanted: str | None, name: str) -> int:
    if wanted is None:
        return NO_COLUMN
    if wanted == _FILE_GROUP:
        return WARC_NAME
    if wanted in COLUMNS:
        return COLUMNS.index(wanted)
    known = ", ".join((_FILE_GROUP, *COLUMNS))
    raise SourceError(f"{name} is a crawl.log, which has no field {wanted!r}; there are {known}")


def _scan(lines: Lines, group: int, name: str, request: Request) -> Captures:
    line_ends = lines.find_ends()
    n_lines = line_ends.size
    block = np.frombuffer(lines.data, dtype=np.uint8)
    spans = np.empty((n_lines, N_FIELDS, 2), dtype=np.int32)
    verdicts = np.empty(n_lines, dtype=np.uint8)
    bounds = np.empty((n_lines, 2), dtype=np.int64)
    revisits = np.empty(n_lines, dtype=np.bool_)
    objects = np.empty(n_lines, dtype=np.int64)
    scan_log(block, line_ends, _LONGEST, group, spans, verdicts, bounds, revisits, objects)
    captures = assemble(
        _parse_names(lines.data, objects, bounds, spans),
        spans,
        verdicts,
        request=request,
        name=name,
        bounds=bounds,
        place=lines.place,
        first_line=lines.n_before,
        rejected=_REJECTED,
    )
    if captures.revisit is None:
        return captures
    return replace(captures, revisit=revisits[verdicts == ACCEPTED])


def _parse_names(
    data: bytes,
    objects: NDArray[np.int64],
    bounds: NDArray[np.int64],
    spans: NDArray[np.int32],
) -> bytes:
    """Put the file names of JSON objects that need a parser behind the block."""
    added: list[bytes] = []
    n_bytes = len(data)
    for line in np.flatnonzero(objects >= 0):
        warc_name = _parse_name(data[objects[line] : bounds[line, 1]])
        if warc_name is not None:
            spans[line, GROUP] = n_bytes, n_bytes + len(warc_name)
            added.append(warc_name)
            n_bytes += len(warc_name)
    return b"".join([data, *added]) if added else data


def _parse_name(text: bytes) -> bytes | None:
    try:
        warc_name = json.loads(text).get(_FILE_MEMBER)
    except (ValueError, RecursionError):
        return None
    return warc_name.encode("utf-8", "surrogatepass") if isinstance(warc_name, str) else None
