"""Scanners take lines as almost all are, and hand back all others, whatever bytes these have."""

import json
import random

import pytest
from collecting import collect
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.core.captures import hash_text
from crawlgauge.core.lines import (
    FIELDS,
    CdxjScanner,
    CdxScanner,
    CrawlLogScanner,
    ObjectScanner,
    UrlScanner,
)
from crawlgauge.keys.rules import GIVEN, RAW
from crawlgauge.sources.what_counts import WhatCounts

URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP = range(7)
NAMES = [(b"url", URL), (b"mime", MIME), (b"status", STATUS), (b"uri", URL)]


def scan(make, text, **settings):
    """Return what a scanner takes of a text, and the lines that it hands back."""
    settings.setdefault("key_rule", RAW)
    collector, found = collect(**settings)
    scanner = make(collector)
    place, n_lines, handed_back = 0, 0, []
    while place < len(text):
        place, n_here, lines = scanner.scan(text, place, len(text))
        handed_back += [(n_lines + number, text[start:end]) for number, start, end in lines]
        n_lines += n_here
    assert n_lines == text.count(b"\n")
    collector.flush()
    return found, handed_back


def keys_of(*urls):
    return [hash_text(url) for url in urls]


def test_lists_hold_a_url_a_line():
    text = b"http://a.org/\n\n # no\n\thttp://b.org/ \r\nhttp://c.org/x y\nc.org\nhttp://d.org/\xc3\xa4\n"
    found, handed_back = scan(UrlScanner, text)
    assert found.keys == keys_of(b"http://a.org/", b"http://b.org/", b"http://d.org/\xc3\xa4")
    assert handed_back == [(4, b"http://c.org/x y"), (5, b"c.org")]


@pytest.mark.parametrize(
    "end", [b"\r", b"\v", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"]
)
def test_line_ends_of_other_systems_are_not_taken_for_a_part_of_a_url(end):
    line = b"http://a.org/" + end + b"http://b.org/"
    assert scan(UrlScanner, line + b"\n")[1] == [(0, line)]


CDX = [(9, [2, 0, 1, 4, 3, 5, 8]), (10, [2, 0, 1, 4, 3, 5, 9])]


def cdx_scanner(collector):
    scanner = CdxScanner(collector)
    scanner.arrange(b" ", CDX)
    return scanner


def test_columns_of_cdx_lines_are_found_by_their_number():
    nine = b"org,a)/ 20130729195151 http://a.org/ text/html 200 ABC - 5 f.warc"
    ten = b"org,b)/ 20130729195152 http://b.org/ - - ABC - 5 6 g.warc"
    bad = [
        b"org,c)/ 20130729195151 http://c.org/",
        b"org,c)/ x http://c.org/ text/html 200 ABC - 5 f.warc",
        b"org,c)/ 20130729195151 http://c.org/ text/html 2x0 ABC - 5 f.warc",
        ten + b" more more",
    ]
    text = b"\n".join([nine, b"", b" " + ten + b" \r", *bad, b""])
    found, handed_back = scan(cdx_scanner, text, is_split=True, group="filename")
    assert found.keys == keys_of(b"http://a.org/", b"http://b.org/")
    assert [row[1:] for row in found.rows] == [
        (1375127511, b"a.org", b"text/html", 200, False),
        (1375127512, b"b.org", None, None, False),
    ]
    assert found.groups == [b"f.warc", b"g.warc"]
    assert [line for _, line in handed_back] == bad


@pytest.mark.parametrize("legend", [b" CDX N b a", b"CDX a b\r", b"\tCDX|a|b", b"#CDX N"])
def test_a_scanner_stops_at_a_legend_and_hands_it_back_alone(legend):
    line = b"org,a)/ 20130729195151 http://a.org/ text/html 200 ABC - 5 f.warc\n"
    collector, found = collect(key_rule=RAW)
    scanner = cdx_scanner(collector)
    text = line + b"bad\n" + legend + b"\n" + line
    place, n_lines, handed_back = scanner.scan(text, 0, len(text))
    assert (n_lines, len(handed_back)) == (2, 1)
    place, n_lines, handed_back = scanner.scan(text, place, len(text))
    assert (n_lines, handed_back) == (1, [(0, place - len(legend) - 1, place - 1)])
    assert scanner.scan(text, place, len(text)) == (len(text), 1, [])
    collector.flush()
    assert found.n_captures == 2


def log_line(
    url=b"http://a.org/", fetched=b"20181126142747555+280", rest=b" - -", mime=b"text/html"
):
    return b"2018-11-26T14:27:48.282Z   200        233 %s P http://b.org/ %s #002 %s sha1:ABC%s" % (
        url,
        mime,
        fetched,
        rest,
    )


def test_columns_of_logs_are_found_between_spaces():
    lines = [
        log_line(),
        log_line(b"http://b.org/", b"-", b' src duplicate:x {"a":1}', b"no-type"),
        log_line(b"http://c.org/", b"-", b" src a,warcRevisit:y", b"unknown"),
        log_line(b"http://d.org/", b"x+1", b' {"duplicate:":1}', b"-"),
    ]
    found, handed_back = scan(CrawlLogScanner, b"\n".join([*lines, b"cut 200 3 http://x", b""]))
    begin, line_time = 1543242467, 1543242468
    assert [row[1:] for row in found.rows] == [
        (begin, b"a.org", b"text/html", 200, False),
        (line_time, b"b.org", None, 200, True),
        (line_time, b"c.org", None, 200, True),
        (line_time, b"d.org", None, 200, False),
    ]
    assert [line for _, line in handed_back] == [b"cut 200 3 http://x"]


def objects(collector):
    return ObjectScanner(collector, NAMES)


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.lists(st.one_of(st.integers(), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=3), st.one_of(st.text(max_size=3), st.none()), max_size=3),
)


