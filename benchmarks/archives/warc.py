"""A crawl as WARC file: a response a record, each a gzip member of its own."""

import datetime as dt
from pathlib import Path

from isal import igzip

from archives.captures import MIMES, STATUSES, Captures
from archives.names import Namer

__all__ = ["write_warc"]

LEVEL = 2
PARAGRAPH = "Wissenschaft und Lehre an unserer Einrichtung, Nummer {}: Termine, Texte, Menschen. "


def write_warc(path: Path, captures: Captures, namer: Namer, crawl: int, begin: dt.date) -> int:
    """Write the responses of a crawl; return their size when uncompressed."""
    start = dt.datetime.combine(begin, dt.time(), dt.UTC)
    urls = namer.urls(captures.numbers, crawl).to_pylist()
    rows = zip(
        captures.numbers.tolist(),
        urls,
        captures.seconds.tolist(),
        captures.status.tolist(),
        captures.mime.tolist(),
        strict=True,
    )
    size = 0
    with path.open("wb") as file:
        for number, url, seconds, status, mime in rows:
            time = start + dt.timedelta(seconds=seconds)
            record = _make_record(number, url, time, STATUSES[status], MIMES[mime])
            file.write(igzip.compress(record, LEVEL))
            size += len(record)
    return size


def _make_record(number: int, url: bytes, time: dt.datetime, status: str, mime: str) -> bytes:
    page = "".join(PARAGRAPH.format(number + line) for line in range(5 + number % 30)).encode()
    block = (
        f"HTTP/1.1 {status} Status\r\nContent-Type: {mime}\r\n"
        f"Content-Length: {len(page)}\r\nServer: nginx\r\n\r\n"
    ).encode() + page
    header = (
        "WARC/1.1\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012x}>\r\n"
        f"WARC-Target-URI: {url.decode()}\r\n"
        f"WARC-Date: {time:%Y-%m-%dT%H:%M:%SZ}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode()
    return header + block + b"\r\n\r\n"
