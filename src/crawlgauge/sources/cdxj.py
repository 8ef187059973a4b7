"""CDXJ indexes: a capture a line, as a key, a time and a JSON object."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources import cdx_kernel, cdxj_kernel, line_kernel, record_kernel
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.cdxj_shape_kernel import UNSURE
from crawlgauge.sources.cdxj_shapes import CdxjShapes
from crawlgauge.sources.column_names import list_names
from crawlgauge.sources.json_members import Members, find_members, member_names
from crawlgauge.sources.lines import Lines, read_lines
from crawlgauge.sources.member_lines import UTF8_MARK, cut_line, find_cuts
from crawlgauge.sources.records import assemble
from crawlgauge.sources.request import Request
from crawlgauge.sources.zipnum import looks_like_zipnum_index

__all__ = ["looks_like_cdxj", "read_cdxj"]

_LONGEST_LINE = 1 << 20
"""Beside URLs a line may hold what was posted to them, and headers."""

_NAMES = MappingProxyType(
    {
        record_kernel.URL: (b"url", b"uri", b"original_uri", b"original"),
        record_kernel.MIME: (b"mime", b"mct", b"mime_type", b"mimetype"),
        record_kernel.STATUS: (b"status", b"hsc", b"status_code", b"statuscode"),
        record_kernel.DIGEST: (b"digest", b"sha"),
    }
)
"""What pywb and Common Crawl, OpenWayback, ipwb and CDX servers call the same field."""

_FILE_NAMES = (b"filename", b"ref")
_FILE_NAME = "filename"

_REJECTED = {
    cdx_kernel.TOO_FEW_FIELDS: "too-few-fields",
    cdx_kernel.BAD_TIME: "bad-time",
    cdxj_kernel.BAD_JSON: "bad-json",
}
_EXCLUDED = {
    cdxj_kernel.FIRST_RECORD_TYPE + number: name
    for number, name in enumerate(cdxj_kernel.RECORD_TYPES)
}
_CUT = (cdx_kernel.TOO_FEW_FIELDS, cdxj_kernel.BAD_JSON)
"""What a line is that ends too early."""

_HEADER = b"!OpenWayback-CDXJ"
_LINE = re.compile(rb"[^\s{]\S*[ \t]+(?:\d{4}[\dTZ:.+-]*|-)[ \t]+(?:[^\s{]\S*[ \t]+){0,2}\{")
_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLED = 20
_MAX_LEARNT = 8
"""So many lines of a block tell how the others are made."""
_RARE = 64
"""From one line in so many it is not worth to learn."""
_SPACES = b" \t\r"
_JSON_END = b"}\r"


def looks_like_cdxj(beginning: bytes) -> bool:
    """Tell whether an input that begins with these bytes is a CDXJ index."""
    beginning = beginning[:_SAMPLE_BYTES].removeprefix(UTF8_MARK)
    if beginning.startswith(_HEADER):
        return True
    found = (line.strip(_SPACES) for line in beginning.split(b"\n"))
    lines = list(islice((line for line in found if line[:1] not in b"!"), _MAX_SAMPLED))
    n_like = sum(_LINE.match(line) is not None for line in lines)
    # The index of a cluster may consist of such lines too, but they tell of no captures.
    return 0 < len(lines) <= 2 * n_like and not looks_like_zipnum_index(beginning)


def read_cdxj(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of a CDXJ index, a batch for each block.

    Parameters
    ----------
    stream
        The index.
    request
        Which columns are wanted; `group` is ``filename`` or the name of another JSON member.

    Raises
    ------
    SourceError
        If no line has the member that is to cut the captures into crawls.
    DamagedInput
        If the index is damaged or ends in the middle of a line.
    """
    names, fields = _wanted(request)
    shapes = CdxjShapes(names, fields)
    is_grouped = request.group is None
    for lines in read_lines(stream, _LONGEST_LINE):
        captures = _scan(lines, names, fields, shapes, stream, request)
        if not is_grouped and len(captures):
            if captures.group is None or captures.group.null_count == len(captures):
                raise _no_group(lines.data, stream.name, request.group)
            is_grouped = True
        yield captures


