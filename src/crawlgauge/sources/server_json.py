"""JSON arrays: what Wayback's CDX server answers to ``output=json``, and arrays of objects.

The rows of an answer are arrays, and the first of them names the columns. Answers may stand one
after another, as when the pages of a long one are put together.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from typing import Any

from crawlgauge.core.lines import FIELDS
from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import URL, find_columns
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.json_lines import (
    DECODER,
    MAX_STRUCTURE,
    NO_MEMBERS,
    find_members,
    parse_json,
    to_bytes,
)
from crawlgauge.sources.lines import UTF8_MARK
from crawlgauge.sources.what_counts import Settings

__all__ = ["looks_like_server_json", "read_server_json"]

_MAX_ROW_BYTES = 1 << 24
"""Whole pages may stand beside their URLs; what is longer is a bracket that nobody closes."""
_LONG_ROW_BYTES = 1 << 20
_MAX_SAMPLED = 100
"""Objects by which the members of all are told."""

_BEGINS = re.compile(rb"\s*\[\s*(?:[\[{]|\]\s*\Z)")
_BLANK = re.compile(r"[ \t\r\n]*+")
_TO_NEXT_ROW = re.compile(r"[ \t\r\n]*+,[ \t\r\n]*+(?=[\[{])")
_decode = DECODER.scan_once  # type: ignore[attr-defined]
"""As `raw_decode`, but for what it does with errors: a call less for each row."""
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)


def looks_like_server_json(beginning: bytes) -> bool:
    """Tell whether an input that begins so is a JSON array of arrays or of objects.

    Examples
    --------
    >>> looks_like_server_json(b'[["original"], ["http://example.org/"]]')
    True
    """
    return _BEGINS.match(beginning.removeprefix(UTF8_MARK)) is not None


def read_server_json(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read JSON arrays.

    Parameters
    ----------
    stream
        The input: ``[["urlkey", "timestamp", "original", …], ["org,example)/", …], …]`` or
        ``[{"url": …}, …]``, in one line or in many.
    intake
        Takes its records.
    settings
        What is wanted, and which column holds the URLs.

    Yields
    ------
    None
        After each block.

    Raises
    ------
    SourceError
        If the input is no JSON array, or it cannot be told what holds the URLs.
    DamagedInput
        If it breaks or ends early, and that is not wanted to be got over.
    """
    if not looks_like_server_json(stream.beginning()):
        raise SourceError(f"{stream.name} is no JSON array of rows; try another --format")
    intake.collector.begin()
    reader = _ArrayReader(intake, settings)
    pieces: list[bytes] = []
    n_bytes = n_enough = 0
    try:
        for block in stream.blocks():
            pieces.append(block)
            n_bytes += len(block)
            # A row that goes on is looked at again when there is twice as much of it.
            if n_bytes >= n_enough:
                rest = reader.read(b"".join(pieces))
                pieces, n_bytes, n_enough = [rest], len(rest), 2 * len(rest)
            yield
            if reader.state is _State.BROKEN:
                break
        else:
            reader.read(b"".join(pieces), is_end=True)
    except DamagedInput as error:
        reader.read(b"".join(pieces), is_end=True)
        # Nobody knows where in the array reading would resume.
        lost = f"{error.damage.lost}, with the row that breaks off there"
        stream.report(replace(error.damage, lost=lost))
        return
    if (damage := reader.find_damage()) is not None:
        stream.report(damage)


class _State(Enum):
    """What is to be expected."""

    BEFORE_ARRAY = auto()
    AT_ROW = auto()  # or at the array's end
    BEHIND_ROW = auto()  # a comma, or the array's end
    BROKEN = auto()  # nothing any more: what stands there is no JSON


