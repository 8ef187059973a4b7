"""Parquet: Common Crawl's columnar index, or any file with a column of URLs."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from crawlgauge.damage import Damage
from crawlgauge.errors import SourceError
from crawlgauge.remote.faults import RemoteFault
from crawlgauge.remote.remote_file import BLOCK_BYTES
from crawlgauge.remote.remote_path import AnyPath, RemotePath
from crawlgauge.sources.arrow_captures import to_captures
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.column_names import find_columns
from crawlgauge.sources.left_out import printable
from crawlgauge.sources.parquet_scope import lies_outside
from crawlgauge.sources.record_kernel import DIGEST, GROUP, KEY, MIME, STATUS, TIME, URL
from crawlgauge.sources.request import Request

__all__ = [
    "Leaf",
    "ParquetColumns",
    "choose_columns",
    "list_leaves",
    "looks_like_parquet",
    "read_parquet_rows",
]

_MAGIC, _ENCRYPTED_MAGIC = b"PAR1", b"PARE"
_FRAME_BYTES = 12
"""The magic bytes at both ends, and the length of the footer."""
_BATCH_ROWS = 1 << 15
_PART_BYTES = 1 << 26
_BUFFER_BYTES = 1 << 20
"""Read so much of a column at a time, rather than its whole row group."""

_COMMON_CRAWL_KEY = "url_surtkey"
"""Common Crawl's index is of pages that were fetched from the web, and this is their SURT: it tells
the host, and the URLs themselves are half of what there is to read."""

_log = logging.getLogger(__name__)


def looks_like_parquet(beginning: bytes) -> bool:
    """Tell whether an input is Parquet.

    Parameters
    ----------
    beginning
        Its first bytes.
    """
    return beginning.startswith((_MAGIC, _ENCRYPTED_MAGIC))


def read_parquet_rows(stream: ByteStream, request: Request) -> Iterator[Captures]:
    """Yield the captures of a Parquet file; only the columns that are needed are read.

    Parameters
    ----------
    stream
        The file, which must be one on disk.
    request
        Which columns are wanted. It may be grouped by ``filename`` (of the WARC file), by any
        column, those within structures by dotted names, or by a folder of the file's path such as
        ``crawl=CC-MAIN-2023-40``.

    Raises
    ------
    SourceError
        If the file cannot be read in any order, is encrypted, or lacks a column.
    DamagedInput
        If it is damaged, and that is not wanted to be got over.
    """
    path = _find_file(stream)
    with path.open("rb") as source:
        opened = _open(source, stream)
        if opened is None:
            return
        file, leaves = opened
        if _describes_others(file, path.stat().st_size):
            _log.info("%s only describes the files beside it", stream.name)
            return
        columns = choose_columns(leaves, path, request, stream.name)
        if MIME in columns.leaves:
            # There are few media types: the file's own codes for them are read in less time.
            coded = [".".join(columns.leaves[MIME])]
            file = _open_file(source, stream, metadata=file.metadata, read_dictionary=coded)
        n_rows = 0
        for number in range(file.num_row_groups):
            if lies_outside(file, number, request.hosts):
                yield _pass_over(file, number, columns, stream.name, request)
            else:
                yield from _read_group(file, number, n_rows, columns, stream, request)
            n_rows += file.metadata.row_group(number).num_rows


def _find_file(stream: ByteStream) -> AnyPath:
    if stream.path is None or not stream.path.is_file():
        raise SourceError(
            f"{stream.name} is Parquet, which must be read from its end; save it to a file first"
        )
    with stream.path.open("rb") as file:
        magic = file.read(len(_MAGIC))
    if magic == _ENCRYPTED_MAGIC:
        raise SourceError(f"{stream.name} is encrypted Parquet; decrypt it first")
    if magic != _MAGIC:
        raise SourceError(
            f"{stream.name} is compressed as a whole, but Parquet must be read from its end; "
            "decompress it first"
        )
    stream.read_in_place()
    return stream.path


Leaf = tuple[str, ...]
"""A column's name, with the names of the structures that it stands in before it."""


def _open(source: BinaryIO, stream: ByteStream) -> tuple[pq.ParquetFile, list[Leaf]] | None:
    """Return the file and its columns, or None if its footer is lost."""
    try:
        file = _open_file(source, stream)
        return file, list(list_leaves(file.schema_arrow))
    except RemoteFault:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        stream.report(
            Damage(
                file=stream.name,
                byte=None,
                reason="its footer, without which Parquet cannot be read, is missing or wrong "
                f"({_first_line(error)})",
                lost="all of it",
            )
        )
        return None


def _open_file(source: BinaryIO, stream: ByteStream, **more: Any) -> pq.ParquetFile:  # noqa: ANN401 - Arrow's options
    return pq.ParquetFile(
        source,
        buffer_size=BLOCK_BYTES if isinstance(stream.path, RemotePath) else _BUFFER_BYTES,
        # Spark's older times count nanoseconds, in which the years end in 2262.
        coerce_int96_timestamp_unit="ms",
        page_checksum_verification=True,
        **more,
    )


