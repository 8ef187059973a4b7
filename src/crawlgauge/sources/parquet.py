"""Parquet: Common Crawl's columnar index, or any file with a column of URLs. Polars decodes it."""

import io
import logging
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast
from urllib.parse import unquote

from crawlgauge.core.columns import add_columns
from crawlgauge.errors import Damage, SourceError
from crawlgauge.sources.captures import Intake, printable
from crawlgauge.sources.columns import GROUP, KEY, STATUS, TIME, URL, find_columns
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.parquet_footer import (
    MAGIC,
    BrokenParquet,
    Chunk,
    Footer,
    RowGroup,
    check_pages,
    read_footer,
)
from crawlgauge.sources.remote import AnyPath
from crawlgauge.sources.what_counts import Settings

if TYPE_CHECKING:
    import polars as pl

__all__ = ["looks_like_parquet", "read_parquet"]

_ENCRYPTED_MAGIC = b"PARE"
_PIECE_BYTES = 1 << 26
"""About so much is decoded at once."""
_SLICE_ROWS = 1 << 16
_COPIED_BYTES = 1 << 23
_VIEW_BYTES = 16
"""What a value takes beside its bytes."""
_MAX_BROKEN = 100
"""So many row groups may be broken; to find out of more takes too long."""
_MIN_EXPANDED_ROWS = 1 << 24

_COMMON_CRAWL_KEY = "url_surtkey"
"""Common Crawl's index is of pages that were fetched from the web, and this is their SURT, by which
it is sorted: it tells the host, and the URLs themselves are half of what there is to read."""
_COMMON_CRAWL = frozenset(
    {_COMMON_CRAWL_KEY, "url", "url_host_tld", "url_host_name", "warc_filename"}
)
"""By these its index is known. What others call url_surtkey may be written in another way."""
_SURT = re.compile(rb"[a-z][a-z0-9-]*([,:][^()]*)?\)")
"""A host with a name; those that are numbers are written in many ways."""

_log = logging.getLogger(__name__)


def looks_like_parquet(beginning: bytes) -> bool:
    """Tell whether an input that begins with these bytes is Parquet."""
    return beginning.startswith((MAGIC, _ENCRYPTED_MAGIC))


