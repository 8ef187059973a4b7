"""Read the inputs of a crawl with Spark, in place of reading them on this machine."""

import datetime as dt
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.keys.levels import BY_URL
from crawlgauge.keys.thresholds import KEY_BITS, WHOLE, count_ranges
from crawlgauge.provenance import Input, Setting
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.spark import tables
from crawlgauge.spark.facts import Facts
from crawlgauge.spark.map_task import TaskPlan, read_pieces, read_tables
from crawlgauge.spark.planning import PIECE_BYTES, InputPlan, plan_inputs
from crawlgauge.spark.rows import decode_attributes
from crawlgauge.spark.shuffling import (
    FEW_KEYS,
    PartSize,
    Shuffled,
    Sizes,
    Task,
    count_cores,
    run_tasks,
)
from crawlgauge.spark.slots import find_slots
from crawlgauge.spark.streamed_keys import StreamedKeys, first_end
from crawlgauge.store.attributes import MAX_KEYS
from crawlgauge.store.building import SetBuilder, open_builder
from crawlgauge.store.choices import Choices
from crawlgauge.store.cuts import Cut
from crawlgauge.store.dating import needs_times
from crawlgauge.store.key_runs import KeyMemory, SortedKeys
from crawlgauge.store.making import ENGINE, ReadCrawl, check_not_empty, settings_of
from crawlgauge.store.splitting import ReadCollection, Rest

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkReader"]

TASK_MEMORY = 512 << 20
"""What a task takes for its keys and attributes, unless the user says otherwise: it fits beside
Java in what clusters usually give to a core."""

ATTRIBUTE_SLACK = 8.0
"""Tasks hand on so many times as many attributes as are kept: files differ in how many of their
URLs others hold too, and in how long their lines are."""

_KEYS_PER_PART = 1 << 22
_MAX_PART_BITS = 12
_PARTS_PER_CORE = 2
_PARTITIONS, _USUAL_PARTITIONS = "spark.sql.shuffle.partitions", 200
_TASKS_PER_CORE = 2

_log = logging.getLogger(__name__)


