"""Damaged WARC files: refused with the place, or read as far as they can be read."""

import gzip
import io
import tracemalloc
from collections import Counter
from itertools import pairwise

import pytest

from crawlgauge.errors import DamagedInput
from crawlgauge.sources import byte_stream
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request
from crawlgauge.sources.warc import read_warc

BODY = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"<p>" * 50


def response(number, *, length=None, body=BODY, end=b"\r\n\r\n"):
    length = str(len(body)).encode() if length is None else length
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/%d\r\n"
        b"WARC-Date: 2021-12-03T04:05:06Z\r\nContent-Type: application/http\r\n"
        b"Content-Length: " % number
    ) + (length + b"\r\n\r\n" + body + end)


def read(data, *, keep_damaged=False):
    """Return the numbers of the captured URLs, and the damage that was got over."""
    found = []
    with ByteStream(
        "x.warc", open_file=lambda: io.BytesIO(data), keep_damaged=keep_damaged
    ) as stream:
        for batch in read_warc(stream, Request(fields=frozenset({"status"}))):
            assert set(batch.status.tolist()) <= {200}
            found += [int(url.rpartition(b"/")[2]) for url in batch.url.to_pylist()]
    return found, stream.damages


def test_damage_stops_the_reading_and_is_told_with_its_byte():
    data = response(1) + b"junk" + response(2)
    with pytest.raises(DamagedInput, match="no WARC record begins there") as caught:
        read(data)
    assert caught.value.damage.byte == len(response(1))
    assert caught.value.damage.file == "x.warc"


def test_in_a_compressed_file_the_byte_is_that_of_the_member():
    data = gzip.compress(response(1)) + gzip.compress(b"junk") + gzip.compress(response(2))
    with pytest.raises(
        DamagedInput, match=rf"begins there, at byte {len(response(1))} of the decompressed"
    ) as caught:
        read(data)
    assert caught.value.damage.byte == len(gzip.compress(response(1)))
    found, (damage,) = read(data, keep_damaged=True)
    assert found == [1, 2]
    assert f"between byte {len(response(1))} of the content and byte" in damage.lost


@pytest.mark.parametrize(
    ("bad", "kept", "reason"),
    [
        (response(2, length=b"190"), [1, 2, 3, 4], "no WARC record begins there"),
        (response(2, length=b"210"), [1, 2, 3, 4], "no WARC record begins there"),
        (response(2, length=b"500"), [1, 2, 3, 4], "no WARC record begins there"),
        (response(2, length=b"999999"), [1, 2, 3, 4], "ends inside the record that begins at"),
        (response(2, length=b"9" * 30), [1, 3, 4], "length of a record is missing or no number"),
        (response(2, length=b"-5"), [1, 3, 4], "length of a record is missing or no number"),
        (response(2, length=b"abc"), [1, 3, 4], "length of a record is missing or no number"),
        (response(2, length=b""), [1, 3, 4], "length of a record is missing or no number"),
        (response(2).replace(b"-Length", b"-Lenght"), [1, 3, 4], "is missing or no number"),
        (response(2)[:60], [1, 3, 4], "the header of one record runs into that of another"),
        (response(2)[:-80], [1, 2, 3, 4], "no WARC record begins there"),
        (b"x" * 100, [1, 3, 4], "no WARC record begins there"),
        (b"\0" * 5000, [1, 3, 4], "no WARC record begins there"),
        (b"WARC/1.0\r\nWARC-Type: " + b"x" * (2 << 20), [1, 3, 4], "does not end"),
    ],
    ids=lambda value: value[-60:].decode() if isinstance(value, bytes) else None,
)
def test_uncompressed_damage_is_refused_or_got_over(bad, kept, reason):
    data = response(1) + bad + response(3) + response(4)
    with pytest.raises(DamagedInput, match=reason):
        read(data)
    found, damages = read(data, keep_damaged=True)
    assert found == kept
    assert len(damages) == 1
    assert reason in damages[0].reason


@pytest.mark.parametrize("length", [b"190", b"210", b"500", b"99999", b"99999999999"])
def test_a_wrong_length_harms_no_other_record_where_each_is_compressed_by_itself(length):
    parts = [response(1), response(2, length=length), response(3), response(4)]
    found, (damage,) = read(b"".join(map(gzip.compress, parts)), keep_damaged=True)
    assert found == [1, 2, 3, 4]
    if length != b"190":
        assert "the next record begins there" in damage.reason


