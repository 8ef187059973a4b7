"""Labels and dates of crawls, in all forms that people use."""

import datetime as dt

import pytest

from crawlgauge.crawl import Crawl, check_label, date_from_label, label_from_name, parse_date
from crawlgauge.errors import CrawlError

DAY = dt.date(2013, 12, 15)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2013-12-15", DAY),
        ("  2013-12-15\n", DAY),
        ("20131215", DAY),
        ("20131215093000", DAY),
        ("2013-12", DAY),
        ("2013-12-15T09:30", DAY),
        ("2013-12-15T09:30:00Z", DAY),
        ("2013-12-15 09:30:00.123+01:00", DAY),
        ("CC-MAIN-2023-40", dt.date(2023, 10, 2)),
        ("CC-MAIN-2020-53", dt.date(2020, 12, 28)),
        ("CC-MAIN-2021-04", dt.date(2021, 1, 25)),
        ("2012-02-29", dt.date(2012, 2, 29)),
    ],
)
def test_a_date_is_read_as_people_write_it(text, date):
    assert parse_date(text) == date


@pytest.mark.parametrize(
    "text",
    [
        *("", "201", "13-12-15", "2013-13", "2013-00", "2013-12-32", "2013-02-29", "20131301"),
        *("15.12.2013", "12/15/2013", "Dec 2013", "2013-12-15T", "2013-12-15 nonsense", "0000-12"),
        *("201312", "2013121509", "CC-MAIN-2023-54", "CC-MAIN-2023-00", "cc-main-2023-40", "today"),
    ],
)
def test_what_is_no_date_is_refused_with_the_forms_that_are(text):
    with pytest.raises(
        CrawlError, match="is not a date; write it as 2013-12-15, 20131215, 2013-12, 2013 or"
    ):
        parse_date(text)


@pytest.mark.parametrize(
    ("label", "date"),
    [
        ("2013-12-15", DAY),
        ("gaw-20131215", DAY),
        ("gaw-20131215093000-wide", DAY),
        ("2013-12", DAY),
        ("gaw.2013-12.v2", DAY),
        ("2013-12-15_2013-12", DAY),
        ("CC-MAIN-2023-40", dt.date(2023, 10, 2)),
        ("CC-MAIN-2023-40-subset", dt.date(2023, 10, 2)),
    ],
)
def test_a_label_tells_the_one_date_that_it_contains(label, date):
    assert date_from_label(label) == date


@pytest.mark.parametrize(
    "label",
    [
        *(
            "first",
            "2013",
            "crawl-7",
            "201312",
            "2013-13",
            "2013-12-32",
            "9920131215",
            "CC-MAIN-2023-60",
        ),
        *("2013-12-15-to-2014-01-10", "2013-12-to-2014-01", "2013-12-2014-01", "v1-2013-121"),
    ],
)
def test_a_label_without_a_date_or_with_several_tells_none(label):
    assert date_from_label(label) is None


@pytest.mark.parametrize("label", ["a", "2021-12", "CC-MAIN-2023-40", "a.b_c+d=e-f", "x" * 120])
def test_safe_labels_are_taken(label):
    assert check_label(label) == label


@pytest.mark.parametrize(
    "label",
    [
        "",
        ".",
        "..",
        ".hidden",
        "-x",
        "a/b",
        "../x",
        "a b",
        "a\n",
        "ä",
        "x" * 121,
        "a:b",
        "a\0",
        "~",
    ],
)
def test_labels_that_are_no_safe_file_name_are_refused(label):
    with pytest.raises(CrawlError, match="is no usable label: use 1 to 120 letters"):
        check_label(label)
    with pytest.raises(CrawlError):
        Crawl(label=label, date=DAY, n_urls=1)


def test_a_crawl_has_urls_and_no_more_sampled_than_that():
    assert Crawl(label="a", date=DAY, n_urls=5).n_counted == 5
    assert Crawl(label="a", date=DAY, n_urls=5, n_sampled=2).n_counted == 2
    with pytest.raises(CrawlError, match="has 0 URLs; at least one is needed"):
        Crawl(label="a", date=DAY, n_urls=0)
    for n_sampled in (0, 6):
        with pytest.raises(CrawlError, match=f"{n_sampled} sampled of 5 URLs"):
            Crawl(label="a", date=DAY, n_urls=5, n_sampled=n_sampled)


@pytest.mark.parametrize(
    ("text", "start", "middle", "end"),
    [
        ("2015", "2015-01-01", "2015-07-01", "2015-12-31"),
        ("2016-02", "2016-02-01", "2016-02-15", "2016-02-29"),
        ("2015-12", "2015-12-01", "2015-12-15", "2015-12-31"),
        ("2015-06-30", "2015-06-30", "2015-06-30", "2015-06-30"),
    ],
)
def test_years_and_months_have_a_first_a_middle_and_a_last_day(text, start, middle, end):
    ways = ("start", "middle", "end")
    found = [parse_date(text, at=at).isoformat() for at in ways]
    assert found == [start, middle, end]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("web-2021-12.cdx.gz", "2021-12"),
        ("20211201.warc.gz", "2021-12-01"),
        ("CC-MAIN-2023-40.paths", "CC-MAIN-2023-40"),
        ("2021-12-31.txt", "2021-12-31"),
        ("job-20211231235959-00001.warc.gz", "2021-12-31"),
        ("first.txt", None),
        ("2021-12_to_2022-06.cdx", None),
    ],
)
def test_the_date_in_a_files_name_is_a_label(name, label):
    assert label_from_name(name) == label
