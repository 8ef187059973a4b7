"""One input as blocks of plain bytes: decompressed, measured, check-summed, damage noticed.

`Stream` reads an input once, from its beginning to its end. Below it, in this order, stand the
compressed bytes (`_Feed`), the kinds of compression, of which each makes blocks of a stream's
members, and how a file is opened.
"""

import bz2
import hashlib
import lzma
import re
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self, cast

import zstandard
from isal import igzip_lib

from crawlgauge.errors import Damage, DamagedInput, SourceError
from crawlgauge.provenance import Input
from crawlgauge.sources.remote import (
    AnyPath,
    ObjectChanged,
    RemoteFacts,
    RemotePath,
    as_source_error,
    to_path,
)
from crawlgauge.sources.what_counts import DEFAULT_MAX_EXPANSION

STDIN = "-"
"""Stands for standard input wherever a file is expected."""

BLOCK_BYTES = 1 << 20
"""Large enough that what a block takes beside its bytes is little; larger ones leave the cache."""

VERSION_CHECKSUM = "version:"
"""What begins the checksums of remote files that were not read as a whole."""

_CHUNK_BYTES = 1 << 18
_FIRST_CHUNK_BYTES = 1 << 16
"""By which the compression is told, and all that is needed of a file that is read from its end."""
_FIRST_BYTES = 1 << 20
"""Of the first block, by which the format is told."""
_READ_IN_PLACE = (b"PAR1", b"PK\x03\x04")
"""What files begin with that are read from their ends."""
_LEAST_BYTES = BLOCK_BYTES >> 3
"""Smaller pieces are put together; to put larger ones together is to copy them for nothing."""
_PROBED_BYTES = 1 << 26
"""An input that cannot be understood is read on so far, to tell whether it is damaged."""
_MAX_MEMBERS = 1 << 17
"""Of which the places are kept for readers, who may never ask for them."""
_MAX_STEP_BYTES = 1 << 20
"""That is decompressed at once: more than a block of bzip2 has, whose checksum is compared when all
of it has been asked for."""
_MAX_DAMAGES = 1000
"""Hostile bytes can be damaged at every turn; the first places tell enough."""


