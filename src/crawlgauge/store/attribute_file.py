"""The attributes of a crawl's smallest keys on disk: an Arrow table that describes itself.

Row k belongs to the k-th key of the crawl's set of URLs, so that no key is written twice. Numbers
stand there as they are, as wide as the largest of them needs: to encode them more tightly takes
longer than sorting them.
"""

import hashlib
import json
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.arrow_columns import find_missing, to_column, to_values
from crawlgauge.errors import StoreError
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.attributes import NO_STATUS, NO_TIME, Attributes
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_stream import read_smallest
from crawlgauge.store.stored_files import damaged, missing, unreadable

__all__ = ["ATTRIBUTES_SCHEMA", "read_attributes", "write_attributes"]

ATTRIBUTES_SCHEMA = "crawlgauge.attributes/1"

_METADATA_KEY = b"crawlgauge"
_COLUMNS = ["time", "status", "host", "mime"]


def write_attributes(file: BinaryIO, attributes: Attributes, *, set_checksum: str) -> None:
    """Write attributes as a table of ``time, status, host, mime`` in Arrow's file format.

    Parameters
    ----------
    file
        Open for writing.
    attributes
        What to write.
    set_checksum
        Of the keys of the crawl's set, so that nobody takes them for another one's.
    """
    is_timeless = attributes.times == NO_TIME
    # What is missing is the largest number.
    first_time = int(attributes.times.min(initial=NO_TIME))
    seconds = np.where(is_timeless, 0, attributes.times - first_time)
    columns = [
        to_column(seconds.astype(_unsigned_for(seconds)), is_timeless),
        to_column(attributes.statuses, attributes.statuses == NO_STATUS),
        _to_coded(attributes.host_codes, attributes.hosts),
        _to_coded(attributes.mime_codes, attributes.mimes),
    ]
    description = {
        "schema": ATTRIBUTES_SCHEMA,
        "set_checksum": set_checksum,
        # Beyond what numbers in JSON hold exactly.
        "threshold": f"{attributes.threshold:#x}",
        "first_time": first_time,
    }
    batch = pa.record_batch(columns, names=_COLUMNS)
    schema = batch.schema.with_metadata({_METADATA_KEY: json.dumps(description)})
    with pa.ipc.new_file(file, schema) as writer:
        writer.write_batch(batch.replace_schema_metadata(schema.metadata))


def read_attributes(path: AnyPath, crawl_set: CrawlSet, *, checksum: str) -> Attributes:
    """Read attributes back, with the keys of the crawl's set that they belong to.

    Parameters
    ----------
    path
        The file.
    crawl_set
        The crawl's set of URLs.
    checksum
        Of the file.

    Raises
    ------
    StoreError
        If the file or the set is missing, damaged, of another format or of another state.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise unreadable(path, error) from error
    # First the bytes: what is damaged may be anything, and is not to be interpreted.
    if checksum != f"sha256:{hashlib.sha256(content).hexdigest()}":
        raise damaged(path, "its checksum does not fit its content")
    try:
        with pa.ipc.open_file(pa.BufferReader(content)) as file:
            description = _read_description(path, file.schema)
            (batch,) = (file.get_batch(number) for number in range(file.num_record_batches))
        times, statuses, hosts, mimes = (batch.column(name) for name in _COLUMNS)
        owner = description["set_checksum"]
        threshold = int(description["threshold"], 16)
        first_time = int(description["first_time"])
    except (pa.ArrowException, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from error
    if owner != crawl_set.checksum:
        raise StoreError(
            f"{path} belongs to another state of the crawl's set: the crawl was replaced "
            "meanwhile, or the store is damaged; run the command again, then crawlgauge verify"
        )
    return Attributes(
        keys=read_smallest(crawl_set.path, batch.num_rows, threshold),
        times=_to_times(times, first_time),
        statuses=to_values(statuses, np.int16, missing=NO_STATUS),
        host_codes=_to_codes(hosts),
        mime_codes=_to_codes(mimes),
        hosts=hosts.dictionary,
        mimes=mimes.dictionary,
        threshold=threshold,
    )


def _read_description(path: AnyPath, schema: pa.Schema) -> dict[str, Any]:
    text = (schema.metadata or {}).get(_METADATA_KEY)
    if text is None:
        raise ValueError("its description is missing")
    description: dict[str, Any] = json.loads(text)
    if description["schema"] != ATTRIBUTES_SCHEMA:
        raise StoreError(
            f"{path} holds attributes of format {description['schema']!r}; this version of "
            f"crawlgauge reads {ATTRIBUTES_SCHEMA!r}. Use the version that wrote it, or a newer one"
        )
    return description


def _unsigned_for(numbers: NDArray[np.int64]) -> type[np.unsignedinteger[Any]]:
    """Return the type for seconds: times in four bytes reach over 136 years."""
    return np.uint32 if numbers.max(initial=0) <= np.iinfo(np.uint32).max else np.uint64


def _to_times(column: pa.Array, first_time: int) -> NDArray[np.int64]:
    seconds = to_values(column, np.int64, missing=0)
    return np.where(find_missing(column), NO_TIME, first_time + seconds)


def _to_coded(codes: NDArray[np.int32], texts: pa.Array) -> pa.DictionaryArray:
    """Return texts by their codes, which are as narrow as they can be."""
    narrow = np.maximum(codes, 0).astype(np.min_scalar_type(-max(1, len(texts))))
    return pa.DictionaryArray.from_arrays(to_column(narrow, codes < 0), texts)


def _to_codes(column: pa.DictionaryArray) -> NDArray[np.int32]:
    return to_values(column.indices, np.int32, missing=-1)
