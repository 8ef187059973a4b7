"""What WARC and ARC files share: records, each a header and a body, and damage between them.

A format says how a record begins and what its header tells; `RecordReader` walks from one record to
the next. It passes over bodies without holding them, unless their digests or texts are wanted
(`Payload`), and goes on behind damage.
"""

import base64
import hashlib
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import ClassVar, NoReturn

from crawlgauge.core.batch import NO_TEXT, NOT_HTML
from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.captures import Intake, readable
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.page_text import MAX_PAGE_BYTES, fingerprint_page, is_html
from crawlgauge.sources.what_counts import Settings

__all__ = [
    "HTTP_STATUS",
    "MAX_HEADER_BYTES",
    "STATUS_LINE_BYTES",
    "Record",
    "RecordReader",
    "Stop",
    "Trouble",
    "name_of_file",
    "refuse_other_format",
]

MAX_HEADER_BYTES = 1 << 20
"""Longer headers are no headers."""

HTTP_STATUS = re.compile(rb"HTTP/[0-9.]{0,16}[ \t]{1,16}([0-9]{3})(?![^ \t\n\v\f\r])")
"""The beginning of an HTTP response."""
STATUS_LINE_BYTES = 48
"""So many tell whether there is a status."""

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
    body
        Where its body begins, if that is known.
    resume
        Where at the earliest a record begins that can be read, if that is known.
    """

    def __init__(
        self,
        trouble: Trouble | None,
        *,
        at: int | None = None,
        body: int | None = None,
        resume: int = 0,
    ) -> None:
        super().__init__(trouble)
        self.trouble, self.at, self.body, self.resume = trouble, at, body, resume


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
    """

    title: ClassVar[str]
    """The name of the format."""
    start_bytes: ClassVar[int]
    """The greatest length of what `find_start` and `begins` look at."""

    def __init__(self, stream: Stream, intake: Intake, settings: Settings) -> None:
        self.data = b""
        self.is_last = False
        self._stream, self._intake, self._collector = stream, intake, intake.collector
        self._keeps_damaged = settings.keep_damaged
        self._keeps_digests, self._keeps_texts = settings.keeps_digests, settings.keeps_texts
        self._blocks = stream.blocks()
        # Where the bytes at hand begin in the decompressed input, how far they have been read, and
        # whether damage has cut the input there.
        self._place, self._at, self._is_lost = 0, 0, False
        # What stands before them: earlier bytes, and how many of each.
        self._before: deque[tuple[bytes, int]] = deque()
        self._n_before = 0
        # Where compressed members begin in the decompressed input, and in the file.
        self._members: list[int] = []
        self._member_bytes: list[int] = []
        # Where the last record and its body begin, and the one that was found last behind damage.
        self._record, self._payload, self._resumed_at = 0, 0, -1
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
    def find_start(self, at: int, end: int) -> int:
        """Return the first place in ``data[at:end]`` where a record seems to begin, or −1."""

    def find_fence(self, at: int, end: int) -> int | None:
        """Return where between two places a compressed member begins with a record."""
        for number in range(bisect_right(self._members, self._place + at), len(self._members)):
            place = self._members[number] - self._place
            if place >= end:
                break
            if self.begins(place):
                return place
        return None

    def find_last_start(self, at: int, end: int) -> int:
        """Return the last place between two where a record seems to begin, or else the second.

        Where the header at the first place cannot be read, that of the last may be whole. To read
        those of all between them would take time with the square of how many there are.
        """
        last = max(end - self.start_bytes, at + 1)
        while (found := self.find_start(at + 1, end)) >= 0:
            at = last = found
        return last

    def stop_short(self, at: int, fence: int | None, body: int | None = None) -> Stop:
        """Return why a record that goes on beyond a fence, or the bytes at hand, is not read."""
        if fence is not None:
            return Stop(Trouble.SWALLOWED, at=fence, body=body)
        if not self.is_last:
            return Stop(None)
        resume = self.find_last_start(at, len(self.data)) if body is None else 0
        return Stop(Trouble.CUT, body=body, resume=resume)

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
        while not self._is_lost or (yield from self._find_record()):
            begin = _NO_LINE_END.search(self.data, self._at)
            if begin is None:
                if self.is_last:
                    return
                self._at = len(self.data)
                self._take_more()
                yield
                continue
            self._at = at = begin.start()
            number = bisect_right(self._members, self._place + at)
            is_within = number < len(self._members)
            next_member = self._members[number] - self._place if is_within else _NOWHERE
            try:
                record = self.read_header(at, next_member)
            except Stop as stop:
                yield from self._stop(at, stop)
                continue
            self._record, self._payload = self._place + at, self._place + record.body
            if record.end <= next_member and record.end <= len(self.data):
                payload = self._open_payload(record) if self._keeps_digests else None
                self._take(record, self.data[at : record.body], payload)
                self._at = record.end
            else:
                yield from self._take_long(at, record)

    def _take_long(self, at: int, record: Record) -> Iterator[None]:
        """Take a record that ends beyond the bytes at hand, or in another compressed member."""
        header = self.data[at : record.body]
        fence = self.find_fence(at, record.end)
        if fence is not None:
            self._take(record, header, None)
            self._at = fence
            yield from self._get_over(Trouble.SWALLOWED)
            return
        payload = self._open_payload(record) if self._keeps_digests else None
        if payload is None:
            self._take(record, header, None)
        trouble = yield from self._pass_over(self._place + record.end, payload)
        if payload is not None:
            is_whole = trouble is None and not self._is_lost
            self._take(record, header, payload if is_whole else None)
        if trouble is not None:
            yield from self._get_over(trouble)

    def _pass_over(
        self, end: int, payload: "Payload | None"
    ) -> Generator[None, None, Trouble | None]:
        """Read on to a place beyond the bytes at hand, without holding what stands before it."""
        while not self.is_last:
            seen = self._end
            # A member whose beginning is not wholly at hand is looked at with what follows.
            unsure = bisect_right(self._members, max(self._record, seen - self.start_bytes))
            first = self._members[unsure] if unsure < len(self._members) else seen
            if min(first, seen) >= end:
                break
            self._at = first - self._place
            self._take_more()
            yield
            if self._is_lost:
                return None
            limit = min(end, self._end) - self._place
            if payload is not None:
                payload.feed(self.data[seen - self._place : limit])
            fence = self.find_fence(first - self._place - 1, limit)
            if fence is not None:
                self._at = fence
                return Trouble.SWALLOWED
        self._at = min(end, self._end) - self._place
        return Trouble.CUT if self._end < end else None

    # ----------------------------------------------------------------------------- what is found

    def _open_payload(self, record: Record) -> "Payload | None":
        """Return what takes in the body of a record, if that tells more than the header does."""
        if record.other_kind is not None or not record.has_payload:
            return None
        has_text = self._keeps_texts and is_html(record.mime or b"")
        if record.digest is not None and not has_text:
            record.text = NOT_HTML
            return None
        if self.is_last and record.end > len(self.data):
            return None
        body = self.data[record.body : record.end]
        self._n_digested += len(body)
        # Of records that wrong lengths have put into each other, not all are read to their ends.
        if self._n_digested > 4 * (self._payload + len(body)) + _RETAINED_BYTES:
            return None
        payload = Payload(is_http=record.is_http, max_kept=MAX_PAGE_BYTES if has_text else 0)
        payload.feed(body)
        return payload

    def _take(self, record: Record, header: bytes, payload: "Payload | None") -> None:
        """Hand over the last record, with its payload if that is whole and wanted."""
        if record.other_kind:
            self._collector.exclude(record.other_kind)
            return
        if payload is not None and payload.is_found:
            record.digest = record.digest or payload.digest()
            record.text = payload.text() if self._keeps_texts else NO_TEXT
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
            example = header[:_EXAMPLE_BYTES] if record.url is None else record.url
            self._intake.reject(reason, example, offset=self._record)

    # -------------------------------------------------------------------------- the bytes at hand

    @property
    def _end(self) -> int:
        """Where the bytes at hand end in the decompressed input."""
        return self._place + len(self.data)

    def _take_more(self) -> None:
        """Take the next block, if there is one, and drop what has been read."""
        try:
            more = next(self._blocks, b"")
        except DamagedInput as error:
            self.is_last = not self._stream.recover(error, "record")
            # What damage has cut off cannot be read on behind it.
            self._before.clear()
            self._n_before = 0
            self._hold(b"", self._stream.n_read)
            self._is_lost = True
            self._blocks = self._stream.blocks()
            return
        if not more:
            self.is_last = True
            return
        if self._keeps_damaged and self._at:
            self._before.append((self.data, self._at))
            self._n_before += self._at
            while self._n_before - self._before[0][1] >= _RETAINED_BYTES:
                self._n_before -= self._before.popleft()[1]
        rest = self.data[self._at :]
        self._hold(rest + more if rest else more, self._place + self._at)

    def _hold(self, data: bytes, place: int) -> None:
        self.data, self._place, self._at = data, place, 0
        if members := self._stream.take_members(self._end + 1):
            starts, places = zip(*members, strict=True)
            self._members.extend(starts)
            self._member_bytes.extend(places)
        n_past = bisect_right(self._members, place - self._n_before) - 1
        if n_past > 0:
            del self._members[:n_past], self._member_bytes[:n_past]

    def _go_back(self, place: int) -> None:
        """Go to a place that was passed, at most `_RETAINED_BYTES` before."""
        if place < self._place:
            held = b"".join([data[:n_bytes] for data, n_bytes in self._before])
            self._before.clear()
            self._n_before = 0
            self._hold(held + self.data, self._place - len(held))
        self._at = place - self._place

    def _find_record(self) -> Generator[None, None, bool]:
        """Read on to the next place where a record seems to begin, and tell whether one does."""
        self._is_lost = False
        while (found := self.find_start(self._at, len(self.data))) < 0:
            if self.is_last:
                self._at = len(self.data)
                return False
            first = max(self._at, len(self.data) - self.start_bytes)
            # One byte more tells whether a line begins there.
            self._at = max(first - 1, 0)
            n_more = first - self._at
            self._take_more()
            yield
            self._at += 0 if self._is_lost else n_more
            self._is_lost = False
        self._at = found
        return True

    # -------------------------------------------------------------------------------------- damage

    def _stop(self, at: int, stop: Stop) -> Iterator[None]:
        """Take more bytes for the record at a place, or get over it."""
        if stop.trouble is None:
            self._take_more()
            yield
            return
        if stop.trouble is not Trouble.NO_RECORD:
            self._record = self._place + at
        if stop.body is not None:
            self._payload = self._place + stop.body
        self._at = at if stop.at is None else stop.at
        yield from self._get_over(stop.trouble, self._place + stop.resume if stop.resume else 0)

    def _get_over(self, trouble: Trouble, resume: int = 0) -> Iterator[None]:
        """Report damage and go on to the next record, which begins at `resume` or behind."""
        record, payload = self._record, self._payload
        place = self._end if trouble is Trouble.CUT else self._place + self._at
        reason = trouble.value.format(title=self.title, record=self._words_for(record))
        rest = f"the rest of the record that begins at {self._words_for(record)}"
        damage = self._report(place, reason, f"all that follows {self._words_for(place)}")
        if trouble is Trouble.SWALLOWED:
            self._stream.amend(damage, rest)
            self._resumed_at = place
            return
        # A length that is too large hides whole records; the last of them are still at hand.
        is_body = trouble in (Trouble.NO_RECORD, Trouble.CUT) and payload > record
        first = payload if is_body else record + 1
        begin = max(first, self._resumed_at + 1, place - _RETAINED_BYTES)
        hidden = ", and any records before it that a wrong length has hidden"
        hidden = hidden if begin > first else ""
        self._go_back(begin)
        self._at = max(self._at, resume - self._place)
        if (yield from self._find_record()):
            self._resumed_at = self._place + self._at
            between = f"what stands between {self._words_for(place)} and "
            between += self._words_for(self._resumed_at)
            self._stream.amend(damage, (rest if self._resumed_at < place else between) + hidden)
        elif trouble is Trouble.CUT:
            self._stream.amend(damage, rest + hidden)

    def _report(self, place: int, reason: str, lost: str) -> Damage:
        """Note damage at a place of the decompressed input, and return it."""
        byte = place
        if self._members:
            byte = self._member_bytes[max(bisect_right(self._members, place) - 1, 0)]
            reason = (
                f"in the compressed member that begins there, at byte {place:,} of the "
                f"decompressed content: {reason}"
            )
        damage = Damage(file=self._stream.name, byte=byte, reason=reason, lost=lost)
        self._stream.report(damage)
        return damage

    def _words_for(self, place: int) -> str:
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
    beginning = stream.beginning()
    if not beginning:
        raise SourceError(f"{stream.name} is no {title} file: it is empty")
    raise SourceError(
        f"{stream.name} is no {title} file: it begins with {readable(beginning[:40])!r}; leave out "
        "--format, so that its format is told by its content"
    )


