"""URLs and their SURT keys for numbered URLs, written into a buffer by compiled code.

Hosts are drawn by a power law. The same number always gives the same key; the URL under which a
crawl found it may differ in what canonical forms ignore: scheme, ``www.``, capitals, the order of
the query, session ids.
"""

from dataclasses import dataclass

import numba
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from archives.mixing import draw, mix
from archives.words import HOSTS, PARAMETERS, SECTIONS, SUFFIXES, TLDS, Words

__all__ = ["MAX_BYTES", "Namer", "write_decimal", "write_text"]

MAX_BYTES = 400
"""Longer than any URL or key that is made here."""

NAMES_AT_A_TIME = 1 << 14
"""So that the buffer stays in the processor's cache."""

URLS_PER_HOST = 200
SHARE_WITH_QUERY, SHARE_WITH_SESSION, SHARE_WITHOUT_WWW, SHARE_MOVED = 0.25, 0.01, 0.3, 0.6
HOST, MOVE, SESSION, PARTS = (np.uint64(stream << 40) for stream in range(1, 5))
ALL_WORDS: tuple[Words, ...] = (TLDS, HOSTS, SECTIONS, SUFFIXES, PARAMETERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Namer:
    """Names the URLs of an archive.

    Parameters
    ----------
    n_hosts
        Over which they are spread; the k-th host has a share that is proportional to 1/k.
    """

    n_hosts: int

    @classmethod
    def for_population(cls, population: int) -> "Namer":
        """Return the namer for a population: the larger, the more hosts."""
        return cls(n_hosts=max(20, population // URLS_PER_HOST))

    def urls(self, numbers: NDArray[np.uint64], crawl: int) -> pa.Array:
        """Return the URLs as a crawl found them."""
        return self._name(numbers, crawl, as_key=False)

    def keys(self, numbers: NDArray[np.uint64]) -> pa.Array:
        """Return the URLs' keys, by which indexes are sorted."""
        return self._name(numbers, 0, as_key=True)

    def _name(self, numbers: NDArray[np.uint64], crawl: int, *, as_key: bool) -> pa.Array:
        return pa.concat_arrays(
            [
                self._name_block(numbers[first : first + NAMES_AT_A_TIME], crawl, as_key=as_key)
                for first in range(0, max(1, numbers.size), NAMES_AT_A_TIME)
            ]
        )

    def _name_block(self, numbers: NDArray[np.uint64], crawl: int, *, as_key: bool) -> pa.Array:
        data = np.empty(numbers.size * MAX_BYTES, dtype=np.uint8)
        offsets = np.zeros(numbers.size + 1, dtype=np.int32)
        end = _write_names(numbers, crawl, self.n_hosts, as_key, ALL_WORDS, data, offsets)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data[:end].tobytes())]
        return pa.Array.from_buffers(pa.binary(), numbers.size, buffers)


@numba.njit(cache=True)
def _write_names(
    numbers: NDArray[np.uint64],
    crawl: int,
    n_hosts: int,
    as_key: bool,
    words: tuple[Words, ...],
    data: NDArray[np.uint8],
    offsets: NDArray[np.int32],
) -> int:
    end = 0
    for position in range(numbers.size):
        number = numbers[position]
        # Floor of a log-uniform number: the k-th host with a probability of about 1/k.
        host = np.uint64(np.exp(draw(number, HOST) * np.log(n_hosts)))
        if as_key:
            end = _write_host_key(host, words, data, end)
        else:
            end = _write_origin(host, crawl, words, data, end)
        end = _write_path(number, as_key, words, data, end)
        if draw(number, PARTS) < SHARE_WITH_QUERY:
            end = _write_query(number, crawl, as_key, words, data, end)
        offsets[position + 1] = end
    return end


@numba.njit(cache=True)
def _write_host_key(
    host: np.uint64, words: tuple[Words, ...], data: NDArray[np.uint8], end: int
) -> int:
    bits = mix(host)
    end = write_word(words[0], bits, data, end)
    data[end] = 44  # ,
    end = _write_domain(host, words, data, end + 1)
    data[end], data[end + 1] = 41, 47  # )/
    return end + 2


@numba.njit(cache=True)
def _write_origin(
    host: np.uint64, crawl: int, words: tuple[Words, ...], data: NDArray[np.uint8], end: int
) -> int:
    """Write scheme and host: most hosts move from http to https between two of the crawls."""
    bits = mix(host)
    is_secure = draw(host, MOVE) < SHARE_MOVED and draw(host, MOVE + np.uint64(1)) * 20 < crawl
    data[end], data[end + 1], data[end + 2], data[end + 3] = 104, 116, 116, 112
    end += 4
    if is_secure:
        data[end] = 115
        end += 1
    data[end], data[end + 1], data[end + 2] = 58, 47, 47  # ://
    end += 3
    if draw(host, MOVE + np.uint64(2)) > SHARE_WITHOUT_WWW:
        data[end], data[end + 1], data[end + 2], data[end + 3] = 119, 119, 119, 46
        end += 4
    end = _write_domain(host, words, data, end)
    data[end] = 46  # .
    end = write_word(words[0], bits, data, end + 1)
    data[end] = 47
    return end + 1


@numba.njit(cache=True)
def _write_domain(
    host: np.uint64, words: tuple[Words, ...], data: NDArray[np.uint8], end: int
) -> int:
    end = write_word(words[1], mix(host) >> np.uint64(20), data, end)
    data[end] = 45  # -
    return write_base36(host, data, end + 1)


@numba.njit(cache=True)
def _write_path(
    number: np.uint64, as_key: bool, words: tuple[Words, ...], data: NDArray[np.uint8], end: int
) -> int:
    bits = mix(number ^ PARTS)
    start = end
    for _ in range(1 + bits % np.uint64(3)):
        bits = mix(bits)
        end = write_word(words[2], bits, data, end)
        data[end] = 47
        end += 1
    end = write_word(words[2], bits >> np.uint64(16), data, end)
    data[end] = 45
    end = write_base36(number, data, end + 1)
    end = write_word(words[3], bits >> np.uint64(32), data, end)
    if as_key:
        for position in range(start, end):
            if 65 <= data[position] <= 90:
                data[position] += 32
    return end


@numba.njit(cache=True)
def _write_query(
    number: np.uint64,
    crawl: int,
    as_key: bool,
    words: tuple[Words, ...],
    data: NDArray[np.uint8],
    end: int,
) -> int:
    """Write two parameters: sorted in the key, in either order and with a session in the URL."""
    bits = mix(number + PARTS)
    first = np.uint64(bits % np.uint64(2))  # id or lang
    second = np.uint64(2) + (bits >> np.uint64(8)) % np.uint64(3)  # page, sort or view
    is_swapped = not as_key and (bits >> np.uint64(16)) % np.uint64(2) == 0
    data[end] = 63  # ?
    end = _write_parameter(second if is_swapped else first, bits, words, data, end + 1)
    data[end] = 38  # &
    end = _write_parameter(first if is_swapped else second, bits, words, data, end + 1)
    if not as_key and draw(number, SESSION) < SHARE_WITH_SESSION * 4:
        end = write_text(b"&PHPSESSID=", data, end)
        session = mix(number + np.uint64(crawl))
        for position in range(32):
            digit = (session >> np.uint64(position * 2 % 60)) & np.uint64(15)
            data[end + position] = digit + (48 if digit < 10 else 87)
        end += 32
    return end


@numba.njit(cache=True)
def _write_parameter(
    name: np.uint64, bits: np.uint64, words: tuple[Words, ...], data: NDArray[np.uint8], end: int
) -> int:
    end = write_word(words[4], name, data, end)
    data[end] = 61  # =
    return write_decimal((bits >> (np.uint64(24) + name)) % np.uint64(1000), data, end + 1)


@numba.njit(cache=True)
def write_word(words: Words, choice: np.uint64, data: NDArray[np.uint8], end: int) -> int:
    """Write the word that a number chooses; return where it ends."""
    text, starts = words
    word = int(choice % np.uint64(starts.size - 1))
    for position in range(starts[word], starts[word + 1]):
        data[end] = text[position]
        end += 1
    return end


@numba.njit(cache=True)
def write_text(text: bytes, data: NDArray[np.uint8], end: int) -> int:
    """Write a text; return where it ends."""
    for position in range(len(text)):
        data[end + position] = text[position]
    return end + len(text)


@numba.njit(cache=True)
def write_base36(number: np.uint64, data: NDArray[np.uint8], end: int) -> int:
    """Write a number with digits and letters; return where it ends."""
    return _write_number(number, np.uint64(36), data, end)


@numba.njit(cache=True)
def write_decimal(number: np.uint64, data: NDArray[np.uint8], end: int) -> int:
    """Write a decimal number; return where it ends."""
    return _write_number(number, np.uint64(10), data, end)


@numba.njit(cache=True)
def _write_number(number: np.uint64, base: np.uint64, data: NDArray[np.uint8], end: int) -> int:
    n_digits, rest = 1, number // base
    while rest:
        n_digits += 1
        rest //= base
    for position in range(end + n_digits - 1, end - 1, -1):
        digit = number % base
        data[position] = digit + (np.uint64(48) if digit < np.uint64(10) else np.uint64(87))
        number //= base
    return end + n_digits
