"""What crawlers say of the URLs that they knew of and did not fetch, in the files that they leave.

::

    a number                         1200000
    Heritrix  hosts-report.txt       the sum of [#remaining]
              frontier report        Queued
    Browsertrix  skippedPages.jsonl  pages that a limit kept from being fetched
    Archive-It  crawl report (CSV)   queued_count
    Common Crawl  CrawlDb            all that may still be fetched: states of its own database
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import read_whole
from crawlgauge.sources.json_lines import parse_json

_MAX_BYTES = 1 << 28
_MAX_HEAD = 1 << 14
_NUMBER = re.compile(r"\s*(\d[\d_,]{0,39})\s*")
_REMAINING, _HOST = "[#remaining]", "[host]"
_QUEUED = re.compile(r"^[ \t]*Queued:[ \t]+(\d{1,19})[ \t\r]*$", re.MULTILINE)
_LIMITS = ("pageLimit", "page_limit")
_QUEUED_COLUMNS = ("queued_count", "queued", "queued docs", "queued_documents")
_CRAWL_COLUMNS = ("label", "crawl", "crawl_id", "id", "job", "crawl job")
_STATES = ("db_fetched", "db_notmodified", "db_unfetched")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """What a crawler knew of.

    Parameters
    ----------
    n_urls
        How many URLs.
    format
        What says so.
    is_all_known
        Whether these are all that it knew of, those that it fetched included.
    n_left_out
        Lines that say nothing of it.
    """

    n_urls: int
    format: str
    is_all_known: bool = False
    n_left_out: int = 0


def read_frontier(name: str, label: str) -> Frontier:
    """Read how many URLs a crawler knew of and did not fetch.

    Parameters
    ----------
    name
        A number, or a file.
    label
        The crawl that it is of, where a file lists several.

    Raises
    ------
    SourceError
        If it is neither, or tells nothing of that crawl.
    """
    text = name
    if not _NUMBER.fullmatch(name):
        try:
            text = read_whole(name, max_bytes=_MAX_BYTES).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SourceError(f"{name} is no UTF-8 text at byte {error.start:,}") from error
    if number := _NUMBER.fullmatch(text):
        return Frontier(n_urls=_to_int(number[1]), format="a number")
    if _REMAINING in text[:_MAX_HEAD]:
        return _read_hosts_report(text, name)
    if queued := _QUEUED.search(text[:_MAX_HEAD]):
        return Frontier(n_urls=int(queued[1]), format="a frontier report of Heritrix")
    if text.lstrip().startswith("{"):
        return _read_skipped_pages(text, name)
    return _read_table(text, name, label)


def _to_int(text: str) -> int:
    return int(text.replace("_", "").replace(",", ""))


def _read_hosts_report(text: str, name: str) -> Frontier:
    rows = [line.split() for line in text.splitlines()]
    first = next((number for number, row in enumerate(rows) if {_REMAINING, _HOST} <= {*row}), None)
    if first is None:
        raise SourceError(f"{name} is no hosts report: no line has both {_REMAINING} and {_HOST}")
    header = rows[first]
    column = header.index(_REMAINING)
    n_urls = n_left_out = n_read = 0
    for cells in rows[first + 1 :]:
        # Hosts whose names hold spaces, and lines that were cut.
        if len(cells) > column and _NUMBER.fullmatch(cells[column]):
            # What is left to be resolved is no URL.
            n_urls += 0 if "dns:" in cells[: header.index(_HOST) + 1] else _to_int(cells[column])
            n_read += 1
        elif cells:
            n_left_out += 1
    if not n_read:
        raise SourceError(f"{name} is a hosts report of Heritrix that lists no host")
    return Frontier(n_urls=n_urls, format="a hosts report of Heritrix", n_left_out=n_left_out)


def _read_skipped_pages(text: str, name: str) -> Frontier:
    urls: set[str] = set()
    n_pages = n_left_out = 0
    for line in text.splitlines():
        if not line.strip():
            continue
        page = parse_json(line.encode())
        if not isinstance(page, dict):
            n_left_out += 1
        elif "url" in page and "reason" in page:
            n_pages += 1
            if page["reason"] in _LIMITS:
                urls.add(str(page["url"]))
        elif "format" not in page:
            # The first line says which format it is.
            n_left_out += 1
    if not n_pages:
        raise SourceError(
            f"{name} lists no skipped pages: each line has the url of one and the reason why"
        )
    form = "the pages that Browsertrix skipped at a limit"
    return Frontier(n_urls=len(urls), format=form, n_left_out=n_left_out)


def _read_table(text: str, name: str, label: str) -> Frontier:
    try:
        rows = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise SourceError(f"{name} is no table: {error}") from error
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    body = [row for row in rows[1:] if len(row) == len(header)]
    n_left_out = sum(1 for row in rows[1:] if row and len(row) != len(header))
    states = [header.index(state) for state in _STATES if state in header]
    queued = next((header.index(one) for one in _QUEUED_COLUMNS if one in header), None)
    if len(states) == len(_STATES):
        columns, form = states, "the states of Common Crawl's CrawlDb"
    elif queued is not None:
        columns, form = [queued], "a crawl report of Archive-It"
    else:
        raise SourceError(
            f"{name} tells of no queue: it is no number, no hosts-report.txt or frontier report of "
            "Heritrix, no skippedPages.jsonl of Browsertrix, no crawl report with a column "
            "queued_count, and no table with the states of a CrawlDb"
        )
    own = _choose_rows(header, body, label, name)
    try:
        n_urls = sum(_to_int(row[column].strip()) for row in own for column in columns)
    except ValueError as error:
        raise SourceError(f"{name} has no number of URLs for {label} ({error})") from error
    return Frontier(
        n_urls=n_urls, is_all_known=len(columns) > 1, format=form, n_left_out=n_left_out
    )


def _choose_rows(
    header: Sequence[str], body: Sequence[list[str]], label: str, name: str
) -> Sequence[list[str]]:
    """Return the rows of one crawl; all of them if they do not say which they are of."""
    place = next((header.index(one) for one in _CRAWL_COLUMNS if one in header), None)
    if place is None or len(body) == 1:
        return body
    own = [row for row in body if row[place].strip() == label]
    if not own:
        known = ", ".join(dict.fromkeys(row[place] for row in body[:5]))
        raise SourceError(
            f"{name} tells nothing of {label}; it lists {known}"
            f"{' and others' if len(body) > 5 else ''}. Name the crawl with --crawl"  # noqa: PLR2004
        )
    return own
