"""Keep counts in files of a store's cache folder, where they can be lost but never be wrong.

A file is named by the digest of its content, and the content says which keys were counted. What
does not fit its name is passed over and deleted, and so is what fits no crawls of the store.
"""

import hashlib
import io
import json
import logging
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crawlgauge.arrow_columns import to_column, to_values
from crawlgauge.overlaps.counts import Counts, Subject
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.stored_files import find_files, put_file

__all__ = ["load_counts", "save_counts"]

SCHEMA = "crawlgauge.counts/1"
"""Counts of another version are not used: it may have counted otherwise."""

_METADATA_KEY = b"crawlgauge"
_PATTERN = "overlaps-*.parquet"

_log = logging.getLogger(__name__)


def load_counts(folder: AnyPath) -> Iterator[Counts]:
    """Yield the counts that a folder holds; damaged files are passed over."""
    for path in find_files(folder, _PATTERN):
        counts = _read(path)
        if counts is not None:
            yield counts


def save_counts(folder: AnyPath, counts: Counts) -> None:
    """Keep counts, and delete those that are of no use beside them.

    Parameters
    ----------
    folder
        The cache folder of a store.
    counts
        Of all sets that the store holds of a level. Counts of just these sets below other
        thresholds stay.
    """
    content = _to_bytes(counts)
    path = folder / _name_of(content)
    put_file(path, content)
    for other in find_files(folder, _PATTERN):
        if other != path and not _is_useful_beside(_read(other), counts.subject):
            other.unlink(missing_ok=True)


def _is_useful_beside(other: Counts | None, subject: Subject) -> bool:
    if other is None:
        return False
    if other.subject.level != subject.level:
        return True
    is_present = sorted(other.subject.checksums) == sorted(subject.checksums)
    return is_present and other.subject.threshold != subject.threshold


def _read(path: AnyPath) -> Counts | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None  # Another process has just deleted it.
    except OSError as error:
        _log.warning("%s cannot be read (%s); overlaps are counted again", path, error.strerror)
        return None
    if path.name != _name_of(content):
        _log.warning("%s is damaged; overlaps are counted again", path)
        return None
    return _from_bytes(content)


def _name_of(content: bytes) -> str:
    return _PATTERN.replace("*", hashlib.sha256(content).hexdigest()[:32])


def _to_bytes(counts: Counts) -> bytes:
    subject = counts.subject
    document = {
        "schema": SCHEMA,
        "level": subject.level,
        "key_rule": subject.key_rule,
        # Beyond what numbers in JSON hold exactly.
        "threshold": hex(subject.threshold),
        "history_end": hex(counts.history_end),
        "checksums": subject.checksums,
        "n_shared": counts.n_shared.tolist(),
    }
    table = pa.table({"mask": to_column(counts.masks), "count": to_column(counts.counts)})
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_METADATA_KEY: json.dumps(document)})
    return sink.getvalue()


def _from_bytes(content: bytes) -> Counts | None:
    """Read what `_to_bytes` wrote, whole; None if it is of another version."""
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        document = json.loads(file.metadata.metadata[_METADATA_KEY])
        if document["schema"] != SCHEMA:
            return None
        table = file.read()
    return Counts(
        subject=Subject(
            level=document["level"],
            key_rule=document["key_rule"],
            threshold=int(document["threshold"], 16),
            checksums=tuple(document["checksums"]),
        ),
        n_shared=np.array(document["n_shared"], dtype=np.int64),
        masks=to_values(table.column("mask"), np.uint64),
        counts=to_values(table.column("count"), np.int64),
        history_end=int(document["history_end"], 16),
    )
