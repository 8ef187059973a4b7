"""Digests and texts that records lack are read from their bodies, however large or damaged."""

import base64
import gzip
import hashlib
import io
import random

import pytest

from crawlgauge.sources.arc import read_arc
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import NO_TEXT, NOT_HTML
from crawlgauge.sources.request import Request
from crawlgauge.sources.warc import read_warc

FIELDS = frozenset({"time", "status", "mime", "digest"})
ARC_FIELDS = b"1 0 A\nURL IP-address Archive-date Content-type Archive-length\n"
ARC_HEAD = b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain %d\n%b\n" % (
    len(ARC_FIELDS),
    ARC_FIELDS,
)


def sha1(data):
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    return b"sha1:" + base64.b32encode(digest)


def noise(n_bytes, seed=1):
    return random.Random(seed).randbytes(n_bytes)


def http(payload, kind=b"image/png"):
    return b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\n%b" % (kind, payload)


def warc(block, *, number=0, kind=b"response", more=b"", length=None):
    head = (
        b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: http://a.org/%d\r\n"
        b"WARC-Date: 2021-06-01T00:00:00Z\r\nContent-Type: application/http\r\n%b"
        b"Content-Length: %d\r\n\r\n"
    )
    size = len(block) if length is None else length
    return head % (kind, number, more, size) + block + b"\r\n\r\n"


def arc(block, number=0):
    line = b"http://a.org/%d 192.0.2.1 20080430204825 image/png %d\n"
    return line % (number, len(block)) + block + b"\n"


def read(data, reader=read_warc, *, reads_texts=False, keep_damaged=False):
    """Return URL, digest and text of each capture."""
    request = Request(fields=FIELDS, reads_bodies=True, reads_texts=reads_texts)
    rows = []
    with ByteStream(
        "a.warc", open_file=lambda: io.BytesIO(data), keep_damaged=keep_damaged
    ) as stream:
        for batch in reader(stream, request):
            texts = [None] * len(batch) if batch.text is None else batch.text.tolist()
            rows += zip(batch.url.to_pylist(), batch.digest.to_pylist(), texts, strict=True)
    return rows


SIZES = (0, 1, 100, 70_000, 3_000_000, 40_000_000, 5)
"""Some larger than what is at hand at once."""


@pytest.mark.parametrize("pack", [bytes, lambda data: gzip.compress(data, 1)])
def test_bodies_of_any_size_have_their_digests_in_warc(pack):
    payloads = [noise(size, seed) for seed, size in enumerate(SIZES)]
    data = b"".join(pack(warc(http(item), number=k)) for k, item in enumerate(payloads))
    expected = [(b"http://a.org/%d" % k, sha1(item)) for k, item in enumerate(payloads)]
    assert [row[:2] for row in read(data)] == expected


def test_bodies_of_any_size_have_their_digests_in_arc():
    payloads = [noise(size, seed) for seed, size in enumerate(SIZES)]
    data = ARC_HEAD + b"".join(arc(http(item), k) for k, item in enumerate(payloads))
    expected = [(b"http://a.org/%d" % k, sha1(item)) for k, item in enumerate(payloads)]
    assert [row[:2] for row in read(data, read_arc)] == expected


def test_many_records_without_digests_fit_into_batches():
    data = b"".join(warc(http(b"%d" % k), number=k) for k in range(20_000))
    found = read(data)
    assert [digest for _, digest, _ in found] == [sha1(b"%d" % k) for k in range(20_000)]


def test_a_digest_that_a_record_has_is_left_alone():
    given = warc(http(b"x"), more=b"WARC-Payload-Digest: md5:abc\r\n")
    assert read(given) == [(b"http://a.org/0", b"md5:abc", None)]


def test_a_revisit_has_the_digest_of_what_it_refers_to_or_none():
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    bare = warc(head, kind=b"revisit")
    full = warc(head, kind=b"revisit", more=b"WARC-Payload-Digest: sha1:ABC\r\n", number=1)
    assert [row[1] for row in read(bare + full)] == [None, b"sha1:ABC"]


@pytest.mark.parametrize("size", [1000, 40_000_000])
def test_a_body_that_is_cut_has_no_digest(size):
    whole, cut = warc(http(b"whole")), warc(http(noise(size)), number=1)
    found = read(whole + cut[: -size // 2], keep_damaged=True)
    assert [row[1] for row in found] == [sha1(b"whole"), None]


def test_a_record_that_runs_into_the_next_has_no_digest():
    members = [warc(http(b"short"), length=4000), warc(http(noise(9000)), number=1)]
    found = read(b"".join(map(gzip.compress, members)), keep_damaged=True)
    assert [row[1] for row in found] == [None, sha1(noise(9000))]


def test_texts_are_those_of_pages_and_the_rest_is_told_from_them():
    words = b"<p>A page with more than five words of text in it</p>"
    records = [
        warc(http(words, b"text/html; charset=utf-8")),
        warc(http(words + b"<footer>9 May 2021</footer>", b"text/html"), number=1),
        warc(http(words, b"text/plain"), number=2),
        warc(http(b"<p>few</p>", b"text/html"), number=3),
        warc(http(b"", b"text/html"), number=4, kind=b"revisit"),
        warc(http(words + b" " * 9_000_000, b"text/html"), number=5),
        warc(http(words, b"text/html"), number=6, more=b"WARC-Payload-Digest: sha1:A\r\n"),
        warc(http(words, b"image/png"), number=7, more=b"WARC-Payload-Digest: sha1:A\r\n"),
    ]
    texts = [row[2] for row in read(b"".join(records), reads_texts=True)]
    assert texts[0] > NOT_HTML
    assert texts == [
        texts[0],
        texts[0],
        NOT_HTML,
        NOT_HTML,
        NO_TEXT,
        NOT_HTML,
        texts[0],
        NOT_HTML,
    ]