class SparkReader:
    """Reads crawls with Spark; what it has made is released in the end.

    Parameters
    ----------
    spark
        The session.
    frame
        A table of captures to read instead of files; None for files.
    """

    def __init__(self, spark: "SparkSession", frame: "DataFrame | None" = None) -> None:
        self._spark = spark
        self._frame = frame
        self._kept: list[Shuffled] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._kept:
            self._kept.pop().release()

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
        """Read the inputs of one crawl, as `store.making.read_crawl` does."""
        job = _Job(self._spark, inputs, choices, None, label=label, date=date, frame=self._frame)
        shuffled = self._run(job)
        documents, sizes = shuffled.collect()
        facts = Facts(documents)
        facts.log(n_inputs=len(inputs.names))
        facts.add_to(builder, label)
        check_not_empty(builder, inputs, facts.damages)
        self._take_keys(builder, label, shuffled, sizes, facts, choices)
        self._take_attributes(builder, label, shuffled, sizes, facts, job)
        given = facts.inputs
        if self._frame is not None:
            given = (_describe_frame(sizes.get((label, BY_URL), [])),)
        return ReadCrawl(
            builder=builder,
            inputs=given,
            damage=tuple(facts.damages),
            settings=_settings(choices, date),
            unassigned={},
        )

    def read_collection(
        self,
        inputs: InputFiles,
        cut: Cut,
        choices: Choices,
        *,
        memory: KeyMemory,
        progress: ReadingProgress | None,  # noqa: ARG002 - Spark tells of its tasks
    ) -> ReadCollection:
        """Read a collection and cut it, as `store.splitting.read_collection` does."""
        job = _Job(self._spark, inputs, choices, cut, label="", date=None, frame=None)
        shuffled = self._run(job)
        documents, sizes = shuffled.collect()
        facts = Facts(documents)
        facts.log(n_inputs=len(inputs.names))
        builders = {}
        for label in facts.labels:
            builders[label] = open_builder(choices, memory)
            facts.add_to(builders[label], label)
            self._take_keys(builders[label], label, shuffled, sizes, facts, choices)
            self._take_attributes(builders[label], label, shuffled, sizes, facts, job)
        rest = Rest()
        rest.counts.update(facts.unassigned)
        rest.examples += facts.unassigned_examples
        return ReadCollection(
            builders=builders,
            rest=rest,
            inputs=facts.inputs,
            damage=tuple(facts.damages),
            settings=_settings(choices, None),
        )

    def _run(self, job: "_Job", attributes_below: int | None = None) -> Shuffled:
        shuffled = job.run(attributes_below)
        self._kept.append(shuffled)
        return shuffled

    def _take_keys(
        self,
        builder: SetBuilder,
        label: str,
        shuffled: Shuffled,
        sizes: Sizes,
        facts: Facts,
        choices: Choices,
    ) -> None:
        """Let the builder have the keys that Spark holds, at each level."""
        holders: list[tuple[str, _Holder]] = [(BY_URL, builder)]
        holders += [(item.level, item) for item in builder.levels]
        for level, holder in holders:
            found = sizes.get((label, level), [])
            n_keys = sum(size.n_keys for size in found)
            if choices.sampling.max_keys is not None:
                least = facts.threshold(label, level)
                _take_smallest(holder.runs, shuffled.keys(label, level, n_keys), least)
                continue
            holder.runs = StreamedKeys(
                partial(shuffled.keys, label, level, n_keys),
                n_keys,
                sum(size.n_first for size in found),
                holder.runs,
            )

    def _take_attributes(
        self,
        builder: SetBuilder,
        label: str,
        shuffled: Shuffled,
        sizes: Sizes,
        facts: Facts,
        job: "_Job",
    ) -> None:
        """Let the builder have the attributes of the smallest keys."""
        n_keys = sum(size.n_keys for size in sizes.get((label, BY_URL), []))
        found = shuffled.attributes(label, n_keys)
        known = decode_attributes(found, facts.attributes_below(label))
        if len(known) < MAX_KEYS and known.threshold < job.threshold:
            # Tasks have handed on too few: the files hold the same URLs, or very unlike ones.
            end = _find_end(sizes.get((label, BY_URL), []), job)
            if end > known.threshold:
                _log.info("reading the inputs once more, for hosts and media types")
                again = self._run(job, attributes_below=end)
                below = Facts(again.collect()[0]).attributes_below(label)
                known = decode_attributes(again.attributes(label, n_keys), below)
        builder.attributes.take_up(known)


class _Holder(Protocol):
    """What has keys: a `SetBuilder` or a `LevelBuilder`."""

    runs: SortedKeys


