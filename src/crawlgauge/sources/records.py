"""What WARC and ARC files share: records, each a header and a body, and damage between them.

A format says how a record begins and what its header tells; `RecordReader` walks from one record to
the next. It passes over bodies without holding them, unless their digests or texts are wanted
(`_Payload`), and goes on behind damage.
"""

import base64
import hashlib
import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import ClassVar, NoReturn

from crawlgauge.core.batch import NO_TEXT, NOT_HTML
from crawlgauge.errors import Damage, DamagedInput, SourceError
from crawlgauge.sources.captures import Intake, readable
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.page_text import MAX_PAGE_BYTES, fingerprint_page, is_html
from crawlgauge.sources.what_counts import Settings

MAX_HEADER_BYTES = 1 << 20
"""Longer headers are no headers."""

HTTP_STATUS = re.compile(rb"HTTP/[0-9.]{0,16}[ \t]{1,16}([0-9]{3})(?![^ \t\n\v\f\r])")
"""The beginning of an HTTP response."""
STATUS_LINE_BYTES = 48
"""So many tell whether there is a status."""

BLANK_LINE = re.compile(rb"\n\r*\n")
MAX_HTTP_BYTES = 1 << 16
"""HTTP headers end before, as servers and clients refuse longer ones."""
_NO_LINE_END = re.compile(rb"[^\r\n]")
_EXAMPLE_BYTES = 96
_RETAINED_BYTES = 1 << 20
"""What is kept before a record: if that is none, a wrong length may hide others there."""
_NOWHERE = 1 << 62


class Trouble(Enum):
    """What can be wrong with a record, in words."""

    NO_RECORD = (
        "no {title} record begins there; the record before it gives a wrong length, or something "
        "else stands between them"
    )
    CUT = "the input ends inside the record that begins at {record}"
    SWALLOWED = (
        "the next record begins there, although the one that begins at {record} should be longer"
    )
    MIXED_HEADERS = "the header of one record runs into that of another"
    LONG_HEADER = "the header of a record does not end"
    BAD_LENGTH = "the length of a record is missing or no number that a length can be"


class Stop(Exception):  # noqa: N818 - says what the reader does
    """A record cannot be read as it stands. Places are those in the bytes at hand.

    Parameters
    ----------
    trouble
        What is wrong; None if more bytes are needed to tell.
    at
        Where it is wrong; None if that is where the record begins.
    behind
        Where at the earliest another record begins, if that is known.
    """

    def __init__(
        self, trouble: Trouble | None, *, at: int | None = None, behind: int | None = None
    ) -> None:
        super().__init__(trouble)
        self.trouble, self.at, self.behind = trouble, at, behind


@dataclass(slots=True)
class Record:
    """What the header of a record tells of it.

    Parameters
    ----------
    body, end
        Where its body begins and ends, counted from the beginning of the bytes at hand.
    other_kind
        Why it is not meant to be a capture; None if it is, nothing if it does not tell.
    url, time, status, mime, digest, group
        Of the capture, as they are written; None where there are none.
    text
        Of the page, as the collector takes it.
    is_http
        Whether the body is an HTTP message.
    has_payload
        Whether what was captured is in the body.
    """

    body: int
    end: int
    other_kind: str | None = None
    url: bytes | None = None
    time: bytes | None = None
    status: bytes | None = None
    mime: bytes | None = None
    digest: bytes | None = None
    group: bytes | None = None
    text: int = NO_TEXT
    is_http: bool = False
    has_payload: bool = True


