"""What captures are called by: the host and the media type of each, written in one way.

The host is that of the rule ``surt``, written as people write it: two spellings of a URL that are
one URL to that rule have one host.
"""

import functools
import re
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import NO_CODE
from crawlgauge.core.texts import TextTable
from crawlgauge.keys.surt import canonical_host, canonical_surt

_MAX_HOST_BYTES = 253
"""No name that the domain name system resolves is longer (RFC 1035, without the last dot)."""

_BLANK = bytes(range(0x21))
_STRAY = b"\t\n\r"
_NO_KEY = b"-"
_N_CACHED = 1 << 15
# A second scheme would be taken for the first one, if that is followed by slashes.
_DECISIVE = re.compile(rb"(?:https?|ftps?)://(?!http)[^\x00-\x20/?#]+(?=[/?])", re.IGNORECASE)
"""With such a beginning nothing that follows has a say in which host it is."""

_PLAIN_KEY = re.compile(rb"\([a-z][a-z0-9-]*(?:,(?!www[0-9]{0,3}\))[a-z0-9_-]+)+\)")
"""A host that is written in a key as in the canonical form."""

_MAX_TYPE_BYTES = 255
"""127 bytes on each side of the slash is what can be registered (RFC 6838)."""

UNKNOWN_TYPES = (b"-", b"unk", b"no-type", b"unknown", b"warc/revisit")
"""What indexes and logs write where the media type is not known, or not that of the page."""

_TYPE = re.compile(rb"[\x00-\x20]*([^\x00-\x20;,]*)")
_PRINTABLE = frozenset(range(0x21, 0x7F))


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

    Examples
    --------
    >>> host_of_url(b"HTTP://www.Example.org:8080/a?b")
    b'example.org'
    >>> host_of_url(b"mailto:somebody@example.org")
    b''
    """
    form = canonical_surt(url)
    # Without a host the form is the URL's text, which may have a parenthesis of its own.
    text = url.split(b"#", 1)[0].translate(None, _STRAY).strip(_BLANK).lower()
    return b"" if form in (text, b"-") else _host_of_form(form.partition(b")")[0])


_host_of_beginning = functools.lru_cache(_N_CACHED)(host_of_url)


def host_of_key(key: bytes) -> bytes:
    """Return the host that an index key names, as `host_of_url` does.

    Examples
    --------
    >>> host_of_key(b"org,example,www)/a")
    b'example.org'
    """
    if key == _NO_KEY:
        return b""
    surt, closing, _ = key.partition(b")")
    opened = surt.rpartition(b"(")[2]
    if not closing or b"/" in opened or b"?" in opened:
        return host_of_url(key)
    labels = _without_port(opened).split(b",")
    return _host_of_form(canonical_host(b".".join(reversed(labels))))


def _host_of_form(authority: bytes) -> bytes:
    """Write the host of a SURT as in a URL."""
    dotted = b".".join(reversed(_without_port(authority).split(b",")))
    return dotted if len(dotted) <= _MAX_HOST_BYTES else b""


def _without_port(authority: bytes) -> bytes:
    """Take port and userinfo away, which stand behind the host of a SURT."""
    if authority.startswith(b"["):
        host, bracket, _ = authority.partition(b"]")
        return host + bracket
    return authority.partition(b"@")[0].partition(b":")[0]


def canonical_type(text: bytes) -> bytes:
    """Return a media type in lower case and without parameters, or nothing if it tells none.

    Examples
    --------
    >>> canonical_type(b"Text/HTML; charset=utf-8")
    b'text/html'
    >>> canonical_type(b"unk")
    b''
    """
    match = _TYPE.match(text)
    kind = match[1].lower() if match else b""
    is_type = len(kind) <= _MAX_TYPE_BYTES and _PRINTABLE.issuperset(kind)
    return kind if is_type and kind not in UNKNOWN_TYPES else b""


class Names:
    """The hosts and media types of a crawl, and what its captures are grouped by, each numbered.

    Several threads may name at once.
    """

    def __init__(self) -> None:
        self.hosts, self.types, self.groups = TextTable(), TextTable(), TextTable()
        self._lock = threading.Lock()

    def name_hosts(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        """Return the codes of hosts, as the collector writes them."""
        return self._enter(self.hosts, map(_read_host, texts))

    def name_types(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        """Return the codes of media types, as inputs write them."""
        return self._enter(self.types, map(canonical_type, texts))

    def name_groups(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        """Return the codes of groups."""
        return self._enter(self.groups, texts)

    def _enter(self, table: TextTable, texts: "Sequence[bytes] | map[bytes]") -> NDArray[np.int32]:
        with self._lock:
            codes = [table.number(text) if text else NO_CODE for text in texts]
        return np.array(codes, np.int32)


@functools.lru_cache(_N_CACHED)
def _read_host(text: bytes) -> bytes:
    """Return a host that is written as in a key ``(org,example)``, a form or a URL."""
    if not text.endswith(b")"):
        return text
    if text.startswith(b"(") and not _PLAIN_KEY.fullmatch(text):
        return host_of_key(text[1:])
    return _host_of_form(text.strip(b"()"))
