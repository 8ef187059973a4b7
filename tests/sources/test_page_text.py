"""The text of a page is the same under a new date, and another under another text."""

import gzip
import time
import zlib

import brotli
import pytest
import zstandard

from crawlgauge.errors import SourceError
from crawlgauge.sources import page_text
from crawlgauge.sources.page_text import check_extractor, fingerprint_page, is_html

HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n%b\r\n"
PLAIN = HEADER % b""
ARTICLE = """
<article><h1>The heron of the river</h1>
<p>A heron stood at the river for many hours, and nobody knew what it was waiting for.</p>
<p>In the year 1998 it was seen by more than forty people on a single morning in the spring.</p>
</article>"""


def page(article=ARTICLE, *, before="", after=""):
    return f"<!doctype html><html><body>{before}{article}{after}</body></html>".encode()


EXPECTED = fingerprint_page(page(), PLAIN)


@pytest.mark.parametrize(
    "surroundings",
    [
        {"after": "<footer>Last updated 12 March 2014</footer>"},
        {"after": '<div class="footer">Copyright by the friends of the heron</div>'},
        {"after": "<div>Page views: 48,213</div>"},
        {"after": "<p>Last updated: 3 May 2015, 10:41</p>"},
        {"before": "<nav><a href='/'>Home</a> <a href='/new'>New things</a></nav>"},
        {"before": "<script>var now = 1400000000</script><!-- served in 12 ms -->"},
    ],
)
def test_what_surrounds_the_text_does_not_matter(surroundings):
    assert fingerprint_page(page(**surroundings), PLAIN) == EXPECTED


def test_layout_case_and_punctuation_do_not_matter():
    changed = ARTICLE.replace("<p>", "<p class='x'>\n  ").replace(", and", " –  AND")
    assert fingerprint_page(page(changed), PLAIN) == EXPECTED


@pytest.mark.parametrize(("old", "new"), [("heron stood", "stork stood"), ("1998", "1997")])
def test_another_word_or_number_in_a_sentence_is_another_text(old, new):
    changed = fingerprint_page(page(ARTICLE.replace(old, new)), PLAIN)
    assert changed not in (None, EXPECTED)


@pytest.mark.parametrize(
    "content", [b"", b"\0\xff" * 50, page("<div id=app></div>"), b"<frameset>"]
)
def test_a_page_with_hardly_any_words_has_no_text(content):
    assert fingerprint_page(content, PLAIN) is None


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        (b"gzip", gzip.compress),
        (b"deflate", zlib.compress),
        (b"deflate", lambda data: zlib.compress(data, wbits=-15)),
        (b"br", brotli.compress),
        (b"zstd", zstandard.compress),
        (b"identity", bytes),
        (b"gzip", bytes),  # Undone by the tool that recorded it.
        (b"br", bytes),
    ],
)
def test_the_content_coding_is_undone(coding, pack):
    header = HEADER % (b"Content-Encoding: " + coding + b"\r\n")
    assert fingerprint_page(pack(page()), header) == EXPECTED


def test_a_page_that_grows_beyond_all_bounds_or_has_an_unknown_coding_has_no_text():
    large = b"<p>" + b"many words " * 1_000_000
    for coding, pack in ((b"gzip", gzip.compress), (b"zstd", zstandard.compress)):
        header = HEADER % (b"Content-Encoding: " + coding + b"\r\n")
        assert fingerprint_page(pack(large), header) is None
    assert fingerprint_page(page(), HEADER % b"Content-Encoding: sdch\r\n") is None


FORMATS = b"".join(b"<b id=%d>" % number for number in range(9000))
NAMES = b"".join(b" a%d=1" % number for number in range(1_000_000))


@pytest.mark.parametrize(
    "hostile",
    [
        b"<div>" * 200_000,
        b"<table><tr><td>" * 200_000,
        b"<p>a</p>" * 200_000,
        b"<div>" * 28_000,
        b"<b><div>" * 14_000,
        b"<ol>x" * 28_000,
        b"<ol>" * 250 + b"<li>x" * 28_000,
        b"<div>" + FORMATS + b"</div>" + b"<div>x</div>" * 9000,
        b"<div" + NAMES + b">",
        b'<div x=">"' + NAMES + b" y='<div>'" + NAMES[: 1 << 19] + b">",
        (b"<p>" + b"many words " * 40) * 18_000,
    ],
    ids=lambda hostile: hostile[:20].decode(),
)
def test_a_page_made_to_be_slow_has_no_text_and_is_told_soon(hostile):
    start = time.process_time()
    assert fingerprint_page(hostile + page(), PLAIN) is None
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "unit",
    [
        "<div>",
        "<ol>x ",
        "<b>",
        "<b><div>",
        "<p>some more words",
        "<a b=c>x</a>",
        "<",
        "<a b='",
        "&amp;",
    ],
)
def test_the_time_for_any_page_is_bounded(unit):
    for n_bytes in (1000, 20_000, 150_000, 1_000_000):
        start = time.process_time()
        fingerprint_page(page(after=unit * (n_bytes // len(unit))), PLAIN)
        assert time.process_time() - start < 12


def test_a_large_honest_page_has_a_text():
    rows = "".join(
        f"<tr><td><a name='r{k}'>number {k}<td><font color='#{k % 5}'>a row of a long table"
        for k in range(4000)
    )
    lists = "".join(f"<ul><li>item {k}<ul><li>some words of item {k}</ul></ul>" for k in range(800))
    script = "<script>var data = [" + "'<b a b c', " * 200 + "]</script>"
    after = f"<table>{rows}</table>{lists}{script}"
    assert fingerprint_page(page(after=after), PLAIN) is not None


def test_the_encoding_is_that_of_the_header_else_of_the_page():
    text = "<p>Über den Flüssen steht nun schon seit Jahren der Reiher und wartet</p>"
    utf8 = fingerprint_page(page(text), PLAIN)
    header = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%b\r\n\r\n"
    for name in (b"iso-8859-1", b'"windows-1252"'):
        assert fingerprint_page(page(text).decode().encode("cp1252"), header % name) == utf8
    meta = page(text, before="<meta charset=windows-1252>").decode().encode("cp1252")
    assert fingerprint_page(meta, b"HTTP/1.1 200 OK\r\n\r\n") == utf8
    assert fingerprint_page(meta, header % b"no-such-encoding") == utf8


def test_html_is_told_by_its_media_type():
    assert is_html(b"text/html")
    assert is_html(b" Application/XHTML+xml ")
    assert not is_html(b"text/plain")
    assert not is_html(b"")


def test_a_missing_package_is_named_with_the_remedy(monkeypatch):
    check_extractor()
    monkeypatch.setattr(page_text, "_PACKAGES", ("resiliparse", "no_such_package"))
    with pytest.raises(SourceError, match=r"no_such_package.*pip install '\.\[text\]'"):
        check_extractor()
