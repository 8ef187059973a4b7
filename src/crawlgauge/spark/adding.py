"""Add crawls with Spark: it reads the files, or tables, that are read on this machine otherwise.

The way of `add`: the inputs are cut into pieces; tasks read these (`tasks`), keys are shuffled by
hash range, and other tasks merge them. What is merged stays on the disks of the cluster until the
driver, which writes the set, has taken it, one range after the other.
"""

import datetime as dt
import logging
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace as changed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np

from crawlgauge.core.batch import Captures
from crawlgauge.errors import SourceError, StoreError
from crawlgauge.ingest import adding
from crawlgauge.ingest.builder import MAX_ATTRIBUTES, LevelBuilder, SetBuilder
from crawlgauge.ingest.crawl_list import NewCrawl, choose_crawls, find_all
from crawlgauge.ingest.options import Choices, ReadOptions, choose_when_present
from crawlgauge.ingest.sorting import SortedKeys
from crawlgauge.ingest.splitting import OneCrawl, Period, Splitter, choose_cut
from crawlgauge.keys.names import Names
from crawlgauge.keys.rules import BY_URL
from crawlgauge.keys.sampling import KEY_BITS, WHOLE, count_ranges
from crawlgauge.locations import StrPath
from crawlgauge.provenance import Input
from crawlgauge.sources import zipnum
from crawlgauge.sources.captures import MAX_EXAMPLES
from crawlgauge.sources.cdx_server import is_query
from crawlgauge.sources.columns import find_columns
from crawlgauge.sources.decompress import STDIN, Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.inputs import InputFiles, can_be_reread, identify_file
from crawlgauge.sources.reading import ReadingProgress, ReadInputs
from crawlgauge.sources.remote import RemotePath, is_remote, map_in_threads
from crawlgauge.sources.what_counts import Settings
from crawlgauge.spark import tasks
from crawlgauge.spark.session import Watcher, count_cores, explain_failure, map_items, watch_tasks
from crawlgauge.spark.tasks import Piece
from crawlgauge.store.catalogue import Store
from crawlgauge.store.key_set import Keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from crawlgauge.sources.captures import Rejection

TASK_MEMORY = 512 << 20
"""What a task takes for its keys and attributes, unless the user says otherwise: it fits beside
Java in what clusters usually give to a core."""

_BYTES_PER_PART = 1 << 25
"""Of compressed inputs: not more than some million keys."""
_MAX_PARTS = 1 << 12
_DOING = "reading the inputs"
_TASKS_PER_CORE = 2
_FEW_KEYS = 1 << 20
"""To ask task by task, so that memory stays small, takes longer than to ask all at once."""
_COLUMN_NAMES = ("url", "urlkey", "timestamp", "status", "mime", "digest")
"""What columns of a table are called for the reader, by field."""

PIECE_BYTES = 128 << 20
"""What a task reads at least, where there is so much: as large as the splits of Spark itself."""
_SPLITTABLE = frozenset({"urls", "cdxj", "jsonl", "crawl-log"})
"""Formats of lines that mean the same wherever they stand."""
_N_THREADS = 16
"""To look at many files at once takes no longer than the slowest answer of the file system."""

_known_slots: dict[int, dict[int, int]] = {}
_log = logging.getLogger(__name__)


def add(
    spark: "SparkSession",
    source: "DataFrame | StrPath | Iterable[StrPath]",
    *,
    store: StrPath | None = None,
    label: str,
    date: dt.date | str | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Watcher | None = None,
    **options: Unpack[ReadOptions],
) -> adding.Addition:
    """Read the files of one crawl, or a table of its captures, into a store with Spark.

    The set has the same keys and counts as one that was read without Spark.

    Parameters
    ----------
    spark
        The session.
    source
        Files, folders or globs that all executors reach by the same name, of any format; or a
        DataFrame with a column of URLs, and of times, statuses, media types and digests where it
        has them. They are found by their names, as in Parquet files.
    store
        The store's folder, as for `open_store`. Only the driver writes to it.
    label, date, replace
        As for `add_crawl`.
    append
        Whether further files are added to an existing crawl of that label.
    progress
        Called now and then with how many tasks of how many are done.
    **options
        What counts and how files are read; see `ReadOptions`. Of ``memory``, each task takes so
        much: 512 MB by default.

    Returns
    -------
    Addition
        The crawl as it is in the store, and what came of adding it.

    Raises
    ------
    CrawlgaugeError
        If the label, the date, an input or the store cannot be used, or Spark fails; the store is
        as before.
    """
    present = choose_when_present(replace=replace, append=append)
    table, files = _read_source(source, options, append=append)
    crawl = NewCrawl.of(label, date, files)
    with (
        _open(spark, store, options, progress) as (opened, choices),
        _reading(spark, table) as read,
    ):
        return adding.add_to_store(opened, crawl, choices, present, read=read)


