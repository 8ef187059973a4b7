"""Real CDX and CDXJ indexes and a real ZipNum cluster: exact counts for each file."""

from collections import Counter

import pytest

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.cdx import looks_like_cdx, read_cdx
from crawlgauge.sources.cdxj import looks_like_cdxj, read_cdxj
from crawlgauge.sources.request import Request
from crawlgauge.sources.zipnum import (
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

EVERYTHING = Request(
    fields=frozenset({"key", "time", "status", "mime", "digest"}), group="filename"
)

# Captures, distinct URLs, revisits, captures with a status, and what is excluded.
CDX = {
    "cdx/Reader1.cdx": (119, 115, 0, 0, {"other-scheme": 27}),
    "cdx/Reader3.cdx": (0, 0, 0, 0, {}),
    "cdx/Reader4.cdx": (1, 1, 0, 0, {}),
    "cdx/bad.cdx": (4, 2, 2, 2, {}),
    "cdx/example-arc-test.cdx": (2, 1, 0, 2, {}),
    "cdx/example-extra.cdx": (2, 1, 1, 1, {}),
    "cdx/example-non-surt.cdx": (3, 2, 1, 2, {}),
    "cdx/example.cdx": (3, 2, 1, 2, {}),
    "cdx/iana.cdx": (171, 43, 123, 48, {}),
    "cdx/post-test.cdx": (3, 2, 0, 3, {}),
    "cdx/test1.cdx": (1, 1, 0, 1, {"other-scheme": 2}),
    "cdx/test2.cdx": (1, 1, 0, 1, {"other-scheme": 2}),
    "cdx/url-agnost-example.cdx": (2, 2, 1, 1, {}),
    "derived-broken/iana_crlf_no_header.cdx": (171, 43, 123, 48, {}),
    "zipnum/zipnum-sample.cdx.gz": (188, 49, 133, 55, {}),
}
CDXJ = {
    "cdxj/example-no-digest.cdxj": (3, 2, 1, 0, {}),
    "cdxj/example.cdx.gz": (1, 1, 0, 1, {}),
    "cdxj/example.cdxj": (3, 2, 1, 0, {}),
    "cdxj/example2.cdxj": (1, 1, 0, 1, {}),
    "cdxj/httpbin-resource.cdxj": (1, 1, 0, 0, {}),
    "cdxj/iana.cdxj": (171, 43, 123, 48, {}),
    "cdxj/missing-status-text.cdxj": (1, 1, 0, 1, {}),
    "cdxj/post-test.cdxj": (3, 2, 0, 3, {}),
    "cdxj/url-agnost-example.cdxj": (2, 2, 1, 1, {}),
    "cc-index-cdxj/derived_cluster_layout.cdxj": (23, 14, 0, 23, {}),
    "derived-broken/iana_no_trailing_newline.cdxj": (171, 43, 123, 48, {}),
}
EMPTY = "cdx/Reader3.cdx"


@pytest.fixture(scope="session")
def formats(shared_data):
    return shared_data / "formats"


def read(path, reader, *, keep_damaged=False):
    with ByteStream(str(path), keep_damaged=keep_damaged) as stream:
        return list(reader(stream, EVERYTHING))


def gather(batches, name):
    return [value for batch in batches for value in batch.columns()[name].to_pylist()]


def count(batches):
    urls, statuses = gather(batches, "url"), gather(batches, "status")
    excluded = sum((Counter(batch.excluded) for batch in batches), Counter())
    n_with_status = sum(status is not None for status in statuses)
    return len(urls), len(set(urls)), sum(gather(batches, "revisit")), n_with_status, excluded


@pytest.mark.parametrize("name", [*CDX, *CDXJ])
def test_every_file_gives_its_captures_and_rejects_nothing(formats, name):
    reader, expected = (read_cdx, CDX[name]) if name in CDX else (read_cdxj, CDXJ[name])
    batches = read(formats / name, reader)
    assert count(batches) == expected
    assert not any(batch.rejected for batch in batches)
    assert None not in gather(batches, "time") + gather(batches, "group")


def test_no_file_of_the_tables_is_missing_and_no_other_is_claimed(formats):
    found = {"cdx": set(), "cdxj": set(), "index": set(), "locations": set()}
    for path in sorted(formats.rglob("*.*")):
        if not path.is_file():
            continue
        with ByteStream(str(path), keep_damaged=True) as stream:
            try:
                beginning = stream.beginning()
            except DamagedInput:
                continue
        name = str(path.relative_to(formats))
        claims = [
            kind
            for kind, looks_like in {
                "cdx": looks_like_cdx,
                "cdxj": looks_like_cdxj,
                "index": looks_like_zipnum_index,
                "locations": looks_like_zipnum_locations,
            }.items()
            if looks_like(beginning)
        ]
        assert len(claims) <= 1, name
        for kind in claims:
            found[kind].add(name)
    assert found["cdx"] == set(CDX) - {EMPTY}
    assert found["cdxj"] == {*CDXJ, "derived-broken/iana_truncated.cdxj.gz"}
    assert found["index"] == {"zipnum/zipnum-bad.idx", "zipnum/zipnum-sample.idx"}
    assert found["locations"] == {"zipnum/zipnum-bad.loc", "zipnum/zipnum-sample.loc"}


@pytest.mark.parametrize("name", ["iana", "post-test", "url-agnost-example"])
def test_the_two_kinds_of_index_of_the_same_captures_agree_in_all_fields(formats, name):
    cdx = read(formats / "cdx" / f"{name}.cdx", read_cdx)
    cdxj = read(formats / "cdxj" / f"{name}.cdxj", read_cdxj)
    for field in ("url", "key", "time", "status", "revisit", "mime", "digest", "group"):
        assert Counter(gather(cdx, field)) == Counter(gather(cdxj, field)), field


def test_an_index_that_ends_within_its_compressed_stream_is_damaged(formats):
    path = formats / "derived-broken" / "iana_truncated.cdxj.gz"
    with pytest.raises(DamagedInput, match="damaged at byte 1,874: the file ends before"):
        read(path, read_cdxj)
    kept = gather(read(path, read_cdxj, keep_damaged=True), "url")
    whole = gather(read(formats / "cdxj" / "iana.cdxj", read_cdxj), "url")
    assert 0 < len(kept) < len(whole)
    assert kept == whole[: len(kept)]


def test_the_cluster_names_its_part_and_its_exact_size(formats):
    with ByteStream(str(formats / "zipnum" / "zipnum-sample.idx")) as stream:
        (part,) = read_cluster(stream).parts
    assert (part.name, part.path.name) == ("zipnum", "zipnum-sample.cdx.gz")
    assert part.n_bytes == part.path.stat().st_size


def test_the_cluster_without_parts_is_an_error_that_names_them(formats):
    with (
        ByteStream(str(formats / "zipnum" / "zipnum-bad.idx")) as stream,
        pytest.raises(SourceError, match=r"not found .*: bar, foo, foo2; put them there"),
    ):
        read_cluster(stream)
