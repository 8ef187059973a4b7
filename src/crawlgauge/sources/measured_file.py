"""A file that counts and check-sums the bytes that are read from it."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from crawlgauge.errors import SourceError
from crawlgauge.provenance import Input
from crawlgauge.sources.inputs import STDIN

__all__ = ["MeasuredFile"]


class MeasuredFile:
    """A file that is read once, from its beginning.

    Parameters
    ----------
    name
        The input as the user named it.
    open_file
        Opens it; if None, `name` is a path or standard input.
    on_bytes
        Called with the number of bytes that were read, as they are read.

    Raises
    ------
    SourceError
        If it cannot be opened.
    """

    def __init__(
        self,
        name: str,
        open_file: Callable[[], BinaryIO] | None,
        on_bytes: Callable[[int], None] | None,
    ) -> None:
        self._name = name
        self._on_bytes = on_bytes
        self._sha256 = hashlib.sha256()
        self._n_bytes = 0
        try:
            self._file = _open(name) if open_file is None else open_file()
        except OSError as error:
            raise self._unreadable(error) from error

    def chunks(self, n_bytes: int) -> Iterator[bytes]:
        """Yield what has not been read yet, in chunks of at most `n_bytes`.

        Raises
        ------
        SourceError
            If it cannot be read.
        """
        while chunk := self._read(n_bytes):
            self._sha256.update(chunk)
            self._n_bytes += len(chunk)
            if self._on_bytes is not None:
                self._on_bytes(len(chunk))
            yield chunk

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def as_input(self, through: str | None = None) -> Input:
        """Return name, size and checksum of what was read.

        Parameters
        ----------
        through
            The index that led to this input, if the user did not name it.
        """
        checksum = f"sha256:{self._sha256.hexdigest()}"
        return Input(name=self._name, checksum=checksum, n_bytes=self._n_bytes, through=through)

    def _read(self, n_bytes: int) -> bytes:
        try:
            return self._file.read(n_bytes)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> SourceError:
        return SourceError(f"cannot read {self._name}: {error.strerror or error}")


def _open(name: str) -> BinaryIO:
    if name == STDIN:
        if sys.stdin is None:
            raise SourceError("standard input is closed; there is nothing to read from -")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    return Path(name).open("rb")
