"""From the inputs that the user names to their captures, whatever the format, several at once.

Each input is read by one thread, from its bytes to keys; what is left is handed on in batches.
Who was faster leaves no trace: sets, counts, errors and examples are those of reading in order.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from crawlgauge.core.batch import Captures
from crawlgauge.core.captures import Collector
from crawlgauge.core.machine import count_processors
from crawlgauge.errors import Damage, DamagedInput, SourceError
from crawlgauge.provenance import Input
from crawlgauge.sources.captures import MAX_EXAMPLES, Intake, Rejection
from crawlgauge.sources.cdx_server import Answer, is_query
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.inputs import InputFiles, can_be_reread, identify_file
from crawlgauge.sources.remote import AnyPath, interruptible, is_remote, wait_for
from crawlgauge.sources.sitemap import looks_like_sitemap_index, read_sitemap_index
from crawlgauge.sources.wacz import looks_like_wacz, open_wacz
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import (
    Blocks,
    find_blocks,
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

_MAX_THREADS = 4
"""More of them wait for each other between blocks."""

_log = logging.getLogger(__name__)


class Target(Protocol):
    """What takes the captures of inputs, from several threads."""

    @property
    def key_threshold(self) -> int:
        """Keys below this one are wanted."""

    @property
    def row_threshold(self) -> int:
        """Attributes of keys below this one are wanted."""

    def add(self, captures: Captures) -> None:
        """Take in a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadInputs:
    """What came of reading inputs, beside their captures.

    Parameters
    ----------
    inputs
        What was read, in order.
    damages
        What could not be read.
    examples
        The first records that were rejected.
    """

    inputs: tuple[Input, ...]
    damages: tuple[Damage, ...]
    examples: tuple[Rejection, ...]


def read_inputs(
    files: InputFiles,
    settings: Settings,
    target: Target,
    *,
    progress: "ReadingProgress | None" = None,
    n_threads: int | None = None,
    elsewhere: Sequence[str] = (),
) -> ReadInputs:
    """Read inputs of any format, as many at once as there are processors.

    Parameters
    ----------
    files
        The inputs.
    settings
        What is wanted of them.
    target
        Takes their captures.
    progress
        Is told how far reading has come.
    n_threads
        How many inputs to read at once; 0 to read in this thread. By default as fits the machine.
    elsewhere
        Parts of a cluster that somebody else reads.

    Raises
    ------
    SourceError
        If an input cannot be read; the first of them in the order of inputs.
    """
    readers = _Readers(settings, target, progress or ReadingProgress())
    n_at_once = _count_threads(files) if n_threads is None else n_threads
    known = {identify_file(name) for name in (*files.names, *elsewhere)}
    readings = [_Reading(name=name) for name in files.names]
    waiting = list(readings)
    while waiting:
        # Of a cluster's parts an index may say that little of them is needed.
        indexes = [reading for reading in waiting if readers.may_spare_parts(reading)]
        first = indexes or waiting
        waiting = [reading for reading in waiting if reading not in indexes] if indexes else []
        readers.run(first, n_at_once, is_alone=not waiting and len(first) == 1)
        unread = {identify_file(reading.name): reading for reading in waiting}
        for reading in first:
            # An index of a cluster leads to its parts, which stand before it.
            for part, blocks in reading.parts:
                identity = identify_file(part)
                if identity in unread and blocks is not None:
                    unread[identity].blocks = blocks
                    unread[identity].through = reading.name
                    unread[identity].leads_on = not blocks.spans
                elif identity not in known:
                    known.add(identity)
                    added = _Reading(name=part, through=reading.name, blocks=blocks)
                    readings.insert(readings.index(reading), added)
                    waiting.append(added)
    for reading in readings:
        if reading.n_found == 0 and not reading.leads_on and len(readings) > 1:
            _log.warning("%s holds no captures", reading.name)
    return ReadInputs(
        inputs=tuple(reading.result for reading in readings if reading.result is not None),
        damages=tuple(damage for reading in readings for damage in reading.damages),
        examples=tuple(one for reading in readings for one in reading.examples)[:MAX_EXAMPLES],
    )


def _count_threads(files: InputFiles) -> int:
    """Return how many inputs to read at once."""
    if not all(map(can_be_reread, files.names)):
        # A thread that waits for a pipe cannot be interrupted.
        return 0
    if any(map(is_remote, files.names)):
        # They wait for the network more than for a processor.
        return _MAX_THREADS
    # The index of a cluster, which is one input, may lead to many.
    return min(count_processors(), _MAX_THREADS)


