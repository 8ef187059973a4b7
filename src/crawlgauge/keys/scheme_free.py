"""The rule ``scheme-free``: what an HTTP client asks for, whether over http or https.

Nothing is done that could make one of two resources: letter case of the path, ``www``, the order
of the query and escapes all stay.
"""

import re

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.xxh64 import xxh64
from crawlgauge.words import copy_bytes, find_byte

__all__ = ["canonical_scheme_free", "hash_scheme_free"]

_AT, _CLOSE, _COLON, _HASH = 0x40, 0x5D, 0x3A, 0x23
_MARK, _OPEN, _SLASH = 0x3F, 0x5B, 0x2F
_BLANK = bytes(range(0x21))
_URL = re.compile(rb"([a-z][a-z0-9+.-]*)://([^/?]*)(.*)", re.IGNORECASE | re.DOTALL)
_DEFAULT_PORTS = {
    b"http": re.compile(rb"(\[[^\]]*\]|(?!\[)[^:]*):80"),
    b"https": re.compile(rb"(\[[^\]]*\]|(?!\[)[^:]*):443"),
}


def canonical_scheme_free(url: bytes) -> bytes:
    """Return the canonical form of a URL: the readable twin of `hash_scheme_free`.

    Examples
    --------
    >>> canonical_scheme_free(b"HTTPS://www.Example.org:443#top")
    b'www.example.org/'
    >>> canonical_scheme_free(b"http://example.org/A?b=%7E")
    b'example.org/A?b=%7E'
    >>> canonical_scheme_free(b"FTP://Example.org/A")
    b'ftp://example.org/A'
    """
    text = url.split(b"#", 1)[0].strip(_BLANK)
    found = _URL.fullmatch(text)
    if found is None:
        return text
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    userinfo, at, host = authority.rpartition(b"@")
    host = host.lower()
    if scheme not in _DEFAULT_PORTS:
        return scheme + b"://" + userinfo + at + host + rest
    if default := _DEFAULT_PORTS[scheme].fullmatch(host):
        host = default[1]
    slash = b"" if rest.startswith(b"/") else b"/"
    return userinfo + at + host + slash + rest


@compiled
def hash_scheme_free(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    keys: NDArray[np.uint64],
) -> None:
    """Fill `keys` with the hashes of the URLs' canonical forms.

    Parameters
    ----------
    data, starts, ends
        URL k is ``data[starts[k]:ends[k]]``.
    keys
        Filled, one for each URL.
    """
    longest = 0
    for url in range(keys.size):
        longest = max(longest, ends[url] - starts[url])
    form = np.empty(longest + 1, dtype=np.uint8)
    for url in range(keys.size):
        start = int(np.int64(starts[url]))
        end = find_byte(data, start, int(np.int64(ends[url])), _HASH)
        while start < end and data[start] <= 0x20:
            start += 1
        while end > start and data[end - 1] <= 0x20:
            end -= 1
        authority = _find_authority(data, start, end)
        if authority < 0:
            keys[url] = xxh64(data, start, end)
        else:
            length = _write(data, start, authority, end, form)
            keys[url] = xxh64(form, 0, length)


@compiled
def _find_authority(data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the place after a scheme and ``://``, or -1."""
    place = start
    while place < end:
        byte = data[place]
        letter = byte | 0x20
        is_letter = 0x61 <= letter <= 0x7A
        is_other = 0x30 <= byte <= 0x39 or byte == 0x2B or byte == 0x2D or byte == 0x2E
        if not is_letter and (place == start or not is_other):
            break
        place += 1
    if place == start or place + 3 > end or data[place] != _COLON:
        return -1
    return place + 3 if data[place + 1] == _SLASH and data[place + 2] == _SLASH else -1


@compiled
def _write(
    data: NDArray[np.uint8], start: int, authority: int, end: int, form: NDArray[np.uint8]
) -> int:
    """Write the form of a URL with an authority; return its length."""
    default_port = _default_port(data, start, authority)
    length = 0
    if default_port == 0:
        length = _write_lower(data, start, authority, form, length)
    rest = authority
    host = authority
    while rest < end and data[rest] != _SLASH and data[rest] != _MARK:
        if data[rest] == _AT:
            host = rest + 1
        rest += 1
    copy_bytes(data, authority, host, form, length)
    length += host - authority
    host_end = _find_host_end(data, host, rest, default_port)
    length = _write_lower(data, host, host_end, form, length)
    if default_port and (rest == end or data[rest] != _SLASH):
        form[length] = _SLASH
        length += 1
    copy_bytes(data, rest, end, form, length)
    return length + end - rest


@compiled
def _default_port(data: NDArray[np.uint8], start: int, authority: int) -> int:
    """Return 80 for http, 443 for https and 0 for other schemes."""
    n_letters = authority - 3 - start
    if n_letters != 4 and n_letters != 5:
        return 0
    for number, letter in enumerate((0x68, 0x74, 0x74, 0x70, 0x73)):
        if number < n_letters and data[start + number] | 0x20 != letter:
            return 0
    return 80 if n_letters == 4 else 443


@compiled
def _write_lower(
    data: NDArray[np.uint8], start: int, end: int, form: NDArray[np.uint8], length: int
) -> int:
    for place in range(start, end):
        byte = data[place]
        form[length] = byte | 0x20 if 0x41 <= byte <= 0x5A else byte
        length += 1
    return length


@compiled
def _find_host_end(data: NDArray[np.uint8], host: int, end: int, default_port: int) -> int:
    """Return where the colon of a default port stands, or `end`."""
    colon = find_byte(data, host, end, _COLON)
    if host < end and data[host] == _OPEN:
        # The colons of an IPv6 address stand in brackets.
        colon = find_byte(data, host, end, _CLOSE) + 1
    n_digits = end - colon - 1
    if (n_digits != 2 and n_digits != 3) or data[colon] != _COLON:
        return end
    port = 0
    for place in range(colon + 1, end):
        if not 0x30 <= data[place] <= 0x39:
            return end
        port = port * 10 + data[place] - 0x30
    is_default = port == default_port and n_digits == (2 if port == 80 else 3)
    return colon if is_default else end
