"""The keys of all sets, a hash range after the other, worked on by all cores in bounded memory."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from crawlgauge.core.machine import count_processors
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import KEY_BITS, WHOLE, count_ranges
from crawlgauge.sources.remote import RemotePath, map_in_threads, wait_for
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import KeyReader, Keys

Part = tuple[int | None, Keys, Keys | None]
"""What `count_masks` takes of a set, or of an index."""

Progress = Callable[[int, int], None]

_KEYS_PER_RANGE = 1 << 21
"""Two million keys of all sets at a time, 16 MB: enough for what a range costs by itself, about a
millisecond, not to count."""

_MAX_WORKERS = 8
"""More threads would only wait for memory."""

_REQUESTS_AT_ONCE = 16

_Parts = TypeVar("_Parts")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class HashRange:
    """The keys that begin with certain bits.

    Parameters
    ----------
    number
        The bits, as a number.
    bits
        How many they are.
    """

    number: int
    bits: int

    @property
    def width(self) -> int:
        """How many bits tell its keys apart."""
        return KEY_BITS - self.bits

    @property
    def low(self) -> int:
        """Least key."""
        return self.number << self.width

    @property
    def high(self) -> int:
        """What all keys are below."""
        return (self.number + 1) << self.width


def choose_range_bits(sets: Sequence[CrawlSet], n_more: int = 0) -> int:
    """Return how many leading bits cut the keys of sets into ranges that are worked on at once.

    Parameters
    ----------
    sets
        The sets; of a sample it counts how many keys the whole would have.
    n_more
        How many keys there are beside theirs.
    """
    n_as_whole = sum(item.crawl.n_counted * WHOLE // item.threshold for item in sets) + n_more
    return max(0, (n_as_whole - 1) // _KEYS_PER_RANGE).bit_length()


class SetReaders:
    """Reads the same range of several sets; an error names the crawl.

    Parameters
    ----------
    sets
        The sets. Those on the disk are mapped, and hold no file open.

    Raises
    ------
    StoreError
        If a set cannot be read.
    """

    def __init__(self, sets: Sequence[CrawlSet]) -> None:
        self._readers: list[tuple[str, KeyReader]] = []
        self._is_remote = any(isinstance(item.folder, RemotePath) for item in sets)
        for item in sets:
            with _naming(item.crawl.label):
                self._readers.append((item.crawl.label, KeyReader(item)))

    def between(self, low: int, high: int) -> list[Keys]:
        """Return the keys of each set from `low` on and below `high`; to be asked in rising order.

        Raises
        ------
        StoreError
            If a set is damaged, or cannot be read.
        """

        def read(item: tuple[str, KeyReader]) -> Keys:
            with _naming(item[0]):
                return item[1].between(low, high)

        if not self._is_remote:
            return list(map(read, self._readers))
        with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
            return list(map_in_threads(pool, read, self._readers))


@contextmanager
def _naming(label: str) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        message = f"crawl {label!r} cannot be counted: {error}"
        if not isinstance(error.__cause__, OSError):
            # What the system refuses to read may be whole: nobody shall be led to delete it.
            message += f". To count the others without it, take it out: crawlgauge remove {label}"
        raise StoreError(message) from error


def work_on_ranges(
    read: Callable[[int, int], _Parts],
    range_bits: int,
    bounds: tuple[int, int],
    work: Callable[[_Parts, HashRange], _Result],
    progress: Progress | None = None,
    n_workers: int | None = None,
) -> Iterator[tuple[HashRange, _Result]]:
    """Yield what was found in each range, in rising order, while later ones are worked on.

    Parameters
    ----------
    read
        Told the least key and what all are below, returns what is to be worked on.
    range_bits
        How many leading bits tell ranges apart.
    bounds
        The least key, and what all are below.
    work
        What a thread does with that.
    progress
        Called with how many of how many ranges are done.
    n_workers
        How many threads work; one for each core if not given.
    """
    low, high = bounds
    numbers = range(low >> (KEY_BITS - range_bits), count_ranges(range_bits, high))
    n_workers = n_workers or min(_MAX_WORKERS, count_processors())
    running: deque[tuple[HashRange, Future[_Result]]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        for number in numbers:
            where = HashRange(number=number, bits=range_bits)
            parts = read(max(low, where.low), min(high, where.high))
            running.append((where, pool.submit(work, parts, where)))
            # What is read and not yet worked on takes memory.
            while len(running) > (n_workers if where.number != numbers[-1] else 0):
                there, done = running.popleft()
                yield there, wait_for(done)
                if progress is not None:
                    progress(there.number - numbers.start + 1, len(numbers))
