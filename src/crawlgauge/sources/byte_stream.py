"""One input as blocks of plain bytes: decompressed, measured, check-summed, damage noticed."""

import hashlib
import sys
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.provenance import Input
from crawlgauge.sources.compression import Compression, find_compression
from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.request import DEFAULT_MAX_EXPANSION

__all__ = ["BLOCK_BYTES", "ByteStream", "fingerprint"]

BLOCK_BYTES = 1 << 20
"""Large enough that the work per block outweighs the call, small enough for the cache."""

_CHUNK_BYTES = 1 << 17
_MAGIC_BYTES = 16
_MAX_DAMAGES = 1000
_MIN_EXPANDED_BYTES = 1 << 28
"""Below this an expansion harms nobody, however large the ratio."""


class ByteStream:
    """Read one input from beginning to end, once.

    Parameters
    ----------
    name
        The input as the user named it; ``-`` for standard input.
    open_file
        Opens it; if not given, `name` is a path or standard input.
    on_bytes
        Called with the number of bytes taken from the input, as they are taken.
    max_expansion
        How many times its compressed size the input may have.
    keep_damaged
        Whether to go on after damage.

    Attributes
    ----------
    name
        See above.
    path
        The file, where it is one and can be read in any order.
    member_starts
        Places in the decompressed bytes where a member of the compressed stream begins, of all
        blocks so far; a reader may clear it.
    damages
        The damage that was got over.
    """

    def __init__(
        self,
        name: str,
        *,
        open_file: Callable[[], BinaryIO] | None = None,
        on_bytes: Callable[[int], None] | None = None,
        max_expansion: float = DEFAULT_MAX_EXPANSION,
        keep_damaged: bool = False,
    ) -> None:
        self.name = name
        self.path = Path(name) if open_file is None and name != STDIN else None
        self.member_starts = array("q")
        self._open_file = open_file or (lambda: _open(name))
        self._on_bytes = on_bytes
        self._max_expansion = max_expansion
        self._keep_damaged = keep_damaged
        self.damages: list[Damage] = []
        self._file: _MeasuredFile | None = None
        self._feed = Feed(())
        self._compression: Compression | None = None
        self._decompress: Callable[[Feed], Iterator[bytes]] | None = None
        self._gathered: Iterator[bytes] = iter(())
        self._first: bytes | None = None
        self._n_out = 0
        self._is_bomb = False
        self._n_more_damages = 0

    def __enter__(self) -> Self:
        try:
            self._file = _MeasuredFile(self._open_file(), self._on_bytes)
        except OSError as error:
            raise self._unreadable(error) from error
        self._feed = Feed(self._file.chunks())
        try:
            first = self._feed.take_some()
        except OSError as error:
            self._file.close()
            raise self._unreadable(error) from error
        self._feed.put_back(first)
        self._compression = find_compression(first[:_MAGIC_BYTES])
        if self._compression is not None:
            self._decompress = self._compression.open()
        self._gathered = _gather(self._pieces())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def beginning(self) -> bytes:
        """Return the first block without taking it; empty if there is none.

        Raises
        ------
        SourceError, DamagedInput
            As `blocks` does.
        """
        if self._first is None:
            self._first = next(self.blocks(), b"")
        return self._first

    def blocks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes in blocks, up to the end or to damage.

        Raises
        ------
        SourceError
            If the input cannot be read.
        DamagedInput
            If it is compressed and ends early, breaks or expands beyond sense; `recover` may lead
            on from there.
        """
        if self._first:
            first, self._first = self._first, b""
            yield first
        try:
            # Delegating would close what is gathered as soon as somebody stops asking.
            for block in self._gathered:  # noqa: UP028
                yield block
        except BrokenStream as error:
            raise DamagedInput(self.damage(str(error))) from error
        except OSError as error:
            raise self._unreadable(error) from error

    @property
    def place(self) -> int:
        """How many bytes of the file have been taken in so far."""
        return self._feed.place

    @property
    def n_read(self) -> int:
        """How many bytes it was decompressed to so far."""
        return self._n_out

    def damage(self, reason: str) -> Damage:
        """Describe damage at the place that was reached, the rest of the file being lost."""
        return Damage(
            file=self.name,
            byte=self.place,
            reason=reason,
            lost=f"all after the first {self._n_out:,} bytes of content"
            if self._n_out
            else "all of it",
        )

    def report(self, damage: Damage) -> None:
        """Note damage that a reader can get over.

        Raises
        ------
        DamagedInput
            If the user does not want to keep what can be read of a damaged input.
        """
        if not self._keep_damaged:
            raise DamagedInput(damage)
        self._note(damage)

    def recover(self, error: DamagedInput) -> bool:
        """Get over damage that `blocks` has met, and tell whether it can go on.

        If so, `blocks` goes on at the next member of the compressed stream.

        Raises
        ------
        DamagedInput
            As `report` does.
        """
        if not self._keep_damaged:
            raise error
        place = error.damage.byte or 0
        if not self._find_member():
            self._note(error.damage)
            return False
        lost = f"what stood between there and byte {self.place:,}, where reading went on"
        self._note(replace(error.damage, byte=min(place, self.place), lost=lost))
        self._gathered = _gather(self._pieces())
        return True

    def finish(self, through: str | None = None) -> Input:
        """Read what is left without looking at it, and return name, size and checksum of all.

        Parameters
        ----------
        through
            The index that led to this input, if the user did not name it.
        """
        if self._file is None:
            raise ValueError("the stream is not open")
        try:
            for _ in self._file.chunks():
                pass
        except OSError as error:
            raise self._unreadable(error) from error
        return self._file.as_input(self.name, through)

    def _note(self, damage: Damage) -> None:
        if len(self.damages) < _MAX_DAMAGES:
            self.damages.append(damage)
        else:
            # Hostile bytes can be damaged at every turn; the first places tell enough.
            self._n_more_damages += 1
            self.damages[-1] = Damage(
                file=self.name,
                byte=None,
                reason=f"{self._n_more_damages + 1:,} further places are damaged",
                lost="what stood there",
            )

    def _pieces(self) -> Iterator[bytes]:
        if self._decompress is None:
            while data := self._feed.take_some():
                self._n_out += len(data)
                yield data
            return
        while self._feed.skip_zeros():
            self.member_starts.append(self._n_out)
            for piece in self._decompress(self._feed):
                self._n_out += len(piece)
                yield piece
                self._check_expansion()

    def _find_member(self) -> bool:
        """Go on to the next member of the compressed stream, and tell whether there is one."""
        kind = self._compression
        if kind is None or self._is_bomb:
            return False
        try:
            return self._feed.find(kind.start, kind.start_bytes)
        except BrokenStream:
            # The input is a member of a ZIP file that is broken itself.
            return False
        except OSError as error:
            raise self._unreadable(error) from error

    def _check_expansion(self) -> None:
        n_in = max(self._feed.place, 1)
        if self._n_out < _MIN_EXPANDED_BYTES or self._n_out <= self._max_expansion * n_in:
            return
        self._is_bomb = True
        raise BrokenStream(
            f"it has expanded to more than {self._max_expansion:,.0f} times its size, as no "
            "archive file does; if it is one, allow more with --max-expansion"
        )

    def _unreadable(self, error: OSError) -> SourceError:
        return SourceError(f"cannot read {self.name}: {error.strerror or error}")


def fingerprint(name: str, on_bytes: Callable[[int], None] | None = None) -> Input:
    """Return name, size and checksum of a file without interpreting it."""
    try:
        file = _MeasuredFile(_open(name), on_bytes)
        try:
            for _ in file.chunks():
                pass
        finally:
            file.close()
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror or error}") from error
    return file.as_input(name)


class _MeasuredFile:
    """A file that counts and check-sums the bytes that are read from it."""

    def __init__(self, file: BinaryIO, on_bytes: Callable[[int], None] | None) -> None:
        self._file = file
        self._on_bytes = on_bytes
        self._sha256 = hashlib.sha256()
        self._n_bytes = 0

    def chunks(self) -> Iterator[bytes]:
        while chunk := self._file.read(_CHUNK_BYTES):
            self._sha256.update(chunk)
            self._n_bytes += len(chunk)
            if self._on_bytes is not None:
                self._on_bytes(len(chunk))
            yield chunk

    def close(self) -> None:
        self._file.close()

    def as_input(self, name: str, through: str | None = None) -> Input:
        checksum = f"sha256:{self._sha256.hexdigest()}"
        return Input(name=name, checksum=checksum, n_bytes=self._n_bytes, through=through)


def _open(name: str) -> BinaryIO:
    if name == STDIN:
        if sys.stdin is None:
            raise SourceError("standard input is closed; there is nothing to read from -")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    return Path(name).open("rb")


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
    except BrokenStream:
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)