class _ArrayReader:
    """Reads rows; of one that goes on behind them, the bytes are handed back."""

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake, self._settings = intake, settings
        self._place = 0
        self._is_plain = True
        self._first: tuple[str, _RowTaker] | None = None
        self._take: Callable[[object], str | None] | None = None
        self._undecided: list[tuple[object, int, int]] = []
        self.state = _State.BEFORE_ARRAY

    def read(self, data: bytes, *, is_end: bool = False) -> bytes:
        """Take the rows that end in the data, and return what is left of it."""
        if self._place == 0 and data.startswith(UTF8_MARK):
            data = b" " * len(UTF8_MARK) + data[len(UTF8_MARK) :]
        text = _Text(data)
        place = self._read_text(text)
        if self._undecided and not is_end and len(data) <= _LONG_ROW_BYTES:
            # More of an array's objects tell more of their members.
            place = self._undecided[0][1]
            self._undecided, self.state = [], _State.AT_ROW
        self._decide(text)
        rest = data[text.count_bytes(place) :]
        self._place += len(data) - len(rest)
        # Of one that has been waited for long, the objects may take too much memory.
        self._is_plain = len(rest) <= _LONG_ROW_BYTES
        if len(rest) > _MAX_ROW_BYTES:
            self.state = _State.BROKEN
        return rest

    def find_damage(self) -> Damage | None:
        """Return what is wrong with the array that was read last."""
        if self.state is _State.BEFORE_ARRAY:
            return None
        is_broken = self.state is _State.BROKEN
        return Damage(
            file=self._intake.name,
            byte=self._place,
            reason="what stands there is no row of a JSON array"
            if is_broken
            else "the file ends before its JSON array does",
            lost="all that follows" if is_broken else "the rows that are missing",
        )

    def _read_text(self, text: "_Text") -> int:
        """Take rows, and return the place of the first that is none, or does not end there."""
        chars = text.chars
        place = _skip_blank(chars, 0)
        while place < len(chars):
            char, state = chars[place], self.state
            if state is _State.AT_ROW and char != "]":
                place, is_over = self._read_rows(text, place)
                if is_over:
                    break
            elif char == "[" and state is _State.BEFORE_ARRAY:
                self.state, self._take = _State.AT_ROW, None
            elif char == "]" and state is not _State.BEFORE_ARRAY:
                self.state = _State.BEFORE_ARRAY
                self._decide(text)
            elif char == "," and state is _State.BEHIND_ROW:
                self.state = _State.AT_ROW
            else:
                self.state = _State.BROKEN
                break
            place = _skip_blank(chars, place + 1)
        return place

    def _read_rows(self, text: "_Text", place: int) -> tuple[int, bool]:
        """Take the rows that follow each other, and return where the last of them stands.

        Or where one stands that is none or does not end there, and that it is so.
        """
        chars, to_next_row = text.chars, _TO_NEXT_ROW.match
        while True:
            try:
                # As almost all are.
                is_plain = self._is_plain and chars[place] in "[{"
                value, end = _decode(chars, place) if is_plain else _read_odd(chars, place)
            except (ValueError, StopIteration, RecursionError):
                # An error takes as long as there is text before it: one of them is enough.
                self._is_plain = False
                continue
            if end - place > MAX_STRUCTURE:
                value, end = _read_odd(chars, place)
            if end <= place:
                self.state = self.state if end < 0 else _State.BROKEN
                return place, True
            if self._take is None:
                self._take_early(value, text, place, end)
            elif (reason := self._take(value)) is not None:
                self._reject(reason, text, place, end)
            following = to_next_row(chars, end)
            if following is None:
                self.state = _State.BEHIND_ROW
                return end - 1, False
            place = following.end()

    def _reject(self, reason: str, text: "_Text", place: int, end: int) -> None:
        offset = self._place + text.count_bytes(place)
        self._intake.reject(reason, _encode(text.chars[place:end]), offset=offset)

    # ------------------------------------------------------------------------- what an array holds

    def _take_early(self, value: object, text: "_Text", place: int, end: int) -> None:
        """Take one of the rows by which it is told what the rows of an array hold."""
        if self._undecided or text.chars[place] == "{":
            self._undecided.append((value, place, end))
            if len(self._undecided) == _MAX_SAMPLED:
                self._decide(text)
            return
        first = text.chars[place:end]
        if self._first is None or self._first[0] != first:
            offset = self._place + text.count_bytes(place)
            self._first = first, _RowTaker(first, offset, self._intake, self._settings)
        taker = self._first[1]
        taker.n_cells, self._take = -1, taker.take
        if not taker.has_header and (reason := self._take(value)) is not None:
            self._reject(reason, text, place, end)

    def _decide(self, text: "_Text") -> None:
        """Find out which members the objects of an array have, and take those seen so far."""
        if not self._undecided:
            return
        rows, self._undecided = self._undecided, []
        found = find_members((row[0] for row in rows), self._settings, self._intake.name)
        self._take = partial((found or NO_MEMBERS).take, self._intake.collector)
        for value, place, end in rows:
            if (reason := self._take(value)) is not None:
                self._reject(reason, text, place, end)


