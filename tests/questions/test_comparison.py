"""Archives compared through their stores, and samples of them that are given away."""

import json
import os
import shutil

import pytest

import crawlgauge as cg
from crawlgauge.errors import CrawlgaugeError, FitError, OverlapError, StoreError
from crawlgauge.questions import parse_gap
from crawlgauge.store.catalogue import open_store, verify_crawls


def write_urls(path, numbers, host="www.site-{}.example"):
    lines = [f"https://{host.format(n % 7)}/page/{n}\n" for n in numbers]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two archives of two crawls each, near each other in time, and what they were made from."""
    folder = tmp_path_factory.mktemp("made")
    ours, theirs = folder / "ours", folder / "theirs"
    for store, label, date, numbers in (
        (ours, "o1", "2020-01-10", range(600)),
        (ours, "o2", "2021-01-10", range(100, 800)),
        (theirs, "t1", "2020-01-10", range(300, 900)),
        (theirs, "t2", "2022-06-01", range(700, 1000)),
    ):
        cg.add_crawl(store, label, write_urls(folder / f"{label}.txt", numbers), date=date)
    return folder


@pytest.fixture
def two_stores(made, tmp_path):
    """Copies of the two archives."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "ours", tmp_path / "theirs"


def test_what_archives_hold_is_counted_from_their_urls(two_stores):
    found = cg.compare(*two_stores).comparison
    assert [item.name for item in found.archives] == ["ours", "theirs"]
    assert [item.n_urls.value for item in found.archives] == [800, 700]
    assert [item.n_only.value for item in found.archives] == [300, 200]
    assert found.joint.n_distinct.value == 1000
    (pair,) = found.pairs
    (matched,) = pair.matched
    assert (matched.a.label, matched.b.label, matched.n_shared) == ("o1", "t1", 300)
    assert (pair.unmatched_a, pair.unmatched_b) == (("o2",), ("t2",))
    assert matched.lincoln_petersen == 600 * 600 / 300


def test_hosts_say_what_each_alone_holds(two_stores):
    hosts = cg.compare(*two_stores, n_hosts=3).comparison.hosts
    assert hosts.n_hosts == 7
    assert len(hosts.rows) == 3
    for row in hosts.rows:
        number = int(row.host.removeprefix("site-").removesuffix(".example"))
        ours = {n for n in range(800) if n % 7 == number}
        theirs = {n for n in range(300, 1000) if n % 7 == number}
        assert row.n_only == (len(ours - theirs), len(theirs - ours))
        assert row.n_several == len(ours & theirs)
    assert hosts.n_undisclosed == (0, 0)


def test_an_exported_sample_stands_for_its_store_and_names_nothing(two_stores, tmp_path):
    ours, theirs = two_stores
    written = cg.export_sample(theirs, tmp_path / "given", sample="1/2")
    assert (written.n_crawls, written.sample_rate) == (2, 0.5)
    assert all(finding.problem is None for finding in verify_crawls(open_store(written.path)))
    bytes_of_all = b"".join(path.read_bytes() for path in written.path.rglob("*") if path.is_file())
    for name in (b"example", b"t1.txt", os.fsencode(tmp_path.name)):
        assert name not in bytes_of_all
    whole = cg.compare(ours, theirs, sample=0.5).comparison
    given = cg.compare(ours, written.path).comparison
    for a, b in zip(whole.archives, given.archives, strict=True):
        assert (a.n_urls, a.n_only) == (b.n_urls, b.n_only)
    assert given.pairs[0].matched[0].n_shared == whole.pairs[0].matched[0].n_shared
    assert given.pairs[0].coverage_a == whole.pairs[0].coverage_a
    assert given.hosts.n_undisclosed[1] > 0
    assert all(row.n_only[1] == 0 for row in given.hosts.rows)


def test_two_exported_samples_have_no_hosts_at_all(two_stores, tmp_path):
    paths = [
        cg.export_sample(store, tmp_path / f"given-{store.name}", sample=1).path
        for store in two_stores
    ]
    found = cg.compare(*paths)
    assert found.comparison.hosts is None
    assert "host" not in found.summary().lower()


def test_an_export_that_fails_leaves_nothing_behind(two_stores, tmp_path):
    ours, _ = two_stores
    (path,) = (ours / "crawls" / "o2").glob("url-*.arrow")
    path.write_bytes(b"x")
    before = sorted(entry.name for entry in tmp_path.iterdir())
    with pytest.raises(StoreError):
        cg.export_sample(ours, tmp_path / "given", sample="1/2")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


