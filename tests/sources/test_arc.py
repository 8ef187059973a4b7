"""ARC files: their records' lines, their statuses, and what happens to damaged ones."""

import gzip
import io
import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import byte_stream
from crawlgauge.sources.arc import looks_like_arc, read_arc
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request

FIELDS = frozenset({"time", "status", "mime", "digest"})
V1 = b"URL IP-address Archive-date Content-type Archive-length"
V2 = (
    b"URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename "
    b"Archive-length"
)
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/x\r\n\r\n<html>"


def filedesc(definition=V1):
    body = b"1 0 Somebody\n" + definition + b"\n"
    more = b" 200 - - 0 a.arc" if definition == V2 else b""
    line = b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain%s %d\n" % (more, len(body))
    return line + body + b"\n"


def record(url, body=PAGE, *, rest=b"1.2.3.4 20080430204826 text/html", length=None):
    length = b"%d" % len(body) if length is None else length
    return url + b" " + rest + b" " + length + b"\n" + body + b"\n"


def read(data, *, group=None, keep_damaged=False, block_bytes=1 << 20):
    """Return captures as rows, what was left out, and the damage that was got over."""
    rows, left = [], Counter()
    names = ("url", "time", "status", "mime", "digest") + (("group",) if group else ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_stream, "BLOCK_BYTES", block_bytes)
        patch.setattr(byte_stream, "_CHUNK_BYTES", max(block_bytes // 3, 1))
        with ByteStream(
            "folder/x.arc", open_file=lambda: io.BytesIO(data), keep_damaged=keep_damaged
        ) as stream:
            for batch in read_arc(stream, Request(fields=FIELDS, group=group)):
                columns = [batch.columns()[name].to_pylist() for name in names]
                rows += zip(*columns, strict=True)
                left.update({**batch.rejected, **batch.excluded})
    return rows, left, stream.damages


def urls(data, **settings):
    return [row[0] for row in read(data, **settings)[0]]


def test_a_record_gives_what_its_line_and_its_status_line_say():
    rows, left, _ = read(filedesc() + record(b"http://a.org/"))
    ((url, time, status, mime, digest),) = rows
    assert (url, time.isoformat()) == (b"http://a.org/", "2008-04-30T20:48:26")
    assert (status, mime, digest) == (200, b"text/html", None)
    assert left == {"filedesc": 1}


def test_fields_are_told_from_the_end_as_urls_and_media_types_may_hold_spaces():
    data = filedesc() + b"".join(
        [
            record(b"http://a.org/x y 1.2.3.4 z"),
            record(b"http://a.org/2", rest=b"1.2.3.4 20080430204826 text/html; charset=x y"),
            record(b"http://a.org/3").replace(b"\n", b"\r\n", 1),
        ]
    )
    rows = read(data)[0]
    assert [row[0] for row in rows] == [
        b"http://a.org/x y 1.2.3.4 z",
        b"http://a.org/2",
        b"http://a.org/3",
    ]
    assert [row[3] for row in rows] == [b"text/html", b"text/html", b"text/html"]


def test_lines_of_version_2_tell_status_and_checksum():
    rest = b"1.2.3.4 20080430204826 text/html %s %s - 0 a.arc"
    data = filedesc(V2) + b"".join(
        [
            record(b"http://a.org/1", rest=rest % (b"404", b"ABC")),
            record(b"http://a.org/2", b"plain", rest=rest % (b"301", b"-")),
            record(b"http://a.org/x y", b"plain", rest=rest % (b"-", b"-")),
        ]
    )
    rows = read(data)[0]
    assert [(row[0], row[2], row[4]) for row in rows] == [
        (b"http://a.org/1", 200, b"ABC"),
        (b"http://a.org/2", 301, None),
        (b"http://a.org/x y", None, None),
    ]


def test_what_is_no_page_is_left_out_by_reason():
    others = [
        b"dns:a.org",
        b"metadata://netarkivet.dk/crawl/x",
        b"filedesc://b.arc",
        b"file:///x",
        b"http:///x",
    ]
    rows, left, _ = read(filedesc() + b"".join(map(record, others)))
    assert rows == []
    assert left == {"other-scheme": 3, "filedesc": 2, "no-host": 1}


@pytest.mark.parametrize("block_bytes", [130, 700, 1 << 20])
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
    rows, _, _ = read(compress([filedesc(), *parts]), block_bytes=block_bytes)
    assert [row[0] for row in rows] == wanted
    assert {row[2] for row in rows} == {200}


def test_captures_are_grouped_by_file_name_or_by_a_field_of_their_lines():
    data = filedesc() + record(b"http://a.org/")
    assert read(data, group="filename")[0][0][-1] == b"x.arc"
    assert read(data, group="ip-address")[0][0][-1] == b"1.2.3.4"
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
def test_damage_is_refused_or_got_over(bad, kept, reason):
    first, *others = (record(b"http://a.org/%d" % number) for number in (1, 3, 4))
    data = b"".join([filedesc(), first, bad, *others])
    with pytest.raises(DamagedInput, match=reason):
        read(data)
    rows, _, (damage,) = read(data, keep_damaged=True)
    assert [row[0] for row in rows] == [b"http://a.org/%d" % number for number in kept]
    assert reason in damage.reason


def test_a_length_that_is_too_large_harms_no_other_record_compressed_by_itself():
    parts = [record(b"http://a.org/%d" % n, length=b"999" if n == 2 else None) for n in range(4)]
    data = b"".join(map(gzip.compress, [filedesc(), *parts]))
    rows, _, (damage,) = read(data, keep_damaged=True)
    assert [row[0] for row in rows] == [b"http://a.org/%d" % n for n in range(4)]
    assert "the next record begins there" in damage.reason


def test_a_file_cut_anywhere_is_damaged_unless_it_is_cut_between_records():
    one = record(b"http://a.org/1")
    start = len(filedesc() + one)
    data = filedesc() + one + record(b"http://a.org/2")
    for cut in range(start - len(one) + 1, len(data)):
        if cut in (start - 1, start, len(data) - 1):
            assert read(data[:cut])[2] == []
            continue
        with pytest.raises(DamagedInput, match="ends inside the record") as caught:
            read(data[:cut])
        assert caught.value.damage.byte == cut


def plain_line(line, n_fields=5):
    """Return URL and media type of a record's line, or None if it is no such line."""
    words = line.rstrip(b"\r ").split(b" ")
    for date in range(len(words) - n_fields + 2, 1, -1):
        if re.fullmatch(rb"\d{8,}", words[date]):
            url = b" ".join(words[: date - 1])
            if re.match(rb"[A-Za-z0-9+.-]+:", url):
                return url.strip(b" \t\n\v\f\r"), words[date + 1 : -1]
            return None
    return None


word = st.sampled_from(
    [
        b"http://a.org/",
        b"x",
        b"",
        b"1.2.3.4",
        b"20080430204826",
        b"text/html",
        b"7",
        b"dns:b",
        b"\xff",
    ]
)


@settings(max_examples=300)
@given(st.lists(st.lists(word, min_size=1, max_size=8), max_size=4), st.integers(130, 200))
def test_lines_of_any_form_are_read_as_a_plain_reader_does(lines, block_bytes):
    lines = [b" ".join([*words, b"3"]) for words in lines]
    data = filedesc() + b"".join(line + b"\nabc\n" for line in lines)
    parsed = [plain_line(line) for line in lines]
    results = []
    for size in (1 << 20, block_bytes):
        try:
            results.append(urls(data, block_bytes=size))
        except DamagedInput as error:
            results.append(error.damage)
    if None in parsed:
        assert isinstance(results[0], type(results[1]))
        assert results[0].byte == results[1].byte
    else:
        pages = [url for url, _ in parsed if re.match(rb"[a-z]+://[^/\s]", url)]
        assert results == [pages, pages]


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(130, 300), st.booleans())
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
    rows, left, damages = read(whole, keep_damaged=True, block_bytes=block_bytes)
    assert len(rows) + left.total() + len(damages) > 0
