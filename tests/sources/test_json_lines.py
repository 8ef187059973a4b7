"""JSON Lines are read exactly, whatever their writer escapes, and nothing is lost silently."""

import json
import time
import tracemalloc
from collections import Counter
from itertools import pairwise

import hypothesis
import hypothesis.strategies as st
import pytest
from readings import keys, read_blocks, read_bytes, urls

from crawlgauge.errors import SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources import json_lines
from crawlgauge.sources.json_lines import looks_like_json_lines, read_json_lines

SERVER = (
    b'{"urlkey": "org,a)/", "timestamp": "20250804103329", "url": "https://a.org/", '
    b'"mime": "text/html", "mime-detected": "text/plain", "status": "200", "digest": "ABC", '
    b'"filename": "x.warc.gz"}\n'
    b'{"urlkey": "org,b)/", "timestamp": "20250804103330", "url": "https://b.org/", '
    b'"mime": "warc/revisit", "status": "-", "digest": "", "filename": "y.warc.gz"}\n'
)


def read_lines(data, **wishes):
    return read_bytes(read_json_lines, data, name="rows.jsonl", **wishes)


def test_the_lines_of_a_cdx_server_are_read():
    found = read_lines(SERVER, group="filename")
    assert found.of("https://a.org/")[1:7] == (
        1754303609,
        200,
        b"text/html",
        b"ABC",
        b"x.warc.gz",
        False,
    )
    assert found.of("https://b.org/")[1:7] == (1754303610, None, None, None, b"y.warc.gz", True)
    assert not found.rejected


def test_the_keys_of_an_index_can_be_taken_as_they_are():
    found = read_lines(SERVER, key_rule=GIVEN)
    assert found.keys == keys("org,a)/", "org,b)/")


def test_a_message_among_keys_that_are_taken_as_they_are_is_rejected():
    found = read_lines(SERVER + b'{"message": "slow down"}\n{}\n', key_rule=GIVEN)
    assert len(found.urls) == 2
    assert found.rejected == {"server-message": 1, "no-url": 1}


def test_escapes_are_read_exactly():
    found = read_lines(
        rb'{"url": "http:\/\/a.org\/\u00e4?\"q\"=\\\ud83d\ude00", "status": 200}' + b"\n"
        rb'{"\u0075rl": "http://b.org/", "status": -2}' + b"\n"
    )
    assert found.urls == urls('http://a.org/ä?"q"=\\😀')
    assert found.of('http://a.org/ä?"q"=\\😀').status == 200
    assert found.excluded["not-fetched"] == 1


def test_values_of_other_kinds_are_no_urls_and_no_statuses():
    found = read_lines(
        b'{"url": "http://a/", "status": 200.5}\n{"url": "http://b/", "status": [200]}\n'
        b'{"url": "http://c/", "status": null}\n{"url": "http://d/", "status": true}\n'
        b'{"url": ["http://e/"]}\n{"url": null}\n{"url": 5}\n{"url": ""}\n'
    )
    names = ["http://a/", "http://b/", "http://c/", "http://d/"]
    assert found.urls == urls(*names)
    assert [found.of(name).status for name in names] == [None] * 4
    assert found.rejected == {"no-url": 3, "no-scheme": 1}


def test_what_is_no_object_is_rejected_with_its_place():
    data = b'{"url": "http://a/"}\n\n \r\nfoo\r\n[1]\n"x"\n{"url": \n{"url": "http://b/"} x\n{}\n'
    found = read_lines(data)
    assert found.urls == urls("http://a/")
    assert found.rejected == {"no-object": 5, "no-url": 1}
    first = found.examples[0]
    assert (first.line, first.offset, first.text) == (4, data.index(b"foo"), "foo")


