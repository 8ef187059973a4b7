"""Whoever waits for the network asks now and then whether the answer is still wanted."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["POLL_SECONDS", "check_interruption", "interruptible", "sleep"]

POLL_SECONDS = 0.1
"""How long somebody who has pressed Ctrl-C may have to wait for each thread."""

_local = threading.local()


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Let whatever this thread waits for meanwhile be given up.

    Parameters
    ----------
    check
        Called often while waiting; it raises when waiting shall end.
    """
    before = getattr(_local, "check", None)
    _local.check = check
    try:
        yield
    finally:
        _local.check = before


def check_interruption() -> None:
    """Raise what the thread's `interruptible` check raises, if there is one."""
    check: Callable[[], None] | None = getattr(_local, "check", None)
    if check is not None:
        check()


def sleep(seconds: float) -> None:
    """Wait, unless interrupted."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check_interruption()
        time.sleep(min(left, POLL_SECONDS))
