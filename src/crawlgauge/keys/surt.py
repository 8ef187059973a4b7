"""The rule ``surt``: the readable reference, exact for every URL and never in a hurry.

The form is the sort key of web archive indexes (``org,example)/path?query``), made by the rules
of the Internet Archive where they are sound; docs/url-identity.md shows each with an example.
The compiled twin, `crawlgauge.core.urls`, agrees with it or leaves the URL to it.
"""

import ipaddress
import re
import unicodedata

_BLANK = bytes(range(0x21))
_STRAY = b"\t\n\r"
# A dot may stand in a scheme, but in practice it is a host without one (example.org:8080).
_SCHEME = re.compile(rb"([a-zA-Z][a-zA-Z0-9+-]*):")
_WEB_PREFIX = re.compile(rb"(https?):/*", re.IGNORECASE)
_WEB_TWICE = re.compile(rb"https?:/+(?=https?:/)", re.IGNORECASE)
_PORT_FOLLOWS = re.compile(rb"[0-9]{1,5}(?:[/?]|$)")
_RECORD_SCHEMES = (b"filedesc", b"warcinfo")
_DEFAULT_PORTS = {b"http": 80, b"https": 443, b"ftp": 21}
_MAX_PORT = 65535


def canonical_surt(url: bytes) -> bytes:
    """Return the canonical form of a URL.

    Parameters
    ----------
    url
        Any bytes.

    Returns
    -------
    bytes
        ``host,reversed)/path?query`` in lower case. What has no host keeps its text in lower
        case, and nothing at all becomes ``-``.

    Examples
    --------
    >>> canonical_surt(b"https://www.Example.org:443/A/../b/?z=1&a=%7E#top")
    b'org,example)/b?a=~&z=1'
    >>> canonical_surt(b"http://example.org:8080")
    b'org,example:8080)/'
    >>> canonical_surt(b"mailto:Somebody@example.org")
    b'mailto:somebody@example.org'
    """
    text = url.split(b"#", 1)[0].translate(None, _STRAY).strip(_BLANK)
    scheme, rest = _split_scheme(text)
    before, _, query = rest.partition(b"?")
    authority, slash, path = before.partition(b"/")
    host, port = _split_authority(authority, scheme)
    if not host:
        return text.lower() or b"-"
    query = _canonical_query(query)
    return host + port + b")" + _canonical_path(slash + path) + (b"?" + query if query else b"")


def _split_scheme(text: bytes) -> tuple[bytes, bytes]:
    """Return the scheme in lower case and what follows the slashes; nothing if no host can."""
    while twice := _WEB_TWICE.match(text):
        text = text[twice.end() :]
    if web := _WEB_PREFIX.match(text):
        return web[1].lower(), text[web.end() :]
    found = _SCHEME.match(text)
    if found is None or _PORT_FOLLOWS.match(text, found.end()):
        is_relative = text.startswith((b"/", b"?")) and not text.startswith(b"//")
        return b"http", b"" if is_relative else text.lstrip(b"/")
    scheme, rest = found[1].lower(), text[found.end() :]
    if scheme in _RECORD_SCHEMES or not rest.startswith(b"//"):
        return scheme, b""
    return scheme, rest[2:]


def _split_authority(authority: bytes, scheme: bytes) -> tuple[bytes, bytes]:
    """Return the canonical host, and the port with its colon unless it is the default."""
    place = authority.rpartition(b"@")[2]
    if place.startswith(b"[") and b"]" in place:
        host, bracket, rest = place.partition(b"]")
        host, port = host + bracket, rest.removeprefix(b":")
    else:
        host, _, port = place.partition(b":")
    return canonical_host(host), _canonical_port(_unescape(port), scheme)


def _canonical_port(port: bytes, scheme: bytes) -> bytes:
    digits = port.lstrip(b"0") or b"0"
    if port.isdigit() and len(digits) <= 5 and (number := int(digits)) <= _MAX_PORT:
        return b"" if number == _DEFAULT_PORTS.get(scheme) else b":%d" % number
    return port and b":" + _escape(port, _UNSAFE_IN_HOST).lower()


_MAX_IDN_LABEL = 63
_WWW = re.compile(rb"www[0-9]{0,3}")
_NUMBER = re.compile(rb"0x[0-9a-f]*|[0-9]+")
_BASES = {b"0x": 16, b"0": 8, b"": 10}
_MAX_NUMBER_DIGITS = 16

