"""The payload of a record: what follows the HTTP header, without its transfer coding."""

import base64
import gzip
import hashlib
import itertools
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.sources.dechunking import Dechunker
from crawlgauge.sources.payloads import Payload

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def sha1(data):
    return b"sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest())


def chunk(data, sizes):
    """Return data in chunks of the given sizes, one after the other and again."""
    parts, place = [], 0
    for size in itertools.cycle(sizes):
        if place >= len(data):
            break
        part = data[place : place + size]
        parts.append(b"%x\r\n%b\r\n" % (len(part), part))
        place += size
    return b"".join(parts) + b"0\r\n\r\n"


def read(body, *, is_http=True, pieces=None, max_kept=0):
    payload = Payload(is_http=is_http, max_kept=max_kept)
    for start in range(0, len(body), pieces or max(1, len(body))):
        payload.feed(body[start : start + (pieces or len(body))])
    return payload


@pytest.mark.parametrize("pieces", [1, 7, None])
def test_the_digest_is_of_what_follows_the_header(pieces):
    assert read(HEAD + b"\r\nhello", pieces=pieces).digest() == sha1(b"hello")


def test_a_record_that_is_no_http_message_is_all_payload():
    assert read(HEAD + b"\r\nhello", is_http=False).digest() == sha1(HEAD + b"\r\nhello")


def test_the_content_coding_belongs_to_the_payload():
    packed = gzip.compress(b"hello", mtime=0)
    header = HEAD + b"Content-Encoding: gzip\r\n\r\n"
    assert read(header + packed).digest() == sha1(packed)


@given(
    st.binary(max_size=200),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(1, 50),
)
def test_the_transfer_coding_does_not_matter_however_the_body_is_cut(data, sizes, pieces):
    payload = read(CHUNKED + chunk(data, sizes), pieces=pieces, max_kept=1000)
    assert payload.digest() == sha1(data)
    assert payload.content() == data


@pytest.mark.parametrize("pieces", [1, 5, None])
@pytest.mark.parametrize("body", [b"<html>not chunked at all</html>", b"5\r\nhello\r\nzz\r\n"])
def test_what_says_to_be_chunked_and_is_not_is_taken_as_recorded(body, pieces):
    assert read(CHUNKED + body, pieces=pieces).digest() == sha1(body)


def test_a_chunked_body_that_ends_early_counts_as_far_as_it_goes():
    assert read(CHUNKED + b"5\r\nhello\r\n9\r\nwor").digest() == sha1(b"hellowor")


def test_extensions_and_trailers_of_chunks_are_no_payload():
    body = b"5;name=value\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"
    assert read(CHUNKED + body).digest() == sha1(b"hello")


def test_an_http_header_that_does_not_end_leaves_no_payload():
    assert not read(HEAD + b"X: " + b"y" * 70_000).is_found
    assert read(HEAD + b"\r\n").is_found


def test_a_payload_that_is_too_long_is_not_kept_but_has_its_digest():
    payload = read(HEAD + b"\r\n" + b"x" * 100, max_kept=99)
    assert payload.content() is None
    assert payload.digest() == sha1(b"x" * 100)


def test_a_line_that_never_ends_is_no_size_of_a_chunk():
    dechunker = Dechunker()
    for _ in range(6):
        assert dechunker.feed(b"1" * 1000) == []
    assert not dechunker.is_chunked
    assert dechunker.feed(b"\r\n") == []


def test_a_message_whose_header_does_not_end_is_not_kept_in_memory():
    payload = Payload(is_http=True)
    tracemalloc.start()
    for _ in range(64):
        payload.feed(b"x" * (1 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not payload.is_found
    assert peak < 1 << 23
