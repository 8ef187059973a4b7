"""The same captures in several formats are the same set of URLs, whichever file is read."""

import gzip
import itertools
import re
import zlib
from collections import Counter

import pyarrow.parquet as pq
import pytest
from readings import read_files

import crawlgauge as cg


@pytest.fixture
def add(formats, tmp_path):
    """Add files as a crawl of their own to a store of their own, and return its set."""
    numbers = itertools.count()

    def run(*names, **options):
        store = tmp_path / str(next(numbers))
        paths = [formats / name for name in names]
        return cg.add_crawl(store, "x", paths, date="2014-01-27", **options).crawl_set

    return run


def lines_of(data):
    return [line for line in re.split(rb"\r?\n", data) if line]


def gzip_members(data):
    """Return what the members of a gzip file hold, by zlib."""
    members = []
    while data:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        members.append(member.decompress(data))
        data = member.unused_data
    return members


@pytest.mark.parametrize("kind", ["warc/iana.warc.gz", "cdx/iana.cdx", "cdxj/iana.cdxj"])
def test_the_same_crawl_is_the_same_set_in_each_format(formats, add, kind):
    lines = [line.split(b" ") for line in lines_of((formats / "cdx/iana.cdx").read_bytes())[1:]]
    counting = [line for line in lines if line[3] == b"warc/revisit" or line[4].startswith(b"2")]
    raw, surt = add(kind, identity="raw"), add(kind)
    assert raw.crawl.n_urls == len({line[2] for line in counting}) == 39
    assert surt.crawl.n_urls == len({line[0] for line in counting}) == 29
    assert raw.n_captures == surt.n_captures == len(counting) == 167
    assert raw.excluded["redirect"] == len(lines) - len(counting) == 4
    assert raw.checksum == add("cdx/iana.cdx", identity="raw").checksum
    # The index's own keys are those that are computed from the URLs.
    assert surt.checksum == add("cdx/iana.cdx", identity="given").checksum


@pytest.mark.parametrize("kind", ["warc/example.warc.gz", "cdx/example.cdx", "cdxj/example.cdxj"])
def test_an_index_without_statuses_gives_the_same_set_where_all_count(add, kind):
    whole = add("warc/example.warc", status="any", on_damage="keep")
    assert add(kind, status="any").checksum == whole.checksum
    assert add(kind, status="any").n_captures == 3


def test_captures_without_a_status_count_and_are_told(add):
    with_status, without = add("cdx/example.cdx"), add("cdxj/example.cdxj")
    assert (with_status.n_captures, with_status.n_no_status) == (2, 0)
    assert with_status.excluded == {"redirect": 1}
    # Three captures have none; one is a revisit, which counts without.
    assert (without.n_captures, without.n_no_status, without.excluded) == (3, 2, {})


@pytest.mark.parametrize(
    "name",
    [
        "warc/20130729-heritrix-revisit-with-http-headers.warc.gz",
        "warc/20141124-heritrix-server-not-modified.warc.gz",
        "warc/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz",
        "warc/example-url-agnostic-revisit.warc.gz",
    ],
)
def test_a_revisit_is_a_capture_that_counts(formats, add, name):
    assert gzip.decompress((formats / name).read_bytes()).count(b"WARC-Type: revisit") == 1
    crawl = add(name)
    assert (crawl.n_captures, crawl.crawl.n_urls, crawl.n_no_status) == (1, 1, 0)


@pytest.mark.parametrize("status", ["2xx", "any"])
def test_a_cluster_is_the_same_through_its_index_and_its_part(formats, add, status):
    index, part, place = (f"zipnum/zipnum-sample.{ending}" for ending in ("idx", "cdx.gz", "loc"))
    expected = add(part, status=status)
    for names in ((index,), (index, part, place)):
        crawl = add(*names, status=status)
        assert (crawl.checksum, crawl.n_captures) == (expected.checksum, expected.n_captures)
    blocks = gzip_members((formats / part).read_bytes())
    assert len(blocks) == len(lines_of((formats / index).read_bytes()))
    assert sum(len(lines_of(block)) for block in blocks) == 188


CC_INDEX = (
    "cc-index-cdxj/derived_cluster_layout.cdxj",
    "cc-index-cdxj/rows_as_served.jsonl",
    "cc-index-parquet/derived_cc-index_flat.parquet",
)


def test_common_crawls_rows_are_the_same_captures_as_lines_json_and_columns(formats):
    lines, served, columns = (read_files(formats / name) for name in CC_INDEX)
    assert lines.told == served.told == columns.told
    table = pq.read_table(formats / CC_INDEX[2])
    assert [url.decode() for url in columns.urls] == sorted(table["url"].to_pylist())
    assert Counter(lines.column("status")) == Counter(table["fetch_status"].to_pylist())


@pytest.mark.parametrize("identity", ["surt", "given", "raw"])
def test_common_crawls_rows_are_the_same_set_in_each_form(add, identity):
    first, *others = (add(name, identity=identity) for name in CC_INDEX)
    for other in others:
        assert (other.checksum, other.n_captures) == (first.checksum, first.n_captures)
        assert other.excluded == first.excluded == {"redirect": 6, "robots.txt": 1}
    assert (first.n_captures, first.crawl.n_urls) == (16, 12 if identity == "raw" else 10)
