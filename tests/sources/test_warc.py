"""WARC files as crawlers write them: what counts as a capture, and what is told of it."""

import bz2
import datetime as dt
import gzip
import io
import lzma
from collections import Counter

import pytest
import zstandard

from crawlgauge.errors import SourceError
from crawlgauge.sources import byte_stream
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request
from crawlgauge.sources.warc import looks_like_warc, read_warc

FIELDS = frozenset({"key", "time", "status", "mime", "digest"})
PAGE = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html>"


def record(kind, *fields, body=b"", version=b"1.0", end=b"\r\n"):
    """Make a record; fields are header lines."""
    lines = [b"WARC/" + version, b"WARC-Type: " + kind, *fields, b"Content-Length: %d" % len(body)]
    return end.join(lines) + 2 * end + body + 2 * end


def response(url=b"http://a.org/", *fields, body=PAGE, kind=b"response"):
    named = b"WARC-Target-URI: " + url, b"WARC-Date: 2021-12-03T04:05:06Z"
    return record(kind, *named, b"Content-Type: application/http; msgtype=x", *fields, body=body)


def read(data, *, group=None, name="folder/x.warc"):
    """Return the captures as rows, and the counts and examples of what was left out."""
    request = Request(fields=FIELDS, group=group)
    rows, rejected, excluded, examples = [], Counter(), Counter(), []
    with ByteStream(name, open_file=lambda: io.BytesIO(data)) as stream:
        for batch in read_warc(stream, request):
            columns = {key: column.to_pylist() for key, column in batch.columns().items()}
            rows += [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
            rejected.update(batch.rejected)
            excluded.update(batch.excluded)
            examples += batch.examples
    return rows, rejected, excluded, examples


def urls(data):
    return [row["url"] for row in read(data)[0]]


def test_a_response_gives_all_that_record_and_http_header_say():
    data = response(b"http://a.org/x y", b"WARC-Payload-Digest: sha1:ABC")
    (row,), rejected, excluded, _ = read(data)
    assert row == {
        "url": b"http://a.org/x y",
        "key": None,
        "time": dt.datetime(2021, 12, 3, 4, 5, 6),  # noqa: DTZ001
        "status": 200,
        "revisit": False,
        "mime": b"text/html",
        "digest": b"sha1:ABC",
    }
    assert not rejected
    assert not excluded


def test_records_that_are_no_captures_are_excluded_by_their_type():
    kinds = [b"request", b"metadata", b"warcinfo", b"conversion", b"continuation", b"screenshot"]
    data = b"".join([response(), *(response(kind=kind) for kind in kinds), response()])
    rows, rejected, excluded, _ = read(data)
    assert len(rows) == 2
    assert excluded == {
        "request": 1,
        "metadata": 1,
        "warcinfo": 1,
        "conversion": 1,
        "continuation": 1,
        "unknown-type": 1,
    }
    assert not rejected


def test_a_file_with_nothing_but_warcinfo_has_no_captures():
    rows, _, excluded, _ = read(record(b"warcinfo", body=b"software: x\r\n"))
    assert rows == []
    assert excluded == {"warcinfo": 1}


def test_revisits_are_marked_and_keep_their_own_status():
    body = b"HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n\r\n"
    data = response(kind=b"revisit", body=body) + response(kind=b"revisit", body=b"")
    rows = read(data)[0]
    assert [row["revisit"] for row in rows] == [True, True]
    assert [row["status"] for row in rows] == [304, None]
    assert [row["mime"] for row in rows] == [b"warc/revisit"] * 2


def test_a_resource_has_the_media_type_of_its_record_and_no_status():
    named = b"WARC-Target-URI: http://a.org/x", b"Content-Type: image/png;q=1"
    (row,) = read(record(b"resource", *named, body=b"HTTP/1.1 404 Gone\r\n\r\n"))[0]
    assert (row["status"], row["mime"], row["time"]) == (None, b"image/png", None)


@pytest.mark.parametrize(
    ("body", "status", "mime"),
    [
        (b"HTTP/1.0 302 \r\nContent-type:\ttext/x ; a=b\r\n\r\n", 302, b"text/x"),
        (b"HTTP/1.1 404\n\n", 404, b"text/guessed"),
        (b"HTTP/2 200 OK\r\nA: b\r\n\r\nContent-Type: text/x\r\n", 200, b"text/guessed"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: ; a=b\r\n\r\n", 200, None),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Type: text/y\r\n\r\n",
            200,
            b"text/x",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/x\r\n\r\n", 200, b"text/x"),
        (b"HTTP/1.1 2000 OK\r\nContent-Type: text/x\r\n\r\n", None, b"text/guessed"),
        (b"HTTPX/1.1 200 OK\r\nContent-Type: text/x\r\n\r\n", None, b"text/guessed"),
        (b"HTTP/1.1200 OK\r\n\r\n", None, b"text/guessed"),
        (b"HTTP/1.1 ", None, b"text/guessed"),
        (b"", None, b"text/guessed"),
        (b"<html>" * 20, None, b"text/guessed"),
    ],
)
def test_status_and_media_type_are_those_of_the_http_message(body, status, mime):
    (row,) = read(
        response(b"http://a.org/", b"WARC-Identified-Payload-Type: text/guessed", body=body)
    )[0]
    assert (row["status"], row["mime"]) == (status, mime)


def test_an_http_header_is_not_searched_without_end():
    far = b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"y" * 70_000) + b"Content-Type: a/b\r\n\r\n"
    near = b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"y" * 60_000) + b"Content-Type: a/b\r\n\r\n"
    rows = read(response(body=far) + response(body=near))[0]
    assert [(row["status"], row["mime"]) for row in rows] == [(200, None), (200, b"a/b")]


