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
_VALUE_END = re.compile(r"[ \t\r\n,\]]")
_CUT_CHARACTERS = 10
"""An error so near to the end of the text may vanish with more of it."""
_ENDS_EARLY = "the file ends before its JSON array does", "the rows that are missing"
_NO_ROW = "what stands there is no row of a JSON array", "all that follows"


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
    yield from _ArrayReader(stream, intake, settings).read()


class _Stop(Exception):  # noqa: N818 - says what the reader does
    """An array cannot be read on."""


class _ArrayReader:
    """Reads arrays, row by row, and holds the text from the row at hand on."""

    def __init__(self, stream: Stream, intake: Intake, settings: Settings) -> None:
        self._stream, self._intake, self._settings = stream, intake, settings
        self._blocks = stream.blocks()
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._text, self._at = "", 0
        # So many bytes stand before so many characters of the text.
        self._n_bytes = self._n_counted = 0
        self._damage: Damage | None = None
        self._take: Callable[[object], str | None] | None = None
        self._undecided: list[tuple[object, int, bytes]] = []

    def read(self) -> Iterator[None]:
        try:
            yield from self._read_arrays()
        except _Stop as stop:
            reason, lost = stop.args
            if self._damage is None:
                byte = self._count_bytes(self._at)
                self._damage = Damage(file=self._intake.name, byte=byte, reason=reason, lost=lost)
        self._decide()
        if self._damage is not None:
            self._stream.report(self._damage)

    def _read_arrays(self) -> Iterator[None]:
        seen = self._text
        while sign := self._peek():
            if sign != "[":
                raise _Stop(*_NO_ROW)
            self._at += 1
            self._take = None
            while self._peek() != "]":
                self._take_row(*self._read_row())
                sign = self._peek()
                if sign == ",":
                    self._at += 1
                elif sign != "]":
                    raise _Stop(*(_NO_ROW if sign else _ENDS_EARLY))
                if self._text is not seen:
                    seen = self._text
                    yield
            self._at += 1
            self._decide()

    def _peek(self) -> str:
        """Return the next character that is not blank, or nothing at the end."""
        while True:
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]  # always
            if self._at < len(self._text) or not self._take_more():
                return self._text[self._at : self._at + 1]

    def _read_row(self) -> tuple[object, int]:
        """Return the row at hand, and where it ends."""
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (json.JSONDecodeError, RecursionError) as error:
                is_cut = _is_cut(error)
            else:
                if self._text[self._at] in '[{"' or _VALUE_END.match(self._text, end):
                    return value, end
                # There may be more of a number.
                is_cut = len(self._text) - end < _CUT_CHARACTERS
            if not is_cut or len(self._text) - self._at > _MAX_ROW_BYTES:
                raise _Stop(*_NO_ROW)
            if not self._take_more():
                raise _Stop(*_ENDS_EARLY)

    def _take_more(self) -> bool:
        """Take as much again as there is, if there is more, so that none is read often in vain."""
        self._count_bytes(self._at)
        pieces = [self._text[self._at :]]
        n_wanted = len(pieces[0])
        try:
            for block in self._blocks:
                is_marked = self._n_bytes == 0 and block.startswith(UTF8_MARK)
                text = b" " * len(UTF8_MARK) + block[len(UTF8_MARK) :] if is_marked else block
                pieces.append(self._decode(text))
                n_wanted -= len(block)
                if n_wanted <= 0:
                    break
        except DamagedInput as error:
            # Nobody knows where in the array reading would resume.
            lost = f"{error.damage.lost}, with the row that breaks off there"
            self._damage = replace(error.damage, lost=lost)
            self._blocks = iter(())
        self._text, self._at, self._n_counted = "".join(pieces), 0, 0
        return len(pieces) > 1

    def _take_row(self, value: object, end: int) -> None:
        if self._take is None:
            self._take_early(value, end)
        elif (reason := self._take(value)) is not None:
            self._reject(reason, end)
        self._at = end

    def _reject(self, reason: str, end: int) -> None:
        offset = self._count_bytes(self._at)
        self._intake.reject(reason, _encode(self._text[self._at : end]), offset=offset)

    def _count_bytes(self, place: int) -> int:
        """Return where in the input a character stands. Those before it are not asked for again."""
        self._n_bytes += len(_encode(self._text[self._n_counted : place]))
        self._n_counted = place
        return self._n_bytes

    # ------------------------------------------------------------------------- what an array holds

    def _take_early(self, value: object, end: int) -> None:
        """Take one of the rows by which it is told what the rows of an array hold."""
        if self._undecided or isinstance(value, dict):
            offset = self._count_bytes(self._at)
            self._undecided.append((value, offset, _encode(self._text[self._at : end])))
            if len(self._undecided) == _MAX_SAMPLED:
                self._decide()
            return
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise SourceError(
                f"{self._intake.name}: the first row of the JSON array does not name the columns; "
                f"it stands at byte {self._count_bytes(self._at):,}"
            )
        taker = _RowTaker(value, self._intake, self._settings)
        self._take = taker.take
        # Some servers name no columns, and the user says which one it is.
        if "://" in value[taker.url] and (reason := self._take(value)) is not None:
            self._reject(reason, end)

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
