"""All that interprets what others wrote, beside readers of archive files, with valid samples."""

from crawlgauge.core.captures import hash_text
from crawlgauge.core.urls import scheme_free, surt
from crawlgauge.crawl import parse_date
from crawlgauge.ingest.crawl_list import read_crawl_list
from crawlgauge.ingest.sorting import parse_memory
from crawlgauge.keys.digest import canonical_digest
from crawlgauge.keys.names import canonical_type, host_of_capture, host_of_key, host_of_url
from crawlgauge.keys.sampling import parse_sampling
from crawlgauge.keys.scope import parse_scope
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.overlaps.files import read_histories, read_overlaps
from crawlgauge.overlaps.reference import looks_like_names, read_names
from crawlgauge.sources.cdx_server import _find_key
from crawlgauge.sources.frontier import read_frontier
from crawlgauge.sources.page_text import fingerprint_page
from crawlgauge.sources.remote import conceal
from crawlgauge.store.crawl_set import check_document, to_document

__all__ = ["PARSERS"]

URL = (
    b"http://www.Example.org:8080/a/b/../c;jsessionid=0123456789abcdef0123456789abcdef?x=1&a=%41#f"
)
PAGE = (
    b"<!doctype html><html><body><main><p class='a'>Some <b>words</b> of a page.</p></main></body>"
)
TABLE = b"a,date_a,n_a,b,date_b,n_b,n_shared\nx,2020-01-01,100,y,2021-01-01,90,50\n"
CRAWLS = b"label,date,n_urls\nx,2020-01-01,100\ny,2021-01-01,90\n"
HISTORIES = b"history,count\n10,50\n11,50\n01,40\n"
REPORT = b"1 1 [#remaining] [host]\n7 a.org\n"


def _in_file(read):
    def parse(data, folder):
        path = folder / "input"
        path.write_bytes(data)
        return read(path)

    return parse


def _read_histories(path):
    (path.parent / "crawls.csv").write_bytes(CRAWLS)
    return read_histories(path, path.parent / "crawls.csv")


def _list_names(path):
    return looks_like_names(str(path)) and [*read_names(str(path))]


def _text(data):
    return data.decode("latin-1")


HEADER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: x\r\n\r\n"
)
PARSERS = {
    "surt": (URL, lambda data, _: (canonical_surt(data), surt(data))),
    "scheme-free": (URL, lambda data, _: hash_text(scheme_free(data))),
    "host": (URL, lambda data, _: (host_of_url(data), host_of_capture(data, None))),
    "host of a key": (b"(org,example,):8080/a", lambda data, _: host_of_key(data)),
    "media type": (b" Text/HTML ; charset=x", lambda data, _: canonical_type(data)),
    "digest": (b"sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", lambda data, _: canonical_digest(data)),
    "scope": (
        b"example.com\n!http://example.com/a\n*.org\n",
        lambda data, _: parse_scope(data, "x"),
    ),
    "page": (PAGE, lambda data, _: fingerprint_page(data, HEADER)),
    "header of a page": (HEADER, lambda data, _: fingerprint_page(PAGE, data)),
    "table": (TABLE, _in_file(read_overlaps)),
    "histories": (HISTORIES, _in_file(_read_histories)),
    "list of crawls": (b"label,date,path\nx,2020,x.txt\n", _in_file(read_crawl_list)),
    "names": (b"host\nexample.org\n", _in_file(_list_names)),
    "frontier": (REPORT, _in_file(lambda path: read_frontier(str(path), "x"))),
    "frontier report": (b" Queued: 12\n", _in_file(lambda path: read_frontier(str(path), "x"))),
    "skipped pages": (
        b'{"url": "http://a.org/", "reason": "pageLimit"}\n',
        _in_file(lambda path: read_frontier(str(path), "x")),
    ),
    "document of a store": (
        to_document({"schema": "x/1", "label": "x", "sets": [{"a": 1}]}),
        _in_file(lambda path: check_document(path.read_bytes(), path, "x/1")),
    ),
    "end of a server's answer": (
        b'[["a"],\n[],\n["com,a%29 2014!"]]',
        lambda data, _: _find_key(data),
    ),
    "end of a server's lines": (b"a b c\n\ncom,a%29+2014!", lambda data, _: _find_key(data)),
    "address": (b"s3://bucket/a?sig=x&key=y", lambda data, _: conceal(_text(data))),
    "date": (b"2020-01-31", lambda data, _: parse_date(_text(data))),
    "memory": (b"1.5 GiB", lambda data, _: parse_memory(_text(data))),
    "share": (b"1/64", lambda data, _: parse_sampling(_text(data))),
}
"""By name: a sample, and what parses it, which may write into a folder."""
