"""Parquet: Common Crawl's columnar index, or any file with a column of URLs. Polars decodes it.

Who decodes a file takes numbers in it for granted, such as how much memory to ask for, and may end
the whole process where they are wrong. So they are looked at here before, as are the checksums of
pages. Footer and page headers are written in Thrift's compact protocol.
"""

import io
import logging
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast
from urllib.parse import unquote
from zlib import crc32

from crawlgauge.core.columns import add_columns
from crawlgauge.errors import SourceError, printable
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.columns import GROUP, KEY, STATUS, TIME, URL, find_columns
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.remote import AnyPath
from crawlgauge.sources.what_counts import Settings

if TYPE_CHECKING:
    import polars as pl

_MAGIC = b"PAR1"
"""Stands at both ends of a file."""
_ENCRYPTED_MAGIC = b"PARE"
_PIECE_BYTES = 1 << 25
"""About so much is decoded at once, and no more than a part of the memory that there is."""
_PIECES_IN_MEMORY = 1 << 6
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
    return beginning.startswith((_MAGIC, _ENCRYPTED_MAGIC))


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
            groups, start, is_encrypted = _read_footer(file, n_bytes)
        except _Broken as error:
            reason = (
                "its footer, without which Parquet cannot be read, is missing or wrong "
                f"({_first_line(error)})"
            )
            stream.report_loss(reason, "all of it")
            return
        if is_encrypted:
            raise SourceError(f"{stream.name} is encrypted Parquet; decrypt it first")
        n_rows = groups[-1].last if groups else 0
        if n_rows > 0 and start == len(_MAGIC):
            # A summary such as _metadata: a footer of rows in other files.
            _log.info("%s only describes the files beside it", stream.name)
            return
        if n_rows > max(settings.max_expansion * n_bytes, _MIN_EXPANDED_ROWS):
            reason = (
                f"it is said to have {n_rows:,} rows in {n_bytes:,} bytes, as no archive "
                "file has; if it is one, allow more with --max-expansion"
            )
            stream.report_loss(reason, "all of it")
            return
        file.seek(start)
        tail = start, file.read(n_bytes - start)
        yield from _Reader(stream, intake, settings, file, path, tail).read(groups)


def _first_line(error: BaseException | str) -> str:
    if type(error).__name__ == "PanicException":
        return "Polars breaks down at it"  # it says where in its code
    # Polars quotes bytes of the file.
    return printable(str(error).partition("\n")[0].rstrip("."))


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


# -------------------------------------------------------------------------------------------- rows


class _Chunk(NamedTuple):
    """A column of a row group, as pages that follow each other."""

    path: tuple[bytes, ...]  # its name, with those of the structures around it before it
    start: int
    end: int
    n_values: int
    n_plain_bytes: int  # when decompressed


class _RowGroup(NamedTuple):
    """Rows that stand together."""

    number: int  # from 1 on
    first: int
    last: int
    chunks: tuple[_Chunk, ...]
    bounds: tuple[bytes, bytes] | None  # the least and the greatest key of Common Crawl's

    @property
    def n_bytes(self) -> int:
        """How much it takes in memory, roughly."""
        n_values = len(self.chunks) * (self.last - self.first)
        return sum(chunk.n_plain_bytes for chunk in self.chunks) + _VIEW_BYTES * n_values


class _GivenUp(Exception):  # noqa: N818 - it is no error
    """So much is broken that the row groups from this one on are not looked at any more."""


