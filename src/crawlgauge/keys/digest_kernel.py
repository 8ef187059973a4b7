"""From a batch of digests to their 64-bit keys, in compiled code: `digest.canonical_digest`."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.keys.digest import ALGORITHMS, MIN_PLACEHOLDER
from crawlgauge.keys.xxh64 import xxh64
from crawlgauge.sources.header_kernel import name_table
from crawlgauge.sources.texts import Texts
from crawlgauge.sources.white_space import is_space

__all__ = ["DigestKeys", "compute_digest_keys", "hash_digests"]

_NAMES, _NAME_LENGTHS = name_table([name for name, _ in ALGORITHMS])
_SIZES = np.array([size for _, size in ALGORITHMS], dtype=np.int64)
_MAX_LABEL_BYTES = 16
_ROOM = 32
"""For a label and its colon, beside the digest itself."""
_COLON, _DASH, _UNDERSCORE, _EQUALS = 0x3A, 0x2D, 0x5F, 0x3D

_NO_DIGIT = 255


def _digit_table(*alphabets: bytes) -> NDArray[np.uint8]:
    """Return the value of each byte as a digit; the same digit may be written in several ways."""
    table = np.full(256, _NO_DIGIT, dtype=np.uint8)
    for alphabet in alphabets:
        for value, byte in enumerate(alphabet):
            table[byte] = value
    return table


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HEX = _digit_table(b"0123456789ABCDEF", b"0123456789abcdef")
_BASE32 = _digit_table(_LETTERS + b"234567", _LETTERS.lower() + b"234567")
_BASE64 = _digit_table(
    _LETTERS + _LETTERS.lower() + b"0123456789+/", _LETTERS + _LETTERS.lower() + b"0123456789-_"
)

DigestKeys = tuple[NDArray[np.uint64], NDArray[np.bool_]]
"""Keys, and whether each is of a digest; where it is not, the key means nothing."""


def compute_digest_keys(digests: Texts | None, n_captures: int) -> DigestKeys:
    """Return the key of each capture's digest: XXH64, seed 42, of its canonical form.

    Parameters
    ----------
    digests
        As the input has them; None if it has none.
    n_captures
        How many captures there are.
    """
    keys = np.zeros(n_captures, dtype=np.uint64)
    are_known = np.zeros(n_captures, dtype=np.bool_)
    if digests is not None and n_captures:
        hash_digests(digests.data, digests.starts, digests.ends, keys, are_known)
    return keys, are_known


@compiled
def hash_digests(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    keys: NDArray[np.uint64],
    are_known: NDArray[np.bool_],
) -> None:
    """Fill `keys` with the hashes of digests' canonical forms.

    Parameters
    ----------
    data, starts, ends
        Digest k is ``data[starts[k]:ends[k]]``; a start of −1 if there is none.
    keys, are_known
        Filled, one for each.
    """
    longest = 0
    for number in range(keys.size):
        longest = max(longest, int(np.int64(ends[number])) - int(np.int64(starts[number])))
    form = np.empty(longest + _ROOM, dtype=np.uint8)
    for number in range(keys.size):
        start, end = int(np.int64(starts[number])), int(np.int64(ends[number]))
        n_bytes = _write_form(data, start, end, form) if start >= 0 else 0
        are_known[number] = n_bytes > 0
        if n_bytes > 0:
            keys[number] = xxh64(form, 0, n_bytes)


@compiled
def _write_form(data: NDArray[np.uint8], start: int, end: int, form: NDArray[np.uint8]) -> int:
    """Write the canonical form of a digest and return its length; 0 if there is no digest."""
    start, end = _trim(data, start, end)
    colon = _find_label(data, start, end)
    n_label = 0
    if colon >= 0:
        for place in range(start, colon):
            byte = data[place]
            if byte != _DASH and byte != _UNDERSCORE:
                form[n_label] = byte | 0x20 if 0x41 <= byte <= 0x5A else byte
                n_label += 1
        start, end = _trim(data, colon + 1, end)
    while end > start and data[end - 1] == _EQUALS:
        end -= 1
    if _stands_for_none(data, start, end):
        return 0
    form[n_label] = _COLON
    algorithm = _find_algorithm(form, n_label)
    if algorithm != -2:
        for bits, digits in ((4, _HEX), (5, _BASE32), (6, _BASE64)):
            found = _find_size(end - start, bits, algorithm)
            if found >= 0 and _has_digits(data, start, end, digits):
                return _decode(data, start, end, bits, digits, found, form)
    return _keep(data, start, end, form, n_label + 1)


@compiled
def _trim(data: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    while start < end and is_space(data[start]):
        start += 1
    while end > start and is_space(data[end - 1]):
        end -= 1
    return start, end


@compiled
def _stands_for_none(data: NDArray[np.uint8], start: int, end: int) -> bool:
    if end - start <= 1:
        return start == end or data[start] == _DASH
    if end - start < MIN_PLACEHOLDER:
        return False
    place = start + 1
    while place < end and data[place] == data[start]:
        place += 1
    return place == end


@compiled
def _find_label(data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the place of the colon behind the name of an algorithm, or −1."""
    for place in range(start, min(end, start + _MAX_LABEL_BYTES + 1)):
        byte = data[place]
        if byte == _COLON:
            return place if place > start else -1
        is_letter = 0x61 <= (byte | 0x20) <= 0x7A
        is_other = 0x30 <= byte <= 0x39 or byte == _DASH or byte == _UNDERSCORE
        if not is_letter and not is_other:
            return -1
    return -1


