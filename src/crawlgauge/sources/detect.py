"""The formats that can be read, and how an input's format is told by its content."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crawlgauge.errors import SourceError
from crawlgauge.sources.access_log import looks_like_access_log, read_access_log
from crawlgauge.sources.arc import looks_like_arc, read_arc
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.cdx import looks_like_cdx, read_cdx
from crawlgauge.sources.cdxj import looks_like_cdxj, read_cdxj
from crawlgauge.sources.crawl_log import looks_like_crawl_log, read_crawl_log
from crawlgauge.sources.csv_rows import looks_like_csv, read_csv_rows
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.json_lines import looks_like_json_lines, read_json_lines
from crawlgauge.sources.parquet import looks_like_parquet, read_parquet
from crawlgauge.sources.server_json import looks_like_server_json, read_server_json
from crawlgauge.sources.sitemap import looks_like_sitemap, read_sitemap
from crawlgauge.sources.urls import read_url_list
from crawlgauge.sources.warc import looks_like_warc, read_warc
from crawlgauge.sources.what_counts import Settings


@dataclass(frozen=True, slots=True)
class Format:
    """One format of archive files.

    Parameters
    ----------
    name
        As the user states it.
    title
        As people call it.
    looks_like
        Tells it by the first bytes, decompressed.
    read
        Hands the records of an input on; yields now and then.
    has_columns
        Whether the user can say which column holds the URLs.
    """

    name: str
    title: str
    looks_like: Callable[[bytes], bool]
    read: Callable[[Stream, Intake, Settings], Iterator[None]]
    has_columns: bool = False


FORMATS = {
    known.name: known
    for known in (
        Format("warc", "WARC", looks_like_warc, read_warc),
        Format("arc", "ARC", looks_like_arc, read_arc),
        Format("parquet", "Parquet", looks_like_parquet, read_parquet, True),
        Format("cdxj", "CDXJ", looks_like_cdxj, read_cdxj),
        Format("cdx", "CDX", looks_like_cdx, read_cdx),
        Format("crawl-log", "Heritrix crawl.log", looks_like_crawl_log, read_crawl_log),
        Format(
            "server-json", "a CDX server's JSON", looks_like_server_json, read_server_json, True
        ),
        Format("jsonl", "JSON Lines", looks_like_json_lines, read_json_lines, True),
        Format("sitemap", "a sitemap", looks_like_sitemap, read_sitemap),
        Format("access-log", "an access log", looks_like_access_log, read_access_log),
        Format("csv", "CSV or TSV", looks_like_csv, read_csv_rows, True),
        Format("urls", "URL list", lambda _beginning: True, read_url_list),
    )
}
"""By name, in the order in which they are tried: the most certain marks come first."""

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def find_format(beginning: bytes, settings: Settings, source: str) -> Format:
    """Tell which format an input is of.

    Parameters
    ----------
    beginning
        Its first bytes, decompressed.
    settings
        What the user has stated of it.
    source
        Its name, for errors.

    Raises
    ------
    SourceError
        If what the user stated cannot be.
    """
    if beginning.startswith(_UTF16_MARKS):
        raise SourceError(f"{source} is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)")
    if settings.format is not None:
        if settings.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise SourceError(f"unknown format {settings.format!r}; known are: {known}")
        return FORMATS[settings.format]
    found = next(known for known in FORMATS.values() if known.looks_like(beginning))
    if settings.column is None or found.has_columns:
        return found
    if found.name == "urls":
        # A file of cells is hard to tell from a list of URLs; that it has columns tells.
        return FORMATS["csv"]
    raise SourceError(
        f"{source} is {found.title}, whose fields are known; leave out --column, which is for "
        "CSV, TSV, JSON Lines and Parquet"
    )
