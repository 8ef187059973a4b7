import datetime as dt

import numpy as np
import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import to_csv
from crawlgauge.overlaps.table import MISSING
from csv_tables import from_csv

HEADER = "a,date_a,n_a,b,date_b,n_b,n_shared"
ROW = "2013-12,2013-12-15,100,2014-06,2014-06-15,80,40"


def read(*lines):
    return from_csv("\n".join(lines), name="t.csv")


def error_of(*lines):
    with pytest.raises(OverlapError) as caught:
        read(*lines)
    return str(caught.value)


def test_a_table_of_known_numbers_is_read():
    table = read(
        HEADER,
        "2013-12,2013-12-15,100,2014-06,2014-06-15,80,40",
        "2013-12,2013-12-15,100,2014-12,2014-12-15,120,30",
        "2014-06,2014-06-15,80,2014-12,2014-12-15,120,60",
    )
    assert [crawl.label for crawl in table.crawls] == ["2013-12", "2014-06", "2014-12"]
    assert table.crawls[0].date == dt.date(2013, 12, 15)
    assert table.n_shared.tolist() == [[100, 40, 30], [40, 80, 60], [30, 60, 120]]
    assert table.se_shared is None
    assert (table.level, table.key_rule, table.sample_rate) == ("url", None, 1.0)


def test_similarities_are_written_for_readers():
    assert to_csv(read(HEADER, ROW)) == (
        "# level=url\n"
        f"{HEADER},containment_a_in_b,containment_b_in_a,jaccard,dice\n"
        f"{ROW},0.4,0.5,0.285714,0.444444\n"
    )


def test_columns_may_stand_in_any_order_among_others():
    table = read(
        "note,n_shared,n_b,date_b,b,n_a,date_a,a,jaccard",
        '"two\nlines, quoted",40,80,20140615,2014-06,100,2013-12,2013-12,0.99',
        "x,40,1e3,2015-01-01,c,100,2013-12,2013-12,",
    )
    assert table.n_shared[0].tolist() == [100, 40, 40]
    assert table.crawls[2].n_urls == 1000


def test_byte_order_mark_and_windows_line_ends_are_read():
    assert from_csv(f"\ufeff{HEADER}\r\n{ROW}\r\n", name="t.csv").n_shared[0, 1] == 40


def test_the_earlier_crawl_of_a_row_comes_first():
    table = read(HEADER, "2014-06,2014-06-15,80,2013-12,2013-12-15,100,40")
    (pair,) = table.pairs()
    assert (pair.a.label, pair.b.label) == ("2013-12", "2014-06")
    assert pair.containment_a_in_b == 0.4


def test_an_empty_overlap_and_an_absent_row_are_missing_pairs():
    table = read(
        HEADER,
        "x,2013-12-15,100,y,2014-06-15,80,",
        "x,2013-12-15,100,z,2014-12-15,90,7",
    )
    assert table.n_shared[0].tolist() == [100, MISSING, 7]
    assert table.n_shared[1, 2] == MISSING


def test_a_crawl_without_pairs_stands_in_a_row_with_itself():
    table = read(HEADER, ROW, "x,2015-01-01,5,x,2015-01-01,5,5")
    assert table.n_crawls == 3
    assert "x,2015-01-01,5,x,2015-01-01,5,5,1,1,1,1\n" in to_csv(table)


def test_standard_errors_may_be_unknown():
    table = read(f"{HEADER},se_shared", f"{ROW},2.5", "2013-12,2013-12-15,100,z,2015-01-01,9,4,")
    assert table.se_shared[0, 1] == 2.5
    assert np.isnan(table.se_shared[0, 2])


def test_comment_lines_say_level_key_rule_and_sample_rate():
    table = read(
        '# made by hand, "with care',
        "# level=content",
        "#key_rule = surt/1,,,,,,",
        "# sample_rate=1/64",
        f"{HEADER},n_sampled_a,n_sampled_b",
        "x,2013-12-15,6400,y,2014-06-15,6300,40,100,90",
    )
    assert (table.level, table.key_rule, table.sample_rate) == ("content", "surt/1", 1 / 64)
    assert [(crawl.n_urls, crawl.n_sampled) for crawl in table.crawls] == [(6400, 100), (6300, 90)]


def test_all_counts_are_of_the_sample_where_only_a_sample_rate_is_given():
    table = read("# sample_rate=0.01", HEADER, ROW)
    assert [(crawl.n_urls, crawl.n_sampled) for crawl in table.crawls] == [(10000, 100), (8000, 80)]
    (pair,) = table.pairs()
    assert pair.containment_a_in_b == 0.4


def test_overlaps_follow_from_jaccard():
    header = HEADER.replace("n_shared", "jaccard")
    table = read(
        header,
        "x,2013-12-15,100,y,2014-06-15,80,0.285714",
        "x,2013-12-15,100,z,2014-12-15,100,1",
        "y,2014-06-15,80,z,2014-12-15,100,",
    )
    assert table.n_shared.tolist() == [[100, 40, 100], [40, 80, MISSING], [100, MISSING, 100]]


