"""Capture histories as two CSV files: how many URLs have each history, and the crawls."""

import csv
import io
import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from crawlgauge.crawl import Crawl
from crawlgauge.errors import CrawlError, OverlapError
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories
from crawlgauge.overlaps.sheet import Row, Sheet, notes_of, read_sheet
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Provenance

__all__ = [
    "from_histories_csv",
    "history_from_mask",
    "make_histories",
    "mask_from_history",
    "to_histories_csv",
]

_MAX_TOTAL = 2**63 - 1


def to_histories_csv(table: OverlapTable) -> tuple[str, str]:
    """Write a table's capture histories and its crawls, each as CSV.

    Raises
    ------
    OverlapError
        If the table has no histories.
    """
    histories = table.histories
    if histories is None:
        raise OverlapError("this table holds no capture histories; write its overlaps instead")
    history_rows = [
        (history_from_mask(int(mask), histories.n_crawls), int(count))
        for mask, count in zip(histories.masks, histories.counts, strict=True)
    ]
    crawl_rows = [
        (crawl.label, crawl.date, crawl.n_urls, str(crawl.damaged).lower())
        for crawl in table.crawls
    ]
    columns = ["label", "date", "n_urls"]
    if any(crawl.damaged for crawl in table.crawls):
        columns.append("damaged")
    notes = notes_of(table.level, table.key_rule, histories.sample_rate)
    return (
        notes + _csv_lines([("history", "count"), *history_rows]),
        _csv_lines([columns, *(row[: len(columns)] for row in crawl_rows)]),
    )


def from_histories_csv(
    histories_text: str,
    crawls_text: str,
    *,
    histories_name: str,
    crawls_name: str,
    provenance: Provenance | None = None,
) -> OverlapTable:
    r"""Read an overlap table from capture histories and their crawls.

    Parameters
    ----------
    histories_text
        Columns ``history,count`` or ``ch,freq``: a 0 or 1 for each crawl in date order. The same
        history on several lines is summed.
    crawls_text
        Columns ``label,date`` and, where known, ``n_urls``, in any order of the crawls.
    histories_name, crawls_name
        Names of the files, for messages.
    provenance
        What to record as the table's origin.

    Raises
    ------
    OverlapError
        If a file cannot be read or the two contradict each other.

    Examples
    --------
    >>> table = from_histories_csv(
    ...     "history,count\n10,60\n11,40\n01,40",
    ...     "label,date\n2013-12,2013-12-15\n2014-06,2014-06-15",
    ...     histories_name="histories.csv",
    ...     crawls_name="crawls.csv",
    ... )
    >>> table.n_shared.tolist()
    [[100, 40], [40, 80]]
    """
    crawl_sheet = read_sheet(crawls_text, name=crawls_name)
    crawl_sheet.require(("label", "date"))
    crawl_rows = _in_date_order(crawl_sheet)
    sheet = read_sheet(histories_text, name=histories_name)
    histories = _read_histories(sheet, n_crawls=len(crawl_rows))
    n_shared = histories.count_pairs()
    counted = [int(n) for n in np.diagonal(n_shared)]
    return OverlapTable(
        crawls=tuple(
            _crawl_from(row, n, sheet) for row, n in zip(crawl_rows, counted, strict=True)
        ),
        n_shared=n_shared,
        histories=histories,
        level=sheet.level,
        key_rule=sheet.key_rule,
        sample_rate=sheet.sample_rate,
        provenance=provenance or Provenance(),
    )


def history_from_mask(mask: int, n_crawls: int) -> str:
    """Write a history as text, the first crawl first.

    Examples
    --------
    >>> history_from_mask(0b011, 4)
    '1100'
    """
    return format(mask, f"0{n_crawls}b")[::-1]


def mask_from_history(history: str, n_crawls: int) -> int:
    """Read a history as text, the first crawl first.

    Raises
    ------
    OverlapError
        If it does not hold a 0 or 1 for each crawl.
    """
    other = set(history) - {"0", "1"}
    if other:
        advice = "; removals (2 or more) are not supported" if other & set("23456789") else ""
        raise OverlapError(
            f"history {history!r} holds {min(other)!r}; possible are 0 (not captured) and "
            f"1 (captured) for each crawl{advice}"
        )
    if len(history) != n_crawls:
        advice = "; did a spreadsheet drop leading zeros?" if len(history) < n_crawls else ""
        raise OverlapError(
            f"history {history!r} is of {len(history)} crawls, but there are {n_crawls}{advice}"
        )
    return int(history[::-1], 2)


