"""One input as blocks of plain bytes: decompressed, measured, check-summed, damage noticed."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.provenance import Input
from crawlgauge.remote.remote_path import AnyPath, RemotePath, to_path
from crawlgauge.sources.compression import Compression, find_compression
from crawlgauge.sources.damage_log import DamageLog
from crawlgauge.sources.expansion import Bomb, check_expansion
from crawlgauge.sources.feed import BrokenStream, Feed
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.measured_file import MeasuredFile
from crawlgauge.sources.member_decompressor import WrongData
from crawlgauge.sources.request import DEFAULT_MAX_EXPANSION

__all__ = ["BLOCK_BYTES", "ByteStream", "fingerprint"]

BLOCK_BYTES = 1 << 20
"""Large enough that the work per block outweighs the call, small enough for the cache."""

_CHUNK_BYTES = 1 << 17
_MAGIC_BYTES = 16
_MAX_PIECES = 8
"""That a block is made of. Larger pieces are passed on alone: to put them together is to copy."""
_MAX_PROBED_BLOCKS = 64
"""An input that cannot be understood is read on so far, to tell whether it is damaged."""


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
        self.path: AnyPath | None = to_path(name) if open_file is None and name != STDIN else None
        self._is_in_place = False
        self._members = array("q")
        self._open_file = open_file
        self._on_bytes = on_bytes
        self._max_expansion = max_expansion
        self._keep_damaged = keep_damaged
        self._damage_log = DamageLog()
        self._file: MeasuredFile | None = None
        self._feed = Feed(())
        self._compression: Compression | None = None
        self._decompress: Callable[[Feed], Iterator[bytes]] | None = None
        self._gathered: Iterator[bytes] = iter(())
        self._first: bytes | None = None
        self._n_out = 0
        self._is_bomb = False

    def __enter__(self) -> Self:
        self._file = MeasuredFile(self.name, self._open_file, self._on_bytes)
        if isinstance(self.path, RemotePath) and self._file.facts is not None:
            self.path = self.path.pinned(self._file.facts)
        self._feed = Feed(self._file.chunks(_CHUNK_BYTES))
        with ExitStack() as stack:
            stack.callback(self._file.close)
            first = self._feed.take_some()
            stack.pop_all()
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
        if self._file is None:
            return
        try:
            if isinstance(error, SourceError) and not isinstance(error, DamagedInput):
                self._blame_damage(error)
        finally:
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
            raise DamagedInput(self._describe(error)) from error

    @property
    def place(self) -> int:
        """How many bytes of the file have been taken in so far."""
        return self._feed.place

    @property
    def n_read(self) -> int:
        """How many bytes it was decompressed to so far."""
        return self._n_out

    def take_members(self, before: int) -> NDArray[np.int64]:
        """Return where members of the compressed stream begin, and forget them.

        Parameters
        ----------
        before
            Those that begin here in the decompressed bytes, or behind, stay.

        Returns
        -------
        array
            For each member of the blocks so far, its place in the decompressed bytes and in the
            file.
        """
        members = np.array(self._members, dtype=np.int64).reshape(-1, 2)
        n_taken = int(np.searchsorted(members[:, 0], before))
        del self._members[: 2 * n_taken]
        return members[:n_taken]

    @property
    def damages(self) -> list[Damage]:
        """The damage that was got over."""
        return self._damage_log.damages

    def report(self, damage: Damage) -> None:
        """Note damage that a reader can get over.

        Raises
        ------
        DamagedInput
            If the user does not want to keep what can be read of a damaged input.
        """
        if not self._keep_damaged:
            raise DamagedInput(damage)
        self._damage_log.note(damage)

    def amend(self, damage: Damage, lost: str) -> None:
        """Say what was lost by damage that has been reported, once that is known."""
        self._damage_log.amend(damage, lost)

    def recover(self, error: DamagedInput, unit: str = "line") -> bool:
        """Get over damage that `blocks` has met, and tell whether it can go on.

        If so, `blocks` goes on at the next member of the compressed stream.

        Parameters
        ----------
        error
            What `blocks` has raised.
        unit
            What the input consists of, in one word. Of these, one breaks off where the damage is,
            and another may have begun before the place where reading goes on.

        Raises
        ------
        DamagedInput
            As `report` does.
        """
        if not self._keep_damaged:
            raise error
        damage = error.damage
        if not self._find_member():
            lost = f"{damage.lost}, with the {unit} that breaks off there"
            self.report(replace(damage, lost=lost))
            return False
        lost = (
            f"what stood between there and byte {self.place:,}, where reading went on, and up to "
            f"two {unit}s: the one that breaks off and the one that was met first"
        )
        # A break may be noticed late, when the next member has begun.
        self.report(replace(damage, byte=min(damage.byte or 0, self.place), lost=lost))
        self._gathered = _gather(self._pieces())
        return True

    def read_in_place(self) -> None:
        """Say that what is needed of the file is read through `path`.

        A remote file is then not read as a whole for its checksum, if its server states its
        version.
        """
        self._is_in_place = True

    def finish(self, through: str | None = None) -> Input:
        """Read what is left without looking at it, and return name, size and checksum of all.

        Parameters
        ----------
        through
            The index that led to this input, if the user did not name it.
        """
        if self._file is None:
            raise ValueError("the stream is not open")
        if self._is_in_place and (version := self._file.check_version()) is not None:
            return replace(version, through=through)
        for _ in self._file.chunks(_CHUNK_BYTES):
            pass
        return self._file.as_input(through)

    def _pieces(self) -> Iterator[bytes]:
        if self._compression is None or self._decompress is None:
            while data := self._feed.take_some():
                self._n_out += len(data)
                yield data
            return
        kind, is_small = self._compression, True
        while self._feed.skip_zeros():
            small = kind.open_small(self._feed) if is_small and kind.open_small else []
            if small:
                yield from self._put_together(small)
                check_expansion(self._feed.place, self._n_out, self._max_expansion)
                continue
            start = self._feed.place
            self._members.extend((self._n_out, start))
            for piece in self._decompress(self._feed):
                self._n_out += len(piece)
                yield piece
                check_expansion(self._feed.place, self._n_out, self._max_expansion)
            # Most streams have small members or large ones throughout.
            is_small = self._feed.place - start <= kind.small_bytes

    def _put_together(self, members: list[tuple[int, bytes]]) -> Iterator[bytes]:
        """Yield the content of small members, if they have any."""
        for place, content in members:
            self._members.extend((self._n_out, place))
            self._n_out += len(content)
        if together := b"".join(content for _, content in members):
            yield together

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

    def _describe(self, error: BrokenStream) -> Damage:
        """Describe a break, as if the rest of the file were lost."""
        self._is_bomb = isinstance(error, Bomb)
        return Damage(
            file=self.name,
            byte=error.place if isinstance(error, WrongData) else self.place,
            reason=str(error),
            lost=f"all after the first {self._n_out:,} bytes of content"
            if self._n_out
            else "all of it",
        )

    def _blame_damage(self, error: SourceError) -> None:
        """Say of an input that cannot be understood that it is damaged, if it is.

        Raises
        ------
        SourceError
            If it is.
        """
        damage = next(iter(self.damages), None)
        if damage is None and (self._decompress is not None or self.path is None):
            try:
                for _ in islice(self._gathered, _MAX_PROBED_BLOCKS):
                    pass
            except BrokenStream as broken:
                damage = self._describe(broken)
        if damage is not None:
            raise SourceError(f"{error}. That may be because {damage}") from error


def fingerprint(name: str, on_bytes: Callable[[int], None] | None = None) -> Input:
    """Return name, size and checksum of a file without interpreting it."""
    with closing(MeasuredFile(name, None, on_bytes)) as file:
        for _ in file.chunks(_CHUNK_BYTES):
            pass
        return file.as_input()


def _gather(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Put small pieces together, so that the work per block outweighs the call.

    The first block, by which the format is told, is a whole one unless the input is smaller.
    """
    waiting: list[bytes] = []
    n_waiting = 0
    n_alone = BLOCK_BYTES
    try:
        for piece in pieces:
            waiting.append(piece)
            n_waiting += len(piece)
            if n_waiting >= (BLOCK_BYTES if len(waiting) > 1 else n_alone):
                yield b"".join(waiting)
                waiting, n_waiting = [], 0
                n_alone = BLOCK_BYTES // _MAX_PIECES
    except BrokenStream:
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)
