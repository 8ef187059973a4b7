"""A line of progress on a terminal, and nothing where there is none."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["CLEAR_LINE", "show_progress"]

_SECONDS_BETWEEN = 0.1
CLEAR_LINE = "\r\033[K"
"""What takes a line of a terminal away."""


class _Line:
    def __init__(self, title: str) -> None:
        self._title = title
        self._last = time.monotonic()
        self.is_shown = False

    def __call__(self, n_done: int, n_total: int | None) -> None:
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN:
            return
        self._last, self.is_shown = now, True
        parts = [self._title]
        if n_total:
            parts.append(f"{min(n_done, n_total) / n_total:.0%}")
        sys.stderr.write(CLEAR_LINE + " ".join(parts))
        sys.stderr.flush()


@contextmanager
def show_progress(title: str) -> Iterator[_Line | None]:
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
    line = _Line(title)
    try:
        yield line
    finally:
        if line.is_shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