def make_histories(counts: Mapping[int, int], *, n_crawls: int, sample_rate: float) -> Histories:
    """Make histories from counts by mask.

    Raises
    ------
    OverlapError
        If the counts do not fit into 64 bits together, or the histories cannot be.
    """
    total = sum(counts.values())
    if total > _MAX_TOTAL:
        raise OverlapError(f"the histories hold {total} URLs; possible are up to {_MAX_TOTAL}")
    masks = sorted(counts)
    return Histories(
        n_crawls=n_crawls,
        masks=np.array(masks, dtype=np.uint64),
        counts=np.array([counts[mask] for mask in masks], dtype=np.int64),
        sample_rate=sample_rate,
    )


def _csv_lines(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _in_date_order(sheet: Sheet) -> list[Row]:
    if len(sheet.rows) > MAX_HISTORY_CRAWLS:
        raise OverlapError(
            f"{sheet.name} names {len(sheet.rows)} crawls; capture histories are of up to "
            f"{MAX_HISTORY_CRAWLS}; choose a window of them or give pairwise overlaps"
        )
    seen: dict[str, Row] = {}
    for row in sheet.rows:
        label = row.label("label")
        if label in seen:
            raise row.error("label", f"crawl {label!r} stands on {seen[label].where} already")
        seen[label] = row
    rows = sorted(sheet.rows, key=lambda row: row.date("date"))
    for before, after in itertools.pairwise(rows):
        same_date = before.date("date") == after.date("date")
        if same_date and before.label("label") > after.label("label"):
            raise after.error(
                "date",
                f"{before.label('label')!r} ({before.where}) and {after.label('label')!r} have "
                "the same date, so that their places in the histories are not certain; order "
                "the two by label, in the histories as well, or give them different dates",
            )
    return rows


def _read_histories(sheet: Sheet, *, n_crawls: int) -> Histories:
    history_column = "ch" if "ch" in sheet.columns else "history"
    count_column = "freq" if "freq" in sheet.columns else "count"
    sheet.require((history_column, count_column), "; ch and freq are understood as well")
    counts: dict[int, int] = {}
    for row in sheet.rows:
        count = row.known_count(count_column)
        try:
            mask = mask_from_history(row.cells[history_column], n_crawls)
        except OverlapError as error:
            raise row.error(history_column, str(error)) from error
        if mask == 0 and count > 0:
            raise row.error(
                history_column,
                f"{count} URLs that no crawl holds cannot have been counted; leave the row out",
            )
        if count > 0:
            counts[mask] = counts.get(mask, 0) + count
    if not counts:
        raise OverlapError(f"{sheet.name}: all counts are 0; there is nothing to estimate from")
    try:
        return make_histories(counts, n_crawls=n_crawls, sample_rate=sheet.sample_rate)
    except OverlapError as error:
        raise OverlapError(f"{sheet.name}: {error}") from error


def _crawl_from(row: Row, n_counted: int, sheet: Sheet) -> Crawl:
    label, given = row.label("label"), row.count("n_urls")
    if n_counted == 0:
        raise row.error("label", f"crawl {label!r} stands in no history of {sheet.name}")
    sampled = sheet.sample_rate != 1
    if not sampled and given is not None and given != n_counted:
        raise row.error(
            "n_urls",
            f"crawl {label!r} has {given} URLs here, but {n_counted} in {sheet.name}; "
            "if the histories are of a sample, say so there by a first line # sample_rate=…",
        )
    try:
        return Crawl(
            label=label,
            date=row.date("date"),
            n_urls=round(n_counted / sheet.sample_rate) if given is None else given,
            n_sampled=n_counted if sampled else None,
            damaged=row.flag("damaged"),
        )
    except CrawlError as error:
        raise row.error("n_urls", str(error)) from error
