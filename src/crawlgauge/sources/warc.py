"""WARC 0.18 to 1.1: one record a capture, a request, or what a crawler wanted to note."""

import re
from collections.abc import Iterator

from crawlgauge.errors import SourceError
from crawlgauge.sources import records
from crawlgauge.sources.captures import Intake, readable
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.records import Record, Stop, Trouble
from crawlgauge.sources.what_counts import Settings

_MAGIC = re.compile(rb"[\r\n]*WARC/\d+\.\d+")
_FIRST_LINE = re.compile(rb"[\r\n]*WARC/\d{1,3}\.\d{1,3} *\r*\n")
_START = re.compile(
    rb"WARC/\d{1,3}\.\d{1,3} {0,3}\r{0,2}\n(?:WARC-[a-z-]{1,40}|Content-[a-z]{1,20}) {0,3}:",
    re.IGNORECASE,
)
_VERSION = re.compile(rb"WARC/[0-9 \r]{0,17}\.[0-9 \r]{0,17}\n")
_VERSION_BYTES = 24
_PART_OF_VERSION = re.compile(rb"W(?:A(?:R(?:C(?:/[0-9. \r]*)?)?)?)?")

_TYPE, _DATE, _LENGTH = b"warc-type", b"warc-date", b"content-length"
_SINGLE = frozenset({_TYPE, _DATE, _LENGTH})
"""These stand once in every header; twice only if two headers have run together."""
_TARGET, _CONTENT_TYPE, _DIGEST = b"warc-target-uri", b"content-type", b"warc-payload-digest"
_IDENTIFIED_TYPE = b"warc-identified-payload-type"
_NAMES = b"|".join((_TYPE, _DATE, _LENGTH, _TARGET, _CONTENT_TYPE, _DIGEST, _IDENTIFIED_TYPE))
_VALUE = rb"[\t\v\f\r ]*+:([^\n]*+(?:\n[ \t][^\n]*+)*+)"
"""Of a header field, behind its name. It goes on in lines that begin with white space."""
_STATUS = records.HTTP_STATUS.pattern
_HTTP_HEADER = re.compile(
    rb"(?-i:" + _STATUS + rb")"
    # Lines up to the media type, of which none is blank.
    rb"(?:[^\n]*+(?:\n(?!\r*\n|content-type[\t\v\f\r ]*+:)[^\n]*+)*+"
    rb"\ncontent-type[\t\v\f\r ]*+:([^\n]*+(?:\n[ \t][^\n]*+(?=\n))*+)(?=\n))?+",
    re.IGNORECASE,
)
_OTHER_LINE = rb"[^\r\n]++\r\n"
_TEXT = rb"(\S++(?: \S++)*+)\r\n"
_USUAL = re.compile(
    # Each of these once, in any order, among other lines.
    rb"WARC/[0-9]\.[0-9]{1,15}\r\n(?>"
    rb"WARC-(?>(?(1)(?!)|Type: (response|revisit)\r\n)|(?(2)(?!)|Date: " + _TEXT + rb")"
    rb"|(?(3)(?!)|Target-URI: (?!<)" + _TEXT + rb")|(?(4)(?!)|Payload-Digest: " + _TEXT + rb")"
    rb"|(?!(?i:type|date|target-uri|payload-digest)[\s:])" + _OTHER_LINE + rb")"
    rb"|Content-(?>(?(5)(?!)|Length: ([0-9]{1,15})\r\n)"
    rb"|(?(6)(?!)|Type: (application/http)(?:;[^\r\n]*+)?+\r\n)"
    rb"|(?!(?i:length|type)[\s:])" + _OTHER_LINE + rb")"
    rb"|(?!\s|(?i:WARC|Content)-|WARC/)" + _OTHER_LINE + rb")++\r\n(?(1)(?(5)|(?!))|(?!))"
    # Then lines of HTTP up to the media type.
    rb"()" + _STATUS + rb"[^\n]*+\n(?:(?!\r*\n|(?i:content-type)[\s:])[^\n]*+\n)*+"
    rb"(?i:content-type): ?([^\s;]++) ?(?:;[^\n]*+)?+\r?\n(?![ \t])"
)
"""A capture as most crawlers write it. What is odd in any way is read field by field."""
_USUAL_BYTES = 1 << 12
_HEADER_END = re.compile(rb"\n(?:\r*\n|" + _START.pattern + rb")", re.IGNORECASE)
"""A blank line, or what another record begins with."""
_FOLD = re.compile(rb"\n[ \t]*")
_MAX_DIGITS = 15
"""No file has 10^15 bytes; a longer number is no length."""

_CAPTURES = frozenset({b"response", b"resource", b"revisit"})
_OTHER_KINDS = (b"request", b"metadata", b"warcinfo", b"conversion", b"continuation")
"""Records that tell about captures, or hold what was made of them."""
_HTTP_MESSAGE = re.compile(rb"application/http[ \t\n\v\f\r]*(?:;|\Z)", re.IGNORECASE)
_REVISIT = b"warc/revisit"
_PAGE = re.compile(rb"\s*(?:https?|ftps?)://[^/?#\s]", re.IGNORECASE)

