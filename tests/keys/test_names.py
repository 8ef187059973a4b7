"""Hosts and media types: what the rule ``surt`` takes for one host is one host."""

import pytest

from crawlgauge.keys.names import Names, canonical_type, host_of_capture, host_of_key, host_of_url
from crawlgauge.keys.surt import canonical_surt

MAX_HOST_BYTES = 253
SPELLINGS = [
    b"http://example.org",
    b"https://www.example.org/path?query",
    b"HTTP://WWW2.EXAMPLE.ORG./",
    b"http://user:secret@example.org:8080/#top",
    b"http://http://example.org/",
    b"  http:///example.org/",
    b"http://ex\tample.org/",
    b"//example.org?",
    b"example.org:8080/",
    b"ftp://example.org/file",
    "http://ｅｘａｍｐｌｅ。org/".encode(),
    b"http://%65xample.org/",
]


@pytest.mark.parametrize("url", SPELLINGS)
def test_all_spellings_have_one_host(url):
    assert host_of_url(url) == b"example.org"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        (b"http://www.org/", b"www.org"),
        (b"http://www.a/", b"www.a"),
        (b"http://www.www2.a.org/", b"a.org"),
        (b"http://wwwx.a.org/", b"wwwx.a.org"),
        (b"http://127.1/", b"127.0.0.1"),
        (b"http://[2001:DB8::1]:8080/", b"[2001:db8:0:0:0:0:0:1]"),
        ("http://Bücher.example/".encode(), b"xn--bcher-kva.example"),
        (b"http://a b.org/", b"a%20b.org"),
        (b"http://a.org\xff/", b"a.org%ff"),
        (b"http://localhost:3000/", b"localhost"),
    ],
)
def test_hosts_are_written_as_one_would_look_them_up(url, host):
    assert host_of_url(url) == host


@pytest.mark.parametrize(
    "url",
    [b"", b"mailto:a@b.org", b"dns:a.org", b"javascript:f)/", b"http://", b"/path", b"x:1)"],
)
def test_what_names_no_host_has_none(url):
    assert host_of_url(url) == b""


def test_no_host_is_longer_than_names_can_be():
    longest = b".".join([b"a" * 63] * 3 + [b"b" * 61])
    assert len(longest) == MAX_HOST_BYTES
    assert host_of_url(b"http://" + longest + b"/") == longest
    assert host_of_url(b"http://" + longest + b"b/") == b""
    assert host_of_key(longest.replace(b".", b",") + b"b)/") == b""


@pytest.mark.parametrize(
    "key",
    [
        b"org,example)/path",
        b"org,example,www)/",
        b"org,example:8080)/",
        b"ORG,Example,)/",
        b"http://(org,example,)/path",
        b"https://(org,example,:8080@user:secret)/path",
        b"example.org/path",
        b"http://www.example.org/a)/",
    ],
)
def test_keys_of_all_programs_name_the_host(key):
    assert host_of_key(key) == b"example.org"


@pytest.mark.parametrize("key", [b"", b"-", b"dns:example.org", b"mailto:a@b.org", b")/", b",)/"])
def test_other_keys_name_none(key):
    assert host_of_key(key) == b""


def test_the_canonical_form_of_a_url_names_its_host(hostile_urls):
    for url in hostile_urls(5_000, 3):
        if host := host_of_url(url):
            assert host_of_key(canonical_surt(url)) == host, url


def test_hosts_are_printable_ascii_in_lower_case(hostile_urls):
    for url in hostile_urls(5_000, 4):
        host = host_of_url(url)
        assert host == host.lower()
        assert all(0x21 <= byte < 0x7F for byte in host)
        assert len(host) <= MAX_HOST_BYTES


def test_a_capture_has_the_host_of_its_whole_url(hostile_urls):
    """Also where the beginning of the URL seems to decide."""
    for url in hostile_urls(5_000, 5):
        assert host_of_capture(url or None, None) == host_of_url(url), url


def test_the_key_counts_only_without_a_url():
    assert host_of_capture(b"http://a.org/", b"org,b)/") == b"a.org"
    assert host_of_capture(b"mailto:x", b"org,b)/") == b""
    assert host_of_capture(None, b"org,b)/") == host_of_capture(b"", b"org,b)/") == b"b.org"
    assert host_of_capture(None, None) == b""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"text/html", b"text/html"),
        (b" Text/HTML;charset=utf-8", b"text/html"),
        (b"text/html charset=utf-8", b"text/html"),
        (b"text/html, text/html", b"text/html"),
        (b"application/vnd.ms-excel.12\t", b"application/vnd.ms-excel.12"),
        (b"video", b"video"),
        (b"", b""),
        (b";charset=utf-8", b""),
        (b"text/h\xc3\xa4ml", b""),
        (b"a" * 255, b"a" * 255),
        (b"a" * 256, b""),
        *((text, b"") for text in (b"-", b"unk", b"no-type", b"unknown", b"warc/revisit")),
        (b"WARC/Revisit", b""),
    ],
)
def test_media_types_have_one_form(text, kind):
    assert canonical_type(text) == kind


def test_names_are_numbered_once_however_they_are_written():
    names = Names()
    forms = [b"org,a)", b"org,a:8080)", b"(org,a,www)", b"a.org", b"(,)", b"org,b)"]
    assert names.name_hosts(forms).tolist() == [0, 0, 0, 0, -1, 1]
    assert names.hosts.texts() == [b"a.org", b"b.org"]
    assert names.name_types([b"Text/HTML; a", b"text/html", b"-"]).tolist() == [0, 0, -1]
