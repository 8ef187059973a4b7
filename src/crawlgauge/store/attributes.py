"""Host, media type, status and first time of the URLs with the smallest keys of a crawl."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.batch import NO_CODE, NO_STATUS, NO_TIME
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store.arrow_file import Column, TableFile
from crawlgauge.store.crawl_set import CrawlSet, StoredAttributes
from crawlgauge.store.documents import NONSENSE
from crawlgauge.store.files import explain_os_error, partial_file, sync_folder, write_durably
from crawlgauge.store.key_set import KeyReader, damaged, missing

_COLUMNS: Mapping[str, tuple[str, type[np.signedinteger[Any]], int]] = {
    "times": ("time", np.int64, NO_TIME),
    "statuses": ("status", np.int16, NO_STATUS),
    "host_codes": ("host", np.int32, NO_CODE),
    "mime_codes": ("mime", np.int32, NO_CODE),
}
"""What each is called in the file, its type, and what stands for what is not known."""

_TEXTS = {"host_codes": "hosts", "mime_codes": "mimes"}
"""What codes are places in."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attributes:
    """What is known of the first capture of each URL below a threshold of keys.

    Parameters
    ----------
    keys
        Rising.
    times
        Seconds since 1970, or `NO_TIME`.
    statuses
        HTTP statuses, or `NO_STATUS`.
    host_codes, mime_codes
        Places in `hosts` and `mimes`, or `NO_CODE`.
    hosts, mimes
        The different hosts and media types.
    threshold
        All keys below this one are there.
    """

    keys: NDArray[np.uint64]
    times: NDArray[np.int64]
    statuses: NDArray[np.int16]
    host_codes: NDArray[np.int32]
    mime_codes: NDArray[np.int32]
    hosts: tuple[str, ...]
    mimes: tuple[str, ...]
    threshold: int

    def __post_init__(self) -> None:
        columns = [getattr(self, name) for name in ("keys", *_COLUMNS)]
        if any(column.shape != self.keys.shape for column in columns):
            raise ValueError("the columns of attributes differ in length")
        if np.any(self.keys[1:] <= self.keys[:-1]):
            raise ValueError("the keys of attributes are not sorted and unique")
        if not 0 < self.threshold <= WHOLE or int(self.keys[-1:].sum()) >= self.threshold:
            raise ValueError("the keys of attributes are not below their threshold")
        for name, texts in _TEXTS.items():
            codes = getattr(self, name)
            if codes.size and not NO_CODE <= codes.min() <= codes.max() < len(getattr(self, texts)):
                raise ValueError("attributes refer to a host or media type that is not there")
        for column in columns:
            column.flags.writeable = False

    def __len__(self) -> int:
        return int(self.keys.size)

    def part(self, some: slice) -> "Attributes":
        """Return those of some of the keys, with no more hosts and media types than these have."""
        columns = {name: getattr(self, name)[some] for name in ("keys", *_COLUMNS)}
        for codes, texts in _TEXTS.items():
            used, places = np.unique(columns[codes], return_inverse=True)
            # The first of them may stand for none.
            n_none = int(np.count_nonzero(used == NO_CODE))
            columns[codes] = (places - n_none).astype(np.int32)
            columns[texts] = tuple(getattr(self, texts)[code] for code in used[n_none:].tolist())
        return replace(self, **columns)

    @classmethod
    def nothing(cls) -> "Attributes":
        """Return attributes of no key at all."""
        columns: dict[str, Any] = {name: np.empty(0, of[1]) for name, of in _COLUMNS.items()}
        return cls(keys=np.empty(0, np.uint64), **columns, hosts=(), mimes=(), threshold=1)


def write_attributes(folder: Path, attributes: Attributes) -> StoredAttributes:
    """Write attributes into a crawl's folder, without their keys: those are the set's first.

    Parameters
    ----------
    folder
        The crawl's.
    attributes
        What to write.
    """
    columns = [_column(attributes, field) for field in _COLUMNS]
    with partial_file(folder, "attributes.arrow") as partial:
        with write_durably(partial) as file:
            table = TableFile(file, columns)
            layout = table.write_columns()
            table.finish({})
        with partial.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        path = folder / f"attributes-{sha256[:16]}.arrow"
        partial.replace(path)
    sync_folder(folder)
    return StoredAttributes(
        file=path.name,
        sha256=sha256,
        n_rows=len(attributes),
        threshold=attributes.threshold,
        layout={column.name: [column.values.dtype.str, *layout[column.name]] for column in columns},
    )


def _column(attributes: Attributes, field: str) -> Column:
    name, _, unknown = _COLUMNS[field]
    values, texts = getattr(attributes, field), None
    is_valid = values != unknown
    if field in _TEXTS:
        texts = [text.encode() for text in getattr(attributes, _TEXTS[field])]
        # In as few bytes as they take: the least number of a type is farther from zero than its
        # largest.
        values = values.astype(np.min_scalar_type(-1 - int(values.max(initial=0))))
    known = np.where(is_valid, values, 0).astype(values.dtype)
    return Column(name, known, is_valid, texts, is_time=name == "time")


def read_attributes(folder: AnyPath, stored: StoredAttributes, crawl_set: CrawlSet) -> Attributes:
    """Read attributes back, with the keys of the crawl's set that they belong to.

    Raises
    ------
    StoreError
        If the file is missing or damaged.
    """
    path = folder / stored.file
    with explain_os_error("read", path):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise missing(path) from None
    # First the bytes: what is damaged may be anything, and is not to be interpreted.
    if hashlib.sha256(content).hexdigest() != stored.sha256:
        raise damaged(path, "its checksum does not fit its content")
    # The set's file tells how many keys there can be at most.
    keys = KeyReader(crawl_set).smallest(stored.n_rows)
    try:
        columns: dict[str, Any] = {}
        for field, about in _COLUMNS.items():
            columns[field], texts = _read_column(content, stored, *about)
            if field in _TEXTS:
                columns[_TEXTS[field]] = texts
        return Attributes(keys=keys, **columns, threshold=stored.threshold)
    except NONSENSE as error:
        raise damaged(path, error) from error


def _read_column(
    content: bytes, stored: StoredAttributes, name: str, wanted: type[np.integer], unknown: int
) -> tuple[NDArray[np.integer], tuple[str, ...]]:
    """Return the values of a column, and the texts that they stand for."""
    kind, valid_at, n_valid, values_at, n_values, *texts_at = stored.layout[name]
    dtype = np.dtype(kind)
    if dtype.kind != "i" or n_values != stored.n_rows * dtype.itemsize:
        raise ValueError(f"the values of {name} are none")
    values = np.frombuffer(content, dtype, stored.n_rows, values_at)
    if n_valid:
        bits = np.frombuffer(content, np.uint8, n_valid, valid_at)
        is_valid = np.unpackbits(bits, count=stored.n_rows, bitorder="little").view(np.bool_)
        values = np.where(is_valid, values, values.dtype.type(unknown))
    wide = values.astype(wanted, copy=False)
    if not texts_at:
        return wide, ()
    bounds_at, n_bounds, bytes_at, _ = texts_at
    bounds = bytes_at + np.frombuffer(content, np.int32, n_bounds // 4, bounds_at).astype(np.int64)
    if np.any(bounds < 0) or np.any(bounds[1:] < bounds[:-1]):
        raise ValueError(f"the texts of {name} overlap")
    return wide, tuple(content[start:end].decode() for start, end in pairwise(bounds.tolist()))
