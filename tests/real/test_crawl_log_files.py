"""Real logs of Heritrix 1.x and 3.x, against a plain split of their lines."""

import re
from collections import Counter

import pytest
from readings import read_files

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
def test_each_log_gives_its_captures_as_a_plain_split_does(formats, name):
    path = formats / "heritrix-crawl-log" / name
    lines = [line.split() for line in path.read_bytes().splitlines()]
    # Links to applications (ios-app:) are among the URLs that were tried, and are left out.
    tried = [
        (words[3], int(words[1]))
        for words in lines
        if len(words) >= 8 and re.match(rb"(?i)(http|ftp)s?://[^/?#]", words[3])
    ]
    found = read_files(path, group="filename")
    fetched = [capture for capture in tried if capture[1] > 0]
    assert sorted((row.url, row.status) for row in found.rows) == sorted(fetched)
    n_captures, n_urls, n_ok, n_revisits, n_groups, rejected, excluded = FILES[name]
    assert (len(tried), len({url for url, _ in tried})) == (n_captures, n_urls)
    assert Counter(found.column("status"))[200] == n_ok
    assert sum(found.column("is_revisit")) == n_revisits
    assert len(set(found.column("group")) - {None}) == n_groups
    n_failed = len(tried) - len(fetched)
    assert found.excluded == Counter(excluded) + Counter({"not-fetched": n_failed})
    assert found.rejected == rejected
    assert None not in found.column("time")
    assert read_files(path).excluded == found.excluded
