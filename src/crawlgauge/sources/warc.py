"""WARC 0.18 to 1.1: one record a capture, a request, or what a crawler wanted to note."""

import re
from collections.abc import Iterator

import numpy as np

from crawlgauge.errors import SourceError
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.header_kernel import name_table
from crawlgauge.sources.left_out import readable
from crawlgauge.sources.record_stream import (
    RecordFormat,
    name_of_file,
    read_records,
    refuse_other_format,
)
from crawlgauge.sources.records import FIRST_OWN_VERDICT
from crawlgauge.sources.request import Request
from crawlgauge.sources.warc_kernel import (
    EXCLUDED_TYPES,
    FIELD_NAMES,
    NO_TYPE,
    OTHER_TYPE,
    walk_warc,
)

__all__ = ["looks_like_warc", "read_warc"]

_MAGIC = re.compile(rb"[\r\n]*WARC/\d+\.\d+")
_FIRST_LINE = re.compile(rb"[\r\n]*WARC/\d{1,3}\.\d{1,3} *\r*\n")
_RECORD = re.compile(
    rb"WARC/\d{1,3}\.\d{1,3} {0,3}\r{0,2}\n(?:WARC-[a-z-]{1,40}|Content-[a-z]{1,20}) {0,3}:",
    re.IGNORECASE,
)
_RECORD_BYTES = 80
_REVISIT = b"warc/revisit"
_EXCLUDED = {
    **{FIRST_OWN_VERDICT + code: kind.decode() for code, kind in enumerate(EXCLUDED_TYPES)},
    OTHER_TYPE: "unknown-type",
}
_REJECTED = {NO_TYPE: "no-type"}

_HEADER_START = re.compile(rb"WARC/\d{1,3}\.\d{1,3} *\r*\n")
_BLANK_LINE = re.compile(rb"\n\r*\n")
_FIELD = re.compile(rb"^([A-Za-z][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_JSON_START_BYTES = 1 << 16
_FIELDS_BYTES = 1 << 16
_ADVICE = (
    "use the WARC files themselves, or better their index (CDX, or Common Crawl's columnar index), "
    "which is far smaller"
)


def looks_like_warc(beginning: bytes) -> bool:
    r"""Tell whether an input that begins with these bytes is WARC.

    Examples
    --------
    >>> looks_like_warc(b"WARC/1.0\r\nWARC-Type: warcinfo\r\n")
    True
    """
    return _MAGIC.match(beginning) is not None


def read_warc(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of a WARC file: its response, resource and revisit records.

    Records of other types are excluded, with their type as the reason.

    Parameters
    ----------
    stream
        The file; compressed by record, as a whole or not at all.
    request
        Which columns are wanted. The group is ``filename``, the name of the file itself, or the
        name of any header field.

    Raises
    ------
    SourceError
        If the input is no WARC file or one without captures by its nature (WAT, WET), or if no
        capture has the field by which they shall be grouped.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    beginning = stream.beginning()
    _check_format(beginning, stream.name)
    _refuse_derivative(beginning, stream.name)
    n_captures = n_grouped = 0
    for captures in read_records(stream, request, _format_of(stream, request)):
        n_captures += len(captures)
        if captures.group is not None:
            n_grouped += len(captures) - captures.group.null_count
        yield captures
    if request.group is not None and n_captures and not n_grouped:
        known = sorted({name.decode() for name, _ in _FIELD.findall(beginning[:_FIELDS_BYTES])})
        known = [name for name in known if name.startswith(("WARC-", "Content-"))]
        raise SourceError(
            f"no capture of {stream.name} has a header field {request.group!r}; group by filename "
            f"or by one that there is, such as {', '.join(known)}"
        )


def _format_of(stream: ByteStream, request: Request) -> RecordFormat:
    names, group = list(FIELD_NAMES), -1
    constants = [(0, len(_REVISIT)), (-1, -1)]
    file_name = name_of_file(stream)
    if request.group == "filename":
        constants[1] = (len(_REVISIT), len(_REVISIT) + len(file_name))
    elif request.group is not None:
        wanted = request.group.lower().encode("utf-8", errors="surrogateescape")
        if wanted not in names:
            names.append(wanted)
        group = names.index(wanted)
    table, lengths = name_table(names)
    return RecordFormat(
        title="WARC",
        walk=walk_warc,
        arguments=(table, lengths, group, np.array(constants, dtype=np.int32)),
        start=_RECORD,
        start_bytes=_RECORD_BYTES,
        constants=_REVISIT + file_name,
        rejected=_REJECTED,
        excluded=_EXCLUDED,
    )


def _check_format(beginning: bytes, name: str) -> None:
    """Refuse what is no WARC; one whose beginning is lost has records further on."""
    if _FIRST_LINE.match(beginning) or _RECORD.search(beginning):
        return
    if looks_like_warc(beginning):
        raise SourceError(
            f"{name} is WARC of a version before 0.18 or none at all: it begins with "
            f"{readable(beginning[:40])!r}; convert it to WARC 1.0 first"
        )
    refuse_other_format("WARC", beginning, name)


def _refuse_derivative(beginning: bytes, name: str) -> None:
    """Refuse WAT and WET files, told by the first record that is no warcinfo."""
    place = 0
    while (start := _HEADER_START.search(beginning, place)) and (
        end := _BLANK_LINE.search(beginning, start.end())
    ):
        found = _FIELD.findall(beginning, start.end(), end.start())
        fields = {key.lower(): value for key, value in found}
        kind, media = fields.get(b"warc-type", b""), fields.get(b"content-type", b"")
        body = beginning[end.end() : end.end() + _JSON_START_BYTES]
        if kind == b"conversion" and media.startswith(b"text/plain"):
            raise SourceError(
                f"{name} is a WET file: the text of captures, without those that have none and "
                f"without statuses; {_ADVICE}"
            )
        if kind == b"metadata" and media.startswith(b"application/json") and b'"Envelope"' in body:
            raise SourceError(
                f"{name} is a WAT file: metadata of a WARC file's records, each URL up to three "
                f"times; {_ADVICE}"
            )
        if kind != b"warcinfo":
            return
        place = end.end()