def name_of_file(stream: Stream) -> bytes:
    """Return the name of the file being read, without its folder."""
    return PurePath(stream.name).name.encode("utf-8", errors="surrogateescape")


# ---------------------------------------------------------------------------------------- payloads

_HEADER_END = re.compile(rb"\n\r*\n")
_MAX_HTTP_BYTES = 1 << 16
"""HTTP headers end before, as servers and clients refuse longer ones."""
_CHUNKED = re.compile(rb"^transfer-encoding[ \t]*:[^\r\n]*chunked", re.IGNORECASE | re.MULTILINE)


class Payload:
    """Takes in the body of one record, piece by piece.

    The payload of an HTTP message is its entity (WARC 1.1, 5.9; RFC 9110, 6.4): what follows the
    header, without the transfer coding but with the content coding, such as gzip, that it has.

    Parameters
    ----------
    is_http
        Whether the body is an HTTP message.
    max_kept
        Keep the payload itself up to so many bytes.
    """

    def __init__(self, *, is_http: bool, max_kept: int = 0) -> None:
        self._header = b""
        self._pending: bytes | None = b"" if is_http else None
        self._chunks: _Chunks | None = None
        self._recorded, self._decoded = _Content(max_kept), _Content(max_kept)

    def feed(self, piece: bytes) -> None:
        """Take in the next piece of the body."""
        if self._pending is not None:
            held = self._pending + piece
            end = _HEADER_END.search(held, 0, _MAX_HTTP_BYTES)
            if end is None:
                # What is longer has no header, and may have no end either.
                self._pending = held[:_MAX_HTTP_BYTES]
                return
            self._header, piece = held[: end.end()], held[end.end() :]
            self._pending = None
            if _CHUNKED.search(self._header):
                self._chunks = _Chunks()
        self._recorded.add(piece)
        if self._chunks is not None:
            for part in self._chunks.feed(piece):
                self._decoded.add(part)

    @property
    def is_found(self) -> bool:
        """Whether there is a payload: an HTTP message whose header does not end has none."""
        return self._pending is None

    def digest(self) -> bytes:
        """Return the payload's digest, as crawlers write it: SHA-1 in Base32."""
        return b"sha1:" + base64.b32encode(self._content.sha1.digest())

    def text(self) -> int:
        """Return a fingerprint of the page's text, or `NOT_HTML`."""
        content = self._content.kept()
        found = None if content is None else fingerprint_page(content, self._header)
        return NOT_HTML if found is None else found

    @property
    def _content(self) -> "_Content":
        # What says to be chunked and is not was recorded by a tool that had undone it.
        is_decoded = self._chunks is not None and self._chunks.is_chunked
        return self._decoded if is_decoded else self._recorded


