"""The compiled WARC reader agrees with a plain one, on any bytes and however they are cut."""

import io
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import byte_stream
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.request import Request
from crawlgauge.sources.warc import read_warc

FIELDS = frozenset({"time", "status", "mime", "digest"})
REQUEST = Request(fields=FIELDS, group="x-group")
SPACES = b" \t\n\v\f\r"
KINDS = ("request", "metadata", "warcinfo", "conversion", "continuation")


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
    mime = b"warc/revisit" if is_revisit else mime
    return (
        url.strip(SPACES),
        status,
        is_revisit,
        mime,
        fields.get(b"warc-payload-digest"),
        fields.get(b"x-group"),
    )


def read(data, block_bytes=1 << 20):
    """Return the captures, what was left out, and the damage that stopped the reading."""
    rows, n_left, error = [], {}, None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_stream, "BLOCK_BYTES", block_bytes)
        patch.setattr(byte_stream, "_CHUNK_BYTES", max(block_bytes // 3, 1))
        with ByteStream("x", open_file=lambda: io.BytesIO(data)) as stream:
            try:
                for batch in read_warc(stream, REQUEST):
                    names = ("url", "status", "revisit", "mime", "digest", "group")
                    columns = [batch.columns()[name].to_pylist() for name in names]
                    rows += zip(*columns, strict=True)
                    for reason, count in {**batch.rejected, **batch.excluded}.items():
                        n_left[reason] = n_left.get(reason, 0) + count
            except SourceError as caught:
                # That no capture has a group is no news here.
                error = str(caught) if isinstance(caught, DamagedInput) else None
    return rows, n_left, error


# The first block tells the format, so it holds a line at least.
block_sizes = st.integers(12, 90)
piece = st.sampled_from(
    [
        b" ",
        b"\t",
        b"\r",
        b":",
        b";",
        b"<",
        b">",
        b"http://a.org/",
        b"text/html",
        b"x",
        b"\xff\x00",
        b"\r\n ",
        b"\n\t",
        b"\r\n  \r\n x",
        b"application/http",
        b"WARC/1.0",
        b"200",
    ]
)
text = st.lists(piece, max_size=4).map(b"".join)
name = st.sampled_from(
    [
        b"WARC-Target-URI",
        b"warc-target-uri ",
        b"Content-Type",
        b"WARC-Payload-Digest",
        b"X-Group",
        b"WARC-Identified-Payload-Type",
        b"Content-Type\t",
        b"WARC-Target",
        b"",
        b"no colon",
    ]
)
field = st.builds(lambda name, text: name + b":" + text, name, text) | text.map(
    lambda value: b"Z" + value
)
http = st.builds(
    lambda line, fields, end: line + b"\r\n" + b"\r\n".join(fields) + end,
    st.sampled_from(
        [b"HTTP/1.1 200 OK", b"HTTP/1.0 302", b"HTTP/ 99", b"HTTPS 200", b"HTTP/1.1 200x"]
    ),
    st.lists(field, max_size=3),
    st.sampled_from([b"", b"\r\n\r\nbody", b"\n\nContent-Type: a/b\n\n"]),
)
kind = st.sampled_from([b"response", b"Resource", b"revisit", b"request", b"warcinfo", b"other"])
target = st.sampled_from(
    [b"WARC-Target-URI: http://a.org/x", b"warc-target-uri:\r\n <https://a.org/y\r\n\t z>", b"X: y"]
)
media = st.sampled_from(
    [b"Content-Type: application/http", b"content-type:Application/HTTP ; x=y", b"Z: y"]
)
record = st.builds(
    lambda kind, odd, target, media, others, body: (kind, [*odd, target, media, *others], body),
    kind,
    st.lists(field, max_size=1),
    target,
    media,
    st.lists(field, max_size=3),
    http | text,
)


def written(parts):
    kind, fields, body = parts
    lines = [b"WARC/1.0", b"WARC-Type: " + kind, *fields, b"Content-Length: %d" % len(body)]
    header = b"\r\n".join(lines)
    # A value may hold a blank line by chance, which would end the header before its time.
    header = re.sub(rb"\n\r*(?=\n)", b"", header)
    return header + b"\r\n\r\n", body


def usable(header):
    """Tell whether a header reads as it was meant: one type, and a length at its end."""
    fields = [line.partition(b":")[0].strip().lower() for line in header.split(b"\n")]
    return fields.count(b"warc-type") == fields.count(b"content-length") == 1


@settings(max_examples=200)
@given(st.lists(record, min_size=1, max_size=5), block_sizes)
def test_headers_of_any_form_are_read_as_a_plain_reader_does(records, block_bytes):
    pairs = [pair for pair in map(written, records) if usable(pair[0])]
    data = b"".join(header + body + b"\r\n\r\n" for header, body in pairs)
    expected = [
        plain_capture(fields, body)
        for header, body in pairs
        if (fields := plain_fields(header)).get(b"warc-type", b"").lower()
        in (b"response", b"resource", b"revisit")
    ]
    rows, n_left, error = read(data)
    assert error is None
    assert rows == [row for row in expected if re.match(rb"(?i:https?|ftps?)://[^/?#\s]", row[0])]
    assert sum(n_left.values()) + len(rows) == len(pairs)
    assert read(data, block_bytes) == (rows, n_left, error)


@settings(max_examples=200)
@given(st.lists(record, min_size=1, max_size=4), st.integers(0, 2**32), block_sizes)
def test_damaged_bytes_give_the_same_however_they_are_cut(records, seed, block_bytes):
    chance = random.Random(seed)
    data = bytearray(
        b"".join(header + body + b"\r\n\r\n" for header, body in map(written, records))
    )
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(20, len(data))
        junk = chance.choice([b"", b"\n", b"\r\n\r\n", b"WARC/1.0\r\n", b"9", b"-", b"\0\xff"])
        data[place : place + chance.choice([0, 1, 30])] = junk
    assert read(bytes(data)) == read(bytes(data), block_bytes)


@settings(max_examples=200)
@given(st.binary(max_size=200), block_sizes, st.booleans())
def test_no_bytes_whatever_crash_or_hang_the_reader(tail, block_bytes, is_compressed):
    data = b"WARC/1.0\r\nWARC-Type: response\r\n" + tail
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_stream, "BLOCK_BYTES", block_bytes)
        start = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" if is_compressed else b""
        with ByteStream(
            "x", open_file=lambda: io.BytesIO(data + start + data), keep_damaged=True
        ) as stream:
            for batch in read_warc(stream, Request(fields=FIELDS)):
                assert len(batch) == len(batch.url)