def test_angle_brackets_around_a_target_are_no_part_of_it():
    assert urls(response(b"<http://a.org/>") + response(b"http://a.org/<b>")) == [
        b"http://a.org/",
        b"http://a.org/<b>",
    ]


def test_targets_that_are_no_pages_are_excluded_or_rejected_with_their_place():
    first = response(b"dns:a.org")
    data = b"".join(
        [
            first,
            response(b"metadata://gnu.org/software/wget/warc/wget.log"),
            response(b"<METADATA://gnu.org/>"),
            response(b"urn:X-wpull:log"),
            response(b"file:///tmp/x"),
            response(b"http:///tmp/x"),
            response(b""),
            record(b"resource", b"WARC-Date: 2021-12-03T04:05:06Z"),
            record(b"Request", body=b"x").replace(b"WARC-Type", b"WARC-Kind"),
            response(b"http://metadata.org/"),
        ]
    )
    rows, rejected, excluded, examples = read(data)
    assert [row["url"] for row in rows] == [b"http://metadata.org/"]
    assert excluded == {"other-scheme": 5}
    assert rejected == {"no-host": 1, "no-url": 2, "no-type": 1}
    assert [example.reason for example in examples] == ["no-host", "no-url", "no-url", "no-type"]
    assert examples[0].text == "http:///tmp/x"
    assert examples[3].text.startswith("WARC/1.0")
    for example in examples:
        assert data[example.offset :].startswith(b"WARC/1.0\r\nWARC-")
    assert data[: examples[0].offset].count(b"WARC/1.0") == 5


@pytest.mark.parametrize("version", [b"0.17", b"0.18", b"1.0", b"1.1"])
@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r\r\n"])
def test_versions_and_line_ends_differ_without_harm(version, end):
    named = b"warc-target-uri : http://a.org/", b"WARC-DATE:2021-12-03T04:05:06.123456Z"
    one = record(b"Response", *named, body=PAGE, version=version, end=end)
    rows, _, excluded, _ = read(one + record(b"warcinfo", version=version, end=end) + one)
    assert [row["url"] for row in rows] == [b"http://a.org/"] * 2
    assert {row["time"].isoformat() for row in rows} == {"2021-12-03T04:05:06"}
    assert excluded == {"warcinfo": 1}


def test_a_field_may_go_on_in_the_next_line():
    data = record(
        b"response",
        b"WARC-Target-URI:",
        b"\t http://a.org/b",
        b" \t c",
        b"X-Note: one",
        b" WARC-Target-URI: http://b.org/",
        b"WARC-Target-URI: http://c.org/",
        body=PAGE,
    )
    assert urls(data) == [b"http://a.org/b c"]


