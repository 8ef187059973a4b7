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
from itertools import chain, islice, repeat

from crawlgauge.core.lines import FIELDS
from crawlgauge.errors import Damage, DamagedInput, SourceError
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import URL, find_columns
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.json_lines import DECODER, find_members, to_fields
from crawlgauge.sources.lines import UTF8_MARK, report_key_left
from crawlgauge.sources.what_counts import Settings

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


class _ArrayReader:
    """Reads arrays, row by row, and holds the text from the row at hand on."""

    def __init__(self, stream: Stream, intake: Intake, settings: Settings) -> None:
        self._stream, self._intake, self._settings = stream, intake, settings
        self._blocks = stream.blocks()
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._text, self._at, self._end = "", 0, 0
        # So many bytes stand before so many characters of the text.
        self._n_bytes = self._n_counted = 0
        self._damage: Damage | None = None
        # Of the row before, and whether the array at hand ends with a key.
        self._n_cells, self._has_key = -1, False

    def read(self) -> Iterator[None]:
        while sign := self._peek():
            if sign == "[":
                self._at += 1
                yield from self._read_array()
            else:
                self._stop(*_NO_ROW)
        if self._damage is not None:
            self._stream.report(self._damage)
        elif self._has_key:
            # Where another answer follows, it goes on from there.
            report_key_left(self._stream)

    def _read_array(self) -> Iterator[None]:
        """Read an array, of which the first rows tell what all of them hold."""
        rows, seen, self._n_cells, self._has_key = self._rows(), self._text, -1, False
        sample = [(row, self._locate()) for row in islice(rows, 1)]
        take: Callable[[object], str | None]
        if sample and isinstance(sample[0][0], dict):
            sample += [(row, self._locate()) for row in islice(rows, _MAX_SAMPLED - 1)]
            members = find_members((row[0] for row in sample), self._settings, self._intake.name)
            take = partial(members.take, self._intake.collector)
        elif sample:
            names, (offset, _) = sample[0]
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise SourceError(
                    f"{self._intake.name}: the first row of the JSON array does not name the "
                    f"columns; it stands at byte {offset:,}"
                )
            columns = find_columns(names, self._settings, source=self._intake.name)
            fields = [(FIELDS[field], position) for field, position in columns.items()]
            take = partial(self._take_row, fields, columns[URL])
            # Some servers name no columns, and the user says which one it is.
            sample = sample if "://" in names[columns[URL]] else []
        for row, place in chain(sample, zip(rows, repeat(None))):
            if (reason := take(row)) is not None:
                offset, text = place or self._locate()
                self._intake.reject(reason, text, offset=offset)
            if self._text is not seen:
                seen = self._text
                yield

    def _take_row(self, columns: list[tuple[str, int]], url: int, row: object) -> str | None:
        """Take a row in as a record; return why it is rejected, or None if it is not."""
        n_before, self._n_cells = self._n_cells, len(row) if isinstance(row, list) else -1
        if not isinstance(row, list):
            return "no-row"
        if len(row) == 1 and n_before == 0:
            # An empty row announces the key from which the server would go on.
            self._intake.collector.exclude("resume-key")
            self._has_key = True
            return None
        if len(row) <= url:
            return "too-few-cells" if row else None
        fields = to_fields([(field, row[at]) for field, at in columns if at < len(row)])
        return self._intake.collector.add(**fields) if "url" in fields else "no-url"

    def _rows(self) -> Iterator[object]:
        """Yield the rows of an array, up to its end or a break."""
        sign = self._peek()
        while sign != "]":
            found = self._read_row()
            if found is None:
                return
            value, self._end = found
            yield value
            self._at = self._end
            sign = self._peek()
            if sign == ",":
                self._at += 1
                sign = self._peek()
            elif sign != "]":
                self._stop(*(_NO_ROW if sign else _ENDS_EARLY))
                return
        self._at += 1

    def _locate(self) -> tuple[int, bytes]:
        """Return the place in the input and the text of the last row."""
        return self._count_bytes(self._at), _encode(self._text[self._at : self._end])

    def _peek(self) -> str:
        """Return the next character that is not blank, or nothing at the end."""
        while (sign := self._text[self._at : self._at + 1]) <= " ":
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]  # always
            if self._at < len(self._text) or not self._take_more():
                return self._text[self._at : self._at + 1]
        return sign

    def _read_row(self) -> tuple[object, int] | None:
        """Return the row at hand, and where it ends; None if it breaks."""
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # It may only go on behind the text.
                n_behind = len(error.doc) - error.pos
                is_cut = n_behind < _CUT_CHARACTERS or error.msg.startswith("Unterminated string")
            except RecursionError:
                is_cut = False
            else:
                if self._text[self._at] in '[{"' or _VALUE_END.match(self._text, end):
                    return value, end
                # There may be more of a number.
                is_cut = len(self._text) - end < _CUT_CHARACTERS
            if not is_cut or len(self._text) - self._at > _MAX_ROW_BYTES:
                self._stop(*_NO_ROW)
                return None
            if not self._take_more():
                self._stop(*_ENDS_EARLY)
                return None

    def _stop(self, reason: str, lost: str) -> None:
        """End at the place at hand; it is damage, unless that comes of damage before."""
        if self._damage is None:
            byte = self._count_bytes(self._at)
            self._damage = Damage(file=self._intake.name, byte=byte, reason=reason, lost=lost)
        self._text, self._at, self._blocks = "", 0, iter(())

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

    def _count_bytes(self, place: int) -> int:
        """Return where in the input a character stands. Those before it are not asked for again."""
        self._n_bytes += len(_encode(self._text[self._n_counted : place]))
        self._n_counted = place
        return self._n_bytes


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")
