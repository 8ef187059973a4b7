"""The host of a SURT: lower-case labels, from the top-level domain down.

Each step is a rule of its own: what two spellings of a host have in common is what a browser
would connect to.
"""

import ipaddress
import re
import unicodedata

from crawlgauge.keys.percent import escape, unescape

__all__ = ["canonical_host"]

_MAX_IDN_LABEL = 63
_WWW = re.compile(rb"www[0-9]{0,3}")
_NUMBER = re.compile(rb"0x[0-9a-f]*|[0-9]+")
_MAX_NUMBER_DIGITS = 16
# These mean something in a SURT or in a URL, or are no part of any host.
_NOT_IN_HOST = b'"#()*,/:<>?@[\\]^`{|}'

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

    Parameters
    ----------
    host
        Between userinfo and port, as the URL has it.

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
    labels = _strip_www(_split(host))
    labels = _read_ipv4(labels) or labels
    return b",".join(escape(label, also=_NOT_IN_HOST).lower() for label in reversed(labels))


def _read_ipv6(host: bytes) -> bytes:
    """Write all eight groups: which of them are zero, or how they were written, is no matter."""
    try:
        address = ipaddress.IPv6Address(host.decode("ascii").removeprefix("[").removesuffix("]"))
    except ValueError:
        return b""
    packed = address.packed
    groups = (packed[place : place + 2].hex().lstrip("0") or "0" for place in range(0, 16, 2))
    return f"[{':'.join(groups)}]".encode()


def _split(host: bytes) -> list[bytes]:
    """Return the labels in lower case, international ones in ASCII, without empty ones."""
    text = unescape(host)
    # A wide percent sign folds to a plain one, which may make an escape again.
    while (plain := unescape(_to_ascii(text))) != text:
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
    numbers = [_read_number(label) for label in labels]
    *leading, last = numbers
    if any(not 0 <= number < 256 for number in leading):
        return []
    n_last = 4 - len(leading)
    if not 0 <= last < 256**n_last:
        return []
    return [b"%d" % number for number in (*leading, *last.to_bytes(n_last, "big"))]


def _read_number(text: bytes) -> int:
    """Read a decimal, octal (``017``) or hexadecimal (``0xf``) number; -1 if it is none."""
    if text.startswith(b"0x"):
        digits, base = text[2:], 16
    elif text.startswith(b"0"):
        digits, base = text[1:], 8
    else:
        digits, base = text, 10
    digits = digits.lstrip(b"0") or b"0"
    if len(digits) > _MAX_NUMBER_DIGITS:
        return -1
    try:
        return int(digits, base)
    except ValueError:
        return -1
