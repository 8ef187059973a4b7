"""Open files of the store, wherever it is, and say what is wrong with those that cannot be read."""

import io
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from crawlgauge.errors import StoreError
from crawlgauge.remote.faults import ObjectChanged
from crawlgauge.remote.read_ahead import ReadAhead
from crawlgauge.remote.remote_path import AnyPath, RemotePath
from crawlgauge.store.files import replace_file

__all__ = [
    "ByteSource",
    "damaged",
    "find_files",
    "missing",
    "open_bytes",
    "open_whole",
    "parquet_source",
    "put_file",
    "read_content",
    "unreadable",
]

_BLOCK_BYTES = 1 << 20
"""Fetched at once from remote storage: as much as is decoded at once, for each of many sets."""
_MAX_CHANGES = 8


def find_files(folder: AnyPath, pattern: str) -> list[AnyPath]:
    """Return the files of a folder whose names match, in order; none if there is no such folder."""
    try:
        return sorted(folder.glob(pattern))
    except FileNotFoundError:
        return []


def read_content(path: AnyPath) -> bytes:
    """Return all of a small file, as it is at one moment.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    for _ in range(_MAX_CHANGES):
        # Between the answer that tells its size and its content it may have been replaced.
        with suppress(ObjectChanged):
            return path.read_bytes()
    return path.read_bytes()


def put_file(path: AnyPath, content: bytes) -> None:
    """Make or replace a file: at any moment there is the old content or the new, whole.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    if isinstance(path, RemotePath):
        from crawlgauge.remote.s3_objects import objects_at

        objects_at(path.parent).put(path.name, content)
    else:
        replace_file(path, content)


class ByteSource(Protocol):
    """The bytes of a file, read from any place of it."""

    def read_into(self, target: memoryview, place: int) -> int:
        """Fill a buffer with the bytes from `place` on; return how many, fewer at the end."""

    def close(self) -> None:
        """Close the file."""


def parquet_source(path: AnyPath) -> Path | BinaryIO:
    """Return what Arrow reads a file from: of a remote one it fetches the parts that it needs."""
    return path.open("rb") if isinstance(path, RemotePath) else path


def open_whole(path: AnyPath) -> io.BufferedReader:
    """Open a file to be read from its beginning to its end."""
    if isinstance(path, RemotePath):
        return io.BufferedReader(cast("io.RawIOBase", path.open("rb", reads_ahead=True)))
    return path.open("rb")


def open_bytes(path: AnyPath, foresee_end: Callable[[], int]) -> ByteSource:
    """Open a file to be read in rising order.

    Parameters
    ----------
    path
        The file.
    foresee_end
        Returns up to which byte it will most likely be read: so much of a remote one is fetched
        ahead.
    """
    return _RemoteBytes(path, foresee_end()) if isinstance(path, RemotePath) else _LocalBytes(path)


class _LocalBytes:
    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)

    def read_into(self, target: memoryview, place: int) -> int:
        return os.preadv(self._descriptor, [target], place)

    def close(self) -> None:
        os.close(self._descriptor)


class _RemoteBytes:
    """Blocks that a thread fetches one after the other, from where the first one was wanted."""

    def __init__(self, path: RemotePath, end: int) -> None:
        self._path = path
        self._end = end
        self._blocks: _Blocks | None = None

    def read_into(self, target: memoryview, place: int) -> int:
        if self._blocks is None or self._blocks.place != place:
            self.close()
            self._blocks = _Blocks(self._path, place, self._end)
        n_read = 0
        while n_read < len(target):
            part = self._blocks.take(len(target) - n_read)
            if not part:
                break
            target[n_read : n_read + len(part)] = part
            n_read += len(part)
        return n_read

    def close(self) -> None:
        if self._blocks is not None:
            self._blocks.close()


class _Blocks:
    """What comes behind one place of a remote file.

    Attributes
    ----------
    place
        Where what was taken ends.
    """

    def __init__(self, path: RemotePath, place: int, end: int) -> None:
        self.place = place
        self._file = path.open("rb")
        self._fetched_to, self._end = place, end
        self._rest = memoryview(b"")
        self._ahead = ReadAhead(self._fetch_ahead)

    def take(self, n_most: int) -> memoryview:
        """Return some of the next bytes; none at the end of the file."""
        if not self._rest:
            # Beyond what was foreseen there is nothing ahead, and it is fetched when it is wanted.
            self._rest = memoryview(self._ahead.take() or self._fetch())
        part, self._rest = self._rest[:n_most], self._rest[n_most:]
        self.place += len(part)
        return part

    def close(self) -> None:
        self._ahead.close()

    def _fetch_ahead(self) -> bytes:
        return self._fetch() if self._fetched_to < self._end else b""

    def _fetch(self) -> bytes:
        self._file.seek(self._fetched_to)
        block = self._file.read(_BLOCK_BYTES)
        self._fetched_to += len(block)
        return block


def missing(path: AnyPath) -> StoreError:
    """Return the error that says that a file is not there, though the crawl names it."""
    return StoreError(
        f"{path} is missing: the crawl was replaced or removed meanwhile, or the store is "
        "damaged; run the command again, then crawlgauge verify"
    )


def damaged(path: AnyPath, reason: object) -> StoreError:
    """Return the error that says that a set's file is damaged, and what to do."""
    return StoreError(
        f"{path} is damaged ({reason}); add the crawl again from its files with --replace"
    )


def unreadable(path: AnyPath, error: Exception) -> StoreError:
    """Return the error for a file that cannot be read: storage out of reach is no damage."""
    if isinstance(path, RemotePath) and isinstance(error, OSError) and error.strerror:
        return StoreError(f"cannot read {path}: {error.strerror}")
    return damaged(path, error)
