"""How far reading has come, for whoever wants to show it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crawlgauge.remote.names import is_remote
from crawlgauge.sources.inputs import InputFiles, can_be_reread

__all__ = ["Progress", "ReadingProgress", "total_bytes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far reading has come.

    Parameters
    ----------
    file
        The input that is being read.
    n_bytes, n_bytes_total
        Bytes read of all inputs, and their size; None where that is not known.
    n_captures
        Captures so far.
    """

    file: str
    n_bytes: int
    n_bytes_total: int | None
    n_captures: int


class ReadingProgress:
    """Counts what is read and tells it to a listener; several threads may share it.

    Parameters
    ----------
    listener
        Called whenever some bytes have been read; None if nobody wants to know.
    n_bytes_total
        Size of all inputs, where known.
    """

    def __init__(
        self, listener: Callable[[Progress], None] | None = None, n_bytes_total: int | None = None
    ) -> None:
        self._listener = listener
        self._n_bytes_total = n_bytes_total
        self._n_bytes = 0
        self._n_captures = 0
        self._lock = threading.Lock()
        self.file = ""

    def add_bytes(self, n_bytes: int) -> None:
        """Count bytes that were read."""
        with self._lock:
            self._n_bytes += n_bytes
            if self._listener is not None:
                self._listener(
                    Progress(
                        file=self.file,
                        n_bytes=self._n_bytes,
                        n_bytes_total=self._n_bytes_total,
                        n_captures=self._n_captures,
                    )
                )

    def add_captures(self, n_captures: int) -> None:
        """Count captures that were found."""
        with self._lock:
            self._n_captures += n_captures


def total_bytes(files: InputFiles) -> int | None:
    """Return the size of all inputs, or None if one of them is a pipe or its size is not known."""
    total = 0
    for name in files.names:
        if not can_be_reread(name) or (is_remote(name) and name not in files.sizes):
            return None
        total += files.sizes[name] if is_remote(name) else Path(name).stat().st_size
    return total
