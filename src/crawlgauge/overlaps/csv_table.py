"""Overlap tables as CSV, one row a pair, and capture histories as CSV with a table of their crawls.

Every cell knows its place: messages name file, line and column.
"""

import csv
import datetime as dt
import io
import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from crawlgauge.crawl import Crawl, check_label, parse_date
from crawlgauge.errors import CrawlError, OverlapError, StoreError
from crawlgauge.keys.sampling import parse_rate
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories
from crawlgauge.overlaps.table import LEVELS, MISSING, NEEDED, SIMILARITIES, OverlapTable, pair_rows

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_NOTE = re.compile(r"#\s*(\w+)\s*=(.*)")
MAX_COUNT = 2**63 - 1
_METADATA = "in the file's metadata"
_COMMAS = ", separated by commas"
_APART = "; dates and sizes may stand in a table of the crawls instead, label,date,n_urls"
_T = TypeVar("_T")


# ---------------------------------------------------------------------------------------- cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Text cells of one row, by column, with file and place (``line 3``) for messages."""

    name: str
    where: str
    cells: Mapping[str, str]
    link: str = ", column "

    def error(self, column: str, problem: object) -> OverlapError:
        """Return an error that names file, place and column."""
        return OverlapError(f"{self.name}, {self.where}{self.link}{column}: {problem}")

    @classmethod
    def of(cls, name: str, where: str, values: Mapping[str, object], **link: str) -> "Row":
        """Make a row of values of any type; what is missing is an empty cell."""
        # A time stands for its day.
        days = {k: v.date() if isinstance(v, dt.datetime) else v for k, v in values.items()}
        cells = {k: "" if v is None or v != v else str(v) for k, v in days.items()}  # noqa: PLR0124 - NaN
        return cls(name=name, where=where, cells=cells, **link)

    def label(self, column: str) -> str:
        """Read a crawl's label."""
        return self._read(column, check_label)

    def date(self, column: str) -> dt.date:
        """Read a date."""
        return self._read(column, parse_date)

    def crawl(
        self,
        n_urls: int,
        *,
        columns: tuple[str, str, str, str] = ("label", "date", "n_urls", "damaged"),
        **others: Any,  # noqa: ANN401 - parts of a crawl
    ) -> Crawl:
        """Read a crawl of that size: label, date, what is to blame for a size, and damage."""
        label, date, size, damaged = columns
        others |= {"label": self.label(label), "date": self.date(date)}
        try:
            return Crawl(n_urls=n_urls, damaged=self.flag(damaged), **others)
        except CrawlError as error:
            raise self.error(size, error) from error

    def rate(self, column: str = "sample_rate") -> float:
        """Read which share was counted; 1 if that is not said."""
        return float(self._read(column, parse_rate)) if column in self.cells else 1.0

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
            advice = "write 1000000 or 1e6, without thousands separators or units"
            raise self.error(column, f"{cell!r} is no whole number; {advice}")
        value = Decimal(cell)
        if value < 0:
            raise self.error(column, f"{cell} is negative; a count is 0 or more")
        if value > MAX_COUNT or value != value.to_integral_value():
            raise self.error(column, f"{cell} is no whole number up to {MAX_COUNT}; round it")
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
        if cell.lower() not in ("", "false", "true"):
            raise self.error(column, f"{cell!r} is neither true nor false")
        return cell.lower() == "true"

    def history(self, column: str, n_crawls: int) -> int:
        """Read a history, the first crawl first, as a mask."""
        history = self.cells.get(column, "")
        if other := set(history) - {"0", "1"}:
            advice = "; removals (2 or more) are not supported" if other & set("23456789") else ""
            raise self.error(
                column,
                f"history {history!r} holds {min(other)!r}; possible are 0 (not captured) and "
                f"1 (captured) for each crawl{advice}",
            )
        if len(history) != n_crawls:
            advice = "; did a spreadsheet drop leading zeros?" if len(history) < n_crawls else ""
            is_of = f"history {history!r} is of {len(history)} crawls"
            raise self.error(column, f"{is_of}, but there are {n_crawls}{advice}")
        return int(history[::-1], 2)

    def _read(self, column: str, parse: Callable[[str], _T]) -> _T:
        try:
            return parse(self.cells.get(column, ""))
        except (CrawlError, StoreError) as error:
            raise self.error(column, error) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Rows under named columns, at least one, and what the leading comment lines say."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)
    """Level, key rule and sample rate, as far as they are said."""

    def __post_init__(self) -> None:
        if not self.rows:
            raise OverlapError(f"{self.name} holds column names but no data rows")

    @property
    def sample_rate(self) -> float:
        """Which share was counted; all if nothing is said."""
        return float(self.about.get("sample_rate", 1.0))

    def require(self, needed: tuple[str, ...], advice: str = "") -> None:
        """Raise an error that lists what is there and what is needed, if a column is missing."""
        missing = [column for column in needed if column not in self.columns]
        if missing:
            raise OverlapError(
                f"{self.name}: missing column {', '.join(missing)}; needed are "
                f"{', '.join(needed)}{_COMMAS if len(self.columns) == 1 else ''}; there are "
                f"{', '.join(self.columns)}{advice}"
            )


