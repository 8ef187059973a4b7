"""How far a command has come: a line on a terminal, now and then a line in a log."""

import logging
import shutil
import sys
import threading
import time
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

import click

from crawlgauge.errors import printable, printable_lines

if TYPE_CHECKING:
    from crawlgauge.sources.reading import Progress

_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_FILES = 0.2
_SECONDS_BETWEEN_TICKS = 0.5
_SECONDS_IN_LOG = 60.0
_CLEAR_LINE = "\r\033[K"
_MEGABYTE = 1_000_000
_MIN_SECONDS_TO_FORESEE = 2.0

_log = logging.getLogger(__name__)


class _Line:
    """A line of a terminal that is written again and again; one at a time is shown."""

    shown: "_Line | None" = None

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()

    def write(self, text: str) -> None:
        """Show a text in place of the one before."""
        sys.stderr.write(_CLEAR_LINE + text[: shutil.get_terminal_size().columns - 1])
        sys.stderr.flush()
        _Line.shown = self if text else None

    def clear(self) -> None:
        """Take the line away, so that what follows begins on an empty one."""
        if _Line.shown is self:
            self.write("")

    def close(self) -> None:
        """Show nothing more."""
        self.clear()

    def _is_due(self, seconds_between: float) -> bool:
        now = time.monotonic()
        if now - self._last < seconds_between:
            return False
        self._last = now
        return True


def clear_line() -> None:
    """Take away the line that is shown, so that what follows begins on an empty one."""
    if _Line.shown is not None:
        _Line.shown.clear()


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes messages to standard error, on lines of their own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a message as it is safe to print."""
        return printable_lines(super().format(record))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message in place of the progress that is shown."""
        clear_line()
        super().emit(record)


class TaskLine(_Line):
    """Shows what is going on, how much of it is done, and how long it will take.

    Parameters
    ----------
    title
        What is going on.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title, self._done, self._pieces = title, 0.0, ""
        self._end = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._clock.start()

    def __call__(self, n_done: int, n_total: int | None) -> None:
        """Show the share that is done, if some time has passed."""
        self._done = min(n_done, n_total) / n_total if n_total else 0.0
        self._pieces = f" {self._done:.0%}" if n_total else ""
        if self._is_due(_SECONDS_BETWEEN):
            self._show()

    def show_tasks(self, n_done: int, n_total: int) -> None:
        """Show how many pieces of work are done."""
        self._done = n_done / n_total if n_total else 0.0
        self._pieces = f": {n_done:,} of {n_total:,} tasks"
        self._show()

    def close(self) -> None:
        """Show nothing more."""
        self._end.set()
        self._clock.join()
        self.clear()

    def _show(self) -> None:
        seconds = time.monotonic() - self._start
        left = _foresee(self._done, seconds)
        if not left and seconds >= _MIN_SECONDS_TO_FORESEE:
            left = _as_clock(seconds)
        self.write(self._title + self._pieces + (left and f", {left}"))

    def _tick(self) -> None:
        """Show that something goes on, also where nothing tells how far it has come."""
        wait = _MIN_SECONDS_TO_FORESEE
        while not self._end.wait(wait):
            self._show()
            wait = _SECONDS_BETWEEN_TICKS


def _foresee(done: float, seconds: float) -> str:
    """Say how long it will take, of which a share was done in so many seconds; or nothing."""
    if not 0 < done < 1 or seconds < _MIN_SECONDS_TO_FORESEE:
        return ""
    return f"{_as_clock(seconds * (1 - done) / done)} left"


def _as_clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class ReadingLine(_Line):
    """Shows how far reading has come, or logs it where there is no terminal."""

    def __call__(self, progress: "Progress") -> None:
        """Show it, if some time has passed."""
        on_terminal = sys.stderr.isatty()
        if self._is_due(_SECONDS_BETWEEN_FILES if on_terminal else _SECONDS_IN_LOG):
            text = describe_reading(progress, self._last - self._start)
            if on_terminal:
                self.write(text)
            else:
                _log.info("%s", text)


def show_progress(title: str) -> AbstractContextManager[TaskLine | None]:
    """Give a function that shows progress, or None if nobody would see it.

    Parameters
    ----------
    title
        What is going on.
    """
    is_seen = not click.get_current_context().obj and sys.stderr.isatty()
    return closing(TaskLine(title)) if is_seen else nullcontext()


def show_reading() -> AbstractContextManager[ReadingLine | None]:
    """Give a listener that shows how far reading has come, or None if nobody wants to see it."""
    return nullcontext() if click.get_current_context().obj else closing(ReadingLine())


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
    megabytes, done = progress.n_bytes / _MEGABYTE, 0.0
    if progress.n_bytes_total:
        done = min(progress.n_bytes / progress.n_bytes_total, 1.0)
        parts = [f"reading {done:.0%} of {progress.n_bytes_total / _MEGABYTE:,.0f} MB"]
    elif progress.n_pages is not None:
        n_all = f" of {progress.n_pages_total:,}" if progress.n_pages_total else ""
        done = progress.n_pages / progress.n_pages_total if progress.n_pages_total else 0.0
        parts = [f"fetched {megabytes:,.1f} MB, {progress.n_pages:,}{n_all} pages"]
    else:
        parts = [f"read {megabytes:,.0f} MB"]
    if progress.n_pages is None:
        rate = progress.n_captures / seconds if seconds > 0 else 0
        parts += [f"{progress.n_captures:,} captures", f"{rate:,.0f} a second"]
    if left := _foresee(done, seconds):
        parts.append(left)
    return f"{', '.join(parts)}: {printable(PurePath(progress.file).name)}"
