"""The compiled forms of URLs are those of the readable rules, or are left to them."""

import re

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from readable_rules import canonical_raw, canonical_scheme_free

from crawlgauge.core.captures import hash_text, hash_texts
from crawlgauge.core.urls import scheme_free, surt
from crawlgauge.errors import StoreError
from crawlgauge.keys.rules import RULES, find_rule
from crawlgauge.keys.surt import canonical_surt

WEB = re.compile(rb"[\x00-\x20]*https?://(?!https?:)", re.IGNORECASE)
pieces = st.sampled_from(
    [
        *b"http:// https:// www a B . .. / ? & = % 25 41 %2F %3f %26 %2B # : 80 443 @ [ ]".split(),
        *b"( ) ;jsessionid= 4hqa0555fwsecu455xqckv45 .aspx cfid=1 cftoken=2 sid= 1.2.3.4 ftp://".split(),
        *(b"0" * 32, b"\t", b" ", b"\x01", b"\xe4"),
    ]
)
rests = st.lists(pieces, max_size=25).map(b"".join)


def differing(urls):
    forms = [(url, surt(url)) for url in urls]
    return [(url, form) for url, form in forms if form not in (None, canonical_surt(url))]


def test_fifty_thousand_hostile_urls_have_the_form_of_the_reference(hostile_urls):
    assert differing(hostile_urls(50_000, 1)) == []


@pytest.mark.slow
def test_a_million_hostile_urls_have_the_form_of_the_reference(hostile_urls):
    for seed in range(100, 120):
        assert differing(hostile_urls(50_000, seed)) == []


def test_the_core_itself_does_much_of_the_hostile_work(hostile_urls):
    """The comparison would mean little if nearly all were left to the reference."""
    urls = hostile_urls(20_000, 2)
    assert sum(surt(url) is not None for url in urls) > len(urls) / 4


@given(rests)
@settings(max_examples=2000)
def test_pieces_in_any_order_have_the_form_of_the_reference(rest):
    """As a property of one URL, so that a difference is shrunk to its cause."""
    assert differing([b"http://a.org" + rest, b"http://a.org/" + rest, rest]) == []


@pytest.mark.parametrize(
    "url",
    [
        b"http://a.org/page",
        b"http://a.org",
        b"http://a.org?b=1&a=2&a&c=3",
        b"https://www.a.org:443/A/../b/?z=1&a=%7E#top",
        b"http://a.org:8080/",
        b"http://a.org/a;b=1;jsessionid=0?PHPSESSID=0123456789abcdef0123456789abcdef&b",
        b"http://a.org/wiki/Page_(x)?cftoken=1&cfid=2",
        b"http://192.168.0.1/%C3%A4/\xe4/%2525/%",
        b"http://xn--bcher-kva.ch/a//b/./c/",
    ],
)
def test_common_urls_need_no_reference(url):
    assert surt(url) == canonical_surt(url)


@pytest.mark.parametrize("n_bytes", [8_191, 8_192, 8_193, 65_537])
@pytest.mark.parametrize("filling", [b"a", b"%", b"%41", b"%25", b"/", b"&b=", b"\xff", b"../"])
def test_long_urls_have_the_form_of_the_reference(n_bytes, filling):
    starts = (b"http://a.org/", b"http://a.org?", b"http://a.org")
    assert differing([(start + filling * n_bytes)[:n_bytes] for start in starts]) == []


def test_many_labels_segments_and_parameters_have_the_form_of_the_reference():
    for n in (31, 32, 33, 63, 64, 65, 127, 128, 129, 300):
        urls = [
            b"http://" + b".".join([b"a"] * n) + b"/",
            b"http://a.org" + b"/b" * n,
            b"http://a.org//" + b"/b/.." * n,
            b"http://a.org?" + b"&".join(b"%d=x" % (n - k) for k in range(n)),
        ]
        assert differing(urls) == []


@given(st.one_of(rests, st.binary(max_size=30)))
@settings(max_examples=1000)
def test_the_scheme_free_form_is_that_of_its_readable_twin(url):
    assert scheme_free(url) == canonical_scheme_free(url)


def test_hostile_urls_have_the_scheme_free_form_of_the_readable_twin(hostile_urls):
    urls = hostile_urls(20_000, 3)
    assert [scheme_free(url) for url in urls] == [canonical_scheme_free(url) for url in urls]


def test_a_scheme_free_form_made_again_stays_the_same(hostile_urls):
    for url in filter(WEB.match, hostile_urls(20_000, 4)):
        form = scheme_free(url)
        assert scheme_free(b"whatever://" + form) == b"whatever://" + form
        assert scheme_free(canonical_raw(url)) == form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"http://a.org/", b"https://a.org/"),
        (b"http://a.org", b"http://a.org/"),
        (b"http://A.org:80/", b"https://a.org:443/"),
        (b"http://[::1]:80/", b"https://[::1]/"),
    ],
)
def test_what_a_client_does_not_tell_apart_is_the_same_scheme_free(one, other):
    assert scheme_free(one) == scheme_free(other)


@given(st.binary(max_size=200))
@settings(max_examples=500)
def test_keys_are_xxh64_with_seed_42(text):
    expected = xxhash.xxh64_intdigest(text, seed=42)
    assert hash_text(text) == expected
    assert hash_texts([b"", text]).tolist() == [xxhash.xxh64_intdigest(b"", seed=42), expected]


def test_every_identity_is_found_by_its_name():
    assert list(RULES) == ["surt", "scheme-free", "raw", "given"]
    assert [str(find_rule(name)) for name in RULES] == [f"{name}/1" for name in RULES]
    with pytest.raises(StoreError, match="known are: surt, scheme-free, raw, given"):
        find_rule("surf")
