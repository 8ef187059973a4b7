"""Whole lines of an input, however long they are and however it is cut into blocks.

Blocks are scanned as they come: nothing is copied but the line that stands across two of them.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crawlgauge.core.lines import LineScanner
from crawlgauge.errors import DamagedInput
from crawlgauge.sources.decompress import Stream

UTF8_MARK = b"\xef\xbb\xbf"
"""Some editors put it before a text; what a text is must be told without it."""

_SPACES = b" \t\n\v\f\r"


class Line(NamedTuple):
    """A line that the scanner of its format leaves to its reader.

    Parameters
    ----------
    text
        Without its newline.
    offset
        Where it begins in the decompressed input.
    number
        From 1 on; None where damage has cost lines before it.
    is_cut
        Whether it is the last of an input, which ends without a newline.
    """

    text: bytes
    offset: int
    number: int | None
    is_cut: bool


def scan_lines(
    stream: Stream,
    scanner: LineScanner,
    judge: Callable[[Line], object],
    longest: int,
    is_between: Callable[[bytes, bytes], bool] | None = None,
) -> Iterator[None]:
    """Scan the lines of an input, getting over damage where that is wanted; yield now and then.

    Parameters
    ----------
    stream
        The input.
    scanner
        Takes the lines that are as most are.
    judge
        Called with each line that it hands back, in their order, and with the last one if it has
        no end.
    longest
        Of a line of more bytes only the beginning is looked at: it is none.
    is_between
        Tells of what stands before and behind the beginning of a member of the compressed file,
        on one line, whether these are two lines: some programs put no newline there.
    """
    n_before, notes = 0, _ServerNotes(stream)
    for part in _read_parts(stream, longest, is_between):
        place, n_scanned = part.start, 0
        while place < part.end:
            if part.is_cut:
                # It may be cut, and the reader knows how to tell.
                handed_back = [(0, place, part.end - 1)]
                place, n_lines = part.end, 1
            else:
                place, n_lines, handed_back = scanner.scan(part.data, place, part.end, longest)
            for number, start, end in handed_back:
                line = None if part.n_before is None else n_before + n_scanned + number + 1
                text = part.data[start:end]
                if len(text) > longest:
                    # As if blocks had been so small that the space before it was not kept.
                    text = text.lstrip(_SPACES)
                offset = part.place + end - len(text) - part.start
                odd = Line(text, offset, line, part.is_cut)
                if not notes.take(odd):
                    judge(odd)
            n_scanned += n_lines
        n_before += 0 if part.goes_on else n_scanned
        yield
    notes.finish()


class Lines(NamedTuple):
    """Whole lines, each with its newline, for readers that look at them themselves.

    Parameters
    ----------
    data, start, end
        They are ``data[start:end]``.
    place
        Where the first of them begins in the decompressed input.
    n_before
        How many lines stand before; None where damage has cost some.
    is_cut
        Whether there is but the last line of an input, which ends without a newline.
    goes_on
        Whether to other programs it is one line with what follows.
    """

    data: bytes
    start: int
    end: int
    place: int
    n_before: int | None
    is_cut: bool = False
    goes_on: bool = False


def read_lines(stream: Stream, longest: int) -> Iterator[Lines]:
    """Yield the lines of an input, many at a time, getting over damage where that is wanted.

    Parameters
    ----------
    stream
        The input.
    longest
        Of a line of more bytes there is only the beginning, one byte more than that.
    """
    n_before = 0
    for part in _read_parts(stream, longest, None):
        yield part._replace(n_before=None if part.n_before is None else n_before)
        n_before += part.data.count(b"\n", part.start, part.end)


_KEY_TO_RESUME = re.compile(rb"\S*%29\S*(\+|%20)\d{4,14}(%21|!)?")
_LINE_ENDS_BYTES = 4
WARNING = b"warning: output may be incomplete"
"""OutbackCDX ends its rows so if something went wrong after the first of them were sent."""


class _ServerNotes:
    """Knows what a CDX server says between its rows, which may be that these are not all."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._key_end = stream, -1

    def take(self, line: Line) -> bool:
        """Tell whether a line is no row, but said by a server."""
        text = line.text.strip()
        if is_warning := text.startswith(WARNING):
            reason = "the server that wrote it says that it may be incomplete"
            self._stream.report_loss(reason, "rows that it could not find", byte=line.offset)
        is_key = b"%29" in text and _KEY_TO_RESUME.fullmatch(text) is not None
        self._key_end = line.offset + len(line.text) if is_key else self._key_end
        return is_warning or is_key

    def finish(self) -> None:
        """Report a key from which the server would go on, where nothing follows it."""
        if 0 <= self._key_end >= self._stream.n_read - _LINE_ENDS_BYTES:
            report_key_left(self._stream)


def report_key_left(stream: Stream) -> None:
    """Report that an answer ends with the key to the rows that are missing."""
    reason = "it ends with a resume key, from which its server would go on"
    stream.report_loss(reason, "all rows that follow")


