"""Damaged WARC files: refused with the place, or read as far as they can be read, in short time."""

import gzip
import tracemalloc
from collections import Counter
from itertools import pairwise

import pytest
from linear_time import check_linear_time
from readings import CONTENT, read_bytes
from test_warc import PAGE, digests, http_message, noise, response, sha1

from crawlgauge.errors import DamagedInput
from crawlgauge.sources.warc import read_warc

BODY = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"<p>" * 50


def numbered(number, *, length=None, body=BODY, end=b"\r\n\r\n"):
    length = str(len(body)).encode() if length is None else length
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/%d\r\n"
        b"WARC-Date: 2021-12-03T04:05:06Z\r\nContent-Type: application/http\r\n"
        b"Content-Length: " % number
    ) + (length + b"\r\n\r\n" + body + end)


def read(data, **wishes):
    """Return the numbers of the captured URLs, and the damage that was got over."""
    found = read_bytes(read_warc, data, name="x.warc", **wishes)
    assert set(found.column("status")) <= {200}
    return [int(url.rpartition(b"/")[2]) for url in found.column("url")], found.damages


def test_damage_stops_the_reading_and_is_told_with_its_byte():
    data = numbered(1) + b"junk" + numbered(2)
    with pytest.raises(DamagedInput, match="no WARC record begins there") as caught:
        read(data)
    assert caught.value.damage.byte == len(numbered(1))
    assert caught.value.damage.file == "x.warc"


def test_in_a_compressed_file_the_byte_is_that_of_the_member():
    data = gzip.compress(numbered(1)) + gzip.compress(b"junk") + gzip.compress(numbered(2))
    with pytest.raises(
        DamagedInput, match=rf"begins there, at byte {len(numbered(1))} of the decompressed"
    ) as caught:
        read(data)
    assert caught.value.damage.byte == len(gzip.compress(numbered(1)))
    found, (damage,) = read(data, keep=True)
    assert found == [1, 2]
    first = len(numbered(1))
    ends = f"byte {first} of the content and byte {first + 4} of the content"
    assert damage.lost == f"what stands between {ends}"


@pytest.mark.parametrize("block_bytes", [40, 1 << 20])
@pytest.mark.parametrize(
    ("bad", "kept", "reason"),
    [
        (numbered(2, length=b"190"), [1, 2, 3, 4], "no WARC record begins there"),
        (numbered(2, length=b"210"), [1, 2, 3, 4], "no WARC record begins there"),
        (numbered(2, length=b"500"), [1, 2, 3, 4], "no WARC record begins there"),
        (numbered(2, length=b"999999"), [1, 2, 3, 4], "ends inside the record that begins at"),
        (numbered(2, length=b"9" * 30), [1, 3, 4], "length of a record is missing or no number"),
        (numbered(2, length=b"-5"), [1, 3, 4], "length of a record is missing or no number"),
        (numbered(2, length=b"abc"), [1, 3, 4], "length of a record is missing or no number"),
        (numbered(2, length=b""), [1, 3, 4], "length of a record is missing or no number"),
        (numbered(2).replace(b"-Length", b"-Lenght"), [1, 3, 4], "is missing or no number"),
        (numbered(2)[:60], [1, 3, 4], "the header of one record runs into that of another"),
        (numbered(2)[:-80], [1, 2, 3, 4], "no WARC record begins there"),
        (b"x" * 100, [1, 3, 4], "no WARC record begins there"),
        (b"\0" * 5000, [1, 3, 4], "no WARC record begins there"),
        (b"WARC/1.0\r\nWARC-Type: " + b"x" * (2 << 20), [1, 3, 4], "does not end"),
    ],
    ids=lambda value: value[-60:].decode() if isinstance(value, bytes) else None,
)
def test_uncompressed_damage_is_refused_or_got_over(bad, kept, reason, block_bytes):
    if len(bad) > 1 << 20:
        block_bytes = max(block_bytes, 1 << 17)
    data = numbered(1) + bad + numbered(3) + numbered(4)
    with pytest.raises(DamagedInput, match=reason):
        read(data, block_bytes=block_bytes)
    found, damages = read(data, keep=True, block_bytes=block_bytes)
    assert found == kept
    assert len(damages) == 1
    assert reason in damages[0].reason


@pytest.mark.parametrize("length", [b"190", b"210", b"500", b"99999", b"99999999999"])
def test_a_wrong_length_harms_no_other_record_where_each_is_compressed_by_itself(length):
    parts = [numbered(1), numbered(2, length=length), numbered(3), numbered(4)]
    found, (damage,) = read(b"".join(map(gzip.compress, parts)), keep=True)
    assert found == [1, 2, 3, 4]
    if length != b"190":
        assert "the next record begins there" in damage.reason


