"""The reference of the rule ``surt``: for any bytes, and the same if made again."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readable_rules import canonical_raw, canonical_scheme_free

from crawlgauge.keys.surt import canonical_surt

HOST_FORM = re.compile(
    rb"(?P<host>\[[0-9a-f:]+\]|[^:/?()\[\]]+)(?P<port>:[^()/]*)?\)(?P<rest>/.*)", re.DOTALL
)
WEB = re.compile(rb"[\x00-\x20]*(https?)://(?!https?:)", re.IGNORECASE)
texts = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=30).map(str.encode),
    st.lists(
        st.sampled_from(
            ["http://", "a", "www", ".", "org", "/", "?", "&", "=", "%", "25", "%41", "ü"]
        )
    ).map(lambda parts: "".join(parts).encode()),
)


def url_of(form):
    """Write a form as a URL again, with a scheme that has no default port."""
    found = HOST_FORM.fullmatch(form)
    host = found["host"]
    if not host.startswith(b"["):
        host = b".".join(reversed(host.split(b",")))
    return b"whois://" + host + (found["port"] or b"") + found["rest"]


@given(texts)
@settings(max_examples=1000, deadline=None, derandomize=True)
def test_any_bytes_have_a_printable_form_in_lower_case(url):
    form = canonical_surt(url)
    assert form
    assert form == form.lower()
    if HOST_FORM.fullmatch(form) and WEB.match(url):
        assert all(0x21 <= byte < 0x7F for byte in form)


def check_settled(urls):
    forms = [
        form for url in urls if WEB.match(url) and HOST_FORM.fullmatch(form := canonical_surt(url))
    ]
    changed = [form for form in forms if canonical_surt(url_of(form)) != form]
    assert changed == []
    return len(forms)


def test_a_form_made_again_stays_the_same(hostile_urls):
    assert check_settled(hostile_urls(20_000, 7)) > 8_000


@given(st.text(max_size=20))
@settings(max_examples=500, deadline=None, derandomize=True)
def test_an_international_form_made_again_stays_the_same(name):
    check_settled([b"http://x." + name.encode() + b".org/"])


def test_what_is_one_url_for_a_finer_identity_is_one_for_surt(hostile_urls):
    urls = [url for url in hostile_urls(20_000, 8) if WEB.match(url)]
    for url in urls:
        form = canonical_surt(url)
        assert canonical_surt(canonical_raw(url)) == form
        if HOST_FORM.fullmatch(form) and b"[" not in url and b"http:\t" not in url.lower():
            scheme = WEB.match(url)[1] + b"://"
            assert canonical_surt(scheme + canonical_scheme_free(url)) == form


@pytest.mark.parametrize(
    "url",
    [
        b"http://a.org/" + b"%25" * 21_000,
        b"http://a.org/" + b"%" + b"25" * 32_000,
        b"http://a.org/" + b"../" * 21_000,
        b"http://a.org/" + b"(" * 64_000 + b".aspx",
        b"http://a.org/" + b";jsessionid=" * 5_000,
        b"http://a.org/?" + b"&b=1&a=2" * 8_000,
        b"http://a.org/?" + b"&" * 64_000,
        b"http://" + b"www." * 16_000 + b"org/",
        b"http://" + "ü".encode() * 32_000 + b".org/",
        b"http://" + "ü.".encode() * 20_000 + b"org/",
        b"http://" + "％EF％BC％85".encode() * 3_000 + b".org/",
        b"http://" + b"9" * 64_000 + b"/",
        b"http://a.org:" + b"9" * 64_000 + b"/",
        b"http://" * 9_000,
        b"@" * 64_000,
    ],
    ids=lambda url: repr(url[:24]),
)
def test_64_kilobytes_of_malice_take_no_more_than_a_moment(url):
    start = time.process_time()
    assert canonical_surt(url)
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://bücher.ch/", "http://xn--bcher-kva.ch/"),
        ("http://BÜCHER.CH/", "http://bu\u0308cher.ch/"),
        ("http://日本。jp/", "http://xn--wgv71a.jp/"),
        ("http://b\u00adücher.ch/", "http://bücher.ch/"),
        ("http://ΌΔΟΣ.gr/", "http://όδοσ.gr/"),
        ("http://🎉.example/", "http://xn--dk8h.example/"),
    ],
)
def test_international_names_equal_their_ascii_form(one, other):
    assert canonical_surt(one.encode()) == canonical_surt(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://faß.de/", "http://fass.de/"),
        ("http://a.org/b", "http://a.org/c"),
        ("http://a.org/?b", "http://a.org/?b="),
        ("http://a.org/b%3Fc", "http://a.org/b?c"),
        ("http://a.org:8080/", "http://a.org/"),
        ("http://a.b.org/", "http://b.org/"),
        ("http://a.org/ä", "http://a.org/\u00e4\u0308"),
    ],
)
def test_what_differs_stays_apart(one, other):
    assert canonical_surt(one.encode()) != canonical_surt(other.encode())
