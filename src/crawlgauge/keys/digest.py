"""The rule ``digest``: a payload's digest as algorithm and bytes, however it is written."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.captures import hash_texts

_ALGORITHMS = {b"md5": 16, b"sha1": 20, b"sha224": 28, b"sha256": 32, b"sha384": 48, b"sha512": 64}
"""Names and lengths in bytes of the algorithms whose digests are decoded."""

_MIN_PLACEHOLDER = 16
"""So often the same digit stands in no digest; indexes write zeros or As where they have none."""

_SPACES = b" \t\n\v\f\r"
_LABEL = re.compile(rb"([A-Za-z0-9_-]{1,16}):(.*)", re.DOTALL)
_HEX = re.compile(rb"[0-9A-Fa-f]+")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_ENCODINGS: tuple[tuple[re.Pattern[bytes], int, Callable[[bytes], bytes]], ...] = (
    (_HEX, 4, binascii.unhexlify),
    (re.compile(rb"[A-Za-z2-7]+"), 5, lambda digits: base64.b32decode(digits, casefold=True)),
    (
        re.compile(rb"[A-Za-z0-9+/_-]+"),
        6,
        lambda digits: base64.b64decode(digits.translate(_URL_SAFE)),
    ),
)
"""The digits of Base16, Base32 and Base64, how many bits each stands for, and their meaning."""


def canonical_digest(text: bytes) -> bytes | None:
    """Return the canonical form of a digest, or None if it says that there is none.

    The form is the algorithm's name, a colon and the digest's bytes. Base16, Base32 and Base64
    are told apart by their lengths, and so is the algorithm where none is named. What is of no
    known algorithm or length keeps its text, in lower case if it is hexadecimal. A dash, nothing
    at all and one digit throughout stand for what is not known.

    Examples
    --------
    >>> hexadecimal = canonical_digest(b"SHA-1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709")
    >>> hexadecimal == canonical_digest(b"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
    True
    >>> canonical_digest(b"-") is None
    True
    """
    value = text.strip(_SPACES)
    labelled = _LABEL.fullmatch(value)
    label, rest = labelled.groups() if labelled else (b"", value)
    label = label.lower().replace(b"-", b"").replace(b"_", b"")
    digits = rest.strip(_SPACES).rstrip(b"=")
    if digits in (b"", b"-") or (len(digits) >= _MIN_PLACEHOLDER and len(set(digits)) == 1):
        return None
    found = _decode(label, digits)
    if found is None:
        return label + b":" + (digits.lower() if _HEX.fullmatch(digits) else digits)
    name, decoded = found
    return name + b":" + decoded


def _decode(label: bytes, digits: bytes) -> tuple[bytes, bytes] | None:
    """Return the algorithm and the bytes of a digest, if its length is that of an algorithm."""
    candidates = [item for item in _ALGORITHMS.items() if label in (b"", item[0])]
    for pattern, n_bits, decode in _ENCODINGS:
        for name, n_bytes in candidates:
            if len(digits) == -(-8 * n_bytes // n_bits) and pattern.fullmatch(digits):
                return name, decode(digits + b"=" * (-len(digits) % 8))
    return None


def digest_keys(texts: Sequence[bytes | None]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the keys of digests, and for each of the texts whether it is one.

    Parameters
    ----------
    texts
        Digests as inputs write them; None where there is none.

    Returns
    -------
    tuple
        Keys of those that are digests, in their order; and which are.
    """
    forms = [None if text is None else canonical_digest(text) for text in texts]
    are_known = np.array([form is not None for form in forms], np.bool_)
    return hash_texts([form for form in forms if form is not None]), are_known