class _Reader:
    """Reads the rows of a file, piece by piece; `tail` is where its footer begins, and its end."""

    def __init__(
        self,
        stream: Stream,
        intake: Intake,
        settings: Settings,
        content: BinaryIO,
        path: AnyPath,
        tail: tuple[int, bytes],
    ) -> None:
        self._stream, self._intake = stream, intake
        self._content, self._path, self._tail = content, path, tail
        self._piece_bytes = min(_PIECE_BYTES, settings.memory // _PIECES_IN_MEMORY)
        self._n_broken = 0
        with self._at_hand(()) as (name, _):
            schema = _read_schema(name, stream.name)
        leaves, group = _choose_columns(list(_list_leaves(schema)), path, settings, stream.name)
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

    @contextmanager
    def _at_hand(self, chunks: Iterable[_Chunk]) -> Iterator[tuple[str, BinaryIO]]:
        """Open a file of this machine that has the footer and these columns; yield its name too.

        What is elsewhere is fetched as files of any other format are: in one version alone, with
        our own patience, credentials and words. And Polars gets nothing that was not looked at.
        """
        if isinstance(self._path, Path) and _is_text(str(self._path)):
            yield str(self._path), self._content
            return
        with tempfile.NamedTemporaryFile(prefix="crawlgauge-", suffix=".parquet") as copy:
            copy.write(_MAGIC)
            # Nothing takes room on the disk but what is written.
            for _, start, end, *_ in chunks:
                self._content.seek(start)
                copy.seek(start)
                for place in range(start, end, _COPIED_BYTES):
                    copy.write(self._content.read(min(_COPIED_BYTES, end - place)))
            copy.seek(self._tail[0])
            copy.write(self._tail[1])
            copy.flush()
            yield copy.name, cast("BinaryIO", copy)

    def read(self, groups: list[_RowGroup]) -> Iterator[None]:
        """Read all rows, but for those that are out of scope by what the footer says."""
        try:
            yield from self._read_groups(groups)
        except _GivenUp as given_up:
            rest = given_up.args[0]._replace(last=groups[-1].last)
            self._report(rest, "too many before it are broken")

    def _read_groups(self, groups: list[_RowGroup]) -> Iterator[None]:
        waiting: list[_RowGroup] = []
        n_bytes = 0
        for whole in groups:
            chunks = tuple(chunk for chunk in whole.chunks if chunk.path[0] in self._needed)
            group = whole._replace(chunks=chunks)
            if group.first == group.last:
                continue
            is_outside = self._hosts is not None and _lies_outside(group, self._hosts)
            if is_outside or n_bytes + group.n_bytes > self._piece_bytes:
                yield from self._read_together(waiting)
                waiting, n_bytes = [], 0
            if is_outside:
                # As what is left out when its URL has been read.
                self._intake.collector.exclude("out-of-scope", group.last - group.first)
            else:
                waiting.append(group)
                n_bytes += group.n_bytes
        yield from self._read_together(waiting)

    def _read_together(self, groups: list[_RowGroup]) -> Iterator[None]:
        """Read row groups that follow each other."""
        if not groups:
            return
        whole: list[_RowGroup] = []
        with self._at_hand([chunk for group in groups for chunk in group.chunks]) as (
            name,
            content,
        ):
            for group in groups:
                try:
                    for chunk in group.chunks:
                        _check_pages(content, chunk)
                except _Broken as error:
                    yield from self._decode(name, whole)
                    whole = []
                    self._report(group, error)
                else:
                    whole.append(group)
            yield from self._decode(name, whole)

    def _decode(self, name: str, groups: list[_RowGroup]) -> Iterator[None]:
        """Take in the rows of row groups that are whole as far as one can see from outside."""
        import polars as pl

        first, last = (groups[0].first, groups[-1].last) if groups else (0, 0)
        n_pieces = 1 + sum(group.n_bytes for group in groups) // self._piece_bytes
        n_rows = 1 + (last - first) // n_pieces
        for start in range(first, last, n_rows):
            piece = _scan(name).slice(start, min(n_rows, last - start)).select(self._columns)
            try:
                table = piece.collect()
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                if len(groups) == 1:
                    self._report(groups[0]._replace(first=start), error)
                    return
                # They are so small that they are one piece: nothing of it is taken yet.
                middle = len(groups) // 2
                yield from self._decode(name, groups[:middle])
                yield from self._decode(name, groups[middle:])
                return
            # Slices are handed over as they are, where the whole would be copied.
            for rows in table.iter_slices(_SLICE_ROWS):
                for row, reason, url in add_columns(self._intake.collector, rows, self._fields):
                    # A row has a number, but no place in the file that anybody could look up.
                    self._intake.show(reason, url, offset=0, line=start + row + 1)
                start += rows.height  # noqa: PLW2901 - where the next slice begins
            yield

    def _report(self, group: _RowGroup, error: BaseException | str) -> None:
        if self._n_broken == _MAX_BROKEN and isinstance(error, BaseException):
            raise _GivenUp(group)
        self._n_broken += 1
        reason = f"its row group {group.number} cannot be read ({_first_line(error)})"
        self._stream.report_loss(reason, f"rows {group.first + 1:,} to {group.last:,}")


def _lies_outside(group: _RowGroup, hosts: Iterable[bytes]) -> bool:
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


# ----------------------------------------------------------------------------- footer and pages

_TAIL_BYTES = 8
_MAX_FOOTER_BYTES = 1 << 25
_MAX_PAGE_BYTES = 1 << 28
"""Writers make pages of a megabyte; who reads one holds all of it."""
_MAX_NUMBER = 1 << 48
_FEW_BYTES, _HEADER_BYTES = 1 << 12, 1 << 18
"""As much as the headers of most pages have, and more than any, with least and greatest values."""
_PART_BYTES = 1 << 20
# Numbers of fields, and of what stands in them, as the format has them.
_N_ROWS, _GROUPS, _ORDERS, _ENCRYPTION = 3, 4, 7, 8
_CHECKSUM = 4
_N_TYPES, _N_CODECS, _N_ENCODINGS = 8, 8, 10
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_DETAILS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}
"""Kinds of pages that hold values, and the fields of their headers that describe them."""
_ENCODINGS = {_DATA: (2, 3, 4), _DICTIONARY: (2,), _DATA_2: (4,)}
"""The fields of these that tell how the values are written."""