class Stream:
    """Read one input from beginning to end, once.

    Parameters
    ----------
    name
        The input as the user named it; ``-`` for standard input.
    open_file
        Opens it, as what has `read` and `close`; and `locate`, if it is made of parts of a file,
        which tells where in that a byte stands. If not given, `name` is a path, a remote address or
        standard input.
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
    damages
        The damage that was got over; the last one may stand for many.
    n_read
        How many bytes it was decompressed to so far.
    """

    def __init__(
        self,
        name: str,
        *,
        open_file: Callable[[], Any] | None = None,
        on_bytes: Callable[[int], None] | None = None,
        max_expansion: float = DEFAULT_MAX_EXPANSION,
        keep_damaged: bool = False,
    ) -> None:
        self.name = name
        is_path = open_file is None and name != STDIN
        self.path: AnyPath | None = to_path(name) if is_path else None
        self.damages: list[Damage] = []
        self._n_more_damages = 0
        self._open_file, self._on_bytes = open_file, on_bytes
        self._max_expansion, self._keep_damaged = max_expansion, keep_damaged
        self._file: BinaryIO | None = None
        self._facts: RemoteFacts | None = None
        self._sha256, self._n_in, self.n_read = hashlib.sha256(), 0, 0
        self._feed = _Feed(())
        self._kind: _Kind | None = None
        self._dictionary = b""
        self._gathered: Iterator[bytes] = iter(())
        self._first: bytes | None = None
        self._members: deque[tuple[int, int]] = deque(maxlen=_MAX_MEMBERS)
        self._is_bomb = self._is_in_place = False
        self._locate: Callable[[int], int] = int

    def __enter__(self) -> Self:
        with as_source_error(self.name):
            opens = self._open_file
            self._file = open_file(self.path, reads_ahead=True) if opens is None else opens()
        self._facts = getattr(self._file, "facts", None)
        # Of a file that is read in parts, places are those in the file.
        self._locate = getattr(self._file, "locate", int)
        if isinstance(self.path, RemotePath) and self._facts is not None:
            self.path = RemotePath(self.path.address, self._facts, is_pinned=True)
        self._feed = _Feed(self._chunks(self._file))
        try:
            first = self._feed.take_some()
        except BaseException:
            self._file.close()
            raise
        self._feed.put_back(first)
        self._kind = next((kind for kind in _KINDS if kind.magic.match(first)), None)
        # Who looks at the first bytes alone, and reads the rest in another order, needs no more.
        n_first = len(first) if first.startswith(_READ_IN_PLACE) else _FIRST_BYTES
        self._gathered = _gather(self._pieces(), n_first)
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
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
        except Broken as error:
            raise DamagedInput(self._describe(error)) from error

    @property
    def place(self) -> int:
        """How many bytes of the file have been taken in so far."""
        return self._locate(self._feed.place)

    def take_members(self, before: int) -> list[tuple[int, int]]:
        """Return where members of the compressed stream begin, and forget them.

        Parameters
        ----------
        before
            Those that begin here in the decompressed bytes, or behind, stay.

        Returns
        -------
        list of (int, int)
            For each member of the blocks so far, its place in the decompressed bytes and in the
            file. Of those that nobody asks for, only the last are kept.
        """
        taken = []
        while self._members and self._members[0][0] < before:
            taken.append(self._members.popleft())
        return taken

    def report(self, damage: Damage) -> None:
        """Note damage that a reader can get over.

        Raises
        ------
        DamagedInput
            If the user does not want to keep what can be read of a damaged input.
        """
        if not self._keep_damaged:
            raise DamagedInput(damage)
        if len(self.damages) < _MAX_DAMAGES:
            self.damages.append(damage)
            return
        self._n_more_damages += 1
        self.damages[-1] = Damage(
            file=damage.file,
            byte=None,
            reason=f"{self._n_more_damages + 1:,} further places are damaged",
            lost="what stood there",
        )

    def report_loss(
        self, reason: str, lost: str, *, byte: int | None = None, file: str | None = None
    ) -> None:
        """Note damage as `report` does: what is wrong, what is lost by it, and where it is.

        Parameters
        ----------
        reason, lost, byte
            As of `Damage`.
        file
            In which file, if it is not this input itself.
        """
        self.report(Damage(file=file or self.name, byte=byte, reason=reason, lost=lost))

    def amend(self, damage: Damage, lost: str) -> None:
        """Say anew what was lost by damage that was reported, now that more is known."""
        if not self._n_more_damages:
            self.damages[:] = [
                replace(one, lost=lost) if one is damage else one for one in self.damages
            ]

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
        self._gathered = _gather(self._pieces(), BLOCK_BYTES)
        return True

    def open_in_place(self, title: str) -> tuple[AnyPath, BinaryIO]:
        """Open the file anew, to be read in any order, and return its path too.

        A remote file is then not read as a whole for its checksum, if its server states its
        version.

        Parameters
        ----------
        title
            What it is.

        Raises
        ------
        SourceError
            If it cannot be read so.
        """
        remedy = "save it to a file first" if self._kind is None else "decompress it first"
        if self.path is None or not self.path.is_file() or self._kind is not None:
            raise SourceError(f"{self.name} is {title}, which must be read from its end; {remedy}")
        self._is_in_place = True
        return self.path, open_file(self.path)

    def finish(self, through: str | None = None) -> Input:
        """Read what is left without looking at it, and return name, size and checksum of all.

        Parameters
        ----------
        through
            The index that led to this input, if the user did not name it.
        """
        if self._file is None:
            raise ValueError("the stream is not open")
        facts = self._facts
        if self._is_in_place and facts is not None and facts.version and facts.st_size >= 0:
            self._check_version(facts)
            return replace(version_as_input(self.name, facts), through=through)
        while self._feed.take_some():
            pass
        return Input(
            name=self.name,
            checksum=f"sha256:{self._sha256.hexdigest()}",
            n_bytes=self._n_in,
            through=through,
            version=None if facts is None else facts.version,
        )

    def _chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the bytes of the file, and count and check-sum them."""
        while True:
            with as_source_error(self.name):
                chunk = file.read(_CHUNK_BYTES if self._n_in else _FIRST_CHUNK_BYTES)
            if not chunk:
                return
            self._sha256.update(chunk)
            self._n_in += len(chunk)
            if self._on_bytes is not None:
                self._on_bytes(len(chunk))
            yield chunk

    def _check_version(self, facts: RemoteFacts) -> None:
        """See that a remote file, which was not read to its end, has not been changed."""
        with as_source_error(self.name):
            if RemotePath(self.name).stat().version != facts.version:
                raise ObjectChanged(self.name)
        if self._on_bytes is not None:
            self._on_bytes(facts.st_size - self._n_in)

    def _pieces(self) -> Iterator[bytes]:
        feed, kind = self._feed, self._kind
        if kind is None:
            while data := feed.take_some():
                self.n_read += len(data)
                yield data
            return
        is_small = is_gzip = kind is _GZIP
        while feed.skip_zeros():
            if kind is _ZSTD and (dictionary := _take_dictionary(feed)):
                self._dictionary = dictionary
                continue
            places, contents = _inflate_small_members(feed) if is_small else ([], [])
            if places:
                *starts, self.n_read = accumulate(map(len, contents), initial=self.n_read)
                self._members.extend(zip(starts, places, strict=True))
                if together := b"".join(contents):
                    yield together
                check_expansion(feed.place, self.n_read, self._max_expansion)
                continue
            start = feed.place
            self._members.append((self.n_read, start))
            for piece in _decompress_member(feed, kind, self._dictionary):
                self.n_read += len(piece)
                yield piece
                check_expansion(feed.place, self.n_read, self._max_expansion)
            # Most streams have small members or large ones throughout.
            is_small = is_gzip and feed.place - start <= _SMALL_BYTES

    def _find_member(self) -> bool:
        """Go on to the next member of the compressed stream, and tell whether there is one."""
        if self._kind is None or self._is_bomb:
            return False
        try:
            return self._feed.find(self._kind.start)
        except Broken:
            # The input is a member of a ZIP file that is broken itself.
            return False

    def _describe(self, error: "Broken") -> Damage:
        """Describe a break, as if the rest of the file were lost."""
        self._is_bomb = error.is_bomb
        return Damage(
            file=self.name,
            byte=self.place if error.place is None else self._locate(error.place),
            reason=str(error),
            lost=f"all after the first {self.n_read:,} bytes of content"
            if self.n_read
            else "all of it",
        )

    def _blame_damage(self, error: SourceError) -> None:
        """Say of an input that cannot be understood that it is damaged, if it is."""
        damage = next(iter(self.damages), None)
        if damage is None and (self._kind is not None or self.path is None):
            end = self.n_read + _PROBED_BYTES
            try:
                while self.n_read < end and next(self._gathered, b""):
                    pass
            except Broken as broken:
                damage = self._describe(broken)
        if damage is not None:
            raise SourceError(f"{error}. That may be because {damage}") from error


def read_whole(name: str, *, max_bytes: int) -> bytes:
    """Return the content of a small file, as `read_small` does."""
    return read_small(name, max_bytes=max_bytes)[0]


def read_small(
    name: str, *, max_bytes: int, open_file: Callable[[], Any] | None = None
) -> tuple[bytes, Input]:
    """Return what a small file holds, such as a list or a table, however it is compressed.

    Parameters
    ----------
    name
        A path, a remote address, or ``-`` for standard input.
    max_bytes
        The most that it may hold.
    open_file
        Opens it, where it is none of these; see `Stream`.

    Returns
    -------
    (bytes, Input)
        The content, decompressed; and name, size and checksum of the file.

    Raises
    ------
    SourceError
        If it holds more, or cannot be read.
    DamagedInput
        If it is compressed and damaged.
    """
    content = bytearray()
    with Stream(name, open_file=open_file) as stream:
        for block in stream.blocks():
            content += block
            if len(content) > max_bytes:
                raise SourceError(
                    f"{name} holds more than {max_bytes:,} bytes of content, as no file of its "
                    "kind does; see whether it is the one that you mean"
                )
        return bytes(content), stream.finish()


def fingerprint(name: str, on_bytes: Callable[[int], None] | None = None) -> Input:
    """Return name, size and checksum of a file without interpreting it."""
    with Stream(name, on_bytes=on_bytes) as stream:
        return stream.finish()


def version_as_input(name: str, facts: RemoteFacts) -> Input:
    """Return what stands for the bytes of a remote file that were not read.

    Versions are only told apart at the same address, so the address is part of the checksum.

    Parameters
    ----------
    name
        Its address, as it may be shown.
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


