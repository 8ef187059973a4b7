"""Cut the inputs of a crawl into pieces of work that tasks can do apart from each other."""

import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from crawlgauge.errors import SourceError
from crawlgauge.remote.names import is_remote, local_name
from crawlgauge.remote.remote_path import to_path
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.compression import find_compression
from crawlgauge.sources.formats import find_format
from crawlgauge.sources.inputs import STDIN, identify_file
from crawlgauge.sources.measured_file import MeasuredFile
from crawlgauge.sources.parquet_rows import looks_like_parquet
from crawlgauge.sources.request import Request
from crawlgauge.sources.wacz import looks_like_wacz
from crawlgauge.sources.zipnum import looks_like_zipnum_index, read_cluster

__all__ = ["PIECE_BYTES", "InputPlan", "Piece", "plan_inputs"]

PIECE_BYTES = 128 << 20
"""What a task reads at least, where there is so much: as large as the splits of Spark itself."""

_MAGIC_BYTES = 16
_N_THREADS = 16
"""To look at many files at once takes no longer than the slowest answer of the file system."""

_SPLITTABLE = frozenset({"urls", "cdxj", "jsonl", "crawl-log"})
"""Formats of lines that mean the same wherever they stand."""

_LEAST_BYTES_PER_KEY = 6
_LEAST_BYTES_PER_RECORD = 4096
_RECORD_MARKS = (b"WARC/", b"filedesc:", b"PK\x03\x04")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One input, or a part of one, that a task reads.

    Parameters
    ----------
    number
        Its place in the order of the inputs.
    name
        The input as the user named it.
    through
        The index that led to it, if the user did not name it.
    n_bytes
        How many bytes it has.
    start, end
        Where its lines begin and end, if it is a part of a text file; None for the whole.
    format
        The format of such a part.
    is_read
        Whether its captures are wanted; if not, only size and checksum are.
    """

    number: int
    name: str
    n_bytes: int
    through: str | None = None
    start: int | None = None
    end: int | None = None
    format: str | None = None
    is_read: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPlan:
    """Who reads what.

    Parameters
    ----------
    groups
        The pieces of each task.
    tables
        Parquet files that Spark reads itself; their pieces only take checksums.
    names
        All inputs, those that others lead to among them.
    n_bytes
        Size of all inputs.
    n_most_keys
        More keys than the inputs can hold, in all likelihood.
    """

    groups: tuple[tuple[Piece, ...], ...]
    tables: tuple[str, ...]
    names: tuple[str, ...]
    n_bytes: int
    n_most_keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What the first bytes of an input tell."""

    name: str
    n_bytes: int
    through: str | None
    is_table: bool = False
    has_records: bool = False
    format: str | None = None
    leads_to: tuple[str, ...] = ()


def plan_inputs(
    names: Sequence[str],
    request: Request,
    *,
    n_tasks: int,
    choose_tables: Callable[[Sequence[str]], Iterable[str]],
    keep_damaged: bool,
) -> InputPlan:
    """Look at the inputs and cut them into pieces of work.

    Parameters
    ----------
    names
        The inputs.
    request
        What is wanted of them.
    n_tasks
        How many tasks run at once; small files are put together only beyond so many.
    choose_tables
        Tells which of some Parquet files Spark reads itself.
    keep_damaged
        Whether damaged inputs are read as far as possible.

    Raises
    ------
    SourceError
        If an input cannot be read by several processes, as a pipe cannot.
    """
    looks = list(_look_at_all(names, request, keep_damaged=keep_damaged))
    tables = tuple(choose_tables([look.name for look in looks if look.is_table]))
    pieces = list(_cut_all(looks, frozenset(tables)))
    n_bytes = sum(look.n_bytes for look in looks)
    return InputPlan(
        groups=tuple(_group(pieces, n_bytes, n_tasks)),
        tables=tables,
        names=tuple(look.name for look in looks),
        n_bytes=n_bytes,
        n_most_keys=sum(map(_most_keys, looks)),
    )


