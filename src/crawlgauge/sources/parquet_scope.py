"""Which parts of Common Crawl's index need not be read, by what their footer says of the hosts."""

import re
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["lies_outside"]

_SORTED_BY = "url_surtkey"
_COMMON_CRAWL = frozenset({_SORTED_BY, "url", "url_host_tld", "url_host_name", "warc_filename"})
"""By these its index is known. What others call url_surtkey may be written in another way."""
_SURT = re.compile(rb"[a-z][a-z0-9-]*([,:][^()]*)?\)")
"""A host with a name; those that are numbers are written in many ways."""


def lies_outside(file: pq.ParquetFile, number: int, hosts: Iterable[bytes] | None) -> bool:
    """Tell whether all rows of a row group are of hosts that are not wanted.

    The index is sorted by host, and for each row group its footer states the first and the last.

    Parameters
    ----------
    file
        The file.
    number
        Of the row group, from 0.
    hosts
        What the wanted hosts begin with, as ``at`` or ``org,example``; None if all are wanted.
    """
    if hosts is None or not set(file.schema_arrow.names) >= _COMMON_CRAWL:
        return False
    bounds = _bounds(file, number)
    if bounds is None:
        return False
    first, last = bounds
    return not any(first[: len(host)] <= host <= last[: len(host)] for host in hosts)


def _bounds(file: pq.ParquetFile, number: int) -> tuple[bytes, bytes] | None:
    """Return the first and the last key of a row group, or None if they are not known."""
    try:
        group = file.metadata.row_group(number)
        names = [group.column(place).path_in_schema for place in range(group.num_columns)]
        column = group.column(names.index(_SORTED_BY))
        statistics = column.statistics
        if statistics is None or not statistics.has_min_max:
            return None
        first, last = (_to_bytes(value) for value in (statistics.min, statistics.max))
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError):
        # Whoever reads the group will see whether it is damaged.
        return None
    is_known = _SURT.match(first) and _SURT.match(last)
    return (first, last) if is_known else None


def _to_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
