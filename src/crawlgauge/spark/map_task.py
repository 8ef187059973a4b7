"""What a task does that reads: from a piece of the inputs to sorted keys, by hash range."""

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, chdir, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from crawlgauge.crawl import format_time
from crawlgauge.keys.levels import BY_URL
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.remote.remote_path import to_path
from crawlgauge.sources.arrow_captures import to_captures
from crawlgauge.sources.byte_stream import ByteStream, fingerprint
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.formats import FORMATS
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.request import Request
from crawlgauge.spark.failures import tell_driver
from crawlgauge.spark.line_range import LineRange
from crawlgauge.spark.planning import Piece
from crawlgauge.spark.rows import attribute_rows, facts_row, key_rows
from crawlgauge.store.attributes import MAX_KEYS, Attributes
from crawlgauge.store.building import SetBuilder, open_builder
from crawlgauge.store.choices import Choices
from crawlgauge.store.cuts import Cut
from crawlgauge.store.dating import choose_date
from crawlgauge.store.key_runs import KeyMemory
from crawlgauge.store.spilling import SpillFolder
from crawlgauge.store.splitting import Rest, cut_captures

__all__ = ["TaskPlan", "read_pieces", "read_tables"]

_LOCAL_FOLDERS = "SPARK_LOCAL_DIRS"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
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
    range_bits
        By how many leading bits keys are cut into ranges.
    slots
        For each range, what leads it to its task.
    names
        All inputs, so that none is read twice.
    folder
        Where relative names begin.
    n_bytes
        Size of all inputs; 0 where it is not known.
    slack
        How many times as many attributes as are kept in the end a task hands on, by what its own
        part of the inputs lets expect.
    attributes_below
        If given, attributes of the keys below it are all that is wanted.
    """

    label: str
    choices: Choices
    cut: Cut | None
    needs_times: bool
    range_bits: int
    slots: list[int]
    names: tuple[str, ...]
    folder: str
    n_bytes: int
    slack: float
    attributes_below: int | None = None


def read_pieces(pieces: Iterable[Piece], plan: TaskPlan) -> Iterator[pa.RecordBatch]:
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
        yield from reading.rows()


def read_tables(
    batches: Iterable[pa.RecordBatch],
    fields: list[int],
    plan: TaskPlan,
    *,
    name: str,
    n_bytes: int,
) -> Iterator[pa.RecordBatch]:
    """Make rows of keys, attributes and counts from columns that Spark has read.

    Parameters
    ----------
    batches
        Columns of captures.
    fields
        What each column holds, as fields of `record_kernel`.
    plan
        What all tasks are told.
    name
        What they come from, for messages.
    n_bytes
        About how many bytes of the inputs this task reads; 0 if nobody knows.
    """
    with tell_driver(), _Reading(plan) as reading:
        request = plan.choices.request()

        def captures() -> Iterator[Captures]:
            n_before = 0
            for batch in batches:
                found = dict(zip(fields, batch.columns, strict=True))
                made = to_captures(found, request=request, name=name, n_before=n_before)
                # Which file a row comes from, and its place there, Spark does not say.
                examples = tuple(replace(item, line=None) for item in made.examples)
                yield replace(made, examples=examples)
                n_before += batch.num_rows

        reading.take(captures())
        reading.n_bytes += n_bytes
        yield from reading.rows()


class _Reading:
    """What a task has read so far."""

    def __init__(self, plan: TaskPlan) -> None:
        self._plan = plan
        self._stack = ExitStack()
        self._builders: dict[str, SetBuilder] = {}
        self._rest = Rest()
        self._pieces: list[dict[str, Any]] = []
        self.n_bytes = 0

    def __enter__(self) -> Self:
        folders = os.environ.get(_LOCAL_FOLDERS, "").split(",")
        place = next((folder for folder in folders if folder and Path(folder).is_dir()), None)
        scratch = tempfile.TemporaryDirectory(prefix="crawlgauge-", dir=place)
        spill = SpillFolder(Path(self._stack.enter_context(scratch)))
        self._memory = KeyMemory(self._plan.choices.memory, self._stack.enter_context(spill))
        self._log = self._stack.enter_context(_collect_log())
        if self._plan.cut is None:
            self._builders[self._plan.label] = open_builder(self._plan.choices, self._memory)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read_piece(self, piece: Piece) -> None:
        """Read one input, or a part of one."""
        facts: dict[str, Any] = {"number": piece.number, "name": piece.name}
        if not piece.is_read:
            result = fingerprint(piece.name)
            facts["inputs"] = [replace(result, through=piece.through).to_dict()]
        elif piece.start is None:
            self._read_whole(piece, facts)
        else:
            self._read_lines(piece, facts)
        self._pieces.append(facts)
        self.n_bytes += piece.n_bytes if piece.is_read else 0

    def take(self, batches: Iterable[Captures]) -> None:
        """Take in captures."""
        plan = self._plan
        if plan.cut is not None:
            cut_captures(batches, plan.cut, plan.choices, self._memory, self._builders, self._rest)
            return
        for captures in plan.choices.select(batches):
            if captures.time is None and len(captures) and plan.needs_times:
                choose_date(plan.label, None, {})
            self._builders[plan.label].add(captures)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all that was found."""
        plan = self._plan
        crawls = {}
        for label, builder in self._builders.items():
            attributes = self._cut_attributes(builder)
            crawls[label] = _facts_of(builder, attributes)
            yield from attribute_rows(
                attributes, slots=plan.slots, label=label, range_bits=plan.range_bits
            )
            if plan.attributes_below is not None:
                continue
            for level, runs in (
                (BY_URL, builder.runs),
                *((item.level, item.runs) for item in builder.levels),
            ):
                for part, keys in enumerate(runs.ranges(plan.range_bits)):
                    yield from key_rows(
                        keys,
                        slot=plan.slots[part],
                        label=label,
                        level=level,
                        part=part,
                        first_end=WHOLE,
                    )
        facts = {
            "pieces": self._pieces,
            "crawls": crawls,
            "log": self._log,
            "unassigned": dict(self._rest.counts),
            "examples": [asdict(example) for example in self._rest.examples],
        }
        yield facts_row(facts, plan.slots[0])

    def _read_whole(self, piece: Piece, facts: dict[str, Any]) -> None:
        choices = self._plan.choices
        reader = ArchiveReader(
            InputFiles(names=(piece.name,), repeated=()),
            self._request(),
            keep_damaged=choices.on_damage == "keep",
            n_threads=0,
            elsewhere=self._plan.names,
        )
        with closing(reader.captures()) as batches:
            self.take(batches)
        facts["inputs"] = [
            replace(item, through=item.through or piece.through).to_dict() for item in reader.inputs
        ]
        facts["damages"] = [damage.to_dict() for damage in reader.damages]
        facts["is_empty"] = bool(reader.without_captures)

    def _read_lines(self, piece: Piece, facts: dict[str, Any]) -> None:
        lines = LineRange(to_path(piece.name), piece.start or 0, piece.end or 0)
        stream = ByteStream(
            piece.name,
            open_file=lambda: lines,  # type: ignore[arg-type,return-value]
            max_expansion=self._plan.choices.max_expansion,
            keep_damaged=self._plan.choices.on_damage == "keep",
        )
        with stream:
            batches = FORMATS[piece.format or ""].read(stream, self._request())
            self.take(_moved(batch, lines.first) for batch in batches)
            facts["damages"] = [damage.to_dict() for damage in stream.damages]
        facts["n_lines"] = lines.n_lines

    def _request(self) -> Request:
        cut = self._plan.cut
        return self._plan.choices.request(None if cut is None else cut.group)

    def _cut_attributes(self, builder: SetBuilder) -> Attributes:
        """Return attributes as far as they can be among those that are kept of the whole crawl."""
        found = builder.attributes.finish()
        end = found.threshold
        if self._plan.attributes_below is not None:
            end = min(end, self._plan.attributes_below)
        elif self._plan.n_bytes and self.n_bytes and self._plan.slack:
            n_expected = builder.runs.n_most * self._plan.n_bytes / self.n_bytes
            share = self._plan.slack * MAX_KEYS / max(1.0, n_expected)
            if share < 1:
                end = min(end, max(1, int(builder.runs.threshold * share)))
        return found.below(end)