def test_a_length_that_is_too_large_is_noticed_at_the_next_member_far_away():
    long = numbered(2, body=BODY + bytes(range(256)) * 100, length=b"888888")
    parts = [numbered(1), long, numbered(3), numbered(4)]
    data = b"".join(map(gzip.compress, parts))
    found, (damage,) = read(data, keep=True, block_bytes=50)
    assert found == [1, 2, 3, 4]
    assert f"byte {len(parts[0]) + len(long):,} of the decompressed content" in damage.reason
    assert damage.byte == sum(len(gzip.compress(part)) for part in parts[:2])


@pytest.mark.parametrize("block_bytes", [1 << 12, 1 << 30])
def test_a_wrong_length_hides_no_record_within_a_megabyte(block_bytes):
    hidden = [numbered(k) for k in range(3000)]
    data = numbered(9999, length=b"%d" % (10 + sum(map(len, hidden[:2000])))) + b"".join(hidden)
    found, (damage,) = read(data, keep=True, block_bytes=block_bytes)
    assert found == [9999, *range(3000)]
    assert damage.lost == "the rest of the record that begins at byte 0"


def test_beyond_a_megabyte_it_says_that_records_may_be_hidden():
    hidden = [numbered(k) for k in range(6000)]
    n_bytes = sum(map(len, hidden[:5000]))
    data = numbered(9999, length=b"%d" % n_bytes) + b"".join(hidden)
    found, (damage,) = read(data, keep=True)
    assert found[0] == 9999
    assert found[1:] == list(range(6000 - len(found) + 1, 6000))
    assert sum(map(len, hidden[6000 - len(found) : 5000])) > 1 << 20
    assert damage.lost.endswith("and any records before it that a wrong length has hidden")


def test_a_header_that_its_member_cuts_loses_only_that_record():
    for cut in (20, 60, 150):
        parts = [numbered(1), numbered(2)[:cut], numbered(3)]
        found, (damage,) = read(b"".join(map(gzip.compress, parts)), keep=True)
        assert found == [1, 3]
        assert damage.lost.startswith("the rest of the record")


def test_a_file_cut_anywhere_is_damaged_unless_it_is_cut_between_records():
    one = numbered(1)
    data = numbered(1) + numbered(2) + numbered(3)
    starts = [0, len(one), 2 * len(one)]
    whole = {end for start in (*starts, len(data)) for end in range(start - 4, start + 1)}
    # Those records can be read whose HTTP header ends before the cut.
    ends = [start + len(one) - 4 - len(BODY) + BODY.index(b"<p>") for start in starts]
    for cut in range(12, len(data)):
        if cut in whole:
            assert read(data[:cut])[1] == []
            continue
        with pytest.raises(DamagedInput, match="the input ends inside the record") as caught:
            read(data[:cut])
        assert caught.value.damage.byte == cut
        found, (damage,) = read(data[:cut], keep=True)
        assert found == [number for number, end in enumerate(ends, 1) if end <= cut]
        assert damage.lost.startswith("the rest of the record that begins at byte ")


def test_a_compressed_file_cut_anywhere_is_damaged_unless_it_is_cut_between_members():
    members = [gzip.compress(numbered(number)) for number in (1, 2, 3)]
    data = b"".join(members)
    ends = [sum(map(len, members[:n])) for n in (1, 2, 3)]
    for cut in range(ends[0], len(data)):
        if cut in ends:
            assert len(read(data[:cut])[0]) == ends.index(cut) + 1
            continue
        with pytest.raises(DamagedInput, match="ends before its compressed stream does"):
            read(data[:cut])
        found, (damage,) = read(data[:cut], keep=True)
        assert damage.byte == cut
        n_whole = sum(end <= cut for end in ends)
        # Of the record that is cut, the header may still be read.
        assert found in ([1, 2, 3][:n_whole], [1, 2, 3][: n_whole + 1])


def test_after_a_broken_member_reading_goes_on_exactly_at_the_next():
    members = [gzip.compress(numbered(number)) for number in range(20)]
    for broken in (1, 7, 18):
        changed = list(members)
        middle = len(changed[broken]) // 2
        changed[broken] = changed[broken][:middle] + b"\xff" * 9 + changed[broken][middle + 9 :]
        found, damages = read(b"".join(changed), keep=True)
        assert set(range(20)) - {broken} <= set(found)
        assert damages
        assert Counter(found).most_common(1)[0][1] == 1