def read_sheet(text: str, name: str) -> Sheet:
    """Read CSV text: leading comment lines, column names, rows that fit them."""
    text = text.removeprefix("\ufeff")
    # newline="" leaves line ends to the csv module, as its documentation asks.
    lines = list(io.StringIO(text, newline=""))
    n_notes = next((k for k, line in enumerate(lines) if line.strip() and line[0] != "#"), None)
    if n_notes is None:
        raise OverlapError(f"{name} is empty; a line of column names and rows are needed")
    reader, line = csv.reader(lines[n_notes:], strict=True), n_notes + 1
    records: list[tuple[int, list[str]]] = []
    try:
        for record in reader:
            if any(stripped := [cell.strip() for cell in record]):
                records.append((line, stripped))
            line = n_notes + reader.line_num + 1
    except csv.Error as error:
        advice = "look for a quotation mark that is not closed"
        raise OverlapError(f"{name}, line {line}: {error}; {advice}") from error
    (line, columns), rows = records[0], []
    for column in columns:
        if column and columns.count(column) > 1:
            raise OverlapError(f"{name}, line {line}: two columns are named {column}; remove one")
    for line, record in records[1:]:
        if len(record) < len(columns) or any(record[len(columns) :]):
            raise OverlapError(
                f"{name}, line {line}: {len(record)} cells under {len(columns)} column names; "
                "write numbers without thousands separators and let no line end early"
            )
        cells = dict(zip(columns, record, strict=False))
        rows.append(Row(name=name, where=f"line {line}", cells=cells))
    sheet = Sheet(name=name, columns=tuple(columns), rows=tuple(rows))
    return replace(sheet, about=_read_notes(name, lines[:n_notes]))


def _read_notes(file: str, lines: list[str]) -> dict[str, Any]:
    """Understand the comment lines before the column names."""
    about: dict[str, Any] = {}
    for k, line in enumerate(lines):
        # Spreadsheets fill a comment line up with commas to the width of the table.
        note = _NOTE.fullmatch(line.strip().rstrip(","))
        name, value = ("", "") if note is None else (note[1], note[2].strip())
        row = Row(name=file, where=f"line {k + 1}", cells={f"# {name}": value})
        if name == "level" and value not in LEVELS:
            raise row.error("# level", f"unknown level {value!r}; known are {', '.join(LEVELS)}")
        if name in ("level", "key_rule"):
            about[name] = value
        elif name == "sample_rate":
            about[name] = row.rate("# sample_rate")
    return about


# ---------------------------------------------------------------------------------------- pairs


