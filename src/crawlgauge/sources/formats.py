"""The formats that can be read, and how an input's format is told by its content."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crawlgauge.errors import SourceError
from crawlgauge.sources.arc import looks_like_arc, read_arc
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.cdx import looks_like_cdx, read_cdx
from crawlgauge.sources.cdxj import looks_like_cdxj, read_cdxj
from crawlgauge.sources.crawl_log import looks_like_crawl_log, read_crawl_log
from crawlgauge.sources.csv_rows import looks_like_csv, read_csv_rows
from crawlgauge.sources.json_lines import looks_like_json_lines, read_json_lines
from crawlgauge.sources.parquet_rows import looks_like_parquet, read_parquet_rows
from crawlgauge.sources.request import Request
from crawlgauge.sources.server_json import looks_like_server_json, read_server_json
from crawlgauge.sources.urllist import read_url_list
from crawlgauge.sources.warc import looks_like_warc, read_warc

__all__ = ["FORMATS", "Format", "find_format"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format of archive files.

    Parameters
    ----------
    name
        As the user chooses it.
    title
        What it is, in words.
    looks_like
        Whether an input that begins with these bytes is of this format.
    read
        Yields its captures.
    """

    name: str
    title: str
    looks_like: Callable[[bytes], bool]
    read: Callable[[ByteStream, Request], Iterator[Captures]]


_IN_ORDER = (
    Format(name="warc", title="WARC", looks_like=looks_like_warc, read=read_warc),
    Format(name="arc", title="ARC", looks_like=looks_like_arc, read=read_arc),
    Format(name="parquet", title="Parquet", looks_like=looks_like_parquet, read=read_parquet_rows),
    Format(name="cdxj", title="CDXJ", looks_like=looks_like_cdxj, read=read_cdxj),
    Format(name="cdx", title="CDX", looks_like=looks_like_cdx, read=read_cdx),
    Format(
        name="crawl-log",
        title="Heritrix crawl.log",
        looks_like=looks_like_crawl_log,
        read=read_crawl_log,
    ),
    Format(
        name="server-json",
        title="a CDX server's JSON",
        looks_like=looks_like_server_json,
        read=read_server_json,
    ),
    Format(
        name="jsonl", title="JSON Lines", looks_like=looks_like_json_lines, read=read_json_lines
    ),
    Format(name="csv", title="CSV or TSV", looks_like=looks_like_csv, read=read_csv_rows),
    Format(name="urls", title="URL list", looks_like=lambda _beginning: True, read=read_url_list),
)

FORMATS = {known.name: known for known in _IN_ORDER}
"""By name, in the order in which they are tried: the most certain marks come first."""

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_WITH_COLUMNS = ("parquet", "jsonl", "server-json", "csv")
"""Formats in which the user can say which column holds the URLs."""


def find_format(beginning: bytes, request: Request, source: str) -> Format:
    """Tell which format an input is of.

    Parameters
    ----------
    beginning
        Its first block, decompressed.
    request
        What the user says of it.
    source
        The input as the user named it.

    Raises
    ------
    SourceError
        If the input is UTF-16 text, or the user names a format that there is not, or a column
        where there are none.
    """
    if beginning.startswith(_UTF16_MARKS):
        raise SourceError(f"{source} is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)")
    if request.format is not None:
        if request.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise SourceError(f"unknown format {request.format!r}; known are: {known}")
        return FORMATS[request.format]
    found = next(known for known in _IN_ORDER if known.looks_like(beginning))
    if request.column is None or found.name in _WITH_COLUMNS:
        return found
    if found.name == "urls":
        # A file of cells is hard to tell from a list of URLs; that it has columns tells.
        return FORMATS["csv"]
    raise SourceError(
        f"{source} is {found.title}, whose fields are known; leave out --column, which is for "
        "CSV, TSV, JSON Lines and Parquet"
    )
