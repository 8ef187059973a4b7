"""Captures as files of each format that archives keep, gzip unless the format packs itself."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import polars as pl
from isal import igzip

SUFFIXES = {
    "cdxj": ".cdxj.gz",
    "cdx": ".cdx.gz",
    "csv": ".csv.gz",
    "jsonl": ".jsonl.gz",
    "server-json": ".json.gz",
    "crawl-log": ".log.gz",
    "parquet": ".parquet",
    "warc": ".warc.gz",
    "wacz": ".wacz",
    "urls": ".txt.gz",
    "sets": ".parquet",
}

GZIP_LEVEL = 2
"""igzip's own scale; its files are about a tenth larger than those of ``gzip -6``."""
LINES_AT_A_TIME = 1 << 16

KEY, URL, STATUS, MIME, DIGEST, LENGTH, OFFSET = (
    pl.col(name) for name in ("key", "url", "status", "mime", "digest", "length", "offset")
)
DIGITS = pl.col("time").dt.strftime("%Y%m%d%H%M%S")
ISO = pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
FILE = ("ARCHIVE-20210612081502-000", pl.col("file"), "-crawler03.example.org.warc.gz")
# fmt: off
LINES: dict[str, tuple[str | pl.Expr, ...]] = {
    "cdxj": (
        KEY, " ", DIGITS, ' {"url": "', URL, '", "mime": "', MIME, '", "status": "', STATUS,
        '", "digest": "sha1:', DIGEST, '", "length": "', LENGTH, '", "offset": "', OFFSET,
        '", "filename": "', *FILE, '"}\n',
    ),
    "cdx": (
        KEY, " ", DIGITS, " ", URL, " ", MIME, " ", STATUS, " ", DIGEST, " - - ", LENGTH, " ",
        OFFSET, " ", *FILE, "\n",
    ),
    "csv": (URL, ",", ISO, ",", STATUS, ",", MIME, ",", DIGEST, "\n"),
    "jsonl": (
        '{"url": "', URL, '", "timestamp": "', ISO, '", "status": ', STATUS, ', "mime": "', MIME,
        '", "digest": "', DIGEST, '"}\n',
    ),
    "server-json": (
        ',\n["', KEY, '", "', DIGITS, '", "', URL, '", "', MIME, '", "', STATUS, '", "', DIGEST,
        '", "', LENGTH, '"]',
    ),
    "crawl-log": (
        ISO, "   ", STATUS, "      ", LENGTH, " ", URL, " LLE ", URL, " ", MIME, " #0",
        pl.col("file"), " ", DIGITS, "000+123 sha1:", DIGEST, " - -\n",
    ),
}
# fmt: on
BEFORE = {
    "cdx": b" CDX N b a m s k r M S V g\n",
    "csv": b"url,timestamp,status,mime,digest\n",
    "server-json": b'[["urlkey","timestamp","original","mimetype","statuscode","digest","length"]',
}
AFTER = {"server-json": b"]\n"}
PARAGRAPH = "Wissenschaft und Lehre an unserer Einrichtung, Nummer {}: Termine, Texte, Menschen. "


def write_captures(path: Path, kind: str, captures: pl.DataFrame) -> int:
    """Write captures to a file of a format; return its size when uncompressed."""
    if kind == "parquet":
        return write_parquet(path, captures)
    if kind == "wacz":
        return write_wacz(path, captures)
    if kind == "warc":
        return write_warc(path, captures)
    with open_gzip(path) as file:
        return sum(map(file.write, to_lines(kind, captures)))


def open_gzip(path: Path) -> IO[bytes]:
    """Open a file that is to be one gzip member."""
    return igzip.open(path, "wb", compresslevel=GZIP_LEVEL)


def to_lines(kind: str, captures: pl.DataFrame) -> Iterator[bytes]:
    """Yield the text of a format in blocks."""
    line = pl.concat_str([pl.lit(part) if isinstance(part, str) else part for part in LINES[kind]])
    yield BEFORE.get(kind, b"")
    for part in captures.iter_slices(LINES_AT_A_TIME):
        yield part.select(line.str.join("")).item().encode()
    yield AFTER.get(kind, b"")


def write_parquet(path: Path, captures: pl.DataFrame) -> int:
    """Write an index with the columns of Common Crawl's, and compressed as these are."""
    columns = captures.select(
        url_surtkey=KEY,
        url=URL,
        fetch_time=pl.col("time").dt.cast_time_unit("ms").dt.replace_time_zone("UTC"),
        fetch_status=STATUS.cast(pl.Int16),
        content_mime_type=MIME,
        warc_record_offset=OFFSET.cast(pl.Int32),
        warc_record_length=LENGTH.cast(pl.Int32),
    )
    columns.write_parquet(path, compression="gzip", compression_level=4, row_group_size=1 << 18)
    return int(columns.estimated_size())


def write_warc(path: Path, captures: pl.DataFrame) -> int:
    """Write a response for each capture, each a gzip member of its own."""
    size = 0
    with path.open("wb") as file:
        for record in to_records(captures):
            file.write(igzip.compress(record, GZIP_LEVEL))
            size += len(record)
    return size


def to_records(captures: pl.DataFrame) -> Iterator[bytes]:
    """Yield the records of a WARC file."""
    rows = captures.select("number", "url", ISO, "status", "mime").iter_rows()
    for number, url, time, status, mime in rows:
        lines = "".join(PARAGRAPH.format(number + line) for line in range(5 + number % 30))
        body = (
            f"HTTP/1.1 {status} Status\r\nContent-Type: {mime}\r\n"
            f"Content-Length: {len(lines)}\r\nServer: nginx\r\n\r\n{lines}"
        )
        yield (
            "WARC/1.1\r\nWARC-Type: response\r\n"
            f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012x}>\r\n"
            f"WARC-Target-URI: {url}\r\nWARC-Date: {time}\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}\r\n\r\n"
        ).encode()


def write_wacz(path: Path, captures: pl.DataFrame) -> int:
    """Write a package of one WARC file, as the tools of Webrecorder do."""
    name = "archive/data.warc.gz"
    warc = path.with_suffix(".partial")
    size = write_warc(warc, captures)
    with warc.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    resource = {"path": name, "bytes": warc.stat().st_size, "hash": f"sha256:{digest}"}
    package = {"profile": "data-package", "wacz_version": "1.1.1", "resources": [resource]}
    with zipfile.ZipFile(path, "w") as package_file:
        package_file.write(warc, name)
        package_file.writestr("datapackage.json", json.dumps(package))
    warc.unlink()
    return size
