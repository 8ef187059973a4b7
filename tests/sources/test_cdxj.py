"""CDXJ indexes of all the programs that write them, and lines that are broken."""

import contextlib
import gzip
import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import keys, read_data, urls
from test_cdx import judge

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.what_counts import Settings

ONE = (
    b'org,a)/ 20140126200624 {"url": "http://a.org/", "mime": "text/html", "status": "200", '
    b'"digest": "AAAA", "length": "2258", "offset": "334", "filename": "a.warc.gz"}\n'
)
TWO = (
    b'org,b)/x 20140126200625 {"url":"https://b.org/x","mime":"warc/revisit","digest":"BBBB",'
    b'"filename":"b.warc.gz"}\n'
)
WAYBACK = (
    b"!OpenWayback-CDXJ 1.0\n"
    b'(org,a,)/ 2014-01-26T20:06:24Z response {"uri": "http://a.org/", "hsc": 200, '
    b'"mct": "text/html", "sha": "AAAA", "ref": "warcfile:a.warc.gz#334"}\n'
    b'(org,b,)/x 2014-01-26T20:06:25.5Z BBBB revisit {"uri": "https://b.org/x", '
    b'"mct": "text/html", "ref": "warcfile:b.warc.gz#4334"}\n'
    b'(org,b,)/x 2014-01-26T20:06:25Z - request {"uri": "https://b.org/x"}\n'
)
IPWB = (
    b'!context ["http://tools.ietf.org/html/rfc7089"]\n!meta {"generator": "x"}\n'
    b'org,a)/ 20140126200624 {"locator": "urn:ipfs/x/y", "original_uri": "http://a.org/", '
    b'"mime_type": "text/html", "status_code": "200", "digest": "AAAA"}\n'
)
TIME = 1390766784


def read(data, **wishes):
    return read_data(data, "x.cdxj", format="cdxj", **wishes)


def is_cdxj(data):
    return find_format(data, Settings(), "x").name == "cdxj"


def test_all_fields_of_a_line_are_read():
    found = read(ONE + TWO, group="filename")
    assert [row[:7] for row in found.rows] == [
        (b"http://a.org/", TIME, 200, b"text/html", b"AAAA", b"a.warc.gz", False),
        (b"https://b.org/x", TIME + 1, None, None, b"BBBB", b"b.warc.gz", True),
    ]
    assert not found.rejected + found.excluded
    assert read(ONE + TWO, key_rule=GIVEN).keys == keys("org,a)/", "org,b)/x")


def test_openwaybacks_lines_say_the_same_in_their_own_words():
    found = read_data(WAYBACK, group="filename")
    a, b = (found.of(url) for url in ("http://a.org/", "https://b.org/x"))
    assert a[1:5] == (TIME, 200, b"text/html", b"AAAA")
    assert b[1:5] == (TIME + 1, None, b"text/html", b"BBBB")
    assert [a.is_revisit, b.is_revisit] == [False, True]
    assert b"a.warc.gz" in a.group
    assert (found.excluded, found.rejected) == ({"request": 1}, {})
    assert read_data(WAYBACK, key_rule=GIVEN).keys == keys("(org,a,)/", "(org,b,)/x")


def test_lines_that_begin_with_a_bang_are_passed_over():
    found = read_data(IPWB)
    assert found.rows[0][:5] == (b"http://a.org/", TIME, 200, b"text/html", b"AAAA")
    assert not found.rejected


@pytest.mark.parametrize(
    "data",
    [
        (ONE + TWO)[:-1],
        (ONE + TWO).replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + ONE + TWO,
        b"\n \n" + ONE + b"\n" + TWO + b"\n\n",
        b" CDX N b a\n" + ONE + TWO,
        (ONE + TWO).replace(b" 2014", b"  2014").replace(b" {", b"\t{"),
        gzip.compress(ONE) + gzip.compress(TWO),
        gzip.compress(ONE[:-1]) + gzip.compress(TWO[:-1]),
        gzip.compress(ONE[:70]) + gzip.compress(ONE[70:] + TWO[:9]) + gzip.compress(TWO[9:]),
    ],
    ids=[
        *("no last newline", "CRLF", "BOM", "blank lines", "legend", "more space"),
        *("gzip", "members without last newline", "members cut anywhere"),
    ],
)
def test_every_form_of_the_same_index_is_recognised_and_gives_the_same(data):
    expected = read(ONE + TWO, group="filename").told
    assert read_data(data, group="filename").told == expected


