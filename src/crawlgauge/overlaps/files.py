"""Overlap tables in files: the content of a file tells its format, where to write its suffix."""

import gzip
import hashlib
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from crawlgauge.errors import OverlapError
from crawlgauge.locations import StrPath
from crawlgauge.overlaps.csv_table import (
    Row,
    Sheet,
    from_csv,
    from_histories_csv,
    pair_columns,
    pair_rows,
    table_from_sheet,
    to_csv,
)
from crawlgauge.overlaps.json_table import (
    describe,
    from_json,
    parse_json,
    read_description,
    to_json,
)
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Input, Provenance
from crawlgauge.sources.remote import conceal, to_path
from crawlgauge.store.files import replace_file

__all__ = ["from_parquet", "read_histories", "read_overlaps", "to_parquet", "write_overlaps"]


# ------------------------------------------------------------------------ overlap tables as Parquet


METADATA_KEY = "crawlgauge"
"""Key of the file's metadata under which a JSON document holds what no pair tells."""

_MAX_ROWS = 1 << 23
"""Pairs of 4,000 crawls; a file of a few bytes may promise any number."""

_TYPES = {
    **dict.fromkeys(("a", "b"), "String"),
    **dict.fromkeys(("date_a", "date_b"), "Date"),
    **dict.fromkeys(("n_a", "n_b", "n_shared", "n_sampled_a", "n_sampled_b"), "Int64"),
    **dict.fromkeys(("damaged_a", "damaged_b"), "Boolean"),
}
_READ = frozenset({*_TYPES, "se_shared", "jaccard"})


def to_parquet(table: OverlapTable) -> bytes:
    """Write an overlap table as Parquet and return the file's content.

    The rows are those of the CSV; the metadata holds the JSON document without the matrices.
    """
    import polars as pl

    columns = pair_columns(table)
    schema = {column: getattr(pl, _TYPES.get(column, "Float64")) for column in columns}
    rows = [{column: row[column] for column in columns} for row in pair_rows(table)]
    sink = io.BytesIO()
    metadata = {METADATA_KEY: json.dumps(describe(table))}
    pl.DataFrame(rows, schema=schema).write_parquet(sink, metadata=metadata)
    return sink.getvalue()


def from_parquet(data: bytes, *, name: str, provenance: Provenance | None = None) -> OverlapTable:
    """Read an overlap table from Parquet, also from files that others made.

    Parameters
    ----------
    data
        Content of the file.
    name
        Name of the file, for messages.
    provenance
        What to record as the table's origin where the file's metadata has none.

    Raises
    ------
    OverlapError
        If it cannot be read or contradicts itself; the message names row and column.
    """
    columns, rows, document = _load_columns(data, name)
    parts: dict[str, Any] = {}
    if document is not None:
        place = f"{name}, metadata {METADATA_KEY}"
        parts = read_description(parse_json(document, name=place), name=place)
    cells = tuple(Row.of(name, f"row {k}", row) for k, row in enumerate(rows, start=1))
    about = {key: parts[key] for key in ("sample_rate",) if key in parts}
    known = parts.pop("crawls", ())
    table = table_from_sheet(Sheet(name=name, columns=columns, rows=cells, about=about), known)
    if known and table.crawls != known:
        raise OverlapError(
            f"{name}: a crawl stands in the rows, not in the metadata {METADATA_KEY}; remove the "
            "metadata if the rows were changed"
        )
    try:
        return replace(table, **({"provenance": provenance or Provenance()} | parts))
    except OverlapError as error:
        raise OverlapError(f"{name}: {error}") from error


def _load_columns(
    data: bytes, name: str
) -> tuple[tuple[str, ...], list[dict[str, Any]], str | None]:
    """Return the columns that are read, their rows, and what the metadata holds of ours."""
    import polars as pl

    try:
        lazy = pl.scan_parquet(io.BytesIO(data))
        found = lazy.collect_schema().names()
        columns = tuple(column for column in found if column in _READ)
        if not columns:
            there = ", ".join(found)
            raise OverlapError(f"{name}: no column of an overlap table; there are {there}")
        n_rows = lazy.select(pl.len()).collect().item()
        if n_rows > _MAX_ROWS:
            raise OverlapError(f"{name} has {n_rows:,} rows; no table of overlaps has so many")
        rows = lazy.select(columns).collect().to_dicts()
        metadata = pl.read_parquet_metadata(io.BytesIO(data))
    # What is damaged in ways that nobody has thought of makes Polars panic.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise OverlapError(f"{name} cannot be read as Parquet: {error}") from error
    return columns, rows, metadata.get(METADATA_KEY)


# -------------------------------------------------------------------------- overlap tables in files


_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_UTF8_MARK = b"\xef\xbb\xbf"
_STDIN = "-"
_MAX_BYTES = 1 << 28
"""What a compressed table may hold: pairs of 2,000 crawls, or all histories that are counted."""

