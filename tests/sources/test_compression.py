"""gzip as archives have it: many members, padding, and every kind of break."""

import gzip
import random
import re
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.sources import member_decompressor
from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.gzip_member import inflate_member

LINES = b"".join(b"http://example.org/%d\n" % number for number in range(50))


def inflate(chunks):
    feed = Feed(chunks)
    while feed.skip_zeros():
        yield from inflate_member(feed)


def pack(data, **options):
    return gzip.compress(data, mtime=0, **options)


def cut(data, n_bytes):
    return [data[place : place + n_bytes] for place in range(0, len(data), n_bytes)]


def read_before_break(chunks):
    read = []
    with pytest.raises(BrokenStream) as caught:
        read.extend(inflate(chunks))
    return b"".join(read), str(caught.value)


@given(
    members=st.lists(st.binary(max_size=300), min_size=1, max_size=5),
    n_padding=st.integers(0, 40),
    n_bytes=st.integers(1, 200),
)
@settings(deadline=None, derandomize=True)
def test_any_number_of_members_cut_anywhere_gives_their_contents(members, n_padding, n_bytes):
    packed = b"".join(pack(member) + b"\0" * n_padding for member in members)
    assert b"".join(inflate(cut(packed, n_bytes))) == b"".join(members)


def test_a_member_larger_than_one_output_comes_out_whole(monkeypatch):
    monkeypatch.setattr(member_decompressor, "_MAX_OUTPUT_BYTES", 1000)
    data = random.Random(1).randbytes(9_999) + b"\0" * 200_000
    pieces = list(inflate([pack(data)]))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= 1000


def test_other_compression_levels_and_header_fields_are_read():
    with_name = zlib.compressobj(9, wbits=31)
    stored = pack(LINES, compresslevel=0)
    assert b"".join(inflate([with_name.compress(LINES) + with_name.flush()])) == LINES
    assert b"".join(inflate([stored])) == LINES
    header = bytes([0x1F, 0x8B, 8, 4 | 8, 0, 0, 0, 0, 0, 3]) + b"\x04\0ab\0\0" + b"list.txt\0"
    assert b"".join(inflate([header + pack(LINES)[10:]])) == LINES


@pytest.mark.parametrize("n_before", [0, 1, 3])
def test_a_stream_cut_short_anywhere_is_broken(n_before):
    whole = pack(LINES)
    for n_left in range(1, len(whole)):
        data = whole * n_before + whole[:n_left]
        read, message = read_before_break([data])
        assert message == "the file ends before its compressed stream does"
        assert (LINES * (n_before + 1)).startswith(read)
        assert len(read) >= n_before * len(LINES)


def test_what_stands_before_the_cut_is_given_out():
    data = b"".join(b"%d\n" % random.Random(1).getrandbits(60) for _ in range(10_000))
    packed = pack(data)
    read, _ = read_before_break(cut(packed[: len(packed) // 2], 1000))
    assert len(read) > len(data) // 3
    assert data.startswith(read)


@pytest.mark.parametrize("place", [-8, -4], ids=["checksum", "length"])
def test_a_wrong_trailer_is_broken_and_what_was_decompressed_is_given_out(place):
    packed = bytearray(pack(LINES))
    packed[place] ^= 1
    read, message = read_before_break([bytes(packed)])
    assert "checksum" in message
    assert read == LINES


def test_a_break_in_the_middle_loses_nothing_that_stands_well_before_it():
    rng = random.Random(1)
    data = b"".join(b"http://example.org/%x\n" % rng.getrandbits(64) for _ in range(100_000))
    packed = bytearray(pack(data))
    place = len(packed) * 3 // 4
    packed[place : place + 8] = b"\xff" * 8
    read, _ = read_before_break(cut(bytes(packed), 1 << 17))
    n_same = next(k for k, (a, b) in enumerate(zip(read + b"!", data, strict=False)) if a != b)
    assert n_same > len(data) * 0.6


@pytest.mark.parametrize("garbage", [b"x", b"garbage", b"\x1f", b"\x1f\x8b", b"<html>" * 100])
def test_something_else_after_the_stream_is_broken(garbage):
    read, _ = read_before_break([pack(LINES) + garbage])
    assert read == LINES
    read, _ = read_before_break([pack(LINES), b"\0\0", garbage])
    assert read == LINES


def test_nothing_and_an_empty_member_are_empty():
    assert list(inflate([])) == []
    assert b"".join(inflate([pack(b"")])) == b""


@given(data=st.binary(max_size=400), n_bytes=st.integers(1, 50), place=st.integers(0, 399))
@settings(deadline=None, derandomize=True)
def test_a_feed_finds_a_pattern_wherever_chunks_are_cut(data, n_bytes, place):
    marked = data[:place] + b"MARK" + data[place:]
    feed = Feed(cut(marked, n_bytes))
    first = re.compile(b"MARK").search(marked, 1)
    assert feed.find(re.compile(b"MARK"), 4) == (first is not None)
    if first is not None:
        assert feed.place == first.start()
        assert feed.take(4) == b"MARK"
