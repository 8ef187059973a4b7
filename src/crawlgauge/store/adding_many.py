"""Add several crawls, some at the same time, as if they were added one after the other."""

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

from crawlgauge.processors import count_processors
from crawlgauge.remote.interruption import interruptible
from crawlgauge.sources.inputs import can_be_reread
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.store.adding import WhenPresent, add_to_store
from crawlgauge.store.catalogue import Store
from crawlgauge.store.choices import Choices
from crawlgauge.store.crawl_list import ListedCrawl
from crawlgauge.store.making import Addition
from crawlgauge.store.memory import MIN_MEMORY

__all__ = ["add_all"]

_MAX_AT_ONCE = 4
"""What is done between compiled kernels is done by one thread at a time."""


def add_all(
    store: Store,
    crawls: Sequence[ListedCrawl],
    *,
    choices: Choices,
    when_present: WhenPresent = "refuse",
    progress: ReadingProgress | None = None,
    on_added: Callable[[Addition], None] | None = None,
) -> tuple[Addition, ...]:
    """Read the files of several crawls and put their sets into the store.

    Crawls of few files are read at the same time, each by a thread; where a crawl has many files,
    these are.

    Parameters
    ----------
    store, choices, when_present, progress
        As for `add_to_store`; all crawls share the memory.
    crawls
        What to add, in order.
    on_added
        Called after each crawl, in order.

    Raises
    ------
    CrawlgaugeError
        As `add_to_store` does, for the first of the crawls that fails. Those before it are in the
        store, and those behind it may be.
    """
    n_at_once = _count_at_once(crawls, choices.memory)
    if n_at_once > 1:
        choices = replace(choices, memory=choices.memory // n_at_once, n_threads=0)

    def add_one(crawl: ListedCrawl, progress: ReadingProgress | None) -> Addition:
        return add_to_store(
            store,
            crawl.label,
            crawl.inputs,
            choices=choices,
            date=crawl.date,
            when_present=when_present,
            progress=progress,
        )

    additions = []
    # Closed at once, whatever happens: it adds in threads.
    with closing(_add_in_order(crawls, add_one, n_at_once, progress)) as added:
        for addition in added:
            additions.append(addition)
            if on_added is not None:
                on_added(addition)
    return tuple(additions)


def _add_in_order(
    crawls: Sequence[ListedCrawl],
    add_one: Callable[[ListedCrawl, ReadingProgress | None], Addition],
    n_at_once: int,
    progress: ReadingProgress | None,
) -> Generator[Addition, None, None]:
    if n_at_once == 1:
        yield from (add_one(crawl, progress) for crawl in crawls)
        return
    shared = ReadingProgress() if progress is None else progress
    must_stop = threading.Event()

    def check() -> None:
        if must_stop.is_set():
            raise _Stopped

    def add_interruptibly(crawl: ListedCrawl) -> Addition:
        with interruptible(check):
            return add_one(crawl, _Stoppable(shared, check))

    with ThreadPoolExecutor(n_at_once) as pool:
        jobs = [pool.submit(add_interruptibly, crawl) for crawl in crawls]
        try:
            yield from (job.result() for job in jobs)
        finally:
            # In the end there is nothing left to stop, unless one has failed or the user wants to.
            must_stop.set()
            for job in jobs:
                job.cancel()


def _count_at_once(crawls: Sequence[ListedCrawl], memory: int) -> int:
    if not all(can_be_reread(name) for crawl in crawls for name in crawl.inputs.names):
        # A thread that waits for a pipe cannot be interrupted.
        return 1
    n_files = max((len(crawl.inputs.names) for crawl in crawls), default=1)
    n_idle = count_processors() // n_files
    return max(1, min(n_idle, _MAX_AT_ONCE, memory // MIN_MEMORY, len(crawls)))


class _Stopped(Exception):  # noqa: N818 - nobody sees it
    """Another crawl has failed, or the user wants no more."""


class _Stoppable(ReadingProgress):
    """Tells how far one of several crawls has come to what all share, until that is to stop."""

    def __init__(self, shared: ReadingProgress, check: Callable[[], None]) -> None:
        super().__init__()
        self._shared = shared
        self._check = check

    def add_bytes(self, n_bytes: int) -> None:
        """Count bytes that were read."""
        self._check()
        self._shared.file = self.file
        self._shared.add_bytes(n_bytes)

    def add_captures(self, n_captures: int) -> None:
        """Count captures that were found."""
        self._shared.add_captures(n_captures)
