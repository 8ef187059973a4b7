"""What a task does that reads: from pieces of the inputs to sorted keys, cut by hash range."""

import io
import logging
import os
import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from crawlgauge.core.batch import ROW, Captures
from crawlgauge.core.captures import Collector
from crawlgauge.errors import SourceError
from crawlgauge.ingest.builder import SetBuilder, open_builder
from crawlgauge.ingest.dates import choose_date
from crawlgauge.ingest.options import Choices
from crawlgauge.ingest.sorting import KeyMemory
from crawlgauge.ingest.splitting import Cut, Splitter
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import BY_URL
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream, fingerprint
from crawlgauge.sources.detect import FORMATS
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ReadInputs, read_inputs
from crawlgauge.sources.remote import conceal, to_path
from crawlgauge.spark.planning import Piece
from crawlgauge.spark.rows import (
    ATTRIBUTES,
    REPORT,
    Row,
    cut_ranges,
    pack_attributes,
    pack_keys,
    to_batches,
)
from crawlgauge.spark.session import tell_driver
from crawlgauge.store.spilling import SpillFolder

__all__ = ["TABLE", "LineRange", "Plan", "TaskReport", "read_pieces", "read_table", "summarise"]


TABLE = "the Spark table"

_CHUNK_BYTES = 1 << 16
_MAX_MESSAGES = 1 << 20
_COUNTED = ["n_captures", "n_no_status", "days", "first_time", "last_time", "rejected", "excluded"]
"""What a builder has in common with captures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What all tasks of a crawl are told.

    Parameters
    ----------
    label
        The crawl's; empty for a collection that is cut.
    choices
        The user's.
    cut
        How a collection is cut into crawls; None for one crawl.
    needs_times
        Whether the crawl's date can only come from the times of its captures.
    row_threshold
        Attributes of keys below it are wanted.
    range_bits
        By how many leading bits keys are cut into ranges.
    slots
        For each range, what leads it to its task.
    addresses
        Of remote inputs, with what is secret in them.
    folder
        Where relative names begin.
    """

    label: str
    choices: Choices
    cut: Cut | None
    needs_times: bool
    row_threshold: int
    range_bits: int
    slots: list[int]
    addresses: tuple[str, ...]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceReport:
    """What came of a piece.

    Parameters
    ----------
    piece
        The piece.
    read
        What was read, damage, and examples of what was rejected.
    n_found
        How many captures it holds, those that do not count too.
    n_lines
        How many line ends it has, where it is a part of a file.
    """

    piece: Piece
    read: ReadInputs
    n_found: int = 0
    n_lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPart:
    """What a task has counted of a crawl.

    Parameters
    ----------
    captures
        The counts, without keys and attributes.
    row_threshold
        Below it all attributes are known.
    thresholds
        Below which keys are kept, by level.
    levels
        Of levels beside that of URLs, how many captures count, how many of them by their digest,
        and how many do not count, by reason.
    """

    captures: Captures
    row_threshold: int
    thresholds: Mapping[str, int]
    levels: Mapping[str, tuple[int, int, Counter[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """What a task has counted.

    Parameters
    ----------
    pieces
        Of what it has read.
    crawls
        By label.
    rest
        Records of a collection that belong to none of its crawls, by reason.
    log
        Level and text of its messages.
    """

    pieces: tuple[PieceReport, ...]
    crawls: Mapping[str, CrawlPart]
    rest: Counter[str]
    log: tuple[tuple[int, str], ...]


# --------------------------------------------------------------------------------------- reading


def read_pieces(pieces: Iterable[Piece], plan: Plan) -> Iterator[pa.RecordBatch]:
    """Read pieces of the inputs and yield rows of keys, attributes and counts.

    Parameters
    ----------
    pieces
        What this task is to read.
    plan
        What all tasks are told.
    """
    with _open_reading(plan) as reading:
        # Names are used as the user wrote them, relative ones too.
        with chdir(plan.folder) if Path(plan.folder).is_dir() else nullcontext():
            for piece in pieces:
                reading.read_piece(piece)
        yield from to_batches(reading.rows())


def read_table(batches: Iterable[pa.RecordBatch], plan: Plan) -> Iterator[pa.RecordBatch]:
    """Read captures that Spark has in columns; see `read_pieces`.

    Parameters
    ----------
    batches
        The columns, called as in Parquet files.
    plan
        What all tasks are told.
    """
    with _open_reading(plan) as reading:
        reading.read_table(batches)
        yield from to_batches(reading.rows())


@contextmanager
def _open_reading(plan: Plan) -> "Iterator[_Reading]":
    """Give a place to what is spilled, and take up what is logged: the driver logs it."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    place = next((folder for folder in folders if folder and Path(folder).is_dir()), None)
    logger, handler = logging.getLogger("crawlgauge"), BufferingHandler(_MAX_MESSAGES)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with (
            tell_driver(),
            tempfile.TemporaryDirectory(prefix="crawlgauge-", dir=place) as scratch,
            SpillFolder(Path(scratch)) as spill,
        ):
            yield _Reading(plan, Path(scratch), KeyMemory(plan.choices.memory, spill), handler)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Reading:
    """What a task has read so far; a target of reading."""

    def __init__(self, plan: Plan, scratch: Path, memory: KeyMemory, log: BufferingHandler) -> None:
        self._plan, self._scratch, self._log = plan, scratch, log
        self._pieces: list[PieceReport] = []
        self._n_found = 0
        self._target: Splitter | SetBuilder
        choices, cut = plan.choices, plan.cut
        if cut is None:
            self._target = open_builder(
                choices.levels, choices.sampling, Names(), memory, row_threshold=plan.row_threshold
            )
            self._builders, self._rest = {plan.label: self._target}, Counter[str]()
        else:
            self._target = Splitter(cut, choices, memory)
            self._builders, self._rest = self._target.builders, self._target.rest
        self._settings = choices.reading(
            self._target.names, is_split=cut is not None, group=cut and cut.group
        )
        for address in plan.addresses:
            conceal(address)

    @property
    def key_threshold(self) -> int:
        return self._target.key_threshold

    @property
    def row_threshold(self) -> int:
        return self._target.row_threshold

    def add(self, captures: Captures) -> None:
        if self._plan.needs_times and captures.n_captures and not captures.has_times:
            # Hours of reading would end with the same message.
            choose_date(self._plan.label, None, {})
        self._n_found += captures.n_captures + sum(captures.excluded.values())
        self._n_found += 0 if captures.left_out is None else len(captures.left_out)
        self._target.add(captures)

    def read_piece(self, piece: Piece) -> None:
        self._n_found, n_lines = 0, 0
        try:
            if piece.end:
                read, n_lines = self._read_lines(piece)
            elif piece.format is not None:
                read = ReadInputs(inputs=(fingerprint(piece.name),), damages=(), examples=())
            else:
                read = self._read_whole(piece.name, piece.leads_to)
        except OSError as error:
            raise SourceError(f"cannot read {piece.name}: {error.strerror or error}") from error
        inputs = tuple(replace(one, through=one.through or piece.through) for one in read.inputs)
        self._report(piece, replace(read, inputs=inputs), n_lines)

    def _report(self, piece: Piece, read: ReadInputs, n_lines: int = 0) -> None:
        self._pieces.append(
            PieceReport(piece=piece, read=read, n_found=self._n_found, n_lines=n_lines)
        )

    def _read_whole(self, name: str, elsewhere: tuple[str, ...] = ()) -> ReadInputs:
        files = InputFiles(names=(name,), repeated=())
        return read_inputs(files, self._settings, self, n_threads=0, elsewhere=elsewhere)

    def _read_lines(self, piece: Piece) -> tuple[ReadInputs, int]:
        collector = Collector(self._settings, self.add)
        intake = Intake(piece.name, collector)
        lines = LineRange(piece)
        with _LineStream(lines, keep_damaged=self._settings.keep_damaged) as stream:
            for _ in FORMATS[piece.format or ""].read(stream, intake, self._settings):
                collector.limit_keys(self.key_threshold)
                collector.limit_rows(self.row_threshold)
            collector.flush()
            damages = tuple(stream.damages)
        examples = (replace(one, offset=one.offset + lines.first) for one in intake.examples)
        return ReadInputs(inputs=(), damages=damages, examples=tuple(examples)), lines.n_lines

    def read_table(self, batches: Iterable[pa.RecordBatch]) -> None:
        from pyarrow.parquet import ParquetWriter
        from pyspark import TaskContext

        # Whatever types columns have, the reader of Parquet files knows what to make of them.
        path, writer = self._scratch / "table.parquet", None
        with ExitStack() as stack:
            for batch in batches:
                if writer is None:
                    new = ParquetWriter(path, batch.schema, compression="none")
                    writer = stack.enter_context(new)
                writer.write_batch(batch)
        if writer is None:
            return
        try:
            read = self._read_whole(str(path))
        except SourceError as error:
            raise SourceError(str(error).replace(str(path), TABLE)) from error
        # Which file a row comes from, and its place there, Spark does not say.
        examples = tuple(replace(one, file=TABLE, line=None) for one in read.examples)
        context = TaskContext.get()
        piece = Piece(number=context.partitionId() if context else 0, name=TABLE, n_bytes=0)
        self._report(piece, replace(read, inputs=(), examples=examples))

    def rows(self) -> Iterator[Row]:
        """Yield what was found."""
        slots, bits = self._plan.slots, self._plan.range_bits
        crawls = {}
        for label, builder in self._builders.items():
            runs = {BY_URL: builder.runs, **{one.level: one.runs for one in builder.levels}}
            for level, of_level in runs.items():
                # When the first ones are asked for, it is known below which key all are there.
                for keys in of_level.ranges():
                    for part, some in cut_ranges(keys, bits):
                        yield from pack_keys(keys[some], slots[part], label, level, part)
            found = builder.finish_attributes()
            columns = found.keys, found.times, found.statuses, found.host_codes, found.mime_codes
            for part, some in cut_ranges(found.keys, bits):
                data = pack_attributes((one[some] for one in columns), found.hosts, found.mimes)
                yield slots[part], label, ATTRIBUTES, part, 0, 0, data
            crawls[label] = CrawlPart(
                captures=summarise(**{name: getattr(builder, name) for name in _COUNTED}),
                row_threshold=found.threshold,
                thresholds={level: of_level.threshold for level, of_level in runs.items()},
                levels={
                    one.level: (one.n_captures, one.n_by_digest, one.excluded)
                    for one in builder.levels
                },
            )
        report = TaskReport(
            pieces=tuple(self._pieces),
            crawls=crawls,
            rest=self._rest,
            log=tuple((one.levelno, one.getMessage()) for one in self._log.buffer),
        )
        yield slots[0], "", REPORT, 0, 0, 0, pickle.dumps(report)


def summarise(**known: Any) -> Captures:  # noqa: ANN401 - fields of Captures
    """Return captures of which but some is known, as counts or rows; the rest is nothing."""
    nothing: dict[str, Any] = dict.fromkeys(field.name for field in fields(Captures))
    nothing |= {"keys": np.empty(0, np.uint64), "rows": np.empty(0, ROW)}
    nothing |= {"n_captures": 0, "n_no_status": 0, "days": {}, "rejected": {}, "excluded": {}}
    return Captures(**{**nothing, **known})


# ------------------------------------------------------------------------------- parts of a file


class LineRange(io.RawIOBase):
    """A file that consists of some lines of another.

    Ranges that follow each other without a gap give each line once.

    Parameters
    ----------
    piece
        Lines of its file that begin at its start or behind, and before its end, belong to it.

    Attributes
    ----------
    name
        Of the other file.
    first
        Where its first line begins in the other file.
    n_lines
        How many line ends have been read so far.
    """

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        path = to_path(piece.name)
        opened = path.open("rb") if isinstance(path, Path) else path.open()
        self._file = cast("BinaryIO", opened)
        self.name = piece.name
        self.first = self._next_line(piece.start)
        self._n_left = max(0, self._next_line(piece.end) - self.first)
        self._file.seek(self.first)
        self.n_lines = 0

    def read(self, size: int = -1) -> bytes:
        """Return at most so many of the bytes that are left; none at the end."""
        data = self._file.read(self._n_left if size < 0 else min(size, self._n_left))
        self._n_left -= len(data)
        self.n_lines += data.count(b"\n")
        return data

    def close(self) -> None:
        """Close the other file."""
        self._file.close()
        super().close()

    def _next_line(self, place: int) -> int:
        """Return where the first line begins that does so at a place or behind it."""
        if place == 0:
            return 0
        # A line begins at the place itself if another ends just before it.
        place -= 1
        self._file.seek(place)
        while chunk := self._file.read(_CHUNK_BYTES):
            found = chunk.find(b"\n")
            if found >= 0:
                return place + found + 1
            place += len(chunk)
        return place


class _LineStream(Stream):
    """Some lines of a file as an input, which stands in that file for all that is told of it."""

    def __init__(self, lines: LineRange, *, keep_damaged: bool) -> None:
        super().__init__(
            lines.name, open_file=lambda: cast("BinaryIO", lines), keep_damaged=keep_damaged
        )
        self._lines = lines

    def beginning(self) -> bytes:
        # What its lines consist of is told by the first ones of the whole file.
        with Stream(self.name) as whole:
            return whole.beginning()

    @property
    def place(self) -> int:
        return self._lines.first + super().place