def test_a_length_that_is_too_large_is_noticed_at_the_next_member_far_away(monkeypatch):
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 50)
    long = response(2, body=BODY + bytes(range(256)) * 100, length=b"888888")
    parts = [response(1), long, response(3), response(4)]
    found, (damage,) = read(b"".join(map(gzip.compress, parts)), keep_damaged=True)
    assert found == [1, 2, 3, 4]
    assert f"byte {len(parts[0]) + len(long):,} of the decompressed content" in damage.reason
    assert damage.byte == sum(len(gzip.compress(part)) for part in parts[:2])


def test_a_header_that_its_member_cuts_loses_only_that_record():
    for cut in (20, 60, 150):
        parts = [response(1), response(2)[:cut], response(3)]
        data = b"".join(map(gzip.compress, parts))
        found, (damage,) = read(data, keep_damaged=True)
        assert found == [1, 3]
        assert damage.lost.startswith("the rest of the record")


def _kept_after_cut(cut, starts):
    """Which records of three can be read: those whose HTTP header ends before the cut."""
    ends = [start + len(response(1)) - 4 - len(BODY) + BODY.index(b"<p>") for start in starts]
    return [number for number, end in enumerate(ends, 1) if end <= cut]


def test_a_file_cut_anywhere_is_damaged_unless_it_is_cut_between_records():
    one = response(1)
    data = response(1) + response(2) + response(3)
    starts = [0, len(one), 2 * len(one)]
    whole = {end for start in (*starts, len(data)) for end in range(start - 4, start + 1)}
    for cut in range(12, len(data)):
        if cut in whole:
            assert read(data[:cut])[1] == []
            continue
        with pytest.raises(DamagedInput, match="the input ends inside the record") as caught:
            read(data[:cut])
        assert caught.value.damage.byte == cut
        found, (damage,) = read(data[:cut], keep_damaged=True)
        assert found == _kept_after_cut(cut, starts)
        assert damage.lost.startswith("the rest of the record that begins at byte ")


def test_a_compressed_file_cut_anywhere_is_damaged_unless_it_is_cut_between_members():
    members = [gzip.compress(response(number)) for number in (1, 2, 3)]
    data = b"".join(members)
    ends = [sum(map(len, members[:n])) for n in (1, 2, 3)]
    for cut in range(ends[0], len(data)):
        if cut in ends:
            assert len(read(data[:cut])[0]) == ends.index(cut) + 1
            continue
        with pytest.raises(DamagedInput, match="ends before its compressed stream does"):
            read(data[:cut])
        found, (damage,) = read(data[:cut], keep_damaged=True)
        assert damage.byte == cut
        n_whole = sum(end <= cut for end in ends)
        # Of the record that is cut, the header may still be read.
        assert found in ([1, 2, 3][:n_whole], [1, 2, 3][: n_whole + 1])


def test_after_a_broken_member_reading_goes_on_exactly_at_the_next():
    members = [gzip.compress(response(number)) for number in range(20)]
    for broken in (1, 7, 18):
        changed = list(members)
        middle = len(changed[broken]) // 2
        changed[broken] = changed[broken][:middle] + b"\xff" * 9 + changed[broken][middle + 9 :]
        found, damages = read(b"".join(changed), keep_damaged=True)
        assert set(range(20)) - {broken} <= set(found)
        assert damages
        assert Counter(found).most_common(1)[0][1] == 1


def test_a_beginning_that_is_lost_is_damage_and_not_another_format():
    data = response(1)[170:] + response(2)
    with pytest.raises(DamagedInput, match="no WARC record begins there") as caught:
        read(data)
    assert caught.value.damage.byte == 0
    assert read(data, keep_damaged=True)[0] == [2]


def test_each_of_several_damages_is_told(monkeypatch):
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", 100)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 64)
    parts = [response(k) if k % 3 else b"junk %d" % k + response(k, length=b"x") for k in range(30)]
    found, damages = read(b"".join(parts), keep_damaged=True)
    assert found == [k for k in range(30) if k % 3]
    places = [damage.byte for damage in damages]
    assert all(low < high for low, high in pairwise(places))


def test_a_body_that_shows_a_record_is_no_record():
    body = BODY + b"\r\n\r\n" + response(9)
    data = response(1, body=body) + response(2)
    assert read(data) == ([1, 2], [])
    members = [gzip.compress(data[k : k + 11]) for k in range(0, len(data), 11)]
    assert read(b"".join(members)) == ([1, 2], [])


def test_bodies_are_passed_over_in_bounded_memory():
    big = 64 << 20
    data = response(1, length=b"%d" % (len(BODY) + big), end=bytes(big) + b"\r\n\r\n") + response(2)
    read(response(1))
    tracemalloc.start()
    try:
        assert read(data) == ([1, 2], [])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20