def test_an_export_replaces_nothing(two_stores, tmp_path):
    with pytest.raises(StoreError, match="already"):
        cg.export_sample(two_stores[0], tmp_path, sample="1/2")
    with pytest.raises(StoreError, match="none of the"):
        cg.export_sample(two_stores[0], tmp_path / "given", sample=1e-9)
    assert not (tmp_path / "given").exists()


def test_stores_of_different_identity_are_refused(two_stores, tmp_path):
    raw = tmp_path / "raw"
    cg.add_crawl(raw, "r1", tmp_path / "o1.txt", date="2020-01-10", identity="raw")
    with pytest.raises(OverlapError, match=r"surt/\d, the other by raw/\d"):
        cg.compare(two_stores[0], raw)


def test_the_same_store_twice_is_refused(two_stores):
    ours, _ = two_stores
    with pytest.raises(OverlapError, match="named twice"):
        cg.compare(ours, [ours / ".." / "ours"])


def test_an_empty_store_is_named(two_stores):
    ours, theirs = two_stores
    for label in ("t1", "t2"):
        cg.remove_crawl(theirs, label)
    with pytest.raises(OverlapError, match=f"{theirs} holds no crawls"):
        cg.compare(ours, theirs)


def test_one_crawl_in_two_archives_is_noticed(two_stores, tmp_path):
    ours, theirs = two_stores
    cg.remove_crawl(theirs, "t2")
    cg.add_crawl(theirs, "copy", tmp_path / "o2.txt", date="2021-01-20")
    found = cg.compare(ours, theirs)
    assert "o2 of ours and copy of theirs are the same set" in found.comparison.warnings[0]


def test_other_rules_of_what_counts_are_noticed(two_stores, tmp_path):
    ours, theirs = two_stores
    cg.remove_crawl(theirs, "t2")
    cg.add_crawl(theirs, "t3", tmp_path / "t1.txt", date="2023-01-10", status="any")
    assert "--status" in cg.compare(ours, theirs).comparison.warnings[0]


def test_archives_are_named_as_short_as_tells_them_apart(tmp_path):
    stores = [tmp_path / "north" / "crawlgauge.store", tmp_path / "x" / "data", tmp_path / "data"]
    for number, store in enumerate(stores):
        store.parent.mkdir(exist_ok=True)
        urls = write_urls(tmp_path / f"{number}.txt", range(number, 50))
        cg.add_crawl(store, "c", urls, date="2020-01-10")
    found = cg.compare(stores[0], stores[1]).comparison
    assert [item.name for item in found.archives] == ["north", "data"]
    names = [item.name for item in cg.compare(stores[0], stores[1:]).comparison.archives]
    assert names[1:] == ["x/data", f"{tmp_path.name}/data"]


def test_a_persistence_that_is_no_share_is_refused(two_stores):
    with pytest.raises(FitError, match="share above 0"):
        cg.compare(*two_stores, persistence=1.5)


@pytest.mark.parametrize(
    ("text", "days"), [("90", 90), (45, 45), ("6 weeks", 42), ("3m", 91), ("1 year", 365)]
)
def test_times_between_crawls_are_read_as_people_write_them(text, days):
    assert parse_gap(text) == days


def test_what_is_no_time_is_refused():
    with pytest.raises(CrawlgaugeError, match="3 months"):
        parse_gap("soon")


def test_json_holds_every_number_of_the_comparison(two_stores):
    found = cg.compare(*two_stores)
    document = json.loads(found.to_json())
    assert document == found.to_dict()
    assert document["schema"] == "crawlgauge.comparison/1"
    pair = document["pairs"][0]
    assert pair["matched"][0]["a"]["label"] == "o1"
    assert pair["joint_coverage"]["basis"] == "interval"
    assert document["archives"][0]["own_coverage"]["reason"]
    assert len(document["provenance"]["inputs"]) == 4


def test_the_summary_states_the_assumption_and_what_was_not_matched(two_stores):
    text = " ".join(cg.compare(*two_stores).summary().split())
    assert text.startswith("ours and theirs together hold 1,000 different URLs; 50 % of them are")
    assert "the population is at least as large as said here" in text
    assert "Not matched of ours: o2" in text


def test_without_matching_dates_the_holdings_remain(two_stores):
    ours, theirs = two_stores
    cg.remove_crawl(theirs, "t1")
    found = cg.compare(ours, theirs)
    assert found.comparison.pairs[0].relative_size.value is None
    text = " ".join(found.summary().split())
    assert "No crawls of ours and theirs lie within 3 months of each other" in text
    assert "independently" not in text
