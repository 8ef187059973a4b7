"""WARC files as crawlers write them: what counts as a capture, and what is told of it."""

import base64
import bz2
import datetime as dt
import gzip
import hashlib
import itertools
import lzma
import random
import re

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import CONTENT, TEXT, read_bytes

from crawlgauge.core.batch import NO_TEXT, NOT_HTML
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.names import canonical_type
from crawlgauge.sources.warc import looks_like_warc, read_warc

PAGE = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html>"
NOON = int(dt.datetime(2021, 12, 3, 4, 5, 6, tzinfo=dt.UTC).timestamp())


def record(kind, *fields, body=b"", version=b"1.0", end=b"\r\n"):
    """Make a record; fields are header lines."""
    lines = [b"WARC/" + version, b"WARC-Type: " + kind, *fields, b"Content-Length: %d" % len(body)]
    return end.join(lines) + 2 * end + body + 2 * end


def response(url=b"http://a.org/", *fields, body=PAGE, kind=b"response"):
    named = b"WARC-Target-URI: " + url, b"WARC-Date: 2021-12-03T04:05:06Z"
    return record(kind, *named, b"Content-Type: application/http; msgtype=x", *fields, body=body)


def read(data, **wishes):
    return read_bytes(read_warc, data, name="folder/x.warc", **wishes)


# ----------------------------------------------------------------------------- what records tell


@pytest.mark.parametrize("more", [b"", b"X-Note: folded\r\n in two lines\r\n"])
def test_a_response_gives_all_that_record_and_http_header_say(more):
    data = response(b"http://a.org/x y", b"WARC-Payload-Digest: sha1:ABC")
    found = read(data.replace(b"Content-Length", more + b"Content-Length", 1), levels=CONTENT)
    (row,) = found.rows
    assert (row.url, row.time, row.status) == (b"http://a.org/x y", NOON, 200)
    assert (row.mime, row.digest) == (b"text/html", b"sha1:ABC")
    assert not found.rejected
    assert not found.excluded


def test_records_that_are_no_captures_are_excluded_by_their_type():
    kinds = [b"request", b"metadata", b"warcinfo", b"conversion", b"continuation", b"screenshot"]
    data = b"".join([response(), *(response(kind=kind) for kind in kinds), response()])
    found = read(data)
    assert len(found.rows) == 2
    assert found.excluded == {
        "request": 1,
        "metadata": 1,
        "warcinfo": 1,
        "conversion": 1,
        "continuation": 1,
        "unknown-type": 1,
    }
    assert not found.rejected


def test_a_file_with_nothing_but_warcinfo_has_no_captures():
    found = read(record(b"warcinfo", body=b"software: x\r\n"))
    assert found.rows == []
    assert found.excluded == {"warcinfo": 1}


def test_revisits_are_marked_and_keep_their_own_status():
    body = b"HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n\r\n"
    data = response(kind=b"revisit", body=body) + response(kind=b"revisit", body=b"")
    rows = read(data).rows
    assert [row.status for row in rows] == [304, None]
    assert [row.is_revisit for row in rows] == [True] * 2


def test_a_resource_has_the_media_type_of_its_record_and_no_status():
    named = b"WARC-Target-URI: http://a.org/x", b"Content-Type: image/png;q=1"
    (row,) = read(record(b"resource", *named, body=b"HTTP/1.1 404 Gone\r\n\r\n")).rows
    assert (row.status, row.mime, row.time) == (None, b"image/png", None)


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
        (b"http/1.1 200 OK\r\nContent-Type: text/x\r\n\r\n", None, b"text/guessed"),
        (b"HTTP/1.1200 OK\r\n\r\n", None, b"text/guessed"),
        (b"HTTP/1.1 ", None, b"text/guessed"),
        (b"", None, b"text/guessed"),
        (b"<html>" * 20, None, b"text/guessed"),
    ],
)
def test_status_and_media_type_are_those_of_the_http_message(body, status, mime):
    guess = b"WARC-Identified-Payload-Type: text/guessed"
    (row,) = read(response(b"http://a.org/", guess, body=body)).rows
    assert (row.status, row.mime) == (status, mime)


def test_an_http_header_is_not_searched_without_end():
    def long(n_bytes):
        line = b"X: %s\r\n" % (b"y" * n_bytes)
        return b"HTTP/1.1 200 OK\r\n" + line + b"Content-Type: a/b\r\n\r\n"

    rows = read(response(body=long(70_000)) + response(body=long(60_000))).rows
    assert [(row.status, row.mime) for row in rows] == [(200, None), (200, b"a/b")]


