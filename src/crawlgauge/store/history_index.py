"""The history index: all keys of some crawls, with the crawls that hold each.

It is made from sets, stands in the store's cache, and can be lost: whoever counts a further crawl
merges its set with the index, in the place of all sets. Its keys lie in ranges of their leading
bits, each with a checksum in a document beside the file; what does not fit it is not used.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from crawlgauge.core.machine import Mapping
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import KEY_BITS, count_ranges
from crawlgauge.store.arrow_file import Column, TableFile
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.documents import NONSENSE, check_document, from_plain, to_document, to_plain
from crawlgauge.store.files import check_room, partial_file, replace_file
from crawlgauge.store.key_set import count_below

_SCHEMA = "crawlgauge.index/3"
_PATTERN = "index-*.json"
_MASK_TYPES = [np.dtype(f"<u{n_bytes}") for n_bytes in (2, 4, 8)]

_log = logging.getLogger(__name__)

_Range = tuple[int, int, int, int]
"""How many rows there are, their checksum, and where keys and masks begin."""


class IndexDamaged(Exception):  # noqa: N818 - the name says what was met
    """The keys of an index are not those that were written."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an index is about, or counts are: the same subject always has the same.

    Parameters
    ----------
    level, key_rule
        What the keys stand for, and the rule that made them.
    threshold
        Keys below it are there.
    checksums
        Of the keys of each set, in the order of the masks' bits.
    """

    level: str
    key_rule: str
    threshold: int
    checksums: tuple[str, ...]

    @classmethod
    def of(cls, sets: Sequence[CrawlSet], threshold: int) -> "Subject":
        """Return what the keys of some sets, of one level and rule, below a threshold are."""
        first, checksums = sets[0], tuple(item.checksum for item in sets)
        return cls(first.level, first.key_rule, threshold, checksums)

    @property
    def name(self) -> str:
        """What files about it are called by."""
        return hashlib.sha256(json.dumps(self, default=to_plain).encode()).hexdigest()[:32]


def origin_of(item: CrawlSet) -> str:
    """Return what tells apart crawls of the same keys whose attributes may differ."""
    text = json.dumps(item.provenance.to_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class HistoryIndex:
    """An index that is mapped into memory.

    Parameters
    ----------
    path
        The document that says where its rows are.

    Attributes
    ----------
    subject
        Of which sets it is.
    range_bits
        How many leading bits tell its ranges apart.

    Raises
    ------
    StoreError
        If the document is damaged, or of another version.
    OSError
        If it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        document = check_document(path.read_bytes(), path, _SCHEMA)
        self._path = path.with_suffix(".arrow")
        self._mapping = memoryview(Mapping(self._path))
        try:
            self.subject: Subject = from_plain(document["subject"], Subject)
            self.range_bits = from_plain(document["range_bits"], int)
            self._mask_type = np.dtype(document["mask_type"])
            self._ranges = from_plain(document["ranges"], tuple[_Range, ...])
            n_ranges = count_ranges(self.range_bits, self.subject.threshold)
            if len(self._mapping) != document["n_bytes"] or len(self._ranges) != n_ranges:
                raise ValueError("it has another length than it had")
            if self._mask_type not in _MASK_TYPES:
                raise ValueError("its masks are none")
        except NONSENSE as error:
            raise StoreError(f"{path} is damaged ({error!r})") from error
        self._is_checked = bytearray(len(self._ranges))

    @property
    def n_keys(self) -> int:
        """How many keys there are."""
        return sum(n_rows for n_rows, *_ in self._ranges)

    def count_outside(self, subject: Subject, sizes: Sequence[int]) -> int:
        """Return how many keys the sets of a subject have that are not in the index."""
        known = {*self.subject.checksums}
        found = zip(subject.checksums, sizes, strict=True)
        return sum(size for checksum, size in found if checksum not in known)

    def between(
        self, low: int, high: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.unsignedinteger]]:
        """Return the keys from `low` on and below `high` with their masks, to be read only.

        Parameters
        ----------
        low, high
            Within one of the index's own ranges.

        Raises
        ------
        IndexDamaged
            If they are not those that were written.
        """
        number = low >> (KEY_BITS - self.range_bits)
        if number >= len(self._ranges):
            return np.empty(0, np.uint64), np.empty(0, self._mask_type)
        n_rows, checksum, of_keys, of_masks = self._ranges[number]
        try:
            keys = np.frombuffer(self._mapping, np.uint64, n_rows, of_keys)
            masks = np.frombuffer(self._mapping, self._mask_type, n_rows, of_masks)
        except NONSENSE as error:
            raise IndexDamaged(str(self._path)) from error
        if not self._is_checked[number]:
            highest = int(masks.max(initial=0))
            is_known = highest.bit_length() <= len(self.subject.checksums)
            if _checksum(keys, masks) != checksum or not is_known:
                raise IndexDamaged(str(self._path))
            self._is_checked[number] = True
        start = int(np.searchsorted(keys, np.uint64(low)))
        stop = count_below(keys, high)
        return keys[start:stop], masks[start:stop]


