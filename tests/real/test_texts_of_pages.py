"""Texts of the pages in real archive files: what counts, what falls back, what is not known."""

import gzip

import pytest

import crawlgauge as cg
from crawlgauge.errors import SourceError


@pytest.fixture
def add(shared_data, tmp_path):
    def run(name, store="store"):
        path = shared_data / "formats" / name
        options = {"date": "2014-01-27", "levels": "url,content,text"}
        return cg.add_crawl(tmp_path / store, "x", path, **options).others

    return run


def test_pages_are_told_by_their_texts_and_the_rest_by_digests(shared_data, add):
    data = gzip.decompress((shared_data / "formats/warc/iana.warc.gz").read_bytes())
    content, text = add("warc/iana.warc.gz")
    n_revisits = data.count(b"WARC-Type: revisit")
    assert (text.level, text.key_rule) == ("text", "text/1")
    assert text.n_captures == content.n_captures - n_revisits == 44
    assert text.excluded["no-text"] == n_revisits == 123
    # Of 44 captures with a body that count, 16 are pages.
    assert text.n_by_digest == 28
    assert text.crawl.n_urls == content.crawl.n_urls == 29


def test_pages_in_arc_and_in_wacz_are_read_too(add):
    for name in ("arc/example.arc.gz", "arc/example.arc", "wacz/valid_example_1.wacz"):
        content, text = add(name, store=name.replace("/", "-"))
        assert (text.n_captures, text.n_by_digest) == (1, 0)
        assert text.checksum != content.checksum


def test_the_same_page_has_the_same_text_from_any_tool(add):
    names = ("arc/example.arc", "arc/example.arc.gz", "warc/example-url-agnostic-orig.warc.gz")
    assert len({add(name, store=name.replace("/", "-"))[1].checksum for name in names}) == 1


def test_an_index_holds_no_texts(add):
    with pytest.raises(SourceError, match=r"made of the pages themselves.*WARC, ARC and WACZ"):
        add("cdxj/iana.cdxj")