class _Broken(Exception):  # noqa: N818 - the name says what there is
    """A file, or a part of it, that is no Parquet any more."""


def _read_footer(file: BinaryIO, n_bytes: int) -> tuple[list[_RowGroup], int, bool]:
    """Return the row groups of a file, where its footer begins, and whether it is encrypted."""
    file.seek(max(0, n_bytes - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    start = n_bytes - _TAIL_BYTES - length
    if len(tail) < _TAIL_BYTES or not tail.endswith(_MAGIC):
        raise _Broken(f"the file does not end with {_MAGIC.decode()}")
    if start < len(_MAGIC) or length > _MAX_FOOTER_BYTES:
        raise _Broken(f"it is said to have {length:,} bytes")
    file.seek(start)
    footer = _Thrift(file.read(length)).struct()
    n_rows = _to_number(footer.get(_N_ROWS))
    groups: list[_RowGroup] = []
    for struct in _to_list(footer.get(_GROUPS)):
        first = groups[-1].last if groups else 0
        groups.append(_read_group(_to_struct(struct), len(groups) + 1, first, start))
    if (groups[-1].last if groups else 0) != n_rows:
        raise _Broken("the numbers of rows contradict each other")
    if _ORDERS not in footer:
        # Nobody knows which values are the least and the greatest.
        groups = [group._replace(bounds=None) for group in groups]
    return groups, start, _ENCRYPTION in footer


def _check_pages(file: BinaryIO, chunk: _Chunk) -> None:
    """See that a column's pages are where they should be, with their checksums if they have any."""
    place, n_values = chunk.start, 0
    while place < chunk.end:
        header, n_bytes = _read_header(file, place, chunk.end)
        place += n_bytes
        kind, n_plain, n_bytes = (_to_number(header.get(number)) for number in (1, 2, 3))
        if n_bytes > chunk.end - place or n_plain > _MAX_PAGE_BYTES:
            raise _Broken(f"a page is said to have {max(n_bytes, n_plain):,} bytes")
        if kind in _DETAILS:
            details = _to_struct(header.get(_DETAILS[kind]))
            n_here = _to_number(details.get(1))
            for number in _ENCODINGS[kind]:
                _to_number(details.get(number), below=_N_ENCODINGS)
            if kind != _DICTIONARY:
                n_values += n_here
            elif n_here > n_plain:
                raise _Broken(f"a dictionary is said to have {n_here:,} values")
        if _CHECKSUM in header:
            _check_sum(file, place, n_bytes, header[_CHECKSUM])
        place += n_bytes
    if n_values != chunk.n_values:
        raise _Broken(f"there are {n_values:,} values instead of {chunk.n_values:,}")


def _read_header(
    file: BinaryIO, place: int, end: int, n_most: int = _FEW_BYTES
) -> tuple["_Struct", int]:
    """Return what is said of a page, and how many bytes say it."""
    file.seek(place)
    reader = _Thrift(file.read(min(n_most, end - place)))
    try:
        return reader.struct(), reader.place
    except _Broken:
        if n_most == _HEADER_BYTES:
            raise
        return _read_header(file, place, end, _HEADER_BYTES)


def _check_sum(file: BinaryIO, place: int, n_bytes: int, expected: object) -> None:
    file.seek(place)
    found = 0
    for first in range(0, n_bytes, _PART_BYTES):
        found = crc32(file.read(min(_PART_BYTES, n_bytes - first)), found)
    if not isinstance(expected, int) or found != expected % (1 << 32):
        raise _Broken("the checksum of a page is wrong")


def _read_group(struct: "_Struct", number: int, first: int, end: int) -> _RowGroup:
    n_rows = _to_number(struct.get(3))
    chunks: list[_Chunk] = []
    bounds = None
    for column in _to_list(struct.get(1)):
        facts = _to_struct(_to_struct(column).get(3))
        path = tuple(_to_list(facts.get(3)))
        if not path:
            raise _Broken("a column has no name")
        n_values, n_plain, n_bytes, start = (_to_number(facts.get(k)) for k in (5, 6, 7, 9))
        _to_number(facts.get(1), below=_N_TYPES)
        _to_number(facts.get(4), below=_N_CODECS)
        for encoding in _to_list(facts.get(2)):
            _to_number(encoding, below=_N_ENCODINGS)
        # Pages of a dictionary stand before those that refer to it.
        dictionary = _to_number(facts.get(11, 0))
        start = dictionary if 0 < dictionary < start else start
        # A summary of other files has no data at all.
        if end > len(_MAGIC) and n_values and not len(_MAGIC) <= start <= start + n_bytes <= end:
            raise _Broken("a column does not stand in the file")
        chunks.append(_Chunk(path, start, start + n_bytes, n_values, n_plain))
        if path == (_COMMON_CRAWL_KEY.encode(),) and isinstance(statistics := facts.get(12), dict):
            least, greatest = statistics.get(6), statistics.get(5)
            if isinstance(least, bytes) and isinstance(greatest, bytes):
                bounds = least, greatest
    return _RowGroup(number, first, first + n_rows, tuple(chunks), bounds)


def _to_number(value: object, below: int = _MAX_NUMBER) -> int:
    if not isinstance(value, int) or not 0 <= value < below:
        raise _Broken("a number in it is missing or wrong")
    return value


def _to_struct(value: object) -> "_Struct":
    if not isinstance(value, dict):
        raise _Broken("something is not described in it")
    return value


def _to_list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise _Broken("it has something else where a list should be")
    return value


# ------------------------------------------------------------------------------------------ Thrift

_Struct = dict[int, Any]
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_WIDTHS = {_I16: 16, _I32: 32, _I64: 64}
_MAX_DEPTH = 32
_ENDS_EARLY = "it ends early"


class _Thrift:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> _Struct:
        found: _Struct = {}
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._signed(16)
            found[number] = self.value(byte & 15, depth)
        return found

    def value(self, kind: int, depth: int = 0) -> object:
        if kind in _WIDTHS:
            return self._signed(_WIDTHS[kind])
        if kind == _BINARY:
            return self._take(self._number())
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if depth > _MAX_DEPTH:
            raise _Broken("its structures are too deep")
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            byte = self._byte()
            size = self._number() if byte >> 4 == 15 else byte >> 4  # noqa: PLR2004 - stands for more
            if size > len(self._data) - self.place:
                raise _Broken(_ENDS_EARLY)
            return [self._item(byte & 15, depth) for _ in range(size)]
        if kind == _MAP:
            size = self._number()
            kinds = self._byte() if size else 0
            return [
                (self._item(kinds >> 4, depth), self._item(kinds & 15, depth)) for _ in range(size)
            ]
        if kind in (_BYTE, _DOUBLE):
            return self._take(1 if kind == _BYTE else 8)
        raise _Broken("it has a value of unknown kind")

    def _item(self, kind: int, depth: int) -> object:
        # Within lists, each truth value takes a byte.
        return self._take(1) if kind in (_TRUE, _FALSE) else self.value(kind, depth + 1)

    def _take(self, n_bytes: int) -> bytes:
        taken = self._data[self.place : self.place + n_bytes]
        if len(taken) < n_bytes:
            raise _Broken(_ENDS_EARLY)
        self.place += n_bytes
        return taken

    def _byte(self) -> int:
        return self._take(1)[0]

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:  # noqa: PLR2004 - more than any number has
                raise _Broken("a number in it has no end")
        return number | byte << shift

    def _signed(self, width: int) -> int:
        number = self._number()
        number = (number >> 1) ^ -(number & 1)
        if not -(1 << width - 1) <= number < 1 << width - 1:
            raise _Broken("a number in it is too large")
        return number