def _gather(pieces: Iterator[bytes], n_first: int) -> Iterator[bytes]:
    """Put small pieces together, so that the work per block outweighs the call.

    The first block has just `n_first` bytes, unless the input is smaller: what is told by it must
    not depend on how the input comes.
    """
    waiting: list[bytes] = []
    n_waiting, n_wanted = 0, n_first
    try:
        for piece in pieces:
            waiting.append(piece)
            n_waiting += len(piece)
            if n_waiting < n_wanted:
                continue
            block, waiting = b"".join(waiting), []
            if n_wanted == n_first and n_waiting > n_first:
                waiting = [block[n_first:]]
                block = block[:n_first]
            yield block
            n_waiting, n_wanted, n_first = sum(map(len, waiting)), _LEAST_BYTES, -1
    except Broken:
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)


# -------------------------------------------------------------------------------- compressed bytes


class Broken(Exception):  # noqa: N818 - says what the stream is
    """A compressed stream ends early, has a wrong checksum or is followed by something else.

    Parameters
    ----------
    reason
        What is wrong.
    place
        Where it was noticed, if that is not where the stream was left.
    is_bomb
        Whether it has expanded beyond sense, so that nobody should look for more of it.
    """

    def __init__(self, reason: str, *, place: int | None = None, is_bomb: bool = False) -> None:
        super().__init__(reason)
        self.place, self.is_bomb = place, is_bomb


