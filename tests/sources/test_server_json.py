"""JSON arrays, as CDX servers answer, are read row by row however they are laid out."""

import gzip
import json
import time
import tracemalloc
from collections import Counter
from itertools import pairwise

import hypothesis
import hypothesis.strategies as st
import pytest
from readings import keys, read_blocks, read_bytes, urls

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources import server_json
from crawlgauge.sources.server_json import looks_like_server_json, read_server_json

HEADER = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
ROWS = [
    ["org,a)/", "20080328041443", "http://www.a.org:80/", "text/html", "200", "ABC", "1704"],
    ["org,b)/", "20080427194224", "http://b.org/[x],{y}", "warc/revisit", "-", "ABC", "17"],
]


def read_json(data, **wishes):
    return read_bytes(read_server_json, data, name="rows.json", **wishes)


@pytest.mark.parametrize("indent", [None, 1, "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\n "])
def test_answers_are_read_in_one_line_or_in_many(indent, mark):
    data = mark + json.dumps([HEADER, *ROWS], indent=indent).encode()
    assert looks_like_server_json(data)
    found = read_json(data, group="length")
    first, second = found.of("http://www.a.org:80/"), found.of("http://b.org/[x],{y}")
    assert first[1:7] == (1206677683, 200, b"text/html", b"ABC", b"1704", False)
    assert second[1:7] == (1209325344, None, None, b"ABC", b"17", True)
    assert not found.rejected
    assert read_json(data, key_rule=GIVEN).keys == keys("org,a)/", "org,b)/")


def test_the_rows_as_the_server_lays_them_out_are_read():
    lines = [json.dumps(row, separators=(",", ":")) for row in [HEADER, *ROWS]]
    found = read_json(("[" + ",\n".join(lines) + "]\n").encode())
    assert found.urls == urls("http://www.a.org:80/", "http://b.org/[x],{y}")


def test_escapes_numbers_and_nulls_are_read_exactly():
    found = read_json(
        rb'[["original","statuscode","digest"],["http:\/\/a\/\u00e4\"\\","200",null],'
        rb'["http://b/",404,"\ud800"],["http://c/",2e2,[1]]]'
    )
    names = ['http://a/ä"\\', "http://b/", "http://c/"]
    assert found.urls == urls(*names)
    assert [found.of(name).status for name in names] == [200, 404, None]
    digests = [None, "\N{REPLACEMENT CHARACTER}".encode(), None]
    assert [found.of(name).digest for name in names] == digests


def test_answers_one_after_another_have_their_own_columns():
    found = read_json(
        b'[["original"],["http://a/"]]\n[]\n[["length","url"],["1","http://b/"]]\n[{"uri": "http://c/"}]'
    )
    assert found.urls == urls("http://a/", "http://b/", "http://c/")
    assert not found.rejected


def test_thousands_of_answers_one_after_another_are_read_as_one():
    answers = [[HEADER, ROWS[0]], [HEADER], [HEADER, *ROWS], [HEADER, [], ["a resume key"]]] * 1000
    found = read_json(b"\n".join(json.dumps(answer).encode() for answer in answers), keep=True)
    assert found.urls == urls(*[ROWS[0][2]] * 2000, *[ROWS[1][2]] * 1000)
    assert found.excluded == {"resume-key": 1000}
    assert not found.rejected


OBJECTS = [{"url": "http://c/", "status": "200"}, {"url": "http://d/"}]
ANSWERS = [
    [HEADER, *ROWS],
    [HEADER[::-1], *(row[::-1] for row in ROWS)],
    [HEADER, [], ["key"]],
    [["original"], ["http://e/"], [], ["key"]],
    [["original"], ["http://f/"]],
    OBJECTS,
    [{"uri": "http://g/"}],
    [{"message": "none"}],
    [],
]


@hypothesis.settings(max_examples=200, deadline=None)
@hypothesis.given(answers=st.lists(st.sampled_from(ANSWERS), max_size=6))
def test_answers_that_stand_together_say_what_each_says_alone(answers):
    packed = [json.dumps(answer).encode() for answer in (ANSWERS[0], *answers)]
    together = read_json(b"".join(packed), keep=True)
    alone = [read_json(text, keep=True) for text in packed]
    assert together.rows == [row for found in alone for row in found.rows]
    assert together.rejected == sum((found.rejected for found in alone), Counter())
    assert together.excluded == sum((found.excluded for found in alone), Counter())