@pytest.mark.parametrize(
    "joined",
    [b"", b"\r\n", b"\n\n\n", b"\r\n\r\n\r\n\r\n"],
    ids=["none", "one", "bare newlines", "many"],
)
def test_more_or_fewer_blank_lines_between_records_are_harmless(joined):
    one = response().rstrip(b"\r\n")
    assert len(urls(joined.join([one, one, one]))) == 3


@pytest.mark.parametrize("block_bytes", [1, 700, 1 << 20])
@pytest.mark.parametrize(
    "compress",
    [
        lambda records: b"".join(map(gzip.compress, records)),
        lambda records: gzip.compress(b"".join(records)),
        b"".join,
        lambda records: b"".join(map(zstandard.ZstdCompressor().compress, records)),
        lambda records: bz2.compress(b"".join(records)),
        lambda records: lzma.compress(b"".join(records)),
        lambda records: b"".join(
            gzip.compress(b"".join(records)[k : k + 333])
            for k in range(0, sum(map(len, records)), 333)
        ),
    ],
    ids=["gzip by record", "gzip", "plain", "zstd by record", "bzip2", "xz", "gzip anywhere"],
)
def test_every_compression_and_block_size_gives_the_same(monkeypatch, compress, block_bytes):
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 97)
    sizes = [0, 10, 1000, 5000, 100]
    records = [record(b"warcinfo", body=b"a: b")]
    records += [response(b"http://a.org/%d" % size, body=PAGE + b"x" * size) for size in sizes]
    rows, _, excluded, _ = read(compress(records))
    assert [row["url"] for row in rows] == [b"http://a.org/%d" % size for size in sizes]
    assert {row["status"] for row in rows} == {200}
    assert excluded == {"warcinfo": 1}


def test_many_records_come_in_several_batches_and_none_is_lost():
    wanted = [b"http://a.org/%d" % number for number in range(20_000)]
    assert urls(b"".join(map(response, wanted))) == wanted


def test_captures_are_grouped_by_file_name_or_by_any_header_field():
    data = response(b"http://a.org/", b"X-Crawl: one") + response(b"http://b.org/")
    assert [row["group"] for row in read(data, group="filename")[0]] == [b"x.warc"] * 2
    assert [row["group"] for row in read(data, group="x-crawl")[0]] == [b"one", None]
    times = [row["group"] for row in read(data, group="WARC-Date")[0]]
    assert times == [b"2021-12-03T04:05:06Z"] * 2


def test_grouping_by_a_field_that_no_capture_has_is_refused_naming_those_that_there_are():
    with pytest.raises(SourceError, match=r"'crawl'.*Content-Type.*WARC-Date, WARC-Target-URI"):
        read(response(), group="crawl")
    assert read(record(b"warcinfo"), group="crawl")[0] == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no WARC file: it is empty"),
        (b"http://a.org/\n", "is no WARC file: it begins with 'http://a.org/"),
        (b"WARC/0.9 1234 response http://a.org/ 20060101000000 x\r\n\r\n", "before 0.18"),
    ],
)
def test_what_is_no_warc_is_refused(data, message):
    with pytest.raises(SourceError, match=message):
        read(data)


def test_wat_and_wet_files_are_refused_with_advice():
    start = record(b"warcinfo", body=b"Software-Info: ia-web-commons\r\n") * 2
    named = (b"WARC-Target-URI: http://a.org/",)
    wet = record(b"conversion", *named, b"Content-Type: text/plain", body=b"Some text")
    wat = record(
        b"metadata",
        *named,
        b"Content-Type: application/json",
        body=b'{"Container":{},"Envelope":{}}',
    )
    with pytest.raises(SourceError, match=r"is a WET file.*WARC files themselves.*index"):
        read(start + wet)
    with pytest.raises(SourceError, match=r"is a WAT file.*WARC files themselves.*index"):
        read(gzip.compress(start) + gzip.compress(wat))
    other = record(b"metadata", *named, b"Content-Type: application/json", body=b'{"a": 1}')
    assert len(urls(start + other + response() + wet)) == 1


def test_warc_is_told_from_other_formats_by_its_first_bytes():
    assert looks_like_warc(response())
    assert looks_like_warc(b"\r\nWARC/0.18\n")
    for other in (
        b"",
        b"WARC",
        b"WARC/x",
        b"WARC-Type: x",
        b"filedesc://x",
        b" CDX N b a",
        b"http:",
    ):
        assert not looks_like_warc(other)
