"""Real WARC files: each is read with exact counts, equal to a plain reading, or refused."""

import datetime as dt
import gzip
import re
from collections import Counter

import pytest
from readings import read_bytes

from crawlgauge.core.captures import Collector
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import RAW
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.warc import looks_like_warc, read_warc
from crawlgauge.sources.what_counts import Settings

HARMLESS = {
    # Name: captures, rejected, excluded.
    "2-metadata-1.warc": (0, {}, {"metadata": 20}),
    "20130729-heritrix-original.warc.gz": (1, {}, {}),
    "20130729-heritrix-revisit-with-http-headers.warc.gz": (1, {}, {}),
    "20141124-heritrix-server-not-modified.warc.gz": (1, {}, {}),
    "20141129-heritrix-original.warc.gz": (1, {}, {}),
    "20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz": (1, {}, {}),
    "example-bad-non-chunked.warc.gz": (2, {}, {"request": 2, "warcinfo": 2}),
    "example-digest.warc": (0, {}, {"request": 4}),
    "example-extra.warc": (4, {}, {"request": 2}),
    "example-iana.org-chunked.warc": (1, {}, {"request": 1, "warcinfo": 1}),
    "example-resource.warc.gz": (1, {}, {"warcinfo": 2}),
    "example-space-in-target-uri.warc.gz": (0, {}, {"warcinfo": 1, "other-scheme": 1}),
    "example-url-agnostic-orig.warc.gz": (1, {}, {"warcinfo": 1}),
    "example-url-agnostic-revisit.warc.gz": (1, {}, {"warcinfo": 1}),
    "example-warcinfo-metadata.warc": (1, {}, {"request": 1, "warcinfo": 2}),
    "example-wget-1-14.warc.gz": (1, {}, {"other-scheme": 3, "request": 1, "warcinfo": 1}),
    "example-wget-bad-target-uri.warc.gz": (
        1,
        {},
        {"other-scheme": 2, "request": 1, "metadata": 1, "warcinfo": 1},
    ),
    "example-wpull.warc.gz": (1, {}, {"other-scheme": 1, "request": 1, "warcinfo": 1}),
    "example-wrong-chunks.warc.gz": (1, {}, {"request": 1}),
    "example.warc.gz": (3, {}, {"request": 2, "warcinfo": 1}),
    "gzip_extra_sl.warc.gz": (0, {}, {"warcinfo": 1}),
    "httpbin-resource.warc.gz": (1, {}, {}),
    "iana.warc.gz": (171, {}, {"request": 171, "warcinfo": 1}),
    "missing-status-text.warc": (1, {}, {}),
    "mutliple-headers.warc": (1, {}, {}),
    "post-test.warc.gz": (3, {}, {"request": 3}),
    "test1.warc.gz": (1, {}, {"other-scheme": 1, "request": 1, "metadata": 1, "warcinfo": 1}),
}
DAMAGED = {
    # Name: byte of the damage, captures and excluded of what can be kept.
    "example-trunc.warc": (2560, 1, {"request": 1, "warcinfo": 2}),
    "example.warc": (4764, 3, {"request": 2, "warcinfo": 1}),
}


def read(path, *, keep_damaged=False):
    """Return rows of captures, the counts of what was left out, and the damage."""
    data = path.read_bytes()
    assert looks_like_warc(data) or data.startswith(b"\x1f\x8b")
    found = read_bytes(read_warc, data, name=str(path), keep=keep_damaged)
    rows = [
        (row.url, as_time(row.time), row.status, row.is_revisit, row.mime, row.digest)
        for row in found.rows
    ]
    return rows, found.rejected, found.excluded, found.damages


def as_time(seconds):
    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).replace(tzinfo=None)


def plain_read(path):
    """Return type, target, date, status and digest of the records, by regular expressions."""
    data = path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    place = 0
    while data[place:].strip(b"\r\n"):
        header = re.compile(rb"[\r\n]*(WARC/.*?\n)\r*\n", re.DOTALL).match(data, place)
        fields = {
            name.lower(): value.rstrip(b"\r")
            for name, value in re.findall(rb"^([\w-]+): *(.*)$", header[1], re.MULTILINE)
        }
        n_bytes = int(fields[b"content-length"])
        body = data[header.end() : header.end() + n_bytes]
        assert len(body) == n_bytes
        status = re.match(rb"HTTP/\d\.\d (\d{3})", body)
        is_http = fields.get(b"content-type", b"").startswith(b"application/http")
        yield (
            fields[b"warc-type"].decode(),
            fields.get(b"warc-target-uri", b"").strip(b"<>"),
            fields[b"warc-date"].decode()[:19],
            int(status[1]) if status and is_http else None,
            fields.get(b"warc-payload-digest"),
        )
        place = header.end() + n_bytes


