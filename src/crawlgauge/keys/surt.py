"""The rule ``surt``: the readable reference, exact for every URL and never in a hurry.

The form is the sort key of web archive indexes (``org,example)/path?query``), made by the rules
of the Internet Archive where they are sound; docs/url-identity.md shows each with an example.
The compiled twin in `surt_kernel` agrees with it or leaves the URL to it.
"""

import re

from crawlgauge.keys.percent import escape, unescape
from crawlgauge.keys.surt_host import canonical_host
from crawlgauge.keys.surt_path import canonical_path
from crawlgauge.keys.surt_query import canonical_query

__all__ = ["canonical_surt"]

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
_NOT_IN_PORT = b'"#()*,/:<>?@[\\]^`{|}'


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
    authority, path, query = _split_rest(rest)
    host, port = _split_authority(authority, scheme)
    if not host:
        return text.lower() or b"-"
    query = canonical_query(query)
    return host + port + b")" + canonical_path(path) + (b"?" + query if query else b"")


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


def _split_rest(rest: bytes) -> tuple[bytes, bytes, bytes]:
    before, _, query = rest.partition(b"?")
    authority, slash, path = before.partition(b"/")
    return authority, slash + path, query


def _split_authority(authority: bytes, scheme: bytes) -> tuple[bytes, bytes]:
    """Return the canonical host, and the port with its colon unless it is the default."""
    place = authority.rpartition(b"@")[2]
    if place.startswith(b"[") and b"]" in place:
        host, bracket, rest = place.partition(b"]")
        host, port = host + bracket, rest.removeprefix(b":")
    else:
        host, _, port = place.partition(b":")
    return canonical_host(host), _canonical_port(unescape(port), scheme)


def _canonical_port(port: bytes, scheme: bytes) -> bytes:
    digits = port.lstrip(b"0")
    if port.isdigit() and len(digits) <= 5 and int(digits or b"0") <= _MAX_PORT:
        number = int(digits or b"0")
        return b"" if number == _DEFAULT_PORTS.get(scheme) else b":%d" % number
    return port and b":" + escape(port, also=_NOT_IN_PORT).lower()
