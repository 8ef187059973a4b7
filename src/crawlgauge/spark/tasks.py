"""What tasks do: read pieces of the inputs to sorted keys, and merge those of a hash range.

Tasks hand rows to each other and to the driver. A row holds keys of one level of a crawl, some of
its attributes, or the report of a task, and goes to the task that its slot leads to: the one that
merges the keys of its hash range.
"""

import logging
import os
import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.core.batch import Captures
from crawlgauge.core.captures import Collector
from crawlgauge.core.sets import first_captures, sort_unique
from crawlgauge.errors import SourceError
from crawlgauge.ingest.builder import MAX_ATTRIBUTES, to_attributes, to_rows
from crawlgauge.ingest.options import Choices
from crawlgauge.ingest.sorting import KeyMemory
from crawlgauge.ingest.splitting import Cut, OneCrawl, Splitter
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import BY_URL
from crawlgauge.keys.sampling import KEY_BITS, WHOLE
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream, fingerprint, open_file
from crawlgauge.sources.detect import FORMATS
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ReadInputs, read_inputs
from crawlgauge.sources.remote import as_source_error, conceal, to_path
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import Blocks
from crawlgauge.spark.session import tell_driver
from crawlgauge.store.key_set import Keys
from crawlgauge.store.spilling import SpillFolder

SCHEMA = "slot bigint, label string, what string, part bigint, n bigint, total bigint, data binary"
"""`what` is a level, `ATTRIBUTES` or `REPORT`, and `part` a hash range. Of keys, `n` says how many
there are, and `total` is their sum modulo 2**64."""

Row = tuple[int, str, str, int, int, int, bytes]
ATTRIBUTES, REPORT = "attributes", "report"

_NAMES = [column.split()[0] for column in SCHEMA.split(", ")]
_KEYS_PER_ROW = 1 << 17
_ROWS_PER_BATCH = 16
"""Enough for a batch to cost nothing, and little beside a task's memory."""

TABLE = "the Spark table"

_MAX_MESSAGES = 1 << 20
_CHUNK_BYTES = 1 << 16
_COUNTED = "n_captures n_no_status days first_time last_time rejected excluded"
_COUNTED_OF_LEVEL = "n_captures n_by_digest excluded"