def _wanted(request: Request) -> tuple[list[bytes], list[int]]:
    """Return the names of the JSON members that are wanted, and the fields they stand for."""
    wanted = dict(_NAMES)
    if request.group is not None:
        own = request.group.encode("utf-8", errors="surrogateescape")
        wanted[record_kernel.GROUP] = _FILE_NAMES if request.group == _FILE_NAME else (own,)
    pairs = [(name, field) for field, names in wanted.items() for name in names]
    return [name for name, _ in pairs], [field for _, field in pairs]


def _scan(
    lines: Lines,
    names: Sequence[bytes],
    fields: Sequence[int],
    shapes: CdxjShapes,
    stream: ByteStream,
    request: Request,
) -> Captures:
    """Return the captures of whole lines."""
    cuts = find_cuts(lines, stream, partial(_is_between, lines.data))
    n_lines = lines.n_lines + len(cuts)
    found = shapes.scan(lines.data, n_lines, cuts)
    unsure = np.flatnonzero(found.verdicts == UNSURE)
    if unsure.size > n_lines // _RARE:
        for start, end in found.bounds[unsure[:_MAX_LEARNT]].tolist():
            shapes.learn(lines.data[max(lines.data.find(b"{", start, end), start) : end])
        found = shapes.scan(lines.data, n_lines, cuts)
        unsure = np.flatnonzero(found.verdicts == UNSURE)
    block = np.frombuffer(lines.data, dtype=np.uint8)
    bounds, spans, verdicts = found.bounds, found.spans, found.verdicts
    if unsure.size:
        block, spans[unsure], verdicts[unsure] = _read_closely(
            lines.data, bounds[unsure], names, fields
        )
    if request.group is not None:
        cdxj_kernel.trim_references(block, verdicts, spans)
    if not lines.data.endswith(b"\n") and verdicts[-1] in _CUT:
        stream.report(cut_line(stream))
    return assemble(
        block,
        spans,
        verdicts,
        request=request,
        name=stream.name,
        bounds=bounds,
        place=lines.place,
        first_line=None if cuts else lines.n_before,
        rejected=_REJECTED,
        excluded=_EXCLUDED,
    )


def _read_closely(
    data: bytes, bounds: NDArray[np.int64], names: Sequence[bytes], fields: Sequence[int]
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]:
    """Find the fields of lines of any form.

    Returns
    -------
    array
        The data, with what had to be rewritten behind them.
    array
        Where in them the fields of each line are.
    array
        What each line is.
    """
    n_lines = bounds.shape[0]
    block = np.frombuffer(data, dtype=np.uint8)
    spans = np.empty((n_lines, record_kernel.N_FIELDS, 2), dtype=np.int32)
    verdicts = np.empty(n_lines, dtype=np.uint8)
    objects = np.empty((n_lines, 2), dtype=np.int64)
    is_revisit = np.empty(n_lines, dtype=np.bool_)
    cdxj_kernel.scan_cdxj(block, bounds, _LONGEST_LINE, spans, verdicts, objects, is_revisit)
    found = find_members(data, objects, names)
    verdicts[(verdicts == line_kernel.ACCEPTED) & ~found.is_object] = cdxj_kernel.BAD_JSON
    wanted = np.array(fields, dtype=np.int64)
    cdxj_kernel.choose_members(found.data, found.spans, found.kinds, wanted, spans)
    return _with_revisits(found, spans, is_revisit), spans, verdicts


def _is_between(data: bytes, start: int, place: int, end: int) -> bool:
    """Tell whether JSON ends and another line begins at a place in a line."""
    before = data[max(start, place - len(_JSON_END)) : place]
    return before.rstrip(_SPACES).endswith(b"}") and _LINE.match(data, place, end) is not None


def _with_revisits(
    found: Members, spans: NDArray[np.int32], is_revisit: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Return the block with the media type of revisits behind it, where a line needs it."""
    if not is_revisit.any():
        return found.data
    start, n_bytes = found.data.size, cdxj_kernel.REVISIT.size
    spans[is_revisit, record_kernel.MIME] = start, start + n_bytes
    data = found.data.tobytes() + cdxj_kernel.REVISIT.tobytes()
    return np.frombuffer(data, dtype=np.uint8)


def _no_group(data: bytes, name: str, group: str | None) -> SourceError:
    found = (line[line.find(b"{") :].strip(_SPACES) for line in data.split(b"\n"))
    known = next((names for text in found if (names := member_names(text))), ())
    return SourceError(
        f"{name} has no field {group!r} to cut crawls by; it has: {list_names(known)}"
    )
