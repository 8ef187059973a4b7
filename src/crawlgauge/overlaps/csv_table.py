"""Overlap tables as CSV, one row a pair."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crawlgauge.crawl import Crawl
from crawlgauge.errors import CrawlError
from crawlgauge.overlaps.sheet import Row, Sheet, notes_of, read_sheet
from crawlgauge.overlaps.table import MISSING, OverlapTable, Pair
from crawlgauge.provenance import Provenance

__all__ = ["from_csv", "pair_columns", "pair_rows", "table_from_sheet", "to_csv"]

_NEEDED = ("a", "date_a", "n_a", "b", "date_b", "n_b")
_DERIVED = ("containment_a_in_b", "containment_b_in_a", "jaccard", "dice")


def to_csv(table: OverlapTable) -> str:
    r"""Write an overlap table as CSV, one row a pair.

    Capture histories, capture times and provenance have no place in it.

    Examples
    --------
    >>> header = "a,date_a,n_a,b,date_b,n_b,n_shared"
    >>> row = "2013-12,2013-12-15,100,2014-06,2014-06-15,80,40"
    >>> print(to_csv(from_csv(f"{header}\n{row}", name="example.csv")).splitlines()[-1])
    2013-12,2013-12-15,100,2014-06,2014-06-15,80,40,0.4,0.5,0.285714,0.444444
    """
    text = io.StringIO()
    text.write(notes_of(table.level, table.key_rule, table.sample_rate))
    columns = pair_columns(table)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in pair_rows(table):
        writer.writerow([_to_cell(column, row[column]) for column in columns])
    return text.getvalue()


def from_csv(text: str, *, name: str, provenance: Provenance | None = None) -> OverlapTable:
    """Read an overlap table from CSV.

    A ``# sample_rate=…`` line without the columns ``n_sampled_a`` and ``n_sampled_b`` says that
    all counts, sizes too, are of the sample; the crawls' sizes are then estimated from them.

    Parameters
    ----------
    text
        What the file holds.
    name
        Name of the file, for messages.
    provenance
        What to record as the table's origin.

    Raises
    ------
    OverlapError
        If it cannot be read or contradicts itself; the message names line and column.
    """
    table = table_from_sheet(read_sheet(text, name=name))
    return table if provenance is None else replace(table, provenance=provenance)


def pair_columns(table: OverlapTable) -> tuple[str, ...]:
    """Return the columns that this table needs, in order."""
    columns = [*_NEEDED, "n_shared"]
    if table.se_shared is not None:
        columns.append("se_shared")
    if table.sample_rate != 1 or any(crawl.n_sampled is not None for crawl in table.crawls):
        columns += ["n_sampled_a", "n_sampled_b"]
    if any(crawl.damaged for crawl in table.crawls):
        columns += ["damaged_a", "damaged_b"]
    return (*columns, *_DERIVED)


def pair_rows(table: OverlapTable) -> Iterator[dict[str, object]]:
    """Yield a row of typed values for each pair that something is known of.

    A crawl that stands in no pair, or whose overlap with itself has a standard error, has a row
    with itself, so that nothing is lost.
    """
    known = table.n_shared != MISSING
    np.fill_diagonal(known, val=known.sum(axis=0) == 1)
    if table.se_shared is not None:
        known |= ~np.isnan(table.se_shared)
    for i, a in enumerate(table.crawls):
        for j in (i + int(step) for step in np.flatnonzero(known[i, i:])):
            b, shared = table.crawls[j], int(table.n_shared[i, j])
            row = {"a": a.label, "date_a": a.date, "n_a": a.n_urls, "n_sampled_a": a.n_sampled}
            row |= {"b": b.label, "date_b": b.date, "n_b": b.n_urls, "n_sampled_b": b.n_sampled}
            row |= {"damaged_a": a.damaged, "damaged_b": b.damaged}
            row |= dict.fromkeys(("n_shared", "se_shared", *_DERIVED))
            if table.se_shared is not None and not np.isnan(table.se_shared[i, j]):
                row["se_shared"] = float(table.se_shared[i, j])
            if shared != MISSING:
                pair = Pair(a=a, b=b, n_shared=shared)
                row |= {"n_shared": shared, **{name: getattr(pair, name) for name in _DERIVED}}
            yield row


def table_from_sheet(sheet: Sheet) -> OverlapTable:
    """Put rows of pairs, in any order, together to an overlap table."""
    sheet.require(_NEEDED)
    if "n_shared" not in sheet.columns and "jaccard" not in sheet.columns:
        sheet.require((*_NEEDED, "n_shared"), "; a column jaccard does as well as n_shared")
    crawls: dict[str, tuple[Crawl, Row]] = {}
    pairs: dict[frozenset[str], tuple[int | None, Row]] = {}
    for row in sheet.rows:
        a, b = (_enter_crawl(crawls, row, side, sheet) for side in "ab")
        key = frozenset((a.label, b.label))
        if key in pairs:
            raise row.error(
                "a, b",
                f"the pair {a.label!r}, {b.label!r} stands on {pairs[key][1].where} already; "
                "keep one of the two",
            )
        pairs[key] = _shared(row, a, b, sheet), row
    position = {label: k for k, label in enumerate(crawls)}
    n_shared = np.full((len(crawls), len(crawls)), MISSING, dtype=np.int64)
    se_shared = np.full(n_shared.shape, np.nan)
    np.fill_diagonal(n_shared, [crawl.n_counted for crawl, _ in crawls.values()])
    for key, (shared, row) in pairs.items():
        i, j = (position[label] for label in (min(key), max(key)))
        if shared is not None:
            n_shared[i, j] = n_shared[j, i] = shared
        if (se := row.number("se_shared")) is not None:
            if se < 0:
                raise row.error("se_shared", f"{se} is negative; a standard error is 0 or more")
            se_shared[i, j] = se_shared[j, i] = se
    return OverlapTable.from_unsorted(
        tuple(crawl for crawl, _ in crawls.values()),
        n_shared,
        se_shared if "se_shared" in sheet.columns else None,
        level=sheet.level,
        key_rule=sheet.key_rule,
        sample_rate=sheet.sample_rate,
    )


def _to_cell(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if column in _DERIVED else str(value)


def _enter_crawl(crawls: dict[str, tuple[Crawl, Row]], row: Row, side: str, sheet: Sheet) -> Crawl:
    found = _crawl_of(row, side, sheet)
    crawl, first = crawls.setdefault(found.label, (found, row))
    for part in ("date", "n_urls", "n_sampled", "damaged"):
        here, there = getattr(found, part), getattr(crawl, part)
        if here != there:
            raise row.error(
                f"{part.removesuffix('_urls')}_{side}",
                f"crawl {crawl.label!r} has {part} {here} here, but {there} on {first.where}; "
                "a crawl has the same on all lines",
            )
    return crawl


def _crawl_of(row: Row, side: str, sheet: Sheet) -> Crawl:
    n_urls, n_sampled = row.known_count(f"n_{side}"), row.count(f"n_sampled_{side}")
    if sheet.sample_rate != 1 and f"n_sampled_{side}" not in sheet.columns:
        n_urls, n_sampled = round(n_urls / sheet.sample_rate), n_urls
    label, date = row.label(side), row.date(f"date_{side}")
    damaged = row.flag(f"damaged_{side}")
    try:
        return Crawl(label=label, date=date, n_urls=n_urls, n_sampled=n_sampled, damaged=damaged)
    except CrawlError as error:
        raise row.error(f"n_{side}", str(error)) from error


def _shared(row: Row, a: Crawl, b: Crawl, sheet: Sheet) -> int | None:
    column = "n_shared" if "n_shared" in sheet.columns else "jaccard"
    if column == "n_shared":
        shared = row.count(column)
    elif (jaccard := row.number(column)) is None:
        shared = None
    elif 0 <= jaccard <= 1:
        shared = round(jaccard / (1 + jaccard) * (a.n_counted + b.n_counted))
    else:
        raise row.error(
            column,
            f"{jaccard} is outside 0 to 1; leave the cell empty where the overlap is not known",
        )
    largest = min(a.n_counted, b.n_counted)
    if shared is not None and (shared > largest or (a is b and shared != largest)):
        raise row.error(
            column,
            f"{a.label!r} ({a.n_counted} URLs) and {b.label!r} ({b.n_counted} URLs) cannot share "
            f"{shared} URLs",
        )
    return shared
