"""One input as blocks of plain bytes: decompressed, measured, check-summed, damage noticed."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.provenance import Input
from crawlgauge.sources.gzip_stream import MAGIC, BrokenGzip, inflate
from crawlgauge.sources.inputs import STDIN

__all__ = ["BLOCK_BYTES", "BlockReader", "fingerprint"]

BLOCK_BYTES = 1 << 20
"""Large enough that the work per block outweighs the call, small enough for the cache."""

_CHUNK_BYTES = 1 << 17


class BlockReader:
    """Read one input from beginning to end, once.

    Parameters
    ----------
    name
        Path of a file, or ``-`` for standard input.
    on_bytes
        Called with the number of bytes taken from the input, as they are taken.
    """

    def __init__(self, name: str, on_bytes: Callable[[int], None] | None = None) -> None:
        self.name = name
        self._on_bytes = on_bytes
        self._raw: _MeasuredFile | None = None

    def blocks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes in blocks.

        Raises
        ------
        SourceError
            If the input cannot be opened or read.
        DamagedInput
            If it is compressed and ends early or breaks.
        """
        n_read = 0
        try:
            with _open(self.name) as file:
                self._raw = _MeasuredFile(file, self._on_bytes)
                for block in _gather(_decompress(self._raw.chunks())):
                    n_read += len(block)
                    yield block
        except BrokenGzip as error:
            raise DamagedInput(
                f"{self.name} is damaged at byte {self._n_bytes:,}: {error}; {n_read:,} bytes of "
                "text were read before that"
            ) from error
        except OSError as error:
            raise SourceError(f"cannot read {self.name}: {error.strerror or error}") from error

    @property
    def _n_bytes(self) -> int:
        return 0 if self._raw is None else self._raw.n_bytes

    def as_input(self) -> Input:
        """Return name, size and checksum of what has been read."""
        if self._raw is None:
            raise ValueError("nothing has been read yet")
        return self._raw.as_input(self.name)


def fingerprint(name: str, on_bytes: Callable[[int], None] | None = None) -> Input:
    """Return name, size and checksum of a file without interpreting it."""
    try:
        with _open(name) as file:
            raw = _MeasuredFile(file, on_bytes)
            for _ in raw.chunks():
                pass
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror or error}") from error
    return raw.as_input(name)


class _MeasuredFile:
    """A file that counts and check-sums the bytes that are read from it."""

    def __init__(self, file: BinaryIO, on_bytes: Callable[[int], None] | None) -> None:
        self._file = file
        self._on_bytes = on_bytes
        self._sha256 = hashlib.sha256()
        self.n_bytes = 0

    def chunks(self) -> Iterator[bytes]:
        while chunk := self._file.read(_CHUNK_BYTES):
            self._sha256.update(chunk)
            self.n_bytes += len(chunk)
            if self._on_bytes is not None:
                self._on_bytes(len(chunk))
            yield chunk

    def as_input(self, name: str) -> Input:
        return Input(name=name, checksum=f"sha256:{self._sha256.hexdigest()}", n_bytes=self.n_bytes)


def _open(name: str) -> BinaryIO:
    if name == STDIN:
        if sys.stdin is None:
            raise SourceError("standard input is closed; there is nothing to read from -")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    return Path(name).open("rb")


def _decompress(chunks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(chunks, b"")
    everything = chain([first], chunks)
    return inflate(everything) if first.startswith(MAGIC) else everything


def _gather(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Put small pieces together, so that the work per block outweighs the call."""
    waiting: list[bytes] = []
    n_waiting = 0
    try:
        for piece in pieces:
            waiting.append(piece)
            n_waiting += len(piece)
            if n_waiting >= BLOCK_BYTES:
                yield b"".join(waiting)
                waiting, n_waiting = [], 0
    except BrokenGzip:
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)
