"""Overlap tables as Parquet: one row a pair, and the rest of the table in the file's metadata."""

import io
import json
from dataclasses import replace
from typing import Any

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import Row, Sheet, pair_columns, pair_rows, table_from_sheet
from crawlgauge.overlaps.json_table import describe, parse_json, read_description
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["METADATA_KEY", "from_parquet", "to_parquet"]

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
    columns, rows, document = _load(data, name)
    parts: dict[str, Any] = {}
    if document is not None:
        place = f"{name}, metadata {METADATA_KEY}"
        parts = read_description(parse_json(document, name=place), name=place)
    cells = tuple(Row.of(name, f"row {k}", row) for k, row in enumerate(rows, start=1))
    rate = parts.get("sample_rate", 1.0)
    known = parts.pop("crawls", ())
    table = table_from_sheet(Sheet(name=name, columns=columns, rows=cells, sample_rate=rate), known)
    if known and table.crawls != known:
        raise OverlapError(
            f"{name}: a crawl stands in the rows, not in the metadata {METADATA_KEY}; remove the "
            "metadata if the rows were changed"
        )
    try:
        return replace(table, **({"provenance": provenance or Provenance()} | parts))
    except OverlapError as error:
        raise OverlapError(f"{name}: {error}") from error


def _load(data: bytes, name: str) -> tuple[tuple[str, ...], list[dict[str, Any]], str | None]:
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
