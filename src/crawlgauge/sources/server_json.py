"""JSON arrays: what Wayback's CDX server answers to ``output=json``, and arrays of objects.

The rows of an answer are arrays, and the first of them names the columns. Answers may stand one
after another, as when the pages of a long one are put together.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from crawlgauge.core.lines import FIELDS
from crawlgauge.errors import Damage, DamagedInput, SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import URL, find_columns
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.json_lines import DECODER, NO_MEMBERS, find_members, to_fields
from crawlgauge.sources.lines import UTF8_MARK
from crawlgauge.sources.what_counts import Settings

__all__ = ["looks_like_server_json", "read_server_json"]

_MAX_ROW_BYTES = 1 << 22
"""Whole pages may stand beside their URLs; what is longer is a bracket that nobody closes."""
_MAX_SAMPLED = 100
"""Objects by which the members of all are told."""

_BEGINS = re.compile(rb"\s*\[\s*(?:[\[{]|\]\s*\Z)")
_BLANK = re.compile(r"[ \t\r\n]*+")
_TO_NEXT_ROW = re.compile(r"[ \t\r\n]*+,[ \t\r\n]*+(?=[\[{])")
_VALUE_END = re.compile(r"[ \t\r\n,\]]")
_CUT_CHARACTERS = 10
"""An error so near to the end of the text may vanish with more of it."""


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
    try:
        for block in stream.blocks():
            reader.read(block)
            yield
            if reader.is_broken:
                break
        reader.finish()
    except DamagedInput as error:
        reader.finish()
        # Nobody knows where in the array reading would resume.
        lost = f"{error.damage.lost}, with the row that breaks off there"
        stream.report(replace(error.damage, lost=lost))
        return
    if (damage := reader.find_damage()) is not None:
        stream.report(damage)


class _ArrayReader:
    """Reads rows; of one that goes on behind a block, the text waits for the next."""

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake, self._settings = intake, settings
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        # The text at hand, up to where it is read, and what waits for more to be worth a look.
        self._text, self._at = "", 0
        self._pieces: list[str] = []
        self._n_enough = 0
        # So many bytes stand before so many characters of the text.
        self._n_bytes = self._n_counted = 0
        self._expected = "["  # or a row, or a comma
        self.is_broken = False
        self._take: Callable[[object], str | None] | None = None
        self._undecided: list[tuple[object, int, bytes]] = []

    def read(self, block: bytes) -> None:
        """Take the rows that end in a block."""
        if self._n_bytes == 0 and block.startswith(UTF8_MARK):
            block = b" " * len(UTF8_MARK) + block[len(UTF8_MARK) :]
        self._pieces.append(self._decode(block))
        self._n_enough -= len(block)
        # A row that goes on is looked at again when there is twice as much of it.
        if self._n_enough <= 0:
            self._read_pieces()

    def finish(self) -> None:
        """Take what is left."""
        self._read_pieces()
        self._decide()

    def find_damage(self) -> Damage | None:
        """Return what is wrong with the array that was read last."""
        if self._expected == "[" and not self.is_broken:
            return None
        reason, lost = "the file ends before its JSON array does", "the rows that are missing"
        if self.is_broken:
            reason, lost = "what stands there is no row of a JSON array", "all that follows"
        byte = self._count_bytes(self._at)
        return Damage(file=self._intake.name, byte=byte, reason=reason, lost=lost)

    def _read_pieces(self) -> None:
        self._text = text = "".join([self._text, *self._pieces])
        self._pieces = []
        self._read_text(text)
        self._count_bytes(self._at)
        self._text = text[self._at :]
        self._at = self._n_counted = 0
        self._n_enough = len(self._text)
        self.is_broken |= len(self._text) > _MAX_ROW_BYTES

    def _read_text(self, text: str) -> None:
        """Take rows up to the first that is none, or does not end there."""
        while not self.is_broken:
            self._at = _BLANK.match(text, self._at).end()  # type: ignore[union-attr]  # always
            char = text[self._at : self._at + 1]
            if not char:
                return
            if char == "[" and self._expected == "[":
                self._expected, self._take = "row", None
            elif char == "]" and self._expected != "[":
                self._expected = "["
                self._decide()
            elif char == "," and self._expected == ",":
                self._expected = "row"
            elif self._expected == "row":
                if not self._read_rows(text):
                    return
                self._expected = ","
                continue
            else:
                self.is_broken = True
                return
            self._at += 1

    def _read_rows(self, text: str) -> bool:
        """Take rows that follow each other; tell whether the last of them ends there."""
        decode, to_next_row, place = DECODER.raw_decode, _TO_NEXT_ROW.match, self._at
        while True:
            try:
                value, end = decode(text, place)
            except (json.JSONDecodeError, RecursionError) as error:
                self._at, self.is_broken = place, not _is_cut(error)
                return False
            if text[place] not in '[{"' and not _VALUE_END.match(text, end):
                # There may be more of a number.
                self._at, self.is_broken = place, len(text) - end >= _CUT_CHARACTERS
                return False
            if self._take is None:
                self._take_early(value, place, end)
            elif (reason := self._take(value)) is not None:
                self._reject(reason, place, end)
            following = to_next_row(text, end)
            if following is None:
                self._at = end
                return True
            place = following.end()

    def _reject(self, reason: str, place: int, end: int) -> None:
        offset = self._count_bytes(place)
        self._intake.reject(reason, _encode(self._text[place:end]), offset=offset)

    def _count_bytes(self, place: int) -> int:
        """Return where in the input a character stands. Those before it are not asked for again."""
        self._n_bytes += len(_encode(self._text[self._n_counted : place]))
        self._n_counted = place
        return self._n_bytes

    # ------------------------------------------------------------------------- what an array holds

    def _take_early(self, value: object, place: int, end: int) -> None:
        """Take one of the rows by which it is told what the rows of an array hold."""
        if self._undecided or isinstance(value, dict):
            offset = self._count_bytes(place)
            self._undecided.append((value, offset, _encode(self._text[place:end])))
            if len(self._undecided) == _MAX_SAMPLED:
                self._decide()
            return
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise SourceError(
                f"{self._intake.name}: the first row of the JSON array does not name the columns; "
                f"it stands at byte {self._count_bytes(place):,}"
            )
        taker = _RowTaker(value, self._intake, self._settings)
        self._take = taker.take
        # Some servers name no columns, and the user says which one it is.
        if "://" in value[taker.url] and (reason := self._take(value)) is not None:
            self._reject(reason, place, end)

    def _decide(self) -> None:
        """Find out which members the objects of an array have, and take those seen so far."""
        if not self._undecided:
            return
        rows, self._undecided = self._undecided, []
        found = find_members((row[0] for row in rows), self._settings, self._intake.name)
        self._take = partial((found or NO_MEMBERS).take, self._intake.collector)
        for value, offset, text in rows:
            if (reason := self._take(value)) is not None:
                self._intake.reject(reason, text, offset=offset)


class _RowTaker:
    """Takes the rows of an array of which the first one names the columns."""

    def __init__(self, names: list[str], intake: Intake, settings: Settings) -> None:
        columns = find_columns(names, settings, source=intake.name)
        self._columns = [(FIELDS[field], position) for field, position in columns.items()]
        self.url = columns[URL]
        self._collector = intake.collector
        self._n_cells = -1  # of the row before

    def take(self, row: object) -> str | None:
        """Take a row in as a record; return why it is rejected, or None if it is not."""
        n_before, self._n_cells = self._n_cells, len(row) if isinstance(row, list) else -1
        if not isinstance(row, list):
            return "no-row"
        if len(row) == 1 and n_before == 0:
            # An empty row announces the key from which the server would go on.
            self._collector.exclude("resume-key")
            return None
        if len(row) <= self.url:
            return "too-few-cells" if row else None
        try:
            # As almost all are.
            fields: dict[str, Any] = {
                field: cell.encode()
                for field, position in self._columns
                if (cell := row[position]) and cell != "-"
            }
        except (AttributeError, IndexError, UnicodeEncodeError):
            fields = to_fields((field, row[at]) for field, at in self._columns if at < len(row))
        return self._collector.add(**fields) if "url" in fields else "no-url"


def _is_cut(error: Exception) -> bool:
    """Tell whether what was read is no JSON only because it goes on behind the text."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    n_behind = len(error.doc) - error.pos
    return n_behind < _CUT_CHARACTERS or error.msg.startswith("Unterminated string")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")
