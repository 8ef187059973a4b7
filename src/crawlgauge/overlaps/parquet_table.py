"""Overlap tables as Parquet: one row a pair, and the rest of the table in the file's metadata."""

import io
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import pair_columns, pair_rows, table_from_sheet
from crawlgauge.overlaps.json_node import parse_json
from crawlgauge.overlaps.json_table import Description, describe, read_description
from crawlgauge.overlaps.sheet import Row, Sheet
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["METADATA_KEY", "from_parquet", "to_parquet_bytes", "write_parquet"]

METADATA_KEY = b"crawlgauge"
"""Key of the schema's metadata under which a JSON document holds what no pair tells."""

_TYPES = {
    "a": "string",
    "b": "string",
    "date_a": "date32",
    "date_b": "date32",
    "n_a": "int64",
    "n_b": "int64",
    "n_shared": "int64",
    "n_sampled_a": "int64",
    "n_sampled_b": "int64",
    "damaged_a": "bool",
    "damaged_b": "bool",
}
_OTHER_TYPE = "float64"
_READ = frozenset({*_TYPES, "se_shared", "jaccard"})


def to_parquet_bytes(table: OverlapTable) -> bytes:
    """Write an overlap table as Parquet and return the file's content."""
    sink = io.BytesIO()
    write_parquet(table, sink)
    return sink.getvalue()


def write_parquet(table: OverlapTable, sink: Path | BinaryIO) -> None:
    """Write an overlap table as Parquet.

    The rows are those of the CSV; the metadata holds the JSON document without the matrices.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            (column, pa.type_for_alias(_TYPES.get(column, _OTHER_TYPE)))
            for column in pair_columns(table)
        ]
    )
    # Arrow's own copy of the schema would hold the metadata a second time.
    with pq.ParquetWriter(sink, schema, store_schema=False) as writer:
        writer.write_table(pa.Table.from_pylist(list(pair_rows(table)), schema=schema))
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(describe(table)).encode()})


def from_parquet(
    data: bytes | Path, *, name: str, provenance: Provenance | None = None
) -> OverlapTable:
    """Read an overlap table from Parquet, also from files that others made.

    Parameters
    ----------
    data
        Content of the file, or its path.
    name
        Name of the file, for messages.
    provenance
        What to record as the table's origin where the file's metadata has none.

    Raises
    ------
    OverlapError
        If it cannot be read or contradicts itself; the message names row and column.
    """
    content = _load(data, name)
    document = content.metadata.get(METADATA_KEY)
    description = None
    if document is not None:
        place = f"{name}, metadata {METADATA_KEY.decode()}"
        description = read_description(
            parse_json(document.decode(errors="replace"), name=place), name=place
        )
    sheet = Sheet(
        name=name,
        columns=content.columns,
        rows=tuple(
            Row(name=name, where=f"row {k + 1}", cells={c: _to_text(v) for c, v in row.items()})
            for k, row in enumerate(content.rows)
        ),
        sample_rate=1.0 if description is None else description.sample_rate,
    )
    table = table_from_sheet(sheet)
    if description is None:
        return table if provenance is None else replace(table, provenance=provenance)
    return _complete(table, description, name=name, provenance=provenance)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    metadata: dict[bytes, bytes]


def _load(data: bytes | Path, name: str) -> _Content:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(data) if isinstance(data, bytes) else data) as file:
            # Names of columns that are not read may repeat or nest; these may not.
            names = [column for column in file.schema_arrow.names if column in _READ]
            repeated = sorted({column for column in names if names.count(column) > 1})
            if repeated:
                raise OverlapError(f"{name}: two columns are named {repeated[0]}; remove one")
            if not names:
                found = ", ".join(file.schema_arrow.names)
                raise OverlapError(f"{name}: no column of an overlap table; there are {found}")
            return _Content(
                columns=tuple(names),
                rows=file.read(columns=names).to_pylist(),
                metadata=file.schema_arrow.metadata or {},
            )
    # A text that is not UTF-8 and a time of nanoseconds are a ValueError to pyarrow.
    except (pa.ArrowException, OSError, ValueError) as error:
        raise OverlapError(f"{name} cannot be read as Parquet: {error}") from error


def _to_text(value: Any) -> str:  # noqa: ANN401 - a cell of any type
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _complete(
    table: OverlapTable, described: Description, *, name: str, provenance: Provenance | None
) -> OverlapTable:
    position = {crawl.label: k for k, crawl in enumerate(described.crawls)}
    for crawl in table.crawls:
        if crawl.label not in position:
            raise OverlapError(
                f"{name}: crawl {crawl.label!r} stands in the rows, not in the metadata "
                f"{METADATA_KEY.decode()}; remove the metadata if the rows were changed"
            )
        known = described.crawls[position[crawl.label]]
        for part in ("date", "n_urls", "n_sampled", "damaged"):
            if getattr(crawl, part) != getattr(known, part):
                raise OverlapError(
                    f"{name}: crawl {crawl.label!r} has {part} {getattr(crawl, part)} in the "
                    f"rows, but {getattr(known, part)} in the metadata {METADATA_KEY.decode()}; "
                    "remove the metadata if the rows were changed"
                )
    n = len(described.crawls)
    n_shared = np.full((n, n), MISSING, dtype=np.int64)
    np.fill_diagonal(n_shared, [crawl.n_counted for crawl in described.crawls])
    place = [position[crawl.label] for crawl in table.crawls]
    n_shared[np.ix_(place, place)] = table.n_shared
    se_shared = None
    if table.se_shared is not None:
        se_shared = np.full((n, n), np.nan)
        se_shared[np.ix_(place, place)] = table.se_shared
    try:
        return OverlapTable(
            crawls=described.crawls,
            n_shared=n_shared,
            se_shared=se_shared,
            histories=described.histories,
            level=described.level,
            key_rule=described.key_rule,
            sample_rate=described.sample_rate,
            provenance=described.provenance or provenance or Provenance(),
        )
    except OverlapError as error:
        raise OverlapError(f"{name}: {error}") from error
