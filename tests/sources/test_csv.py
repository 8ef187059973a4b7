"""CSV and its relatives are read as RFC 4180 has them, and broken rows cost only themselves."""

import csv
import gzip
import io
import random
import time
import tracemalloc
from itertools import pairwise

import hypothesis
import hypothesis.strategies as st
import pytest
from readings import keys, read_blocks, read_bytes, urls

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources import csv_rows
from crawlgauge.sources.csv_rows import looks_like_csv, read_csv_rows


def read_csv(data, **wishes):
    return read_bytes(read_csv_rows, data, name="rows.csv", **wishes)


def test_columns_are_found_by_their_names():
    data = (
        b"urlkey,timestamp,original,mimetype,statuscode,digest\n"
        b'"org,a)/",20200102030405,http://a.org/,text/html,200,ABC\n'
        b"org)/,2020-01-02,http://b.org/,warc/revisit,-,\n"
    )
    found = read_csv(data)
    assert found.of("http://a.org/")[1:7] == (1577934245, 200, b"text/html", b"ABC", None, False)
    assert found.of("http://b.org/")[1:7] == (1577923200, None, None, None, None, True)
    assert read_csv(data, key_rule=GIVEN).keys == keys("org,a)/", "org)/")


@pytest.mark.parametrize("delimiter", [b",", b"\t", b";"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("quote", [b"", b'"'])
def test_delimiters_line_ends_marks_and_quotes_are_told(delimiter, newline, mark, quote):
    rows = [[b"rank", b"url"], [b"1", b"http://a/?x=1"], [b"2", b"http://b/"]]
    lines = [delimiter.join(quote + cell + quote for cell in row) for row in rows]
    for end in (newline, b""):
        data = mark + newline.join(lines) + end
        assert looks_like_csv(data)
        assert read_csv(data).urls == urls("http://a/?x=1", "http://b/")
        assert not read_csv(data).rejected


def test_quoted_cells_hold_delimiters_newlines_and_doubled_quotes():
    found = read_csv(
        b'note,url\r\n"a, ""b""\r\n\r\nc","http://a/?q=""x"",y"\r\n"""","http://b/"\r\n'
    )
    assert found.urls == urls('http://a/?q="x",y', "http://b/")
    assert not found.rejected


def test_a_cell_may_serve_as_url_and_group():
    data = b'url,x\n"http://a/?""1""",2\n'
    found = read_csv(data, group="url")
    assert found.of('http://a/?"1"').group == b'http://a/?"1"'


def test_spaces_around_cells_do_not_matter():
    assert read_csv(b'x, url , y\n1,  "http://a/?a,b"  , "z, z"\n').urls == urls("http://a/?a,b")


def test_blank_lines_and_leading_comments_are_passed_over():
    found = read_csv(b"# made by hand\n\nurl,x\n \t\nhttp://a/,1\n\n#1,2\n")
    assert found.urls == urls("http://a/")
    assert found.rejected == {"no-scheme": 1}
    assert found.examples[0].line == 7


def test_rows_without_the_cell_of_the_url_have_too_few_cells():
    found = read_csv(b"rank,url,note\n1,http://a/,x\n2\n3,http://b/\n4,,x\n")
    assert found.urls == urls("http://a/", "http://b/")
    assert found.rejected == {"too-few-cells": 1, "no-url": 1}


def test_the_place_of_a_rejected_row_counts_the_lines_within_quotes():
    data = b'url,x\nhttp://a/,"1\n2\n3"\nbad,4\n'
    (example,) = read_csv(data).examples
    assert (example.line, example.offset, example.text) == (5, data.index(b"bad"), "bad,4")


def test_wrong_quotes_cost_only_their_own_line():
    found = read_csv(b'url,x\n"http://a/"b,1\nhttp://b/,"open\nhttp://c/,"ok"\nhttp://d/,5" wide\n')
    assert found.urls == urls("http://c/", "http://d/")
    assert found.rejected == {"bad-quotes": 2}


def test_a_quote_that_is_never_closed_costs_only_its_own_line():
    found = read_csv(b'url,x\nhttp://a/,"open\n' + b"http://b/,1\n" * 1000)
    assert found.urls == urls(*["http://b/"] * 1000)
    assert found.rejected == {"unclosed-quote": 1}


def test_an_open_quote_in_the_header_does_not_eat_the_rows_below_it():
    assert read_csv(b'url,"x\n' + b"http://b/,1\n" * 50).urls == urls(*["http://b/"] * 50)
    assert read_csv(b'url,"x\ny"\nhttp://b/,1\n').urls == urls("http://b/")
    assert read_csv(b'"url"s,url\n"1",http://b/\n').urls == urls("http://b/")


def test_a_quote_that_runs_away_is_stopped_at_the_limit(monkeypatch):
    monkeypatch.setattr(csv_rows, "_MAX_ROW_BYTES", 100)
    blocks = [b'url,x\nhttp://a/,"open\n', *[b"http://b/,1\n" * 5] * 10]
    found = read_blocks(read_csv_rows, *blocks)
    assert found.urls == urls(*["http://b/"] * 50)
    assert found.rejected == {"unclosed-quote": 1}


HOSTILE = [
    b'x","\n',
    b'"\n',
    b'"',
    b'""',
    b'""\n',
    b'"x"y,\n',
    b'a,"b\n',
    b'a,"b\n"',
    b",",
    b" ",
    b"\n",
    b"\r",
    b'"a",\n',
    b'" ",',
    b'"a",' * 10_000 + b"\n",
    b'"' * 60_000 + b"\n",
    b"#" * 60_000,
    b"http://a/,",
]


@pytest.mark.parametrize("piece", HOSTILE, ids=lambda piece: repr(piece[:12]))
@pytest.mark.parametrize("size", [1_000, 250_000])
def test_no_bytes_that_repeat_take_longer_than_others(piece, size):
    repeated = piece * (400_000 // len(piece))
    blocks = [repeated[start : start + size] for start in range(0, len(repeated), size)]
    start = time.process_time()
    looks_like_csv(repeated)
    found = read_blocks(read_csv_rows, b'url,x\n"http://a/",1\n', *blocks)
    assert found.of("http://a/")
    assert time.process_time() - start < 8


def test_a_row_of_millions_of_cells_takes_bounded_memory():
    cells = b"ab," * 1_000_000
    data = b"url,x\nhttp://a/," + cells + b"\nhttp://b/," + cells + b'"c"\n'
    tracemalloc.start()
    found = read_csv(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.urls == urls("http://a/", "http://b/")
    assert peak < 120_000_000


def test_long_cells_beside_the_url_do_no_harm_and_long_rows_are_rejected():
    text = b"x" * 3_000_000
    found = read_csv(
        b"url,text\nhttp://a/," + text + b"\nhttp://b/," + 2 * text + b"\nhttp://c/,x\n"
    )
    assert found.urls == urls("http://a/", "http://c/")
    assert found.rejected == {"too-long": 1}
    found = read_csv(b"url,x\nhttp://a/" + b"y" * 70_000 + b",x\nhttp://c/,x\n")
    assert found.urls == urls("http://c/")
    assert found.rejected == {"too-long": 1}


def test_without_a_header_the_only_column_of_urls_is_taken():
    assert read_csv(b"1,http://a/,x\n2,http://b/,y\n").urls == urls("http://a/", "http://b/")


def test_without_a_header_the_user_may_give_the_position():
    data = b"http://a/,http://x/\nhttp://b/,http://y/\n"
    message = "cannot tell which column holds the URLs, as 1, 2 all do; say which, .*--column 1"
    with pytest.raises(SourceError, match=message):
        read_csv(data)
    assert read_csv(data, column="2").urls == urls("http://x/", "http://y/")


def test_a_header_of_unknown_names_is_told_by_the_urls_below_it():
    assert read_csv(b"address,note\nhttp://a/,x\nhttp://b/,y\n").urls == urls(
        "http://a/", "http://b/"
    )
    with pytest.raises(SourceError, match="as from, to all do"):
        read_csv(b"from,to\nhttp://a/,http://b/\n")
    assert read_csv(b"from,to\nhttp://a/,http://b/\n", column="to").urls == urls("http://b/")


def test_without_any_urls_the_error_lists_the_columns():
    with pytest.raises(SourceError, match=r"cannot tell which column .*; there are timestamp"):
        read_csv(b"timestamp,status\n2020,200\n")
    with pytest.raises(SourceError, match=r"rows.csv has no column page; there are url, x"):
        read_csv(b"url,x\nhttp://a/,1\n", column="page")


def test_a_table_of_one_column_keeps_the_commas_of_its_urls():
    data = b"url\nhttp://a/1,2\nhttp://b/;x\n"
    assert looks_like_csv(data)
    assert read_csv(data).urls == urls("http://a/1,2", "http://b/;x")


def test_empty_input_has_no_rows():
    for data in (b"", b"\n \n", b"# nothing\n"):
        assert not read_csv(data).urls
        assert not looks_like_csv(data)
    for data in (b"url,x", b"# made by hand\n\nurl,x", b"url,x\n"):
        found = read_csv(data)
        assert not found.urls
        assert not found.rejected


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(SourceError, match=r"rows.csv is no text file"):
        read_csv(b"url,x\nhttp://a/\0,1\n")


@pytest.mark.parametrize(
    "data",
    [
        b"http://a/1,2\nhttp://b/3\n",
        b"http://a/0,1518,123456,00.html\nhttp://a/0,1518,223457,00.html\n",
        b"http://a/;jsessionid=1\nhttp://b/;jsessionid=2\n",
        b"http://a/,200\n",
        b"http://a/\nhttp://b/\n",
        b"broken, line\nhttp://b/\nhttp://c/\n",
        b" CDX N b a m s k r M S V g\ncom,a)/ 20140126200624 http://a.com/ text/html 200 X - - 1 2",
        b"com,a)/ 20140126200624 http://a.com/?x=1,http://b.com/ text/html 200 X - - 1 2 x.warc\n"
        * 3,
        b'com,a)/ 20140126200624 {"url": "http://a.com/", "status": "200"}\n',
        b"com,a)/ 20140126200624\tcdx-00000.gz\t0\t100\t1\n",
        b"2020-01-01T00:00:00.000Z   200   100 http://a/?,http://b LLE - text/html #1 - - - -\n",
        b'{"url": "http://a/", "x": 1}\n',
        b'[["url","x"],["http://a/","1"]]',
        b"label,date,urls\nCC-MAIN-2013-20,2013-05-13,1666857706\n",
        b"WARC/1.0\r\nWARC-Type: response\r\nurl: x, y\r\n",
        b"\x1f\x8b\0\0url,x\n",
    ],
)
def test_other_formats_and_lists_are_not_taken_for_csv(data):
    assert not looks_like_csv(data)


@pytest.mark.parametrize(
    "data",
    [
        b"url,status\n",
        b"http://a/,200\nhttp://b/,404\n",
        b"http://a/,20200102030405,text/html\n",
        b"http://a/;2020-01-02;some words\nhttp://b/;2020-01-02;others\n",
        b"http://a/\tx\nhttp://b/\ty\n",
        b"1,http://a/\n2,http://b/\n3\n",
        b'"http://a/","x y"\n"http://b/","z z"\n',
        b"address,note\nhttp://a/,x\nhttp://b/,y\n",
    ],
)
def test_tables_are_told_from_lists(data):
    assert looks_like_csv(data)


CELL = st.text(alphabet='ab ,;"\t\n\r#-é', max_size=8)


@hypothesis.given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), max_size=8),
    delimiter=st.sampled_from(",\t;"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    cuts=st.lists(st.integers(0, 200), max_size=6),
)
def test_what_pythons_writer_writes_is_read_cut_anywhere(rows, delimiter, quoting, cuts):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
    writer.writerow(("x", "url", "y"))
    writer.writerows((first, "http://a/" + middle, last) for first, middle, last in rows)
    data = file.getvalue().encode()
    head = len(b'"x","url","y"\r\n') if quoting == csv.QUOTE_ALL else len(b"x,url,y\r\n")
    places = sorted({0, *(head + cut for cut in cuts), len(data)})
    pieces = [data[a:b] for a, b in pairwise(places) if data[a:b]]
    found = read_blocks(read_csv_rows, *pieces)
    # Python's writer quotes no spaces, and leaves them outside of what it quotes.
    names = [("http://a/" + middle).strip(" \t\r\n") for _, middle, _ in rows]
    assert found.urls == urls(*names)
    assert not found.rejected


def test_a_large_file_of_cells_with_newlines_is_read_whole():
    rng = random.Random(5)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(("text", "url"))
    n_rows = 2000
    for row in range(n_rows):
        writer.writerow(('a "line"\n' * rng.randrange(400), f"http://a/{row}"))
    found = read_csv(file.getvalue().encode())
    assert found.urls == urls(*(f"http://a/{row}" for row in range(n_rows)))
    assert not found.rejected


def test_damage_is_an_error_or_cuts_the_row_that_it_meets():
    rng = random.Random(7)
    members = []
    for part in range(2):
        rows = b"".join(
            b'"%d\n",http://%d.org/%d\n' % (rng.getrandbits(64), part, row) for row in range(20_000)
        )
        members.append(gzip.compress((b"x,url\n" if part == 0 else b"") + rows))
    data = members[0][: len(members[0]) // 2] + members[1]
    with pytest.raises(DamagedInput):
        read_csv(data)
    found = read_csv(data, keep=True)
    assert len(found.damages) == 1
    expected = [f"http://{part}.org/{row}" for part in range(2) for row in range(20_000)]
    assert 0 < len({*found.urls} & {*urls(*expected[:20_000])}) < 20_000
    assert len({*found.urls} & {*urls(*expected[20_000:])}) >= 19_998