@pytest.mark.parametrize(
    ("text", "url", "status"),
    [
        (rb'{"url": "http:\/\/a.org\/\u00e4", "status": 404}', "http://a.org/ä".encode(), 404),
        (b'{"status": "-", "url": "http://a.org/\xe4"}', b"http://a.org/\xe4", None),
        (b'{"url": "http://a.org/", "status": null, "uri": "x"}', b"http://a.org/", None),
        (
            b'{"uri": "http://b.org/", "url": null, "x": {"url": "http://c.org/"}}',
            b"http://b.org/",
            None,
        ),
        (b'{"url": "http://a.org/", "status": "200 OK"}', b"http://a.org/", None),
        (b'{"url": " http://a.org/ ", "status": 503}', b"http://a.org/", 503),
        (b'{"url": "http://a.org/", "mime": 5, "status": 1.5}', b"http://a.org/", None),
    ],
)
def test_json_of_any_form_is_understood(text, url, status):
    for time in (b" 2014 ", b" 20140126200624 "):
        (row,) = read(b"org,a)/" + time + text + b"\n").rows
        assert (row.url, row.status, row.mime) == (url, status, None)


def test_malformed_lines_are_rejected_with_reason_and_place():
    broken = [
        b'org,a)/ 20140126200624 {"mime": "text/html"}\n',
        b'org,a)/ 20140126200624 {"url": 5}\n',
        b'org,a)/ 20140126200624 {"url": "http://a.org/"\n',
        b'org,a)/x y 20140126200624 {"url": "http://a.org/"}\n',
        b'{"url": "http://a.org/"}\n',
        b'org,a)/ {"url": "http://a.org/"}\n',
        b"org,a)/ 20140126200624 http://a.org/ text/html\n",
        b'org,a)/ 20140126200624 {"url": "http://a.org/\tx"}\n',
        b'org,\ta)/ 20140126200624 {"url": "http://a.org/"}\n',
    ]
    found = read(ONE + b"".join(broken) + TWO)
    assert found.urls == urls("http://a.org/", "https://b.org/x")
    assert found.rejected == {"no-url": 2, "bad-json": 2, "bad-time": 2, "too-few-fields": 3}
    assert [(item.line, item.reason) for item in found.examples] == [
        *((2, "no-url"), (3, "no-url"), (4, "bad-json"), (5, "bad-time"), (6, "too-few-fields")),
    ]
    assert found.examples[0].offset == len(ONE)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"!OpenWayback-CDXJ 1.0\n"])
def test_nothing_gives_nothing(data):
    assert read(data).told == ([], {}, {})


def test_a_very_long_line_is_one_rejection_and_what_follows_is_read():
    found = read(ONE + ONE.replace(b"2258", b"x" * 5_000_000) + TWO)
    assert found.urls == urls("http://a.org/", "https://b.org/x")
    assert found.rejected == {"too-long": 1}


@pytest.mark.parametrize("n_bytes", [5, 30, 100, len(ONE) - 2])
def test_an_index_that_ends_within_a_line_is_damaged(n_bytes):
    with pytest.raises(DamagedInput, match=r"x\.cdxj is damaged .* in the middle of a line"):
        read(TWO + ONE[:n_bytes])
    found = read(TWO + ONE[:n_bytes], keep=True)
    assert found.urls == urls("https://b.org/x")
    assert len(found.damages) == 1


@pytest.mark.parametrize(
    ("name", "group"),
    [("offset", b"334"), ("url", b"http://a.org/"), ("mime", b"text/html"), ("x" * 50, b"long")],
)
def test_captures_are_cut_by_any_member(name, group):
    line = ONE.replace(b'"length"', b'"%b": "long", "length"' % (b"x" * 50))
    for text in (line, line.replace(b'"334"', b"334")):
        assert read(text, group=name).rows[0][:6] == (
            *(b"http://a.org/", TIME, 200, b"text/html", b"AAAA", group),
        )


