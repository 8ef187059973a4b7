"""What adds crawls for the command ``add``: this machine, or Spark, with their progress."""

import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

import click

from crawlgauge.cli.progress import CLEAR_LINE
from crawlgauge.cli.records import to_record
from crawlgauge.cli.spark_session import run_spark
from crawlgauge.ingest.adding import Addition, SplitResult
from crawlgauge.report import crawls
from crawlgauge.sources.captures import Rejection
from crawlgauge.sources.reading import Progress

__all__ = [
    "describe_reading",
    "open_engine",
    "print_addition",
    "print_json",
    "print_unassigned",
    "show_reading",
]


# ------------------------------------------------------------------------------ what ``add`` prints


_log = logging.getLogger(__name__)


def print_addition(addition: Addition) -> None:
    """Print what came of adding a crawl in words."""
    _warn(addition)
    record = to_record(addition.crawl_set, addition.others)
    if addition.outcome == "unchanged":
        click.echo(f"{record.crawl.label}: unchanged, the same files were added before")
    else:
        verb = "appended to" if addition.outcome == "appended" else addition.outcome
        click.echo(f"{verb} {crawls.describe_added(record)}")


def print_json(additions: Sequence[Addition]) -> None:
    """Print what came of adding crawls as JSON."""
    for addition in additions:
        _warn(addition)
    records = [to_record(addition.crawl_set, addition.others) for addition in additions]
    outcomes = {item.crawl_set.crawl.label: item.outcome for item in additions}
    click.echo(crawls.to_json(records, outcomes=outcomes))


def print_unassigned(result: SplitResult) -> None:
    """Tell on standard error what of a collection belongs to none of its crawls."""
    _warn_of(result.examples)
    if result.unassigned:
        reasons = crawls.list_reasons(result.unassigned)
        _log.warning("belonging to none of the crawls: %s", reasons)


def _warn(addition: Addition) -> None:
    """Tell rejected records and damage on standard error."""
    _warn_of(addition.examples)
    for damage in addition.crawl_set.damage:
        _log.warning("crawl %s is incomplete: %s", addition.crawl_set.crawl.label, damage)


def _warn_of(examples: Sequence[Rejection]) -> None:
    for example in examples:
        place = ""
        if example.line is not None:
            place = f", line {example.line}"
        elif example.offset:
            place = f", byte {example.offset:,}"
        _log.warning("%s%s: rejected (%s): %s", example.file, place, example.reason, example.text)


# --------------------- how far reading has come: a line on a terminal, now and then a line in a log


_SECONDS_ON_TERMINAL = 0.2
_SECONDS_IN_LOG = 60.0
_MEGABYTE = 1_000_000
_MIN_SECONDS_TO_FORESEE = 2.0
_HOUR, _MINUTE = 3600, 60


@contextmanager
def show_reading() -> Iterator["_Reading | None"]:
    """Give a listener that shows how far reading has come, or None if nobody wants to see it."""
    if click.get_current_context().obj:
        yield None
        return
    reading = _Reading(on_terminal=sys.stderr.isatty())
    try:
        yield reading
    finally:
        reading.clear()


class _Reading:
    def __init__(self, *, on_terminal: bool) -> None:
        self._on_terminal = on_terminal
        self._start = self._last = time.monotonic()
        self._is_shown = False

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        between = _SECONDS_ON_TERMINAL if self._on_terminal else _SECONDS_IN_LOG
        if now - self._last < between:
            return
        self._last = now
        text = describe_reading(progress, now - self._start)
        if self._on_terminal:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(CLEAR_LINE + text[:width])
            sys.stderr.flush()
            self._is_shown = True
        else:
            _log.info("%s", text)

    def clear(self) -> None:
        """Take the line away, so that what follows begins on an empty one."""
        if self._is_shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
            self._is_shown = False


def describe_reading(progress: Progress, seconds: float) -> str:
    """Return how far reading has come after so many seconds, in a line.

    Examples
    --------
    >>> state = Progress(file="crawls/a.cdx.gz", n_bytes=50_000_000, n_bytes_total=200_000_000,
    ...                  n_captures=4_000_000)
    >>> describe_reading(state, 20.0)
    'reading 25% of 200 MB, 4,000,000 captures, 200,000 a second, 1:00 left: a.cdx.gz'
    """
    rate = progress.n_captures / seconds if seconds > 0 else 0
    if progress.n_bytes_total:
        done = min(progress.n_bytes / progress.n_bytes_total, 1.0)
        parts = [f"reading {done:.0%} of {progress.n_bytes_total / _MEGABYTE:,.0f} MB"]
    else:
        done = 0.0
        parts = [f"read {progress.n_bytes / _MEGABYTE:,.0f} MB"]
    parts += [f"{progress.n_captures:,} captures", f"{rate:,.0f} a second"]
    if done > 0 and seconds >= _MIN_SECONDS_TO_FORESEE:
        parts.append(f"{_clock(seconds * (1 - done) / done)} left")
    # A file's name may hold anything, also what moves the cursor.
    name = "".join(char if char.isprintable() else "?" for char in PurePath(progress.file).name)
    return f"{', '.join(parts)}: {name}"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, _HOUR)
    minutes, rest = divmod(rest, _MINUTE)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


# --------------------------------------------------------- what adds crawls for the command ``add``


@dataclass(frozen=True, slots=True, kw_only=True)
class Adders:
    """The ways of adding, whatever does it.

    Parameters
    ----------
    one
        Takes a label and inputs.
    many
        Takes a list of crawls.
    cut
        Takes the inputs of a collection.
    clear
        Takes the line of progress away before something is printed.
    """

    one: Callable[..., Addition]
    many: Callable[..., tuple[Addition, ...]]
    cut: Callable[..., SplitResult]
    clear: Callable[[], object]


@contextmanager
def open_engine(
    engine: str, store: str | None, master: str | None, spark_conf: Sequence[str]
) -> Iterator[Adders]:
    """Give the functions of an engine; Spark is started, and stopped in the end.

    Parameters
    ----------
    engine
        ``local`` or ``spark``.
    store
        As the user named it.
    master, spark_conf
        Options of Spark.
    """
    if engine == "spark":
        from crawlgauge.spark import adding

        with run_spark("adding", master, spark_conf) as (spark, line):
            progress = None if line is None else line.show_tasks

            def one(label: str, inputs: Sequence[str], **options: Any) -> Addition:  # noqa: ANN401
                return adding.add(
                    spark, inputs, store=store, label=label, progress=progress, **options
                )

            yield Adders(
                one=one,
                many=partial(adding.add_list, spark, store=store, progress=progress),
                cut=partial(adding.split, spark, store=store, progress=progress),
                clear=(lambda: None) if line is None else line.clear,
            )
        return
    from crawlgauge.ingest.adding import add_crawl, add_crawls, split_collection

    with show_reading() as listener:
        yield Adders(
            one=partial(add_crawl, store, progress=listener),
            many=partial(add_crawls, store, progress=listener),
            cut=partial(split_collection, store, progress=listener),
            clear=(lambda: None) if listener is None else listener.clear,
        )