class _Job:
    """How the inputs of a crawl, or of a collection, are read by tasks."""

    def __init__(
        self,
        spark: "SparkSession",
        inputs: InputFiles,
        choices: Choices,
        cut: Cut | None,
        *,
        label: str,
        date: dt.date | None,
        frame: "DataFrame | None",
    ) -> None:
        for name in inputs.repeated:
            _log.warning("%s was named more than once; it is read once", name)
        self._spark, self._frame = spark, frame
        self._request = choices.request(None if cut is None else cut.group)
        self._cores = count_cores(spark)
        self._inputs = None if frame is not None else self._plan(inputs, choices, cut)
        self.threshold = choices.sampling.threshold
        self.range_bits = _choose_bits(self._count_parts(), self.threshold)
        self.n_parts = count_ranges(self.range_bits, self.threshold)
        self._task_plan = TaskPlan(
            label=label,
            choices=choices,
            cut=cut,
            needs_times=cut is None and needs_times(label, date),
            range_bits=self.range_bits,
            slots=find_slots(spark, self.n_parts),
            names=() if self._inputs is None else self._inputs.names,
            folder=os.getcwd(),  # noqa: PTH109 - a string for the tasks
            n_bytes=0 if self._inputs is None else self._inputs.n_bytes,
            slack=ATTRIBUTE_SLACK,
        )

    def run(self, attributes_below: int | None) -> Shuffled:
        """Let the tasks read; `attributes_below` as in `TaskPlan`."""
        plan = replace(self._task_plan, attributes_below=attributes_below)
        return run_tasks(
            list(self._frames(plan)),
            self.n_parts,
            first_end(self.threshold),
            are_few=self._inputs is not None and self._inputs.n_most_keys <= FEW_KEYS,
        )

    def _count_parts(self) -> int:
        """Return into how many parts the keys are cut at least: some megabytes, and not few."""
        if self._inputs is None:
            # Nobody knows how large a table is before it is computed.
            return int(self._spark.conf.get(_PARTITIONS) or _USUAL_PARTITIONS)
        n_by_size = self._inputs.n_most_keys // _KEYS_PER_PART
        return max(_PARTS_PER_CORE * self._cores, n_by_size)

    def _plan(self, inputs: InputFiles, choices: Choices, cut: Cut | None) -> InputPlan:
        def choose(names: Sequence[str]) -> Sequence[str]:
            # What cuts a collection may stand in a folder's name, of which Spark does not tell.
            return () if cut else tables.find_readable(names, self._request)

        return plan_inputs(
            inputs.names,
            self._request,
            n_tasks=_TASKS_PER_CORE * self._cores,
            choose_tables=choose,
            keep_damaged=choices.on_damage == "keep",
        )

    def _frames(self, plan: TaskPlan) -> "Iterator[tuple[DataFrame, Task]]":
        if self._frame is not None:
            yield self._read_frame(self._frame, plan, "the table", 0)
            return
        if self._inputs is None:
            return
        groups = self._inputs.groups
        if groups:
            numbers = self._spark.range(0, len(groups), 1, len(groups))

            def read(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
                for batch in batches:
                    for number in batch.column(0).to_pylist():
                        yield from read_pieces(groups[number], plan)

            yield numbers, read
        if self._inputs.tables:
            frame = tables.read_files(self._spark, self._inputs.tables)
            n_tables = len(self._inputs.tables)
            name = self._inputs.tables[0] if n_tables == 1 else f"{n_tables} Parquet files"
            yield self._read_frame(frame, plan, name, PIECE_BYTES)

    def _read_frame(
        self, frame: "DataFrame", plan: TaskPlan, name: str, n_bytes: int
    ) -> "tuple[DataFrame, Task]":
        selected, fields = tables.select_fields(frame, self._request, name)

        def read(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            return read_tables(batches, fields, plan, name=name, n_bytes=n_bytes)

        return selected, read


def _choose_bits(n_parts: int, threshold: int) -> int:
    """Return by how many leading bits to cut keys below a threshold into so many parts."""
    bits = min(_MAX_PART_BITS, (n_parts - 1).bit_length())
    # Of a sample, only some of the parts have keys.
    return bits + (WHOLE // threshold).bit_length() - 1


def _take_smallest(runs: SortedKeys, stream: Iterable[NDArray[np.uint64]], least: int) -> None:
    """Add keys in rising order until those that are kept are known."""
    runs.threshold = min(runs.threshold, least)
    for keys in stream:
        if int(keys[0]) >= runs.threshold:
            break
        runs.add(keys)


def _find_end(sizes: list[PartSize], job: _Job) -> int:
    """Return below which hash range's end there are as many keys as have attributes."""
    n_keys = 0
    for size in sizes:
        n_keys += size.n_keys
        if n_keys >= MAX_KEYS:
            return min(job.threshold, (size.part + 1) << (KEY_BITS - job.range_bits))
    return job.threshold


def _describe_frame(sizes: list[PartSize]) -> Input:
    """Return a table as an input: what it holds is told by its keys alone."""
    total = sum(size.total for size in sizes) % WHOLE
    n_keys = sum(size.n_keys for size in sizes)
    return Input(name="Spark table", checksum=f"keys-sum:{n_keys}:{total:016x}")


def _settings(choices: Choices, date: dt.date | None) -> dict[str, Setting]:
    return {**settings_of(choices, date), ENGINE: "spark"}
