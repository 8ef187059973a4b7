"""Captures in Spark's own tables: which columns hold them, and which files Spark can read."""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.remote.names import is_remote, local_name
from crawlgauge.sources.parquet_rows import Leaf, choose_columns, list_leaves
from crawlgauge.sources.request import Request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["find_readable", "read_files", "select_fields"]

_N_THREADS = 16
_PLAIN_PATH = re.compile(r"[\w/.,=@+~ -]+")
"""Spark takes some characters of a path for a pattern, or for those of an address."""

_OPTIONS = {
    # The folders of the files are named one by one.
    "recursiveFileLookup": "true",
    "parquet.page.verify-checksum.enabled": "true",
}
_Signature = tuple[tuple[int, Leaf, str], ...]


def find_readable(names: Sequence[str], request: Request) -> tuple[str, ...]:
    """Return which Parquet files Spark reads as we do, all with the same columns.

    Others (damaged ones, with times in nanoseconds, with other columns) are read by our own
    reader, which has a message for each.

    Parameters
    ----------
    names
        Parquet files.
    request
        What is wanted of them.
    """
    with ThreadPoolExecutor(_N_THREADS) as pool:
        signatures = list(pool.map(lambda name: _sign(name, request), names))
    first = next((found for found in signatures if found is not None), None)
    return tuple(
        name
        for name, found in zip(names, signatures, strict=True)
        if found is not None and found == first
    )


def _sign(name: str, request: Request) -> _Signature | None:
    """Return which columns of a file are wanted, or None if Spark would read it otherwise."""
    if is_remote(name):
        return None  # Spark would need libraries and credentials of its own for it.
    path = Path(local_name(name))
    if path.name.startswith(("_", ".")) or not _PLAIN_PATH.fullmatch(str(path.absolute())):
        return None
    try:
        schema = pq.read_schema(path)
        leaves = list(list_leaves(schema))
        columns = choose_columns(leaves, path, request, name)
    except (pa.ArrowException, OSError, UnicodeDecodeError, CrawlgaugeError):
        return None
    if len({".".join(leaf).casefold() for leaf in leaves}) < len(leaves):
        return None
    kinds = {field: _type_of(schema, leaf) for field, leaf in columns.leaves.items()}
    if not all(map(_is_common, kinds.values())):
        return None
    return tuple((field, leaf, str(kinds[field])) for field, leaf in columns.leaves.items())


def _type_of(schema: pa.Schema, leaf: Leaf) -> pa.DataType:
    kind = schema.field(leaf[0]).type
    for name in leaf[1:]:
        kind = kind.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_common(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_timestamp(kind):
        return str(kind.unit) in {"ms", "us"}
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_signed_integer(kind)
        or types.is_date32(kind)
    )


def read_files(spark: "SparkSession", names: Sequence[str]) -> "DataFrame":
    """Let Spark read Parquet files; of which columns, it finds out when they are selected."""
    paths = [f"file://{os.path.abspath(name)}" for name in names]  # noqa: PTH100 - links stay links
    return spark.read.options(**_OPTIONS).parquet(*paths)


def select_fields(frame: "DataFrame", request: Request, name: str) -> tuple["DataFrame", list[int]]:
    """Select the columns that hold captures.

    Parameters
    ----------
    frame
        A table of captures.
    request
        What is wanted.
    name
        What to call the table in messages.

    Returns
    -------
    DataFrame
        Only these columns.
    list of int
        What each of them holds, as fields of `record_kernel`.

    Raises
    ------
    SourceError
        If it cannot be told which column holds the URLs.
    """
    from pyspark.sql import functions as sf

    leaves = list(_leaves_of(frame.schema, ()))
    columns = choose_columns(leaves, Path("table"), request, name)
    selected = [
        sf.col(".".join(f"`{part.replace('`', '``')}`" for part in leaf)).alias(f"field{field}")
        for field, leaf in columns.leaves.items()
    ]
    return frame.select(*selected), list(columns.leaves)


def _leaves_of(fields: Any, above: Leaf) -> list[Leaf]:  # noqa: ANN401 - Spark's StructType
    from pyspark.sql.types import StructType

    found: list[Leaf] = []
    for field in fields:
        place = (*above, field.name)
        is_structure = isinstance(field.dataType, StructType)
        found += _leaves_of(field.dataType, place) if is_structure else [place]
    return found