@dataclass(slots=True, kw_only=True, eq=False)
class _Reading:
    """One input that is to be read, and what came of it."""

    name: str
    through: str | None = None
    result: Input | None = None
    damages: list[Damage] = field(default_factory=list)
    examples: list[Rejection] = field(default_factory=list)
    n_found: int = 0
    leads_on: bool = False
    parts: list[tuple[str, Blocks | None]] = field(default_factory=list)
    blocks: Blocks | None = None
    """What to read of it, if not all."""


class _Stopped(Exception):  # noqa: N818 - it is no error
    """Nobody wants to know any more what an input holds."""


class _Readers:
    """Reads inputs, several at once; each thread has a collector of its own."""

    def __init__(self, settings: Settings, target: Target, progress: "ReadingProgress") -> None:
        self._settings, self._target, self._progress = settings, target, progress
        self._lock = threading.Lock()
        self._own = threading.local()
        self._hosts = None if settings.scope is None else settings.scope.hosts
        self._is_alone = False
        self._stops_from: int | None = None
        """Inputs behind this one are not wanted any more: one before them has failed."""

    def may_spare_parts(self, reading: _Reading) -> bool:
        """Tell whether an input is read before others, as it may say what not to read of them."""
        return self._hosts is not None and reading.name.endswith(".idx") and reading.result is None

    def run(self, readings: Sequence[_Reading], n_at_once: int, *, is_alone: bool) -> None:
        """Read inputs; raise the error of the first that fails."""
        self._is_alone = is_alone
        if n_at_once == 0:
            for number, reading in enumerate(readings):
                self._read(number, reading)
            # A collector holds what it hands captures on to, and much memory.
            self._own = threading.local()
            return
        with ThreadPoolExecutor(n_at_once, thread_name_prefix="reading") as pool:
            jobs: list[Future[None]] = []
            try:
                jobs += [pool.submit(self._read, *item) for item in enumerate(readings)]
                for job in jobs:
                    wait_for(job)
            finally:
                # In the end there is nothing left to stop, unless one has failed or the user wants
                # to.
                self._stops_from = 0
                for job in jobs:
                    job.cancel()
        self._stops_from = None

    def _read(self, number: int, reading: _Reading) -> None:
        def check() -> None:
            if self._stops_from is not None and number >= self._stops_from:
                raise _Stopped

        def count_bytes(n_bytes: int) -> None:
            check()
            if not answers:
                self._progress.add_bytes(n_bytes, reading.name)

        answers: list[Answer] = []
        stream = Stream(
            reading.name,
            open_file=self._choose_opener(reading, answers),
            on_bytes=count_bytes,
            max_expansion=self._settings.max_expansion,
            keep_damaged=self._settings.keep_damaged,
        )
        try:
            check()
            with interruptible(check), stream:
                for _ in self._read_stream(stream, reading):
                    check()
                reading.damages += stream.damages
                reading.result = stream.finish(reading.through)
                for answer in answers:
                    _log.info("%s: %s", reading.name, answer.summary(reading.n_found))
        except OSError as error:
            self._fail(number)
            raise SourceError(f"cannot read {reading.name}: {error.strerror or error}") from error
        except BaseException:
            self._fail(number)
            raise

    def _choose_opener(self, reading: _Reading, answers: list[Answer]) -> Callable[[], Any] | None:
        """Return what opens an input that is not read as a file; a server's answer is noted."""

        def report_missing(reason: str, lost: str) -> None:
            # Not to the stream: there it would say that its first line is the rest of one.
            damage = Damage(file=reading.name, byte=None, reason=reason, lost=lost)
            if not self._settings.keep_damaged:
                raise DamagedInput(damage)
            reading.damages.append(damage)

        def ask() -> Answer:
            answers.append(Answer(reading.name, self._settings, report_missing, count_pages))
            return answers[0]

        def count_pages(n_bytes: int, n_pages: int, n_pages_total: int | None) -> None:
            self._progress.add_bytes(n_bytes, reading.name, (n_pages, n_pages_total))

        if is_query(reading.name):
            return ask
        return None if reading.blocks is None else partial(_same, reading.blocks)

    def _fail(self, number: int) -> None:
        with self._lock:
            if self._stops_from is None or number < self._stops_from:
                self._stops_from = number + 1

    def _read_stream(self, stream: Stream, reading: _Reading) -> Iterator[None]:
        beginning = _beginning(stream)
        if looks_like_wacz(beginning):
            for member in open_wacz(stream, self._settings):
                with member:
                    yield from self._read_stream(member, reading)
                    reading.damages += member.damages
        elif looks_like_zipnum_index(beginning):
            reading.leads_on = True
            self._find_parts(stream, reading)
        elif looks_like_sitemap_index(beginning):
            reading.leads_on = True
            members = read_sitemap_index(stream, through=reading.through)
            reading.parts += [(name, None) for name in members]
        elif looks_like_zipnum_locations(beginning):
            reading.leads_on = True
            _log.info("%s tells where the parts of a ZipNum cluster are; passed over", stream.name)
        else:
            kind = find_format(beginning, self._settings, stream.name)
            collector = self._collector(reading)
            intake = Intake(stream.name, collector)
            for _ in kind.read(stream, intake, self._settings):
                self._limit(collector)
                yield
            collector.flush()
            reading.examples += intake.examples

    def _collector(self, reading: _Reading) -> Collector:
        """Return this thread's collector, which hands on what is found in an input."""
        if not hasattr(self._own, "collector"):
            self._own.collector = Collector(self._settings, self._hand_on)
        self._own.reading = reading
        collector: Collector = self._own.collector
        self._limit(collector)
        return collector

    def _limit(self, collector: Collector) -> None:
        collector.limit_keys(self._target.key_threshold)
        collector.limit_rows(self._target.row_threshold)

    def _hand_on(self, captures: Captures) -> None:
        self._own.reading.n_found += captures.n_captures + sum(captures.excluded.values())
        if captures.left_out is not None:
            self._own.reading.n_found += len(captures.left_out)
        self._progress.add_captures(captures.n_captures)
        self._target.add(captures)

    def _find_parts(self, stream: Stream, reading: _Reading) -> None:
        """Find the parts of a ZipNum cluster, and see that they are as long as it says."""
        found: list[tuple[AnyPath, int, list[tuple[int, int]] | None]]
        if self._hosts is None:
            found = [(path, n_least, None) for path, n_least in read_cluster(stream)]
        else:
            parts = find_blocks(stream, self._hosts, is_alone=self._is_alone)
            found = [(path, spans[-1][1] if spans else 0, spans) for path, spans in parts]
        for path, n_least, spans in found:
            n_bytes = path.stat().st_size if n_least else 0
            if n_bytes < n_least:
                reason = f"it ends there, but its cluster's index tells of {n_least:,} bytes"
                stream.report_loss(reason, "all that stood behind", byte=n_bytes, file=str(path))
            blocks = None
            if spans is not None:
                blocks = Blocks(path, ((start, min(end, n_bytes)) for start, end in spans))
            reading.parts.append((str(path), blocks))