# The data of Unicode 3.2, which IDNA was made for, are part of every Python and never change.
_UNICODE = unicodedata.ucd_3_2_0
# Browsers keep these four today: fass.de and faß.de are two sites.
_KEPT = frozenset("ßς\u200c\u200d")
# RFC 3454, table B.1: commonly mapped to nothing.
_INVISIBLE = frozenset(
    "\u00ad\u034f\u1806\u180b\u180c\u180d\u200b\u2060\ufeff"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
)


def canonical_host(host: bytes) -> bytes:
    """Return the host part of a SURT, or nothing if there is no host.

    Examples
    --------
    >>> canonical_host(b"WWW.Example.org.")
    b'org,example'
    >>> canonical_host("bücher.ch".encode()) == canonical_host(b"xn--bcher-kva.ch")
    True
    >>> canonical_host(b"0x7f.1")
    b'1,0,0,127'
    >>> canonical_host(b"[::1]")
    b'[0:0:0:0:0:0:0:1]'
    """
    if host.startswith(b"["):
        address = _read_ipv6(host)
        if address:
            return address
    labels = _strip_www(_split_labels(host))
    labels = _read_ipv4(labels) or labels
    return b",".join(_escape(label, _UNSAFE_IN_HOST).lower() for label in reversed(labels))


def _read_ipv6(host: bytes) -> bytes:
    """Write all eight groups: which of them are zero, or how they were written, is no matter."""
    try:
        address = ipaddress.IPv6Address(host.decode("ascii").removeprefix("[").removesuffix("]"))
    except ValueError:
        return b""
    packed = address.packed
    groups = (packed[place : place + 2].hex().lstrip("0") or "0" for place in range(0, 16, 2))
    return f"[{':'.join(groups)}]".encode()


def _split_labels(host: bytes) -> list[bytes]:
    """Return the labels in lower case, international ones in ASCII, without empty ones."""
    text = _unescape(host)
    # A wide percent sign folds to a plain one, which may make an escape again.
    while (plain := _unescape(_to_ascii(text))) != text:
        text = plain
    return [label for label in text.lower().split(b".") if label]


def _to_ascii(host: bytes) -> bytes:
    if host.isascii():
        return host
    try:
        text = host.decode("utf-8")
    except UnicodeDecodeError:
        return host
    for _ in range(4):
        # Folding can give characters that fold further; it settles after the second time.
        text = _fold(text)
    return b".".join(_encode_label(label) for label in text.split("."))


def _fold(text: str) -> str:
    kept = (_fold_character(character) for character in text if character not in _INVISIBLE)
    return _UNICODE.normalize("NFKC", "".join(kept)).replace("。", ".")


def _fold_character(character: str) -> str:
    is_unknown = _UNICODE.category(character) == "Cn"
    return character if is_unknown or character in _KEPT else character.lower()


def _encode_label(label: str) -> bytes:
    # Encoding takes the square of the length, and no name may be longer.
    if label.isascii() or len(label) > _MAX_IDN_LABEL:
        return label.encode()
    return b"xn--" + label.encode("punycode")


def _strip_www(labels: list[bytes]) -> list[bytes]:
    """Take ``www`` and ``www2`` away as long as a name with a dot remains."""
    n_stripped = 0
    while len(labels) - n_stripped > 2 and _WWW.fullmatch(labels[n_stripped]):
        n_stripped += 1
    return labels[n_stripped:]


def _read_ipv4(labels: list[bytes]) -> list[bytes]:
    """Return the four numbers of an address in any form that browsers accept, or nothing."""
    if not 1 <= len(labels) <= 4 or not all(map(_NUMBER.fullmatch, labels)):
        return []
    *leading, last = map(_read_number, labels)
    if any(not 0 <= number < 256 for number in leading):
        return []
    n_last = 4 - len(leading)
    if not 0 <= last < 256**n_last:
        return []
    return [b"%d" % number for number in (*leading, *last.to_bytes(n_last, "big"))]


def _read_number(text: bytes) -> int:
    """Read a decimal, octal (``017``) or hexadecimal (``0xf``) number; -1 if it is none."""
    prefix, base = next(item for item in _BASES.items() if text.startswith(item[0]))
    digits = text.removeprefix(prefix).lstrip(b"0") or b"0"
    if len(digits) > _MAX_NUMBER_DIGITS:
        return -1
    try:
        return int(digits, base)
    except ValueError:
        return -1


_KEEP_IN_PATH = b"?"
"""In a path an escaped question mark is a character; a plain one would begin the query."""

