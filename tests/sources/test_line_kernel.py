"""The compiled scan against a plain reference, over random bytes and random cuts."""

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawlgauge.sources import urllist

SPACES = b" \t\n\v\f\r"
SMALL_LIMIT = 24
PIECES = [
    *(
        b"http://",
        b"https://",
        b"HTTP://",
        b"dns:",
        b"mailto:",
        b"a+b-1://",
        b"ftps://",
        b"FTP://",
        b"ios-app://",
        b"1a://",
        b"://",
    ),
    *(b"http:", b"http:/", b"/", b"?", b"#", b":", b".", b"a", b"example.org", b"x" * 15),
    *(
        b" ",
        b"\t",
        b"\v",
        b"\f",
        b"\r",
        b"\r\n",
        b"\n",
        b"\n",
        b"\n\n",
        b"\0",
        b"\xff",
        b"\xc3\xa4",
    ),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=40)
cuts = st.lists(st.integers(0, 400), max_size=8)


def judge(text, max_bytes):
    """Return what a trimmed line is: None for a URL."""
    if not text or text.startswith(b"#"):
        return "skipped"
    if len(text) > max_bytes:
        return "too-long"
    scheme = re.match(rb"[A-Za-z][A-Za-z0-9+-]*:", text)
    if scheme is None:
        return "no-scheme"
    rest = text[scheme.end() :]
    is_web = scheme[0].lower() in (b"http:", b"https:", b"ftp:", b"ftps:")
    if not rest.startswith(b"//") or not is_web:
        return "other-scheme"
    host = rest[2:3]
    return "no-host" if not host or host in b"/?#" + SPACES else None


def read_plainly(data, max_bytes):
    """Return URLs, counts by verdict, and line, offset and reason of each rejected line."""
    urls, counts, rejected, offset = [], Counter(), [], 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.strip(SPACES)
        verdict = judge(text, max_bytes)
        if verdict is None:
            urls.append(text)
        elif verdict != "skipped":
            counts[verdict] += 1
            if verdict != "other-scheme":
                indent = len(line) - len(line.lstrip(SPACES))
                rejected.append((number, offset + indent, verdict))
        offset += len(line) + 1
    return urls, counts, rejected


def cut_up(data, places):
    bounds = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(bounds)]


def check(scan, pieces, places, max_bytes):
    # A first line of its own keeps marks of other formats from standing at the beginning.
    data = b"http://first.example/%s\n" % (b"x" * max_bytes)[: max_bytes - 21] + b"".join(pieces)
    urls, counts, rejected = read_plainly(data, max_bytes)
    found = scan(*cut_up(data, places))
    assert found.urls == urls
    assert found.rejected + found.excluded == counts
    assert [(item.line, item.offset, item.reason) for item in found.examples[:5]] == rejected[:5]


@given(pieces=texts, places=cuts)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_the_compiled_scan_agrees_with_the_plain_reference_however_it_is_cut(scan, pieces, places):
    check(scan, pieces, [place + urllist.MAX_URL_BYTES for place in places], urllist.MAX_URL_BYTES)


@given(pieces=texts, places=cuts)
@example(pieces=[b"#", b"x" * 30, b"\nhttp://a.org/\n"], places=[50])
@example(pieces=[b" " * 30, b"\nhttp://a.org/\n"], places=[50])
@example(pieces=[b"http://a.org/", b" " * 30, b"\n"], places=[60])
@example(pieces=[b"  ", b"x" * 30, b"\n"], places=[50])
@example(pieces=[b"http://a.org/".ljust(SMALL_LIMIT, b"x"), b"\r\n"], places=[50])
@settings(max_examples=500, deadline=None, derandomize=True)
def test_lines_near_and_over_the_limit_are_judged_alike_however_they_are_cut(scan, pieces, places):
    """Over-long lines, comments and blank lines that no block holds whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urllist, "MAX_URL_BYTES", SMALL_LIMIT)
        check(scan, pieces, places, SMALL_LIMIT)
