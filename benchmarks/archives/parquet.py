"""A crawl as a columnar index with the columns of Common Crawl's: sorted by key, gzip."""

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from archives.captures import MIMES, STATUSES, Captures
from archives.cdxj import sort_captures
from archives.names import Namer

__all__ = ["write_parquet"]

ROWS_PER_GROUP = 1 << 18
LEVEL = 4


def write_parquet(path: Path, captures: Captures, namer: Namer, crawl: int, begin: dt.date) -> int:
    """Write the index of a crawl; return the size of its columns in memory."""
    ordered, keys = sort_captures(captures, namer)
    start = np.datetime64(begin, "s")
    lengths = 500 + ordered.numbers % 60_000
    table = pa.table(
        {
            "url_surtkey": keys.cast(pa.string()),
            "url": namer.urls(ordered.numbers, crawl).cast(pa.string()),
            "fetch_time": pa.array(start + ordered.seconds).cast(pa.timestamp("ms", "UTC")),
            "fetch_status": pa.array(np.array(STATUSES, dtype=np.int16)[ordered.status]),
            "content_mime_type": pa.DictionaryArray.from_arrays(
                pa.array(ordered.mime), pa.array(MIMES)
            ).cast(pa.string()),
            "warc_record_offset": pa.array(np.cumsum(lengths).astype(np.int32)),
            "warc_record_length": pa.array(lengths.astype(np.int32)),
        }
    )
    pq.write_table(
        table, path, compression="gzip", compression_level=LEVEL, row_group_size=ROWS_PER_GROUP
    )
    return int(table.nbytes)
