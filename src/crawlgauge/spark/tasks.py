"""What a task does that reads: from pieces of the inputs to sorted keys, cut by hash range."""

import io
import logging
import os
import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

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
    gather,
    key_rows,
    pack_attributes,
)
from crawlgauge.spark.session import tell_driver
from crawlgauge.store.spilling import SpillFolder

__all__ = [
    "TABLE",
    "CrawlPart",
    "LineRange",
    "PieceReport",
    "Plan",
    "TaskReport",
    "read_pieces",
    "read_table",
    "summarise",
]

TABLE = "the Spark table"

_CHUNK_BYTES = 1 << 16


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
    with tell_driver(), _Reading(plan) as reading:
        # Names are used as the user wrote them, relative ones too.
        with chdir(plan.folder) if Path(plan.folder).is_dir() else nullcontext():
            for piece in pieces:
                reading.read_piece(piece)
        yield from gather(reading.rows())


def read_table(batches: Iterable[pa.RecordBatch], plan: Plan) -> Iterator[pa.RecordBatch]:
    """Read captures that Spark has in columns; see `read_pieces`.

    Parameters
    ----------
    batches
        The columns, called as in Parquet files.
    plan
        What all tasks are told.
    """
    with tell_driver(), _Reading(plan) as reading:
        reading.read_table(batches)
        yield from gather(reading.rows())


class _Reading:
    """What a task has read so far; a target of reading."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stack = ExitStack()
        self._pieces: list[PieceReport] = []
        self._n_found = 0
        for address in plan.addresses:
            conceal(address)

    def __enter__(self) -> Self:
        plan, choices, enter = self._plan, self._plan.choices, self._stack.enter_context
        folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
        place = next((folder for folder in folders if folder and Path(folder).is_dir()), None)
        self._scratch = Path(enter(tempfile.TemporaryDirectory(prefix="crawlgauge-", dir=place)))
        memory = KeyMemory(choices.memory, enter(SpillFolder(self._scratch)))
        self._log = enter(_collect_log())
        self._target: Splitter | SetBuilder
        if plan.cut is None:
            self._target = open_builder(
                choices.levels, choices.sampling, Names(), memory, row_threshold=plan.row_threshold
            )
            self._builders, self._rest = {plan.label: self._target}, Counter[str]()
            self._settings = choices.reading(self._target.names)
        else:
            self._target = splitter = Splitter(plan.cut, choices, memory)
            self._builders, self._rest = splitter.builders, splitter.rest
            self._settings = choices.reading(splitter.names, is_split=True, group=plan.cut.group)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def key_threshold(self) -> int:
        return self._target.key_threshold

    @property
    def row_threshold(self) -> int:
        return self._target.row_threshold

    def add(self, captures: Captures) -> None:
        if self._plan.needs_times and captures.n_captures and not captures.has_times:
            # As long as hours of reading do not end with the same message.
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
        inputs = tuple(replace(item, through=item.through or piece.through) for item in read.inputs)
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
        examples = (replace(item, offset=item.offset + lines.first) for item in intake.examples)
        return ReadInputs(inputs=(), damages=damages, examples=tuple(examples)), lines.n_lines

    def read_table(self, batches: Iterable[pa.RecordBatch]) -> None:
        from pyspark import TaskContext

        # Whatever types columns have, the reader of Parquet files knows what to make of them.
        path = self._scratch / "table.parquet"
        if not _write_parquet(batches, path):
            return
        try:
            found = self._read_whole(str(path))
        except SourceError as error:
            raise SourceError(str(error).replace(str(path), TABLE)) from error
        # Which file a row comes from, and its place there, Spark does not say.
        examples = tuple(replace(item, file=TABLE, line=None) for item in found.examples)
        read = ReadInputs(inputs=(), damages=(), examples=examples)
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        self._report(Piece(number=number, name=TABLE, n_bytes=0), read)

    def rows(self) -> Iterator[Row]:
        """Yield what was found."""
        plan = self._plan
        crawls = {}
        for label, builder in self._builders.items():
            levels = [(BY_URL, builder.runs), *((one.level, one.runs) for one in builder.levels)]
            for level, runs in levels:
                # As soon as the first is asked for, they know below which key they are complete.
                for keys in runs.ranges():
                    for part, start, end in cut_ranges(keys, plan.range_bits):
                        yield from key_rows(keys[start:end], plan.slots[part], label, level, part)
            found = builder.finish_attributes()
            crawls[label] = _describe(builder, found.threshold)
            for part, start, end in cut_ranges(found.keys, plan.range_bits):
                data = pack_attributes(found, slice(start, end))
                yield plan.slots[part], label, ATTRIBUTES, part, 0, 0, data
        report = TaskReport(
            pieces=tuple(self._pieces), crawls=crawls, rest=self._rest, log=tuple(self._log)
        )
        yield plan.slots[0], "", REPORT, 0, 0, 0, pickle.dumps(report)


def _describe(builder: SetBuilder, row_threshold: int) -> CrawlPart:
    runs = {BY_URL: builder.runs, **{one.level: one.runs for one in builder.levels}}
    return CrawlPart(
        captures=summarise(
            n_captures=builder.n_captures,
            n_no_status=builder.n_no_status,
            days=builder.days,
            first_time=builder.first_time,
            last_time=builder.last_time,
            rejected=builder.rejected,
            excluded=builder.excluded,
        ),
        row_threshold=row_threshold,
        thresholds={level: found.threshold for level, found in runs.items()},
        levels={
            one.level: (one.n_captures, one.n_by_digest, one.excluded) for one in builder.levels
        },
    )


def summarise(**counts: Any) -> Captures:  # noqa: ANN401 - fields of Captures
    """Return captures that are but counted, or but have rows; what is not given is nothing."""
    nothing: dict[str, Any] = {
        **{"keys": np.empty(0, np.uint64), "rows": np.empty(0, ROW), "has_times": True},
        **dict.fromkeys(("groups", "digests", "texts", "left_out", "first_time", "last_time")),
        **{"n_captures": 0, "n_no_status": 0, "days": {}, "rejected": {}, "excluded": {}},
    }
    return Captures(**{**nothing, **counts})


def _write_parquet(batches: Iterable[pa.RecordBatch], path: Path) -> bool:
    """Write columns to a file, and tell whether there are any."""
    from pyarrow.parquet import ParquetWriter

    with ExitStack() as stack:
        writer = None
        for batch in batches:
            if writer is None:
                writer = stack.enter_context(ParquetWriter(path, batch.schema, compression="none"))
            writer.write_batch(batch)
    return writer is not None


@contextmanager
def _collect_log() -> Iterator[list[tuple[int, str]]]:
    """Take up what is logged here, for the driver to log it where the user sees it."""
    messages: list[tuple[int, str]] = []

    class _Messages(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append((record.levelno, record.getMessage()))

    logger, handler = logging.getLogger("crawlgauge"), _Messages(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


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
