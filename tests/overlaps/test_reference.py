"""A reference list, and which of it a crawl holds, against Python's own sets."""

import numpy as np
import pytest

from crawlgauge.core.captures import hash_text
from crawlgauge.errors import SourceError
from crawlgauge.keys.rules import GIVEN, RAW
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.keys.scope import parse_scope
from crawlgauge.overlaps.reference import (
    ReferenceList,
    are_domains,
    find_held,
    find_names,
    list_urls,
    read_reference_names,
    read_urls,
)
from crawlgauge.store import ranges
from crawlgauge.store.key_set import count_below

URLS = [f"http://h{k % 7}.example.org/page/{k}" for k in range(500)]


@pytest.fixture
def reference(tmp_path):
    """Write a list of URLs, some of them twice, with a line that is none."""

    def write(urls=(*URLS, URLS[3], "no URL", URLS[3]), **others):
        path = tmp_path / "reference.txt"
        path.write_text("".join(f"{url}\n" for url in urls))
        return ReferenceList(path=str(path), key_rule=RAW, **others)

    return write


def keys_of(urls):
    return {hash_text(url.encode()) for url in urls}


def as_array(keys):
    return np.array(sorted(keys), dtype=np.uint64)


@pytest.mark.parametrize("keys_per_range", [1 << 20, 100])
def test_keys_are_found_as_in_a_plain_set(draw_sets, write_set_file, monkeypatch, keys_per_range):
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", keys_per_range)
    (keys,) = draw_sets(1, seed=2)
    wanted = as_array({*list(keys)[::3], 0, 17, 2**64 - 2, 2**64 - 1})
    found = find_held(write_set_file(0, keys), wanted)
    assert found.tolist() == [key in keys for key in wanted.tolist()]


def test_only_keys_of_the_sample_are_looked_for(draw_sets, write_set_file):
    (keys,) = draw_sets(1, seed=4)
    threshold = WHOLE // 16
    wanted = as_array(keys)
    found = find_held(write_set_file(0, keys, threshold), wanted)
    assert found.size == sum(key < threshold for key in keys) == count_below(wanted, threshold)
    assert found.all()


def test_an_empty_list_finds_nothing(write_set_file):
    assert find_held(write_set_file(0, {3, 4}), np.empty(0, dtype=np.uint64)).size == 0


def test_the_urls_of_a_list_are_read_each_once_and_what_is_none_is_counted(reference):
    keys, n_entries, left_out = read_urls(reference())
    assert keys.tolist() == sorted(keys_of(URLS))
    assert n_entries == len(URLS) + 2
    assert sum(left_out.values()) == 1


def test_urls_out_of_scope_are_left_out_and_counted(reference):
    keys, _, left_out = read_urls(
        reference(URLS, scope=parse_scope(b"h3.example.org", "scope.txt"))
    )
    inside = [url for url in URLS if "//h3." in url]
    assert keys.tolist() == sorted(keys_of(inside))
    assert left_out == {"out-of-scope": len(URLS) - len(inside)}


def test_urls_are_listed_as_they_stand_there_each_once_in_their_order(reference):
    missing = URLS[5:400:7]
    keys = as_array(keys_of(missing))
    assert list(list_urls(reference(), keys)) == [url.encode() for url in missing]
    assert list(list_urls(reference(), keys[:0])) == []


def test_a_list_without_any_url_is_an_error(reference):
    message = r"reference\.txt: no URL to look for; left out: 2 no-scheme"
    with pytest.raises(SourceError, match=message):
        read_urls(reference(["none", "neither"]))


def test_a_store_of_given_keys_needs_a_reference_that_has_keys(reference):
    listed = ReferenceList(path=reference().path, key_rule=GIVEN)
    with pytest.raises(SourceError, match=r"takes keys as its indexes gave them .* has none"):
        read_urls(listed)


def test_names_of_hosts_are_read_whatever_stands_for_them(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("host\nwww.Example.org\nhttp://b.example.org/x\nlocalhost\nexample.org\n")
    hosts, n_entries, left_out = read_reference_names(str(path), by="host")
    assert hosts == {
        "example.org": "www.Example.org",
        "b.example.org": "http://b.example.org/x",
    }
    assert (n_entries, dict(left_out)) == (3, {"no-host": 1})
    domains, _, _ = read_reference_names(str(path), by="domain")
    assert list(domains) == ["example.org"]
    assert are_domains(domains)
    assert not are_domains(hosts)


def test_the_hosts_of_a_crawl_are_found_as_far_as_they_are_kept(store, add_crawl):
    captured = {k << 40: (f"h{k % 5}.example.org", None, 200) for k in range(1, 50)}
    add_crawl(0, captured | {7: (None, None, 200)})
    (item,) = store.crawl_sets()
    assert find_names(store, item, by="host") == ({f"h{k}.example.org" for k in range(5)}, False)
    assert find_names(store, item, by="domain") == ({"example.org"}, False)
    add_crawl(0, captured, kept_below=3 << 40)
    (item,) = store.crawl_sets()
    assert find_names(store, item, by="host") == ({"h1.example.org", "h2.example.org"}, True)
