"""Every real file of every format: exact counts, compared with plain counting, or a refusal."""

import gzip
import json
import re
import zipfile
import zlib

import pyarrow.parquet as pq
import pytest
from readings import read_files

import crawlgauge as cg
from crawlgauge.errors import DamagedInput, SourceError

OTHER = "other-scheme"

READ = {
    # Name: captures, distinct URLs, rejected, excluded.
    "arc/2-metadata-1.arc": (0, 0, {}, {OTHER: 18, "filedesc": 1}),
    "arc/IAH-20080430204825-00000-blackbook-truncated.arc": (7, 7, {}, {OTHER: 1, "filedesc": 1}),
    "arc/example.arc": (1, 1, {}, {"filedesc": 1}),
    "arc/example.arc.gz": (1, 1, {}, {"filedesc": 1}),
    "cc-index-cdxj/derived_cluster_layout.cdxj": (23, 14, {}, {}),
    "cc-index-cdxj/rows_as_served.jsonl": (23, 14, {}, {}),
    "cc-index-parquet/derived_cc-index_flat.parquet": (23, 14, {}, {}),
    "cdx/Reader1.cdx": (119, 115, {}, {OTHER: 27}),
    "cdx/Reader4.cdx": (1, 1, {}, {}),
    "cdx/bad.cdx": (4, 2, {}, {}),
    "cdx/example-arc-test.cdx": (2, 1, {}, {}),
    "cdx/example-extra.cdx": (2, 1, {}, {}),
    "cdx/example-non-surt.cdx": (3, 2, {}, {}),
    "cdx/example.cdx": (3, 2, {}, {}),
    "cdx/iana.cdx": (171, 43, {}, {}),
    "cdx/post-test.cdx": (3, 2, {}, {}),
    "cdx/test1.cdx": (1, 1, {}, {OTHER: 2}),
    "cdx/test2.cdx": (1, 1, {}, {OTHER: 2}),
    "cdx/url-agnost-example.cdx": (2, 2, {}, {}),
    # Recorded exchanges with servers: JSON Lines whose URLs are those that were asked for.
    "cdx-server-json/test_basics.jsonl": (1, 1, {}, {}),
    "cdx-server-json/test_get_cc_endpoints.jsonl": (1, 1, {}, {}),
    "cdx-server-json/test_multi_cc1_slow_8.jsonl": (143, 72, {}, {}),
    "cdx-server-json/test_multi_cc2.jsonl": (76, 76, {}, {}),
    "cdx-server-json/test_multi_ia.jsonl": (1, 1, {}, {}),
    "cdx-server-json/test_multi_misc_not_ia_slow_1.jsonl": (1, 1, {}, {}),
    "cdxj/example-no-digest.cdxj": (3, 2, {}, {}),
    "cdxj/example.cdx.gz": (1, 1, {}, {}),
    "cdxj/example.cdxj": (3, 2, {}, {}),
    "cdxj/example2.cdxj": (1, 1, {}, {}),
    "cdxj/httpbin-resource.cdxj": (1, 1, {}, {}),
    "cdxj/iana.cdxj": (171, 43, {}, {}),
    "cdxj/missing-status-text.cdxj": (1, 1, {}, {}),
    "cdxj/post-test.cdxj": (3, 2, {}, {}),
    "cdxj/url-agnost-example.cdxj": (2, 2, {}, {}),
    "commoncrawl/whirlwind.warc.gz": (1, 1, {}, {"request": 1, "metadata": 1, "warcinfo": 1}),
    "derived-broken/iana_crlf_no_header.cdx": (171, 43, {}, {}),
    "derived-broken/iana_no_trailing_newline.cdxj": (171, 43, {}, {}),
    "heritrix-crawl-log/crawl.log": (66, 66, {}, {OTHER: 6, "not-fetched": 4}),
    "heritrix-crawl-log/example.crawl.log": (9550, 9480, {}, {OTHER: 159, "not-fetched": 226}),
    "heritrix-crawl-log/fragment-of-a-crawl.log": (10, 10, {}, {OTHER: 12}),
    "heritrix-crawl-log/idna-crawl.log": (402, 402, {}, {OTHER: 7, "not-fetched": 1138}),
    "heritrix-crawl-log/invalid-crawl.log": (
        0,
        0,
        {"no-scheme": 1, "too-few-fields": 1},
        {OTHER: 2},
    ),
    "heritrix-crawl-log/stop-reason-crawl.log": (2, 2, {}, {OTHER: 1, "not-fetched": 2}),
    "wacz/invalid_signed_example_1.wacz": (2, 2, {}, {}),
    "wacz/valid_example_1.wacz": (1, 1, {}, {}),
    "wacz/valid_example_2.wacz": (1, 1, {}, {}),
    "warc/2-metadata-1.warc": (0, 0, {}, {"metadata": 20}),
    "warc/20130729-heritrix-original.warc.gz": (1, 1, {}, {}),
    "warc/20130729-heritrix-revisit-with-http-headers.warc.gz": (1, 1, {}, {}),
    "warc/20141124-heritrix-server-not-modified.warc.gz": (1, 1, {}, {}),
    "warc/20141129-heritrix-original.warc.gz": (1, 1, {}, {}),
    "warc/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz": (1, 1, {}, {}),
    "warc/example-bad-non-chunked.warc.gz": (2, 1, {}, {"request": 2, "warcinfo": 2}),
    "warc/example-digest.warc": (0, 0, {}, {"request": 4}),
    "warc/example-extra.warc": (4, 1, {}, {"request": 2}),
    "warc/example-iana.org-chunked.warc": (1, 1, {}, {"request": 1, "warcinfo": 1}),
    "warc/example-resource.warc.gz": (1, 1, {}, {"warcinfo": 2}),
    "warc/example-space-in-target-uri.warc.gz": (0, 0, {}, {OTHER: 1, "warcinfo": 1}),
    "warc/example-url-agnostic-orig.warc.gz": (1, 1, {}, {"warcinfo": 1}),
    "warc/example-url-agnostic-revisit.warc.gz": (1, 1, {}, {"warcinfo": 1}),
    "warc/example-warcinfo-metadata.warc": (1, 1, {}, {"request": 1, "warcinfo": 2}),
    "warc/example-wget-1-14.warc.gz": (1, 1, {}, {OTHER: 3, "request": 1, "warcinfo": 1}),
    "warc/example-wget-bad-target-uri.warc.gz": (
        1,
        1,
        {},
        {OTHER: 2, "request": 1, "metadata": 1, "warcinfo": 1},
    ),
    "warc/example-wpull.warc.gz": (1, 1, {}, {OTHER: 1, "request": 1, "warcinfo": 1}),
    "warc/example-wrong-chunks.warc.gz": (1, 1, {}, {"request": 1}),
    "warc/example.warc.gz": (3, 2, {}, {"request": 2, "warcinfo": 1}),
    "warc/gzip_extra_sl.warc.gz": (0, 0, {}, {"warcinfo": 1}),
    "warc/httpbin-resource.warc.gz": (1, 1, {}, {}),
    "warc/iana.warc.gz": (171, 43, {}, {"request": 171, "warcinfo": 1}),
    "warc/missing-status-text.warc": (1, 1, {}, {}),
    "warc/mutliple-headers.warc": (1, 1, {}, {}),
    "warc/post-test.warc.gz": (3, 2, {}, {"request": 3}),
    "warc/test1.warc.gz": (1, 1, {}, {OTHER: 1, "request": 1, "metadata": 1, "warcinfo": 1}),
    "zipnum/zipnum-sample.cdx.gz": (188, 49, {}, {}),
    "zipnum/zipnum-sample.idx": (188, 49, {}, {}),
}

