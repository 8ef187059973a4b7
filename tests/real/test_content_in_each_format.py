"""The same captures in several formats are the same set of contents, whichever file is read."""

import base64
import gzip
import hashlib
import itertools

import pytest

import crawlgauge as cg
from crawlgauge.errors import SourceError


@pytest.fixture(scope="module")
def formats(shared_data):
    return shared_data / "formats"


@pytest.fixture
def add(formats, tmp_path):
    """Add files as a crawl of their own, and return its set of contents."""
    numbers = itertools.count()

    def run(*names, **options):
        paths = [formats / name for name in names]
        addition = cg.add_crawl(
            tmp_path / str(next(numbers)),
            "x",
            paths,
            date="2014-01-27",
            levels="url,content",
            **options,
        )
        (found,) = addition.others
        return found

    return run


@pytest.mark.parametrize("kind", ["warc/iana.warc.gz", "cdx/iana.cdx", "cdxj/iana.cdxj"])
def test_the_same_crawl_has_the_same_contents_in_each_format(formats, add, kind):
    lines = (formats / "cdx/iana.cdx").read_bytes().splitlines()[1:]
    fields = [line.split(b" ") for line in lines]
    counting = [line for line in fields if line[3] == b"warc/revisit" or line[4][:1] == b"2"]
    found = add(kind)
    assert found.crawl.n_urls == len({line[5] for line in counting}) == 29
    assert found.n_captures == len(counting) == 167
    assert found.checksum == add("cdx/iana.cdx").checksum
    assert (found.level, found.key_rule) == ("content", "digest/1")


@pytest.mark.parametrize(
    "kind",
    [
        "warc/example.warc.gz",
        "cdx/example.cdx",
        "cdxj/example.cdxj",
        "warc/example-url-agnostic-orig.warc.gz",
        "warc/example-url-agnostic-revisit.warc.gz",
        "arc/example.arc",
        "arc/example.arc.gz",
        "cdx/example-arc-test.cdx",
    ],
)
def test_one_page_is_one_content_from_any_tool_as_response_revisit_or_arc(add, kind):
    """The digest is in the header, in the index, of the page referred to, or computed (ARC)."""
    found = add(kind, status="2xx")
    assert found.crawl.n_urls == 1
    assert found.checksum == add("cdx/example.cdx", status="2xx").checksum


def test_common_crawls_rows_are_the_same_contents_in_each_form(add):
    first, *others = (
        add(name)
        for name in (
            "cc-index-cdxj/derived_cluster_layout.cdxj",
            "cc-index-cdxj/rows_as_served.jsonl",
            "cc-index-parquet/derived_cc-index_flat.parquet",
        )
    )
    assert (first.n_captures, first.crawl.n_urls) == (16, 14)
    assert {other.checksum for other in others} == {first.checksum}


def test_digests_that_records_lack_are_those_that_they_would_have(formats, add, tmp_path):
    data = gzip.decompress((formats / "warc/iana.warc.gz").read_bytes())
    bare = tmp_path / "bare.warc"
    bare.write_bytes(data.replace(b"WARC-Payload-Digest: sha1:", b"WARC-No-Such-Field--: sha1:"))
    whole, computed = add("warc/iana.warc.gz"), add(bare)
    # Revisits have no body, and without the field nobody knows what they refer to.
    n_revisits = data.count(b"WARC-Type: revisit")
    assert computed.excluded["no-digest"] == n_revisits > 0
    assert computed.n_captures == whole.n_captures - n_revisits
    assert computed.checksum == whole.checksum


def test_a_chunked_body_has_the_digest_of_its_entity(formats, add, tmp_path):
    data = (formats / "warc/example-iana.org-chunked.warc").read_bytes()
    assert b"Transfer-Encoding: chunked" in data
    bare = tmp_path / "bare.warc"
    bare.write_bytes(data.replace(b"WARC-Payload-Digest:", b"WARC-No-Such-Field--:"))
    entity = _dechunk(data[data.index(b"\r\n\r\n", data.index(b"HTTP/1.1 200")) + 4 :])
    digest = base64.b32encode(hashlib.sha1(entity, usedforsecurity=False).digest()).decode()
    row = tmp_path / "row.csv"
    row.write_text(f"url,digest\nhttp://www.iana.org/,{digest}\n")
    assert add(bare).checksum == add(row).checksum


def _dechunk(data):
    parts = []
    while True:
        size, _, data = data.partition(b"\r\n")
        if int(size, 16) == 0:
            return b"".join(parts)
        parts.append(data[: int(size, 16)])
        data = data[int(size, 16) + 2 :]


def test_an_index_without_digests_is_refused_with_what_to_do(add):
    with pytest.raises(SourceError, match=r"none of 3 captures has a digest.*--levels"):
        add("cdxj/example-no-digest.cdxj")


@pytest.mark.parametrize(
    ("name", "n_captures", "n_contents", "n_missing"),
    [
        ("heritrix-crawl-log/example.crawl.log", 8883, 7997, 0),
        ("zipnum/zipnum-sample.cdx.gz", 182, 30, 0),
        ("wacz/valid_example_2.wacz", 1, 1, 0),
    ],
)
def test_contents_of_other_formats_are_counted(add, name, n_captures, n_contents, n_missing):
    found = add(name)
    assert found.n_captures == n_captures
    assert found.crawl.n_urls == n_contents
    assert found.excluded.get("no-digest", 0) == n_missing
