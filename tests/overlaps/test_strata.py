"""Overlaps by stratum, held against counting with Python's own sets and dictionaries."""

import datetime as dt
import re
import statistics

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps import key_union
from crawlgauge.overlaps.strata import BY, OTHER, count_strata, suffix_list_date


def make_crawls(n):
    start = dt.date(2014, 1, 1)
    return [
        Crawl(label=f"c{k:03}", date=start + dt.timedelta(days=90 * k), n_urls=1000)
        for k in range(n)
    ]


def draw(n_crawls, n_keys=600, seed=1, hosts=("a.de", "b.de", "www.c.co.uk", "d.org", None)):
    """Draw crawls whose hosts change from capture to capture, as no real ones do."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, WHOLE - 1, n_keys, dtype=np.uint64).tolist()
    mimes, statuses = ("text/html", "text/css", "image/png", None), (200, 404, 410, None)
    chosen = rng.integers(0, (len(hosts), len(mimes), len(statuses)), (n_crawls, n_keys, 3))
    is_held = rng.random((n_crawls, n_keys)) < 0.4
    return [
        {
            key: (hosts[h], mimes[m], statuses[s])
            for key, (h, m, s), held in zip(pool, choices.tolist(), helds, strict=True)
            if held
        }
        for choices, helds in zip(chosen, is_held, strict=True)
    ]


def count_plainly(crawls, value, threshold=WHOLE):
    """Return for each value of the first capture what each two crawls share of it."""
    first, sets = {}, [{key for key in crawl if key < threshold} for crawl in crawls]
    for crawl in crawls:
        for key, attributes in crawl.items():
            first.setdefault(key, value(attributes))
    found = {}
    for name in set(first.values()):
        own = [{key for key in keys if first[key] == name} for keys in sets]
        found[name] = [[len(a & b) for b in own] for a in own]
    return found


def by_name(counts):
    return {
        stratum.name: shared.tolist()
        for stratum, shared in zip(counts.strata, counts.n_shared, strict=True)
    }


@pytest.mark.parametrize("n_crawls", [1, 2, 5, 64, 70, 130])
def test_shared_urls_are_those_of_the_first_captures_for_any_number_of_crawls(
    make_attributes, n_crawls
):
    crawls = draw(n_crawls)
    counts = count_strata(make_crawls(n_crawls), map(make_attributes, crawls), "host", min_shared=1)
    expected = count_plainly(crawls, lambda attributes: attributes[0] or "(no host)")
    assert by_name(counts) == expected
    assert counts.n_pooled == 0
    assert counts.n_distinct == 5
    assert counts.sample_rate == 1


@pytest.mark.parametrize(
    ("by", "value"),
    [
        ("mime", lambda a: a[1] or "(no media type)"),
        ("status", lambda a: str(a[2]) if a[2] else "(no status)"),
        ("tld", lambda a: a[0].rpartition(".")[2] if a[0] else "(no host)"),
        ("domain", lambda a: a[0].removeprefix("www.") if a[0] else "(no host)"),
    ],
)
def test_urls_are_divided_by_other_attributes_too(make_attributes, by, value):
    crawls = draw(6)
    counts = count_strata(make_crawls(6), map(make_attributes, crawls), by, min_shared=1)
    assert by_name(counts) == count_plainly(crawls, value)


def test_crawls_are_compared_below_the_smallest_threshold(make_attributes):
    crawls = draw(4)
    cut = WHOLE // 3
    attributes = [
        make_attributes({key: value for key, value in crawl.items() if key < cut}, cut)
        if number == 2
        else make_attributes(crawl)
        for number, crawl in enumerate(crawls)
    ]
    counts = count_strata(make_crawls(4), attributes, "host", min_shared=1)
    assert counts.sample_rate == pytest.approx(1 / 3)
    assert by_name(counts) == count_plainly(crawls, lambda a: a[0] or "(no host)", cut)


def test_too_many_urls_become_a_smaller_sample_of_all_crawls(make_attributes, monkeypatch):
    crawls = draw(5, n_keys=2000)
    monkeypatch.setattr(key_union, "MAX_ROWS", 600)
    counts = count_strata(make_crawls(5), map(make_attributes, crawls), "host", min_shared=1)
    cut = round(counts.sample_rate * WHOLE)
    kept = {key for crawl in crawls for key in crawl if key < cut}
    assert 200 < len(kept) <= 600
    assert by_name(counts) == count_plainly(crawls, lambda a: a[0] or "(no host)", cut)


def test_small_hosts_are_pooled_by_domain_and_then_with_all_others(make_attributes):
    sizes = {
        "www.large.de": 200,
        **{f"h{k}.many.de": 12 for k in range(8)},
        "lonely.org": 5,
        "tiny.net": 3,
        "10.0.0.1": 4,
    }
    numbers = iter(range(1, 10_000))
    captured = {
        next(numbers) << 40: (host, "text/html", 200)
        for host, n_urls in sizes.items()
        for _ in range(n_urls)
    }
    counts = count_strata(make_crawls(4), [make_attributes(captured)] * 4, "host", min_shared=30)
    named = zip(counts.strata, counts.n_shared, strict=True)
    found = {s.name: (s.n_pooled, int(n[0, 1])) for s, n in named}
    assert found == {
        "www.large.de": (0, 200),
        "other hosts of many.de": (8, 96),
        "other hosts": (3, 12),
    }
    assert (counts.n_distinct, counts.n_pooled) == (12, 11)


def test_the_median_is_that_of_the_pairs_of_crawls_that_hold_the_stratum(make_attributes):
    old = {key << 40: ("old.de", None, 200) for key in range(1, 101)}
    new = {key << 40: ("new.de", None, 200) for key in range(201, 301)}
    crawls = [old, old, old, old | new, new, new, new]
    counts = count_strata(make_crawls(7), map(make_attributes, crawls), "host", min_shared=30)
    assert sorted(s.name for s in counts.strata) == ["new.de", "old.de"]


def test_what_fewer_than_three_crawls_hold_is_pooled(make_attributes):
    both = {key << 40: ("both.de", None, 200) for key in range(1, 501)}
    twice = {key << 40: (f"twice{key % 2}.de", None, 200) for key in range(1001, 1501)}
    crawls = [both | twice, both | twice, both, both]
    counts = count_strata(make_crawls(4), map(make_attributes, crawls), "host")
    assert [s.name for s in counts.strata] == ["both.de", "other hosts"]
    assert counts.strata[1].n_pooled == 2


def test_a_mixture_is_known_by_what_its_parts_give_each(make_attributes):
    """Half of the hosts are covered by 0.8, half by 0.2: the mixture looks like 0.68, not 0.5."""
    rng = np.random.default_rng(3)
    keys = rng.permutation(60_000)
    crawls = [{}, {}, {}]
    for key in keys.tolist():
        host = key % 600
        for crawl in crawls:
            if rng.random() < (0.8 if host % 2 else 0.2):
                crawl[key << 40] = (f"h{host}.example", None, 200)
    counts = count_strata(make_crawls(3), map(make_attributes, crawls), "host", min_shared=1000)
    (other,) = counts.strata
    assert other.n_pooled == 600
    assert other.mixing == pytest.approx(0.68 / 0.5, rel=0.03)


def test_the_median_pair_decides_at_the_given_number(make_attributes):
    crawls = draw(5, hosts=("a.de", "b.de"))
    plain = count_plainly(crawls, lambda a: a[0])
    medians = {
        name: statistics.median(shared[i][j] for i in range(5) for j in range(i + 1, 5))
        for name, shared in plain.items()
    }
    low, high = sorted(medians, key=medians.get)
    least = int(medians[low]) + 1
    assert least <= medians[high]
    counts = count_strata(make_crawls(5), map(make_attributes, crawls), "host", min_shared=least)
    # The other one is alone, and keeps its name.
    assert [(s.name, s.n_pooled) for s in counts.strata] == [(high, 0), (low, 0)]


def test_what_cannot_be_divided_is_refused():
    with pytest.raises(OverlapError, match="no strata by 'colour'; known are host, domain"):
        count_strata(make_crawls(1), [], "colour")
    with pytest.raises(OverlapError, match="the store holds no crawls"):
        count_strata([], [], "host")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("a.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("somebody.github.io", "github.io"),
        ("university-3.example", "university-3.example"),
        ("a.b.nonsense-suffix", "b.nonsense-suffix"),
        ("localhost", "localhost"),
        ("192.168.0.1", "192.168.0.1"),
        ("[2001:db8:0:0:0:0:0:1]", "[2001:db8:0:0:0:0:0:1]"),
        ("x.xn--bcher-kva.ch", "xn--bcher-kva.ch"),
        ("host-4", "host-4"),
        ("..", ".."),
    ],
)
def test_a_domain_is_one_label_more_than_the_public_suffix(host, domain):
    assert BY["domain"].name(host) == domain


@pytest.mark.parametrize(
    ("host", "tld"),
    [
        ("a.example.co.uk", "uk"),
        ("192.168.0.1", "(IP address)"),
        ("[0:0:0:0:0:0:0:1]", "(IP address)"),
        ("localhost", "(name without a dot)"),
    ],
)
def test_a_tld_is_the_last_label(host, tld):
    assert BY["tld"].name(host) == tld


@pytest.mark.parametrize(
    ("by", "name", "parent", "pooled"),
    [
        ("host", "a.example.org", "example.org", "other hosts of example.org"),
        ("host", "192.168.0.1", OTHER, "other hosts"),
        ("host", "(no host)", OTHER, "other hosts"),
        ("domain", "example.org", ".org", "other domains of .org"),
        ("domain", "192.168.0.1", OTHER, "other domains"),
        ("domain", "localhost", OTHER, "other domains"),
        ("tld", "org", OTHER, "other top-level domains"),
        ("mime", "text/css", "text/*", "other text/*"),
        ("mime", "nonsense", OTHER, "other media types"),
        ("status", "404", "4xx", "other 4xx"),
        ("status", "(no status)", OTHER, "other statuses"),
    ],
)
def test_small_strata_are_pooled_with_their_like(by, name, parent, pooled):
    rule = BY[by]
    assert rule.parent(name) == parent
    assert rule.pooled(parent) == pooled


def test_the_date_of_the_public_suffix_list_is_known():
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", suffix_list_date())