_SERVLET_SESSION = re.compile(rb";jsessionid=[^;/]*")
_ASPX_SESSION = re.compile(rb"\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)")


def _canonical_path(path: bytes) -> bytes:
    """Return the path part of a SURT.

    Examples
    --------
    >>> _canonical_path(b"/a/./b/../%7Euser//Page.HTML")
    b'/a/~user/page.html'
    >>> _canonical_path(b"/shop.jsp;jsessionid=0123")
    b'/shop.jsp'
    """
    text = _escape(_unescape(path, keep=_KEEP_IN_PATH)).lower()
    text = _SERVLET_SESSION.sub(b"", text)
    return b"/" + b"/".join(_strip_sessions(_walk(text.split(b"/")[1:])))


def _walk(segments: list[bytes]) -> list[bytes]:
    """Follow ``.`` and ``..``, as RFC 3986 says; then leave out empty segments."""
    kept: list[bytes] = []
    for segment in segments:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    return [segment for segment in kept if segment]


def _strip_sessions(segments: list[bytes]) -> list[bytes]:
    """Leave out the session segments that ASP.NET puts before the name of a page."""
    if not any(segment.startswith(b"(") for segment in segments):
        return segments
    kept = []
    last_page = b"/".join(segments).rfind(b".aspx")
    place = 0
    for segment in segments:
        place += len(segment) + 1
        # At least one character must stand between the session and the page's ending.
        if last_page <= place or not _ASPX_SESSION.fullmatch(segment):
            kept.append(segment)
    return kept


_KEEP_IN_QUERY = b"&+"
"""In a query ``&`` and ``+`` separate and stand for a space; their escapes do not."""

_SESSION = re.compile(rb"(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}")
_COLD_FUSION = re.compile(rb"(cfid|cftoken)=.+", re.DOTALL)


def _canonical_query(query: bytes) -> bytes:
    """Return the query part of a SURT, without the question mark.

    Examples
    --------
    >>> _canonical_query(b"B=2&a=%31&PHPSESSID=0123456789abcdef0123456789abcdef")
    b'a=1&b=2'
    >>> _canonical_query(b"x=1&cfid=14&cftoken=72")
    b'x=1'
    """
    text = _escape(_unescape(query, keep=_KEEP_IN_QUERY)).lower()
    parameters = [item for item in text.split(b"&") if not _SESSION.fullmatch(item)]
    if len({found[1] for item in parameters if (found := _COLD_FUSION.match(item))}) > 1:
        parameters = [item for item in parameters if not _COLD_FUSION.match(item)]
    parameters.sort(key=_order)
    return b"&".join(parameters)


def _order(parameter: bytes) -> tuple[bytes, bool, bytes]:
    """Order by name, then no value before an empty one, then by value."""
    name, equals, value = parameter.partition(b"=")
    return name, bool(equals), value


_PERCENT = 0x25
_HEX = frozenset(b"0123456789abcdefABCDEF")
_UNSAFE = re.compile(rb"[^\x21-\x7e]|#|%(?![0-9A-Fa-f]{2})")
# These mean something in a SURT or in a URL, or are no part of any host.
_UNSAFE_IN_HOST = re.compile(_UNSAFE.pattern + rb'|["()*,/:<>?@\[\\\]^`{|}]')


def _unescape(text: bytes, keep: bytes = b"") -> bytes:
    """Replace ``%xx`` by its byte until none is left, but for the bytes in `keep`.

    Escapes cannot overlap, so the result does not depend on the order in which they are undone:
    one pass that looks back at what it has written finds all of them, however deep.

    Examples
    --------
    >>> _unescape(b"%41%2542%zz")
    b'AB%zz'
    >>> _unescape(b"a%26b%2D", keep=b"&")
    b'a%26b-'
    """
    if _PERCENT not in text:
        return text
    found = bytearray()
    for byte in text:
        found.append(byte)
        while len(found) >= 3 and found[-3] == _PERCENT and _HEX.issuperset(found[-2:]):
            value = int(found[-2:], 16)
            if value in keep:
                break
            del found[-3:]
            found.append(value)
    return bytes(found)


def _escape(text: bytes, unsafe: re.Pattern[bytes] = _UNSAFE) -> bytes:
    """Write as ``%xx`` what is no printable ASCII, number signs and lone percent signs.

    Examples
    --------
    >>> _escape(b"a b%zz%3F#")
    b'a%20b%25zz%3F%23'
    """
    return unsafe.sub(lambda found: b"%%%02x" % ord(found[0]), text)
