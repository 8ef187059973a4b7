"""ARC files: their records' lines, their statuses, and what happens to damaged ones."""

import datetime as dt
import gzip
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_time import check_linear_time
from readings import CONTENT, read_bytes
from test_warc import http_message, noise, sha1

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.arc import looks_like_arc, read_arc

V1 = b"URL IP-address Archive-date Content-type Archive-length"
V2 = (
    b"URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename "
    b"Archive-length"
)
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/x\r\n\r\n<html>"
EVENING = int(dt.datetime(2008, 4, 30, 20, 48, 26, tzinfo=dt.UTC).timestamp())


def filedesc(definition=V1):
    body = b"1 0 Somebody\n" + definition + b"\n"
    more = b" 200 - - 0 a.arc" if definition == V2 else b""
    line = b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain%s %d\n" % (more, len(body))
    return line + body + b"\n"


def record(url, body=PAGE, *, rest=b"1.2.3.4 20080430204826 text/html", length=None):
    length = b"%d" % len(body) if length is None else length
    return url + b" " + rest + b" " + length + b"\n" + body + b"\n"


def read(data, **wishes):
    return read_bytes(read_arc, data, name="folder/x.arc", **wishes)


def test_a_record_gives_what_its_line_and_its_status_line_say():
    found = read(filedesc() + record(b"http://a.org/"))
    (row,) = found.rows
    assert (row.url, row.time, row.status) == (b"http://a.org/", EVENING, 200)
    assert row.mime == b"text/html"
    assert found.excluded == {"filedesc": 1}


def test_fields_are_told_from_the_end_as_urls_and_media_types_may_hold_spaces():
    data = filedesc() + b"".join(
        [
            record(b"http://a.org/x y 1.2.3.4 z"),
            record(b"http://a.org/2", rest=b"1.2.3.4 20080430204826 text/html; charset=x y"),
            record(b"http://a.org/3").replace(b"\n", b"\r\n", 1),
        ]
    )
    found = read(data)
    assert found.column("url") == [
        b"http://a.org/x y 1.2.3.4 z",
        b"http://a.org/2",
        b"http://a.org/3",
    ]
    assert found.column("mime") == [b"text/html"] * 3


def test_lines_of_version_2_tell_status_and_checksum():
    rest = b"1.2.3.4 20080430204826 text/html %s %s - 0 a.arc"
    data = filedesc(V2) + b"".join(
        [
            record(b"http://a.org/1", rest=rest % (b"404", b"ABC")),
            record(b"http://a.org/2", b"plain", rest=rest % (b"301", b"-")),
            record(b"http://a.org/x y", b"plain", rest=rest % (b"-", b"-")),
        ]
    )
    assert [(row.url, row.status, row.digest) for row in read(data).rows] == [
        (b"http://a.org/1", 200, b"ABC"),
        (b"http://a.org/2", 301, sha1(b"plain")),
        (b"http://a.org/x y", None, sha1(b"plain")),
    ]


def test_what_is_no_page_is_left_out_by_reason_and_its_place_told():
    others = [
        b"dns:a.org",
        b"metadata://netarkivet.dk/crawl/x",
        b"filedesc://b.arc",
        b"file:///x",
        b"http:///x",
    ]
    data = filedesc() + b"".join(map(record, others))
    found = read(data)
    assert found.rows == []
    assert found.excluded == {"other-scheme": 3, "filedesc": 2}
    assert found.rejected == {"no-host": 1}
    (example,) = found.examples
    assert example.text == "http:///x"
    assert data[example.offset :].startswith(b"http:///x 1.2.3.4")


@pytest.mark.parametrize("block_bytes", [1, 130, 700, 1 << 20])
@pytest.mark.parametrize("between", [b"", b"\n", b"\n\n"])
@pytest.mark.parametrize(
    "compress",
    [
        b"".join,
        lambda parts: b"".join(map(gzip.compress, parts)),
        lambda parts: gzip.compress(b"".join(parts)),
    ],
    ids=["plain", "gzip by record", "gzip"],
)
def test_every_form_and_block_size_gives_the_same(compress, between, block_bytes):
    wanted = [b"http://a.org/%d" % number for number in range(30)]
    parts = [record(url, PAGE + b"x" * 50 * n)[:-1] + between for n, url in enumerate(wanted)]
    found = read(compress([filedesc(), *parts]), block_bytes=block_bytes)
    assert found.column("url") == wanted
    assert set(found.column("status")) == {200}