@compiled
def _find_algorithm(form: NDArray[np.uint8], n_label: int) -> int:
    """Return the number of the algorithm that is named; −1 if none is, −2 if it is not known."""
    if n_label == 0:
        return -1
    for number in range(_SIZES.size):
        if _NAME_LENGTHS[number] != n_label:
            continue
        place = 0
        while place < n_label and form[place] == _NAMES[number, place]:
            place += 1
        if place == n_label:
            return number
    return -2


@compiled
def _find_size(n_digits: int, bits: int, algorithm: int) -> int:
    """Return the algorithm whose digests have so many digits of so many bits, or −1."""
    for number in range(_SIZES.size):
        if algorithm in (-1, number) and (8 * _SIZES[number] + bits - 1) // bits == n_digits:
            return number
    return -1


@compiled
def _has_digits(data: NDArray[np.uint8], start: int, end: int, digits: NDArray[np.uint8]) -> bool:
    place = start
    while place < end and digits[data[place]] != _NO_DIGIT:
        place += 1
    return place == end


@compiled
def _decode(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    bits: int,
    digits: NDArray[np.uint8],
    algorithm: int,
    form: NDArray[np.uint8],
) -> int:
    n_bytes = int(_NAME_LENGTHS[algorithm])
    for place in range(n_bytes):
        form[place] = _NAMES[algorithm, place]
    form[n_bytes] = _COLON
    n_bytes += 1
    last = n_bytes + int(_SIZES[algorithm])
    held, n_held = 0, 0
    for place in range(start, end):
        held = (held << bits) | int(digits[data[place]])
        n_held += bits
        if n_held >= 8 and n_bytes < last:
            n_held -= 8
            form[n_bytes] = (held >> n_held) & 0xFF
            n_bytes += 1
        held &= (1 << n_held) - 1
    return n_bytes


@compiled
def _keep(
    data: NDArray[np.uint8], start: int, end: int, form: NDArray[np.uint8], n_bytes: int
) -> int:
    """Write a digest of no known kind as it is, in lower case if it is hexadecimal."""
    is_hex = _has_digits(data, start, end, _HEX)
    for place in range(start, end):
        byte = data[place]
        form[n_bytes] = byte | 0x20 if is_hex and byte >= 0x41 else byte
        n_bytes += 1
    return n_bytes