DAMAGED = {
    # Name: what the refusal says; captures and excluded of what can be kept.
    "arc/bad.arc": (r"at byte 0: the length of a record is missing or no number", 1, {}),
    "arc/example-space-in-url.arc": (
        r"at byte 1,873: the input ends inside the record that begins at byte 151",
        1,
        {"filedesc": 1},
    ),
    "derived-broken/example_truncated_midmember.warc.gz": (
        r"at byte 2,322: the file ends before .* lost: all after the first 3,884 bytes of content",
        1,
        {"request": 1, "warcinfo": 1},
    ),
    "derived-broken/iana_truncated.cdxj.gz": (
        r"at byte 1,874: the file ends before .* lost: all after the first 25,366 bytes of content",
        98,
        {},
    ),
    "warc/example-trunc.warc": (
        r"at byte 2,560: no WARC record begins there; the record before it gives a wrong length",
        1,
        {"request": 1, "warcinfo": 2},
    ),
    "warc/example.warc": (
        r"at byte 4,764: no WARC record begins there; the record before it gives a wrong length",
        3,
        {"request": 2, "warcinfo": 1},
    ),
}

NO_LIST = r"is no list of URLs: its lines have several fields, such as '"

REFUSED = {
    "PROVENANCE.tsv": NO_LIST,
    "cc-index-parquet/cc-index-create-table-flat.sql": NO_LIST,
    "cc-index-parquet/cc-index-schema-flat.json": NO_LIST,
    "cc-index-parquet/cc-index-schema-nested.json": NO_LIST,
    "cc-index-parquet/eot-index-schema.json": NO_LIST,
    "cc-index-parquet/index-schema-simple.json": NO_LIST,
    "commoncrawl/whirlwind.warc.wat.gz": r"is a WAT file: .*use the WARC files themselves, or",
    "commoncrawl/whirlwind.warc.wet.gz": r"is a WET file: .*use the WARC files themselves, or",
    "gzip-odd/double-single-inflate-error.gz": NO_LIST,
    "wacz/invalid_example_1.wacz": r"is a WACZ without captures: it has no indexes/\*\.cdx",
    "zipnum/zipnum-bad.idx": (
        r"is the index of a ZipNum cluster, but these parts of it were not found beside it nor "
        r"where a \.loc file says: bar, foo, foo2; put them there"
    ),
}