@dataclass(frozen=True, slots=True)
class Plan:
    """What all tasks of a crawl are told.

    Parameters
    ----------
    choices
        The user's.
    label
        The crawl's; empty for a collection that is cut.
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

    choices: Choices
    label: str = ""
    cut: Cut | None = None
    needs_times: bool = False
    row_threshold: int = WHOLE
    range_bits: int = 0
    slots: tuple[int, ...] = ()
    addresses: tuple[str, ...] = ()
    folder: str = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One input, or a part of one, that a task reads.

    Parameters
    ----------
    number
        Its place in the order of the inputs.
    name
        The input as the user named it.
    n_bytes
        How many bytes it has.
    through
        The index that led to it, if the user did not name it.
    leads_on, leads_to
        Whether it only tells where captures are, and in which files, which other pieces read.
    format
        Of a file of lines that is read by several tasks; None for a file that one task reads.
    start, end
        Of such a file, where the lines of the piece begin and end. Without lines, at the very
        beginning, it is the piece that takes the checksum of the file.
    """

    number: int
    name: str
    n_bytes: int
    through: str | None = None
    leads_on: bool = False
    leads_to: tuple[str, ...] = ()
    format: str | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
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
        Of levels beside that of URLs, what their builders have counted, by its name.
    """

    captures: Captures
    row_threshold: int
    thresholds: Mapping[str, int]
    levels: Mapping[str, Mapping[str, Any]]


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


def read_pieces(plan: Plan, pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
    """Read pieces of the inputs and yield rows of keys, attributes and counts.

    Parameters
    ----------
    plan
        What all tasks are told.
    pieces
        What this task is to read.
    """
    with _open_reading(plan) as reading:
        # Names are used as the user wrote them, relative ones too.
        with chdir(plan.folder) if Path(plan.folder).is_dir() else nullcontext():
            for piece in pieces:
                reading.read_piece(piece)
        yield from _to_batches(reading.rows())


def read_table(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read captures that Spark has in columns; see `read_pieces`.

    Parameters
    ----------
    plan
        What all tasks are told.
    batches
        The columns, called as in Parquet files.
    """
    with _open_reading(plan) as reading:
        reading.read_table(batches)
        yield from _to_batches(reading.rows())


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
        for address in plan.addresses:
            conceal(address)
        self._target: OneCrawl | Splitter
        if plan.cut is None:
            self._target = OneCrawl(plan.label, plan.choices, memory, plan.row_threshold)
            self._target.needs_times = plan.needs_times
        else:
            self._target = Splitter(plan.cut, plan.choices, memory)
        self._settings = plan.choices.reading(self._target.names, plan.cut)

    @property
    def key_threshold(self) -> int:
        return self._target.key_threshold

    @property
    def row_threshold(self) -> int:
        return self._target.row_threshold

    def add(self, captures: Captures) -> None:
        self._n_found += captures.n_captures + sum(captures.excluded.values())
        self._n_found += 0 if captures.left_out is None else len(captures.left_out)
        self._target.add(captures)

    def read_piece(self, piece: Piece) -> None:
        self._n_found, n_lines = 0, 0
        with as_source_error(piece.name):
            if piece.end:
                read, n_lines = self._read_lines(piece)
            elif piece.format is not None:
                read = ReadInputs(inputs=(fingerprint(piece.name),), damages=(), examples=())
            else:
                read = self._read_whole(piece.name, piece.leads_to)
        inputs = tuple(replace(one, through=one.through or piece.through) for one in read.inputs)
        self._pieces.append(
            PieceReport(piece, replace(read, inputs=inputs), self._n_found, n_lines)
        )

    def _read_whole(self, name: str, elsewhere: tuple[str, ...] = ()) -> ReadInputs:
        files = InputFiles(names=(name,))
        return read_inputs(files, self._settings, self, n_threads=0, elsewhere=elsewhere)

    def _read_lines(self, piece: Piece) -> tuple[ReadInputs, int]:
        collector = Collector(self._settings, self.add)
        intake = Intake(piece.name, collector)
        with LineStream(piece, self._settings) as stream:
            for _ in FORMATS[piece.format or ""].read(stream, intake, self._settings):
                collector.limit_keys(self.key_threshold)
                collector.limit_rows(self.row_threshold)
            collector.flush()
        damages = tuple(stream.damages)
        examples = tuple(replace(one, offset=one.offset + stream.first) for one in intake.examples)
        return ReadInputs(inputs=(), damages=damages, examples=examples), stream.n_lines

    def read_table(self, batches: Iterable[pa.RecordBatch]) -> None:
        from pyarrow.parquet import ParquetWriter
        from pyspark import TaskContext

        # Whatever types columns have, the reader of Parquet files knows what to make of them.
        path = self._scratch / "table.parquet"
        for batch in (waiting := iter(batches)):
            with ParquetWriter(path, batch.schema, compression="none") as writer:
                for some in chain([batch], waiting):
                    writer.write_batch(some)
        if not path.exists():
            return
        try:
            read = self._read_whole(str(path))
        except SourceError as error:
            raise SourceError(str(error).replace(str(path), TABLE)) from error
        # Which file a row comes from, and its place there, Spark does not say.
        examples = tuple(replace(one, file=TABLE, line=None) for one in read.examples)
        context: Any = TaskContext.get()
        piece = Piece(number=context.partitionId(), name=TABLE, n_bytes=0)
        read = replace(read, inputs=(), examples=examples)
        self._pieces.append(PieceReport(piece, read, self._n_found))

    def rows(self) -> Iterator[Row]:
        """Yield what was found."""
        slots, bits = self._plan.slots, self._plan.range_bits
        crawls = {}
        for label, builder in self._target.builders.items():
            runs = {BY_URL: builder.runs, **{one.level: one.runs for one in builder.levels}}
            for level, of_level in runs.items():
                # When the first ones are asked for, it is known below which key all are there.
                for keys in of_level.ranges():
                    for part, some in _cut_ranges(keys, bits):
                        yield from _pack_keys(keys[some], slots[part], label, level, part)
            found = builder.finish_attributes()
            for part, some in _cut_ranges(found.keys, bits):
                data = pickle.dumps(found.part(some))
                yield slots[part], label, ATTRIBUTES, part, 0, 0, data
            crawls[label] = CrawlPart(
                captures=Captures(**_look_up(builder, _COUNTED)),
                row_threshold=found.threshold,
                thresholds={level: of_level.threshold for level, of_level in runs.items()},
                levels={one.level: _look_up(one, _COUNTED_OF_LEVEL) for one in builder.levels},
            )
        log = tuple((one.levelno, one.getMessage()) for one in self._log.buffer)
        pieces, rest = tuple(self._pieces), self._target.rest
        report = TaskReport(pieces=pieces, crawls=crawls, rest=rest, log=log)
        yield slots[0], "", REPORT, 0, 0, 0, pickle.dumps(report)


def _look_up(holder: object, names: str) -> dict[str, Any]:
    return {name: getattr(holder, name) for name in names.split()}


# ------------------------------------------------------------------------------- parts of a file


