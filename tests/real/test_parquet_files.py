"""Rows of Common Crawl's index in its columnar schema."""

import collections

from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.parquet_rows import read_parquet_rows
from crawlgauge.sources.request import Request

FIELDS = frozenset({"key", "time", "status", "mime", "digest"})


def test_common_crawls_rows_are_all_captures(shared_data):
    path = shared_data / "formats" / "cc-index-parquet" / "derived_cc-index_flat.parquet"
    with ByteStream(str(path)) as stream:
        request = Request(fields=FIELDS, group="filename")
        (batch,) = read_parquet_rows(stream, request)
    assert len(batch) == 23
    assert not batch.rejected
    assert not batch.excluded
    assert batch.url.to_pylist()[0] == b"http://commoncrawl.org/"
    assert batch.key.to_pylist()[0] == b"org,commoncrawl)/"
    assert batch.time.tolist()[0].isoformat() == "2017-08-17T13:21:28"
    assert batch.digest.to_pylist()[0] == b"I7YOT6XBZEJAPTQ7HGU3OXNR7DO6P7ZT"
    crawls = collections.Counter(name.split(b"/")[1] for name in batch.group.to_pylist())
    assert crawls.total() == 23
    assert crawls[b"CC-MAIN-2017-51"] > 0