@given(
    st.dictionaries(
        st.sampled_from(["a", "length", "urls", "mim", "x\\y", 'q"']), values, max_size=4
    ),
    st.permutations(["url", "mime", "status"]),
    st.booleans(),
)
def test_wanted_members_are_found_whatever_stands_beside_them(others, order, is_compact):
    wanted = {"url": "http://a.org/x", "mime": "text/html", "status": "404"}
    record = {**others, **{name: wanted[name] for name in order}}
    separators = (",", ":") if is_compact else None
    text = json.dumps(record, separators=separators).encode() + b"\n"
    found, handed_back = scan(objects, text)
    if handed_back:  # members whose names are escaped are left to the reader
        assert b"\\" in text
    else:
        assert found.rows == [
            (*keys_of(b"http://a.org/x"), None, b"a.org", b"text/html", 404, False)
        ]


@pytest.mark.parametrize(
    "text",
    [
        b'{"url":"http://a.org/\\u0041"}',
        b'{"url":"http://a.org/","url":"http://b.org/"}',
        b'{"url":"http://a.org/","uri":"http://b.org/"}',
        b'{"url":["http://a.org/"]}',
        b'{"url":"http://a.org/"',
        b'{"url":"http://a.org/"}x',
        b'{"url" "http://a.org/"}',
        b'{"u\\u0072l":"http://a.org/"}',
        b'["url","http://a.org/"]',
        b'{"x":{"url":"http://a.org/"}}',
        b'{"status":007,"url":"http://a.org/"}',
        b'{"x":"\\',
        b'{"x":[[[[',
        b"{}",
        b"x",
    ],
)
def test_odd_objects_are_handed_back(text):
    found, handed_back = scan(objects, text + b"\n")
    assert handed_back == [(0, text)]
    assert not found.batches


def test_numbers_are_statuses_and_what_else_they_may_be_the_reader_decides():
    odd = b'{"url": "http://a.org/", "mime": 5, "status": 301}'
    text = b'{"url": "http://a.org/", "status": 301}\n{"url":"http://a.org/","status":null}\n'
    found, handed_back = scan(objects, text + odd + b"\n")
    assert [row[3:5] for row in found.rows] == [(None, 301), (None, None)]
    assert handed_back == [(2, odd)]