def report_cut_line(stream: Stream) -> None:
    """Report that an input ends in the middle of a line."""
    lost = "that line and all that should follow"
    stream.report_loss("it ends in the middle of a line", lost, byte=stream.place)


def _read_parts(
    stream: Stream, longest: int, is_between: Callable[[bytes, bytes], bool] | None
) -> Iterator[Lines]:
    """Yield whole lines, which do not know yet how many stand before them."""
    # If the beginning was lost, the first line that can be read is one in which reading resumes.
    cutter = _Cutter(stream, longest, is_between, is_lost=bool(stream.damages))
    while True:
        try:
            for block in stream.blocks():
                yield from cutter.add(block)
        except DamagedInput as error:
            if not stream.recover(error):
                return
            cutter = _Cutter(stream, longest, is_between, is_lost=True)
        else:
            yield from cutter.end()
            return


class _Cutter:
    """Cuts blocks into lines."""

    def __init__(
        self,
        stream: Stream,
        longest: int,
        is_between: Callable[[bytes, bytes], bool] | None,
        *,
        is_lost: bool,
    ) -> None:
        self._stream, self._longest, self._is_between = stream, longest, is_between
        self._place = stream.n_read if is_lost else 0
        """Where the next block begins in the decompressed input."""
        self._rest: list[bytes] = []
        """Pieces of a line that has not ended yet."""
        self._n_rest, self._rest_place, self._is_long = 0, self._place, False
        self._is_trimmed = False
        self._n_before = None if is_lost else 0
        self._skips = is_lost
        """Whether the first line, the rest of one that damage has cut, is passed over."""
        self._members: list[int] = []
        """Where members of the compressed file begin, in lines that are not handed on yet."""

    def add(self, block: bytes) -> Iterator[Lines]:
        """Yield the lines that end in a block."""
        if self._place == 0 and block.startswith(UTF8_MARK):
            # Spaces in its place: so the places of all that follows stay true.
            block = b" " * len(UTF8_MARK) + block[len(UTF8_MARK) :]
        here = self._place
        self._place += len(block)
        if self._is_between is not None:
            self._members += [int(start) for start, _ in self._stream.take_members(self._place)]
        first = block.find(b"\n") + 1
        if not first:
            self._keep(block)
            return
        if self._skips:
            self._skips = False
        elif self._rest:
            self._keep(block[: first - 1])
            yield from self._end_line()
        else:
            first = 0
        last = block.rfind(b"\n") + 1
        if first < last:
            yield from self._cut(block, first, last, here + first)
        self._rest_place = here + last
        self._keep(block[last:])

    def end(self) -> Iterator[Lines]:
        """Yield the last line, if it has no end."""
        if self._rest:
            *before, last = self._end_line()
            yield from before
            yield last._replace(is_cut=True)

    def _end_line(self) -> Iterator[Lines]:
        """Yield the line that has been kept."""
        line, place = b"".join(self._rest), self._rest_place
        if self._is_trimmed:
            trimmed = line.lstrip(_SPACES)
            line, place = trimmed, place + len(line) - len(trimmed)
        self._rest, self._n_rest, self._is_long, self._is_trimmed = [], 0, False, False
        return self._cut(line + b"\n", 0, len(line) + 1, place)

    def _keep(self, piece: bytes) -> None:
        """Add to the line that has not ended; of one that is too long only the beginning."""
        if self._skips or not piece:
            return
        if self._is_long:
            # One byte stands for all beyond the limit: space only, so far, or more.
            if self._rest[-1] == b" " and piece.strip(_SPACES):
                self._rest[-1] = b"x"
            return
        self._rest.append(piece)
        self._n_rest += len(piece)
        if self._n_rest > self._longest:
            line = b"".join(self._rest)
            trimmed = line.lstrip(_SPACES)
            self._rest_place += len(line) - len(trimmed)
            self._is_trimmed = True
            self._rest, self._n_rest = [trimmed], len(trimmed)
            if len(trimmed) > self._longest:
                is_more = trimmed[self._longest :].strip(_SPACES)
                self._rest = [trimmed[: self._longest], b"x" if is_more else b" "]
                self._is_long = True

    def _cut(self, data: bytes, start: int, end: int, place: int) -> Iterator[Lines]:
        """Yield whole lines, and those by themselves that a member's beginning cuts in two."""
        while self._members and self._members[0] < place + end - start:
            cut = start + self._members.pop(0) - place
            if cut <= start or data[cut - 1] == ord("\n") or self._is_between is None:
                continue
            line = max(start, data.rfind(b"\n", start, cut) + 1)
            if self._is_between(data[line:cut], data[cut : data.find(b"\n", cut, end)]):
                n_before = self._n_before
                if start < line:
                    yield Lines(data, start, line, place, n_before)
                first = data[line:cut] + b"\n"
                yield Lines(first, 0, len(first), place + line - start, n_before, goes_on=True)
                start, place = cut, place + cut - start
        yield Lines(data, start, end, place, self._n_before)
