"""Read several inputs at once, each in one thread, without a trace of who was faster."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from crawlgauge.damage import Damage
from crawlgauge.remote.interruption import interruptible
from crawlgauge.sources.captures import Captures

if TYPE_CHECKING:
    from crawlgauge.provenance import Input

__all__ = ["InputReading", "ReadingThreads", "StoppedReading"]

_MAX_QUEUED_BYTES = 1 << 25
"""A few batches: enough that nobody waits long for another, and little beside all else."""


class StoppedReading(Exception):  # noqa: N818 - it is no error
    """Nobody wants to know any more what an input holds."""


@dataclass(slots=True, kw_only=True, eq=False)
class InputReading:
    """One input that is to be read, and what came of it.

    Parameters
    ----------
    name
        The input as the user named it.
    through
        The index that led to it, if the user did not name it.
    read
        Yields its captures.

    Attributes
    ----------
    result, damages
        Name, size and checksum of what was read, and what was damaged.
    n_found
        How many captures there were.
    leads_on
        Whether it holds no captures itself, but says where some are.
    error
        Why it could not be read.
    is_over
        Whether all of its captures have been handed on.
    """

    name: str
    through: str | None
    read: "Callable[[InputReading], Iterator[Captures]]"
    result: "Input | None" = None
    damages: list[Damage] = field(default_factory=list)
    n_found: int = 0
    leads_on: bool = False
    error: BaseException | None = None
    is_over: bool = False


class ReadingThreads:
    """Reads inputs in threads and hands on their captures.

    Parameters
    ----------
    readings
        The inputs, in order.
    n_threads
        How many are read at once; with 0 they are read one after the other by whoever asks for
        their captures, as it must be where reading may block for ever.

    Attributes
    ----------
    readings
        The inputs, with those that others have led to.
    """

    def __init__(self, readings: Iterable[InputReading], n_threads: int) -> None:
        self.readings = list(readings)
        self._n_threads = n_threads
        self._changed = threading.Condition()
        self._waiting = deque(self.readings)
        self._n_running = 0
        self._queue: deque[tuple[InputReading, Captures | None]] = deque()
        self._n_queued_bytes = 0
        self._has_failed = False
        self._is_stopped = False

    def insert(self, before: InputReading, added: Sequence[InputReading]) -> None:
        """Add inputs that another, which is being read, has led to; they stand before it."""
        with self._changed:
            place = self.readings.index(before)
            self.readings[place:place] = added
            self._waiting.extendleft(reversed(added))
            self._changed.notify_all()

    def check(self, reading: InputReading) -> None:
        """See that an input is still to be read.

        Raises
        ------
        StoppedReading
            If not: all is to end, or another input before it has failed.
        """
        if self._is_stopped or self._has_failed_before(reading):
            raise StoppedReading

    def captures(self) -> Iterator[tuple[InputReading, Captures]]:
        """Yield the captures of all inputs, of each in order, as soon as they are there.

        Raises
        ------
        Exception
            What has made the first of the inputs fail, if any has; all before it have been read.
        """
        if self._n_threads == 0:
            yield from self._read_here()
            return
        # Where nobody closes this iterator, the threads shall not keep the process from its end.
        threads = [
            threading.Thread(target=self._work, name=f"reading-{number + 1}", daemon=True)
            for number in range(self._n_threads)
        ]
        try:
            for thread in threads:
                thread.start()
            while found := self._take():
                yield found
        finally:
            with self._changed:
                self._is_stopped = True
                self._queue.clear()
                self._changed.notify_all()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
        for reading in self.readings:
            if reading.error is not None:
                raise reading.error

    def _read_here(self) -> Iterator[tuple[InputReading, Captures]]:
        while self._waiting:
            reading = self._waiting.popleft()
            for captures in reading.read(reading):
                yield reading, captures
            reading.is_over = True

    def _work(self) -> None:
        while reading := self._begin():
            try:
                with interruptible(partial(self.check, reading)):
                    for captures in reading.read(reading):
                        self._put(reading, captures)
            except StoppedReading:
                pass
            except BaseException as error:  # noqa: BLE001 - raised again by whoever asks
                reading.error = error
                self._has_failed = True
            with self._changed:
                self._n_running -= 1
                self._queue.append((reading, None))
                self._changed.notify_all()

    def _begin(self) -> InputReading | None:
        """Return the next input to read; None if there is no more."""
        with self._changed:
            # One that is being read may still lead to others.
            while not self._waiting and self._n_running and not self._is_stopped:
                self._changed.wait()
            if not self._waiting or self._is_stopped:
                return None
            self._n_running += 1
            return self._waiting.popleft()

    def _put(self, reading: InputReading, captures: Captures) -> None:
        n_bytes = captures.n_bytes
        with self._changed:
            self.check(reading)
            while self._n_queued_bytes and self._n_queued_bytes + n_bytes > _MAX_QUEUED_BYTES:
                self._changed.wait()
                self.check(reading)
            self._queue.append((reading, captures))
            self._n_queued_bytes += n_bytes
            self._changed.notify_all()

    def _take(self) -> tuple[InputReading, Captures] | None:
        """Return captures of any input; None when all have been read, up to one that failed."""
        with self._changed:
            while self._queue or self._waiting or self._n_running:
                if not self._queue:
                    self._changed.wait()
                    continue
                reading, captures = self._queue.popleft()
                if captures is not None:
                    self._n_queued_bytes -= captures.n_bytes
                    self._changed.notify_all()
                    return reading, captures
                reading.is_over = True
            return None

    def _has_failed_before(self, reading: InputReading) -> bool:
        if not self._has_failed:
            return False
        failed = next(other for other in self.readings if other.error is not None)
        return self.readings.index(failed) < self.readings.index(reading)
