"""The host that a URL or an index key names: the readable reference, exact and never in a hurry.

It is the host of the rule ``surt``, written as people write it: two spellings of a URL that are
one URL to that rule have one host. The compiled twin in `host_kernel` agrees with it or leaves
the URL to it.
"""

import functools
import re

from crawlgauge.keys.surt import canonical_surt
from crawlgauge.keys.surt_host import canonical_host

__all__ = ["MAX_HOST_BYTES", "host_of_capture", "host_of_key", "host_of_url"]

MAX_HOST_BYTES = 253
"""No name that the domain name system resolves is longer (RFC 1035, without the last dot)."""

_BLANK = bytes(range(0x21))
_STRAY = b"\t\n\r"
_NO_KEY = b"-"
_N_CACHED = 1 << 12
# A second scheme would be taken for the first one, if that is followed by slashes.
_DECISIVE = re.compile(rb"(?:https?|ftps?)://(?!http)[^\x00-\x20/?#]+(?=[/?])", re.IGNORECASE)
"""With such a beginning nothing that follows has a say in which host it is."""


def host_of_capture(url: bytes | None, key: bytes | None) -> bytes:
    """Return the host of a capture by its URL, or by its index key where it has no URL.

    Parameters
    ----------
    url, key
        As the input has them; None or empty where it has none.

    Examples
    --------
    >>> host_of_capture(b"https://www.example.org/a", b"com,other)/")
    b'example.org'
    >>> host_of_capture(None, b"org,example)/a")
    b'example.org'
    """
    if not url:
        return host_of_key(key or b"")
    # Captures of one host come in numbers, and what is left to the reference is slow.
    decisive = _DECISIVE.match(url)
    return host_of_url(url) if decisive is None else _host_of_beginning(decisive[0])


def host_of_url(url: bytes) -> bytes:
    """Return the host of a URL, or nothing if it has none that could ever be resolved.

    Parameters
    ----------
    url
        Any bytes.

    Returns
    -------
    bytes
        In lower case and ASCII, without userinfo, port, leading ``www`` and trailing dots; IPv4
        addresses as four numbers, IPv6 addresses in brackets with all groups.

    Examples
    --------
    >>> host_of_url(b"HTTPS://user@WWW2.Example.org.:8080/path")
    b'example.org'
    >>> host_of_url("http://bücher.ch/".encode())
    b'xn--bcher-kva.ch'
    >>> host_of_url(b"http://0x7f.1/"), host_of_url(b"http://[::1]:80/")
    (b'127.0.0.1', b'[0:0:0:0:0:0:0:1]')
    >>> host_of_url(b"mailto:somebody@example.org")
    b''
    """
    form = canonical_surt(url)
    # Without a host the form is the URL's text, which may have a parenthesis of its own.
    text = url.split(b"#", 1)[0].translate(None, _STRAY).strip(_BLANK).lower()
    return b"" if form in (text, b"-") else _write(_cut(form.partition(b")")[0]))


def host_of_key(key: bytes) -> bytes:
    """Return the host that an index key names, as `host_of_url` does.

    Parameters
    ----------
    key
        A SURT as any program writes it, or the massaged URL of older indexes.

    Examples
    --------
    >>> host_of_key(b"org,example,www:8080)/path")
    b'example.org'
    >>> host_of_key(b"http://(org,example,)/path")
    b'example.org'
    >>> host_of_key(b"example.org/path")
    b'example.org'
    """
    if key == _NO_KEY:
        return b""
    surt, closing, _ = key.partition(b")")
    opened = surt.rpartition(b"(")[2]
    if not closing or b"/" in opened or b"?" in opened:
        return host_of_url(key)
    labels = _cut(opened).split(b",")
    return _write(canonical_host(b".".join(reversed(labels))))


def _cut(authority: bytes) -> bytes:
    """Take port and userinfo away, which stand behind the host of a SURT."""
    if authority.startswith(b"["):
        host, bracket, _ = authority.partition(b"]")
        return host + bracket
    return authority.partition(b"@")[0].partition(b":")[0]


def _write(host: bytes) -> bytes:
    """Write the host of a SURT as in a URL."""
    dotted = b".".join(reversed(host.split(b",")))
    return dotted if len(dotted) <= MAX_HOST_BYTES else b""


_host_of_beginning = functools.lru_cache(_N_CACHED)(host_of_url)