def to_csv(table: OverlapTable) -> str:
    r"""Write an overlap table as CSV, one row a pair.

    Capture histories, capture times and provenance have no place in it.

    Examples
    --------
    >>> header = "a,date_a,n_a,b,date_b,n_b,n_shared"
    >>> row = "2013-12,2013-12-15,100,2014-06,2014-06-15,80,40"
    >>> table = table_from_sheet(read_sheet(f"{header}\n{row}", "example.csv"))
    >>> print(to_csv(table).splitlines()[-1])
    2013-12,2013-12-15,100,2014-06,2014-06-15,80,40,0.4,0.5,0.285714,0.444444
    """
    rule, rate = table.key_rule, table.sample_rate
    text = io.StringIO()
    text.write(f"# level={table.level}\n")
    text.write("" if rule is None else f"# key_rule={rule}\n")
    text.write("" if rate == 1 else f"# sample_rate={rate!r}\n")
    rows, writer = pair_rows(table), csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_to_cell(*cell) for cell in row.items()])
    return text.getvalue()


def _to_cell(column: str, value: object) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return f"{value:.6g}" if column in SIMILARITIES else str(value)


Listed = Mapping[str, tuple[Crawl, str]]
"""Crawls of a table of their own by label, each with its place there."""


def _list_crawls(sheet: Sheet, sample_rate: float) -> Listed:
    """Read a table of crawls; of a sample, without ``n_sampled``, the sizes are the sample's."""
    sheet.require(("label", "date", "n_urls"))
    listed: dict[str, tuple[Crawl, str]] = {}
    for row in sheet.rows:
        crawl = _read_crawl(row, ("label", "date", "n_urls", "damaged"), "n_sampled", sample_rate)
        where = f"on {row.where} of {sheet.name}"
        if (first := listed.setdefault(crawl.label, (crawl, where))) != (crawl, where):
            raise row.error("label", f"crawl {crawl.label!r} stands {first[1]} already")
    return listed


def table_from_sheet(
    sheet: Sheet, known: tuple[Crawl, ...] = (), about: Sheet | None = None
) -> OverlapTable:
    """Put rows of pairs, in any order, together to an overlap table.

    A sample rate without the columns ``n_sampled_a`` and ``n_sampled_b`` says that all counts,
    sizes too, are of the sample; the crawls' sizes are then estimated from them.

    Parameters
    ----------
    sheet
        A row for each pair.
    known
        Crawls of the table, whether they stand in a pair or not.
    about
        The table of crawls that the pairs name by their labels: columns ``label,date,n_urls`` and,
        where they are of a sample, ``n_sampled``. None if dates and sizes stand in the rows.

    Raises
    ------
    OverlapError
        If it cannot be read or contradicts itself; the message names row and column.
    """
    listed = None if about is None else _list_crawls(about, sheet.sample_rate)
    needed = NEEDED if listed is None else ("a", "b")
    sheet.require(needed, "" if "a" not in sheet.columns or listed is not None else _APART)
    if "n_shared" not in sheet.columns and "jaccard" not in sheet.columns:
        sheet.require((*needed, "n_shared"), "; a column jaccard does as well as n_shared")
    crawls = {crawl.label: (crawl, _METADATA) for crawl in known}
    pairs: dict[frozenset[str], tuple[int, Row]] = {}
    for row in sheet.rows:
        a, b = (_enter_crawl(crawls, row, side, sheet, listed) for side in "ab")
        key = frozenset((a.label, b.label))
        if key in pairs:
            raise row.error(
                "a, b",
                f"the pair {a.label!r}, {b.label!r} stands on {pairs[key][1].where} already; "
                "keep one of the two",
            )
        pairs[key] = _shared(row, a, b, sheet), row
    in_order = sorted((crawl for crawl, _ in crawls.values()), key=lambda c: (c.date, c.label))
    place_of = {crawl.label: k for k, crawl in enumerate(in_order)}
    n_shared = np.full((len(in_order), len(in_order)), MISSING, dtype=np.int64)
    se_shared = np.full(n_shared.shape, np.nan)
    for key, (shared, row) in pairs.items():
        i, j = (place_of[label] for label in (min(key), max(key)))
        n_shared[i, j] = n_shared[j, i] = shared
        if (se := row.number("se_shared")) is not None:
            if se < 0:
                raise row.error("se_shared", f"{se} is negative; a standard error is 0 or more")
            se_shared[i, j] = se_shared[j, i] = se
    np.fill_diagonal(n_shared, [crawl.n_counted for crawl in in_order])
    return OverlapTable(
        crawls=tuple(in_order),
        n_shared=n_shared,
        se_shared=se_shared if "se_shared" in sheet.columns else None,
        **sheet.about,
    )


