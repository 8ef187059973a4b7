"""Find the URLs of a block of lines, in compiled code and without an object per line."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import VECTOR, count_bits, first_bit, load_word, match_byte

__all__ = [
    "ACCEPTED",
    "NO_HOST",
    "NO_SCHEME",
    "N_VERDICTS",
    "OTHER_SCHEME",
    "SKIPPED",
    "TOO_LONG",
    "count_newlines",
    "find_ends",
    "scan_lines",
]

ACCEPTED = 0
SKIPPED = 1
NO_SCHEME = 2
NO_HOST = 3
TOO_LONG = 4
OTHER_SCHEME = 5
N_VERDICTS = 6

_NEWLINE, _HASH, _SLASH, _COLON, _QUESTION, _LETTER_S = 0x0A, 0x23, 0x2F, 0x3A, 0x3F, 0x73
_ONE = np.uint64(1)
_WORD = 8
_HTTPS = np.uint64(int.from_bytes(b"https://", "little"))
_HTTP_ALONE = np.uint64(int.from_bytes(b"http://", "little"))
_SEVEN_BYTES = np.uint64((1 << 56) - 1)
_HTTP = np.frombuffer(b"http", dtype=np.uint8)
_FTP = np.frombuffer(b"ftp", dtype=np.uint8)


@compiled
def count_newlines(block: NDArray[np.uint8], start: int) -> int:
    """Return how many newlines a block has from a place on."""
    n_found, place = 0, start
    while place + VECTOR <= block.size:
        n_found += count_bits(match_byte(block, place, _NEWLINE))
        place += VECTOR
    while place < block.size:
        n_found += block[place] == _NEWLINE
        place += 1
    return n_found


@compiled
def find_ends(block: NDArray[np.uint8], line_ends: NDArray[np.int64]) -> None:
    """Fill in where each line of a block ends: the place of its newline, or the block's end.

    Parameters
    ----------
    block
        Whole lines.
    line_ends
        Filled, as many as there are lines.
    """
    line, place = 0, 0
    while place + VECTOR <= block.size:
        found = match_byte(block, place, _NEWLINE)
        while found:
            line_ends[line] = place + first_bit(found)
            line += 1
            found &= found - _ONE
        place += VECTOR
    while place < block.size:
        if block[place] == _NEWLINE:
            line_ends[line] = place
            line += 1
        place += 1
    if line < line_ends.size:
        line_ends[line] = block.size


@compiled
def _is_web_scheme(block: NDArray[np.uint8], start: int, end: int) -> bool:
    """Tell whether a scheme is one that crawlers fetch from: http, https, ftp or ftps."""
    if end > start and (block[end - 1] | 0x20) == _LETTER_S:
        end -= 1
    wanted = _HTTP if end - start == _HTTP.size else _FTP
    if end - start != wanted.size:
        return False
    for place in range(wanted.size):  # noqa: SIM110 - numba knows no generators
        if (block[start + place] | 0x20) != wanted[place]:
            return False
    return True


@compiled
def judge_line(block: NDArray[np.uint8], start: int, end: int, max_bytes: int) -> int:
    """Return the verdict on a line that is trimmed to ``start..end``."""
    if start == end or block[start] == _HASH:
        return SKIPPED
    if end - start > max_bytes:
        return TOO_LONG
    host = _find_usual_host(block, start, end)
    if host > start:
        return _judge_host(block, host, end)
    colon = start
    while colon < end:
        byte = block[colon]
        lower = byte | 0x20
        is_letter = 0x61 <= lower <= 0x7A
        is_later = 0x30 <= byte <= 0x39 or byte == 0x2B or byte == 0x2D
        if not (is_letter or (is_later and colon > start)):
            break
        colon += 1
    # A dot may stand in a scheme, but in practice it is a host without one (example.org:8080).
    if colon == start or colon == end or block[colon] != _COLON:
        return NO_SCHEME
    if colon + 2 >= end or block[colon + 1] != _SLASH or block[colon + 2] != _SLASH:
        return OTHER_SCHEME
    if not _is_web_scheme(block, start, colon):
        return OTHER_SCHEME
    return _judge_host(block, colon + 3, end)


@compiled
def _find_usual_host(block: NDArray[np.uint8], start: int, end: int) -> int:
    """Return where the host begins if the scheme is written as it mostly is; if not, `start`."""
    if end - start <= _WORD:
        return start
    word = load_word(block, start)
    if word == _HTTPS:
        return start + _WORD
    return start + _WORD - 1 if word & _SEVEN_BYTES == _HTTP_ALONE else start


@compiled
def _judge_host(block: NDArray[np.uint8], place: int, end: int) -> int:
    """Tell whether a host can begin at a place."""
    if place >= end:
        return NO_HOST
    first = block[place]
    is_end = first == _SLASH or first == _QUESTION or first == _HASH
    return NO_HOST if is_end or is_space(first) else ACCEPTED


@compiled
def scan_lines(
    block: NDArray[np.uint8],
    line_ends: NDArray[np.int64],
    max_bytes: int,
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    counts: NDArray[np.int64],
    examples: NDArray[np.int64],
) -> tuple[int, int]:
    """Find the URLs of a block and count what is left out.

    Parameters
    ----------
    block
        Whole lines.
    line_ends
        Where each line ends: the place of its newline, or the block's end.
    max_bytes
        Longest line that is taken.
    starts, ends
        Filled with where each URL is; as long as the lines.
    counts
        Added to: lines by verdict.
    examples
        Filled with line number, start, end and verdict of the first rejected lines.

    Returns
    -------
    tuple
        How many URLs and how many examples there are.
    """
    n_urls, n_examples, start = 0, 0, 0
    for line in range(line_ends.size):
        first, last = start, line_ends[line]
        start = last + 1
        while first < last and is_space(block[first]):
            first += 1
        while last > first and is_space(block[last - 1]):
            last -= 1
        verdict = judge_line(block, first, last, max_bytes)
        counts[verdict] += 1
        if verdict == ACCEPTED:
            starts[n_urls], ends[n_urls] = first, last
            n_urls += 1
        elif verdict != SKIPPED and n_examples < examples.shape[0] and verdict != OTHER_SCHEME:
            examples[n_examples, 0] = line
            examples[n_examples, 1] = first
            examples[n_examples, 2] = last
            examples[n_examples, 3] = verdict
            n_examples += 1
    return n_urls, n_examples
