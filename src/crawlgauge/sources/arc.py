"""ARC 1.0: the Internet Archive's format before WARC, one line and one body a record."""

import re
from collections.abc import Iterator

from crawlgauge.errors import SourceError
from crawlgauge.sources import records
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.records import Record, Stop, Trouble
from crawlgauge.sources.what_counts import Settings

_MAGIC = re.compile(rb"[\r\n]*filedesc:", re.IGNORECASE)
_LINE = re.compile(rb"^([a-z][a-z0-9+.-]{1,20}:)[^\n]{2,4160}(?=\n)", re.IGNORECASE | re.MULTILINE)
_LINE_TAIL = re.compile(rb" [0-9.]{7,15} \d{8,18} [^\n]{1,100} \d{1,15} ?\r?\n\Z")
"""By which a record's line is told from others, where a record is looked for."""
_LINE_TAIL_BYTES = 160
_MAX_URL_BYTES = 4000

_DEFINITION = re.compile(rb"^(URL(?: [A-Za-z-]+)+) *\r?\n", re.MULTILINE | re.IGNORECASE)
_DEFINITION_BYTES = 1 << 12
_VERSION_1 = "URL IP-address Archive-date Content-type Archive-length"
_FIRST_FIELDS = ["url", "ip-address", "archive-date", "content-type"]
_LAST_FIELD = "archive-length"
_URL, _DATE, _MEDIA = 0, 2, 3

_SCHEME = re.compile(rb"[A-Za-z0-9+.-]+:")
_PART_OF_SCHEME = re.compile(rb"[A-Za-z0-9+.-]+(?::|\Z)")
_MIN_DATE_DIGITS = 8
_MAX_LENGTH_DIGITS = 15


def looks_like_arc(beginning: bytes) -> bool:
    r"""Tell whether an input that begins with these bytes is ARC.

    Examples
    --------
    >>> looks_like_arc(b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain 75\n1 0 A\n")
    True
    """
    return _MAGIC.match(beginning) is not None