def test_every_file_of_the_collection_is_accounted_for(shared_data):
    names = {path.name for path in (shared_data / "formats/warc").iterdir()}
    assert names == HARMLESS.keys() | DAMAGED.keys()


@pytest.mark.parametrize("name", HARMLESS)
def test_a_file_gives_exactly_what_a_plain_reading_gives(shared_data, name):
    path = shared_data / "formats/warc" / name
    n_captures, n_rejected, n_excluded = HARMLESS[name]
    rows, rejected, excluded, damages = read(path)
    assert (len(rows), rejected, excluded, damages) == (n_captures, n_rejected, n_excluded, [])
    plain = list(plain_read(path))
    captures = [
        (url, time, status, kind == "revisit", digest)
        for kind, url, time, status, digest in plain
        if kind in ("response", "resource", "revisit") and url.startswith(b"http")
    ]
    assert captures == [
        (url, time.isoformat(), status, is_revisit, digest)
        for url, time, status, is_revisit, _, digest in rows
    ]
    assert len(plain) == n_captures + sum(n_rejected.values()) + sum(n_excluded.values())


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_with_a_wrong_length_is_refused_or_read_on_behind_it(shared_data, name):
    path = shared_data / "formats/warc" / name
    byte, n_captures, n_excluded = DAMAGED[name]
    with pytest.raises(DamagedInput, match="no WARC record begins there") as caught:
        read(path)
    assert caught.value.damage.byte == byte
    rows, rejected, excluded, (damage,) = read(path, keep_damaged=True)
    assert (len(rows), rejected, excluded) == (n_captures, {}, n_excluded)
    assert damage.byte == byte


def test_iana_has_the_same_captures_as_its_indexes(shared_data):
    rows = read(shared_data / "formats/warc/iana.warc.gz")[0]
    found = Counter(
        # pywb's index leaves out the status of revisits.
        (url, time.strftime("%Y%m%d%H%M%S"), None if is_revisit else status, is_revisit)
        for url, time, status, is_revisit, _, _ in rows
    )
    lines = (shared_data / "formats/cdx/iana.cdx").read_bytes().splitlines()[1:]
    indexed = Counter()
    for _, time, url, mime, status, *_ in (line.split(b" ") for line in lines):
        code = None if status == b"-" else int(status)
        indexed[url, time.decode(), code, mime == b"warc/revisit"] += 1
    assert found == indexed
    assert {status for _, _, status, is_revisit, _, _ in rows if is_revisit} == {200}


def test_iana_counts_39_urls_by_default(shared_data):
    batches, settings = [], Settings(key_rule=RAW)
    collector = Collector(settings, batches.append)
    with Stream(str(shared_data / "formats/warc/iana.warc.gz")) as stream:
        for _ in read_warc(stream, Intake(stream.name, collector), settings):
            pass
    collector.flush()
    assert len({key for batch in batches for key in batch.keys.tolist()}) == 39


def test_common_crawl_s_warc_is_read_and_what_is_derived_from_it_is_refused(shared_data):
    folder = shared_data / "formats/commoncrawl"
    rows, _, excluded, _ = read(folder / "whirlwind.warc.gz")
    assert [row[0] for row in rows] == [b"https://an.wikipedia.org/wiki/Escopete"]
    assert excluded == {"warcinfo": 1, "request": 1, "metadata": 1}
    with pytest.raises(SourceError, match="is a WAT file"):
        read(folder / "whirlwind.warc.wat.gz")
    with pytest.raises(SourceError, match="is a WET file"):
        read(folder / "whirlwind.warc.wet.gz")


def test_a_file_cut_within_a_member_is_refused_or_read_up_to_there(shared_data):
    path = shared_data / "formats/derived-broken/example_truncated_midmember.warc.gz"
    with pytest.raises(DamagedInput, match="ends before its compressed stream does"):
        read(path)
    rows, _, excluded, (damage,) = read(path, keep_damaged=True)
    assert [row[0] for row in rows] == [b"http://example.com?example=1"]
    assert excluded == {"warcinfo": 1, "request": 1}
    assert damage.byte == path.stat().st_size
