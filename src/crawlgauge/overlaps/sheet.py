"""Text tables whose every cell knows its place: file, line and column, for messages."""

import csv
import datetime as dt
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeVar

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.errors import CrawlError, OverlapError
from crawlgauge.overlaps.table import LEVELS

__all__ = ["Row", "Sheet", "notes_of", "read_sheet"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_NOTE = re.compile(r"#\s*(\w+)\s*=(.*)")
_MAX_COUNT = 2**63 - 1
_T = TypeVar("_T")
_FLAGS = {"": False, "false": False, "true": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Text cells of one row, by column, with file and place (``line 3``) for messages."""

    name: str
    where: str
    cells: Mapping[str, str]

    def error(self, column: str, problem: str) -> OverlapError:
        """Return an error that names file, place and column."""
        return OverlapError(f"{self.name}, {self.where}, column {column}: {problem}")

    def label(self, column: str) -> str:
        """Read a crawl's label."""
        return self._read(column, check_label)

    def date(self, column: str) -> dt.date:
        """Read a date."""
        return self._read(column, parse_date)

    def number(self, column: str) -> float | None:
        """Read a finite number, or None where the cell is empty or the column absent."""
        cell = self.cells.get(column, "")
        if not cell:
            return None
        if not _NUMBER.fullmatch(cell) or not math.isfinite(float(cell)):
            raise self.error(column, f"{cell!r} is no number; write it as 1234.5 or 1.2e6")
        return float(cell)

    def count(self, column: str) -> int | None:
        """Read a whole number of at least 0, or None where there is none."""
        cell = self.cells.get(column, "")
        if not cell:
            return None
        if not _NUMBER.fullmatch(cell):
            raise self.error(
                column,
                f"{cell!r} is no whole number; write 1000000 or 1e6, without thousands "
                "separators or units",
            )
        value = Decimal(cell)
        if value < 0:
            raise self.error(column, f"{cell} is negative; a count is 0 or more")
        if value > _MAX_COUNT or value != value.to_integral_value():
            raise self.error(column, f"{cell} is no whole number up to {_MAX_COUNT}; round it")
        return int(value)

    def known_count(self, column: str) -> int:
        """Read a whole number that must not be missing."""
        value = self.count(column)
        if value is None:
            raise self.error(column, "the cell is empty; a count is needed")
        return value

    def flag(self, column: str) -> bool:
        """Read ``true`` or ``false``, where nothing means false."""
        cell = self.cells.get(column, "")
        if cell.lower() not in _FLAGS:
            raise self.error(column, f"{cell!r} is neither true nor false")
        return _FLAGS[cell.lower()]

    def _read(self, column: str, parse: Callable[[str], _T]) -> _T:
        try:
            return parse(self.cells[column])
        except CrawlError as error:
            raise self.error(column, str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Rows under named columns, at least one, and what the leading comment lines say."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False)
    level: str = "url"
    key_rule: str | None = None
    sample_rate: float = 1.0

    def __post_init__(self) -> None:
        if not self.rows:
            raise OverlapError(f"{self.name} holds column names but no data rows")

    def require(self, needed: tuple[str, ...], advice: str = "") -> None:
        """Raise an error that lists what is there and what is needed, if a column is missing."""
        missing = [column for column in needed if column not in self.columns]
        if missing:
            raise OverlapError(
                f"{self.name}: missing column {', '.join(missing)}; needed are "
                f"{', '.join(needed)}, separated by commas; there are {', '.join(self.columns)}"
                f"{advice}"
            )


def notes_of(level: str, key_rule: str | None, sample_rate: float) -> str:
    """Return the comment lines that stand before the column names."""
    notes = f"# level={level}\n"
    if key_rule is not None:
        if not key_rule.isprintable() or key_rule != key_rule.strip(" ,"):
            raise OverlapError(f"the key rule {key_rule!r} does not fit on a comment line of a CSV")
        notes += f"# key_rule={key_rule}\n"
    if sample_rate != 1:
        notes += f"# sample_rate={sample_rate!r}\n"
    return notes


def read_sheet(text: str, *, name: str) -> Sheet:
    """Read CSV text: leading comment lines, column names, rows that fit them."""
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise OverlapError(f"{name}, line {line}: a NUL character; this is not a text file")
    # newline="" leaves line ends to the csv module, as its documentation asks.
    lines = list(io.StringIO(text, newline=""))
    n_notes = next((k for k, line in enumerate(lines) if line.strip() and line[0] != "#"), None)
    if n_notes is None:
        raise OverlapError(f"{name} is empty; a line of column names and rows are needed")
    records = _records(lines, n_notes, name)
    line, header = next(records)
    columns = tuple(header)
    for column in columns:
        if column and columns.count(column) > 1:
            raise OverlapError(f"{name}, line {line}: two columns are named {column}; remove one")
    rows = []
    for line, record in records:
        if len(record) < len(columns) or any(record[len(columns) :]):
            raise OverlapError(
                f"{name}, line {line}: {len(record)} cells under {len(columns)} column names; "
                "write numbers without thousands separators and let no line end early"
            )
        cells = dict(zip(columns, record, strict=False))
        rows.append(Row(name=name, where=f"line {line}", cells=cells))
    return _annotated(Sheet(name=name, columns=columns, rows=tuple(rows)), lines[:n_notes])


def _records(lines: list[str], start: int, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines[start:], strict=True)
    line = start + 1
    try:
        for record in reader:
            if any(stripped := [cell.strip() for cell in record]):
                yield line, stripped
            line = start + reader.line_num + 1
    except csv.Error as error:
        raise OverlapError(
            f"{name}, line {line}: {error}; look for a quotation mark that is not closed"
        ) from error


def _annotated(sheet: Sheet, lines: list[str]) -> Sheet:
    for k, line in enumerate(lines):
        # Spreadsheets fill a comment line up with commas to the width of the table.
        note = _NOTE.fullmatch(line.strip().rstrip(","))
        if note is None:
            continue
        row = Row(name=sheet.name, where=f"line {k + 1}", cells={note[1]: note[2].strip()})
        if note[1] == "level":
            if note[2].strip() not in LEVELS:
                known = ", ".join(LEVELS)
                raise row.error("# level", f"unknown level {note[2]!r}; known are {known}")
            sheet = replace(sheet, level=note[2].strip())
        elif note[1] == "key_rule":
            sheet = replace(sheet, key_rule=note[2].strip())
        elif note[1] == "sample_rate":
            sheet = replace(sheet, sample_rate=_sample_rate(row))
    return sheet


def _sample_rate(row: Row) -> float:
    numerator, slash, denominator = row.cells["sample_rate"].partition("/")
    try:
        rate = float(numerator) / (float(denominator) if slash else 1)
    except (ValueError, ZeroDivisionError):
        rate = math.nan
    if not 0 < rate <= 1:
        raise row.error(
            "# sample_rate",
            f"{row.cells['sample_rate']!r} is no share above 0 and at most 1, such as 0.01 or 1/64",
        )
    return rate