def read_arc(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read the captures of an ARC file: all its records but the one that describes the file.

    The status is that of the HTTP message in the body, and the media type that of the record's
    line.

    Parameters
    ----------
    stream
        The file; compressed by record, as a whole or not at all.
    intake
        Takes the captures.
    settings
        What is wanted of them. The group is ``filename``, the name of the file itself, or the name
        of any field of the records' lines.

    Raises
    ------
    SourceError
        If the input is no ARC file, or has no field by which captures shall be grouped.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    intake.collector.begin(has_pages=True)
    beginning = stream.beginning()
    if not looks_like_arc(beginning) and _find_start(beginning, 0) < 0:
        records.refuse_other_format("ARC", stream)
    yield from _ArcReader(stream, intake, settings, beginning).read()


class _ArcReader(records.RecordReader):
    """Reads the lines of ARC records."""

    title = "ARC"
    start_bytes = 4200

    def __init__(
        self, stream: Stream, intake: Intake, settings: Settings, beginning: bytes
    ) -> None:
        super().__init__(stream, intake, settings)
        fields = _read_definition(beginning, stream.name)
        names = [field.lower() for field in fields]
        self._n_fields = len(names)
        self._status, self._digest = _find(names, "result-code"), _find(names, "checksum")
        self._group = None
        if settings.group is not None and self.file_name is None:
            self._group = _find(names, settings.group.lower())
            if self._group is None:
                raise SourceError(
                    f"the records of {stream.name} have no field {settings.group!r}; group by "
                    "filename, the name of the file itself, or by one of theirs: "
                    f"{', '.join(fields)}"
                )

    def begins(self, place: int) -> bool:
        end = self.data.find(b"\n", place, place + records.MAX_HEADER_BYTES)
        return end >= 0 and self._split_line(place, end) is not None

    def find_start(self, at: int) -> int:
        return _find_start(self.data, at)

    def read_header(self, at: int, next_member: int) -> Record:
        limit = at + records.MAX_HEADER_BYTES
        line_end = self.data.find(b"\n", at, limit)
        end = min(len(self.data), limit) if line_end < 0 else line_end
        fence = self.find_fence(at, end) if end > next_member else None
        if line_end < 0 or fence is not None:
            is_long = fence is None and limit < len(self.data)
            if is_long or not _PART_OF_SCHEME.match(self.data, at, end if fence is None else fence):
                raise Stop(Trouble.NO_RECORD)
            raise self.stop_short(fence)
        fields = self._split_line(at, line_end)
        if fields is None:
            raise Stop(Trouble.NO_RECORD)
        length = fields[-1].strip()
        if not length.isdigit() or len(length) > _MAX_LENGTH_DIGITS:
            raise Stop(Trouble.BAD_LENGTH)
        body = line_end + 1
        record = Record(body, body + int(length))
        status = self._read_status(at, next_member, record)
        if fields[_URL].lower().startswith(b"filedesc:"):
            record.other_kind = "filedesc"
            return record
        record.url = fields[_URL].strip().replace(b"\r", b"")
        record.time = fields[_DATE]
        fields[_MEDIA] = fields[_MEDIA].partition(b";")[0]
        record.mime = _known(fields, _MEDIA)
        record.is_http = status is not None
        record.status = _known(fields, self._status) if status is None else status[1]
        record.digest = _known(fields, self._digest)
        record.group = self.file_name or _known(fields, self._group)
        return record

    def _read_status(self, at: int, next_member: int, record: Record) -> re.Match[bytes] | None:
        """Return what an HTTP response begins with, if the body of the record is one."""
        body = record.body
        wanted = min(record.end, body + records.STATUS_LINE_BYTES)
        fence = self.find_fence(at, wanted) if wanted > next_member else None
        seen = min(wanted, len(self.data) if fence is None else fence)
        unsure = self._find_unsure(at, seen) if wanted > next_member else seen
        status = records.HTTP_STATUS.match(self.data, body, unsure)
        if unsure < seen and (status is None or status.end() == unsure):
            raise Stop(None)
        # What follows may be another digit.
        if seen < wanted and (status is None or status.end() == seen):
            raise self.stop_short(fence, body)
        return status

    def _find_unsure(self, at: int, end: int) -> int:
        """Return where before `end` a member begins of whose first line too little is at hand."""
        for place in self.members_between(at, end):
            is_short = not self.is_last and len(self.data) < place + self.start_bytes
            if is_short and b"\n" not in self.data[place:]:
                return place
        return end

    def _split_line(self, start: int, end: int) -> list[bytes] | None:
        """Return the fields of a record's line, or None if it cannot be one.

        They are told from the end, as URLs may contain spaces.
        """
        head, *others = self.data[start:end].rstrip(b"\r ").rsplit(b" ", self._n_fields - 4)
        media = head.rfind(b" ")
        date = head.rfind(b" ", 0, max(media, 0))
        # A media type with parameters may contain spaces too.
        while not _is_date(head[date + 1 : media]) and date >= 0 and not others[1:]:
            media, date = date, head.rfind(b" ", 0, date)
        address = head.rfind(b" ", 0, max(date, 0))
        if len(others) < self._n_fields - 4 or address < 0:
            return None
        fields = [head[:address], head[address + 1 : date], head[date + 1 : media]]
        if not _is_date(fields[_DATE]) or not _SCHEME.match(fields[_URL]):
            return None
        return [*fields, head[media + 1 :], *others]


def _is_date(word: bytes) -> bool:
    return len(word) >= _MIN_DATE_DIGITS and word.isdigit()


def _known(fields: list[bytes], place: int | None) -> bytes | None:
    """Return a field; None if there is none, or but a dash, which says that it is not known."""
    word = b"-" if place is None else fields[place]
    return None if word == b"-" else word.strip().replace(b"\r", b"") or None


def _find_start(data: bytes, at: int) -> int:
    """Return the first place where a record's line seems to begin, or −1."""
    for line in _LINE.finditer(data, at):
        begin, end = line.end(1), line.end() + 1
        tail = _LINE_TAIL.search(data, max(begin + 1, end - _LINE_TAIL_BYTES), end)
        if tail is not None and tail.start() - begin <= _MAX_URL_BYTES:
            return line.start()
    return -1


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


def _find(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None