NO_ARCHIVES = {
    # Name: lines that are no URLs; what the user is told who adds the file as a crawl.
    "cdx/Reader3.cdx": (0, r"Reader3\.cdx: no URL found; empty"),
    "commoncrawl/CC-MAIN-2024-22.warc.paths.gz": (300, r"none of 300 lines .* 'part-00000-4dd7"),
    "gzip-odd/abcd.gz": (1, r"line 1 of .*abcd\.gz is 'abcd'"),
    "gzip-odd/empty.gz": (0, r"empty\.gz: no URL found; empty"),
    "gzip-odd/hi-2.gz": (2, r"none of 2 lines is a URL"),
    "zipnum/zipnum-bad.loc": (0, r"zipnum-bad\.loc: no URL found"),
    "zipnum/zipnum-sample.loc": (0, r"zipnum-sample\.loc: no URL found"),
}


@pytest.fixture
def add(formats, tmp_path):
    """Add a file as a crawl."""
    return lambda name: cg.add_crawl(tmp_path, "x", formats / name, date="2014-01-27")


def test_each_file_stands_in_exactly_one_table(formats):
    names = [str(path.relative_to(formats)) for path in formats.rglob("*") if path.is_file()]
    assert sorted(names) == sorted([*READ, *DAMAGED, *REFUSED, *NO_ARCHIVES])


@pytest.mark.parametrize("name", READ)
def test_a_whole_file_gives_these_counts(formats, name):
    n_captures, n_urls, rejected, excluded = READ[name]
    found = read_files(formats / name)
    assert (len(found.rows), len(set(found.urls))) == (n_captures, n_urls)
    assert (found.rejected, found.excluded) == (rejected, excluded)
    assert not found.damages


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_unless_what_can_be_read_is_wanted(formats, name):
    message, n_captures, excluded = DAMAGED[name]
    with pytest.raises(DamagedInput, match=rf"{re.escape(name)} is damaged {message}"):
        read_files(formats / name)
    found = read_files(formats / name, keep=True)
    assert (len(found.rows), found.excluded) == (n_captures, excluded)
    assert found.damages


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_serve_is_refused_with_the_reason(formats, name):
    with pytest.raises(SourceError, match=rf"{re.escape(name)} {REFUSED[name]}"):
        read_files(formats / name)


@pytest.mark.parametrize("name", NO_ARCHIVES)
def test_a_file_without_captures_is_told_by_what_stands_in_it(formats, add, name):
    n_lines, message = NO_ARCHIVES[name]
    found = read_files(formats / name)
    assert (found.rows, found.rejected.total(), found.damages) == ([], n_lines, [])
    with pytest.raises(SourceError, match=message):
        add(name)


def plain_bytes(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


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


def count_arc_records(data):
    """Count the records by their lengths."""
    n_records = place = 0
    while data[place:].strip(b"\n"):
        place += len(data[place:]) - len(data[place:].lstrip(b"\n"))
        end = data.index(b"\n", place)
        place = end + 1 + int(data[place:end].rsplit(b" ", 1)[1])
        n_records += 1
    return n_records


def count_records(path):
    """Count the records of a file without crawlgauge."""
    if path.suffix == ".parquet":
        return pq.read_metadata(path).num_rows
    if path.suffix == ".wacz":
        with zipfile.ZipFile(path) as file:
            return len(lines_of(gzip.decompress(file.read("indexes/index.cdx.gz"))))
    if path.parent.name == "zipnum":
        # Its blocks end without a line end.
        blocks = gzip_members(path.with_name("zipnum-sample.cdx.gz").read_bytes())
        return sum(len(lines_of(block)) for block in blocks)
    data = plain_bytes(path)
    if ".warc" in path.name:
        return len(re.findall(rb"^WARC/\d\.\d[ \r]*$", data, re.MULTILINE))
    if ".arc" in path.name:
        return count_arc_records(data)
    return sum(not line.startswith((b" CDX ", b"metadata://")) for line in lines_of(data))


@pytest.mark.parametrize("name", READ)
def test_no_record_of_a_whole_file_is_passed_over(formats, name):
    n_captures, _, rejected, excluded = READ[name]
    n_records = count_records(formats / name)
    assert n_captures + sum(rejected.values()) + sum(excluded.values()) == n_records


@pytest.mark.parametrize("name", [name for name in READ if name.endswith(".warc.gz")])
def test_a_warc_file_has_a_gzip_member_for_each_record_or_only_one(formats, name):
    n_members = len(gzip_members((formats / name).read_bytes()))
    assert n_members in {1, count_records(formats / name)} or "wrong-chunks" in name


@pytest.mark.parametrize("name", [name for name in READ if name.endswith(".cdxj")])
def test_the_urls_of_an_index_are_those_of_its_json(formats, name):
    lines = lines_of((formats / name).read_bytes())
    plain = [json.loads(line.split(b" ", 2)[2])["url"].encode() for line in lines]
    assert read_files(formats / name).urls == sorted(plain)
