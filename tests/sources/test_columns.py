"""Columns are found by the names that archives' tools give them, or as the user says."""

import pytest

from crawlgauge.errors import SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources.columns import (
    DIGEST,
    GROUP,
    KEY,
    MIME,
    STATUS,
    TIME,
    URL,
    find_columns,
    find_field,
    list_names,
)
from crawlgauge.sources.what_counts import Settings

WAYBACK = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
PYWB = ["urlkey", "timestamp", "url", "mime", "mime-detected", "status", "digest", "filename"]
PARQUET = [
    "url_surtkey",
    "url",
    "url_host_name",
    "fetch_time",
    "fetch_status",
    "content_digest",
    "content_mime_type",
    "content_mime_detected",
    "warc_filename",
]


def find(names, **wishes):
    wishes = {"key_rule": GIVEN, "levels": ("url", "content"), **wishes}
    return find_columns(names, Settings(**wishes), source="a.csv")


def test_the_columns_of_the_wayback_machine_are_known():
    assert find(WAYBACK) == {URL: 2, KEY: 0, TIME: 1, STATUS: 4, MIME: 3, DIGEST: 5}


def test_keys_and_digests_are_read_only_where_they_are_wanted():
    found = find_columns(WAYBACK, Settings(), source="a.csv")
    assert found == {URL: 2, TIME: 1, STATUS: 4, MIME: 3}


def test_what_the_server_stated_goes_before_the_detected_media_type():
    assert find(PYWB) == {URL: 2, KEY: 0, TIME: 1, STATUS: 5, MIME: 3, DIGEST: 6}
    assert find(["url", "mime-detected"])[MIME] == 1


def test_the_columns_of_common_crawls_table_are_known():
    expected = {URL: 1, KEY: 0, TIME: 3, STATUS: 4, MIME: 6, DIGEST: 5, GROUP: 8}
    assert find(PARQUET, group="filename") == expected


@pytest.mark.parametrize(
    "name", ["url", "URL", " Uri ", "original", "target_uri", "WARC-Target-URI", "originalUrl"]
)
def test_case_and_punctuation_of_names_do_not_matter(name):
    assert find(["x", name]) == {URL: 1}
    assert find_field(name) == URL


def test_the_usual_name_goes_before_the_others():
    assert find(["original", "link", "url"])[URL] == 2


def test_the_user_may_name_any_column_or_its_position():
    names = ["url", "referrer", "2nd URL"]
    assert find(names, column="referrer")[URL] == 1
    assert find(names, column="2nd url")[URL] == 2
    assert find(names, column="2")[URL] == 1


def test_a_column_whose_name_is_a_number_goes_before_the_position():
    assert find(["3", "2", "1"], column="3")[URL] == 0


def test_a_missing_column_is_an_error_that_lists_those_there_are():
    message = "a.csv has no column page; there are url, status$"
    with pytest.raises(SourceError, match=message):
        find(["url", "status"], column="page")
    with pytest.raises(SourceError, match=r"a\.csv has no column 3"):
        find(["url", "status"], column="3")


def test_without_a_known_name_the_error_says_what_to_do():
    message = "cannot tell which column holds the URLs; there are a, b; say which with --column"
    with pytest.raises(SourceError, match=message):
        find(["a", "b"])


def test_two_columns_of_the_same_name_are_told_apart_by_position_only():
    with pytest.raises(SourceError, match=r"columns 1 and 3 are all called url; .* --column 1"):
        find(["url", "status", "URL"])
    assert find(["url", "status", "URL"], column="3") == {URL: 2, STATUS: 1}


def test_captures_are_grouped_by_any_column():
    assert find(["url", "crawl"], group="crawl")[GROUP] == 1
    assert find(PYWB, group="filename")[GROUP] == 7
    with pytest.raises(SourceError, match=r"no column that names the WARC file.* there are url$"):
        find(["url"], group="filename")
    with pytest.raises(SourceError, match="no column crawl; there are url"):
        find(["url"], group="crawl")


def test_messages_stay_short_and_safe_to_print():
    assert list_names([]) == "none"
    shown = list_names([f"c{number}" for number in range(1000)])
    assert shown.endswith("c29 and 970 more")
    assert "\x1b" not in list_names(["\x1b[31mred", "\ud800"])
