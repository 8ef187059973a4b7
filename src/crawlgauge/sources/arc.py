"""ARC 1.0: the Internet Archive's format before WARC, one line and one body a record."""

import re
from collections.abc import Iterator

import numpy as np

from crawlgauge.errors import SourceError
from crawlgauge.sources.arc_kernel import FILEDESC, walk_arc
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.record_stream import (
    RecordFormat,
    name_of_file,
    read_records,
    refuse_other_format,
)
from crawlgauge.sources.request import Request

__all__ = ["looks_like_arc", "read_arc"]

_MAGIC = re.compile(rb"[\r\n]*filedesc:", re.IGNORECASE)
_RECORD = re.compile(
    rb"(?:\A|(?<=\n))[a-z][a-z0-9+.-]{1,20}:[^\n]{1,4000}"
    rb" [0-9.]{7,15} \d{8,18} [^\n]{1,100} \d{1,15} ?\r?\n",
    re.IGNORECASE,
)
_RECORD_BYTES = 4200
_EXCLUDED = {FILEDESC: "filedesc"}
_DEFINITION = re.compile(rb"^(URL(?: [A-Za-z-]+)+) *\r?\n", re.MULTILINE | re.IGNORECASE)
_DEFINITION_BYTES = 1 << 12
_VERSION_1 = "URL IP-address Archive-date Content-type Archive-length"
_FIRST_FIELDS = ["url", "ip-address", "archive-date", "content-type"]
_LAST_FIELD = "archive-length"


def looks_like_arc(beginning: bytes) -> bool:
    r"""Tell whether an input that begins with these bytes is ARC.

    Examples
    --------
    >>> looks_like_arc(b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain 75\n1 0 A\n")
    True
    """
    return _MAGIC.match(beginning) is not None


def read_arc(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of an ARC file: all its records but the one that describes the file.

    The status is that of the HTTP message in the body, and the media type that of the record's
    line.

    Parameters
    ----------
    stream
        The file; compressed by record, as a whole or not at all.
    request
        Which columns are wanted. The group is ``filename``, the name of the file itself, or the
        name of any field of the records' lines.

    Raises
    ------
    SourceError
        If the input is no ARC file, or has no field by which captures shall be grouped.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    beginning = stream.beginning()
    if not (looks_like_arc(beginning) or _RECORD.search(beginning)):
        refuse_other_format("ARC", beginning, stream.name)
    yield from read_records(stream, request, _format_of(stream, request, beginning))


def _format_of(stream: ByteStream, request: Request, beginning: bytes) -> RecordFormat:
    fields = _read_definition(beginning, stream.name)
    names = [field.lower() for field in fields]
    columns = [len(names), _find(names, "result-code"), _find(names, "checksum"), -1]
    constant = np.array([-1, -1], dtype=np.int32)
    file_name = name_of_file(stream)
    if request.group == "filename":
        constant[:] = 0, len(file_name)
    elif request.group is not None:
        columns[3] = _find(names, request.group.lower())
        if columns[3] < 0:
            raise SourceError(
                f"the records of {stream.name} have no field {request.group!r}; group by filename, "
                f"the name of the file itself, or by one of theirs: {', '.join(fields)}"
            )
    return RecordFormat(
        title="ARC",
        walk=walk_arc,
        arguments=(np.array(columns, dtype=np.int64), constant),
        start=_RECORD,
        start_bytes=_RECORD_BYTES,
        constants=file_name,
        rejected={},
        excluded=_EXCLUDED,
    )


def _read_definition(beginning: bytes, name: str) -> list[str]:
    """Return the fields of a record's line, which the file's first record defines."""
    found = _DEFINITION.search(beginning, 0, _DEFINITION_BYTES)
    line = found[1].decode() if found else _VERSION_1
    names = line.lower().split()
    if names[: len(_FIRST_FIELDS)] != _FIRST_FIELDS or names[-1] != _LAST_FIELD:
        raise SourceError(
            f"{name} defines the fields of its records as {line!r}, which is neither version 1 nor "
            "2 of the ARC format; convert it to WARC first"
        )
    return line.split()


def _find(names: list[str], name: str) -> int:
    return names.index(name) if name in names else -1