def _checksum(*columns: NDArray[np.unsignedinteger]) -> int:
    checksum = 0
    for column in columns:
        checksum = isal_zlib.crc32(column.data, checksum)
    return checksum


def find_index(folder: Path, subject: Subject, sizes: Sequence[int]) -> HistoryIndex | None:
    """Return the index in a folder by which a subject is counted faster than without, if any.

    Parameters
    ----------
    folder
        The cache folder of a store.
    subject
        What is to be counted. Sets of the index that are not in it are no hindrance.
    sizes
        How many keys each of its sets has.
    """
    for path in sorted(folder.glob(_PATTERN)):
        try:
            index = HistoryIndex(path)
        except (OSError, StoreError) as error:
            _log.warning("%s cannot be used, and is made anew: %s", path, error)
            continue
        about = index.subject
        is_like = (about.level, about.key_rule) == (subject.level, subject.key_rule)
        # To merge a key of an index costs half of what a key of a set does.
        n_keys = index.n_keys * subject.threshold // about.threshold
        cost = n_keys // 2 + index.count_outside(subject, sizes)
        if is_like and about.threshold >= subject.threshold and cost < sum(sizes):
            return index
    return None


class IndexWriter:
    """Writes an index, range by range, in the place of those of the same level.

    What goes wrong with it is told in the log and is no error: nobody has asked for an index.

    Parameters
    ----------
    folder
        The cache folder of a store.
    subject
        What the index is about.
    range_bits
        How many leading bits tell the ranges apart.
    n_most
        How many keys there are at most.
    """

    def __init__(self, folder: Path, subject: Subject, range_bits: int, n_most: int) -> None:
        self._folder, self._subject = folder, subject
        self._about = {"schema": _SCHEMA, "subject": subject, "range_bits": range_bits}
        n_crawls = len(subject.checksums)
        self._mask_type = next(kind for kind in _MASK_TYPES if 8 * kind.itemsize >= n_crawls)
        self._ranges: list[list[int]] = []
        self._stack = ExitStack()
        self._file: BinaryIO | None = None
        with self._forgiving():
            check_room(folder, n_most * (8 + self._mask_type.itemsize), "the index of histories")
            self._partial = self._stack.enter_context(partial_file(folder, "index.arrow"))
            self._file = self._stack.enter_context(self._partial.open("wb"))
            types = ("key", "<u8"), ("mask", self._mask_type)
            columns = [Column(name, np.empty(0, dtype)) for name, dtype in types]
            self._table = TableFile(self._file, columns)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            # What has not been published is deleted.
            self._file = None
            with self._forgiving():
                self._stack.close()

    def add(self, keys: NDArray[np.uint64], masks: NDArray[np.uint64]) -> None:
        """Write the next range."""
        if self._file is None:
            return
        with self._forgiving():
            rows = keys, masks.astype(self._mask_type)
            places = self._table.write(*rows) if keys.size else [0, 0]
            self._ranges.append([keys.size, _checksum(*rows), *places])

    def _publish(self) -> None:
        """Let others find the index, and delete those that are of no use beside it."""
        if self._file is None or not any(n_rows for n_rows, *_ in self._ranges):
            return
        with self._forgiving():
            self._table.finish({"crawlgauge": json.dumps(self._about, default=to_plain)})
            n_bytes = self._file.tell()
            self._file.close()
            path = self._folder / _PATTERN.replace("*", self._subject.name)
            # Those of the same level, and halves of one that a kill has left.
            for other in {entry.with_suffix(".json") for entry in self._folder.glob("index-*")}:
                if _is_replaced(other, self._subject.level):
                    other.unlink(missing_ok=True)
                    other.with_suffix(".arrow").unlink(missing_ok=True)
            self._partial.replace(path.with_suffix(".arrow"))
            about = {"mask_type": self._mask_type.str, "n_bytes": n_bytes, "ranges": self._ranges}
            # Nothing waits for the disk: what a power cut leaves does not fit its checksums.
            replace_file(path, to_document(self._about | about))

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except (OSError, StoreError) as error:
            self._file = None
            _log.info("the index of histories is not kept for the next time: %s", error)


def _is_replaced(path: Path, level: str) -> bool:
    try:
        return HistoryIndex(path).subject.level == level
    except (OSError, StoreError):
        return True