_RENDERERS: Mapping[str, Callable[[OverlapTable], bytes]] = {
    ".csv": lambda table: to_csv(table).encode(),
    ".json": lambda table: to_json(table).encode(),
    ".parquet": to_parquet,
}


def read_overlaps(path: StrPath) -> OverlapTable:
    """Read an overlap table from a CSV, JSON or Parquet file, also compressed with gzip.

    Parameters
    ----------
    path
        The file; ``-`` is standard input. Its name does not matter.

    Returns
    -------
    OverlapTable
        With the provenance that the file holds; if it holds none, with the file as input.

    Raises
    ------
    OverlapError
        If there is no such file, or it holds no overlap table.
    """
    content, origin, name = _load(path)
    provenance = Provenance(inputs=(origin,))
    if content.startswith(_PARQUET):
        return from_parquet(content, name=name, provenance=provenance)
    text = _decode(content, name)
    read = from_json if text.lstrip().startswith(("{", "[")) else from_csv
    return read(text, name=name, provenance=provenance)


def read_histories(histories_path: StrPath, crawls_path: StrPath) -> OverlapTable:
    """Read an overlap table from a CSV file of capture histories and one of their crawls.

    Parameters
    ----------
    histories_path
        Columns ``history,count`` or ``ch,freq``; ``-`` is standard input.
    crawls_path
        Columns ``label,date`` and optionally ``n_urls``; ``-`` is standard input.

    Raises
    ------
    OverlapError
        If a file cannot be read or the two contradict each other.
    """
    if os.fspath(histories_path) == os.fspath(crawls_path) == _STDIN:
        raise OverlapError("histories and crawls cannot both come from standard input")
    histories, origin, name = _load(histories_path)
    crawls, other_origin, other_name = _load(crawls_path)
    return from_histories_csv(
        _decode(histories, name),
        _decode(crawls, other_name),
        histories_name=name,
        crawls_name=other_name,
        provenance=Provenance(inputs=(origin, other_origin)),
    )


def _load(path: StrPath) -> tuple[bytes, Input, str]:
    """Return what a file holds, uncompressed, what to record of it, and its name for messages."""
    given = conceal(os.fspath(path))
    name = "standard input" if given == _STDIN else given
    try:
        stored = sys.stdin.buffer.read() if given == _STDIN else to_path(given).read_bytes()
    except FileNotFoundError as error:
        raise OverlapError(f"{name}: there is no such file") from error
    except IsADirectoryError as error:
        raise OverlapError(f"{name} is a directory; give a file in it") from error
    except OSError as error:
        raise OverlapError(f"{name} cannot be read: {error.strerror or error}") from error
    checksum = f"sha256:{hashlib.sha256(stored).hexdigest()}"
    content = _uncompress(stored, name)
    if not content.removeprefix(_UTF8_MARK).strip():
        raise OverlapError(f"{name} is empty; an overlap table is needed")
    return content, Input(name=given, checksum=checksum, n_bytes=len(stored)), name


def _decode(content: bytes, name: str) -> str:
    if b"\0" in content:
        raise OverlapError(f"{name} is UTF-16 text, or no text at all; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise OverlapError(
            f"{name}, line {line}: byte 0x{content[error.start]:02x} is no UTF-8 text; give a CSV "
            "or JSON file saved as UTF-8, or a Parquet file"
        ) from error


def _uncompress(stored: bytes, name: str) -> bytes:
    """Return what a file holds; the one place where a table is decompressed, within bounds."""
    if not stored.startswith(_GZIP):
        return stored
    try:
        content = gzip.GzipFile(fileobj=io.BytesIO(stored)).read(_MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        problem = f"is damaged gzip: {error}; fetch or compress the file again"
        raise OverlapError(f"{name} {problem}") from error
    if len(content) > _MAX_BYTES:
        advice = "as no overlap table does; see whether it is the file that you mean"
        raise OverlapError(f"{name} holds more than {_MAX_BYTES:,} bytes, {advice}")
    return content


def write_overlaps(table: OverlapTable, path: StrPath) -> None:
    """Write an overlap table into a file, in the format that its suffix names.

    The file appears whole or not at all; one that stood there before stays until then.

    Parameters
    ----------
    table
        What to write.
    path
        Ends in ``.csv``, ``.json`` or ``.parquet``.

    Raises
    ------
    OverlapError
        If the suffix is another one, or the file cannot be written.
    """
    render = _RENDERERS.get(Path(path).suffix.lower())
    if render is None:
        raise OverlapError(
            f"{path}: the suffix does not name a format of overlap tables; "
            f"possible are {', '.join(_RENDERERS)}"
        )
    content = render(table)
    try:
        # A link stays a link: the file that it leads to is replaced.
        replace_file(Path(path).resolve(), content)
    except FileNotFoundError as error:
        raise OverlapError(f"{path} cannot be written: its folder does not exist") from error
    except OSError as error:
        raise OverlapError(f"{path} cannot be written: {error.strerror}") from error