def test_a_servers_message_is_rejected_and_not_silently_nothing():
    message = b'{"message": "No Captures found for: a.org"}'
    assert looks_like_json_lines(message)
    for data in (message, message + b"\n" + message + b"\n"):
        found = read_lines(data)
        assert not found.urls
        assert found.rejected == {"server-message": data.count(b"message")}
    found = read_lines(b'{"url": "http://a/", "message": "x"}\n{"error": "too many requests"}\n')
    assert found.urls == urls("http://a/")
    assert found.rejected == {"server-message": 1}


def test_captures_behind_a_million_bytes_of_messages_are_read():
    message = b'{"message": "' + b"please wait" * 100 + b'"}\n'
    found = read_lines(message * 1000 + b'{"uri": "http://a/"}\n{"uri": "http://b/"}\n')
    assert found.urls == urls("http://a/", "http://b/")
    assert found.rejected == {"server-message": 1000}


def test_the_user_names_the_member_also_a_nested_one():
    data = (
        b'{"page": "http://a/", "request": {"url": "http://x/\xff", "status": 301}}\n'
        b'{"page": "http://b/", "request": {"url": "http://y/\\ud800"}}\n'
        b'{"page": "http://c/", "request": null}\n{"page": "http://d/"}\nx\n'
    )
    with pytest.raises(SourceError, match=r"there are page, request, request\.url, request\.stat"):
        read_lines(data)
    found = read_lines(data, column="page")
    assert found.urls == urls("http://a/", "http://b/", "http://c/", "http://d/")
    found = read_lines(data, column="request.url", group="request.status")
    assert found.urls == urls(b"http://x/\xff", "http://y/\N{REPLACEMENT CHARACTER}")
    assert found.of(b"http://x/\xff").group == b"301"
    assert found.rejected == {"no-url": 2, "no-object": 1}
    assert found.examples[-1].text == "x"


def test_one_member_may_be_url_and_group_and_have_a_long_name():
    found = read_lines(b'{"url": "http://a/"}\n', group="url")
    assert found.of("http://a/").group == b"http://a/"
    name = "member " * 20
    data = json.dumps({name: "http://a/"}).encode() + b"\n"
    assert read_lines(data, column=name).urls == urls("http://a/")


def test_members_that_only_some_objects_have_are_known():
    found = read_lines(b'{"format": "json-pages-1.0"}\n{"url": "http://a/", "ts": "2020-01-02"}\n')
    assert found.urls == urls("http://a/")
    assert found.of("http://a/").time == 1577923200
    assert found.rejected == {"no-url": 1}


def test_unknown_members_are_an_error_that_lists_those_there_are():
    with pytest.raises(SourceError, match=r"rows\.jsonl: cannot tell which .* there are a, b;"):
        read_lines(b'{"a": 1}\n{"b": 2}\n')
    with pytest.raises(SourceError, match=r"rows\.jsonl has no column crawl; there are url"):
        read_lines(b'{"url": "http://a/"}\n', group="crawl")


def test_marks_line_ends_and_a_missing_last_newline_do_not_matter():
    lines = [b'{"url": "http://a/"}', b'  {"url": "http://b/"}  ']
    for mark in (b"", b"\xef\xbb\xbf"):
        for newline in (b"\n", b"\r\n"):
            found = read_lines(mark + newline.join(lines))
            assert found.urls == urls("http://a/", "http://b/")
            assert not found.rejected


def test_long_lines_are_taken_up_to_a_limit(monkeypatch):
    text = b"x" * 3_000_000
    found = read_lines(b'{"url": "http://a/", "text": "' + text + b'"}\n{"url": "http://b/"}\n')
    assert found.urls == urls("http://a/", "http://b/")
    monkeypatch.setattr(json_lines, "_MAX_LINE_BYTES", 1_500_000)
    found = read_lines(b'{"url": "http://b/"}\n{"url": "http://a/", "text": "' + text + b'"}\n')
    assert found.urls == urls("http://b/")
    assert found.rejected == {"too-long": 1}