def _moved(captures: Captures, n_bytes: int) -> Captures:
    """Say of examples where they stand in the whole file."""
    if not captures.examples:
        return captures
    examples = tuple(replace(item, offset=item.offset + n_bytes) for item in captures.examples)
    return replace(captures, examples=examples)


def _facts_of(builder: SetBuilder, attributes: Attributes) -> dict[str, Any]:
    return {
        "n_captures": builder.n_captures,
        "n_no_status": builder.n_no_status,
        "rejected": dict(builder.rejected),
        "excluded": dict(builder.excluded),
        "days": list(builder.days.items()),
        "first_capture": format_time(builder.first_capture),
        "last_capture": format_time(builder.last_capture),
        "examples": [asdict(example) for example in builder.examples],
        # Beyond what numbers in JSON hold exactly.
        "attributes_below": hex(attributes.threshold),
        "thresholds": {
            BY_URL: hex(builder.runs.threshold),
            **{item.level: hex(item.runs.threshold) for item in builder.levels},
        },
        "levels": {
            item.level: {
                "n_captures": item.n_captures,
                "excluded": dict(item.excluded),
                "n_by_digest": item.n_by_digest,
            }
            for item in builder.levels
        },
    }


@contextmanager
def _collect_log() -> Iterator[list[tuple[int, str]]]:
    """Take up what is logged here, for the driver to log it where the user sees it."""
    messages: list[tuple[int, str]] = []

    class _Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append((record.levelno, record.getMessage()))

    logger, handler = logging.getLogger("crawlgauge"), _Collector(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
