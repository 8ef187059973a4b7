"""Captures are judged, keyed and counted, whatever the format they come from."""

import datetime as dt

import pytest
from collecting import collect
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.core.captures import hash_text
from crawlgauge.errors import SourceError
from crawlgauge.keys.names import host_of_capture
from crawlgauge.keys.rules import GIVEN, RAW, SCHEME_FREE, SURT
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.sources.what_counts import WhatCounts

URL = b"http://a.org/"


def outcome(counts, status=None, **fields):
    """Return why a capture does not count; None if it does."""
    collector, found = collect(counts=counts)
    assert collector.add(URL, status=status, **fields) is None
    collector.flush()
    assert found.n_captures + sum(found.excluded.values()) == 1
    return next(iter(found.excluded), None)


@given(st.integers(-99_999, 99_999), st.booleans(), st.sampled_from(["2xx,none", "304,404", "any"]))
def test_a_status_counts_if_it_is_wanted(status, is_revisit, wanted):
    reason = outcome(WhatCounts(status=wanted), str(status).encode(), is_revisit=is_revisit)
    if status <= 0:
        assert reason == "not-fetched"
        return
    shown = 200 if is_revisit and status == 304 else min(status, 999)
    counts = {
        "2xx,none": 200 <= shown < 300,
        "304,404": shown in (304, 404),
        "any": True,
    }[wanted]
    kinds = {3: "redirect", 4: "error", 5: "error"}
    assert reason == (None if counts else kinds.get((min(status, 99_999)) // 100, "status"))


@pytest.mark.parametrize("status", [None, b"", b"-", b"x", b"2OO", b"123456", b" 200"])
def test_what_is_no_status_is_none(status):
    assert outcome(WhatCounts(status="2xx"), status) == "no-status"
    assert outcome(WhatCounts(status="2xx,none"), status) is None
    assert outcome(WhatCounts(status="2xx"), status, is_revisit=True) is None
    assert outcome(WhatCounts(status="2xx"), status, mime=b"warc/revisit") is None


def test_a_format_without_statuses_leaves_nothing_out_for_want_of_one():
    collector, found = collect(counts=WhatCounts(status="404", mime="text/html"))
    collector.begin(has_status=False, has_type=False)
    collector.add(URL)
    collector.flush()
    assert (found.n_captures, found.n_no_status) == (1, 0)


def test_media_types_count_if_they_are_wanted():
    collector, found = collect(counts=WhatCounts(status="any", mime="text/*,image/png"))
    for number in range(200):
        kinds = (b"text/html; a=%d" % number, b"Image/PNG", b"x/%d" % number, b"unk", None)
        for mime in kinds:
            collector.add(URL, mime=mime)
    collector.flush()
    assert found.n_captures == 400
    assert found.excluded == {"mime": 200, "no-mime": 400}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (None, "no-url"),
        (b"", "no-url"),
        (b" \t", "no-url"),
        (b"a.org", "no-scheme"),
        (b"a.org:8080/x", "no-scheme"),
        (b"#x", "no-scheme"),
        (b"http://", "no-host"),
        (b"http:///x", "no-host"),
        (b"http://?x", "no-host"),
        (b"https:// x", "no-host"),
        (b"http://" + b"a" * 65_530, "too-long"),
        (b"HTTPS://a.org", None),
        (b"ftps://a.org", None),
        (b" http://a ", None),
    ],
)
def test_what_is_no_url_is_rejected(url, reason):
    collector, found = collect()
    assert collector.add(url) == reason
    collector.flush()
    assert found.n_captures + found.excluded.get("other-scheme", 0) == (reason is None)


@pytest.mark.parametrize(
    "url", [b"dns:a.org", b"mailto:x@y", b"http:a", b"gopher://a.org/", b"http:/"]
)
def test_other_schemes_are_no_captures(url):
    collector, found = collect()
    assert collector.add(url) is None
    collector.flush()
    assert found.excluded == {"other-scheme": 1}


def test_robots_txt_does_not_count_unless_all_does():
    urls = [b"http://a.org/robots.txt", b"http://a.org/x/robots.txt", b"http://a.org/robots.txt?a"]
    for counts, expected in ((WhatCounts(), {"robots.txt": 1}), (WhatCounts(status="any"), {})):
        collector, found = collect(counts=counts)
        for url in urls:
            collector.add(url)
        collector.flush()
        assert found.excluded == expected
    collector, found = collect(counts=WhatCounts(), key_rule=GIVEN)
    collector.add(None, key=b"org,a)/robots.txt")
    collector.add(None, key=b"org,a)/x/robots.txt")
    collector.flush()
    assert found.excluded == {"robots.txt": 1}