class RecordReader(ABC):
    """Walks over the records of a file.

    Of a damaged record the capture is kept if its header, and that of the HTTP message within, can
    be read. Reading resumes at the next place where a record seems to begin.

    Parameters
    ----------
    stream
        The input.
    intake
        Takes the captures.
    settings
        What the user wants of them.

    Attributes
    ----------
    data
        The bytes at hand.
    is_last
        Whether nothing follows them.
    file_name
        What captures are grouped by, where that is the file they stand in.
    """

    title: ClassVar[str]
    """The name of the format."""
    start_bytes: ClassVar[int]
    """The greatest length of what `find_start` and `begins` look at."""

    def __init__(self, stream: Stream, intake: Intake, settings: Settings) -> None:
        self.data = b""
        self.is_last = False
        self.file_name: bytes | None = None
        if settings.group == "filename":
            self.file_name = PurePath(stream.name).name.encode("utf-8", errors="surrogateescape")
        self._stream, self._intake, self._collector = stream, intake, intake.collector
        self._keeps_digests, self._keeps_texts = settings.keeps_digests, settings.keeps_texts
        self._blocks = stream.blocks()
        # Where the bytes at hand begin in the decompressed input, how far they have been read, how
        # much of that is kept (one byte tells whether a line begins behind it), and whether damage
        # has cut the input there.
        self._place, self._at, self._is_lost = 0, 0, False
        self._n_kept = _RETAINED_BYTES if settings.keep_damaged else 1
        # Where compressed members begin in the decompressed input, and in the file.
        self._members: list[int] = []
        self._member_bytes: list[int] = []
        # Where the last record begins, and another at the earliest if its length is wrong.
        self._record = self._behind = 0
        self._n_digested = 0

    # --------------------------------------------------------------------- what each format tells

    @abstractmethod
    def read_header(self, at: int, next_member: int) -> Record:
        """Read the header of the record at a place in `data`.

        Parameters
        ----------
        at
            The place.
        next_member
            Where behind it the next compressed member begins, which may hold another record;
            `find_fence` tells.

        Raises
        ------
        Stop
            If it cannot be read, or there is none.
        """

    @abstractmethod
    def begins(self, place: int) -> bool:
        """Tell whether a record surely begins at a place in `data`."""

    @abstractmethod
    def find_start(self, at: int) -> int:
        """Return where in `data`, from a place on, a record first seems to begin, or −1."""

    def find_fence(self, at: int, end: int) -> int | None:
        """Return where between two places a compressed member begins with a record."""
        return next(filter(self.begins, self.members_between(at, end)), None)

    def members_between(self, at: int, end: int) -> Iterator[int]:
        """Return where between two places compressed members begin."""
        first = bisect_right(self._members, self._place + at)
        last = bisect_left(self._members, self._place + end)
        return (member - self._place for member in self._members[first:last])

    def stop_short(self, fence: int | None, behind: int | None = None) -> Stop:
        """Return why a record that goes on beyond a fence, or the bytes at hand, is not read."""
        if fence is not None:
            return Stop(Trouble.SWALLOWED, at=fence)
        return Stop(Trouble.CUT if self.is_last else None, behind=behind)

    # --------------------------------------------------------------------------------- the walk

    def read(self) -> Iterator[None]:
        """Hand all captures to the collector.

        Raises
        ------
        SourceError
            If the input cannot be read.
        DamagedInput
            If it is damaged, and that is not wanted to be got over.
        """
        seen = self.data
        while not self._is_lost or self._find_record():
            begin = _NO_LINE_END.search(self.data, self._at)
            if begin is not None:
                self._read_record(begin.start())
            elif self.is_last:
                return
            else:
                self._at = len(self.data)
                self._take_more()
            if self.data is not seen:
                seen = self.data
                yield

    def _read_record(self, at: int) -> None:
        self._at = at
        number = bisect_right(self._members, self._place + at)
        is_within = number < len(self._members)
        next_member = self._members[number] - self._place if is_within else _NOWHERE
        try:
            record = self.read_header(at, next_member)
        except Stop as stop:
            if stop.trouble is None:
                self._take_more()
                return
            if stop.trouble is not Trouble.NO_RECORD:
                self._record = self._place + at
                self._behind = self._place + (at + 1 if stop.behind is None else stop.behind)
            self._get_over(stop.trouble, at if stop.at is None else stop.at)
            return
        self._record, self._behind = self._place + at, self._place + record.body
        example = self.data[at : min(record.body, at + _EXAMPLE_BYTES)]
        payload = self._open_payload(record) if self._keeps_digests else None
        trouble = None
        if record.end <= next_member and record.end <= len(self.data):
            if payload is not None:
                payload.feed(self.data[record.body : record.end])
            self._at = record.end
        else:
            trouble = self._pass_over(record, payload)
        is_whole = trouble is None and not self._is_lost
        self._take(record, example, payload if is_whole else None)
        if trouble is not None:
            self._get_over(trouble, self._at)

    def _pass_over(self, record: Record, payload: "_Payload | None") -> Trouble | None:
        """Read on to the end of a record beyond the bytes at hand, or in another member."""
        end, taken = self._place + record.end, self._place + record.body
        looked_at = self._record
        while True:
            seen = self._place + len(self.data)
            limit = min(end, seen)
            fence = self.find_fence(looked_at - self._place, limit - self._place)
            if fence is not None:
                self._at = fence
                return Trouble.SWALLOWED
            if payload is not None:
                payload.feed(self.data[taken - self._place : limit - self._place])
            self._at, taken = limit - self._place, limit
            # A member whose beginning is not wholly at hand is looked at with what follows.
            unsure = bisect_right(self._members, max(self._record, seen - self.start_bytes))
            is_sure = unsure == len(self._members) or self._members[unsure] >= end
            if self.is_last or (limit == end and is_sure):
                return None if limit == end else Trouble.CUT
            looked_at = max(self._record, limit - self.start_bytes)
            self._at = looked_at - self._place
            self._take_more()
            if self._is_lost:
                return None

    # ----------------------------------------------------------------------------- what is found

    def _open_payload(self, record: Record) -> "_Payload | None":
        """Return what takes in the body of a record, if that tells more than the header does."""
        if record.other_kind is not None or not record.has_payload:
            return None
        has_text = self._keeps_texts and is_html(record.mime or b"")
        if record.digest is not None and not has_text:
            record.text = NOT_HTML
            return None
        self._n_digested += min(record.end, len(self.data)) - record.body
        # Of records that wrong lengths have put into each other, not all are read to their ends.
        if self._n_digested > 4 * (self._place + len(self.data)) + _RETAINED_BYTES:
            return None
        return _Payload(is_http=record.is_http, max_kept=MAX_PAGE_BYTES if has_text else 0)

    def _take(self, record: Record, example: bytes, payload: "_Payload | None") -> None:
        """Hand over the last record, with its payload if that is whole and wanted."""
        if record.other_kind:
            self._collector.exclude(record.other_kind)
            return
        if payload is not None:
            digest, record.text = payload.finish()
            record.digest = record.digest or digest
        reason: str | None = "no-type"
        if record.other_kind is None:
            reason = self._collector.add(
                record.url,
                time=record.time,
                status=record.status,
                mime=record.mime,
                digest=record.digest,
                group=record.group,
                text=record.text,
            )
        if reason is not None:
            self._intake.reject(reason, record.url or example, offset=self._record)

    # -------------------------------------------------------------------------- the bytes at hand

    def _take_more(self) -> None:
        """Take the next block, if there is one, and drop what has been read."""
        try:
            more = next(self._blocks, b"")
        except DamagedInput as error:
            self.is_last = not self._stream.recover(error, "record")
            # What damage has cut off cannot be read on behind it.
            self.data, self._place, self._at = b"", self._stream.n_read, 0
            self._is_lost = True
            self._blocks = self._stream.blocks()
        else:
            self.is_last = not more
            n_past = max(self._at - self._n_kept, 0)
            self.data = self.data[n_past:] + more
            self._place, self._at = self._place + n_past, self._at - n_past
        for start, byte in self._stream.take_members(self._place + len(self.data) + 1):
            self._members.append(start)
            self._member_bytes.append(byte)
        n_past = bisect_right(self._members, self._place) - 1
        if n_past > 0:
            del self._members[:n_past], self._member_bytes[:n_past]

    def _find_record(self) -> bool:
        """Read on to the next place where a record seems to begin, and tell whether one does."""
        self._is_lost = False
        while (found := self.find_start(self._at)) < 0 and not self.is_last:
            self._at = max(self._at, len(self.data) - self.start_bytes)
            self._take_more()
            self._is_lost = False
        self._at = len(self.data) if found < 0 else found
        return found >= 0

    # -------------------------------------------------------------------------------------- damage

    def _get_over(self, trouble: Trouble, at: int) -> None:
        """Report damage at a place in `data`, and go on to the next record."""
        byte = place = self._place + (len(self.data) if trouble is Trouble.CUT else at)
        before = ""
        if self._members:
            byte = self._member_bytes[max(bisect_right(self._members, place) - 1, 0)]
            before = (
                f"in the compressed member that begins there, at byte {place:,} of the "
                "decompressed content: "
            )
        record = self._describe(self._record)
        reason = before + trouble.value.format(title=self.title, record=record)
        rest = f"the rest of the record that begins at {record}"
        ends_here = trouble in (Trouble.CUT, Trouble.SWALLOWED)
        lost = rest if ends_here else f"all that follows {self._describe(place)}"
        damage = Damage(file=self._stream.name, byte=byte, reason=reason, lost=lost)
        self._stream.report(damage)
        if trouble is Trouble.SWALLOWED:
            self._at = at
        else:
            # A length that is too large hides whole records; the last of them are still at hand.
            self._at = max(self._behind, place - _RETAINED_BYTES, self._place) - self._place
            is_found = self._find_record()
            resumed = self._place + self._at
            if is_found and resumed < place:
                lost = rest
            elif is_found:
                ends = self._describe(place), self._describe(resumed)
                lost = "what stands between {} and {}".format(*ends)
            if place - _RETAINED_BYTES > self._behind:
                lost += ", and any records before it that a wrong length has hidden"
            self._stream.amend(damage, lost)
        self._behind = self._place + self._at + 1

    def _describe(self, place: int) -> str:
        """Return words for a place in the decompressed input."""
        return f"byte {place:,} of the content" if self._members else f"byte {place:,}"