def test_captures_are_grouped_by_file_name_or_by_a_field_of_their_lines():
    data = filedesc() + record(b"http://a.org/")
    assert read(data, group="filename").column("group") == [b"x.arc"]
    assert read(data, group="ip-address").column("group") == [b"1.2.3.4"]
    with pytest.raises(SourceError, match=r"no field 'crawl'.*IP-address, Archive-date"):
        read(data, group="crawl")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no ARC file: it is empty"),
        (b"http://a.org/\n", "is no ARC file: it begins with 'http://a.org/"),
        (filedesc(b"URL IP-address Something Archive-length"), "neither version 1 nor 2"),
    ],
)
def test_what_is_no_arc_is_refused(data, message):
    with pytest.raises(SourceError, match=message):
        read(data)


def test_arc_is_told_from_other_formats_by_its_first_bytes():
    assert looks_like_arc(filedesc())
    for other in (b"", b"filedesc", b"file://x", b"WARC/1.0", b"http://a.org/ 1.2.3.4 2008"):
        assert not looks_like_arc(other)


def test_bodies_of_any_size_have_their_digests():
    payloads = [noise(size, seed) for seed, size in enumerate((0, 1, 70_000, 3_000_000, 5))]
    data = filedesc() + b"".join(record(b"http://a.org/", http_message(item)) for item in payloads)
    assert read(data, levels=CONTENT).column("digest") == list(map(sha1, payloads))


@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
@pytest.mark.parametrize(
    ("bad", "kept", "reason"),
    [
        (record(b"http://a.org/2", length=b"-1"), [1, 3, 4], "length of a record is missing"),
        (record(b"http://a.org/2", length=b"abc"), [1, 3, 4], "length of a record is missing"),
        (record(b"http://a.org/2", length=b"9" * 20), [1, 3, 4], "length of a record is missing"),
        (record(b"http://a.org/2", length=b"30"), [1, 2, 3, 4], "no ARC record begins there"),
        (record(b"http://a.org/2", length=b"60"), [1, 2, 3, 4], "no ARC record begins there"),
        (record(b"http://a.org/2", length=b"99999"), [1, 2, 3, 4], "ends inside the record"),
        (record(b"http://a.org/2", rest=b"1.2.3.4 text/html"), [1, 3, 4], "no ARC record begins"),
        (b"junk\n", [1, 3, 4], "no ARC record begins there"),
        (b"http:" + b"x" * (2 << 20) + b"\n", [1, 3, 4], "no ARC record begins there"),
    ],
    ids=lambda value: value[:60].decode() if isinstance(value, bytes) else None,
)
def test_damage_is_refused_or_got_over(bad, kept, reason, block_bytes):
    if len(bad) > 1 << 20:
        block_bytes = max(block_bytes, 1 << 17)
    first, *others = (record(b"http://a.org/%d" % number) for number in (1, 3, 4))
    data = b"".join([filedesc(), first, bad, *others])
    with pytest.raises(DamagedInput, match=reason):
        read(data, block_bytes=block_bytes)
    found = read(data, keep=True, block_bytes=block_bytes)
    assert found.column("url") == [b"http://a.org/%d" % number for number in kept]
    (damage,) = found.damages
    assert reason in damage.reason


def test_a_length_that_is_too_large_harms_no_other_record_compressed_by_itself():
    parts = [record(b"http://a.org/%d" % n, length=b"999" if n == 2 else None) for n in range(4)]
    found = read(b"".join(map(gzip.compress, [filedesc(), *parts])), keep=True)
    assert found.column("url") == [b"http://a.org/%d" % n for n in range(4)]
    (damage,) = found.damages
    assert "the next record begins there" in damage.reason