def test_jaccard_of_samples_gives_overlaps_of_samples():
    header = HEADER.replace("n_shared", "jaccard")
    table = read(
        "# sample_rate=0.01",
        f"{header},n_sampled_a,n_sampled_b",
        "x,2013-12-15,10100,y,2014-06-15,7900,0.285714,100,80",
    )
    assert table.n_shared.tolist() == [[100, 40], [40, 80]]


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ("x,2013-12,many,y,2014-06,80,40", "n_a", "'many' is no whole number"),
        ('x,2013-12,"1,000",y,2014-06,80,40', "n_a", "without thousands separators"),
        ("x,2013-12,100,y,2014-06,80.5,40", "n_b", "80.5 is no whole number"),
        ("x,2013-12,100,y,2014-06,1e30,40", "n_b", "1e30 is no whole number up to"),
        ("x,2013-12,100,y,2014-06,80,-4", "n_shared", "-4 is negative"),
        ("x,2013-12,100,y,2014-06,80,nan", "n_shared", "'nan' is no whole number"),
        ("x,2013-12,,y,2014-06,80,40", "n_a", "empty"),
        ("x,2013-12,0,y,2014-06,80,40", "n_a", "at least one is needed"),
        ("x,2013-13,100,y,2014-06,80,40", "date_a", "'2013-13' is not a date"),
        ("x,2013-12,100,y,soon,80,40", "date_b", "'soon' is not a date"),
        ("x/1,2013-12,100,y,2014-06,80,40", "a", "'x/1' is no usable label"),
        ("x,2013-12,100,,2014-06,80,40", "b", "'' is no usable label"),
        ("x,2013-12,100,y,2014-06,80,81", "n_shared", "cannot share 81 URLs"),
        ("x,2013-12,100,x,2013-12,100,81", "n_shared", "cannot share 81 URLs"),
        ("x,2013-12,100,x,2013-11,100,100", "date_b", "has date 2013-11-15 here, but 2013-12-15"),
    ],
)
def test_a_bad_cell_is_named_by_file_line_and_column(row, column, words):
    message = error_of("# a comment", HEADER, ROW, "", row)
    assert message.startswith(f"t.csv, line 5, column {column}: ")
    assert words in message


@pytest.mark.parametrize(
    ("cell", "words"),
    [("1.5", "outside 0 to 1"), ("-0.001", "outside 0 to 1"), ("high", "'high' is no number")],
)
def test_a_jaccard_that_cannot_be_is_refused(cell, words):
    header = HEADER.replace("n_shared", "jaccard")
    message = error_of(header, f"x,2013-12,10,y,2014-12,10,{cell}")
    assert message.startswith("t.csv, line 2, column jaccard: ")
    assert words in message


@pytest.mark.parametrize(
    ("cell", "words"),
    [("-1", "negative"), ("1e999", "no number"), ("inf", "no number"), ("x", "no number")],
)
def test_a_standard_error_that_cannot_be_is_refused(cell, words):
    message = error_of(f"{HEADER},se_shared", f"{ROW},{cell}")
    assert message.startswith("t.csv, line 2, column se_shared: ")
    assert words in message


def test_lines_are_counted_through_quoted_line_breaks():
    message = error_of(f"{HEADER},note", f'{ROW},"over\nthree\nlines"', "x,soon,1,y,2014,1,1,")
    assert message.startswith("t.csv, line 5, column date_a: ")


def test_the_same_pair_twice_is_refused_with_both_lines():
    message = error_of(HEADER, ROW, "2014-06,2014-06-15,80,2013-12,2013-12-15,100,40")
    assert message.startswith("t.csv, line 3, column a, b: ")
    assert "line 2" in message


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ("2013-12,2013-12-16,100,z,2015-01-01,9,4", "date_a", "2013-12-16 here, but 2013-12-15"),
        ("z,2015-01-01,9,2013-12,2013-12-15,101,4", "n_b", "101 here, but 100"),
    ],
)
def test_a_crawl_that_differs_between_lines_is_refused_with_both(row, column, words):
    message = error_of(HEADER, ROW, row)
    assert message.startswith(f"t.csv, line 3, column {column}: crawl '2013-12'")
    assert words in message
    assert "on line 2" in message


def test_missing_columns_are_listed_with_those_that_are_there():
    message = error_of("a;date_a;n_a", "x;2013-12;5")
    assert "missing column a, date_a, n_a, b, date_b, n_b" in message
    assert "separated by commas" in message
    assert "there are a;date_a;n_a" in message


def test_a_table_needs_overlaps_or_jaccard():
    message = error_of("a,date_a,n_a,b,date_b,n_b", "x,2013-12,5,y,2014-12,5")
    assert "missing column n_shared" in message
    assert "jaccard" in message


def test_a_row_of_the_wrong_length_is_refused():
    message = error_of(HEADER, "x,2013-12,1,000,y,2014-06,80,40")
    assert message.startswith("t.csv, line 2: 8 cells under 7 column names")
    assert "thousands separators" in message
    assert error_of(HEADER, ROW, "x,2013-12,10").startswith("t.csv, line 3: 3 cells")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "t.csv is empty"),
        (("# level=url", " "), "t.csv is empty"),
        ((HEADER,), "t.csv holds column names but no data rows"),
        ((f"{HEADER},n_a", f"{ROW},3"), "t.csv, line 1: two columns are named n_a"),
        ((HEADER, ROW, '"x,2013-12,10'), "t.csv, line 3: unexpected end of data"),
        (("# level=page", HEADER, ROW), "t.csv, line 1, column # level: unknown level 'page'"),
        (("# sample_rate=64", HEADER, ROW), "t.csv, line 1, column # sample_rate: '64' is no"),
        (("# sample_rate=1/0", HEADER, ROW), "t.csv, line 1, column # sample_rate: '1/0' is no"),
        ((f"{HEADER},damaged_a", f"{ROW},maybe"), "t.csv, line 2, column damaged_a: 'maybe'"),
    ],
)
def test_what_is_no_table_is_refused(lines, words):
    assert words in error_of(*lines)