def refuse_other_format(title: str, stream: Stream) -> NoReturn:
    """Say that an input is not of the format that the user stated.

    Parameters
    ----------
    title
        That format.
    stream
        The input.

    Raises
    ------
    SourceError
        Always.
    """
    reason = "it is empty"
    if beginning := stream.beginning():
        reason = (
            f"it begins with {readable(beginning[:40])!r}; leave out --format, so that its format "
            "is told by its content"
        )
    raise SourceError(f"{stream.name} is no {title} file: {reason}")


# ---------------------------------------------------------------------------------------- payloads

_CHUNKED = re.compile(rb"^transfer-encoding[ \t]*:[^\r\n]*chunked", re.IGNORECASE | re.MULTILINE)


class _Payload:
    """Takes in the body of one record, piece by piece.

    The payload of an HTTP message is its entity (WARC 1.1, 5.9; RFC 9110, 6.4): what follows the
    header, without the transfer coding but with the content coding, such as gzip, that it has.
    Up to `max_kept` bytes of it are kept.
    """

    def __init__(self, *, is_http: bool, max_kept: int) -> None:
        self._header = b""
        self._pending: bytes | None = b"" if is_http else None
        self._chunks: _Chunks | None = None
        self._sha1, self._decoded_sha1 = (hashlib.sha1(usedforsecurity=False) for _ in range(2))
        self._kept, self._max_kept = bytearray(), max_kept

    def feed(self, piece: bytes) -> None:
        if self._pending is not None:
            held = self._pending + piece
            end = BLANK_LINE.search(held, 0, MAX_HTTP_BYTES)
            if end is None:
                # What is longer has no header, and may have no end either.
                self._pending = held[:MAX_HTTP_BYTES]
                return
            self._header, piece = held[: end.end()], held[end.end() :]
            self._pending = None
            if _CHUNKED.search(self._header):
                self._chunks = _Chunks()
        self._sha1.update(piece)
        if self._chunks is not None:
            for part in self._chunks.feed(piece):
                self._decoded_sha1.update(part)
        if self._max_kept and len(self._kept) <= self._max_kept:
            self._kept += piece

    def finish(self) -> tuple[bytes | None, int]:
        """Return the payload's digest, as crawlers write it (SHA-1 in Base32), and its text.

        That is a fingerprint, or `NOT_HTML` if it is no page that was kept. An HTTP message whose
        header does not end has no payload.
        """
        if self._pending is not None:
            return None, NO_TEXT
        # What says to be chunked and is not was recorded by a tool that had undone it.
        is_decoded = self._chunks is not None and self._chunks.is_chunked
        sha1 = self._decoded_sha1 if is_decoded else self._sha1
        text = None
        if 0 < len(self._kept) <= self._max_kept:
            content = bytes(self._kept)
            if is_decoded:
                content = b"".join(_Chunks().feed(content))
            text = fingerprint_page(content, self._header)
        digest = b"sha1:" + base64.b32encode(sha1.digest())
        return digest, NOT_HTML if text is None else text


class _Chunks:
    """Undoes the chunked transfer coding of HTTP (RFC 9112, 7.1), piece by piece."""

    _LINE = re.compile(rb"[\r\n]*+([^\n]*+)\n")
    _SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?", re.DOTALL)
    _MAX_LINE_BYTES = 1 << 12
    """Longer lines are no sizes of chunks, whatever extension follows the number."""

    def __init__(self) -> None:
        self._pending = b""
        self._n_left = 0
        self._is_over = False
        self.is_chunked = False
        """Whether all that came was chunks; the last may be cut."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Take in a piece, and yield the parts of chunks that it holds."""
        data, place = self._pending + piece, 0
        self._pending = b""
        while place < len(data) and not self._is_over:
            if self._n_left:
                part = data[place : place + self._n_left]
                yield part
                place += len(part)
                self._n_left -= len(part)
                continue
            limit = place + self._MAX_LINE_BYTES
            line = self._LINE.match(data, place, limit)
            if line is None and len(data) < limit:
                self._pending = data[place:]
                return
            size = self._SIZE.fullmatch(line[1]) if line is not None else None
            self.is_chunked = size is not None
            if line is not None and size is not None:
                place, self._n_left = line.end(), int(size[1], 16)
            self._is_over = self._n_left == 0
