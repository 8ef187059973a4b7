"""The keys of URLs under the rule ``raw``, from Arrow arrays of every shape."""

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.errors import StoreError
from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.raw import canonical_raw
from crawlgauge.keys.rules import RAW, find_rule

urls = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.lists(st.sampled_from([b"http://a.org/", b" ", b"\t", b"\v", b"#", b"\r"])).map(
            b"".join
        ),
    ),
    max_size=20,
)


def keys_of(array):
    return compute_keys(array, RAW).tolist()


def reference(url):
    return xxhash.xxh64_intdigest(canonical_raw(url), seed=42)


@given(urls)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_the_compiled_rule_agrees_with_its_readable_twin(urls):
    assert keys_of(pa.array(urls, pa.binary())) == [reference(url) for url in urls]


@given(urls=urls, start=st.integers(0, 20), length=st.integers(0, 20))
@settings(deadline=None, derandomize=True)
def test_a_slice_of_an_array_has_the_keys_of_its_urls(urls, start, length):
    part = pa.array(urls, pa.binary()).slice(min(start, len(urls)), length)
    assert keys_of(part) == [reference(url) for url in part.to_pylist()]


@pytest.mark.parametrize(
    ("url", "same"),
    [
        (b"http://a.org/#part", b"http://a.org/"),
        (b"http://a.org/#a#b", b"http://a.org/"),
        (b" \t http://a.org/ \r\n", b"http://a.org/"),
        (b"http://a.org/ #part", b"http://a.org/"),
    ],
)
def test_fragment_and_surrounding_space_do_not_matter(url, same):
    assert canonical_raw(url) == same
    assert keys_of(pa.array([url])) == keys_of(pa.array([same]))


@pytest.mark.parametrize(
    "other",
    [b"https://a.org/", b"http://A.org/", b"http://a.org", b"http://a.org/?", b"http://a.org/ b"],
)
def test_everything_else_does(other):
    assert keys_of(pa.array([other])) != keys_of(pa.array([b"http://a.org/"]))


def test_no_urls_and_empty_urls_are_no_problem():
    assert keys_of(pa.array([], pa.binary())) == []
    assert keys_of(pa.array([b"", b""])) == [reference(b"")] * 2


def test_the_rule_says_name_and_version():
    assert str(RAW) == "raw/1"
    assert find_rule("raw") is RAW
    with pytest.raises(StoreError, match="unknown URL identity 'surf'; known are: surt"):
        find_rule("surf")
