"""Rows of Common Crawl's index in its columnar schema."""

import datetime as dt

from crawlgauge.core.captures import Collector, hash_text
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.parquet import read_parquet
from crawlgauge.sources.what_counts import Settings, WhatCounts


def test_common_crawls_rows_are_all_captures(shared_data):
    path = shared_data / "formats" / "cc-index-parquet" / "derived_cc-index_flat.parquet"
    settings = Settings(
        key_rule=GIVEN,
        counts=WhatCounts(status="any"),
        levels=("url", "content"),
        is_split=True,
        group="filename",
    )
    batches = []
    collector = Collector(settings, batches.append)
    with Stream(str(path)) as stream:
        for _ in read_parquet(stream, Intake(stream.name, collector), settings):
            pass
    collector.flush()
    (batch,) = batches
    assert batch.n_captures == 23
    assert not batch.rejected
    assert not batch.excluded
    assert batch.rows["key"][0] == hash_text(b"org,commoncrawl)/")
    first = dt.datetime(2017, 8, 17, 13, 21, 28, tzinfo=dt.UTC)
    assert batch.rows["time"][0] == first.timestamp()
    assert batch.digests[0] == b"I7YOT6XBZEJAPTQ7HGU3OXNR7DO6P7ZT"
    crawls = {name.split(b"/")[1] for name in settings.names.groups.texts()}
    assert b"CC-MAIN-2017-51" in crawls
