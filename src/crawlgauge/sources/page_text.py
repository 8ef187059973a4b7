"""The text of an HTML page as a fingerprint that outlives a new date in the footer."""

import hashlib
import re
from importlib import import_module

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import NOT_HTML
from crawlgauge.sources.content_coding import decode_content

__all__ = ["MAX_PAGE_BYTES", "check_extractor", "fingerprint_page", "is_html"]

MAX_PAGE_BYTES = 1 << 23
"""Longer pages are no texts that people read, and all of one must be in memory."""

_MAX_TAGS = 30_000
"""Extraction takes time with the square of how deep they are nested: twenty seconds if all of so
many are, and hours for a page that was made to be slow."""

_PACKAGES = ("resiliparse", "brotli")
_TYPES = (b"text/html", b"application/xhtml+xml")
_CHARSET = re.compile(
    rb"^content-type[ \t]*:[^\r\n]*;[ \t]*charset[ \t]*=[ \t]*[\"']?([\w.:+-]{1,40})",
    re.IGNORECASE | re.MULTILINE,
)

_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_MAX_DATED_WORDS = 8
"""A line of so few words with a number among them tells when, how often or by whom, not what."""
_MIN_WORDS = 5
"""With fewer words, pages of frames and scripts alone would all be one."""
_SKIPPED = ("footer", "#footer", ".footer", "[role=contentinfo]")
"""What is no main content beside that which the extractor knows."""


def check_extractor() -> None:
    """See that texts can be extracted.

    Raises
    ------
    SourceError
        If the packages that do so are not installed.
    """
    for package in _PACKAGES:
        try:
            import_module(package)
        except ImportError:
            raise SourceError(
                f"--levels text needs the package {package}, which is not installed; install it "
                "with: pip install 'crawlgauge[text]', or leave text out of --levels"
            ) from None


def is_html(media_type: bytes) -> bool:
    """Tell whether a media type is that of pages that are read."""
    return media_type.strip().lower() in _TYPES


def fingerprint_page(content: bytes, header: bytes) -> int | None:
    """Return a fingerprint of the words of a page's main content, in their order.

    Navigation, sidebars and footers are left out by the extractor's heuristics, and so are short
    lines with a number in them, such as dates and counters; letter case, punctuation and layout
    do not matter.

    Parameters
    ----------
    content
        The payload.
    header
        The HTTP header; nothing if there is none.

    Returns
    -------
    int or None
        64 bits; None if the page is too long or has too many tags, cannot be decoded, or has hardly
        any words.
    """
    decoded = decode_content(content, header, MAX_PAGE_BYTES)
    if decoded is None or decoded.count(b"<") > _MAX_TAGS:
        return None
    words = [
        word
        for line in _extract(decoded, header).casefold().split("\n")
        for word in _words_of(line)
    ]
    if len(words) < _MIN_WORDS:
        return None
    digest = hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8)
    # Two values mean something else.
    return max(int.from_bytes(digest.digest(), "big"), NOT_HTML + 1)


def _words_of(line: str) -> list[str]:
    words = _WORD.findall(line)
    is_dated = len(words) <= _MAX_DATED_WORDS and _DIGIT.search(line)
    return [] if is_dated else words


def _extract(content: bytes, header: bytes) -> str:
    # Of an extra, so that it need not be there; and it has no types.
    extract_plain_text = import_module("resiliparse.extract.html2text").extract_plain_text
    encodings = import_module("resiliparse.parse.encoding")

    told = _CHARSET.search(header)
    encoding = (
        None
        if told is None
        else encodings.map_encoding_to_html5(told[1].decode(), fallback_utf8=False)
    )
    if encoding is None:
        encoding = encodings.detect_encoding(content, from_html_meta=True)
    page = encodings.bytes_to_str(content, encoding)
    text: str = extract_plain_text(
        page,
        preserve_formatting=True,
        main_content=True,
        list_bullets=False,
        alt_texts=False,
        links=False,
        form_fields=False,
        noscript=False,
        skip_elements=_SKIPPED,
    )
    return text