def test_an_unknown_member_to_cut_by_is_an_error_that_names_those_that_exist():
    with pytest.raises(SourceError, match=r"no field 'warc' .* it has: url, mime, .*, filename"):
        read(b'org,a)/ 2014 {"url": }\n' + ONE, group="warc")


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\n", b"http://a.org/\n", b'{"url": "http://a.org/"}\n', b"WARC/1.0\r\n"),
        b" CDX N b a\norg,a)/ 20140126200624 http://a.org/\n",
        b"org,a)/ 20140126200624 http://a.org/ text/html 200 AAAA - - 2258 334 a.warc.gz\n",
        b"org,a)/ 20140126200624\tpart\t0\t275\t1\n",
        b'!meta 0 {"format": "cdxj-gzip-1.0"}\norg,a)/ 2014 {"offset": 0, "length": 194}\n',
        b'a,b {"x": 1}\n',
    ],
)
def test_other_formats_are_not_claimed(data):
    assert not is_cdxj(data)


# ------------------------------------------------------------------------------ a plain reading

PIECES = [
    *(ONE, TWO, ONE[:-1], b"org,c)/", b" ", b" ", b"2014", b" 2014 ", b"-", b"\n", b"\n", b"\r\n"),
    *(b"!", b'{"url": "http://c.org/"}', b'{"uri": "http://d.org/", "hsc": 404}', b"{", b"}"),
    *(b'"', b"{}", b"response ", b" revisit ", b" request ", b"\xff", b" CDX N b\n", b"\v", b"\t"),
    *(b'{"url": "dns:c"}', b'{"url": "metadata://c/"}', b'{"url": "FTPS://c/"}', b"CDX "),
    *(b" 20140126200624 ", b'{"status": "404", "url": "http://a\\u0062/", "status": 5}'),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=20)


def read_line_plainly(line):
    """Return URL, status and whether it is a revisit; or why not; None for no record."""
    text = line.strip()
    if not text or text.startswith(b"!"):
        return None
    if re.match(rb"[ \t]*[^A-Za-z0-9\s]?CDX[^A-Za-z0-9\r\n]", line):
        return None
    words = re.match(rb"((?:[^\s{]\S*\s+){2,4})(\{.*)", text, re.DOTALL)
    if words is None:
        return "too-few-fields"
    _, time, *others = words[1].split()
    if time != b"-" and not re.match(rb"[0-9]{4}", time):
        return "bad-time"
    if others and others[-1] in {b"request", b"metadata", b"warcinfo", b"continuation"}:
        return others[-1].decode()
    try:
        members = json.loads(words[2].decode("utf-8", "surrogateescape"))
    except ValueError:
        return "bad-json"
    url = next(
        (members[name] for name in ("url", "uri") if members.get(name) not in (None, "", "-")), ""
    ).encode("utf-8", "surrogateescape")
    if reason := judge(url):
        return reason
    status = members.get("status", members.get("hsc"))
    is_revisit = others[-1:] == [b"revisit"] or members.get("mime") == "warc/revisit"
    return url, status and int(status), is_revisit


@given(pieces=texts)
@settings(max_examples=400)
def test_any_lines_are_read_as_a_plain_reading_of_the_format_reads_them(pieces):
    # The first line end keeps them from beginning as what is compressed, packed or encoded does.
    data = b"".join([b"\n", *pieces, b"\n"])
    records = [record for line in data.split(b"\n") if (record := read_line_plainly(line))]
    found = read(data)
    accepted = [record for record in records if not isinstance(record, str)]
    captures = [(row.url, row.status, row.is_revisit) for row in found.rows]
    assert sorted(captures, key=repr) == sorted(accepted, key=repr)
    reasons = Counter(record for record in records if isinstance(record, str))
    assert found.rejected + found.excluded == reasons


@given(data=st.one_of(st.binary(max_size=300), texts.map(b"".join)))
def test_no_bytes_break_the_reader(data):
    for text in (data, gzip.compress(data)):
        with contextlib.suppress(SourceError):
            read(text, keep=True, group="filename")