_ENDS_EARLY = "the file ends before its compressed stream does"
_MIN_EXPANDED_BYTES = 1 << 28
"""Below this an expansion harms nobody, however large the ratio."""


def check_expansion(n_in: int, n_out: int, max_expansion: float) -> None:
    """Stop what expands beyond sense, as files do that were made to fill disks or memory.

    Parameters
    ----------
    n_in, n_out
        Sizes of the compressed bytes, and of what they have expanded to, so far.
    max_expansion
        How many times the one the other may be.

    Raises
    ------
    Broken
        If it is more.
    """
    if n_out >= _MIN_EXPANDED_BYTES and n_out > max_expansion * max(n_in, 1):
        raise Broken(
            f"it has expanded to more than {max_expansion:,.0f} times its size, as no "
            "archive file does; if it is one, allow more with --max-expansion",
            is_bomb=True,
        )


class _Feed:
    """Chunks of compressed bytes as one sequence, to be taken from, put back to and searched.

    Small chunks keep streams of many members fast: what follows a member is copied.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = b""
        self.place = 0
        """How many bytes have been taken."""

    def take_some(self) -> bytes:
        """Take what is at hand, or the next chunk; nothing at the end."""
        data, self._data = self._data, b""
        data = data or next(self._chunks, b"")
        self.place += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        """Give back the last bytes that were taken."""
        self._data = data + self._data
        self.place -= len(data)

    def take(self, n_bytes: int) -> bytes:
        """Take so many bytes; `Broken` if there are not so many."""
        taken = b""
        while len(taken) < n_bytes:
            if not (data := self.take_some()):
                raise Broken(_ENDS_EARLY)
            taken += data
        self.put_back(taken[n_bytes:])
        return taken[:n_bytes]

    def skip_zeros(self) -> bool:
        """Pass over zero bytes and tell whether anything follows."""
        while data := self.take_some():
            if rest := data.lstrip(b"\0"):
                self.put_back(rest)
                return True
        return False

    def find(self, pattern: re.Pattern[bytes]) -> bool:
        """Go on to the next place where `pattern` matches, which is that of a `_Kind`.

        The byte at hand itself is passed over.
        """
        data, start = self.take_some(), 1
        while True:
            if match := pattern.search(data, start):
                self.put_back(data[match.start() :])
                return True
            more = next(self._chunks, b"")
            if not more:
                return False
            self.place += len(more)
            kept = data[-_START_BYTES:]
            data, start = kept + more, min(start, len(kept)) if len(data) <= _START_BYTES else 0


_MAX_HELD_BYTES = 1 << 24
"""Of a larger member that breaks, what the last chunk of input gives is lost. It is one whose end
is far away, and is lost as well."""
_FINE_BYTES = 16
"""Steps to a break. With single bytes, bzip2 would give out a part of a block before it compares
the block's checksum."""


