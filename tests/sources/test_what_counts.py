"""Which captures count, and what is said of the others."""

import pyarrow as pa
import pytest

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.robots import find_robots
from crawlgauge.sources.what_counts import WhatCounts, select_captures


def batch(rows, **counts):
    """Make a batch of (path, status, revisit, mime)."""
    return Captures(
        url=pa.array([b"http://a.org" + row[0] for row in rows], pa.binary()),
        status=pa.array([row[1] for row in rows], pa.int32()),
        revisit=pa.array([row[2] for row in rows], pa.bool_()),
        mime=pa.array([row[3] for row in rows], pa.binary()),
        **counts,
    )


ROWS = [
    (b"/ok", 200, False, b"text/html"),
    (b"/partial", 206, False, b"Text/HTML; charset=x"),
    (b"/moved", 301, False, b"text/html"),
    (b"/gone", 404, False, b"text/html"),
    (b"/broken", 503, False, b"-"),
    (b"/odd", 777, False, b"image/png"),
    (b"/unknown", None, False, b"image/png"),
    (b"/same", None, True, b"warc/revisit"),
    (b"/same304", 304, True, b"warc/revisit"),
    (b"/same200", 200, True, b"warc/revisit"),
    (b"/same301", 301, True, b"warc/revisit"),
    (b"/304", 304, False, None),
    (b"/refused", -9998, False, b"no-type"),
    (b"/never", 0, False, b"no-type"),
    (b"/robots.txt", 200, False, b"text/plain"),
]


def select(**rule):
    found = select_captures(batch(ROWS), WhatCounts(**rule))
    return [url.removeprefix(b"http://a.org/").decode() for url in found.url.to_pylist()], dict(
        found.excluded
    )


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
    assert select(status=status)[0] == expected


def test_without_none_captures_without_a_status_are_left_out_and_told():
    assert select(status="2xx")[1]["no-status"] == 1


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


def test_an_input_without_statuses_counts_but_for_robots():
    urls = pa.array([b"http://a.org/", b"http://a.org/robots.txt"], pa.binary())
    found = select_captures(Captures(url=urls), WhatCounts())
    assert found.url.to_pylist() == [b"http://a.org/"]
    assert found.excluded == {"robots.txt": 1}


def test_counts_of_the_reader_are_kept():
    found = select_captures(batch(ROWS, rejected={"x": 3}, excluded={"error": 5}), WhatCounts())
    assert found.rejected == {"x": 3}
    assert found.excluded["error"] == 7


@pytest.mark.parametrize("status", ["2x", "20", "any,200", "", "2000", "200-"])
def test_a_status_that_is_none_is_refused(status):
    with pytest.raises(SourceError, match="--status any"):
        WhatCounts(status=status)


def test_a_media_type_that_is_none_is_refused():
    with pytest.raises(SourceError, match="'html' is no media type"):
        WhatCounts(mime="text/html,html")


def test_only_the_robots_of_a_host_are_robots():
    urls = {
        b"http://a.org/robots.txt": True,
        b"https://a.org:8080/robots.txt": True,
        b"http://a.org/x/robots.txt": False,
        b"http://a.org//robots.txt": False,
        b"http://a.org/robots.txt?x": False,
        b"http://a.org/Robots.txt": False,
        b"http:/robots.txt": False,
        b"http://robots.txt": False,
        b"/robots.txt": False,
        b"": False,
    }
    column = pa.array(urls, pa.binary())
    assert find_robots(column).tolist() == list(urls.values())
    assert find_robots(column[1:3]).tolist() == [True, False]