def test_arrays_of_objects_are_read():
    data = json.dumps([{"url": "http://a/", "status": 200}, {"x": [{}]}, 5, {"message": "no"}])
    assert looks_like_server_json(data.encode())
    found = read_json(data.encode())
    assert found.urls == urls("http://a/")
    assert found.of("http://a/").status == 200
    assert found.rejected == {"no-url": 1, "no-object": 1, "server-message": 1}


def test_rows_that_are_none_are_rejected_with_their_place():
    data = b'[["length","url"],["1"],5,"x",{"url":"http://a/"},["1","http://b/"],["1",""],null]'
    found = read_json(data)
    assert found.urls == urls("http://b/")
    assert found.rejected == {"too-few-cells": 1, "no-row": 4, "no-url": 1}
    assert found.examples[0].offset == data.index(b'["1"]')
    assert found.examples[0].line is None


def test_an_answer_that_ends_with_a_key_to_resume_from_is_not_all():
    page = b'[["url","length"],["http://a/","1"],[],["org%2Ca%29%2F+2008"]]'
    with pytest.raises(DamagedInput, match=r"ends with a resume key, from which .* would go on"):
        read_json(page)
    found = read_json(page, keep=True)
    assert found.urls == urls("http://a/")
    assert found.excluded == {"resume-key": 1}
    assert not found.rejected
    assert [damage.lost for damage in found.damages] == ["all rows that follow"]
    # The page that the key leads to may stand behind it.
    assert read_json(page + b'[["url"],["http://b/"]]').urls == urls("http://a/", "http://b/")


def test_an_empty_answer_holds_no_captures():
    assert looks_like_server_json(b"[]\n")
    assert not read_json(b"[]\n").urls


def test_rows_without_a_header_are_read_where_the_user_says():
    data = b'[["org,a)/","http://a/"],["org,b)/","http://b/"]]'
    with pytest.raises(SourceError, match="cannot tell which column holds the URLs"):
        read_json(data)
    assert read_json(data, column="2").urls == urls("http://a/", "http://b/")


def test_what_cannot_be_understood_is_an_error_in_words():
    with pytest.raises(SourceError, match=r"rows\.json is no JSON array of rows"):
        read_json(b'{"message": "x"}')
    with pytest.raises(SourceError, match=r"first row .* does not name the columns; .* byte 1$"):
        read_json(b"[[1, null], [3, 4]]")
    with pytest.raises(SourceError, match="there are id, name;"):
        read_json(b'[{"id": "CC-MAIN-2025-33", "name": "August"}]')


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'[["url"],["http://a/"],["http://b', "ends before its JSON array does"),
        (b'[["url"],["http://a/"]', "ends before its JSON array does"),
        (b'[["url"],["http://a/"] ["http://b/"]]', "no row of a JSON array"),
        (b'[["url"],["http://a/"]]<html>', "no row of a JSON array"),
        (b'[["url"],["http://a/"],,["http://b/"]]', "no row of a JSON array"),
    ],
)
def test_an_array_that_ends_early_or_breaks_is_damage(data, reason):
    with pytest.raises(DamagedInput, match=reason):
        read_json(data)
    found = read_json(data, keep=True)
    assert found.urls == urls("http://a/")
    assert [reason in damage.reason for damage in found.damages] == [True]


