"""The compiled search for hosts agrees with the reference or leaves the text to it."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.keys.dictionary_kernel import NO_CODE, Dictionary
from crawlgauge.keys.host import host_of_key, host_of_url
from crawlgauge.keys.host_kernel import DEFERRED, code_hosts, make_host_room
from crawlgauge.keys.recent_kernel import make_recent
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.sources.texts import Texts

LEFT = "left to the reference"

pieces = st.sampled_from(
    [
        *b"http:// https:// www. a.org B.Org 1.2.3.4 / ? # : 80 :80 @ ) , ( . [::1] %41".split(),
        *(b"\t", b" ", b"\xe4", b"/a", b"/b", b"a" * 70),
    ]
)


def find_hosts(texts, *, are_keys=False, chosen=None):
    """Return the host of each text, nothing, or that it is left to the reference."""
    dictionary, recent = Dictionary(), make_recent()
    chosen = np.arange(len(texts)) if chosen is None else np.asarray(chosen)
    codes = np.empty(chosen.size, dtype=np.int32)
    column = Texts.of(pa.array(texts, pa.binary()))
    places = column.data, column.starts, column.ends
    done = 0
    while done < chosen.size:
        table = dictionary.table
        room = make_host_room()
        done = code_hosts(*places, are_keys, chosen, codes, done, *table, *recent, *room)
        dictionary.make_room()
    data, starts = dictionary.texts()
    names = [data[a:b].tobytes() for a, b in itertools.pairwise(starts)]
    meaning = {NO_CODE: b"", DEFERRED: LEFT, **dict(enumerate(names))}
    return [meaning[code] for code in codes.tolist()]


def differing(texts, *, are_keys=False):
    reference = host_of_key if are_keys else host_of_url
    found = find_hosts(texts, are_keys=are_keys)
    return [
        (text, host)
        for text, host in zip(texts, found, strict=True)
        if host not in (LEFT, reference(text))
    ]


def test_hostile_urls_have_the_hosts_of_the_reference(hostile_urls):
    urls = hostile_urls(10_000, 11)
    assert differing(urls) == []
    assert find_hosts(urls).count(LEFT) < len(urls) / 2


def test_sorted_urls_have_the_hosts_of_the_reference(hostile_urls):
    """Then the same beginning often stands twice, with something else behind it."""
    assert differing(sorted(hostile_urls(10_000, 12))) == []


def test_canonical_keys_have_the_hosts_of_the_reference(hostile_urls):
    keys = [canonical_surt(url) for url in hostile_urls(10_000, 13)]
    assert differing(keys, are_keys=True) == []
    assert find_hosts(keys, are_keys=True).count(LEFT) < len(keys) / 2


def test_what_is_no_key_is_treated_as_the_reference_does(hostile_urls):
    assert differing(hostile_urls(10_000, 14), are_keys=True) == []


@given(st.lists(st.lists(pieces, max_size=6).map(b"".join), min_size=1, max_size=6), st.booleans())
@settings(max_examples=500, deadline=None, derandomize=True)
def test_pieces_in_any_order_have_the_hosts_of_the_reference(texts, are_keys):
    assert differing([b"http://" + text for text in texts] + texts, are_keys=are_keys) == []


@pytest.mark.parametrize(
    "url",
    [
        b"http://a.org/",
        b"https://www.A.org:443/b",
        b"http://user:secret@a.org:8080?b",
        b"http://a.org./",
        b"http://192.168.0.1/",
        b"http://xn--bcher-kva.ch",
    ],
)
def test_common_urls_need_no_reference(url):
    assert find_hosts([url]) == [host_of_url(url)]


@pytest.mark.parametrize("key", [b"org,a)/", b"org,a:8080)/b", b"ORG,a,www)", b"1,0,0,127)/"])
def test_common_keys_need_no_reference(key):
    assert find_hosts([key], are_keys=True) == [host_of_key(key)]


def test_long_urls_stay_within_their_room():
    urls = [
        start + filling * n
        for start in (b"http://", b"http://a.org/", b"http://a.org:", b"http://a@")
        for filling in (b"a", b"a.", b"/", b"@", b"\xff", b"1")
        for n in (60, 250, 255, 505, 512, 520, 70_000)
    ]
    assert differing(urls) == []
    assert differing([url.replace(b".", b",") + b")" for url in urls], are_keys=True) == []


def test_many_hosts_make_the_table_grow():
    urls = [b"http://host-%d.example/" % number for number in range(20_000)]
    expected = [b"host-%d.example" % number for number in range(20_000)]
    assert find_hosts(urls + urls) == expected + expected


def test_chosen_captures_are_looked_at_alone():
    urls = [b"http://a.org/", b"http://b.org/", b"http://a.org/c"]
    assert find_hosts(urls, chosen=[2, 1]) == [b"a.org", b"b.org"]
    assert find_hosts(urls, chosen=[]) == []
