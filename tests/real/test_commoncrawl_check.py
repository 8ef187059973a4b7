"""What the check says of the published Common Crawl overlaps, crawl by crawl."""

from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.model.newest import judge_newest
from crawlgauge.model.window import keep_crawls


@pytest.fixture(scope="module")
def table(shared_data):
    return cg.read_overlaps(shared_data / "commoncrawl" / "overlaps_2013-2016.csv")


def judge_until(table, n_crawls):
    """Check a crawl as it would have been when it was the newest one."""
    part = keep_crawls(table, list(range(n_crawls)))
    return judge_newest(part)


def test_the_newest_crawl_of_2016_is_in_line(table):
    check = cg.check_newest(table).result
    assert (check.newest.label, check.status) == ("CC-MAIN-2016-40", "in-line")
    assert check.measure("coverage").found == pytest.approx(0.81, abs=0.01)
    assert check.measure("coverage").expected.value == pytest.approx(0.78, abs=0.01)
    assert check.measure("coverage").chance > 0.3


def test_the_only_alarm_of_2013_to_2016_is_the_smallest_crawl(table):
    checks = [judge_until(table, n) for n in range(5, table.n_crawls + 1)]
    alarms = [check for check in checks if check.has_drop]
    smallest = min(table.crawls, key=lambda crawl: crawl.n_urls)
    assert [check.newest.label for check in alarms] == [smallest.label] == ["CC-MAIN-2015-40"]
    (alarm,) = alarms
    assert alarm.cause == "crawl-shrank"
    assert alarm.measure("coverage").change.value == pytest.approx(-0.23, abs=0.01)
    assert alarm.measure("size").change.value == pytest.approx(-0.28, abs=0.01)
    assert abs(alarm.measure("overlap").change.value) < 0.02


def test_a_newest_crawl_of_half_its_size_would_be_found(table):
    """Half of the URLs of the newest crawl, drawn evenly, would share half with each other one."""
    n_shared = table.n_shared.copy()
    n_shared[-1, n_shared[-1] > 0] //= 2
    n_shared[:, -1] = n_shared[-1]
    newest = replace(table.crawls[-1], n_urls=int(n_shared[-1, -1]))
    halved = replace(table, crawls=(*table.crawls[:-1], newest), n_shared=n_shared)
    check = judge_newest(halved)
    assert (check.status, check.cause) == ("drop", "crawl-shrank")