def _decompress_member(feed: _Feed, kind: "_Kind", dictionary: bytes = b"") -> Iterator[bytes]:
    """Yield what the member at hand stands for, all that comes before a break included.

    Libraries pass over a stream that ends early, or raise and lose what they had decompressed.
    Afterwards the feed stands behind the member, or before the break.
    """
    start = feed.place
    member = kind.begin(dictionary)
    taken: list[bytes] = []
    n_taken = n_out = 0
    while not member.eof:
        data = b""
        if member.needs_input:
            data = feed.take_some()
            if not data:
                raise Broken(_ENDS_EARLY)
            n_taken += len(data)
            if n_taken > _MAX_HELD_BYTES:
                taken.clear()
            taken.append(data)
        try:
            output = member.decompress(data, _MAX_STEP_BYTES)
        except _ERRORS as error:
            place = feed.place - len(taken[-1])
            if n_taken <= _MAX_HELD_BYTES:
                place += yield from _read_to_break(kind, dictionary, taken, n_out)
            # A member may begin anywhere in it, as the break may be noticed late.
            feed.put_back(taken[-1])
            # Numbers of errors say nothing to who reads them.
            reason = re.sub(r"^Error -?\d+:? ", "", str(error))
            raise Broken(
                f"its compressed data are wrong ({reason}), so that what was read since byte "
                f"{start:,} may be wrong too",
                place=place,
            ) from error
        n_out += len(output)
        if output:
            yield output
    feed.put_back(member.unused_data)


def _read_to_break(
    kind: "_Kind", dictionary: bytes, chunks: list[bytes], n_known: int
) -> Generator[bytes, None, int]:
    """Yield what a decompressor that raises loses, and return how much of the last chunk it takes.

    It was given the chunks, and has returned `n_known` bytes.
    """
    member = kind.begin(dictionary)
    *before, last = chunks
    fine = (last[start : start + _FINE_BYTES] for start in range(0, len(last), _FINE_BYTES))
    n_out = n_chunks = 0
    with suppress(*_ERRORS):
        for chunk in chain(before, fine):
            data, needs_more = chunk, False
            while not needs_more:
                output = member.decompress(data, _MAX_STEP_BYTES)
                n_out += len(output)
                n_new = min(n_out - n_known, len(output))
                if n_new > 0:
                    yield output[-n_new:]
                data, needs_more = b"", member.eof or member.needs_input
            n_chunks += 1
    return max(n_chunks - len(before), 0) * _FINE_BYTES


# ---------------------------------------------------------------------------- kinds of compression

_SMALL_BYTES = 1 << 15
"""A record of a WARC file has a few kilobytes."""
_GIVEN_BYTES = 1 << 10
"""That a small member is given at first, beside twice the size of the one before it: what follows a
member is copied, which takes long if it is much more."""


def _inflate_small_members(feed: _Feed) -> tuple[list[int], list[bytes]]:
    """Decompress the next gzip members, as many as are small and at hand as a whole.

    A WARC file has a member for each record: to read each of them as closely as
    `_decompress_member` does would take longer than to decompress it.

    Returns where each of them begins, and what it stands for. The feed then stands at one that is
    large, damaged or not yet at hand as a whole, or behind all that is at hand.
    """
    data = feed.take_some()
    first = feed.place - len(data)
    view = memoryview(data)
    places: list[int] = []
    contents: list[bytes] = []
    place = n_out = 0
    n_given = _GIVEN_BYTES
    while place < len(data) and n_out < BLOCK_BYTES:
        member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        part = view[place : place + n_given]
        n_in = len(part)
        try:
            output = member.decompress(part, BLOCK_BYTES)
            if not member.eof and member.needs_input:
                part = view[place + n_in : place + _SMALL_BYTES]
                n_in += len(part)
                output += member.decompress(part, BLOCK_BYTES)
        except _ERRORS:
            break
        if not member.eof:
            break
        places.append(first + place)
        contents.append(output)
        n_taken = n_in - len(member.unused_data)
        place += n_taken
        n_out += len(output)
        n_given = 2 * n_taken + _GIVEN_BYTES
    feed.put_back(data[place:])
    return places, contents