def read_parquet(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:
    """Read a Parquet file: the columns that are needed, of row groups that may count.

    Parameters
    ----------
    stream
        The file, which must be one that can be read in any order.
    intake
        Takes its records.
    settings
        What is wanted. It may be grouped by ``filename`` (of the WARC file), by any column, those
        within structures by dotted names, or by a folder of the file's path such as
        ``crawl=CC-MAIN-2023-40``.

    Yields
    ------
    None
        After each piece.

    Raises
    ------
    SourceError
        If the file cannot be read in any order, is encrypted, or lacks a column.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    if stream.beginning().startswith(_ENCRYPTED_MAGIC):
        raise SourceError(f"{stream.name} is encrypted Parquet; decrypt it first")
    intake.collector.begin()
    path, file = stream.open_in_place("Parquet")
    with file:
        n_bytes = file.seek(0, io.SEEK_END)
        try:
            footer = read_footer(file, n_bytes, bounded=_COMMON_CRAWL_KEY.encode())
        except BrokenParquet as error:
            reason = (
                "its footer, without which Parquet cannot be read, is missing or wrong "
                f"({_first_line(error)})"
            )
            stream.report(Damage(file=stream.name, byte=None, reason=reason, lost="all of it"))
            return
        if footer.is_encrypted:
            raise SourceError(f"{stream.name} is encrypted Parquet; decrypt it first")
        if footer.describes_others:
            _log.info("%s only describes the files beside it", stream.name)
            return
        if footer.n_rows > max(settings.max_expansion * n_bytes, _MIN_EXPANDED_ROWS):
            reason = (
                f"it is said to have {footer.n_rows:,} rows in {n_bytes:,} bytes, as no archive "
                "file has; if it is one, allow more with --max-expansion"
            )
            stream.report(Damage(file=stream.name, byte=None, reason=reason, lost="all of it"))
            return
        file.seek(footer.start)
        tail = file.read(n_bytes - footer.start)
        yield from _Reader(stream, intake, settings, _File(file, path, footer, tail)).read()


def _first_line(error: BaseException | str) -> str:
    if type(error).__name__ == "PanicException":
        return "Polars breaks down at it"  # it says where in its code
    # Polars quotes bytes of the file.
    return printable(str(error).partition("\n")[0].rstrip("."))


class _File(NamedTuple):
    """A file that is open, here or elsewhere."""

    content: BinaryIO
    path: AnyPath
    footer: Footer
    tail: bytes  # from where the footer begins

    @contextmanager
    def at_hand(self, chunks: Iterable[Chunk]) -> Iterator[tuple[str, BinaryIO]]:
        """Open a file of this machine that has the footer and these columns; yield its name too.

        What is elsewhere is fetched as files of any other format are: in one version alone, with
        our own patience, credentials and words. And Polars gets nothing that was not looked at.
        """
        if isinstance(self.path, Path) and _is_text(str(self.path)):
            yield str(self.path), self.content
            return
        with tempfile.NamedTemporaryFile(prefix="crawlgauge-", suffix=".parquet") as copy:
            copy.write(MAGIC)
            # Nothing takes room on the disk but what is written.
            for _, start, end, *_ in chunks:
                self.content.seek(start)
                copy.seek(start)
                for place in range(start, end, _COPIED_BYTES):
                    copy.write(self.content.read(min(_COPIED_BYTES, end - place)))
            copy.seek(self.footer.start)
            copy.write(self.tail)
            copy.flush()
            yield copy.name, cast("BinaryIO", copy)


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


# -------------------------------------------------------------------------------------------- rows


class _Part(NamedTuple):
    """A row group that is to be read: its number from 1 on, its rows, and the columns needed."""

    number: int
    first: int
    last: int
    chunks: tuple[Chunk, ...]

    @property
    def n_bytes(self) -> int:
        """How much it takes in memory, roughly."""
        n_values = len(self.chunks) * (self.last - self.first)
        return sum(chunk.n_plain_bytes for chunk in self.chunks) + _VIEW_BYTES * n_values


class _GivenUp(Exception):  # noqa: N818 - it is no error
    """So much is broken that the row groups from this one on are not looked at any more."""

    def __init__(self, part: _Part) -> None:
        super().__init__()
        self.part = part


class _Reader:
    """Reads the rows of a file, piece by piece."""

    def __init__(self, stream: Stream, intake: Intake, settings: Settings, file: _File) -> None:
        self._stream, self._intake, self._file = stream, intake, file
        self._n_broken = 0
        with file.at_hand(()) as (name, _):
            schema = _read_schema(name, stream.name)
        leaves, group = _choose_columns(
            list(_list_leaves(schema)), file.path, settings, stream.name
        )
        self._fields = list(leaves)
        self._columns = [
            _express(schema, leaf, field, stream.name) for field, leaf in leaves.items()
        ]
        if group is not None:
            import polars as pl

            self._fields.append(GROUP)
            self._columns.append(pl.lit(group).alias(str(GROUP)))
        self._needed = {leaf[0].encode() for leaf in leaves.values()}
        self._hosts = None
        if settings.scope is not None and _COMMON_CRAWL.issubset(schema):
            self._hosts = settings.scope.hosts

    def read(self) -> Iterator[None]:
        """Read all rows, but for those that are out of scope by what the footer says."""
        try:
            yield from self._read_groups()
        except _GivenUp as given_up:
            rest = given_up.part._replace(last=self._file.footer.n_rows)
            self._report(rest, "too many before it are broken")

    def _read_groups(self) -> Iterator[None]:
        parts: list[_Part] = []
        n_rows = n_bytes = 0
        for number, group in enumerate(self._file.footer.groups, start=1):
            first, n_rows = n_rows, n_rows + group.n_rows
            chunks = tuple(chunk for chunk in group.chunks if chunk.path[0] in self._needed)
            part = _Part(number, first, n_rows, chunks)
            if first == n_rows:
                continue
            is_outside = self._hosts is not None and _lies_outside(group, self._hosts)
            if is_outside or n_bytes + part.n_bytes > _PIECE_BYTES:
                yield from self._read_parts(parts)
                parts, n_bytes = [], 0
            if is_outside:
                # As what is left out when its URL has been read.
                self._intake.collector.exclude("out-of-scope", group.n_rows)
            else:
                parts.append(part)
                n_bytes += part.n_bytes
        yield from self._read_parts(parts)

    def _read_parts(self, parts: list[_Part]) -> Iterator[None]:
        """Read row groups that follow each other."""
        whole: list[_Part] = []
        if not parts:
            return
        chunks = [chunk for part in parts for chunk in part.chunks]
        with self._file.at_hand(chunks) as (name, content):
            for part in parts:
                try:
                    for chunk in part.chunks:
                        check_pages(content, chunk)
                except BrokenParquet as error:
                    yield from self._decode(name, whole)
                    whole = []
                    self._report(part, error)
                else:
                    whole.append(part)
            yield from self._decode(name, whole)

    def _decode(self, name: str, parts: list[_Part]) -> Iterator[None]:
        """Take in the rows of row groups that are whole as far as one can see from outside."""
        import polars as pl

        first, last = (parts[0].first, parts[-1].last) if parts else (0, 0)
        n_pieces = 1 + sum(part.n_bytes for part in parts) // _PIECE_BYTES
        n_rows = 1 + (last - first) // n_pieces
        for start in range(first, last, n_rows):
            piece = _scan(name).slice(start, min(n_rows, last - start)).select(self._columns)
            try:
                table = piece.collect()
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                if len(parts) == 1:
                    self._report(parts[0]._replace(first=start), error)
                    return
                # They are so small that they are one piece: nothing of it is taken yet.
                middle = len(parts) // 2
                yield from self._decode(name, parts[:middle])
                yield from self._decode(name, parts[middle:])
                return
            self._take(table, start)
            yield

    def _take(self, table: "pl.DataFrame", n_before: int) -> None:
        intake = self._intake
        # Slices are handed over as they are, where the whole would be copied.
        for rows in table.iter_slices(_SLICE_ROWS):
            for row, reason, url in add_columns(intake.collector, rows, self._fields):
                # A row has a number, but no place in the file that anybody could look up.
                intake.show(reason, url, offset=0, line=n_before + row + 1)
            n_before += rows.height

    def _report(self, part: _Part, error: BaseException | str) -> None:
        if self._n_broken == _MAX_BROKEN and isinstance(error, BaseException):
            raise _GivenUp(part)
        self._n_broken += 1
        self._stream.report(
            Damage(
                file=self._stream.name,
                byte=None,
                reason=f"its row group {part.number} cannot be read ({_first_line(error)})",
                lost=f"rows {part.first + 1:,} to {part.last:,}",
            )
        )


def _lies_outside(group: RowGroup, hosts: Iterable[bytes]) -> bool:
    """Tell whether all rows of a row group are of hosts that do not begin so.

    The index is sorted by host, and for each row group its footer states the first and the last.
    """
    if group.bounds is None or not all(map(_SURT.match, group.bounds)):
        return False
    first, last = group.bounds
    return not any(first[: len(host)] <= host <= last[: len(host)] for host in hosts)


def _scan(name: str) -> "pl.LazyFrame":
    import polars as pl

    return pl.scan_parquet(name, glob=False, hive_partitioning=False, use_statistics=False)


# ----------------------------------------------------------------------------------------- columns

_Leaf = tuple[str, ...]
"""A column's name, with the names of the structures that it stands in before it."""
_PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_FIRST_SECOND, _LAST_SECOND = 631_152_000, 7_289_654_399
"""Of 1990 and of 2200, as for times that are written in digits: others are mistakes."""
_MAX_STATUS = 99_999
_MAX_WHOLE = 2.0**53
_FIELD_NAMES = ("URL", "key", "time", "status", "media type", "digest", "group")


def _read_schema(name: str, source: str) -> "pl.Schema":
    import polars as pl

    try:
        return _scan(name).collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise SourceError(f"cannot read {source}: {_first_line(error)}") from error


def _list_leaves(schema: "Mapping[str, pl.DataType]", above: _Leaf = ()) -> Iterator[_Leaf]:
    """Yield the columns of a schema, those within structures too."""
    import polars as pl

    for name, kind in schema.items():
        if isinstance(kind, pl.Struct):
            inner = {field.name: cast("pl.DataType", field.dtype) for field in kind.fields}
            yield from _list_leaves(inner, (*above, name))
        else:
            yield (*above, name)


def _choose_columns(
    leaves: list[_Leaf], path: AnyPath, settings: Settings, source: str
) -> tuple[dict[int, _Leaf], bytes | None]:
    """Find the columns that hold what is wanted, and the group of all rows if the path tells it."""
    folders = dict(unquote(part).split("=", 1) for part in path.parts[:-1] if "=" in part)
    names = [".".join(leaf) for leaf in leaves]
    group = None
    if settings.group is not None and settings.group not in names and settings.group in folders:
        group = folders[settings.group].encode("utf-8", errors="surrogateescape")
    if settings.column is None:
        # The nested index calls url.url what the flat one calls url.
        names = ["url" if leaf == ("url", "url") else ".".join(leaf) for leaf in leaves]
    asked = settings if group is None else replace(settings, group=None)
    found = find_columns(names, asked, source=source)
    if not settings.needs_url and KEY in found and names[found[KEY]] == _COMMON_CRAWL_KEY:
        del found[URL]
    return {field: leaves[place] for field, place in found.items()}, group


def _express(schema: "pl.Schema", leaf: _Leaf, field: int, source: str) -> "pl.Expr":
    """Say how a column becomes what the collector takes: a text, seconds, a status."""
    import polars as pl

    column, kind = pl.col(leaf[0]), schema[leaf[0]]
    for step in leaf[1:]:
        inner = {field.name: field.dtype for field in cast("pl.Struct", kind).fields}
        kind, column = cast("pl.DataType", inner[step]), column.struct.field(step)
    if isinstance(kind, pl.Categorical | pl.Enum | pl.Null):
        column, kind = column.cast(pl.String), pl.String()
    if kind.is_float() and field not in (URL, KEY):
        # A column of integers in which some are missing is often stored so.
        is_whole = (column.abs() < _MAX_WHOLE) & (column.floor() == column)
        column, kind = pl.when(is_whole).then(column).cast(pl.Int64), pl.Int64()
    if isinstance(kind, pl.String | pl.Binary):
        pass
    elif field == TIME and isinstance(kind, pl.Datetime | pl.Date):
        # Times with a zone are stored in UTC.
        column = column.to_physical().cast(pl.Int64)
        if isinstance(kind, pl.Date):
            column = column * 86_400
        else:
            column = column // _PER_SECOND[kind.time_unit]
        column = pl.when(column.is_between(_FIRST_SECOND, _LAST_SECOND)).then(column)
    elif field == STATUS and kind.is_integer():
        column = pl.when(column.is_between(-_MAX_STATUS, _MAX_STATUS)).then(column).cast(pl.Int32)
    elif field == GROUP and isinstance(kind, pl.Datetime):
        zone = {None: "", "UTC": "Z"}.get(kind.time_zone, "%z")
        digits = len(str(_PER_SECOND[kind.time_unit])) - 1
        column = column.dt.strftime(f"%Y-%m-%d %H:%M:%S%.{digits}f{zone}")
    elif (kind.is_integer() and field not in (URL, KEY)) or (
        field == GROUP and not kind.is_nested() and not isinstance(kind, pl.Duration)
    ):
        column = column.cast(pl.String)
    else:
        raise SourceError(
            f"{source}: the column for the {_FIELD_NAMES[field]} holds {kind}, which cannot be "
            "read as one; name another column or write it as text"
        )
    return column.alias(str(field))
