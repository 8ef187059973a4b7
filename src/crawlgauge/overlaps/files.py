"""Overlap tables in files: the content of a file tells its format, where to write its suffix."""

import io
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from crawlgauge.errors import DamagedInput, OverlapError, SourceError
from crawlgauge.frames import ArrowStream, is_frame, read_frame
from crawlgauge.locations import StrPath
from crawlgauge.overlaps import csv_table, json_table
from crawlgauge.overlaps.csv_table import Row, Sheet
from crawlgauge.overlaps.table import NEEDED, OverlapTable
from crawlgauge.provenance import Input, Provenance
from crawlgauge.sources.decompress import read_small
from crawlgauge.sources.remote import conceal
from crawlgauge.store.files import replace_file

# ------------------------------------------------------------------------ overlap tables as Parquet


METADATA_KEY = "crawlgauge"
"""Key of the file's metadata under which a JSON document holds what no pair tells."""

_MAX_ROWS = 1 << 23
"""Pairs of 4,000 crawls; a file of a few bytes may promise any number."""

_COUNTS = ("n_shared", "se_shared", "jaccard", "n_sampled_a", "n_sampled_b")
_READ = frozenset({*NEEDED, *_COUNTS, "damaged_a", "damaged_b"})


def to_parquet(table: OverlapTable) -> bytes:
    """Write an overlap table as Parquet and return the file's content.

    The rows are those of the CSV; the metadata holds the JSON document without the matrices.
    """
    import polars as pl

    # A count that is known nowhere is a count nevertheless.
    frame = table.to_polars().cast({pl.selectors.starts_with("n_"): pl.Int64})
    sink = io.BytesIO()
    frame.write_parquet(sink, metadata={METADATA_KEY: json.dumps(json_table.describe(table))})
    return sink.getvalue()


def from_parquet(
    data: bytes, *, name: str, provenance: Provenance | None = None, crawls: Sheet | None = None
) -> OverlapTable:
    """Read an overlap table from Parquet, also from files that others made.

    Parameters
    ----------
    data
        Content of the file.
    name
        Name of the file, for messages.
    provenance
        What to record as the table's origin where the file's metadata has none.
    crawls
        A table of the crawls, where the rows name them only.

    Raises
    ------
    OverlapError
        If it cannot be read or contradicts itself; the message names row and column.
    """
    columns, rows, document = _load_columns(data, name)
    parts: dict[str, Any] = {}
    if document is not None:
        place = f"{name}, metadata {METADATA_KEY}"
        parts = json_table.read_description(json_table.parse_json(document, name=place), name=place)
    cells = tuple(Row.of(name, f"row {k}", row) for k, row in enumerate(rows, start=1))
    about = {key: parts[key] for key in ("sample_rate",) if key in parts}
    known = parts.pop("crawls", ())
    sheet = Sheet(name=name, columns=columns, rows=cells, about=about)
    table = csv_table.table_from_sheet(sheet, known, crawls)
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


_PARQUET = b"PAR1"
_UTF8_MARK = b"\xef\xbb\xbf"
_STDIN = "-"
_MAX_BYTES = 1 << 28
"""What a table may hold: pairs of 2,000 crawls, or all histories that are counted."""

_RENDERERS: Mapping[str, Callable[[OverlapTable], bytes]] = {
    ".csv": lambda table: csv_table.to_csv(table).encode(),
    ".json": lambda table: json_table.to_json(table).encode(),
    ".parquet": to_parquet,
}


Source = StrPath | IO[Any] | ArrowStream
"""A path, a file that is open, or a data frame of any library."""


def read_overlaps(pairs: Source | OverlapTable, crawls: Source | None = None) -> OverlapTable:
    """Read an overlap table from a file, or from a data frame of pandas, polars or any other.

    Parameters
    ----------
    pairs
        A CSV, JSON or Parquet file, also compressed, whatever its name; ``-`` is standard
        input. Or a file that is open, or a data frame. Rows and frames have the columns
        ``a,date_a,n_a,b,date_b,n_b`` and ``n_shared`` or ``jaccard``, and optionally ``se_shared``,
        ``n_sampled_a`` and ``n_sampled_b``.
    crawls
        Where dates and sizes stand apart: a CSV file or data frame with ``label,date,n_urls``, of
        which the pairs then need ``a`` and ``b`` only. Crawls in no pair are left out.

    Returns
    -------
    OverlapTable
        With the provenance that the file holds; if it holds none, with the file as input.

    Raises
    ------
    OverlapError
        If there is no such file, or it holds no overlap table. Rows of a data frame are counted
        from 0 in messages.

    Examples
    --------
    >>> import polars as pl
    >>> crawls = pl.DataFrame({"label": ["2020-01", "2020-07"], "date": ["2020-01", "2020-07"],
    ...                        "n_urls": [100, 80]})
    >>> pairs = pl.DataFrame({"a": ["2020-01"], "b": ["2020-07"], "n_shared": [40]})
    >>> read_overlaps(pairs, crawls).n_shared.tolist()
    [[100, 40], [40, 80]]
    """
    if isinstance(pairs, OverlapTable):
        return pairs
    if _is_stdin(pairs) and _is_stdin(crawls):
        raise OverlapError("pairs and crawls cannot both come from standard input")
    loaded = _load(pairs, "the table of pairs")
    about = None if crawls is None else _load(crawls, "the table of crawls")
    of_crawls = None if about is None else about.sheet()
    origins = [*loaded.origins, *(about.origins if about is not None else ())]
    provenance = Provenance(inputs=tuple(origins))
    content, name = loaded.content, loaded.name
    if isinstance(content, bytes):
        if content.startswith(_PARQUET):
            return from_parquet(content, name=name, provenance=provenance, crawls=of_crawls)
        text = _decode(content, name)
        if text.lstrip().startswith(("{", "[")):
            if of_crawls is not None:
                raise OverlapError(f"{name} is JSON, which holds its crawls; give no others")
            return json_table.from_json(text, name=name, provenance=provenance)
    table = csv_table.table_from_sheet(loaded.sheet(), about=of_crawls)
    return replace(table, provenance=provenance)


