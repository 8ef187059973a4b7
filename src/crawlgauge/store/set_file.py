"""One set on disk: sorted keys in Parquet, a row group for each hash range, self-describing."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crawlgauge.arrow_columns import to_column, to_values
from crawlgauge.crawl import Crawl
from crawlgauge.errors import CrawlError, StoreError
from crawlgauge.keys.thresholds import KEY_BITS, WHOLE, count_ranges
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.checksum import KeysChecksum
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.stored_files import damaged, missing, parquet_source, unreadable

__all__ = [
    "SetReader",
    "choose_range_bits",
    "read_description",
    "split_keys",
    "write_set",
]

METADATA_KEY = b"crawlgauge"
_KEYS_PER_RANGE = 1 << 20
_SCHEMA = pa.schema([pa.field("key", pa.uint64(), nullable=False)])


def choose_range_bits(n_keys: float, threshold: int = WHOLE) -> int:
    """Return how many leading bits cut `n_keys` keys below a threshold into about a million each.

    Parameters
    ----------
    n_keys
        May be an estimate.
    threshold
        Below which they lie.
    """
    n_as_whole = int(n_keys * (WHOLE / threshold))
    return min(KEY_BITS, max(0, (n_as_whole - 1) // _KEYS_PER_RANGE).bit_length())


def write_set(
    file: BinaryIO, ranges: Iterable[NDArray[np.uint64]], description: CrawlSet
) -> CrawlSet:
    """Write sorted, unique keys and their description.

    Parameters
    ----------
    file
        Open for writing.
    ranges
        The keys for each value of the description's leading `range_bits` bits below its threshold.
    description
        What is known before; the number of keys and the checksum are filled in.

    Returns
    -------
    CrawlSet
        The description as written.
    """
    checksum, n_keys = KeysChecksum(), 0
    with pq.ParquetWriter(
        file,
        _SCHEMA,
        compression="none",
        use_dictionary=False,
        column_encoding={"key": "DELTA_BINARY_PACKED"},
        write_page_checksum=True,
    ) as writer:
        for part in ranges:
            n_keys += part.size
            checksum.update(part)
            table = pa.table([to_column(part)], schema=_SCHEMA)
            writer.write_table(table, row_group_size=max(1, part.size))
        written = replace(
            description,
            crawl=_count_urls(description.crawl, n_keys, description.threshold),
            checksum=checksum.text(),
        )
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(written.to_dict())})
    return written


def _count_urls(crawl: Crawl, n_keys: int, threshold: int) -> Crawl:
    if threshold == WHOLE:
        return replace(crawl, n_urls=n_keys, n_sampled=None)
    return replace(crawl, n_urls=round(n_keys * WHOLE / threshold), n_sampled=n_keys)


def read_description(path: AnyPath) -> CrawlSet:
    """Read what a set's file says of itself.

    Raises
    ------
    StoreError
        If the file is missing, damaged or of another format.
    """
    return SetReader(path).description


class SetReader:
    """Reads the keys of a set, a hash range at a time.

    Parameters
    ----------
    path
        The set's file.

    Attributes
    ----------
    description
        What the file says of itself.
    file
        The file, as Arrow sees it.

    Raises
    ------
    StoreError
        If the file is missing, damaged or of another format.
    """

    def __init__(self, path: AnyPath) -> None:
        self._path = path
        try:
            self.file = pq.ParquetFile(parquet_source(path), page_checksum_verification=True)
        except FileNotFoundError:
            raise missing(path) from None
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable(path, error) from error
        metadata = self.file.schema_arrow.metadata or {}
        text = (self.file.metadata.metadata or {}).get(METADATA_KEY) or metadata.get(METADATA_KEY)
        if text is None:
            raise StoreError(f"{path} is no set of crawlgauge: its description is missing")
        try:
            self.description = CrawlSet.from_dict(json.loads(text), path)
        except (ValueError, KeyError, TypeError, AttributeError, CrawlError) as error:
            raise damaged(path, error) from error

    def ranges(self, threshold: int | None = None) -> Iterator[NDArray[np.uint64]]:
        """Yield the keys for each value of their leading bits, as the file is cut, in rising order.

        Parameters
        ----------
        threshold
            Where to end: only keys below it are read. By default the set's own, which is the most.
        """
        own = self.description.threshold
        end = own if threshold is None else threshold
        if end > own:
            raise ValueError(f"the set holds keys below {own}, not up to {end}")
        for number in range(count_ranges(self.description.range_bits, end)):
            keys = self.read_row_group(number)
            yield keys if end == own else keys[: np.searchsorted(keys, np.uint64(end))]

    def read_row_group(self, number: int) -> NDArray[np.uint64]:
        """Return the keys of one row group."""
        try:
            column = self.file.read_row_group(number).column("key")
        except FileNotFoundError:
            raise missing(self._path) from None
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self._path, error) from error
        return to_values(column, np.uint64)


def split_keys(keys: NDArray[np.uint64], range_bits: int) -> list[NDArray[np.uint64]]:
    """Cut sorted keys into those for each value of their leading bits, as for `write_set`."""
    numbers = np.arange(1, 1 << range_bits, dtype=np.uint64)
    return np.split(keys, np.searchsorted(keys, numbers << np.uint64(KEY_BITS - range_bits)))
