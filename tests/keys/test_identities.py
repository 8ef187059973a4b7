"""The other identities: scheme-free and given."""

import re

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.errors import StoreError
from crawlgauge.keys.hashing import KERNELS, compute_keys
from crawlgauge.keys.raw import canonical_raw
from crawlgauge.keys.rules import GIVEN, RULES, SCHEME_FREE, find_rule
from crawlgauge.keys.scheme_free import canonical_scheme_free

WEB = re.compile(rb"[\x00-\x20]*https?://(?!https?:)", re.IGNORECASE)
pieces = st.lists(
    st.sampled_from(
        [
            *b"http:// HTTPS:// ftp:// a B . : 80 443 / ? @ [ ] # + -".split(),
            *(b" ", b"\x01", b"\xe4"),
        ]
    ),
    max_size=12,
).map(b"".join)


def hash_of(text):
    return xxhash.xxh64_intdigest(text, seed=42)


def keys_of(urls, rule):
    return compute_keys(pa.array(urls, pa.binary()), rule).tolist()


def test_every_identity_is_found_by_its_name_and_has_a_kernel():
    assert [str(find_rule(name)) for name in ("surt", "scheme-free", "raw")] == [
        "surt/1",
        "scheme-free/1",
        "raw/1",
    ]
    assert set(KERNELS) == {*RULES.values(), GIVEN}
    with pytest.raises(StoreError, match="known are: surt, scheme-free, raw, given"):
        find_rule("surf")


@given(st.lists(st.one_of(pieces, st.binary(max_size=30)), max_size=10))
@settings(max_examples=1000, deadline=None, derandomize=True)
def test_the_compiled_scheme_free_rule_agrees_with_its_readable_twin(urls):
    assert keys_of(urls, SCHEME_FREE) == [hash_of(canonical_scheme_free(url)) for url in urls]


def test_hostile_urls_have_the_scheme_free_key_of_the_readable_twin(hostile_urls):
    urls = hostile_urls(20_000, 3)
    assert keys_of(urls, SCHEME_FREE) == [hash_of(canonical_scheme_free(url)) for url in urls]


def test_a_scheme_free_form_made_again_stays_the_same(hostile_urls):
    for url in filter(WEB.match, hostile_urls(20_000, 4)):
        form = canonical_scheme_free(url)
        assert canonical_scheme_free(b"whatever://" + form) == b"whatever://" + form
        assert canonical_scheme_free(canonical_raw(url)) == form


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
    first, second = keys_of([one, other], SCHEME_FREE)
    assert first == second


@pytest.mark.parametrize(
    "other",
    [
        b"http://www.a.org/b",
        b"http://a.org/B",
        b"http://a.org/b/",
        b"http://a.org/b?",
        b"http://a.org:443/b",
        b"http://u@a.org/b",
        b"http://a.org/./b",
        b"http://a.org./b",
        b"ftp://a.org/b",
    ],
)
def test_everything_else_stays_apart(other):
    first, second = keys_of([b"http://a.org/b", other], SCHEME_FREE)
    assert first != second


@given(st.lists(st.binary(max_size=50), max_size=10))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_given_key_is_hashed_as_it_is(keys):
    assert keys_of(keys, GIVEN) == [hash_of(key) for key in keys]


@pytest.mark.parametrize("rule", RULES.values(), ids=str)
def test_no_urls_and_empty_urls_are_no_problem(rule):
    assert keys_of([], rule) == []
    assert len(set(keys_of([b"", b""], rule))) == 1
