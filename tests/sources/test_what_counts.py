"""Which captures count, and what is said of the others."""

import pytest
from readings import make_settings, read_data, urls

from crawlgauge.errors import SourceError
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.what_counts import WhatCounts

ROWS = [
    (b"/ok", b"200", b"text/html"),
    (b"/partial", b"206", b"Text/HTML;charset=x"),
    (b"/moved", b"301", b"text/html"),
    (b"/gone", b"404", b"text/html"),
    (b"/broken", b"503", b"-"),
    (b"/odd", b"777", b"image/png"),
    (b"/unknown", b"-", b"image/png"),
    (b"/same", b"-", b"warc/revisit"),
    (b"/same304", b"304", b"warc/revisit"),
    (b"/same200", b"200", b"warc/revisit"),
    (b"/same301", b"301", b"warc/revisit"),
    (b"/304", b"304", b"-"),
    (b"/refused", b"-9998", b"no-type"),
    (b"/never", b"0", b"no-type"),
    (b"/robots.txt", b"200", b"text/plain"),
]
CDX = b" CDX a s m\n" + b"".join(b"http://a.org%b %b %b\n" % row for row in ROWS)


def select(**rule):
    found = read_data(CDX, counts=WhatCounts(**rule))
    paths = [url.removeprefix(b"http://a.org/").decode() for url in found.column("url")]
    return paths, found.excluded


def test_by_default_successes_revisits_and_captures_without_status_count():
    paths, excluded = select()
    assert paths == ["ok", "partial", "unknown", "same", "same304", "same200"]
    assert excluded == {"not-fetched": 2, "redirect": 3, "error": 2, "status": 1, "robots.txt": 1}


def test_any_takes_all_that_was_fetched():
    paths, excluded = select(status="any")
    assert len(paths) == len(ROWS) - 2
    assert "robots.txt" in paths
    assert excluded == {"not-fetched": 2}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("404", ["gone"]),
        ("3xx", ["moved", "same301", "304"]),
        ("200-299", ["ok", "partial", "same", "same304", "same200"]),
        ("none", ["unknown"]),
        (" 503 , 777 ", ["broken", "odd"]),
    ],
)
def test_statuses_can_be_chosen(status, expected):
    paths, excluded = select(status=status)
    assert paths == expected
    assert excluded["no-status"] == (status != "none")
    assert len(paths) + excluded.total() == len(ROWS)


@pytest.mark.parametrize(
    ("mime", "expected"),
    [
        ("text/html", ["ok", "partial"]),
        ("image/*", ["unknown"]),
        ("text/HTML,image/png", ["ok", "partial", "unknown"]),
    ],
)
def test_media_types_can_be_chosen(mime, expected):
    paths, excluded = select(mime=mime)
    assert paths == expected
    assert excluded["no-mime"] == 3


def test_a_list_without_statuses_and_types_counts_but_for_robots():
    data = b"http://a.org/\nhttp://a.org/robots.txt\n"
    found = read_data(data, counts=WhatCounts(status="2xx", mime="text/html"))
    assert (found.urls, found.excluded) == (urls("http://a.org/"), {"robots.txt": 1})


@pytest.mark.parametrize(
    ("url", "is_robots"),
    [
        ("http://a.org/robots.txt", True),
        ("https://a.org:8080/robots.txt", True),
        ("http://a.org/x/robots.txt", False),
        ("http://a.org//robots.txt", False),
        ("http://a.org/robots.txt?x", False),
        ("http://a.org/Robots.txt", False),
        ("http://robots.txt", False),
    ],
)
def test_only_the_robots_of_a_host_are_robots(url, is_robots):
    found = read_data(url.encode(), counts=WhatCounts())
    assert found.excluded == ({"robots.txt": 1} if is_robots else {})


@pytest.mark.parametrize("status", ["2x", "20", "any,200", "", "2000", "200-"])
def test_a_status_that_is_none_is_refused(status):
    with pytest.raises(SourceError, match="--status any"):
        WhatCounts(status=status)


def test_a_media_type_that_is_none_is_refused():
    with pytest.raises(SourceError, match="'html' is no media type"):
        WhatCounts(mime="text/html,html")


def test_what_the_user_says_of_the_format_must_be_possible():
    assert find_format(b"", make_settings(format="cdx"), "x").name == "cdx"
    assert find_format(b"http://a.org/ 1\n", make_settings(column="1"), "x").name == "csv"
    with pytest.raises(SourceError, match=r"unknown format 'zip'; known are: warc, arc, .*urls"):
        find_format(b"", make_settings(format="zip"), "x")
    with pytest.raises(SourceError, match="x is CDX, whose fields are known; leave out --column"):
        find_format(CDX, make_settings(column="url"), "x")
