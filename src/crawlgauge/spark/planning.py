"""Cut the inputs of a crawl into pieces of work that tasks can do apart from each other."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.inputs import STDIN, InputFiles, can_be_reread, identify_file
from crawlgauge.sources.remote import is_remote
from crawlgauge.sources.what_counts import Settings
from crawlgauge.sources.zipnum import (
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

__all__ = ["Piece", "plan_inputs"]

PIECE_BYTES = 128 << 20
"""What a task reads at least, where there is so much: as large as the splits of Spark itself."""

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
                parts = read_cluster(stream).parts
                names = tuple(str(part.path) for part in parts)
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
