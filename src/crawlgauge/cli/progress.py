"""How far a command has come: a line on a terminal, now and then a line in a log."""

import logging
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from crawlgauge.sources.reading import Progress

__all__ = ["ReadingLine", "TaskLine", "describe_reading", "show_progress", "show_reading"]

_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_FILES = 0.2
_SECONDS_IN_LOG = 60.0
_CLEAR_LINE = "\r\033[K"
_MEGABYTE = 1_000_000
_MIN_SECONDS_TO_FORESEE = 2.0

_log = logging.getLogger(__name__)


class _Line:
    """A line of a terminal that is written again and again."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()
        self._is_shown = False

    def write(self, text: str) -> None:
        """Show a text in place of the one before."""
        sys.stderr.write(_CLEAR_LINE + text)
        sys.stderr.flush()
        self._is_shown = bool(text)

    def clear(self) -> None:
        """Take the line away, so that what follows begins on an empty one."""
        if self._is_shown:
            self.write("")

    def _is_due(self, seconds_between: float) -> bool:
        now = time.monotonic()
        if now - self._last < seconds_between:
            return False
        self._last = now
        return True


class TaskLine(_Line):
    """Shows how much of something is done, as a share or as pieces of work.

    Parameters
    ----------
    title
        What is going on.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def __call__(self, n_done: int, n_total: int | None) -> None:
        """Show the share that is done, if some time has passed."""
        if self._is_due(_SECONDS_BETWEEN):
            share = f" {min(n_done, n_total) / n_total:.0%}" if n_total else ""
            self.write(self._title + share)

    def show_tasks(self, n_done: int, n_total: int) -> None:
        """Show how many pieces of work are done."""
        self.write(f"{self._title}: {n_done:,} of {n_total:,} tasks")


class ReadingLine(_Line):
    """Shows how far reading has come, or logs it where there is no terminal."""

    def __call__(self, progress: "Progress") -> None:
        """Show it, if some time has passed."""
        on_terminal = sys.stderr.isatty()
        if self._is_due(_SECONDS_BETWEEN_FILES if on_terminal else _SECONDS_IN_LOG):
            text = describe_reading(progress, self._last - self._start)
            if on_terminal:
                self.write(text[: shutil.get_terminal_size().columns - 1])
            else:
                _log.info("%s", text)


_AnyLine = TypeVar("_AnyLine", bound=_Line)


@contextmanager
def _show(line: _AnyLine | None) -> Iterator[_AnyLine | None]:
    try:
        yield line
    finally:
        if line is not None:
            line.clear()


def show_progress(title: str) -> AbstractContextManager[TaskLine | None]:
    """Give a function that shows progress, or None if nobody would see it.

    Parameters
    ----------
    title
        What is going on.
    """
    is_seen = not click.get_current_context().obj and sys.stderr.isatty()
    return _show(TaskLine(title) if is_seen else None)


def show_reading() -> AbstractContextManager[ReadingLine | None]:
    """Give a listener that shows how far reading has come, or None if nobody wants to see it."""
    return _show(None if click.get_current_context().obj else ReadingLine())


def describe_reading(progress: "Progress", seconds: float) -> str:
    """Return how far reading has come after so many seconds, in a line.

    Examples
    --------
    >>> from crawlgauge.sources.reading import Progress
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
        minutes, rest = divmod(round(seconds * (1 - done) / done), 60)
        hours, minutes = divmod(minutes, 60)
        clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
        parts.append(f"{clock} left")
    # A file's name may hold anything, also what moves the cursor.
    name = "".join(char if char.isprintable() else "?" for char in PurePath(progress.file).name)
    return f"{', '.join(parts)}: {name}"