def add_list(
    spark: "SparkSession",
    crawl_list: StrPath | None = None,
    *,
    each: StrPath | Iterable[StrPath] | None = None,
    store: StrPath | None = None,
    replace: bool = False,
    append: bool = False,
    progress: Watcher | None = None,
    on_added: Callable[[adding.Addition], None] | None = None,
    **options: Unpack[ReadOptions],
) -> tuple[adding.Addition, ...]:
    """Add all crawls of a list, or one of each file, with Spark, one after the other.

    Parameters
    ----------
    spark
        The session.
    crawl_list, each, on_added
        As for `add_crawls`.
    store, replace, append, progress, **options
        As for `add`.

    Raises
    ------
    CrawlgaugeError
        As for `add`; crawls before the one that failed are in the store.
    """
    present = choose_when_present(replace=replace, append=append)
    crawls = choose_crawls(crawl_list, each, options)
    additions = []
    with _open(spark, store, options, progress) as (opened, choices):
        for crawl in crawls:
            with _reading(spark) as read:
                additions.append(adding.add_to_store(opened, crawl, choices, present, read=read))
            if on_added is not None:
                on_added(additions[-1])
    return tuple(additions)


def split(
    spark: "SparkSession",
    inputs: StrPath | Iterable[StrPath],
    *,
    store: StrPath | None = None,
    period: Period | None = None,
    pattern: str | None = None,
    field: str = "filename",
    replace: bool = False,
    progress: Watcher | None = None,
    **options: Unpack[ReadOptions],
) -> adding.SplitResult:
    """Cut a collection-wide index into crawls with Spark, in one pass over its files.

    Parameters
    ----------
    spark
        The session.
    inputs
        Files, folders or globs that all executors reach by the same name.
    period, pattern, field
        As for `split_collection`.
    store, replace, progress, **options
        As for `add`.

    Raises
    ------
    CrawlgaugeError
        As for `add`.
    ValueError
        If not just one of `period` and `pattern` is given.
    """
    cut = choose_cut(period, pattern, field)
    present, files = choose_when_present(replace=replace, append=False), find_all(inputs, options)
    with _open(spark, store, options, progress) as (opened, choices), _reading(spark) as read:
        return adding.add_split(opened, files, cut, choices, present, read=read)


@contextmanager
def _open(
    spark: "SparkSession", store: StrPath | None, options: ReadOptions, progress: Watcher | None
) -> Iterator[tuple[Store, Choices]]:
    with adding.open_for_adding(store, options) as (opened, chosen), watch_tasks(spark, progress):
        memory = chosen.memory if options.get("memory") else TASK_MEMORY
        yield opened, changed(chosen, memory=memory, engine="spark")


def _read_source(
    source: "DataFrame | StrPath | Iterable[StrPath]", options: ReadOptions, *, append: bool
) -> "tuple[DataFrame | None, InputFiles]":
    if not hasattr(source, "mapInArrow"):
        return None, find_all(source, options)
    if append:
        raise StoreError(
            "a table cannot be appended to a crawl, as it cannot be told whether it is in it "
            "already; unite the tables and add them with replace=True"
        )
    return cast("DataFrame", source), InputFiles(names=(tasks.TABLE,))


# ----------------------------------------------------------------------------------------- reading


@contextmanager
def _reading(spark: "SparkSession", table: "DataFrame | None" = None) -> Iterator[adding.Reader]:
    """Give what reads crawls with Spark, from a table or from files; release what it has made."""
    from pyspark import StorageLevel

    with ExitStack() as kept:

        def read(
            inputs: InputFiles,
            choices: Choices,
            target: OneCrawl | Splitter,
            _progress: ReadingProgress | None,  # Spark tells of its tasks.
        ) -> ReadInputs:
            label, most = target.label, target.row_threshold
            plan = tasks.Plan(choices, label, target.cut, target.needs_times, most)
            frame, plan = _run(spark, table, inputs, plan)
            kept.callback(frame.persist(StorageLevel.DISK_ONLY).unpersist)
            merged = _Merged(frame, plan)
            for one in sorted({one for report in merged.reports for one in report.crawls}):
                merged.fill(target.builder(one), one)
            for report in merged.reports:
                target.rest.update(report.rest)
            found = merged.describe()
            return (
                found if table is None else changed(found, inputs=(merged.describe_table(label),))
            )

        yield read