class LineStream(Stream):
    """Some lines of a file as an input, which stands in that file for all that is told of it.

    Pieces that follow each other without a gap give each line once.

    Parameters
    ----------
    piece
        Lines of its file that begin at its start or behind, and before its end, belong to it.
    settings
        What is wanted of them.

    Attributes
    ----------
    first
        Where its first line begins in the file.
    n_lines
        How many line ends have been read so far.
    """

    def __init__(self, piece: Piece, settings: Settings) -> None:
        path = to_path(piece.name)
        with open_file(path) as file:
            self.first, end = _next_line(file, piece.start), _next_line(file, piece.end)
        lines = Blocks(path, [(self.first, end)])
        keeps = settings.keep_damaged
        super().__init__(piece.name, open_file=lambda: lines, keep_damaged=keeps)
        self.n_lines = 0

    def beginning(self) -> bytes:
        """Return the first block of the whole file."""
        # What its lines consist of is told by the first ones of the whole file.
        with Stream(self.name) as whole:
            return whole.beginning()

    def blocks(self) -> Iterator[bytes]:
        """Yield the lines in blocks."""
        for block in super().blocks():
            self.n_lines += block.count(b"\n")
            yield block


def _next_line(file: BinaryIO, place: int) -> int:
    """Return where the first line begins that does so at a place or behind it."""
    # A line begins at the place itself if another ends just before it.
    file.seek(max(0, place - 1))
    while place and (chunk := file.read(_CHUNK_BYTES)):
        if found := chunk.find(b"\n") + 1:
            return place - 1 + found
        place += len(chunk)
    return place


# ------------------------------------------------------------------------------------------ rows


def choose_bits(n_ranges: int, threshold: int) -> int:
    """Return by how many leading bits keys below a threshold are cut into so many ranges.

    Examples
    --------
    >>> choose_bits(8, WHOLE), choose_bits(8, 1 << 58)
    (3, 9)
    """
    # Of a sample, only some of the ranges have keys.
    n_beyond = (WHOLE // threshold).bit_length() - 1
    return min(KEY_BITS, (n_ranges - 1).bit_length() + n_beyond)


def _cut_ranges(keys: Keys, range_bits: int) -> Iterator[tuple[int, slice]]:
    """Yield each hash range that has some of the rising keys, and where they are."""
    if keys.size:
        shift = KEY_BITS - range_bits
        parts = range(int(keys[0]) >> shift, (int(keys[-1]) >> shift) + 1)
        lows = np.array([part << shift for part in parts[1:]], np.uint64)
        bounds = pairwise([0, *np.searchsorted(keys, lows).tolist(), keys.size])
        for part, (start, end) in zip(parts, bounds, strict=True):
            if start < end:
                yield part, slice(start, end)


def _pack_keys(keys: Keys, slot: int, label: str, level: str, part: int) -> Iterator[Row]:
    """Yield sorted keys of one hash range as rows; see `SCHEMA`."""
    for start in range(0, keys.size, _KEYS_PER_ROW):
        some = keys[start : start + _KEYS_PER_ROW]
        total = int(np.add.reduce(some).astype(np.int64))
        yield slot, label, level, part, some.size, total, some.tobytes()


def unpack_attributes(data: bytes, names: Names) -> NDArray[np.void]:
    """Return the attributes of a row as `ROW`; `names` numbers hosts and media types."""
    return to_rows(pickle.loads(data), names)  # noqa: S301 - of our own tasks


def _to_batches(rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, _ROWS_PER_BATCH)):
        yield pa.record_batch(list(map(pa.array, zip(*some, strict=True))), _NAMES)


def merge_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge what tasks have found of the same hash ranges.

    The order in which rows come in leaves no trace: whatever task is run again, and wherever, the
    outcome is the same.

    Parameters
    ----------
    batches
        Rows of tasks that have read, all of some hash ranges.
    """
    return _to_batches(_merge(batches))


def _merge(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    found: dict[tuple[int, str, str], list[bytes]] = {}
    for batch in batches:
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            _, label, what, part, _, _, data = row
            if what == REPORT:
                yield row
            else:
                found.setdefault((part, label, what), []).append(data)
    for place in sorted(found):
        part, label, what = place
        pieces = found.pop(place)
        if what == ATTRIBUTES:
            yield 0, label, what, part, 0, 0, _merge_attributes(pieces)
        else:
            keys = sort_unique([np.frombuffer(piece, np.uint64) for piece in pieces])
            yield from _pack_keys(keys, 0, label, what, part)


def _merge_attributes(pieces: list[bytes]) -> bytes:
    """Keep the first capture of each key, and no more keys than a whole crawl can need."""
    names = Names()
    parts = [unpack_attributes(piece, names) for piece in pieces]
    rows = first_captures(parts, names.hosts, names.types)[: MAX_ATTRIBUTES + 1]
    return pickle.dumps(to_attributes(rows, names, WHOLE))
