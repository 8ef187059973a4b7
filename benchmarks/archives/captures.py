"""The captures of one crawl: which URLs, how often, when, and what was answered."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from archives.mixing import draw, mix
from archives.urn import is_2xx, list_captured

__all__ = ["CAPTURES_PER_URL", "MIMES", "STATUSES", "Captures", "join_captures", "list_captures"]

SHARE_REPEATED = 0.1
"""Of the URLs; a crawl captures them twice."""

CAPTURES_PER_URL = 1 + SHARE_REPEATED

SECONDS_PER_CRAWL = 30 * 86_400
STATUSES = ("200", "301", "302", "404", "403", "500")
MIMES = ("text/html", "text/html", "text/html", "application/pdf", "image/jpeg", "text/css")
REPEAT, TIME = np.uint64(7 << 32), np.uint64(8 << 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Captures:
    """Captures in order of their slots, a repeated one beside the first of its URL.

    Parameters
    ----------
    numbers
        Of the URLs.
    seconds
        Since the crawl began.
    status, mime
        Positions in `STATUSES` and `MIMES`.
    """

    numbers: NDArray[np.uint64]
    seconds: NDArray[np.int32]
    status: NDArray[np.int8]
    mime: NDArray[np.int8]

    def take(self, order: NDArray[np.int64]) -> "Captures":
        """Return the captures in another order."""
        return Captures(
            numbers=self.numbers[order],
            seconds=self.seconds[order],
            status=self.status[order],
            mime=self.mime[order],
        )


def list_captures(population: int, crawl: int) -> Iterator[Captures]:
    """Yield the captures of a crawl of the urn in blocks."""
    for urls in list_captured(population, crawl):
        numbers = np.repeat(urls, 1 + _are_repeated(urls, crawl))
        seconds = np.empty(numbers.size, dtype=np.int32)
        status = np.empty(numbers.size, dtype=np.int8)
        mime = np.empty(numbers.size, dtype=np.int8)
        _describe(numbers, crawl, seconds, status, mime)
        yield Captures(numbers=numbers, seconds=seconds, status=status, mime=mime)


def join_captures(parts: Iterable[Captures]) -> Captures:
    """Return several blocks as one."""
    blocks = list(parts)
    return Captures(
        numbers=np.concatenate([block.numbers for block in blocks]),
        seconds=np.concatenate([block.seconds for block in blocks]),
        status=np.concatenate([block.status for block in blocks]),
        mime=np.concatenate([block.mime for block in blocks]),
    )


@numba.njit(cache=True)
def _are_repeated(urls: NDArray[np.uint64], crawl: int) -> NDArray[np.bool_]:
    repeated = np.empty(urls.size, dtype=np.bool_)
    for position in range(urls.size):
        repeated[position] = draw(urls[position], REPEAT + np.uint64(crawl)) < SHARE_REPEATED
    return repeated


@numba.njit(cache=True)
def _describe(
    numbers: NDArray[np.uint64],
    crawl: int,
    seconds: NDArray[np.int32],
    status: NDArray[np.int8],
    mime: NDArray[np.int8],
) -> None:
    for position in range(numbers.size):
        number = numbers[position]
        time = draw(number, TIME + np.uint64(crawl))
        if position and numbers[position - 1] == number:
            time = (1 + time) / 2  # later than the first
        else:
            time /= 2
        seconds[position] = int(time * SECONDS_PER_CRAWL)
        choice = mix(number ^ TIME)
        status[position] = 0 if is_2xx(number) else 1 + choice % np.uint64(5)
        mime[position] = (choice >> np.uint64(8)) % np.uint64(6)