def _same(blocks: Blocks) -> Blocks:
    return blocks


def _beginning(stream: Stream) -> bytes:
    """Return the first bytes that can be read."""
    while True:
        try:
            return stream.beginning()
        except DamagedInput as error:
            if not stream.recover(error):
                return b""


# ------------------------------------------------------------------------------------- progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far reading has come.

    Parameters
    ----------
    file
        The input that was read last.
    n_bytes, n_bytes_total
        How many bytes were read, of a server's answer fetched, of how many; None where that is
        not known.
    n_captures
        How many captures were found.
    n_pages, n_pages_total
        How many pages of a server's answer, of how many; None where that is not known.
    """

    file: str
    n_bytes: int
    n_bytes_total: int | None
    n_captures: int
    n_pages: int | None = None
    n_pages_total: int | None = None


class ReadingProgress:
    """Counts what is read and tells it to a listener; several threads may share it.

    Parameters
    ----------
    listener
        Called with how far reading has come.
    n_bytes_total
        Size of all inputs, where it is known.
    """

    def __init__(
        self, listener: Callable[[Progress], None] | None = None, n_bytes_total: int | None = None
    ) -> None:
        self._listener, self._n_bytes_total = listener, n_bytes_total
        self._n_bytes = self._n_captures = 0
        self._lock = threading.Lock()

    def add_bytes(
        self, n_bytes: int, file: str, pages: tuple[int | None, int | None] = (None, None)
    ) -> None:
        """Count bytes that were read; tell how many pages of a server's answer there are."""
        with self._lock:
            self._n_bytes += n_bytes
            if self._listener is not None:
                self._listener(
                    Progress(
                        file=file,
                        n_bytes=self._n_bytes,
                        n_bytes_total=self._n_bytes_total,
                        n_captures=self._n_captures,
                        n_pages=pages[0],
                        n_pages_total=pages[1],
                    )
                )

    def add_captures(self, n_captures: int) -> None:
        """Count captures that were found."""
        with self._lock:
            self._n_captures += n_captures


def total_bytes(files: InputFiles) -> int | None:
    """Return the size of all inputs, or None if one of them is a pipe or its size is not known."""
    total = 0
    for name in files.names:
        if not can_be_reread(name) or (is_remote(name) and name not in files.sizes):
            return None
        total += files.sizes[name] if is_remote(name) else Path(name).stat().st_size
    return total
