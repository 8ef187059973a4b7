"""Histories by groups of whole hosts, held against Python's own sets and dictionaries."""

import json
import logging
from collections import Counter

import numpy as np
import pytest

from crawlgauge.core.captures import hash_text
from crawlgauge.errors import OverlapError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps import counting, histories, key_union
from crawlgauge.overlaps.counting import count_store
from crawlgauge.overlaps.files import from_parquet, to_parquet
from crawlgauge.overlaps.histories import HostGroups
from crawlgauge.overlaps.json_table import from_json, to_json
from crawlgauge.store import ranges

HOSTS = [f"host{k}.example" for k in range(200)]


def draw(n_crawls, seed, *, n_keys=900, unsettled=0.0):
    """Draw crawls of which each key has one host, or none, but for a share that changes it."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, WHOLE - 1, n_keys, dtype=np.uint64).tolist()
    own = {key: HOSTS[rng.integers(200)] if rng.random() < 0.9 else None for key in pool}
    return [
        {
            key: (own[key] if rng.random() >= unsettled else HOSTS[rng.integers(200)], None, 200)
            for key in pool
            if rng.random() < 0.4
        }
        for _ in range(n_crawls)
    ]


def count_plainly(crawls, threshold):
    """Return how many keys have each history in each group of hosts."""
    found = Counter()
    for key in {key for crawl in crawls for key in crawl if key < threshold}:
        mask = sum(1 << number for number, crawl in enumerate(crawls) if key in crawl)
        host = next(crawl[key][0] for crawl in crawls if key in crawl)
        if host is not None:
            found[mask, hash_text(host.encode()) % 20] += 1
    return found


def check(table, crawls, threshold=WHOLE):
    groups = table.host_groups
    assert (groups.n_groups, groups.n_crawls) == (20, len(crawls))
    assert groups.sample_rate == threshold / WHOLE
    found = {
        (mask, group): count
        for mask, row in zip(groups.masks.tolist(), groups.counts.tolist(), strict=True)
        for group, count in enumerate(row)
        if count
    }
    assert found == count_plainly(crawls, threshold)


@pytest.fixture
def fill(add_crawl):
    def fill(crawls, first=0, **others):
        for number, crawl in enumerate(crawls, start=first):
            add_crawl(number, crawl, **others)

    return fill


@pytest.mark.parametrize("n_crawls", [1, 2, 9, 17, 40, 64])
@pytest.mark.parametrize("unsettled", [0.0, 0.3])
def test_histories_are_counted_for_each_group_of_hosts(store, fill, n_crawls, unsettled):
    crawls = draw(n_crawls, seed=n_crawls, unsettled=unsettled)
    fill(crawls)
    check(count_store(store), crawls)


def test_keys_below_the_smallest_threshold_of_all_crawls_are_counted(store, add_crawl):
    crawls = draw(5, seed=2)
    for number, crawl in enumerate(crawls):
        add_crawl(number, crawl, kept_below=[WHOLE, WHOLE // 3, WHOLE // 2, WHOLE, WHOLE][number])
    table = count_store(store)
    check(table, crawls, WHOLE // 3)
    assert table.sample_rate == table.histories.sample_rate == 1
    check(count_store(store, sample="1/8"), crawls, WHOLE // 8)


def test_where_a_crawl_tells_no_hosts_there_are_no_groups(store, fill):
    crawls = draw(3, seed=3)
    fill(crawls)
    assert count_store(store).host_groups is not None
    fill(crawls[:1], first=3, kept_below=1)
    assert count_store(store).host_groups is None


def test_without_any_host_there_are_no_groups(store, fill):
    fill([dict.fromkeys((5, 9), (None, None, 200))] * 2)
    assert count_store(store).host_groups is None


def test_of_more_crawls_than_histories_are_counted_of_there_are_no_groups(store, fill):
    fill(draw(65, seed=4, n_keys=50))
    assert count_store(store).host_groups is None


def test_other_levels_have_no_groups(write_sets, draw_sets):
    assert counting.count_sets(write_sets(draw_sets(3, seed=1))).host_groups is None


def test_groups_are_kept_with_the_counts_and_attributes_not_read_again(store, fill, monkeypatch):
    crawls = draw(4, seed=5)
    fill(crawls)
    count_store(store)
    monkeypatch.setattr(key_union, "hash_texts", None)
    check(count_store(store), crawls)


@pytest.mark.parametrize("unsettled", [0.0, 0.3])
@pytest.mark.parametrize("n_known", [1, 4, 7])
def test_crawls_that_are_added_are_counted_with_those_of_the_index(
    store, fill, monkeypatch, unsettled, n_known
):
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1)
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", 300)
    crawls = draw(8, seed=6, unsettled=unsettled)
    fill(crawls[:n_known])
    count_store(store)
    fill(crawls[n_known:], first=n_known, kept_below=WHOLE // 3)
    check(count_store(store), crawls, WHOLE // 3)


def test_a_crawl_that_was_taken_out_leaves_no_trace(store, fill, monkeypatch):
    """Of unsettled hosts the first crawl has the say: without it, another one has."""
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1)
    crawls = draw(6, seed=7, unsettled=0.5)
    fill(crawls[:1], kept_below=WHOLE // 4)
    fill(crawls[1:], first=1)
    check(count_store(store), crawls, WHOLE // 4)
    store.remove("c00")
    check(count_store(store), crawls[1:])


def test_a_crawl_that_was_replaced_with_the_same_urls_and_other_hosts_is_read_again(
    store, fill, add_crawl
):
    crawls = draw(3, seed=8)
    fill(crawls)
    count_store(store)
    crawls[0] = dict.fromkeys(crawls[0], (HOSTS[7], None, 200))
    add_crawl(0, crawls[0], sample="other")
    check(count_store(store), crawls)


def test_too_many_histories_are_counted_in_a_part(store, fill, monkeypatch):
    monkeypatch.setattr(histories, "MAX_HISTORIES", 100)
    crawls = draw(12, seed=9)
    fill(crawls)
    table = count_store(store)
    assert table.host_groups.masks.size <= 100
    check(table, crawls, round(table.host_groups.sample_rate * WHOLE))
    assert table.host_groups.sample_rate in (2.0**-k for k in range(1, 9))


def test_damaged_attributes_cost_the_groups_and_nothing_else(store, fill, caplog, check_table):
    crawls = draw(3, seed=10)
    fill(crawls)
    (path,) = store.folder("c01").glob("attributes-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with caplog.at_level(logging.WARNING):
        table = count_store(store)
    check_table(table, [set(crawl) for crawl in crawls])
    assert table.host_groups is None
    assert "histories are not counted by groups of hosts" in caplog.text
    path.write_bytes(whole)
    check(count_store(store), crawls)


def test_the_cache_of_an_index_and_of_counts_can_be_lost(store, fill, monkeypatch):
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1)
    crawls = draw(4, seed=11)
    fill(crawls)
    check(count_store(store), crawls)
    for path in store.cache_folder().iterdir():
        path.unlink()
    check(count_store(store), crawls)
    assert len(list(store.cache_folder().glob("overlaps-*"))) == 1


@pytest.mark.parametrize(
    ("write", "read"), [(to_json, from_json), (to_parquet, from_parquet)], ids=["json", "parquet"]
)
def test_groups_are_carried_by_tables_that_are_exchanged(store, fill, write, read):
    crawls = draw(5, seed=12)
    fill(crawls)
    check(read(write(count_store(store)), name="table"), crawls)


def test_a_table_without_groups_is_written_as_it_always_was(store, fill):
    fill(draw(2, seed=13), kept_below=1)
    assert "host_groups" not in json.loads(to_json(count_store(store)))


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"n_groups": 3}, r"\$\.host_groups\.rows", r"groups below 3 \(at most 1000\)"),
        ({"n_groups": 10**9}, r"\$\.host_groups\.rows", r"groups below .* \(at most 1000\)"),
        ({"rows": [["11", 1]]}, r"\$\.host_groups\.rows", "each with its count"),
        ({"rows": [["11", 1, -2]]}, r"\$\.host_groups\.rows", "each with its count"),
        ({"rows": [["11", 1, "2"]]}, r"\$\.host_groups\.rows", "each with its count"),
        ({"rows": [["11", 1, 2**64]]}, r"\$\.host_groups\.rows", "each with its count"),
        ({"rows": [["11", 1, [2]]]}, r"\$\.host_groups\.rows", "each with its count"),
        ({"rows": [["11"]]}, r"\$\.host_groups\.rows", "each with its count"),
        ({"rows": [["11", 1, 0]]}, r"\$\.host_groups", "a positive count in some group"),
        ({"rows": [["1", 1, 2]]}, r"\$\.host_groups\.rows\[0\]\[0\]", "is of 1 crawls"),
        ({"rows": [[]]}, r"\$\.host_groups\.rows\[0\]\[0\]", "is of 0 crawls"),
        ({"sample_rate": 0}, r"\$\.host_groups\.sample_rate", "is no sample"),
    ],
)
def test_groups_that_cannot_be_are_refused_with_their_place(store, fill, change, place, words):
    fill([dict.fromkeys((1, 2), ("a.example", None, 200))] * 2)
    document = json.loads(to_json(count_store(store)))
    document["host_groups"] |= change
    with pytest.raises(OverlapError, match=rf"t\.json, at {place}: .*{words}"):
        from_json(json.dumps(document), name="t.json")


def test_groups_of_other_crawls_are_dropped_and_of_the_wrong_shape_refused():
    masks, counts = np.array([1, 3], np.uint64), np.ones((2, 4), np.int64)
    with pytest.raises(OverlapError, match="one count for each history"):
        HostGroups(n_crawls=2, n_groups=5, masks=masks, counts=counts, sample_rate=1.0)
    with pytest.raises(OverlapError, match="within the crawls"):
        HostGroups(n_crawls=1, n_groups=4, masks=masks, counts=counts, sample_rate=1.0)