def read_histories(histories: Source, crawls: Source) -> OverlapTable:
    """Read an overlap table from capture histories and a table of their crawls.

    Parameters
    ----------
    histories
        Columns ``history,count`` or ``ch,freq``: a CSV file (``-`` is standard input), a file that
        is open, or a data frame, whose histories are text.
    crawls
        Columns ``label,date`` and optionally ``n_urls``, likewise.

    Raises
    ------
    OverlapError
        If one cannot be read or the two contradict each other.
    """
    if _is_stdin(histories) and _is_stdin(crawls):
        raise OverlapError("histories and crawls cannot both come from standard input")
    loaded = _load(histories, "the table of histories")
    others = _load(crawls, "the table of crawls")
    provenance = Provenance(inputs=(*loaded.origins, *others.origins))
    table = csv_table.from_histories(loaded.sheet(), others.sheet())
    return replace(table, provenance=provenance)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """What was given: bytes, uncompressed, or rows; what to record of it; its name in messages."""

    content: bytes | Sheet
    origins: tuple[Input, ...]
    name: str

    def sheet(self) -> Sheet:
        """Return the rows; of bytes, those of a CSV."""
        if isinstance(self.content, Sheet):
            return self.content
        return csv_table.read_sheet(_decode(self.content, self.name), self.name)


def _is_stdin(source: object) -> bool:
    return isinstance(source, str | os.PathLike) and os.fspath(source) == _STDIN


def _load(source: Source, what: str) -> _Loaded:
    if is_frame(source):
        return _Loaded(content=_load_frame(source, what), origins=(), name=what)
    opens: Callable[[], Any] | None = None
    if isinstance(source, str | os.PathLike):
        given = name = conceal(os.fspath(source))
        if given == _STDIN:
            name, opens = "standard input", lambda: sys.stdin.buffer
    elif hasattr(source, "read"):
        given = name = str(getattr(source, "name", what))
        held = source.read()
        stored = held.encode() if isinstance(held, str) else held
        opens = partial(io.BytesIO, stored)
    else:
        raise OverlapError(
            f"{what} is {_describe_type(source)}; give a data frame, the path of a file, or a "
            "file that is open"
        )
    content, origin = _read(name, opens)
    if not content.removeprefix(_UTF8_MARK).strip():
        raise OverlapError(f"{name} is empty; an overlap table is needed")
    return _Loaded(content=content, origins=(replace(origin, name=given),), name=name)


def _describe_type(given: object) -> str:
    kind = type(given).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def _load_frame(frame: object, name: str) -> Sheet:
    try:
        columns, rows = read_frame(frame)
    except ValueError as error:
        raise OverlapError(
            f"{name} is {_describe_type(frame)} that cannot be read: {error}"
        ) from None
    if len(rows) > _MAX_ROWS:
        raise OverlapError(f"{name} has {len(rows):,} rows; no table of overlaps has so many")
    cells = tuple(Row.of(name, f"row {k}", row) for k, row in enumerate(rows))
    return Sheet(name=name, columns=columns, rows=cells)


def _read(name: str, opens: Callable[[], Any] | None) -> tuple[bytes, Input]:
    try:
        return read_small(name, max_bytes=_MAX_BYTES, open_file=opens)
    except DamagedInput as error:
        problem = f"is damaged: {error.damage.reason}; fetch or compress the file again"
        raise OverlapError(f"{name} {problem}") from error
    except SourceError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise OverlapError(f"{name}: there is no such file") from error
        if isinstance(error.__cause__, IsADirectoryError):
            raise OverlapError(f"{name} is a directory; give a file in it") from error
        raise OverlapError(str(error)) from error


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