def test_a_file_cut_anywhere_is_damaged_unless_it_is_cut_between_records():
    one = record(b"http://a.org/1")
    start = len(filedesc() + one)
    data = filedesc() + one + record(b"http://a.org/2")
    for cut in range(start - len(one) + 1, len(data)):
        if cut in (start - 1, start, len(data) - 1):
            assert read(data[:cut]).damages == []
            continue
        with pytest.raises(DamagedInput, match="ends inside the record") as caught:
            read(data[:cut])
        assert caught.value.damage.byte == cut


def plain_line(line, n_fields=5):
    """Return the URL of a record's line, or None if it is no such line."""
    words = line.rstrip(b"\r ").split(b" ")
    for date in range(len(words) - n_fields + 2, 1, -1):
        if re.fullmatch(rb"\d{8,}", words[date]):
            url = b" ".join(words[: date - 1])
            return url.strip(b" \t\n\v\f\r") if re.match(rb"[A-Za-z0-9+.-]+:", url) else None
    return None


words = [b"http://a.org/", b"x", b"", b"1.2.3.4", b"20080430204826", b"text/html", b"7", b"dns:b"]
line = st.lists(st.sampled_from([*words, b"\xff"]), min_size=1, max_size=8)


@settings(max_examples=300)
@given(st.lists(line, max_size=4), st.integers(1, 200))
def test_lines_of_any_form_are_read_as_a_plain_reader_does(lines, block_bytes):
    lines = [b" ".join([*fields, b"3"]) for fields in lines]
    data = filedesc() + b"".join(line + b"\nabc\n" for line in lines)
    parsed = [plain_line(line) for line in lines]
    results = []
    for size in (1 << 20, block_bytes):
        try:
            results.append(read(data, block_bytes=size).column("url"))
        except DamagedInput as error:
            results.append(error.damage)
    if None in parsed:
        assert results[0] == results[1]
        assert results[0].reason.startswith("no ARC record begins there")
    else:
        pages = [url for url in parsed if re.match(rb"[a-z]+://[^/\s]", url)]
        assert results == [pages, pages]


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(1, 300), st.booleans())
def test_no_bytes_whatever_crash_or_hang_the_reader(seed, block_bytes, is_compressed):
    chance = random.Random(seed)
    data = bytearray(filedesc() + record(b"http://a.org/1") + record(b"dns:x") + record(b"http:"))
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(filedesc()), len(data))
        junk = chance.choice(
            [b"", b"\n", b" ", b"9", b"-", b"\0\xff", b"\nhttp:", chance.randbytes(9)]
        )
        data[place : place + chance.choice([0, 1, 30])] = junk
    half = len(data) // 2
    members = gzip.compress(bytes(data[:half])) + gzip.compress(bytes(data[half:]))
    whole = members if is_compressed else bytes(data)
    found = read(whole, keep=True, block_bytes=block_bytes)
    assert found.rows or found.excluded or found.damages
    assert read(whole, keep=True).column("url") == found.column("url")


LINES = [
    b"http://a.org/ 1.2.3.4 20080101000000 text/html 10\n",
    b"http://a.org/ 1.2.3.4 20080101000000 text/html 50000\n",
    b"http://a.org/ 1.2.3.4 20080101000000 text/html 999999999\n",
    b"http://a.org/ 1.2.3.4 20080101000000 text/html x\n",
    b"\nhttp:",
    b"a: 1.1.1.1 00000000 ",
    b" 1.1.1.1",
    b" 11111111",
    b"filedesc:",
]


@pytest.mark.parametrize(
    "unit", [*LINES, *(bytes([byte]) for byte in b"\0\n\r 0:.a\xff")], ids=repr
)
@pytest.mark.parametrize("before", [b"", b"http://a.org/", b"http://a.org/ 1.2.3.4 "])
def test_runs_of_anything_take_time_with_their_size(unit, before):
    def run(n_bytes):
        data = (
            filedesc() + before + unit * (n_bytes // len(unit)) + b"\n" + record(b"http://a.org/")
        )
        read(data, keep=True, levels=CONTENT)

    check_linear_time(run, 40_000)