def test_cdxj_lines_have_a_key_a_time_and_an_object():
    tail = b'{"url": "http://a.org/", "mime": "text/html", "status": "200", "digest": "X"}'
    good = b"org,a)/ 20130729195151 " + tail
    bad = [
        b" CDX N b a",
        b"!OpenWayback-CDXJ 1.0",
        b"org,a)/ 2013072919515 " + tail,
        b"org,a)/  20130729195151 " + tail,
        b"org,a)/ 20130729195151 X response " + tail,
        b"org,a)/ 20130729195151 " + tail[:-1],
        b"20130729195151 " + tail,
        tail,
        b"org,a)/",
    ]
    text = b"\n".join([good, b"", good + b"\r", *bad, b""])
    found, handed_back = scan(lambda c: CdxjScanner(c, NAMES), text, key_rule=GIVEN)
    assert found.keys == keys_of(b"org,a)/", b"org,a)/")
    assert [line for _, line in handed_back] == bad


def make_lines(rng, n_lines):
    """Return lines of each format, many of them spoiled."""
    kinds = [
        b"org,a)/%d 20130729195151 http://a.org/%d text/html 200 ABC - 5 f.warc",
        b'org,a)/%d 20130729195151 {"url": "http://a.org/%d", "mime": "text/html", "status": "2"}',
        b"2018-11-26T14:27:48.282Z %d 233 http://a.org/%d P - text/html #002 20181126142747555+9 -",
        b'{"url":"http://a.org/%d","status":%d}',
        b"http://a.org/%d/%d",
    ]
    for _ in range(n_lines):
        line = bytearray(rng.choice(kinds) % (rng.randrange(999), rng.randrange(999)))
        for _ in range(rng.choice((0, 0, 0, 1, 2, 8))):
            place = rng.randrange(len(line) + 1)
            match rng.randrange(4):
                case 0:
                    line[place:place] = rng.choice(
                        [b" ", b'"', b"\\", b"{", b"}", b"\0", b"\xff", b":"]
                    )
                case 1:
                    del line[place:]
                case 2:
                    del line[place : place + rng.randrange(5)]
                case _:
                    line[place:place] = line[: rng.randrange(20)]
        yield bytes(line).replace(b"\n", b"")


@pytest.mark.parametrize("seed", range(5))
def test_each_scanner_bears_lines_of_every_format_and_loses_none(seed):
    lines = list(make_lines(random.Random(seed), 2_000))
    text = b"".join(line + b"\n" for line in lines)
    makers = (UrlScanner, cdx_scanner, CrawlLogScanner, objects, lambda c: CdxjScanner(c, NAMES))
    for make in makers:
        found, handed_back = scan(make, text, counts=WhatCounts())
        n_found = found.n_captures + sum(found.excluded.values())
        n_passed_over = sum(not line.strip() or line.strip().startswith(b"#") for line in lines)
        assert n_found + len(handed_back) + n_passed_over >= len(lines)
        assert all(lines[number] == line for number, line in handed_back)
        # How lines are cut into calls makes no difference.
        one_by_one = [scan(make, line + b"\n", counts=WhatCounts()) for line in lines[:200]]
        assert [len(back) for _, back in one_by_one] == [
            sum(number == k for number, _ in handed_back) for k in range(200)
        ]


def test_what_is_no_part_of_the_data_is_refused():
    collector, _ = collect()
    scanner = UrlScanner(collector)
    for start, end in ((-1, 3), (0, 99), (3, 2)):
        with pytest.raises(ValueError, match="no such part"):
            scanner.scan(b"http://a.org/\n", start, end)
    with pytest.raises(ValueError, match="has no end"):
        scanner.scan(b"http://a.org/", 0, 5)
    with pytest.raises(ValueError, match="layouts must be of rising numbers"):
        CdxScanner(collector).arrange(b" ", [(3, [0] * 7), (5, [0] * 7)])
    with pytest.raises(ValueError, match="no such column"):
        CdxScanner(collector).arrange(b" ", [(3, [3] * 7)])
    with pytest.raises(ValueError, match="no member can be called"):
        ObjectScanner(collector, [(b"x" * 41, 0)])
    assert FIELDS[GROUP] == "group"
