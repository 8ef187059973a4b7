import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import from_histories, read_sheet

CRAWLS = "label,date\nx,2013-12-15\ny,2014-06-15\nz,2014-12-15\n"
HISTORIES = "history,count\n100,4\n110,1\n010,2\n011,1\n001,2\n"


def read(histories=HISTORIES, crawls=CRAWLS):
    return from_histories(read_sheet(histories, "h.csv"), read_sheet(crawls, "c.csv"))


def error_of(histories=HISTORIES, crawls=CRAWLS):
    with pytest.raises(OverlapError) as caught:
        read(histories, crawls)
    return str(caught.value)


def test_overlaps_and_sizes_follow_from_the_histories():
    table = read()
    assert table.n_shared.tolist() == [[5, 1, 0], [1, 4, 1], [0, 1, 3]]
    assert [(crawl.n_urls, crawl.n_sampled) for crawl in table.crawls] == [
        (5, None),
        (4, None),
        (3, None),
    ]
    assert table.histories.n_urls == 10


def test_grouped_histories_are_summed_and_zero_counts_passed_over():
    grouped = (
        "ch,sex,freq\n100,f,1\n100,m,3\n110,f,1\n010,m,2\n011,f,1\n001,m,2\n000,f,0\n101,f,0\n"
    )
    assert read(grouped).n_shared.tolist() == read().n_shared.tolist()
    assert read(grouped).histories.masks.tolist() == read().histories.masks.tolist()


def test_crawls_may_stand_in_any_order():
    shuffled = "date,label\n2014-12-15,a\n2013-12-15,c\n2014-06-15,b\n"
    table = read(crawls=shuffled)
    assert [(crawl.label, crawl.n_urls) for crawl in table.crawls] == [("c", 5), ("b", 4), ("a", 3)]


def test_a_sample_gives_sampled_sizes_and_estimates_the_whole():
    table = read(
        "# sample_rate=0.1\n" + HISTORIES,
        "label,date,n_urls\nx,2013-12-15,48\ny,2014-06-15,\nz,2014-12-15,31\n",
    )
    assert [(crawl.n_urls, crawl.n_sampled) for crawl in table.crawls] == [
        (48, 5),
        (40, 4),
        (31, 3),
    ]
    assert (table.sample_rate, table.histories.sample_rate) == (0.1, 0.1)


def test_crawls_of_one_date_must_stand_in_label_order():
    same = "label,date\nx,2013-12-15\ny,2014-06-15\nz,2014-06-15\n"
    assert read(crawls=same).n_crawls == 3
    message = error_of(crawls="label,date\nx,2013-12-15\nz,2014-06-15\ny,2014-06-15\n")
    assert message.startswith("c.csv, line 4, column date: 'z' (line 3) and 'y' have the same date")


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ("1x0,4", "history", "holds 'x'; possible are 0 (not captured) and 1 (captured)"),
        ("120,4", "history", "removals (2 or more) are not supported"),
        ("10,4", "history", "'10' is of 2 crawls, but there are 3; did a spreadsheet drop"),
        ("1000,4", "history", "'1000' is of 4 crawls, but there are 3"),
        ("000,4", "history", "4 URLs that no crawl holds"),
        ("100,-4", "count", "-4 is negative"),
        ("100,some", "count", "'some' is no whole number"),
        ("100,", "count", "the cell is empty"),
    ],
)
def test_a_bad_history_is_named_by_file_line_and_column(row, column, words):
    message = error_of(f"{HISTORIES}{row}\n")
    assert message.startswith(f"h.csv, line 7, column {column}: ")
    assert words in message


@pytest.mark.parametrize(
    ("crawls", "words"),
    [
        ("label,date\nx,soon\n", "c.csv, line 2, column date: 'soon' is not a date"),
        ("label,date\nx y,2013-12\n", "c.csv, line 2, column label: 'x y' is no usable label"),
        (CRAWLS + "x,2015-12-15\n", "c.csv, line 5, column label: crawl 'x' is on line 2"),
        ("label\nx\n", "c.csv: missing column date; needed are label, date"),
        (
            "label,date,n_urls\nx,2013-12-15,5\ny,2014-06-15,7\nz,2014-12-15,3\n",
            "c.csv, line 3, column n_urls: crawl 'y' has 7 URLs here, but 4 in h.csv",
        ),
    ],
)
def test_bad_crawls_are_named_by_file_line_and_column(crawls, words):
    assert words in error_of(crawls=crawls)


def test_a_sample_larger_than_its_crawl_is_refused():
    crawls = "label,date,n_urls\nx,2013-12-15,4\ny,2014-06-15,\nz,2014-12-15,\n"
    message = error_of(f"# sample_rate=0.5\n{HISTORIES}", crawls)
    assert message.startswith("c.csv, line 2, column n_urls: crawl 'x' has 5 sampled of 4 URLs")


@pytest.mark.parametrize(
    ("histories", "words"),
    [
        ("history,n\n100,4\n", "h.csv: missing column count; needed are history, count"),
        ("history,count\n100,0\n", "h.csv: all counts are 0"),
        ("history,count\n110,1\n", "c.csv, line 4, column label: crawl 'z' stands in no history"),
        (
            f"history,count\n111,{2**63 - 1}\n100,1\n",
            "h.csv: the histories hold 9223372036854775808",
        ),
        ("", "h.csv is empty"),
    ],
)
def test_histories_that_cannot_be_used_are_refused(histories, words):
    assert words in error_of(histories)


def test_more_than_64_crawls_are_refused():
    crawls = "label,date\n" + "".join(f"c{k},2013-12-15\n" for k in range(65))
    message = error_of(f"history,count\n{'1' * 65},1\n", crawls)
    assert "c.csv names 65 crawls; capture histories are of up to 64" in message