def _look_at_all(names: Sequence[str], request: Request, *, keep_damaged: bool) -> Iterator[_Look]:
    """Yield all inputs in order; those that an index leads to stand before it, as when read."""
    known = {identify_file(name) for name in names}

    def look(name: str) -> _Look:
        return _look(name, None, request, keep_damaged=keep_damaged)

    with ThreadPoolExecutor(_N_THREADS) as pool:
        for found in pool.map(look, names):
            for part in found.leads_to:
                identity = identify_file(part)
                if identity not in known:
                    known.add(identity)
                    yield _look(part, found.name, request, keep_damaged=keep_damaged)
            yield found


def _look(name: str, through: str | None, request: Request, *, keep_damaged: bool) -> _Look:
    if name == STDIN or not _is_regular(name):
        what = "standard input" if name == STDIN else f"{name}, which is no regular file,"
        raise SourceError(
            f"{what} cannot be read by the tasks of Spark; save it to a file that all of them can "
            "reach, or use --engine local"
        )
    n_bytes = to_path(name).stat().st_size
    with closing(MeasuredFile(name, None, None)) as file:
        magic = next(file.chunks(_MAGIC_BYTES), b"")
    plain = _Look(name=name, n_bytes=n_bytes, through=through)
    if looks_like_parquet(magic):
        return replace(plain, is_table=request.format in (None, "parquet"))
    if magic.startswith(_RECORD_MARKS) or looks_like_wacz(magic):
        return replace(plain, has_records=True)
    if find_compression(magic) is not None:
        return plain
    return _look_at_text(plain, request, keep_damaged=keep_damaged)


def _look_at_text(plain: _Look, request: Request, *, keep_damaged: bool) -> _Look:
    with ByteStream(plain.name, keep_damaged=keep_damaged) as stream:
        beginning = stream.beginning()
        if looks_like_zipnum_index(beginning):
            parts = read_cluster(stream).parts
            return replace(plain, leads_to=tuple(str(part.path) for part in parts))
    if plain.n_bytes <= PIECE_BYTES:
        return plain
    found = find_format(beginning, request, plain.name).name
    return replace(plain, format=found if found in _SPLITTABLE else None)


def _is_regular(name: str) -> bool:
    return is_remote(name) or stat.S_ISREG(Path(local_name(name)).stat().st_mode)


def _cut_all(looks: Iterable[_Look], tables: frozenset[str]) -> Iterator[Piece]:
    number = 0
    for look in looks:
        whole = Piece(number=number, name=look.name, n_bytes=look.n_bytes, through=look.through)
        if look.name in tables:
            yield replace(whole, is_read=False)
        elif look.format is None:
            yield whole
        else:
            yield replace(whole, is_read=False)
            for start in range(0, look.n_bytes, PIECE_BYTES):
                number += 1
                end = min(start + PIECE_BYTES, look.n_bytes)
                yield replace(
                    whole,
                    number=number,
                    n_bytes=end - start,
                    start=start,
                    end=end,
                    format=look.format,
                )
        number += 1


def _group(pieces: list[Piece], n_bytes: int, n_tasks: int) -> Iterator[tuple[Piece, ...]]:
    """Put small inputs together, but not so many that there is no work for all."""
    most = min(PIECE_BYTES, max(1, n_bytes // max(1, n_tasks)))
    group: list[Piece] = []
    n_grouped = 0
    for piece in pieces:
        if group and (n_grouped + piece.n_bytes > most or _is_apart(piece) or _is_apart(group[0])):
            yield tuple(group)
            group, n_grouped = [], 0
        group.append(piece)
        n_grouped += piece.n_bytes
    if group:
        yield tuple(group)


def _is_apart(piece: Piece) -> bool:
    """Tell whether a piece must be alone: its lines are counted on from those of another."""
    return piece.start is not None


def _most_keys(look: _Look) -> int:
    least = _LEAST_BYTES_PER_RECORD if look.has_records else _LEAST_BYTES_PER_KEY
    return look.n_bytes // least + 1