class _RowTaker:
    """Takes the rows of arrays, of which the first one tells what they hold."""

    def __init__(self, first: str, offset: int, intake: Intake, settings: Settings) -> None:
        try:
            names = json.loads(_encode(first))
        except (ValueError, RecursionError):
            names = None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise SourceError(
                f"{intake.name}: the first row of the JSON array does not name the columns; "
                f"it stands at byte {offset:,}"
            )
        columns = find_columns(names, settings, source=intake.name)
        self._columns = [(FIELDS[field], position) for field, position in columns.items()]
        self._url = columns[URL]
        self._collector = intake.collector
        # Some servers name no columns, and the user says which one it is.
        self.has_header = "://" not in names[self._url]
        self.n_cells = -1

    def take(self, row: object) -> str | None:
        """Take a row in as a record; return why it is rejected, or None if it is not."""
        n_before, self.n_cells = self.n_cells, len(row) if isinstance(row, list) else -1
        if not isinstance(row, list):
            return "no-row"
        if len(row) == 1 and n_before == 0:
            # An empty row announces the key from which the server would go on.
            self._collector.exclude("resume-key")
            return None
        if len(row) <= self._url:
            return "too-few-cells" if row else None
        try:
            # As almost all are.
            fields: dict[str, Any] = {
                field: cell.encode()
                for field, position in self._columns
                if (cell := row[position]) and cell != "-"
            }
        except (AttributeError, IndexError, UnicodeEncodeError):
            cells = [(field, to_bytes(row[at])) for field, at in self._columns if at < len(row)]
            fields = {field: cell for field, cell in cells if cell not in (None, b"", b"-")}
        return self._collector.add(**fields) if "url" in fields else "no-url"


# ------------------------------------------------------------------------------------------ texts


class _Text:
    """Bytes as text, in which places are told in bytes."""

    def __init__(self, data: bytes) -> None:
        self.chars = data.decode("utf-8", errors="surrogateescape")
        self._is_ascii = len(self.chars) == len(data)
        self._place = self._n_bytes = 0

    def count_bytes(self, place: int) -> int:
        """Return how many bytes stand before a character."""
        if self._is_ascii:
            return place
        if place < self._place:
            self._place = self._n_bytes = 0
        self._n_bytes += len(_encode(self.chars[self._place : place]))
        self._place = place
        return self._n_bytes


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _skip_blank(chars: str, place: int) -> int:
    found = _BLANK.match(chars, place)
    return place if found is None else found.end()


def _read_odd(chars: str, place: int) -> tuple[object, int]:
    """Return a value and where it ends: −1 if not here, its own place if it is none."""
    end = _find_end(chars, place)
    return parse_json(_encode(chars[place:end])) if end > place else None, end


def _find_end(chars: str, start: int) -> int:
    """Return where a value ends, whatever it is, or −1 if not here."""
    depth = 0
    for token in _TOKEN.finditer(chars, start):
        first = chars[token.start()]
        if first == '"':
            if token.end() == token.start() + 1:
                return -1
            if depth == 0:
                return token.end()
        elif first in "[{":
            depth += 1
        elif first in "]}":
            if depth <= 1:
                # The end of the array itself ends a value that is a number or a word.
                return token.start() + depth
            depth -= 1
        elif depth == 0:
            return token.start()
    return -1