def test_a_line_of_millions_of_values_takes_little_memory():
    line = b'{"url": "\\u0068ttp://a/", "x": [' + b"12," * 1_500_000 + b"12]}\n"
    tracemalloc.start()
    found = read_lines(b'{"url": "http://b/"}\n' + line)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.rejected == {"no-object": 1}
    assert peak < 60_000_000


@pytest.mark.parametrize(
    "piece", [b" ", b"{", b"[", b'"', b"\\", b'{"url":', b'{"url":"', b"\n", b"}\n", b'{"x":"\\'],
    ids=repr,
)  # fmt: skip
def test_no_bytes_that_repeat_take_longer_than_others(piece):
    data = b'{"url": "http://a/"}\n' + piece * (400_000 // len(piece)) + b"\n"
    start = time.process_time()
    looks_like_json_lines(data)
    assert read_lines(data).urls == urls("http://a/")
    assert time.process_time() - start < 8


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(SourceError, match=r"rows\.jsonl is no text file"):
        read_lines(b'{"url": "\0"}\n')


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"url": "http://a/"}\n', True),
        (b'\xef\xbb\xbf\n {"a": 1}', True),
        (b"{}\n", True),
        (b'{"broken": \n{"url": "http://a/"}\n', True),
        (b'{"text": "' + b"x" * 100_000, True),
        (b'{\n "url": "http://a/"\n}\n', False),
        (b'[{"url": "http://a/"}]\n', False),
        (b'com,a)/ 20200101000000 {"url": "http://a/"}\n', False),
        (b"{not json\n", False),
        (b"http://a/\n", False),
        (b"", False),
    ],
)
def test_json_lines_are_told_from_other_formats(data, expected):
    assert looks_like_json_lines(data) is expected


MEMBER = st.sampled_from(["url", "status", "timestamp", "message", "x", "mime"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(MEMBER, inner, max_size=2),
    max_leaves=4,
)
LINE = st.one_of(
    st.dictionaries(MEMBER, VALUE, max_size=4),
    st.text(max_size=8).map(lambda path: {"x": [1], "url": f"http://a/{path}"}),
    VALUE,
)


@hypothesis.settings(max_examples=300)
@hypothesis.given(
    lines=st.lists(LINE, max_size=8), ascii_only=st.booleans(), cuts=st.lists(st.integers(0, 400))
)
def test_any_json_is_read_as_pythons_own_reader_reads_it_cut_anywhere(lines, ascii_only, cuts):
    first = {"url": "http://first/"}
    data = "\n".join(json.dumps(line, ensure_ascii=ascii_only) for line in [first, *lines]).encode()
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    pieces = [data[a:b] for a, b in pairwise(places)]
    found = read_blocks(read_json_lines, *pieces)
    objects = [line for line in lines if isinstance(line, dict)]
    names = [line["url"] for line in objects if _is_url(line.get("url"))]
    expected = [name.encode().strip() for name in names]
    assert len(found.urls) + found.excluded["not-fetched"] == 1 + len(expected)
    assert Counter(found.urls) <= Counter(urls("http://first/", *expected))
    assert found.rejected["no-object"] == len(lines) - len(objects)
    assert len(found.urls) + (found.rejected + found.excluded).total() == 1 + len(lines)


def _is_url(value):
    return isinstance(value, str) and value.startswith("http://a/")


@hypothesis.given(data=st.binary(max_size=200), broken=st.integers(0, 60))
def test_any_bytes_are_read_or_refused_in_words(data, broken):
    line = bytearray(b'{"url": "http://a/\\u0041", "status": [{"x": "\\""}]}\n')
    line[min(broken, len(line) - 1)] ^= 0x22
    refusal = ""
    try:
        found = read_lines(bytes(line) + data)
    except SourceError as error:
        refusal = str(error)
    told = refusal or len(found.urls) + (found.rejected + found.excluded).total()
    assert told
    assert not refusal or "rows.jsonl" in refusal