_FIELD_NAME = re.compile(rb"^((?:WARC|Content)-[A-Za-z0-9-]*)[ \t]*:", re.MULTILINE)
_FIELDS_BYTES = 1 << 16
_JSON_START_BYTES = 1 << 16
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


def read_warc(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read the captures of a WARC file: its response, resource and revisit records.

    Records of other types are excluded, with their type as the reason.

    Parameters
    ----------
    stream
        The file; compressed by record, as a whole or not at all.
    intake
        Takes the captures.
    settings
        What is wanted of them. The group is ``filename``, the name of the file itself, or the name
        of any header field.

    Raises
    ------
    SourceError
        If the input is no WARC file or one without captures by its nature (WAT, WET), or if no
        capture has the field by which they shall be grouped.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    intake.collector.begin(has_pages=True)
    beginning = stream.beginning()
    # One whose beginning is lost has records further on.
    if not _FIRST_LINE.match(beginning) and not _START.search(beginning):
        if not looks_like_warc(beginning):
            records.refuse_other_format("WARC", stream)
        raise SourceError(
            f"{stream.name} is WARC of a version before 0.18 or none at all: it begins with "
            f"{readable(beginning[:40])!r}; convert it to WARC 1.0 first"
        )
    _refuse_derivative(beginning, stream.name)
    reader = _WarcReader(stream, intake, settings)
    yield from reader.read()
    if settings.group is not None and reader.has_pages and not reader.has_groups:
        known = sorted({name.decode() for name in _FIELD_NAME.findall(beginning[:_FIELDS_BYTES])})
        raise SourceError(
            f"no capture of {stream.name} has a header field {settings.group!r}; group by filename "
            f"or by one that there is, such as {', '.join(known)}"
        )


class _WarcReader(records.RecordReader):
    """Reads headers of WARC records, and those of HTTP messages within.

    Attributes
    ----------
    has_pages, has_groups
        Whether any capture is of a page, and whether any has the field that captures are grouped
        by.
    """

    title = "WARC"
    start_bytes = 80

    def __init__(self, stream: Stream, intake: Intake, settings: Settings) -> None:
        super().__init__(stream, intake, settings)
        self.has_pages = self.has_groups = False
        self._group: bytes | None = None
        names = _NAMES
        if settings.group is not None and self.file_name is None:
            self._group = settings.group.lower().encode("utf-8", errors="surrogateescape")
            if re.fullmatch(rb"[^\s:]([^:\n]*[^\s:])?", self._group):
                names += b"|" + re.escape(self._group)
        self._field = re.compile(rb"\n(" + names + rb")" + _VALUE, re.IGNORECASE)

    def begins(self, place: int) -> bool:
        return _VERSION.match(self.data, place, place + _VERSION_BYTES) is not None

    def find_start(self, at: int) -> int:
        found = _START.search(self.data, at)
        return -1 if found is None else found.start()

    def read_header(self, at: int, next_member: int) -> Record:
        usual = _USUAL.match(self.data, at, at + _USUAL_BYTES)
        if usual is not None and self._group is None:
            kind, time, url, digest, length, _, _, status, mime = usual.groups()
            body = usual.end(7)
            end = body + int(length)
            if usual.end() <= end <= next_member and end <= len(self.data):
                record = Record(body, end, None, url, time, status, mime, digest, self.file_name)
                record.is_http = True
                if kind == b"revisit":
                    record.mime, record.has_payload = _REVISIT, False
                return record
        return self._read_fields(at, next_member)

    def _read_fields(self, at: int, next_member: int) -> Record:
        """Read a header of any form, and that of an HTTP message of any form."""
        line_end, header_end, body = self._find_header(at, next_member)
        found = self._field.findall(self.data, line_end, header_end)
        # The first of each name, if there are several.
        fields = {name.lower(): value.strip() for name, value in reversed(found)}
        if len(fields) < len(found):
            names = [name.lower() for name, _ in found]
            if any(names.count(name) > 1 for name in _SINGLE):
                raise Stop(Trouble.MIXED_HEADERS, behind=self._find_last_start(at, header_end))
        length = fields.get(_LENGTH, b"")
        if not length.isdigit() or len(length) > _MAX_DIGITS:
            raise Stop(Trouble.BAD_LENGTH, behind=self._find_last_start(at, header_end))
        end = body + int(length)
        kind = fields.get(_TYPE, b"").lower()
        if kind not in _CAPTURES:
            other_kind = kind if kind in _OTHER_KINDS or not kind else b"unknown-type"
            return Record(body, end, other_kind.decode())
        media = fields.get(_CONTENT_TYPE)
        is_http = not media or _HTTP_MESSAGE.match(media)
        fields = {name: _join_lines(value) for name, value in fields.items()}
        status, media = None, fields.get(_CONTENT_TYPE)
        if is_http:
            status, media = self._read_http(at, next_member, body, end)
            media = media or fields.get(_IDENTIFIED_TYPE)
        is_revisit = kind == b"revisit"
        mime = _REVISIT if is_revisit else media and media.partition(b";")[0].strip()
        url = fields.get(_TARGET) or None
        # WARC 1.0 had angle brackets in its grammar, and some writers put them.
        if url and len(url) > 1 and url.startswith(b"<") and url.endswith(b">"):
            url = url[1:-1]
        group = self.file_name if self._group is None else self._group_of(url, fields)
        digest, time = fields.get(_DIGEST) or None, fields.get(_DATE)
        record = Record(body, end, None, url, time, status, mime or None, digest, group)
        record.is_http, record.has_payload = status is not None, not is_revisit
        return record

    def _find_header(self, at: int, next_member: int) -> tuple[int, int, int]:
        """Return where the first line of a header ends, where its last one does, and the body."""
        data, limit = self.data, at + records.MAX_HEADER_BYTES
        version = _VERSION.match(data, at, at + _VERSION_BYTES)
        if version is None:
            if _PART_OF_VERSION.fullmatch(data, at) and len(data) - at < _VERSION_BYTES:
                raise self.stop_short(None)
            raise Stop(Trouble.NO_RECORD)
        line_end = version.end() - 1
        found = _HEADER_END.search(data, line_end, limit)
        end = min(len(data), limit) if found is None else found.end()
        if end > next_member and (fence := self.find_fence(at, end)) is not None:
            raise self.stop_short(fence)
        if found is None and limit < len(data):
            raise Stop(Trouble.LONG_HEADER, behind=self._find_last_start(at, end))
        if found is None:
            raise self.stop_short(None, self._find_last_start(at, end))
        if not found[0].endswith(b"\n"):
            raise Stop(Trouble.MIXED_HEADERS, behind=found.start() + 1)
        return line_end, found.start(), found.end()

    def _find_last_start(self, at: int, end: int) -> int:
        """Return the last place in a header where another record seems to begin.

        The headers of all before it are mixed with it. To read each would take time with the square
        of how many there are.
        """
        last = at + 1
        for found in _START.finditer(self.data, last, end):
            last = found.start()
        return last

    def _group_of(self, url: bytes | None, fields: dict[bytes, bytes]) -> bytes | None:
        group = fields.get(self._group or b"") or None
        if url and _PAGE.match(url):
            self.has_pages = True
            self.has_groups |= group is not None
        return group

    def _read_http(
        self, at: int, next_member: int, body: int, end: int
    ) -> tuple[bytes | None, bytes | None]:
        """Return status and media type of the HTTP message that a body is, if it is one."""
        wanted = min(end, body + records.MAX_HTTP_BYTES)
        fence = self.find_fence(at, wanted) if wanted > next_member else None
        seen = min(wanted, len(self.data) if fence is None else fence)
        header = _HTTP_HEADER.match(self.data, body, seen)
        if seen < wanted:
            is_enough: object = seen - body >= records.STATUS_LINE_BYTES
            if header is not None:
                is_enough = records.BLANK_LINE.search(self.data, body, seen)
            if not is_enough:
                raise self.stop_short(fence, body)
        if header is None:
            return None, None
        status, media = header.groups()
        return status, media and _join_lines(media.strip())


def _join_lines(value: bytes) -> bytes:
    """Return a value with one space in place of each line end within (RFC 2616, 2.2)."""
    return _FOLD.sub(b" ", value).replace(b"\r", b"")


_FIRST_KIND = re.compile(rb"^warc-type[ \t]*:[ \t]*+(?!warcinfo)", re.IGNORECASE | re.MULTILINE)


def _refuse_derivative(beginning: bytes, name: str) -> None:
    """Refuse WAT and WET files, told by the first record that is no warcinfo."""
    kind = _FIRST_KIND.search(beginning)
    end = kind and records.BLANK_LINE.search(beginning, kind.end())
    if kind is None or end is None:
        return
    header = beginning[beginning.rfind(b"WARC/", 0, kind.start()) : end.start()].lower()
    body = beginning[end.end() : end.end() + _JSON_START_BYTES]
    if beginning.startswith(b"conversion", kind.end()) and b"\ncontent-type: text/plain" in header:
        raise SourceError(
            f"{name} is a WET file: the text of captures, without those that have none and "
            f"without statuses; {_ADVICE}"
        )
    is_json = b"\ncontent-type: application/json" in header and b'"Envelope"' in body
    if beginning.startswith(b"metadata", kind.end()) and is_json:
        raise SourceError(
            f"{name} is a WAT file: metadata of a WARC file's records, each URL up to three "
            f"times; {_ADVICE}"
        )
