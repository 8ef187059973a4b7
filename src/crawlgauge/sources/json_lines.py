"""JSON Lines: one object a line, as CDX servers answer and many tools export."""

import re
from collections.abc import Iterator

import numpy as np

from crawlgauge.errors import SourceError
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.json_members import parse_members
from crawlgauge.sources.json_objects import (
    NO_MEMBERS,
    MemberNames,
    assemble_objects,
    find_member_names,
)
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED, TOO_LONG
from crawlgauge.sources.lines import Lines, read_lines
from crawlgauge.sources.records import MAX_URL_BYTES
from crawlgauge.sources.request import Request

__all__ = ["looks_like_json_lines", "read_json_lines"]

_MAX_LINE_BYTES = 1 << 24
"""Whole pages may stand beside their URLs; what is longer is no line any more."""

_OBJECT_BEGINS = re.compile(rb'\s*\{\s*(?:"|\}|\Z)')
_N_TRIED = 10
_UTF8_MARK = b"\xef\xbb\xbf"


def looks_like_json_lines(beginning: bytes) -> bool:
    r"""Tell whether an input that begins so is JSON Lines.

    Examples
    --------
    >>> looks_like_json_lines(b'{"url": "http://example.org/"}\n')
    True
    >>> looks_like_json_lines(b'{\n  "url": "http://example.org/"\n}\n')
    False
    """
    head = beginning.removeprefix(_UTF8_MARK).lstrip()
    if not _OBJECT_BEGINS.match(head):
        return False
    *lines, last = head.split(b"\n", _N_TRIED)
    if not lines and len(head) > MAX_URL_BYTES:
        # The first line is so long that its end is not in sight.
        return True
    return any(parse_members(line, ()) is not None for line in (*lines, last))


def read_json_lines(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of JSON Lines, a batch for each block.

    Parameters
    ----------
    stream
        The input.
    request
        Which members are wanted, and which one holds the URLs; the name of a member of a nested
        object is written with dots, as in ``request.url``.

    Raises
    ------
    SourceError
        If the bytes are no text, or it cannot be told which member holds the URLs.
    """
    if b"\0" in stream.beginning()[:MAX_URL_BYTES]:
        raise SourceError(f"{stream.name} is no text file, hence no JSON Lines")
    members = None
    for lines in read_lines(stream, _MAX_LINE_BYTES):
        if members is None:
            members = find_member_names(lines.data.split(b"\n"), request, stream.name)
        yield _scan(lines, members or NO_MEMBERS, request, stream.name)


def _scan(lines: Lines, members: MemberNames, request: Request, name: str) -> Captures:
    block = np.frombuffer(lines.data, dtype=np.uint8)
    ends = lines.find_ends()
    starts = np.concatenate(([0], ends[:-1] + 1))
    ends = ends - ((ends > starts) & (block[ends - 1] == ord("\r")))
    verdicts = np.full(ends.size, ACCEPTED, dtype=np.uint8)
    verdicts[ends == starts] = SKIPPED
    verdicts[ends - starts > _MAX_LINE_BYTES] = TOO_LONG
    for line in np.flatnonzero((verdicts == ACCEPTED) & (block[starts] <= ord(" "))).tolist():
        if lines.data[starts[line] : ends[line]].isspace():
            verdicts[line] = SKIPPED
    return assemble_objects(
        lines.data,
        np.column_stack((starts, ends)),
        members,
        verdicts=verdicts,
        request=request,
        name=name,
        place=lines.place,
        first_line=lines.n_before,
    )