def test_a_beginning_that_is_lost_is_damage_and_not_another_format():
    data = numbered(1)[170:] + numbered(2)
    with pytest.raises(DamagedInput, match="no WARC record begins there") as caught:
        read(data)
    assert caught.value.damage.byte == 0
    assert read(data, keep=True)[0] == [2]


@pytest.mark.parametrize("block_bytes", [64, 1 << 20])
def test_each_of_several_damages_is_told(block_bytes):
    parts = [numbered(k) if k % 3 else b"junk %d" % k + numbered(k, length=b"x") for k in range(30)]
    found, damages = read(b"".join(parts), keep=True, block_bytes=block_bytes)
    assert found == [k for k in range(30) if k % 3]
    places = [damage.byte for damage in damages]
    assert all(low < high for low, high in pairwise(places))


def test_a_body_that_shows_a_record_is_no_record():
    body = BODY + b"\r\n\r\n" + numbered(9)
    data = numbered(1, body=body) + numbered(2)
    assert read(data) == ([1, 2], [])
    members = [gzip.compress(data[k : k + 11]) for k in range(0, len(data), 11)]
    assert read(b"".join(members)) == ([1, 2], [])


@pytest.mark.parametrize("levels", [CONTENT[:1], CONTENT], ids=len)
def test_bodies_are_passed_over_in_bounded_memory(levels):
    big = 64 << 20
    length = b"%d" % (len(BODY) + big)
    data = numbered(1, length=length, end=bytes(big) + b"\r\n\r\n") + numbered(2)
    read(numbered(1))
    tracemalloc.start()
    try:
        assert read(data, keep=True, levels=levels) == ([1, 2], [])
        assert tracemalloc.get_traced_memory()[1] < big // 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [1000, 5_000_000])
def test_a_body_that_is_cut_has_no_digest(size):
    whole, cut = (response(body=http_message(item)) for item in (b"whole", noise(size)))
    assert digests(whole + cut[: -size // 2], keep=True) == [sha1(b"whole"), None]


def test_a_record_that_runs_into_the_next_has_no_digest():
    short = numbered(1, body=http_message(b"short"), length=b"4000")
    members = [short, response(body=http_message(noise(9000)))]
    found = digests(b"".join(map(gzip.compress, members)), keep=True)
    assert found == [None, sha1(noise(9000))]


STARTS = [
    b"WARC/1.0\r\n",
    b"WARC/1.0\r\nWARC-X:\r\n",
    b"WARC/1.0\r\nWARC-X:\r\n\r\n",
    b"WARC/1.0\nWARC-Type: response\n",
    b"WARC/1.0\nContent-Length: 9\n",
    b"WARC/1.0\nWARC-Type: response\nContent-Length: 9\n\n",
    b"WARC/1.0\nWARC-Type: response\nContent-Length: 50000\n\n",
    b"WARC/1.0\nWARC-Type: response\nContent-Length: 999999999\n\n",
    b"WARC-Type: response\n",
    b"Content-Length: 1\n",
]
UNITS = [bytes([byte]) for byte in b'\0\t\n\r "./09:;<=>A\xff']
UNITS += [b"\r\n", b"\n\r", b" \n", b"\n ", b"\r\n ", b"a:", b": ", b"\nWARC-", b"HTTP/1.1 200\n"]


@pytest.mark.parametrize("unit", STARTS + UNITS, ids=repr)
@pytest.mark.parametrize(
    "before",
    [
        PAGE.join([response().partition(PAGE)[0], b"\r\n\r\n"]),
        b"WARC/1.0",
        b"WARC/1.0\r\nWARC-Type: response\r\nX: ",
        b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: ",
    ],
    ids=["between records", "version", "value", "length"],
)
def test_runs_of_anything_take_time_with_their_size(unit, before):
    def run(n_bytes):
        data = before + unit * (n_bytes // len(unit)) + b"\r\n\r\n" + response()
        found = read_bytes(read_warc, data, keep=True, levels=CONTENT)
        assert found.rows or found.damages or found.rejected

    check_linear_time(run, 40_000)


@pytest.mark.parametrize("unit", [*UNITS, b"1\r\nx\r\n", b"0\r\n", b"1;a\r\nx\r\n"], ids=repr)
@pytest.mark.parametrize(
    "before",
    [
        b"HTTP/1.1",
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\nContent-Type: ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    ],
    ids=["status", "value", "media type", "chunks"],
)
def test_runs_of_anything_in_a_body_take_time_with_their_size(unit, before):
    def run(n_bytes):
        body = before + unit * (n_bytes // len(unit))
        # Small blocks, so that what waits for more would be looked at again and again.
        read_bytes(read_warc, response(body=body), levels=CONTENT, block_bytes=1 << 12)

    check_linear_time(run, 40_000)
