"""A crawl as CDXJ index, as pywb and Common Crawl write it: sorted by key and time, gzip."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from archives.captures import MIMES, STATUSES, Captures
from archives.compressing import write_gzip
from archives.mixing import mix
from archives.names import MAX_BYTES, Namer, write_decimal, write_text, write_word
from archives.words import Words, pack

__all__ = ["sort_captures", "write_cdxj"]

LINES_AT_A_TIME = 1 << 14
OTHER_BYTES = 400
DAY_SECONDS = 86_400
MIME_WORDS, STATUS_WORDS = pack(" ".join(MIMES)), pack(" ".join(STATUSES))


def sort_captures(captures: Captures, namer: Namer) -> tuple[Captures, pa.Array]:
    """Return captures in the order of an index, and their keys."""
    keys = namer.keys(captures.numbers)
    # Sorting is stable, and a repeated capture stands after the first: times rise for each key.
    order = pa.compute.array_sort_indices(keys).to_numpy()
    return captures.take(order), keys.take(pa.array(order))


def write_cdxj(path: Path, captures: Captures, namer: Namer, crawl: int, begin: dt.date) -> int:
    """Write the index of a crawl; return its size when uncompressed."""
    ordered, keys = sort_captures(captures, namer)
    return write_gzip(path, _blocks(ordered, keys, namer, crawl, begin))


def _blocks(
    captures: Captures, keys: pa.Array, namer: Namer, crawl: int, begin: dt.date
) -> Iterator[bytes]:
    days = [begin + dt.timedelta(days=day) for day in range(31)]
    day_words = pack(" ".join(day.strftime("%Y%m%d") for day in days))
    data = np.empty(LINES_AT_A_TIME * (2 * MAX_BYTES + OTHER_BYTES), dtype=np.uint8)
    for first in range(0, captures.numbers.size, LINES_AT_A_TIME):
        part = slice(first, first + LINES_AT_A_TIME)
        numbers = captures.numbers[part]
        end = _write_lines(
            numbers,
            *_bytes_of(keys[part]),
            *_bytes_of(namer.urls(numbers, crawl)),
            captures.seconds[part],
            captures.status[part],
            captures.mime[part],
            (day_words, STATUS_WORDS, MIME_WORDS),
            data,
        )
        yield data[:end].tobytes()


def _bytes_of(strings: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    _, offsets, data = strings.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[strings.offset :][: len(strings) + 1]
    return np.frombuffer(data, dtype=np.uint8), starts


@numba.njit(cache=True)
def _write_lines(
    numbers: NDArray[np.uint64],
    keys: NDArray[np.uint8],
    key_starts: NDArray[np.int32],
    urls: NDArray[np.uint8],
    url_starts: NDArray[np.int32],
    seconds: NDArray[np.int32],
    status: NDArray[np.int8],
    mime: NDArray[np.int8],
    words: tuple[Words, Words, Words],
    data: NDArray[np.uint8],
) -> int:
    days, statuses, mimes = words
    end = 0
    for line in range(numbers.size):
        bits = mix(numbers[line] + np.uint64(3))
        end = _copy(keys, key_starts[line], key_starts[line + 1], data, end)
        data[end] = 32
        end = write_word(days, np.uint64(seconds[line] // DAY_SECONDS), data, end + 1)
        end = _write_time(seconds[line] % DAY_SECONDS, data, end)
        end = write_text(b' {"url": "', data, end)
        end = _copy(urls, url_starts[line], url_starts[line + 1], data, end)
        end = write_text(b'", "mime": "', data, end)
        end = write_word(mimes, np.uint64(mime[line]), data, end)
        end = write_text(b'", "status": "', data, end)
        end = write_word(statuses, np.uint64(status[line]), data, end)
        end = write_text(b'", "digest": "sha1:', data, end)
        end = _write_digest(bits, data, end)
        end = write_text(b'", "length": "', data, end)
        end = write_decimal(np.uint64(500) + bits % np.uint64(60_000), data, end)
        end = write_text(b'", "offset": "', data, end)
        end = write_decimal(bits >> np.uint64(34), data, end)
        end = write_text(b'", "filename": "ARCHIVE-20210612081502-000', data, end)
        end = write_decimal(np.uint64(10) + (bits >> np.uint64(20)) % np.uint64(90), data, end)
        end = write_text(b'-crawler03.example.org.warc.gz"}\n', data, end)
    return end


@numba.njit(cache=True)
def _copy(
    source: NDArray[np.uint8], start: int, stop: int, data: NDArray[np.uint8], end: int
) -> int:
    for position in range(start, stop):
        data[end] = source[position]
        end += 1
    return end


@numba.njit(cache=True)
def _write_time(second: int, data: NDArray[np.uint8], end: int) -> int:
    for part in (second // 3600, second // 60 % 60, second % 60):
        data[end], data[end + 1] = 48 + part // 10, 48 + part % 10
        end += 2
    return end


@numba.njit(cache=True)
def _write_digest(bits: np.uint64, data: NDArray[np.uint8], end: int) -> int:
    for position in range(32):
        if position % 12 == 0:
            bits = mix(bits + np.uint64(position))
        digit = bits >> np.uint64(5 * (position % 12)) & np.uint64(31)
        data[end + position] = digit + (np.uint64(65) if digit < 26 else np.uint64(24))
    return end + 32
