"""A file that counts and check-sums the bytes that are read from it."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

from crawlgauge.errors import SourceError
from crawlgauge.provenance import Input
from crawlgauge.remote.faults import ObjectChanged
from crawlgauge.remote.remote_facts import RemoteFacts
from crawlgauge.remote.remote_file import RemoteFile
from crawlgauge.remote.remote_path import RemotePath, to_path
from crawlgauge.sources.inputs import STDIN

__all__ = ["VERSION_CHECKSUM", "MeasuredFile", "version_as_input"]

VERSION_CHECKSUM = "version:"
"""What begins the checksums of remote files that were not read as a whole."""


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

    @property
    def facts(self) -> RemoteFacts | None:
        """What is said of a remote file by its server; None of other files."""
        return self._file.facts if isinstance(self._file, RemoteFile) else None

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
        return Input(
            name=self._name,
            checksum=f"sha256:{self._sha256.hexdigest()}",
            n_bytes=self._n_bytes,
            through=through,
            version=None if self.facts is None else self.facts.version,
        )

    def check_version(self) -> Input | None:
        """Return name, size and version of a remote file without reading it to its end.

        Returns
        -------
        Input
            None where the file is not remote, or its server states no version.

        Raises
        ------
        SourceError
            If it has been changed since it was opened.
        """
        facts = self.facts
        if facts is None or facts.version is None or facts.st_size < 0:
            return None
        try:
            now = RemotePath(self._name).stat()
            if now.version != facts.version:
                raise ObjectChanged(self._name)
        except OSError as error:
            raise self._unreadable(error) from error
        if self._on_bytes is not None:
            self._on_bytes(facts.st_size - self._n_bytes)
        return version_as_input(self._name, facts)

    def _read(self, n_bytes: int) -> bytes:
        try:
            return self._file.read(n_bytes)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> SourceError:
        return SourceError(f"cannot read {self._name}: {error.strerror or error}")


def version_as_input(name: str, facts: RemoteFacts) -> Input:
    """Return what stands for the bytes of a remote file that were not read.

    Versions are only told apart at the same address, so the address is part of the checksum.

    Parameters
    ----------
    name
        Its address, without credentials.
    facts
        What its server says of it, with a version.
    """
    identity = f"{name}\0{facts.version}\0{facts.st_size}"
    return Input(
        name=name,
        checksum=f"{VERSION_CHECKSUM}{hashlib.sha256(identity.encode()).hexdigest()}",
        n_bytes=facts.st_size,
        version=facts.version,
    )


def _open(name: str) -> BinaryIO:
    if name == STDIN:
        if sys.stdin is None:
            raise SourceError("standard input is closed; there is nothing to read from -")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    path = to_path(name)
    return path.open("rb", reads_ahead=True) if isinstance(path, RemotePath) else path.open("rb")
