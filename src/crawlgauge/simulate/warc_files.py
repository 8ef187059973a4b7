"""Simulated crawls as WARC 1.1: a gzip member for each record, with small HTML pages."""

import gzip
import uuid
from collections.abc import Iterator

import numpy as np

from crawlgauge._version import __version__
from crawlgauge.simulate.archive import SimulatedArchive
from crawlgauge.simulate.capture_times import order_captures
from crawlgauge.simulate.pages import digest_sha1, make_page

__all__ = ["to_warc"]

_RECORDS_PER_BLOCK = 1 << 10
_LEVEL = 6
_ADDRESS = "192.0.2.1"


def to_warc(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield a crawl's WARC file, compressed, in blocks of records in order of time.

    Parameters
    ----------
    archive
        Whose crawl to write.
    number
        Of the crawl, counted from 0.
    """
    label, truth = archive.crawls[number].label, archive.truth
    order = order_captures(archive, number)
    name = f"{label}.warc.gz"
    space = f"crawlgauge/{truth.scenario}/{truth.seed}/{label}"
    info_id = _make_id(f"{space}/warcinfo")
    times = np.datetime_as_string(order.times, unit="s").tolist()
    yield _info_record(info_id, name, f"{times[0]}Z", truth.scenario)
    for start in range(0, order.numbers.size, _RECORDS_PER_BLOCK):
        block = slice(start, start + _RECORDS_PER_BLOCK)
        urls = archive.name_urls(order.numbers[block])
        yield b"".join(
            _response_record(url, f"{time}Z", _make_id(f"{space}/{url}"), info_id)
            for url, time in zip(urls, times[block], strict=True)
        )


def _info_record(record_id: str, file_name: str, time: str, scenario: str) -> bytes:
    block = (
        f"software: crawlgauge {__version__}\r\n"
        f"description: simulated crawl, scenario {scenario}\r\n"
        "format: WARC File Format 1.1\r\n"
        "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/\r\n"
    ).encode()
    fields = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", record_id),
        ("WARC-Date", time),
        ("WARC-Filename", file_name),
        ("Content-Type", "application/warc-fields"),
    ]
    return _record(fields, block)


def _response_record(url: str, time: str, record_id: str, info_id: str) -> bytes:
    page = make_page(url)
    head = (
        "HTTP/1.1 200 OK\r\n"
        "Content-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(page)}\r\n"
        "Connection: close\r\n\r\n"
    ).encode()
    fields = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", record_id),
        ("WARC-Warcinfo-ID", info_id),
        ("WARC-Date", time),
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", _ADDRESS),
        ("WARC-Payload-Digest", f"sha1:{digest_sha1(page)}"),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    return _record(fields, head + page)


def _record(fields: list[tuple[str, str]], block: bytes) -> bytes:
    fields = [
        *fields,
        ("WARC-Block-Digest", f"sha1:{digest_sha1(block)}"),
        ("Content-Length", str(len(block))),
    ]
    head = "".join(["WARC/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in fields), "\r\n"])
    # A fixed time keeps the files of one seed equal to the byte.
    return gzip.compress(
        b"".join([head.encode(), block, b"\r\n\r\n"]), compresslevel=_LEVEL, mtime=0
    )


def _make_id(name: str) -> str:
    """Return a record's identifier, which is the same for the same archive and URL."""
    return f"<{uuid.uuid5(uuid.NAMESPACE_URL, name).urn}>"