def _enter_crawl(
    crawls: dict[str, tuple[Crawl, str]], row: Row, side: str, sheet: Sheet, listed: Listed | None
) -> Crawl:
    """Read a crawl of a row, and see that it is the same as elsewhere."""
    if listed is not None:
        label = row.label(side)
        if label not in listed:
            raise row.error(side, f"crawl {label!r} is not in the table of crawls")
        crawls.setdefault(label, listed[label])
        if not {f"date_{side}", f"n_{side}"} <= {*sheet.columns}:
            return listed[label][0]
    columns = (side, f"date_{side}", f"n_{side}", f"damaged_{side}")
    found = _read_crawl(row, columns, f"n_sampled_{side}", sheet.sample_rate)
    crawl, where = crawls.setdefault(found.label, (found, f"on {row.where}"))
    for part in ("date", "n_urls", "n_sampled", "damaged"):
        here, there = getattr(found, part), getattr(crawl, part)
        if here != there:
            raise row.error(
                f"{part.removesuffix('_urls')}_{side}",
                f"crawl {crawl.label!r} has {part} {here} here, but {there} {where}; a crawl is "
                "the same everywhere",
            )
    return crawl


def _read_crawl(
    row: Row, columns: tuple[str, str, str, str], sampled: str, sample_rate: float
) -> Crawl:
    n_urls, n_sampled = row.known_count(columns[2]), row.count(sampled)
    if sample_rate != 1 and sampled not in row.cells:
        n_urls, n_sampled = round(n_urls / sample_rate), n_urls
    return row.crawl(n_urls, columns=columns, n_sampled=n_sampled)


def _shared(row: Row, a: Crawl, b: Crawl, sheet: Sheet) -> int:
    column = "n_shared" if "n_shared" in sheet.columns else "jaccard"
    value = row.count(column) if column == "n_shared" else row.number(column)
    if value is None:
        return MISSING
    if column == "jaccard":
        if not 0 <= value <= 1:
            advice = "leave the cell empty where the overlap is not known"
            raise row.error(column, f"{value} is outside 0 to 1; {advice}")
        value = round(value / (1 + value) * (a.n_counted + b.n_counted))
    largest = min(a.n_counted, b.n_counted)
    if value > largest or (a is b and value != largest):
        both = f"{a.label!r} ({a.n_counted} URLs) and {b.label!r} ({b.n_counted} URLs)"
        raise row.error(column, f"{both} cannot share {value} URLs")
    return int(value)


# ------------------------------------------------------------------------------------ histories


def from_histories(histories: Sheet, crawls: Sheet) -> OverlapTable:
    r"""Read an overlap table from capture histories and their crawls.

    Parameters
    ----------
    histories
        Columns ``history,count`` or ``ch,freq``: a 0 or 1 for each crawl in date order. The same
        history on several lines is summed.
    crawls
        Columns ``label,date`` and, where known, ``n_urls``, in any order of the crawls.

    Raises
    ------
    OverlapError
        If one cannot be read or the two contradict each other.

    Examples
    --------
    >>> table = from_histories(
    ...     read_sheet("history,count\n10,60\n11,40\n01,40", "histories.csv"),
    ...     read_sheet("label,date\n2013-12,2013-12-15\n2014-06,2014-06-15", "crawls.csv"),
    ... )
    >>> table.n_shared.tolist()
    [[100, 40], [40, 80]]
    """
    rows = _in_date_order(crawls)
    counted = _read_histories(histories, len(rows))
    n_shared = counted.count_pairs()
    sizes = np.diagonal(n_shared).tolist()
    return OverlapTable(
        crawls=tuple(_crawl_from(row, n, histories) for row, n in zip(rows, sizes, strict=True)),
        n_shared=n_shared,
        histories=counted,
        **histories.about,
    )


