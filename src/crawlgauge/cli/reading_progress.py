"""How far reading has come: a line on a terminal, now and then a line in a log."""

import logging
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

import click

from crawlgauge.cli.progress import CLEAR_LINE
from crawlgauge.sources.reading import Progress

__all__ = ["describe_reading", "show_reading"]

_SECONDS_ON_TERMINAL = 0.2
_SECONDS_IN_LOG = 60.0
_MEGABYTE = 1_000_000
_MIN_SECONDS_TO_FORESEE = 2.0
_HOUR, _MINUTE = 3600, 60

_log = logging.getLogger(__name__)


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
