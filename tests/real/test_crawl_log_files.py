"""Real logs of Heritrix 1.x and 3.x, against a plain split of their lines."""

import re
from collections import Counter

import pytest

from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.crawl_log import looks_like_crawl_log, read_crawl_log
from crawlgauge.sources.request import Request

REQUEST = Request(fields=frozenset({"time", "status", "mime", "digest"}), group="filename")

# Captures, distinct URLs, those with status 200, revisits, WARC files, rejected, excluded.
FILES = {
    "crawl.log": (70, 69, 54, 0, 3, {}, {"other-scheme": 6}),
    "example.crawl.log": (9776, 9704, 8953, 66, 3, {}, {"other-scheme": 159}),
    "fragment-of-a-crawl.log": (10, 10, 6, 0, 0, {}, {"other-scheme": 12}),
    "idna-crawl.log": (1540, 1540, 386, 90, 0, {}, {"other-scheme": 7}),
    "invalid-crawl.log": (
        0,
        0,
        0,
        0,
        0,
        {"no-scheme": 1, "too-few-fields": 1},
        {"other-scheme": 2},
    ),
    "stop-reason-crawl.log": (4, 4, 0, 0, 0, {}, {"other-scheme": 1}),
}


@pytest.mark.parametrize("name", FILES)
def test_each_log_gives_its_captures(shared_data, name):
    rejected, excluded, statuses = Counter(), Counter(), Counter()
    urls, groups, times, n_revisits = [], set(), [], 0
    with ByteStream(str(shared_data / "formats" / "heritrix-crawl-log" / name)) as stream:
        assert looks_like_crawl_log(stream.beginning())
        for captures in read_crawl_log(stream, REQUEST):
            urls += captures.url.to_pylist()
            groups |= set(captures.group.to_pylist()) - {None}
            statuses.update(captures.columns()["status"].to_pylist())
            times += captures.time.tolist()
            n_revisits += sum(captures.revisit.tolist())
            rejected.update(captures.rejected)
            excluded.update(captures.excluded)
    found = (
        len(urls), len(set(urls)), statuses[200], n_revisits, len(groups), rejected, excluded
    )  # fmt: skip
    assert found == FILES[name]
    assert None not in times


@pytest.mark.parametrize("name", FILES)
def test_urls_and_statuses_are_those_of_a_plain_split(shared_data, name):
    path = shared_data / "formats" / "heritrix-crawl-log" / name
    lines = [line.split() for line in path.read_bytes().splitlines()]
    # Links to applications (ios-app:) are among the URLs that were tried, and are left out.
    expected = [
        (words[3], int(words[1]))
        for words in lines
        if len(words) >= 8 and re.match(rb"(?i)(http|ftp)s?://[^/?#]", words[3])
    ]
    found = []
    with ByteStream(str(path)) as stream:
        for captures in read_crawl_log(stream, REQUEST):
            found += zip(
                captures.url.to_pylist(), captures.columns()["status"].to_pylist(), strict=True
            )
    assert found == expected
