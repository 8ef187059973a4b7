"""Which URLs are in scope."""

import pytest

from crawlgauge.core.captures import Collector
from crawlgauge.errors import SourceError
from crawlgauge.ingest.options import read_scope
from crawlgauge.keys.scope import parse_scope
from crawlgauge.sources.what_counts import Settings, WhatCounts


def covers(rules, *urls):
    """Tell of each URL whether a collector takes it for one in scope."""
    scope = parse_scope(rules, "scope.txt")
    batches = []
    collector = Collector(Settings(scope=scope, counts=WhatCounts(status="any")), batches.append)
    for url in urls:
        assert collector.add(url) in (None, "no-scheme")
        collector.flush()
    return [batch.n_captures == 1 for batch in batches]


@pytest.mark.parametrize(
    "rule",
    [
        b"example.org",
        b"*.example.org",
        b".example.org",
        b"EXAMPLE.org.",
        b"https://www.example.org/",
        b"org,example",
        b"org,example,",
        b"http://(org,example,",
        b"+http://(org,example,www,",
    ],
)
def test_a_host_or_domain_covers_itself_and_all_below(rule):
    inside = [b"http://example.org", b"https://www.example.org/a?b", b"http://a.b.example.org:81/"]
    outside = [
        b"http://example.org.uk/",
        b"http://myexample.org/",
        b"http://org/",
        b"http://example.orga/",
    ]
    assert covers(rule, *inside, *outside) == [True] * 3 + [False] * 4


def test_a_path_with_a_slash_at_its_end_covers_all_below_it():
    urls = [
        b"http://a.org/blog",
        b"http://a.org/blog/x",
        b"http://a.org/blog?p=1",
        b"http://a.org/blogs",
        b"http://b.a.org/blog/",
    ]
    assert covers(b"https://a.org/blog/", *urls) == [True, True, True, False, False]
    assert covers(b"a.org/blog/", *urls) == [True, True, True, False, False]


def test_a_path_without_one_is_the_beginning_of_a_url():
    urls = [b"http://a.org/blog", b"http://a.org/blogs", b"http://a.org/b"]
    assert covers(b"https://a.org/blog", *urls) == [True, True, False]
    assert covers(b"org,a)/blog", *urls) == [True, True, False]


def test_the_longest_rule_decides_whatever_the_order():
    rules = [b"de", b"!uni.de", b"lib.uni.de", b"!https://lib.uni.de/private/"]
    urls = [
        b"http://x.de/",
        b"http://uni.de/",
        b"http://lib.uni.de/a",
        b"http://lib.uni.de/private/a",
    ]
    for order in (rules, rules[::-1]):
        assert covers(b"\n".join(order), *urls) == [True, False, True, False]


def test_with_exclusions_alone_all_else_is_in_scope():
    assert covers(b"!ads.org", b"http://a.org/", b"http://x.ads.org/") == [True, False]


def test_urls_that_only_the_reference_understands_are_judged_too():
    assert covers(
        "bücher.example".encode(),
        "http://bücher.example/a".encode(),
        b"http://xn--bcher-kva.example/",
        b"mailto:a@b",
    ) == [True, True, False]


def test_blank_lines_comments_and_a_mark_are_passed_over():
    assert covers(b"\xef\xbb\xbfa.org\r\n\r\n# comment\n", b"http://a.org/") == [True]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (b"", "has no rule"),
        (b"# only\n", "has no rule"),
        (b"a.org\n!a.org", "line 2: '!a.org' is in scope by one line and out by another"),
        (b"a b.org", "line 1: 'a b.org' is no host, domain or prefix"),
        (b")/x", "has no host"),
    ],
)
def test_what_cannot_be_understood_is_named_with_its_line(rules, message):
    with pytest.raises(SourceError, match=r"scope\.txt") as caught:
        parse_scope(rules, "scope.txt")
    assert message in str(caught.value)


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"cannot read .*none\.txt: No such file"):
        read_scope(tmp_path / "none.txt")


def test_the_checksum_depends_on_the_rules_alone():
    first = parse_scope(b"a.org\n!b.a.org\n", "x").checksum
    assert first == parse_scope(b"# c\n!b.a.org\na.org", "y").checksum
    assert first != parse_scope(b"a.org\nb.a.org\n", "x").checksum
