"""The compiled rule ``surt`` gives the key of the reference's form, for every URL."""

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.rules import SURT
from crawlgauge.keys.surt import canonical_surt

pieces = st.sampled_from(
    [
        *b"http:// https:// www a B . .. / ? & = % 25 41 %2F %3f %26 %2B # : 80 @ ( )".split(),
        *b";jsessionid= 4hqa0555fwsecu455xqckv45 .aspx cfid=1 cftoken=2 sid=".split(),
        *(b"0" * 32, b"\t", b" ", b"\xe4"),
    ]
)
rests = st.lists(pieces, max_size=25).map(b"".join)


def reference(url):
    return xxhash.xxh64_intdigest(canonical_surt(url), seed=42)


def differing(urls, as_array):
    keys = compute_keys(as_array(urls), SURT).tolist()
    return [url for url, key in zip(urls, keys, strict=True) if key != reference(url)]


def test_fifty_thousand_hostile_urls_have_the_keys_of_the_reference(hostile_urls, as_array):
    assert differing(hostile_urls(50_000, 1), as_array) == []


@pytest.mark.slow
def test_a_million_hostile_urls_have_the_keys_of_the_reference(hostile_urls, as_array):
    for seed in range(100, 120):
        assert differing(hostile_urls(50_000, seed), as_array) == []


def test_the_kernel_itself_does_most_of_the_hostile_work(hostile_urls, count_deferred):
    """The comparison would mean little if nearly all were left to the reference."""
    urls = hostile_urls(20_000, 2)
    assert count_deferred(urls) < len(urls) / 2


@given(rests)
@settings(max_examples=2000, deadline=None, derandomize=True)
def test_pieces_in_any_order_have_the_key_of_the_reference(rest):
    """As a property of one URL, so that a difference is shrunk to its cause."""
    url = b"http://a.org" + rest
    assert compute_keys(pa.array([url]), SURT)[0] == reference(url)


@given(st.lists(st.binary(max_size=30), max_size=8), st.integers(0, 8), st.integers(0, 8))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_slice_of_any_array_has_the_keys_of_its_urls(urls, start, length):
    part = pa.array(urls, pa.binary()).slice(min(start, len(urls)), length)
    assert compute_keys(part, SURT).tolist() == [reference(url) for url in part.to_pylist()]


@pytest.mark.parametrize(
    "url",
    [
        b"http://a.org/page",
        b"https://www.a.org:443/A/../b/?z=1&a=%7E#top",
        b"http://user:secret@a.org:8080/",
        b"http://a.org./a;b=1;jsessionid=0?PHPSESSID=0123456789abcdef0123456789abcdef&b",
        b"http://a.org/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx?cftoken=1&cfid=2",
        b"http://192.168.0.1/%C3%A4/\xe4/%2525",
        b"http://xn--bcher-kva.ch?b=1&a=2&a&c=3",
        b"http://a",
    ],
)
def test_common_forms_need_no_reference(url, count_deferred):
    assert count_deferred([url]) == 0


@pytest.mark.parametrize("n_bytes", [65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("filling", [b"a", b"%", b"%41", b"/", b"&b=", b"\xff", b"../"])
def test_long_urls_have_the_key_of_the_reference(n_bytes, filling, as_array):
    urls = [(start + filling * n_bytes)[:n_bytes] for start in (b"http://a.org/", b"http://a.org?")]
    assert differing([*urls, b"http://b.org/"], as_array) == []


def test_the_longest_form_fits_between_its_neighbours(as_array):
    """Each byte takes three in the form; what lies behind it must not be touched."""
    urls = [b"http://a/" + b"\xff" * n for n in range(200)] + [b"http://a?" + b"\xff" * 50]
    assert differing(urls, as_array) == []


def test_read_only_and_writable_buffers_give_the_same_keys():
    urls = [b"http://a.org/", b"https://www.b.org/?b&a"]
    data = b"".join(urls)
    offsets = np.array([0, len(urls[0]), len(data)], dtype=np.int32)
    shared = pa.Array.from_buffers(
        pa.binary(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    expected = compute_keys(pa.array(urls), SURT).tolist()
    assert compute_keys(shared, SURT).tolist() == expected
