"""The attributes of a crawl's smallest keys on disk: a Parquet table that describes itself."""

import json
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crawlgauge.errors import StoreError
from crawlgauge.keys.xxh64 import xxh64
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.sources.captures import binary_buffers
from crawlgauge.store.arrow_columns import to_column
from crawlgauge.store.attributes import NO_STATUS, NO_TIME, Attributes
from crawlgauge.store.stored_files import missing, parquet_source, unreadable

__all__ = ["ATTRIBUTES_SCHEMA", "read_attributes", "write_attributes"]

ATTRIBUTES_SCHEMA = "crawlgauge.attributes/1"

_METADATA_KEY = b"crawlgauge"
_TEXTS = ("host", "mime")
_SCHEMA = pa.schema(
    [
        pa.field("key", pa.uint64(), nullable=False),
        pa.field("time", pa.int64()),
        pa.field("status", pa.int16()),
        pa.field("host", pa.dictionary(pa.int32(), pa.string())),
        pa.field("mime", pa.dictionary(pa.int32(), pa.string())),
    ]
)
# Keys and times in the order of keys have no pattern that a compressor could find.
_COMPRESSION = {"key": "none", "time": "none", "status": "zstd", "host": "zstd", "mime": "zstd"}
_ENCODING = {"key": "DELTA_BINARY_PACKED", "time": "DELTA_BINARY_PACKED"}
_MAX_DICTIONARY_BYTES = 1 << 31
"""As large as it gets: without a dictionary each host would be written for each of its URLs."""


def write_attributes(file: BinaryIO, attributes: Attributes, *, set_checksum: str) -> None:
    """Write attributes as a table of ``key, time, status, host, mime``.

    Parameters
    ----------
    file
        Open for writing.
    attributes
        What to write.
    set_checksum
        Of the keys of the crawl's set, so that nobody takes them for another one's.
    """
    table = _to_table(attributes)
    description = {
        "schema": ATTRIBUTES_SCHEMA,
        "set_checksum": set_checksum,
        "threshold": attributes.threshold,
        "checksum": _checksum(attributes),
    }
    with pq.ParquetWriter(
        file,
        _SCHEMA,
        compression=_COMPRESSION,
        use_dictionary=[*_TEXTS, "status"],
        column_encoding=_ENCODING,
        dictionary_pagesize_limit=_MAX_DICTIONARY_BYTES - 1,
        write_page_checksum=True,
        write_statistics=["key", "time", "status"],
    ) as writer:
        # All in one group: there is one dictionary for each column then.
        writer.write_table(table, row_group_size=max(1, len(attributes)))
        writer.add_key_value_metadata({_METADATA_KEY: json.dumps(description)})


def read_attributes(path: AnyPath, *, set_checksum: str | None = None) -> Attributes:
    """Read attributes back.

    Parameters
    ----------
    path
        The file.
    set_checksum
        Of the set that they must belong to; None to read them by themselves.

    Raises
    ------
    StoreError
        If the file is missing, damaged, of another format or of another set.
    """
    try:
        source = parquet_source(path)
        file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=_TEXTS)
        description = _read_description(path, file)
        owner = description["set_checksum"]
        attributes = _from_table(file.read(use_threads=False), description)
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(path, error) from error
    if set_checksum not in (None, owner):
        raise StoreError(
            f"{path} belongs to another state of the crawl's set: the crawl was replaced "
            "meanwhile, or the store is damaged; run the command again, then crawlgauge verify"
        )
    return attributes


def _to_table(attributes: Attributes) -> pa.Table:
    hosts = _decode(attributes.host_codes, attributes.hosts)
    mimes = _decode(attributes.mime_codes, attributes.mimes)
    columns = [
        to_column(attributes.keys),
        to_column(attributes.times, attributes.times == NO_TIME),
        to_column(attributes.statuses, attributes.statuses == NO_STATUS),
        hosts,
        mimes,
    ]
    return pa.table(columns, schema=_SCHEMA)


def _decode(codes: NDArray[np.int32], texts: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(to_column(codes, codes < 0), texts)


def _from_table(table: pa.Table, description: dict[str, Any]) -> Attributes:
    if not table.schema.equals(_SCHEMA):
        raise ValueError(f"its columns are not {', '.join(_SCHEMA.names)}")
    columns = table.combine_chunks().columns
    keys, times, statuses, hosts, mimes = (_only_chunk(column) for column in columns)
    attributes = Attributes(
        keys=keys.to_numpy(),
        times=times.fill_null(NO_TIME).to_numpy(),
        statuses=statuses.fill_null(NO_STATUS).to_numpy(),
        host_codes=hosts.indices.fill_null(-1).to_numpy(),
        mime_codes=mimes.indices.fill_null(-1).to_numpy(),
        hosts=hosts.dictionary,
        mimes=mimes.dictionary,
        threshold=int(description["threshold"]),
    )
    if _checksum(attributes) != description["checksum"]:
        raise ValueError("its checksum does not fit its content")
    return attributes


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; without rows there is none to return."""
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _read_description(path: AnyPath, file: pq.ParquetFile) -> dict[str, Any]:
    text = (file.metadata.metadata or {}).get(_METADATA_KEY)
    if text is None:
        raise ValueError("its description is missing")
    description: dict[str, Any] = json.loads(text)
    schema = description["schema"]
    if schema != ATTRIBUTES_SCHEMA:
        raise StoreError(
            f"{path} holds attributes of format {schema!r}; this version of crawlgauge reads "
            f"{ATTRIBUTES_SCHEMA!r}. Use the version that wrote it, or a newer one"
        )
    return description


def _checksum(attributes: Attributes) -> str:
    """Return a checksum of all content: pages have their own, but what frames them has none."""
    columns = (
        attributes.keys,
        attributes.times,
        attributes.statuses,
        attributes.host_codes,
        attributes.mime_codes,
        *_text_bytes(attributes.hosts),
        *_text_bytes(attributes.mimes),
    )
    hashes = [int(_hash(column)) for column in columns]
    return "xxh64:" + "-".join(f"{number:x}" for number in (attributes.threshold, *hashes))


def _hash(column: NDArray[np.generic]) -> np.uint64:
    data = np.ascontiguousarray(column).view(np.uint8)
    data.flags.writeable = False
    return xxh64(data, 0, data.size)


def _text_bytes(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of all texts and where each ends, whatever buffers they stand in."""
    if len(texts) == 0:
        return np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int32)
    # To cast would load Arrow's functions, a twentieth of a second.
    data, offsets = binary_buffers(texts.view(pa.binary()))
    return data[offsets[0] : offsets[-1]], offsets[1:] - offsets[0]
