"""The text of an HTML page as a fingerprint that outlives a new date in the footer."""

import hashlib
import re
import zlib
from contextlib import suppress
from importlib import import_module

import zstandard

from crawlgauge.core.batch import NOT_HTML
from crawlgauge.errors import SourceError

MAX_PAGE_BYTES = 1 << 23
"""Longer pages are no texts that people read, and all of one must be in memory."""

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
_EXTRACTION = {"preserve_formatting": True} | dict.fromkeys(
    ("list_bullets", "alt_texts", "links", "form_fields", "noscript"), False
)
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
                "with: pip install '.[text]' in the checkout, or leave text out of --levels"
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
        64 bits; None if the page is too long or would take too long, cannot be decoded, or has
        hardly any words.
    """
    decoded = _undo_codings(content, header)
    if decoded is None or decoded.count(b"<") > _MAX_TAGS:
        return None
    text = _extract(decoded, header)
    words = [word for line in text.casefold().split("\n") for word in _words_of(line)]
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

    encoding = None
    if told := _CHARSET.search(header):
        encoding = encodings.map_encoding_to_html5(told[1].decode(), fallback_utf8=False)
    if encoding is None:
        encoding = encodings.detect_encoding(content, from_html_meta=True)
    page: str = encodings.bytes_to_str(content, encoding)
    if _takes_long(page):
        return ""
    text: str = extract_plain_text(page, main_content=True, skip_elements=_SKIPPED, **_EXTRACTION)
    return text


# ------------------------------------------------------------------------ pages made to be slow

_MAX_TAGS = 30_000
_MAX_DEPTHS = 20_000_000
_MAX_COPIES = 400_000
_MAX_MOVED_CHARACTERS = 20_000_000_000
_MAX_ATTRIBUTES = 2_000
"""Parsing and extraction take time with the square of how deep elements are nested, of how long the
text is with all its lines, and of how many attributes a tag has, and memory with how often elements
that format text must be opened again. Up to so many they take a few seconds at most."""

_SPACE = r" \t\n\f\r"
_ATTRIBUTE = (
    rf"[^{_SPACE}/>][^{_SPACE}/>=]*+"
    rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?>\"[^\"]*+\"|'[^']*+'|[^{_SPACE}>]*+))?+"
)
_TAG = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)((?>[{_SPACE}/]++|{_ATTRIBUTE})*+)")
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)
_RAW_TEXTS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
_FORMATTING = frozenset(
    {"b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"}
)
"""Elements that are opened again, as often as they are open, behind the end of another."""
_INLINE = _FORMATTING | {"a", "nobr", "span", "img", "input", "label", "sub", "sup", "q", "cite"}
_NOT_NESTED = re.compile(
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|html|head|body|"
    "a|nobr|p|li|d[td]|option|optgroup|t[rdh]|thead|tbody|tfoot"
)
"""Elements that are empty, stand once, or end where the next of their kind begins."""
_LISTS = frozenset({"ul", "ol", "dl", "menu", "dir"})
_INDENT = 2


def _takes_long(page: str) -> bool:
    """Tell whether the extractor would take long for a page, as only those do that are made so."""
    n_open = n_formats = n_lists = n_text = place = 0
    formats: set[str] = set()
    n_depths = n_copies = n_moved = 0
    while tag := _TAG.search(page, place):
        n_text += tag.start() - place
        place = tag.end()
        is_end, name, attributes = tag[1], tag[2].lower(), tag[3]
        if len(attributes) > _MAX_ATTRIBUTES:
            n_attributes = sum(1 for _ in _EACH_ATTRIBUTE.finditer(attributes))
            if n_attributes > _MAX_ATTRIBUTES:
                return True
        if name in _RAW_TEXTS and not is_end:
            end = _RAW_TEXTS[name].search(page, place)
            place = len(page) if end is None else end.start()
            continue
        step = -1 if is_end else 1
        if name in _FORMATTING:
            n_formats = max(n_formats + step, 0)
            formats.add(tag[0])
        elif not _NOT_NESTED.fullmatch(name):
            n_open = max(n_open + step, 0)
        # Of elements that are alike, three are opened again.
        n_again = min(n_formats, 3 * len(formats))
        n_depths += n_open + n_again
        if name not in _INLINE:
            n_copies += n_again
            n_lists = max(n_lists + step, 0) if name in _LISTS else n_lists
            n_text += _INDENT * n_lists
            n_moved += 0 if is_end else n_text
    return n_depths > _MAX_DEPTHS or n_copies > _MAX_COPIES or n_moved > _MAX_MOVED_CHARACTERS


# ---------------------------------------------------------------------------------- content coding

_CODING = re.compile(rb"^content-encoding[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_BARE_DEFLATE = -zlib.MAX_WBITS
_LIMIT = MAX_PAGE_BYTES + 1


def _undo_codings(content: bytes, header: bytes) -> bytes | None:
    """Return what a payload is without its content coding (RFC 9110, 8.4.1).

    What does not have the coding that its header tells is taken as it is: tools have undone it.
    None if it is too long, or has a coding that cannot be undone here.
    """
    found = _CODING.search(header)
    codings = [] if found is None else found[1].decode("latin-1").lower().split(",")
    for coding in map(str.strip, reversed(codings)):
        if coding in ("", "identity", "none"):
            continue
        if coding not in ("gzip", "x-gzip", "deflate", "zstd", "br"):
            return None
        with suppress(zlib.error, zstandard.ZstdError, import_module("brotli").error):
            content = _undo_coding(content, coding)
        if len(content) > MAX_PAGE_BYTES:
            return None
    return content


def _undo_coding(content: bytes, coding: str) -> bytes:
    """Return the first bytes of what is coded, one more than a page may have."""
    if coding == "zstd":
        return zstandard.ZstdDecompressor().stream_reader(content).read(_LIMIT)
    if coding == "br":
        decoder = import_module("brotli").Decompressor()
        return bytes(decoder.process(content, output_buffer_limit=_LIMIT))
    try:
        return zlib.decompressobj(_GZIP_OR_ZLIB).decompress(content, _LIMIT)
    except zlib.error:
        return zlib.decompressobj(_BARE_DEFLATE).decompress(content, _LIMIT)
