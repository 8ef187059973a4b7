"""Read the inputs of a crawl with Spark, in place of reading them on this machine.

Tasks read (`tasks`), keys are shuffled by hash range, and other tasks merge them (`rows`). What is
merged stays on the disks of the cluster until the driver has taken it, one range after the other.
"""

import datetime as dt
import logging
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.ingest.adding import ENGINE, ReadCrawl
from crawlgauge.ingest.builder import MAX_ATTRIBUTES, SetBuilder, open_builder
from crawlgauge.ingest.dates import needs_times
from crawlgauge.ingest.options import Choices
from crawlgauge.ingest.sorting import KeyMemory, SortedKeys
from crawlgauge.ingest.splitting import Cut, ReadCollection
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import BY_URL
from crawlgauge.keys.sampling import KEY_BITS, WHOLE, count_ranges
from crawlgauge.provenance import Input, Setting
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.columns import find_columns
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import MAX_EXAMPLES, ReadInputs, ReadingProgress
from crawlgauge.sources.remote import RemotePath, is_remote
from crawlgauge.sources.what_counts import Settings
from crawlgauge.spark.planning import Piece, plan_inputs
from crawlgauge.spark.rows import (
    ATTRIBUTES,
    REPORT,
    SCHEMA,
    choose_bits,
    merge_rows,
    unpack_attributes,
)
from crawlgauge.spark.session import count_cores, explain_failure
from crawlgauge.spark.tasks import (
    TABLE,
    PieceReport,
    Plan,
    TaskReport,
    read_pieces,
    read_table,
    summarise,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["SparkReader"]

_BYTES_PER_PART = 1 << 25
"""Of compressed inputs: not more than some million keys."""
_MAX_PARTS = 1 << 12
_TASKS_PER_CORE = 2
_FEW_KEYS = 1 << 20
"""To ask task by task, so that memory stays small, takes longer than to ask all at once."""
_COLUMN_NAMES = ("url", "urlkey", "timestamp", "status", "mime", "digest")
"""What columns of a table are called for the reader, by field."""

_known_slots: dict[int, list[int]] = {}
_Keys = NDArray[np.uint64]
_log = logging.getLogger(__name__)


class SparkReader:
    """Reads crawls with Spark; what it has made is released in the end.

    Parameters
    ----------
    spark
        The session.
    table
        Captures to read instead of files; None for files.
    """

    def __init__(self, spark: "SparkSession", table: "DataFrame | None" = None) -> None:
        self._spark = spark
        self._table = table
        self._kept: list[DataFrame] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        while self._kept:
            self._kept.pop().unpersist()

    def read(
        self,
        label: str,
        inputs: InputFiles,
        choices: Choices,
        *,
        date: dt.date | None,
        builder: SetBuilder,
        progress: ReadingProgress | None,  # noqa: ARG002 - Spark tells of its tasks
    ) -> ReadCrawl:
        """Read the inputs of one crawl, as `ingest.adding.read_crawl` does."""
        plan = _plan_tasks(label, choices, inputs)
        needs = needs_times(label, date)
        plan = replace(plan, needs_times=needs, row_threshold=builder.row_threshold)
        merged = self._run(inputs, plan, choices.reading(Names()))
        merged.fill(builder, label)
        read = merged.describe()
        if self._table is not None:
            read = replace(read, inputs=(merged.describe_table(label),))
        settings = _settings(choices, date)
        return ReadCrawl(builder=builder, read=read, settings=settings, unassigned={})

    def read_collection(
        self,
        inputs: InputFiles,
        cut: Cut,
        choices: Choices,
        *,
        memory: KeyMemory,
        progress: ReadingProgress | None,  # noqa: ARG002 - Spark tells of its tasks
    ) -> ReadCollection:
        """Read a collection and cut it, as `ingest.splitting.read_collection` does."""
        plan = replace(_plan_tasks("", choices, inputs), cut=cut)
        settings = choices.reading(Names(), is_split=True, group=cut.group)
        merged = self._run(inputs, plan, settings)
        builders = {}
        for label in sorted({label for report in merged.reports for label in report.crawls}):
            builders[label] = open_builder(choices.levels, choices.sampling, Names(), memory)
            merged.fill(builders[label], label)
        return ReadCollection(
            builders=builders,
            rest=sum((report.rest for report in merged.reports), Counter()),
            read=merged.describe(),
            settings=_settings(choices, None),
        )

    def _run(self, inputs: InputFiles, plan: Plan, settings: Settings) -> "_Merged":
        """Let tasks read, and others merge what they have found."""
        from pyspark import StorageLevel

        spark, n_cores = self._spark, count_cores(self._spark)
        for name in inputs.repeated:
            _log.warning("%s was named more than once; it is read once", name)
        if self._table is None:
            groups = plan_inputs(inputs, settings, _TASKS_PER_CORE * n_cores)
            n_bytes = sum(piece.n_bytes for group in groups for piece in group if not piece.end)
            n_parts = max(_TASKS_PER_CORE * n_cores, n_bytes // _BYTES_PER_PART)
            frame = spark.range(0, len(groups), 1, len(groups))
            task = partial(_read_groups, groups)
        else:
            # Nobody knows how large a table is before it is computed.
            n_parts = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
            frame, task = _select_columns(self._table, settings), read_table
            plan = replace(plan, choices=replace(plan.choices, column=None, format="parquet"))
        threshold = plan.choices.sampling.threshold
        bits = choose_bits(min(n_parts, _MAX_PARTS), threshold)
        n_parts = count_ranges(bits, threshold)
        with explain_failure("it was asked how it partitions"):
            plan = replace(plan, range_bits=bits, slots=_find_slots(spark, n_parts))
        rows = frame.mapInArrow(lambda batches: task(batches, plan), SCHEMA)
        merged = rows.repartition(n_parts, "slot").mapInArrow(merge_rows, SCHEMA)
        self._kept.append(merged.persist(StorageLevel.DISK_ONLY))
        return _Merged(merged, plan)


def _plan_tasks(label: str, choices: Choices, inputs: InputFiles) -> Plan:
    """Return what tasks are told, but for what depends on more than the user's words."""
    return Plan(
        label=label,
        choices=choices,
        cut=None,
        needs_times=False,
        row_threshold=WHOLE,
        range_bits=0,
        slots=[],
        addresses=tuple(RemotePath(name).address for name in inputs.names if is_remote(name)),
        folder=os.getcwd(),  # noqa: PTH109 - a string for the tasks
    )


def _settings(choices: Choices, date: dt.date | None) -> dict[str, Setting]:
    return {**choices.settings(date), ENGINE: "spark"}


def _read_groups(
    groups: list[tuple[Piece, ...]], batches: "Iterable[pa.RecordBatch]", plan: Plan
) -> "Iterator[pa.RecordBatch]":
    """Read the pieces of those groups whose numbers come in."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from read_pieces(groups[number], plan)


def _find_slots(spark: "SparkSession", n_tasks: int) -> list[int]:
    """Return a number for each task that Spark's own partitioning by hash leads to it.

    A shuffle by a column sends a row to the task that the column's hash tells. Of the numbers
    from 0 on, these are the first whose hashes tell 0, 1, 2 and so on: each range gets a task of
    its own, no task gets two, and the tasks' results are in the order of the ranges.
    """
    from pyspark.sql import functions as sf

    n_tried = 16 * n_tasks
    while len(_known_slots.get(n_tasks, ())) < n_tasks:
        n_tried *= 4
        task = sf.pmod(sf.hash("id"), sf.lit(n_tasks)).alias("task")
        numbers = spark.range(0, n_tried, 1, 1).groupBy(task).agg(sf.min("id").alias("slot"))
        found = sorted(numbers.collect(), key=lambda row: row["task"])
        _known_slots[n_tasks] = [row["slot"] for row in found]
    return _known_slots[n_tasks]


# ---------------------------------------------------------------------------------------- tables


def _select_columns(table: "DataFrame", settings: Settings) -> "DataFrame":
    """Select the columns that hold captures, and give them the names that readers know."""
    from pyspark.sql import functions as sf

    leaves = list(_list_leaves(table.schema, ()))
    # The nested index of Common Crawl calls url.url what the flat one calls url.
    names = ["url" if leaf == ("url", "url") else ".".join(leaf) for leaf in leaves]
    found = find_columns(names, settings, source=TABLE)
    return table.select(
        *(
            sf.col(".".join(f"`{step.replace('`', '``')}`" for step in leaves[place])).alias(
                _COLUMN_NAMES[field]
            )
            for field, place in found.items()
        )
    )


def _list_leaves(fields: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    for field in fields:
        place = (*above, field.name)
        if hasattr(field.dataType, "fields"):
            yield from _list_leaves(field.dataType, place)
        else:
            yield place


# --------------------------------------------------------------------------------- what was found


@dataclass(frozen=True, slots=True)
class _Size:
    """How many keys a row of a hash range holds, and their sum modulo 2**64."""

    part: int
    n_keys: int
    total: int


class _Holder(Protocol):
    """What has keys: a `SetBuilder` or a `LevelBuilder`."""

    runs: SortedKeys


class _Merged:
    """Merged rows, kept on the disks of the cluster. All the work is done when this is made."""

    def __init__(self, frame: "DataFrame", plan: Plan) -> None:
        from pyspark.sql import functions as sf

        self._frame, self._range_bits = frame, plan.range_bits
        self._is_limited = plan.choices.sampling.max_keys is not None
        self._here: list[Row] | None = None
        of_reports = sf.when(sf.col("what") == REPORT, sf.col("data")).alias("data")
        wanted = frame.where(sf.col("what") != ATTRIBUTES)
        reports: list[TaskReport] = []
        self._sizes: dict[tuple[str, str], list[_Size]] = {}
        for row in self._collect(wanted.select("label", "what", "part", "n", "total", of_reports)):
            if row["what"] == REPORT:
                reports.append(pickle.loads(row["data"]))  # noqa: S301 - of our own tasks
            else:
                size = _Size(row["part"], row["n"], row["total"])
                self._sizes.setdefault((row["label"], row["what"]), []).append(size)
        # Who was faster leaves no trace.
        self.reports = sorted(
            reports, key=lambda report: [item.piece.number for item in report.pieces]
        )
        if sum(size.n_keys for sizes in self._sizes.values() for size in sizes) <= _FEW_KEYS:
            self._here = self._collect(frame)

    @staticmethod
    def _collect(frame: "DataFrame") -> "list[Row]":
        with explain_failure("reading the inputs"):
            return list(frame.collect())

    def _rows(self, label: str, what: str, *, last: int, are_few: bool) -> "Iterator[Row]":
        """Yield rows up to a hash range, in rising order of these, as they come in."""
        if self._here is not None:
            yield from (
                row
                for row in self._here
                if (row["label"], row["what"]) == (label, what) and row["part"] <= last
            )
            return
        from pyspark.sql import functions as sf

        is_wanted = (sf.col("label") == label) & (sf.col("what") == what) & (sf.col("part") <= last)
        wanted = self._frame.where(is_wanted).select("data")
        if are_few:
            yield from self._collect(wanted)
            return
        with explain_failure("reading the inputs"):
            yield from wanted.toLocalIterator(prefetchPartitions=True)

    def _keys(self, label: str, level: str, n_keys: int) -> Iterator[_Keys]:
        rows = self._rows(label, level, last=WHOLE >> 32, are_few=n_keys <= _FEW_KEYS)
        return (np.frombuffer(row["data"], np.uint64) for row in rows)

    def describe(self) -> ReadInputs:
        """Return what was read, and log what tasks have logged, each message once."""
        for level, message in dict.fromkeys(one for report in self.reports for one in report.log):
            _log.log(level, "%s", message)
        found = [item for report in self.reports for item in report.pieces]
        n_found, n_lines = Counter[str](), Counter[str]()
        examples: list[Rejection] = []
        for item in found:
            examples += _in_file(item, n_lines[item.piece.name])
            n_lines[item.piece.name] += item.n_lines
            n_found[item.piece.name] += item.n_found
        for item in found:
            leads_on = item.piece.leads_on or item.piece.end
            if len(n_found) > 1 and not leads_on and not n_found[item.piece.name]:
                _log.warning("%s holds no captures", item.piece.name)
        return ReadInputs(
            inputs=tuple(one for item in found for one in item.read.inputs),
            damages=tuple(one for item in found for one in item.read.damages),
            examples=tuple(examples[:MAX_EXAMPLES]),
        )

    def describe_table(self, label: str) -> Input:
        """Return a table as an input: what it holds is told by its keys alone."""
        sizes = self._sizes.get((label, BY_URL), [])
        n_keys = sum(size.n_keys for size in sizes)
        total = sum(size.total for size in sizes) % WHOLE
        return Input(name="Spark table", checksum=f"keys-sum:{n_keys}:{total:016x}")

    def fill(self, builder: SetBuilder, label: str) -> None:
        """Let a builder have what was found of a crawl; its keys stay where they are."""
        parts = [report.crawls[label] for report in self.reports if label in report.crawls]
        for part in parts:
            builder.add(part.captures)
            builder.row_threshold = min(builder.row_threshold, part.row_threshold)
            for one in builder.levels:
                n_captures, n_by_digest, excluded = part.levels[one.level]
                one.n_captures += n_captures
                one.n_by_digest += n_by_digest
                one.excluded.update(excluded)
        holders: list[tuple[str, _Holder]] = [(BY_URL, builder)]
        holders += [(one.level, one) for one in builder.levels]
        for level, holder in holders:
            least = min(part.thresholds[level] for part in parts) if parts else WHOLE
            self._take_keys(holder, label, level, least)
        self._take_rows(builder, label)

    def _take_keys(self, holder: _Holder, label: str, level: str, least: int) -> None:
        n_keys = sum(size.n_keys for size in self._sizes.get((label, level), []))
        if not self._is_limited:
            holder.runs = _KeysElsewhere(
                holder.runs, n_keys, partial(self._keys, label, level, n_keys)
            )
            return
        # Below the least threshold of a task, all keys of the crawl are known.
        holder.runs.threshold = min(holder.runs.threshold, least)
        for keys in self._keys(label, level, n_keys):
            if int(keys[0]) >= holder.runs.threshold:
                break
            holder.runs.add(keys)

    def _take_rows(self, builder: SetBuilder, label: str) -> None:
        """Let a builder have attributes, of no more hash ranges than hold as many as are kept."""
        sizes = self._sizes.get((label, BY_URL), [])
        n_so_far = accumulate(size.n_keys for size in sizes)
        found = zip(sizes, n_so_far, strict=True)
        last = next((size.part for size, n in found if n > MAX_ATTRIBUTES), WHOLE >> 32)
        end = (last + 1) << (KEY_BITS - self._range_bits)
        builder.row_threshold = min(builder.row_threshold, end)
        for row in self._rows(label, ATTRIBUTES, last=last, are_few=True):
            builder.add(summarise(rows=unpack_attributes(row["data"], builder.names)))


class _KeysElsewhere:
    """Sorted keys that Spark holds, together with some that are here; see `SortedKeys`."""

    def __init__(
        self, here: SortedKeys, n_elsewhere: int, fetch: Callable[[], Iterator[_Keys]]
    ) -> None:
        self._here, self._n_elsewhere, self._fetch = here, n_elsewhere, fetch
        self.threshold = here.threshold

    @property
    def n_most(self) -> int:
        return self._n_elsewhere + self._here.n_most

    def add(self, keys: _Keys) -> None:
        self._here.add(keys)

    def ranges(self) -> Iterator[_Keys]:
        if self._here.n_most == 0:
            return self._fetch()
        for keys in self._fetch():
            self._here.add(keys)
        return self._here.ranges()


def _in_file(found: PieceReport, n_before: int) -> list[Rejection]:
    """Return examples with the lines that they have in their whole files."""
    return [
        one if one.line is None else replace(one, line=one.line + n_before)
        for one in found.read.examples
    ]