class _Content:
    """Bytes of which the digest is wanted, and perhaps themselves."""

    def __init__(self, max_kept: int) -> None:
        self.sha1 = hashlib.sha1(usedforsecurity=False)
        self._n_room = max_kept
        self._parts: list[bytes] | None = [] if max_kept else None

    def add(self, part: bytes) -> None:
        self.sha1.update(part)
        self._n_room -= len(part)
        if self._n_room < 0:
            self._parts = None
        if self._parts is not None:
            self._parts.append(part)

    def kept(self) -> bytes | None:
        return None if self._parts is None else b"".join(self._parts)


class _Chunks:
    """Undoes the chunked transfer coding of HTTP (RFC 9112, 7.1), piece by piece."""

    _SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
    _MAX_LINE_BYTES = 1 << 12
    """Longer lines are no sizes of chunks, whatever extension follows the number."""

    def __init__(self) -> None:
        self._pending = b""
        self._n_left = 0
        self._is_begun = self._is_done = self._is_broken = False

    @property
    def is_chunked(self) -> bool:
        """Whether all that came was chunks; the last may be cut."""
        return self._is_begun and not self._is_broken

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Take in a piece, and yield the parts of chunks that it holds."""
        data, place = self._pending + piece, 0
        self._pending = b""
        while place < len(data) and not self._is_done and not self._is_broken:
            if self._n_left:
                part = data[place : place + self._n_left]
                yield part
                place += len(part)
                self._n_left -= len(part)
            else:
                place = self._read_size(data, place)

    def _read_size(self, data: bytes, place: int) -> int:
        """Read the line before a chunk; return where the chunk begins."""
        if self._is_begun:
            # Behind the end of the chunk before.
            begin = _NO_LINE_END.search(data, place)
            place = len(data) if begin is None else begin.start()
        limit = place + self._MAX_LINE_BYTES
        if data.find(b"\n", place, limit) < 0 and len(data) < limit:
            self._pending = data[place:]
            return len(data)
        match = self._SIZE_LINE.match(data, place, limit)
        if match is None:
            self._is_broken = True
            return place
        self._is_begun = True
        self._n_left = int(match[1], 16)
        self._is_done = self._n_left == 0
        return match.end()