def test_the_longest_headers_and_media_types_are_read_whole():
    kind = b"text/html;" + b"x" * 60_000
    body = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n"
    notes = [b"X-Note: " + b"y" * 1000] * 1000
    found = read(response(b"http://a.org/1", *notes, body=body) * 3 + response(b"http://a.org/2"))
    assert found.column("url") == [b"http://a.org/1"] * 3 + [b"http://a.org/2"]
    assert found.column("mime") == [b"text/html"] * 4


def test_angle_brackets_around_a_target_are_no_part_of_it():
    data = response(b"<http://a.org/>") + response(b"http://a.org/<b>")
    assert read(data).column("url") == [b"http://a.org/", b"http://a.org/<b>"]


def test_targets_that_are_no_pages_are_excluded_or_rejected_with_their_place():
    data = b"".join(
        [
            response(b"dns:a.org"),
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
    found = read(data)
    assert found.column("url") == [b"http://metadata.org/"]
    assert found.excluded == {"other-scheme": 5}
    assert found.rejected == {"no-host": 1, "no-url": 2, "no-type": 1}
    assert [example.reason for example in found.examples] == [
        "no-host",
        "no-url",
        "no-url",
        "no-type",
    ]
    assert found.examples[0].text == "http:///tmp/x"
    assert found.examples[3].text.startswith("WARC/1.0")
    for example in found.examples:
        assert data[example.offset :].startswith(b"WARC/1.0\r\nWARC-")
    assert data[: found.examples[0].offset].count(b"WARC/1.0") == 5


@pytest.mark.parametrize("version", [b"0.17", b"0.18", b"1.0", b"1.1"])
@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r\r\n"])
def test_versions_and_line_ends_differ_without_harm(version, end):
    named = b"warc-target-uri : http://a.org/", b"WARC-DATE:2021-12-03T04:05:06.123456Z"
    one = record(b"Response", *named, body=PAGE, version=version, end=end)
    found = read(one + record(b"warcinfo", version=version, end=end) + one)
    assert found.column("url") == [b"http://a.org/"] * 2
    assert found.column("time") == [NOON] * 2
    assert found.excluded == {"warcinfo": 1}


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
    assert read(data).column("url") == [b"http://a.org/b c"]


@pytest.mark.parametrize(
    "joined",
    [b"", b"\r\n", b"\n\n\n", b"\r\n\r\n\r\n\r\n"],
    ids=["none", "one", "bare newlines", "many"],
)
def test_more_or_fewer_blank_lines_between_records_are_harmless(joined):
    one = response().rstrip(b"\r\n")
    assert len(read(joined.join([one, one, one])).rows) == 3


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
def test_every_compression_and_block_size_gives_the_same(compress, block_bytes):
    sizes = [0, 10, 1000, 5000, 100]
    records = [record(b"warcinfo", body=b"a: b")]
    records += [response(b"http://a.org/%d" % size, body=PAGE + b"x" * size) for size in sizes]
    found = read(compress(records), block_bytes=block_bytes)
    assert found.column("url") == [b"http://a.org/%d" % size for size in sizes]
    assert set(found.column("status")) == {200}
    assert found.excluded == {"warcinfo": 1}


def test_of_many_records_none_is_lost():
    wanted = [b"http://a.org/%d" % number for number in range(20_000)]
    assert read(b"".join(map(response, wanted))).column("url") == wanted


def test_captures_are_grouped_by_file_name_or_by_any_header_field():
    data = response(b"http://a.org/", b"X-Crawl: one") + response(b"http://b.org/")
    assert read(data, group="filename").column("group") == [b"x.warc"] * 2
    assert read(data, group="x-crawl").column("group") == [b"one", None]
    assert read(data, group="WARC-Date").column("group") == [b"2021-12-03T04:05:06Z"] * 2


@pytest.mark.parametrize("group", ["crawl", "", "WARC-Date:", " WARC-Date", "a\nb"])
def test_grouping_by_a_field_that_no_capture_has_is_refused_naming_those_that_there_are(group):
    with pytest.raises(SourceError, match=r"Content-Type.*WARC-Date, WARC-Target-URI"):
        read(response(), group=group)
    assert read(record(b"warcinfo") + response(b"dns:a.org"), group=group).rows == []


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
    json = b"Content-Type: application/json"
    wat = record(b"metadata", *named, json, body=b'{"Container":{},"Envelope":{}}')
    with pytest.raises(SourceError, match=r"is a WET file.*WARC files themselves.*index"):
        read(start + wet)
    with pytest.raises(SourceError, match=r"is a WAT file.*WARC files themselves.*index"):
        read(gzip.compress(start) + gzip.compress(wat))
    other = record(b"metadata", *named, json, body=b'{"a": 1}')
    assert len(read(start + other + response() + wet).rows) == 1


def test_warc_is_told_from_other_formats_by_its_first_bytes():
    assert looks_like_warc(response())
    assert looks_like_warc(b"\r\nWARC/0.18\n")
    for other in (b"", b"WARC", b"WARC/x", b"WARC-Type: x", b"filedesc://x", b" CDX N b a"):
        assert not looks_like_warc(other)


# --------------------------------------------------------------- headers of any form, and of none

SPACES = b" \t\n\v\f\r"


def plain_fields(header):
    """Return the first value of each field, by name in lower case; folded lines are joined."""
    fields, last = {}, None
    for line in header.split(b"\n")[1:]:
        text = line.rstrip(b"\r")
        if text[:1] in (b" ", b"\t"):
            if last is not None:
                fields[last] += b"\n" + text
            continue
        name, colon, value = text.partition(b":")
        name, last = name.rstrip(SPACES).lower(), None
        if colon and name not in fields:
            last, fields[name] = name, value
    joined = {
        name: re.sub(rb"\n[ \t]*", b" ", value.strip(SPACES)) for name, value in fields.items()
    }
    return {
        name: value.replace(b"\r", b"") for name, value in joined.items() if value.strip(SPACES)
    }


def plain_capture(fields, body):
    """Return what a capture record says, as a row."""
    url = fields.get(b"warc-target-uri", b"")
    if url[:1] == b"<" and url[-1:] == b">" and len(url) > 1:
        url = url[1:-1]
    status, mime = None, fields.get(b"warc-identified-payload-type")
    media = fields.get(b"content-type")
    if media is None or media.partition(b";")[0].strip(SPACES).lower() == b"application/http":
        seen = body[: 1 << 16]
        if line := re.match(rb"HTTP/[0-9.]*[ \t]+(\d{3})(?![^ \t\n\v\f\r])", seen):
            status = int(line[1])
            ends = [end.start() for end in re.finditer(rb"\n(?=\r*\n)", seen)]
            header = seen[: ends[0] + 1] if ends else seen[: seen.rfind(b"\n") + 1]
            mime = plain_fields(header).get(b"content-type", mime)
    else:
        mime = media
    if mime is not None:
        mime = mime.partition(b";")[0].strip(SPACES) or None
    is_revisit = fields[b"warc-type"].lower() == b"revisit"
    mime = None if is_revisit or mime is None else canonical_type(mime) or None
    digest = fields.get(b"warc-payload-digest")
    return url.strip(SPACES), status, mime, digest, fields.get(b"x-group") or None, is_revisit


def read_as_rows(data, **wishes):
    """Return the captures, what was left out, and the damage that stopped the reading."""
    try:
        found = read(data, group="x-group", **wishes)
    except DamagedInput as error:
        return str(error)
    except SourceError:
        # That no capture has a group is no news here.
        found = read(data, **wishes)
    rows = [
        (row.url, row.status, row.mime, row.digest, row.group, row.is_revisit) for row in found.rows
    ]
    return rows, found.rejected | found.excluded


pieces = [b" ", b"\t", b"\r", b":", b";", b"<", b">", b"http://a.org/", b"text/html", b"x", b"200"]
pieces += [b"\xff\x00", b"\r\n ", b"\n\t", b"\r\n  \r\n x", b"application/http", b"WARC/1.0"]
text = st.lists(st.sampled_from(pieces), max_size=4).map(b"".join)
names = [b"WARC-Target-URI", b"warc-target-uri ", b"Content-Type", b"WARC-Payload-Digest", b""]
names += [b"X-Group", b"WARC-Identified-Payload-Type", b"Content-Type\t", b"WARC-Target", b"no"]
field = st.builds(b"%b:%b".__mod__, st.tuples(st.sampled_from(names), text))
field |= text.map(lambda value: b"Z" + value)
status_lines = [b"HTTP/1.1 200 OK", b"HTTP/1.0 302", b"HTTP/ 99", b"HTTPS 200", b"HTTP/1.1 200x"]
http = st.builds(
    lambda line, fields, end: line + b"\r\n" + b"\r\n".join(fields) + end,
    st.sampled_from(status_lines),
    st.lists(field | st.just(b"Content-Type: text/html; charset=x"), max_size=3),
    st.sampled_from([b"", b"\r\n\r\nbody", b"\n\nContent-Type: a/b\n\n"]),
)
kinds = [b"response", b"response", b"Resource", b"revisit", b"request", b"warcinfo", b"other"]
targets = [b"WARC-Target-URI: http://a.org/x", b"X: y", b"WARC-Target-URI: http://a.org/a b"]
targets += [b"warc-target-uri:\r\n <https://a.org/y\r\n\t z>"]
media = [b"Content-Type: application/http", b"content-type:Application/HTTP ; x=y", b"Z: y"]
any_record = st.tuples(
    st.sampled_from(kinds),
    st.builds(
        lambda odd, target, kind, others: [*odd, target, kind, *others],
        st.lists(field, max_size=1),
        st.sampled_from(targets),
        st.sampled_from(media),
        st.lists(field, max_size=3),
    ),
    http | text,
)


def written(parts):
    kind, fields, body = parts
    lines = [b"WARC/1.0", b"WARC-Type: " + kind, *fields, b"Content-Length: %d" % len(body)]
    # A value may hold a blank line by chance, which would end the header before its time.
    header = re.sub(rb"\n\r*(?=\n)", b"", b"\r\n".join(lines))
    return header + b"\r\n\r\n", body


def is_usable(header):
    """Tell whether a header reads as it was meant: one type, and a length at its end."""
    fields = [line.partition(b":")[0].strip().lower() for line in header.split(b"\n")]
    return fields.count(b"warc-type") == fields.count(b"content-length") == 1


@settings(max_examples=300)
@given(st.lists(any_record, min_size=1, max_size=5), st.integers(12, 90))
def test_headers_of_any_form_are_read_as_a_plain_reader_does(records, block_bytes):
    pairs = [pair for pair in map(written, records) if is_usable(pair[0])]
    data = b"".join(header + body + b"\r\n\r\n" for header, body in pairs)
    if not pairs:
        return
    expected = [
        plain_capture(fields, body)
        for header, body in pairs
        if (fields := plain_fields(header)).get(b"warc-type", b"").lower()
        in (b"response", b"resource", b"revisit")
    ]
    expected = [row for row in expected if re.match(rb"(?i:https?|ftps?)://[^/?#\s]", row[0])]
    rows, left_out = read_as_rows(data)
    # Where no header tells a digest, it is that of the payload.
    assert len(rows) == len(expected)
    for row, one in zip(rows, expected, strict=True):
        assert one == (row if one[3] else (*row[:3], one[3], *row[4:]))
    assert sum(left_out.values()) + len(rows) == len(pairs)
    assert read_as_rows(data, block_bytes=block_bytes) == (rows, left_out)


@settings(max_examples=300)
@given(
    st.lists(any_record, min_size=1, max_size=4),
    st.integers(0, 2**32),
    st.integers(12, 90),
    st.booleans(),
)
def test_damaged_bytes_give_the_same_however_they_are_cut(records, seed, block_bytes, keep):
    chance = random.Random(seed)
    data = bytearray(
        b"".join(header + body + b"\r\n\r\n" for header, body in map(written, records))
    )
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(20, len(data))
        junk = chance.choice([b"", b"\n", b"\r\n\r\n", b"WARC/1.0\r\n", b"9", b"-", b"\0\xff"])
        data[place : place + chance.choice([0, 1, 30])] = junk
    wishes = {"keep": keep, "levels": CONTENT}
    whole = read_as_rows(bytes(data), **wishes)
    assert read_as_rows(bytes(data), **wishes, block_bytes=block_bytes) == whole


@settings(max_examples=200)
@given(st.binary(max_size=200), st.integers(1, 90), st.booleans())
def test_no_bytes_whatever_crash_or_hang_the_reader(tail, block_bytes, is_compressed):
    data = b"WARC/1.0\r\nWARC-Type: response\r\n" + tail
    start = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" if is_compressed else b""
    read(data + start + data, keep=True, block_bytes=block_bytes)


# -------------------------------------------------------------------------------------- payloads


def sha1(data):
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    return b"sha1:" + base64.b32encode(digest)


def noise(n_bytes, seed=1):
    return random.Random(seed).randbytes(n_bytes)


def http_message(payload, kind=b"image/png", more=b""):
    return b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n%b\r\n%b" % (kind, more, payload)


def digests(data, **wishes):
    return read(data, levels=CONTENT, **wishes).column("digest")


SIZES = (0, 1, 100, 70_000, 3_000_000, 10_000_000, 5)
"""Some larger than what is at hand at once."""


@pytest.mark.parametrize("pack", [bytes, lambda data: gzip.compress(data, 1)])
def test_bodies_of_any_size_have_their_digests(pack):
    payloads = [noise(size, seed) for seed, size in enumerate(SIZES)]
    data = b"".join(pack(response(body=http_message(item))) for item in payloads)
    assert digests(data) == list(map(sha1, payloads))


def test_a_digest_that_a_record_has_is_left_alone():
    assert digests(response(b"http://a.org/", b"WARC-Payload-Digest: md5:abc")) == [b"md5:abc"]


def test_a_revisit_has_the_digest_of_what_it_refers_to_or_none():
    body = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    bare = response(kind=b"revisit", body=body)
    full = response(b"http://a.org/", b"WARC-Payload-Digest: a:b", kind=b"revisit", body=body)
    assert digests(bare + full) == [None, b"a:b"]


def test_a_resource_is_all_payload():
    body = http_message(b"hello")
    kind = b"Content-Type: text/plain"
    data = record(b"resource", b"WARC-Target-URI: http://a.org/", kind, body=body)
    assert digests(data) == [sha1(body)]


def test_the_content_coding_belongs_to_the_payload():
    packed = gzip.compress(b"hello", mtime=0)
    body = http_message(packed, more=b"Content-Encoding: gzip\r\n")
    assert digests(response(body=body)) == [sha1(packed)]


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


def chunked(payload):
    return response(body=http_message(payload, more=b"Transfer-Encoding: chunked\r\n"))


@given(
    st.binary(max_size=200),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(1, 50),
)
def test_the_transfer_coding_does_not_matter_however_the_body_is_cut(data, sizes, block_bytes):
    assert digests(chunked(chunk(data, sizes)), block_bytes=block_bytes) == [sha1(data)]


@pytest.mark.parametrize("block_bytes", [1, 5, 1 << 20])
@pytest.mark.parametrize("body", [b"<html>not chunked at all</html>", b"5\r\nhello\r\nzz\r\n"])
def test_what_says_to_be_chunked_and_is_not_is_taken_as_recorded(body, block_bytes):
    assert digests(chunked(body), block_bytes=block_bytes) == [sha1(body)]


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        (b"5\r\nhello\r\n9\r\nwor", b"hellowor"),
        (b"5;name=value\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (b"5\r\nhello\r\n\r\n\r\n\n5\nworld\r\n0\r\n", b"helloworld"),
    ],
    ids=["cut", "extension and trailer", "blank lines"],
)
def test_a_chunked_body_counts_as_far_as_it_goes_without_what_is_no_payload(body, payload):
    assert digests(chunked(body)) == [sha1(payload)]


def test_a_line_that_never_ends_is_no_size_of_a_chunk():
    body = b"5\r\nhello\r\n" + b"1" * 6000
    assert digests(chunked(body + b"\r\n")) == [sha1(body + b"\r\n")]


def test_an_http_header_that_does_not_end_leaves_no_payload():
    body = b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000
    assert digests(response(body=body) + response(body=PAGE)) == [None, sha1(b"<html>")]


def test_texts_are_those_of_pages_and_the_rest_is_told_from_them():
    words = b"<p>A page with more than five words of text in it</p>"
    known = b"WARC-Payload-Digest: sha1:A"
    url = b"http://a.org/"
    records = [
        response(body=http_message(words, b"text/html; charset=utf-8")),
        response(body=http_message(words + b"<footer>9 May 2021</footer>", b"text/html")),
        response(body=http_message(words, b"text/plain")),
        response(body=http_message(b"<p>few</p>", b"text/html")),
        response(body=http_message(b"", b"text/html"), kind=b"revisit"),
        response(body=http_message(words + b" " * 9_000_000, b"text/html")),
        response(url, known, body=http_message(words, b"text/html")),
        response(url, known, body=http_message(words, b"image/png")),
    ]
    first, *texts = read(b"".join(records), levels=TEXT).column("text")
    assert first > NOT_HTML
    assert texts == [first, NOT_HTML, NOT_HTML, NO_TEXT, NOT_HTML, first, NOT_HTML]
