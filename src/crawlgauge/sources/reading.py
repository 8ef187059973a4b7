"""From the inputs that the user names to their captures, whatever the format."""

import logging
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.processors import count_processors
from crawlgauge.remote.names import is_remote
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.sources.formats import find_format
from crawlgauge.sources.inputs import InputFiles, can_be_reread, identify_file
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.sources.reading_threads import InputReading, ReadingThreads
from crawlgauge.sources.request import Request
from crawlgauge.sources.wacz import looks_like_wacz, open_wacz
from crawlgauge.sources.zipnum import (
    ClusterPart,
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

if TYPE_CHECKING:
    from crawlgauge.provenance import Input

__all__ = ["ArchiveReader"]

_LARGE_BLOCK_BYTES = 31 << 20
_MAX_THREADS = 4
"""More of them find captures faster than one thread can make keys of them."""

_log = logging.getLogger(__name__)


class ArchiveReader:
    """Reads inputs of any format, as many at once as there are processors.

    Parameters
    ----------
    files
        The inputs.
    request
        What is wanted of them.
    keep_damaged
        Whether to keep what can be read of damaged inputs, instead of stopping.
    progress
        Told how far reading has come.
    n_threads
        How many inputs are read at once; None for as many as there are processors, 0 to read them
        one after the other where their captures are asked for.
    elsewhere
        Names of inputs that somebody else reads, should these ones lead to them.

    Attributes
    ----------
    inputs
        Name, size and checksum of what was read, when all has been read.
    damages
        What was damaged of it.
    without_captures
        Names of inputs that hold none, nor lead to any.
    """

    def __init__(
        self,
        files: InputFiles,
        request: Request,
        *,
        keep_damaged: bool = False,
        progress: ReadingProgress | None = None,
        n_threads: int | None = None,
        elsewhere: Sequence[str] = (),
    ) -> None:
        self._files = files
        self._request = request
        self._keep_damaged = keep_damaged
        self._progress = progress or ReadingProgress()
        self._lock = threading.Lock()
        self._n_unseen_bytes = 0
        self._known = {identify_file(name) for name in files.names}
        self._elsewhere = elsewhere
        readings = [self._plan(name) for name in files.names]
        n_at_once = _count_threads(files) if n_threads is None else n_threads
        self._threads = ReadingThreads(readings, n_at_once)
        self.inputs: list[Input] = []
        self.damages: list[Damage] = []
        self.without_captures: list[str] = []

    def captures(self) -> Generator[Captures, None, None]:
        """Yield the captures of all inputs in batches.

        Several inputs are read at once, so that their batches come in any order. Examples of
        rejected records are in the order of the inputs: those of later ones are kept back.

        Raises
        ------
        SourceError
            If an input cannot be read or understood; if several cannot, the first of them.
        DamagedInput
            If it is damaged and damaged inputs are not to be kept.
        """
        for name in self._files.repeated:
            _log.warning("%s was named more than once; it is read once", name)
        _keep_freed_memory()
        examples = _ExamplesInOrder(self._threads.readings)
        captures = None
        for reading, captures in self._threads.captures():
            reading.n_found += len(captures) + sum(captures.excluded.values())
            self._report_progress(reading.name, len(captures))
            yield examples.exchange(reading, captures)
        self._report_progress(self._files.names[-1], 0)
        if captures is not None and (left := examples.take()):
            nothing = captures.take(np.empty(0, dtype=np.int64), {})
            yield replace(nothing, rejected={}, examples=left)
        for reading in self._threads.readings:
            self.damages.extend(reading.damages)
            if reading.result is not None:
                self.inputs.append(reading.result)
            if reading.n_found == 0 and not reading.leads_on:
                self.without_captures.append(reading.name)
                if len(self._files.names) > 1:
                    _log.warning("%s holds no captures", reading.name)

    def _report_progress(self, name: str, n_captures: int) -> None:
        with self._lock:
            n_bytes, self._n_unseen_bytes = self._n_unseen_bytes, 0
        self._progress.file = name
        self._progress.add_captures(n_captures)
        if n_bytes or n_captures:
            self._progress.add_bytes(n_bytes)

    def _plan(self, name: str, through: str | None = None) -> InputReading:
        return InputReading(name=name, through=through, read=self._read_input)

    def _read_input(self, reading: InputReading) -> Iterator[Captures]:
        try:
            with self._stream(reading) as stream:
                yield from self._read_stream(stream, reading)
                reading.damages.extend(stream.damages)
                reading.result = stream.finish(reading.through)
        except OSError as error:
            raise SourceError(f"cannot read {reading.name}: {error.strerror or error}") from error

    def _stream(self, reading: InputReading) -> ByteStream:
        def count(n_bytes: int) -> None:
            self._threads.check(reading)
            with self._lock:
                self._n_unseen_bytes += n_bytes

        return ByteStream(
            reading.name,
            on_bytes=count,
            max_expansion=self._request.max_expansion,
            keep_damaged=self._keep_damaged,
        )

    def _read_stream(self, stream: ByteStream, reading: InputReading) -> Iterator[Captures]:
        beginning = _beginning(stream)
        if looks_like_wacz(beginning):
            for member in open_wacz(
                stream,
                max_expansion=self._request.max_expansion,
                keep_damaged=self._keep_damaged,
                needs_bodies=self._request.reads_texts,
            ):
                with member:
                    yield from self._read_stream(member, reading)
                    reading.damages.extend(member.damages)
        elif looks_like_zipnum_index(beginning):
            reading.leads_on = True
            self._plan_parts(stream, reading)
        elif looks_like_zipnum_locations(beginning):
            reading.leads_on = True
            _log.info("%s tells where the parts of a ZipNum cluster are; passed over", stream.name)
        else:
            kind = find_format(beginning, self._request, stream.name)
            yield from kind.read(stream, self._request)

    def _plan_parts(self, stream: ByteStream, reading: InputReading) -> None:
        """Read the parts of a ZipNum cluster that are not inputs themselves; see to all sizes."""
        parts = read_cluster(stream).parts
        with self._lock:
            self._known.update(map(identify_file, self._elsewhere))
            self._elsewhere = ()
        found: list[InputReading] = []
        for part in parts:
            n_bytes = part.path.stat().st_size
            if n_bytes < part.n_bytes:
                stream.report(_cut_part(part, n_bytes))
            identity = identify_file(str(part.path))
            with self._lock:
                is_new = identity not in self._known
                self._known.add(identity)
            if is_new:
                found.append(self._plan(str(part.path), through=stream.name))
        self._threads.insert(reading, found)


class _ExamplesInOrder:
    """Examples of rejected records: those of an input wait until all before it are over.

    Parameters
    ----------
    readings
        The inputs in order; others may come in between.
    """

    def __init__(self, readings: list[InputReading]) -> None:
        self._readings = readings
        self._n_over = 0
        self._waiting: dict[InputReading, list[Rejection]] = {}

    def exchange(self, reading: InputReading, captures: Captures) -> Captures:
        """Return captures with examples whose turn it is, in place of their own."""
        if captures.examples:
            self._waiting.setdefault(reading, []).extend(captures.examples)
        examples = self.take() if self._waiting else ()
        is_same = examples == captures.examples
        return captures if is_same else replace(captures, examples=examples)

    def take(self) -> tuple[Rejection, ...]:
        taken: list[Rejection] = []
        for reading in islice(self._readings, self._n_over, None):
            taken += self._waiting.pop(reading, [])
            if not reading.is_over:
                break
            self._n_over += 1
        return tuple(taken)


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


def _keep_freed_memory() -> None:
    """Let the system's library keep freed memory, which it would return and ask for again.

    That takes as long as decompressing what is written to it. glibc keeps blocks up to the size of
    the largest that was freed, 32 MB at most; to others this does nothing.
    """
    np.empty(_LARGE_BLOCK_BYTES, dtype=np.uint8)  # Not one of its pages is written to.


def _beginning(stream: ByteStream) -> bytes:
    """Return the first bytes that can be read."""
    while True:
        try:
            return stream.beginning()
        except DamagedInput as error:
            if not stream.recover(error):
                return b""


def _cut_part(part: ClusterPart, n_bytes: int) -> Damage:
    return Damage(
        file=str(part.path),
        byte=n_bytes,
        reason=f"it ends there, but its cluster's index tells of {part.n_bytes:,} bytes",
        lost="all that stood behind",
    )