_ZSTD_INPUT_BYTES = 1 << 10
"""zstandard gives all output of its input at once: 4 bytes of it can stand for 128 kB."""
_ZSTD_DICTIONARY = b"\x5d\x2a\x4d\x18"
_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
_MAX_DICTIONARY_BYTES = 1 << 26
"""Usual ones have 100 kB."""


class _ZstdDecompressor:
    """Decompresses a frame in the manner of the standard library's decompressors."""

    def __init__(self, dictionary: bytes) -> None:
        dict_data = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._frame = zstandard.ZstdDecompressor(dict_data=dict_data).decompressobj()
        self._data = memoryview(b"")
        self.eof, self.needs_input, self.unused_data = False, True, b""

    def decompress(self, data: bytes, n_most: int) -> bytes:
        self._data = memoryview(data) if data else self._data
        output = b""
        while self._data and not self.eof and len(output) < n_most:
            output += self._frame.decompress(self._data[:_ZSTD_INPUT_BYTES])
            self._data, self.eof = self._data[_ZSTD_INPUT_BYTES:], self._frame.eof
        self.needs_input = not self._data
        if self.eof:
            self.unused_data = self._frame.unused_data + self._data
        return output


def _take_dictionary(feed: _Feed) -> bytes:
    """Take the dictionary at hand, which may be compressed itself; nothing if there is none.

    A .warc.zst file begins with that of all its records.
    """
    magic = feed.take(4)
    if magic != _ZSTD_DICTIONARY:
        feed.put_back(magic)
        return b""
    dictionary = b""
    try:
        n_bytes = int.from_bytes(feed.take(4), "little")
        if n_bytes <= _MAX_DICTIONARY_BYTES:
            dictionary = feed.take(n_bytes)
        if dictionary.startswith(_ZSTD_FRAME):
            pieces, dictionary = _decompress_member(_Feed([dictionary]), _ZSTD), b""
            while len(dictionary) <= _MAX_DICTIONARY_BYTES and (piece := next(pieces, b"")):
                dictionary += piece
        if not 0 < len(dictionary) <= _MAX_DICTIONARY_BYTES:
            raise Broken("it is larger than any, or empty")  # noqa: TRY301 - one message for all
    except Broken as error:
        raise Broken(f"the dictionary that it begins with cannot be used: {error}") from error
    return dictionary


_ERRORS: tuple[type[Exception], ...] = (
    igzip_lib.IsalError,  # type: ignore[assignment]  # wrong stub
    *(OSError, EOFError, lzma.LZMAError, zstandard.ZstdError),
)
"""That decompressors raise."""


class _Kind(NamedTuple):
    """A kind of compression whose streams consist of members, one after the other."""

    magic: re.Pattern[bytes]
    """What a file begins with."""
    start: re.Pattern[bytes]
    """What a member begins with, told from other bytes as surely as possible."""
    begin: Callable[[bytes], Any]
    """Returns a decompressor like those of the standard library; zstd's takes a dictionary."""


_START_BYTES = 10
"""The greatest length of what a member begins with."""
_GZIP = _Kind(
    re.compile(rb"\x1f\x8b"),
    re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
    lambda _: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP),
)
_BZIP2 = _Kind(
    re.compile(rb"BZh[1-9]"), re.compile(rb"BZh[1-9]1AY&SY"), lambda _: bz2.BZ2Decompressor()
)
_XZ = _Kind(
    re.compile(rb"\xfd7zXZ\x00"), re.compile(rb"\xfd7zXZ\x00"), lambda _: lzma.LZMADecompressor()
)
_ZSTD = _Kind(
    re.compile(rb"[\x50-\x5f]\x2a\x4d\x18|" + re.escape(_ZSTD_FRAME)),
    re.compile(re.escape(_ZSTD_FRAME)),
    _ZstdDecompressor,
)
_KINDS = (_GZIP, _BZIP2, _XZ, _ZSTD)


# ----------------------------------------------------------------------------------------- the file


def open_file(path: AnyPath | None, *, reads_ahead: bool = False) -> BinaryIO:
    """Open a file, or standard input."""
    if path is None:
        if sys.stdin is None:
            raise SourceError("standard input is closed; there is nothing to read from -")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    if isinstance(path, Path):
        return path.open("rb")
    return cast("BinaryIO", path.open(reads_ahead=reads_ahead))
