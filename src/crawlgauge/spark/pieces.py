"""Pieces of the inputs of a crawl, which tasks can read apart from each other."""

import io
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.inputs import STDIN, InputFiles, can_be_reread, identify_file
from crawlgauge.sources.remote import is_remote, to_path
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import (
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

__all__ = ["LineRange", "LineStream", "Piece", "plan_inputs"]

PIECE_BYTES = 128 << 20
"""What a task reads at least, where there is so much: as large as the splits of Spark itself."""

_CHUNK_BYTES = 1 << 16
_SPLITTABLE = frozenset({"urls", "cdxj", "jsonl", "crawl-log"})
"""Formats of lines that mean the same wherever they stand."""

_N_THREADS = 16
"""To look at many files at once takes no longer than the slowest answer of the file system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One input, or a part of one, that a task reads.

    Parameters
    ----------
    number
        Its place in the order of the inputs.
    name
        The input as the user named it.
    n_bytes
        How many bytes it has.
    through
        The index that led to it, if the user did not name it.
    leads_on, leads_to
        Whether it only tells where captures are, and in which files, which other pieces read.
    format
        Of a file of lines that is read by several tasks; None for a file that one task reads.
    start, end
        Of such a file, where the lines of the piece begin and end. Without lines, at the very
        beginning, it is the piece that takes the checksum of the file.
    """

    number: int
    name: str
    n_bytes: int
    through: str | None = None
    leads_on: bool = False
    leads_to: tuple[str, ...] = ()
    format: str | None = None
    start: int = 0
    end: int = 0


def plan_inputs(inputs: InputFiles, settings: Settings, n_tasks: int) -> list[tuple[Piece, ...]]:
    """Look at the inputs and cut them into pieces of work.

    Parameters
    ----------
    inputs
        The files.
    settings
        What is wanted of them.
    n_tasks
        How many tasks run at once; small files are put together only beyond so many.

    Returns
    -------
    list of tuple of Piece
        What each task reads.

    Raises
    ------
    SourceError
        If an input cannot be read by several processes, as a pipe cannot.
    """
    for name in inputs.names:
        if not can_be_reread(name):
            what = "standard input" if name == STDIN else f"{name}, which is no regular file,"
            raise SourceError(
                f"{what} cannot be read by the tasks of Spark; save it to a file that all of them "
                "can reach, or use --engine local"
            )
    looked = list(_look_at_all(inputs, settings))
    cut = (part for piece in looked for part in _cut(piece))
    pieces = [replace(piece, number=number) for number, piece in enumerate(cut)]
    n_bytes = sum(piece.n_bytes for piece in looked)
    return list(_group(pieces, min(PIECE_BYTES, n_bytes // n_tasks)))


def _look_at_all(inputs: InputFiles, settings: Settings) -> Iterator[Piece]:
    """Yield all inputs in order; those that an index leads to stand before it, as when read."""
    known = {identify_file(name) for name in inputs.names}
    with ThreadPoolExecutor(_N_THREADS) as pool:
        for found in pool.map(lambda name: _look(name, inputs, settings), inputs.names):
            for part in found.leads_to:
                if identify_file(part) not in known:
                    known.add(identify_file(part))
                    yield replace(_look(part, inputs, settings), through=found.name)
            yield found


def _look(name: str, inputs: InputFiles, settings: Settings) -> Piece:
    """Return an input as one piece, with the format if it can be cut."""
    # Where a server does not tell the size, it is one piece that is as large as others.
    n_bytes = inputs.sizes.get(name, PIECE_BYTES)
    piece = Piece(
        number=0, name=name, n_bytes=n_bytes if is_remote(name) else Path(name).stat().st_size
    )
    try:
        with Stream(name) as stream:
            beginning = stream.beginning()
            if looks_like_zipnum_index(beginning):
                names = tuple(str(path) for path, _ in read_cluster(stream))
                return replace(piece, leads_on=True, leads_to=names)
            if looks_like_zipnum_locations(beginning):
                return replace(piece, leads_on=True)
            is_plain = stream.place == stream.n_read
        if not is_plain or piece.n_bytes <= PIECE_BYTES:
            return piece
        kind = find_format(beginning, settings, name).name
    except SourceError:
        return piece  # The task that reads it says so, unless one before it has more to say.
    return replace(piece, format=kind if kind in _SPLITTABLE else None)


def _cut(whole: Piece) -> Iterator[Piece]:
    yield whole
    if whole.format is not None:
        for start in range(0, whole.n_bytes, PIECE_BYTES):
            end = min(start + PIECE_BYTES, whole.n_bytes)
            yield replace(whole, n_bytes=end - start, start=start, end=end)


def _group(pieces: Iterable[Piece], most: int) -> Iterator[tuple[Piece, ...]]:
    """Put small inputs together, but not so many that there is no work for all."""
    group: list[Piece] = []
    n_grouped = 0
    for piece in pieces:
        if group and n_grouped + piece.n_bytes > most:
            yield tuple(group)
            group, n_grouped = [], 0
        group.append(piece)
        n_grouped += piece.n_bytes
    if group:
        yield tuple(group)


# ------------------------------------------------------------------------------- parts of a file


class LineRange(io.RawIOBase):
    """A file that consists of some lines of another.

    Ranges that follow each other without a gap give each line once.

    Parameters
    ----------
    piece
        Lines of its file that begin at its start or behind, and before its end, belong to it.

    Attributes
    ----------
    first
        Where its first line begins in the other file.
    n_lines
        How many line ends have been read so far.
    """

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        path = to_path(piece.name)
        self._file: Any = path.open("rb") if isinstance(path, Path) else path.open()
        self.first, end = self._next_line(piece.start), self._next_line(piece.end)
        self._n_left, self.n_lines = max(0, end - self.first), 0
        self._file.seek(self.first)

    def read(self, size: int = -1) -> bytes:
        """Return at most so many of the bytes that are left; none at the end."""
        data: bytes = self._file.read(self._n_left if size < 0 else min(size, self._n_left))
        self._n_left -= len(data)
        self.n_lines += data.count(b"\n")
        return data

    def close(self) -> None:
        """Close the other file."""
        self._file.close()
        super().close()

    def _next_line(self, place: int) -> int:
        """Return where the first line begins that does so at a place or behind it."""
        # A line begins at the place itself if another ends just before it.
        self._file.seek(max(0, place - 1))
        while place and (chunk := self._file.read(_CHUNK_BYTES)):
            if found := int(chunk.find(b"\n")) + 1:
                return place - 1 + found
            place += len(chunk)
        return place


class LineStream(Stream):
    """Some lines of a file as an input, which stands in that file for all that is told of it.

    Parameters
    ----------
    piece
        Which lines.
    settings
        What is wanted of them.
    """

    def __init__(self, piece: Piece, settings: Settings) -> None:
        self.lines = LineRange(piece)
        opened = cast("BinaryIO", self.lines)
        keeps = settings.keep_damaged
        super().__init__(piece.name, open_file=lambda: opened, keep_damaged=keeps)

    def beginning(self) -> bytes:
        """Return the first block of the whole file."""
        # What its lines consist of is told by the first ones of the whole file.
        with Stream(self.name) as whole:
            return whole.beginning()

    @property
    def place(self) -> int:
        """How many bytes of the file have been taken in so far, or stand before."""
        return self.lines.first + super().place
