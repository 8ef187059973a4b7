"""Further files of a crawl: the same as if all had been added at once."""

import datetime as dt

import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreError


def content(crawl_set):
    """Return all of a crawl that does not depend on when it was made."""
    document = crawl_set.to_dict()
    del document["provenance"]
    return document


def write_index(path, rows):
    path.write_text(
        "".join(
            f'org,a)/{k} 202112{day:02d} {{"url": "http://a.org/{k}", "status": "{status}"}}\n'
            for k, day, status in rows
        )
    )
    return path


FIRST = [(1, 1, 200), (2, 1, 404), (3, 2, 200)]
SECOND = [(3, 8, 200), (4, 9, 200), (5, 9, 302), (6, 9, 200)]


def test_appending_equals_adding_all_at_once(tmp_path, store, see_whole):
    paths = [
        write_index(tmp_path / "1.cdxj", FIRST),
        write_index(tmp_path / "2.cdxj", SECOND),
    ]
    whole = cg.add_crawl(tmp_path / "other", "a", paths).crawl_set
    cg.add_crawl(store, "a", paths[0])
    appended = cg.add_crawl(store, "a", paths[1], append=True)
    assert appended.outcome == "appended"
    assert content(appended.crawl_set) == content(whole)
    assert appended.crawl_set.crawl.date == dt.date(2021, 12, 8)
    assert [entry.name for entry in appended.crawl_set.provenance.inputs] == list(map(str, paths))
    see_whole(store, ["a"])


def test_files_that_are_in_the_crawl_are_noticed_and_not_read_again(store, make_list, caplog):
    first, second = make_list([1, 2], "1.txt"), make_list([2, 3], "2.txt")
    cg.add_crawl(store, "2021-12", first)
    found = cg.add_crawl(store, "2021-12", [first, second], append=True)
    assert (found.outcome, found.crawl_set.crawl.n_urls, found.crawl_set.n_captures) == (
        "appended",
        3,
        4,
    )
    assert "1.txt is in the crawl already" in caplog.text
    assert cg.add_crawl(store, "2021-12", [first, second], append=True).outcome == "unchanged"


def test_appending_to_nothing_adds(store, make_list):
    assert cg.add_crawl(store, "2021-12", make_list([1]), append=True).outcome == "added"


def test_a_given_date_stays_until_another_is_given(store, make_list, tmp_path):
    cg.add_crawl(store, "a", make_list([1], "1.txt"), date="2020-01-01")
    later = write_index(tmp_path / "2.cdxj", SECOND)
    crawl = cg.add_crawl(store, "a", later, append=True).crawl_set.crawl
    assert crawl.date == dt.date(2020, 1, 1)
    crawl = cg.add_crawl(store, "a", make_list([9], "3.txt"), append=True, date="2020-02-02")
    assert crawl.crawl_set.crawl.date == dt.date(2020, 2, 2)


def test_another_way_of_counting_is_refused(store, make_list):
    cg.add_crawl(store, "2021-12", make_list([1], "1.txt"))
    with pytest.raises(StoreError, match=r"made in another way \(status 2xx,none\)"):
        cg.add_crawl(store, "2021-12", make_list([2], "2.txt"), append=True, status="any")
    with pytest.raises(StoreError, match="not both"):
        cg.add_crawl(store, "2021-12", make_list([2]), append=True, replace=True)
