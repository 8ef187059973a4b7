"""Real CDX and CDXJ indexes and a real ZipNum cluster: exact counts for each file."""

import pytest
from readings import read_files

from crawlgauge.errors import DamagedInput
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import looks_like_zipnum_index, looks_like_zipnum_locations

# Captures, distinct URLs, revisits, captures with a status, and what is excluded.
CDX = {
    "cdx/Reader1.cdx": (119, 115, 0, 0, {"other-scheme": 27}),
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


@pytest.mark.parametrize("name", [*CDX, *CDXJ])
def test_every_file_gives_its_captures_and_rejects_nothing(formats, name):
    found = read_files(formats / name, group="filename")
    n_with_status = sum(status is not None for status in found.column("status"))
    n_revisits = sum(found.column("is_revisit"))
    counts = (len(found.rows), len(set(found.urls)), n_revisits, n_with_status, found.excluded)
    assert counts == (CDX[name] if name in CDX else CDXJ[name])
    assert not found.rejected
    assert None not in found.column("time") + found.column("group")


def test_no_file_of_the_tables_is_missing_and_no_other_is_claimed(formats):
    found = {"cdx": set(), "cdxj": set(), "index": set(), "locations": set()}
    for path in (path for path in formats.rglob("*.*") if path.is_file()):
        with Stream(str(path), keep_damaged=True) as stream:
            try:
                beginning = stream.beginning()
            except DamagedInput:
                continue
        kind = find_format(beginning, Settings(), path.name).name
        if looks_like_zipnum_index(beginning):
            kind = "index"
        elif looks_like_zipnum_locations(beginning):
            kind = "locations"
        found.setdefault(kind, set()).add(str(path.relative_to(formats)))
    assert found["cdx"] == set(CDX)
    assert found["cdxj"] == {*CDXJ, "derived-broken/iana_truncated.cdxj.gz"}
    assert found["index"] == {"zipnum/zipnum-bad.idx", "zipnum/zipnum-sample.idx"}
    assert found["locations"] == {"zipnum/zipnum-bad.loc", "zipnum/zipnum-sample.loc"}


@pytest.mark.parametrize("name", ["iana", "post-test", "url-agnost-example"])
def test_the_two_kinds_of_index_of_the_same_captures_agree_in_all_fields(formats, name):
    paths = formats / "cdx" / f"{name}.cdx", formats / "cdxj" / f"{name}.cdxj"
    cdx, cdxj = (read_files(path, group="filename") for path in paths)
    assert cdx.told == cdxj.told
    cdx, cdxj = (read_files(path, key_rule=GIVEN) for path in paths)
    assert cdx.keys == cdxj.keys


def test_an_index_that_ends_within_its_compressed_stream_is_damaged(formats):
    path = formats / "derived-broken" / "iana_truncated.cdxj.gz"
    with pytest.raises(DamagedInput, match="damaged at byte 1,874: the file ends before"):
        read_files(path)
    kept = read_files(path, keep=True).column("url")
    whole = read_files(formats / "cdxj" / "iana.cdxj").column("url")
    assert 0 < len(kept) < len(whole)
    assert kept == whole[: len(kept)]