ODD = b"http://user@Www.A.org:80/b?z&a"


@pytest.mark.parametrize(
    ("rule", "form"),
    [
        (SURT, canonical_surt(ODD)),
        (SCHEME_FREE, b"user@www.a.org/b?z&a"),
        (RAW, ODD),
        (GIVEN, b"org,a)/whatever"),
    ],
)
def test_the_key_is_the_hash_of_the_form_also_of_odd_urls(rule, form):
    collector, found = collect(key_rule=rule)
    collector.add(ODD + b"#c", key=b"org,a)/whatever")
    collector.flush()
    assert found.keys == [hash_text(form)]
    assert found.rows[0][2] == b"a.org"


def test_the_host_is_that_of_the_reference_whatever_the_rule(hostile_urls):
    urls = [url for url in hostile_urls(3_000, 9) if b"\n" not in url]
    for rule in (SURT, SCHEME_FREE, RAW):
        collector, found = collect(key_rule=rule)
        taken = []
        for url in urls:
            n_before = len(taken)
            if collector.add(url) is None:
                taken.append(url)
            collector.flush()
            if len(taken) > n_before and found.batches and not found.batches[-1].n_captures:
                taken.pop()
        hosts = [row[2] or b"" for row in found.rows]
        assert hosts == [host_of_capture(url.strip(), None) for url in taken]


def test_keys_of_an_index_name_the_host_where_there_is_no_url():
    collector, found = collect(key_rule=GIVEN)
    for key in (b"org,a,www)/x", b"http://(org,b,)/", b"http://www.c.org/a)", b"-"):
        collector.add(None, key=key)
    collector.flush()
    assert [row[2] for row in found.rows] == [b"a.org", b"b.org", b"c.org", None]


def test_a_record_without_a_key_is_an_error_where_keys_are_wanted():
    collector, _ = collect(key_rule=GIVEN)
    with pytest.raises(SourceError, match="takes keys from the index, but an input has none"):
        collector.add(URL)


def test_times_are_counted_by_day_with_the_first_and_the_last():
    collector, found = collect()
    for time in (b"20130729195151", b"20130729000000", b"2013-07-30T01:00:00+02:00", None, b"x"):
        collector.add(URL, time=time)
    collector.flush()
    assert found.days == {dt.date(2013, 7, 29).toordinal(): 3}
    (batch,) = found.batches
    first, last = (
        dt.datetime.fromtimestamp(t, dt.UTC) for t in (batch.first_time, batch.last_time)
    )
    assert (first.isoformat(), last.isoformat()) == (
        "2013-07-29T00:00:00+00:00",
        "2013-07-29T23:00:00+00:00",
    )


def test_captures_beyond_a_sample_count_without_their_keys():
    collector, found = collect(key_rule=RAW)
    collector.limit_keys(1 << 62)
    collector.limit_rows(1 << 61)
    urls = [b"http://a.org/%d" % number for number in range(4_000)]
    for url in urls:
        collector.add(url)
    collector.flush()
    hashes = [hash_text(url) for url in urls]
    assert found.n_captures == 4_000
    assert found.keys == [key for key in hashes if key < 1 << 62]
    assert [row[0] for row in found.rows] == [key for key in hashes if key < 1 << 61]


def test_what_does_not_fit_is_handed_on_before_the_end():
    collector, found = collect(key_rule=RAW)
    for number in range(600_000):
        collector.add(b"http://host-%d.org/%d" % (number % 7, number))
    collector.flush()
    collector.flush()
    assert len(found.batches) == 3
    assert len(set(found.keys)) == found.n_captures == 600_000
    assert len(found.names.hosts) == 7


def test_captures_of_several_crawls_keep_their_group_and_those_left_out_theirs():
    collector, found = collect(counts=WhatCounts(), is_split=True, group="filename")
    for number, status in enumerate((b"200", b"404", b"301", b"200")):
        collector.add(URL, status=status, group=b"file-%d" % (number % 2))
    collector.add(URL, status=b"200")
    collector.add(b"mailto:x", group=b"file-0")
    collector.flush()
    assert found.groups == [b"file-0", b"file-1", None]
    assert found.left_out == [("error", b"file-1"), ("redirect", b"file-0")]
    assert found.excluded == {"other-scheme": 1}


def test_digests_are_kept_as_they_are_written():
    collector, found = collect(levels=("url", "content"))
    digests = [b"sha1:ABC", None, b"", b"x" * 3_000_000, b"-"]
    for digest in digests:
        collector.add(URL, digest=digest)
    collector.flush()
    assert found.digests == [digest or None for digest in digests]
