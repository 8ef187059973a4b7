"""What a task does that merges: the keys of its hash ranges, sorted and each once."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.spark.rows import (
    ATTRIBUTES,
    FACTS,
    decode_attributes,
    decode_keys,
    encode_attributes,
    key_rows,
    make_row,
    table_of,
)
from crawlgauge.store.attributes import AttributeBuilder
from crawlgauge.store.key_runs import sort_unique

__all__ = ["merge_rows"]

Keys = NDArray[np.uint64]
_Place = tuple[int, str, str]


def merge_rows(batches: Iterable[pa.RecordBatch], first_end: int) -> Iterator[pa.RecordBatch]:
    """Merge what tasks have found of the same hash ranges.

    The order in which rows come in leaves no trace: whatever task is run again, and wherever, the
    outcome is the same.

    Parameters
    ----------
    batches
        Rows as `map_task` yields them, of whole hash ranges.
    first_end
        Keys below it are counted apart.
    """
    keys: dict[_Place, list[Keys]] = {}
    attributes: dict[_Place, list[bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            place = row["part"], row["label"], row["level"]
            if row["kind"] == FACTS:
                yield make_row(FACTS, row["data"], slot=row["slot"])
            elif row["kind"] == ATTRIBUTES:
                attributes.setdefault(place, []).append(row["data"])
            else:
                keys.setdefault(place, []).append(decode_keys(row["data"]))
    for place in sorted(keys):
        part, label, level = place
        merged = sort_unique(np.concatenate(keys.pop(place)))
        yield from key_rows(
            merged, slot=0, label=label, level=level, part=part, first_end=first_end
        )
    for place in sorted(attributes):
        data, n_rows = _merge_attributes(attributes.pop(place))
        yield make_row(ATTRIBUTES, data, slot=0, label=place[1], part=place[0], n=n_rows)


def _merge_attributes(pieces: list[bytes]) -> tuple[bytes, int]:
    builder = AttributeBuilder()
    for piece in pieces:
        builder.take_up(decode_attributes([piece]))
    merged = builder.finish()
    return encode_attributes(table_of(merged)), len(merged)