def test_damage_of_the_compression_ends_the_array():
    rows = [["url"], *([f"http://a/{number * 7919}"] for number in range(50_000))]
    data = gzip.compress(json.dumps(rows).encode())
    data = data[: len(data) // 2]
    with pytest.raises(DamagedInput, match="ends before its compressed stream"):
        read_json(data)
    found = read_json(data, keep=True)
    assert 0 < len(found.urls) < 50_000
    (damage,) = found.damages
    assert damage.lost.endswith("bytes of content, with the row that breaks off there")


def test_a_bracket_that_nobody_closes_does_not_fill_memory(monkeypatch):
    monkeypatch.setattr(server_json, "_MAX_ROW_BYTES", 1_000_000)
    with pytest.raises(DamagedInput, match="no row of a JSON array"):
        read_json(b'[["url"],["http://a/"],[' + b'"x",' * 2_000_000)


def test_a_row_of_millions_of_cells_takes_little_memory():
    data = b'[["url"],["http://a/"],["http://b/",' + b"12," * 400_000 + b'12],["http://c/"]]'
    tracemalloc.start()
    found = read_json(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.urls == urls("http://a/", "http://b/", "http://c/")
    assert peak < 80_000_000


@pytest.mark.parametrize(
    "piece",
    [
        b" ",
        b"[",
        b"{",
        b'"',
        b"\\",
        b"],[",
        b'["a" 1],',
        b"[[],",
        b'{"a" 1},',
        b'"\\",',
        b"1,",
        b"][",
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1_000, 250_000])
def test_no_bytes_that_repeat_take_longer_than_others(piece, size):
    repeated = piece * (400_000 // len(piece))
    blocks = [repeated[start : start + size] for start in range(0, len(repeated), size)]
    start = time.process_time()
    looks_like_server_json(repeated)
    with pytest.raises(DamagedInput):
        read_blocks(read_server_json, b'[["url"],["http://a/"],', *blocks)
    assert time.process_time() - start < 8


def test_an_array_of_objects_cut_anywhere_has_the_members_of_all():
    data = json.dumps(
        [{"x": 1}, {"url": "http://a/"}, {"url": "http://b/", "status": 404}]
    ).encode()
    for cut in range(1, len(data)):
        found = read_blocks(read_server_json, data[:cut], data[cut:])
        assert found.urls == urls("http://a/", "http://b/")
        assert found.of("http://b/").status == 404


@pytest.mark.parametrize("value", [b"1.5e-05", b"-12", b"null", b"-Infinity", b'"\\ud83d\\ude00"'])
def test_a_value_cut_anywhere_is_one_value(value):
    data = b'[["url"],' + value + b',["http://a/",' + value + b"]," + value + b"]"
    for cut in range(2, len(data)):
        found = read_blocks(read_server_json, data[:cut], data[cut:])
        assert found.urls == urls("http://a/")
        assert found.rejected == {"no-row": 2}


def test_a_long_answer_is_read_in_batches():
    rows = [["url"], *([f"http://a/{number}"] for number in range(100_000))]
    found = read_json(json.dumps(rows).encode())
    assert found.urls == urls(*(url for (url,) in rows[1:]))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[["url"]]', True),
        (b"[\n  {\n", True),
        (b"[1, 2]", False),
        (b'["http://a/"]', False),
        (b'{"a": []}', False),
        (b"[] x", False),
        (b"http://[::1]/", False),
        (b"", False),
    ],
)
def test_arrays_of_rows_are_told_from_other_formats(data, expected):
    assert looks_like_server_json(data) is expected


CELL = st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6) | st.just([1])
ROW = st.lists(CELL, max_size=4) | CELL | st.dictionaries(st.text(max_size=2), CELL, max_size=2)


@hypothesis.settings(max_examples=300)
@hypothesis.given(
    rows=st.lists(ROW, max_size=8),
    indent=st.sampled_from([None, 2]),
    ascii_only=st.booleans(),
    cuts=st.lists(st.integers(3, 200), max_size=4),
)
def test_any_rows_are_read_as_pythons_own_reader_reads_them(rows, indent, ascii_only, cuts):
    rows = [["x", "url"], *([*row[:1], "http://a/", *row[1:]] if isinstance(row, list) and row
                            else row for row in rows)]  # fmt: skip
    data = json.dumps(rows, indent=indent, ensure_ascii=ascii_only).encode()
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    pieces = [data[a:b] for a, b in pairwise(places)]
    found = read_blocks(read_server_json, *pieces)
    arrays = [row for row in rows[1:] if isinstance(row, list)]
    assert found.urls == urls(*["http://a/" for row in arrays if row])
    assert found.rejected["no-row"] == len(rows) - 1 - len(arrays)
