"""A line of progress on a terminal, and nothing where there is none."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["CLEAR_LINE", "TaskLine", "show_progress"]

_SECONDS_BETWEEN = 0.1
CLEAR_LINE = "\r\033[K"
"""What takes a line of a terminal away."""


class TaskLine:
    """Shows how much of something is done, as a share or as pieces of work.

    Parameters
    ----------
    title
        What is going on.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = time.monotonic()
        self.is_shown = False

    def __call__(self, n_done: int, n_total: int | None) -> None:
        """Show the share that is done, if some time has passed."""
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN:
            return
        self._last, self.is_shown = now, True
        parts = [self._title]
        if n_total:
            parts.append(f"{min(n_done, n_total) / n_total:.0%}")
        self._write(" ".join(parts))

    def show_tasks(self, n_done: int, n_total: int) -> None:
        """Show how many pieces of work are done."""
        self.is_shown = True
        self._write(f"{self._title}: {n_done:,} of {n_total:,} tasks")

    def clear(self) -> None:
        """Take the line away, so that what follows begins on an empty one."""
        if self.is_shown:
            self._write("")
            self.is_shown = False

    def _write(self, text: str) -> None:
        sys.stderr.write(CLEAR_LINE + text)
        sys.stderr.flush()


@contextmanager
def show_progress(title: str) -> Iterator[TaskLine | None]:
    """Give a function that shows progress, or None if nobody would see it.

    Parameters
    ----------
    title
        What is going on.
    """
    is_quiet = bool(click.get_current_context().obj)
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    line = TaskLine(title)
    try:
        yield line
    finally:
        line.clear()