def list_leaves(fields: pa.Schema | pa.StructType, above: Leaf = ()) -> Iterator[Leaf]:
    """Yield the columns of a schema, those within structures too."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield from list_leaves(field.type, (*above, field.name))
        else:
            yield (*above, field.name)


def _describes_others(file: pq.ParquetFile, n_bytes: int) -> bool:
    """Tell whether it is a summary such as ``_metadata``: a footer of rows in other files.

    The footer names those files, but Arrow ends the whole process where it is asked for the name
    and the footer is damaged.
    """
    return bool(file.metadata.num_rows) and n_bytes == file.metadata.serialized_size + _FRAME_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetColumns:
    """Which columns to read, by field, and the group where the path states it.

    Parameters
    ----------
    leaves
        By field of `record_kernel`.
    group
        The group of all rows; None if a column tells it, or nobody asks.
    """

    leaves: dict[int, Leaf]
    group: bytes | None

    @property
    def names(self) -> list[str]:
        """The columns' names, those within structures with dots."""
        return [".".join(leaf) for leaf in self.leaves.values()]


def choose_columns(
    leaves: list[Leaf], path: AnyPath, request: Request, name: str
) -> ParquetColumns:
    """Find the columns that hold what is wanted.

    Parameters
    ----------
    leaves
        All columns.
    path
        The file; its folders may tell the group.
    request
        What is wanted.
    name
        The input as the user named it.

    Raises
    ------
    SourceError
        If it cannot be told which column holds the URLs, or there are several of its name.
    """
    folders = dict(unquote(part).split("=", 1) for part in path.parts[:-1] if "=" in part)
    names = [".".join(leaf) for leaf in leaves]
    group = None
    if request.group is not None and request.group not in names and request.group in folders:
        group = folders[request.group].encode()
    asked = request if group is None else replace(request, group=None)
    if request.column is None:
        # The nested index calls url.url what the flat one calls url.
        names = ["url" if leaf == ("url", "url") else ".".join(leaf) for leaf in leaves]
    found = find_columns(names, asked, source=name)
    wanted = {URL, GROUP, *(field for key, field in _FIELDS if key in request.fields)}
    if not request.needs_url and KEY in found and names[found[KEY]] == _COMMON_CRAWL_KEY:
        wanted.remove(URL)
    chosen = {field: leaves[place] for field, place in found.items() if field in wanted}
    for leaf in chosen.values():
        if leaves.count(leaf) > 1:
            called = printable(".".join(leaf))
            raise SourceError(f"{name} has several columns called {called}; rename them")
    return ParquetColumns(leaves=chosen, group=group)


_FIELDS = (
    ("key", KEY),
    ("time", TIME),
    ("status", STATUS),
    ("status", MIME),
    ("mime", MIME),
    ("digest", DIGEST),
)
"""Columns by what is asked for; whether a capture is a revisit is told by its media type."""


def _read_group(
    file: pq.ParquetFile,
    number: int,
    n_before: int,
    columns: ParquetColumns,
    stream: ByteStream,
    request: Request,
) -> Iterator[Captures]:
    """Yield the captures of a row group, up to its end or to damage."""
    n_rows = n_read = 0
    try:
        n_rows = file.metadata.row_group(number).num_rows
        batches = file.iter_batches(
            batch_size=_BATCH_ROWS,
            row_groups=[number],
            columns=list(dict.fromkeys(columns.names)),
            use_threads=False,
        )
        for batch in _in_parts(batches):
            found = {field: _pick(batch, leaf) for field, leaf in columns.leaves.items()}
            yield to_captures(
                found,
                request=request,
                name=stream.name,
                n_before=n_before + n_read,
                group=columns.group,
            )
            n_read += batch.num_rows
    except pa.ArrowNotImplementedError as error:
        raise SourceError(f"cannot read {stream.name}: {_first_line(error)}") from error
    except RemoteFault:
        raise
    except (pa.ArrowException, OSError) as error:
        stream.report(
            Damage(
                file=stream.name,
                byte=None,
                reason=f"its row group {number + 1} cannot be read ({_first_line(error)})",
                lost=f"rows {n_before + n_read + 1:,} to {n_before + n_rows:,}",
            )
        )


def _pass_over(
    file: pq.ParquetFile, number: int, columns: ParquetColumns, name: str, request: Request
) -> Captures:
    """Return no captures, with the rows of a row group counted as out of scope."""
    nothing = {
        field: pa.array([], file.schema_arrow.field(leaf[0]).type)
        for field, leaf in columns.leaves.items()
    }
    captures = to_captures(nothing, request=request, name=name, n_before=0, group=columns.group)
    # As what `--scope` leaves out when its URL has been read.
    outside = {"out-of-scope": file.metadata.row_group(number).num_rows}
    return replace(captures, excluded=outside)


def _in_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cut batches of very long texts."""
    for batch in batches:
        n_rows = batch.num_rows // (1 + batch.nbytes // _PART_BYTES) + 1
        for start in range(0, batch.num_rows, n_rows):
            yield batch.slice(start, n_rows)


def _pick(batch: pa.RecordBatch, leaf: Leaf) -> pa.Array:
    """Return a column; nothing stands within a structure that is null."""
    column = batch.column(leaf[0])
    if len(leaf) == 1:
        return column
    import pyarrow.compute as pc

    return pc.struct_field(column, list(leaf[1:]))


def _first_line(error: Exception) -> str:
    # Arrow quotes bytes of the file.
    return printable(str(error).partition("\n")[0].rstrip("."))