def make_histories(counts: Mapping[int, int], *, n_crawls: int, sample_rate: float) -> Histories:
    """Make histories from counts by mask.

    Raises
    ------
    OverlapError
        If the counts do not fit into 64 bits together, or the histories cannot be.
    """
    total = sum(counts.values())
    if total > MAX_COUNT:
        raise OverlapError(f"the histories hold {total} URLs; possible are up to {MAX_COUNT}")
    masks = np.array(sorted(counts), np.uint64)
    numbers = np.array([counts[mask] for mask in masks.tolist()], np.int64)
    return Histories(n_crawls=n_crawls, masks=masks, counts=numbers, sample_rate=sample_rate)


def _in_date_order(sheet: Sheet) -> list[Row]:
    sheet.require(("label", "date"))
    if len(sheet.rows) > MAX_HISTORY_CRAWLS:
        raise OverlapError(
            f"{sheet.name} names {len(sheet.rows)} crawls; capture histories are of up to "
            f"{MAX_HISTORY_CRAWLS}; choose a window of them or give pairwise overlaps"
        )
    seen: dict[str, Row] = {}
    for row in sheet.rows:
        if (first := seen.setdefault(row.label("label"), row)) is not row:
            raise row.error("label", f"crawl {row.label('label')!r} is on {first.where} already")
    rows = sorted(sheet.rows, key=lambda row: row.date("date"))
    for before, after in itertools.pairwise(rows):
        one, other = before.label("label"), after.label("label")
        if before.date("date") == after.date("date") and one > other:
            raise after.error(
                "date",
                f"{one!r} ({before.where}) and {other!r} have the same date, so that their places "
                "in the histories are not certain; order the two by label, in the histories as "
                "well, or give them different dates",
            )
    return rows


def _read_histories(sheet: Sheet, n_crawls: int) -> Histories:
    history_column = "ch" if "ch" in sheet.columns else "history"
    count_column = "freq" if "freq" in sheet.columns else "count"
    sheet.require((history_column, count_column), "; ch and freq are understood as well")
    counts: dict[int, int] = {}
    for row in sheet.rows:
        count = row.known_count(count_column)
        mask = row.history(history_column, n_crawls)
        if mask == 0 and count > 0:
            problem = (
                f"{count} URLs that no crawl holds cannot have been counted; leave the row out"
            )
            raise row.error(history_column, problem)
        if count > 0:
            counts[mask] = counts.get(mask, 0) + count
    if not counts:
        raise OverlapError(f"{sheet.name}: all counts are 0; there is nothing to estimate from")
    try:
        return make_histories(counts, n_crawls=n_crawls, sample_rate=sheet.sample_rate)
    except OverlapError as error:
        raise OverlapError(f"{sheet.name}: {error}") from error


def _crawl_from(row: Row, n_counted: int, sheet: Sheet) -> Crawl:
    label, given, sampled = row.label("label"), row.count("n_urls"), sheet.sample_rate != 1
    if n_counted == 0:
        raise row.error("label", f"crawl {label!r} stands in no history of {sheet.name}")
    if not sampled and given is not None and given != n_counted:
        raise row.error(
            "n_urls",
            f"crawl {label!r} has {given} URLs here, but {n_counted} in {sheet.name}; "
            "if the histories are of a sample, say so there by a first line # sample_rate=…",
        )
    n_urls = round(n_counted / sheet.sample_rate) if given is None else given
    return row.crawl(n_urls, n_sampled=n_counted if sampled else None)