def _run(
    spark: "SparkSession", table: "DataFrame | None", inputs: InputFiles, plan: tasks.Plan
) -> "tuple[DataFrame, tasks.Plan]":
    """Let tasks read, and others merge what they have found."""
    n_tasks = _TASKS_PER_CORE * count_cores(spark)
    settings, threshold = plan.choices.reading(Names(), plan.cut), plan.choices.sampling.threshold
    if table is None:
        groups = _plan_inputs(inputs, settings, n_tasks)
        n_bytes = sum(piece.n_bytes for group in groups for piece in group if not piece.end)
        n_parts = max(n_tasks, n_bytes // _BYTES_PER_PART)
    else:
        # Nobody knows how large a table is before it is computed.
        n_parts = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        plan = changed(plan, choices=changed(plan.choices, column=None, format="parquet"))
    bits = tasks.choose_bits(min(_MAX_PARTS, n_parts), threshold)
    n_parts = count_ranges(bits, threshold)
    plan = changed(
        plan,
        range_bits=bits,
        slots=_find_slots(spark, n_parts),
        addresses=tuple(RemotePath(name).address for name in inputs.names if is_remote(name)),
        folder=os.getcwd(),  # noqa: PTH109 - a string for the tasks
    )
    if table is None:
        rows = map_items(spark, groups, partial(tasks.read_pieces, plan), tasks.SCHEMA)
    else:
        columns = _select_columns(table, settings)
        rows = columns.mapInArrow(partial(tasks.read_table, plan), tasks.SCHEMA)
    return rows.repartition(n_parts, "slot").mapInArrow(tasks.merge_rows, tasks.SCHEMA), plan


def _find_slots(spark: "SparkSession", n_tasks: int) -> tuple[int, ...]:
    """Return a number for each task that Spark's own partitioning by hash leads to it.

    A shuffle by a column sends a row to the task that the column's hash tells. Of the numbers
    from 0 on, these are the first whose hashes tell 0, 1, 2 and so on: each range gets a task of
    its own, no task gets two, and the tasks' results are in the order of the ranges.
    """
    n_tried, known = 16 * n_tasks, _known_slots.setdefault(n_tasks, {})
    while len(known) < n_tasks:
        n_tried *= 4
        hashed = spark.range(0, n_tried, 1, 1).selectExpr(f"pmod(hash(id), {n_tasks})")
        for slot, (task,) in enumerate(_collect(hashed)):
            known.setdefault(task, slot)
    return tuple(known[task] for task in range(n_tasks))


def _select_columns(table: "DataFrame", settings: Settings) -> "DataFrame":
    """Select the columns that hold captures, and give them the names that readers know."""
    found = find_columns(table.columns, settings, source=tasks.TABLE)
    names = [f"`{name.replace('`', '``')}`" for name in table.columns]
    chosen = (f"{names[place]} as {_COLUMN_NAMES[field]}" for field, place in found.items())
    return table.selectExpr(*chosen)


# ------------------------------------------------------------------------- pieces of the inputs


def _plan_inputs(inputs: InputFiles, settings: Settings, n_tasks: int) -> list[tuple[Piece, ...]]:
    """Return what each task reads; small files are put together beyond as many as can run."""
    for name in inputs.names:
        if is_query(name):
            raise SourceError(f"{name}: one machine asks a CDX server; use --engine local for that")
        if not can_be_reread(name):
            what = "standard input" if name == STDIN else f"{name}, which is no regular file,"
            raise SourceError(
                f"{what} cannot be read by the tasks of Spark; save it to a file that all of them "
                "can reach, or use --engine local"
            )
    looked = list(_look_at_all(inputs, settings))
    cut = (part for piece in looked for part in _cut(piece))
    pieces = [changed(piece, number=number) for number, piece in enumerate(cut)]
    n_bytes = sum(piece.n_bytes for piece in looked)
    return list(_group(pieces, min(PIECE_BYTES, n_bytes // n_tasks)))


def _look_at_all(inputs: InputFiles, settings: Settings) -> Iterator[Piece]:
    """Yield all inputs in order; those that an index leads to stand before it, as when read."""
    known = {identify_file(name) for name in inputs.names}
    with ThreadPoolExecutor(_N_THREADS) as pool:
        look = partial(_look, inputs=inputs, settings=settings)
        for found in map_in_threads(pool, look, inputs.names):
            for part in found.leads_to:
                if identify_file(part) not in known:
                    known.add(identify_file(part))
                    yield changed(_look(part, inputs, settings), through=found.name)
            yield found


def _look(name: str, inputs: InputFiles, settings: Settings) -> Piece:
    """Return an input as one piece, with the format if it can be cut."""
    # Where a server does not tell the size, it is one piece that is as large as others.
    n_bytes = inputs.sizes.get(name, PIECE_BYTES)
    piece = Piece(
        number=0, name=name, n_bytes=n_bytes if is_remote(name) else Path(name).stat().st_size
    )
    try:
        with Stream(name) as stream:
            beginning = stream.beginning()
            if zipnum.looks_like_zipnum_index(beginning):
                names = tuple(str(path) for path, _ in zipnum.read_cluster(stream))
                return changed(piece, leads_on=True, leads_to=names)
            if zipnum.looks_like_zipnum_locations(beginning):
                return changed(piece, leads_on=True)
            is_plain = stream.place == stream.n_read
        if not is_plain or piece.n_bytes <= PIECE_BYTES:
            return piece
        kind = find_format(beginning, settings, name).name
    except SourceError:
        return piece  # The task that reads it says so, unless one before it has more to say.
    return changed(piece, format=kind if kind in _SPLITTABLE else None)


def _cut(whole: Piece) -> Iterator[Piece]:
    yield whole
    if whole.format is not None:
        for start in range(0, whole.n_bytes, PIECE_BYTES):
            end = min(start + PIECE_BYTES, whole.n_bytes)
            yield changed(whole, n_bytes=end - start, start=start, end=end)


def _group(pieces: Iterable[Piece], most: int) -> Iterator[tuple[Piece, ...]]:
    """Put small inputs together, but not so many that there is no work for all."""
    group: list[Piece] = []
    n_grouped = 0
    for piece in pieces:
        if group and n_grouped + piece.n_bytes > most:
            yield tuple(group)
            group, n_grouped = [], 0
        group.append(piece)
        n_grouped += piece.n_bytes
    if group:
        yield tuple(group)


# ---------------------------------------------------------------------------------- what was found


class _Merged:
    """Merged rows, kept on the disks of the cluster. All the work is done when this is made."""

    def __init__(self, frame: "DataFrame", plan: tasks.Plan) -> None:
        self._frame, self._plan = frame, plan
        self._sizes: dict[tuple[str, str], list[Row]] = {}
        self.reports: list[tasks.TaskReport] = []
        of_reports = f"if(what = '{tasks.REPORT}', data, null) data"
        wanted = frame.where(frame["what"] != tasks.ATTRIBUTES)
        for row in _collect(wanted.selectExpr("label", "what", "part", "n", "total", of_reports)):
            if row["what"] == tasks.REPORT:
                self.reports.append(pickle.loads(row["data"]))  # noqa: S301 - of our own tasks
            else:
                self._sizes.setdefault((row["label"], row["what"]), []).append(row)
        # Who was faster leaves no trace.
        self.reports.sort(key=lambda report: [one.piece.number for one in report.pieces])

    def _fetch(self, label: str, what: str, n_keys: int, last: int = _MAX_PARTS) -> "Iterator[Row]":
        """Yield rows up to a hash range, in rising order of these; few come all at once."""
        frame = self._frame
        is_wanted = (frame["label"] == label) & (frame["what"] == what) & (frame["part"] <= last)
        wanted = frame.where(is_wanted).select("data")
        with explain_failure(_DOING):
            yield from wanted.collect() if n_keys <= _FEW_KEYS else wanted.toLocalIterator(True)

    def describe(self) -> ReadInputs:
        """Return what was read, and log what tasks have logged, each message once."""
        for level, message in dict.fromkeys(one for report in self.reports for one in report.log):
            _log.log(level, "%s", message)
        found = [one for report in self.reports for one in report.pieces]
        n_found, n_lines = Counter[str](), Counter[str]()
        examples: list[Rejection] = []
        for one in found:
            n_before = n_lines[one.piece.name]
            examples += [
                changed(item, line=item.line and n_before + item.line) for item in one.read.examples
            ]
            n_lines[one.piece.name] += one.n_lines
            n_found[one.piece.name] += one.n_found
        for one in found:
            is_asked = not one.piece.leads_on and not one.piece.end
            if is_asked and not n_found[one.piece.name] and len(n_found) > 1:
                _log.warning("%s holds no captures", one.piece.name)
        return ReadInputs(
            inputs=tuple(item for one in found for item in one.read.inputs),
            damages=tuple(item for one in found for item in one.read.damages),
            examples=tuple(examples[:MAX_EXAMPLES]),
        )

    def describe_table(self, label: str) -> Input:
        """Return a table as an input: what it holds is told by its keys alone."""
        sizes = self._sizes.get((label, BY_URL), [])
        n_keys, total = (sum(size[name] for size in sizes) for name in ("n", "total"))
        return Input(name="Spark table", checksum=f"keys-sum:{n_keys}:{total % WHOLE:016x}")

    def fill(self, builder: SetBuilder, label: str) -> None:
        """Let a builder have what was found of a crawl; its keys stay where they are."""
        parts = [report.crawls[label] for report in self.reports if label in report.crawls]
        for part in parts:
            builder.add(part.captures)
            builder.row_threshold = min(builder.row_threshold, part.row_threshold)
            for one in builder.levels:
                for name, counted in part.levels[one.level].items():
                    setattr(one, name, getattr(one, name) + counted)
        self._take_rows(builder, label)
        holders: list[tuple[str, SetBuilder | LevelBuilder]] = [(BY_URL, builder)]
        for level, holder in holders + [(one.level, one) for one in builder.levels]:
            n_keys = sum(size["n"] for size in self._sizes.get((label, level), []))
            keys = _KeysElsewhere(holder.runs, n_keys, partial(self._fetch, label, level, n_keys))
            if self._plan.choices.sampling.max_keys is None:
                holder.runs = keys
            else:
                # Below the least threshold of a task, all keys of the crawl are known.
                keys.take_smallest(min(part.thresholds[level] for part in parts))

    def _take_rows(self, builder: SetBuilder, label: str) -> None:
        """Let a builder have attributes, of no more hash ranges than hold as many as are kept."""
        n_keys, last = 0, _MAX_PARTS
        for size in self._sizes.get((label, BY_URL), []):
            n_keys += size["n"]
            if n_keys > MAX_ATTRIBUTES:
                last = size["part"]
                break
        end = (last + 1) << (KEY_BITS - self._plan.range_bits)
        builder.row_threshold = min(builder.row_threshold, end)
        for row in self._fetch(label, tasks.ATTRIBUTES, 0, last):
            builder.add(Captures(rows=tasks.unpack_attributes(row["data"], builder.names)))


def _collect(frame: "DataFrame") -> "list[Row]":
    with explain_failure(_DOING):
        return list(frame.collect())


class _KeysElsewhere:
    """Sorted keys that Spark holds, together with some that are here; see `SortedKeys`."""

    def __init__(
        self, here: SortedKeys, n_there: int, fetch: "Callable[[], Iterator[Row]]"
    ) -> None:
        self._here, self._n_there, self._fetch = here, n_there, fetch
        self.threshold = here.threshold

    @property
    def n_most(self) -> int:
        return self._n_there + self._here.n_most

    def add(self, keys: Keys) -> None:
        self._here.add(keys)

    def ranges(self) -> Iterator[Keys]:
        if self._here.n_most == 0:
            return self._there()
        for keys in self._there():
            self._here.add(keys)
        return self._here.ranges()

    def take_smallest(self, threshold: int) -> None:
        """Take those here that are below a threshold, until these are more than are wanted."""
        self._here.threshold = min(self._here.threshold, threshold)
        for keys in self._there():
            if keys[0] >= self._here.threshold:
                break
            self._here.add(keys)

    def _there(self) -> Iterator[Keys]:
        last = -1
        for row in self._fetch():
            keys = np.frombuffer(row["data"], np.uint64)
            if int(keys[0]) <= last:
                raise ValueError("keys came in another order than that of their hash ranges")
            last = int(keys[-1])
            yield keys
