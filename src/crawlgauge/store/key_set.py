"""The keys of a set on disk: sorted, eight bytes each, mapped into memory and not decoded.

The file is an Arrow table of one column, so that other programs can read it; a checksum for each
block of keys lets damage be noticed wherever keys are read.
"""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from crawlgauge.core.machine import Mapping
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.sources.remote import AnyPath, RemoteFile, RemotePath
from crawlgauge.store.arrow_file import KeysFile
from crawlgauge.store.crawl_set import CrawlSet, StoredKeys
from crawlgauge.store.documents import ADD_AGAIN, to_plain
from crawlgauge.store.files import explain_os_error, partial_file, sync_folder, write_durably

METADATA_KEY = "crawlgauge"
"""Under which a file describes itself to others."""

_LEAST_BLOCK_KEYS = 1 << 17
"""A megabyte: much beside what asking for it costs, little beside what is read at once."""
_MOST_BLOCKS = 1 << 12

Keys = NDArray[np.uint64]


def count_below(keys: Keys, threshold: int) -> int:
    """Return how many of rising keys are below a threshold."""
    return int(np.searchsorted(keys, np.uint64(threshold - 1), side="right"))


def write_keys(
    folder: Path, ranges: Iterable[Keys], description: CrawlSet, *, n_most: int
) -> CrawlSet:
    """Write the keys of a set into a folder.

    Parameters
    ----------
    folder
        The crawl's.
    ranges
        Sorted, unique keys, at least one in all, each part beyond the one before.
    description
        All that is known of the set; what only its keys tell is filled in.
    n_most
        How many keys there are at most.

    Returns
    -------
    CrawlSet
        The description, with what the keys tell and where they are.
    """
    block_keys = _LEAST_BLOCK_KEYS
    while block_keys * _MOST_BLOCKS < n_most:
        block_keys *= 2
    with partial_file(folder, f"{description.level}.arrow") as partial:
        with write_durably(partial) as file:
            keys_file, blocks = KeysFile(file), _Blocks(block_keys)
            for part in ranges:
                keys_file.add(part)
                blocks.add(part)
            n_urls, threshold = blocks.n_keys, description.threshold
            crawl = replace(description.crawl, n_urls=n_urls, n_sampled=None)
            if threshold < WHOLE:
                crawl = replace(crawl, n_urls=round(n_urls * WHOLE / threshold), n_sampled=n_urls)
            checksum = f"keys-sha256:{blocks.sha256.hexdigest()}"
            whole = replace(description, crawl=crawl, checksum=checksum)
            keys_file.finish({METADATA_KEY: json.dumps(whole.to_dict(), default=to_plain)})
        n_bytes, offset = partial.stat().st_size, keys_file.offset
        frame = _digest_frame(partial, offset, blocks.n_keys)
        # The name tells the content: a reader never finds another under one name.
        name = hashlib.sha256(f"{whole.checksum} {frame}".encode()).hexdigest()[:16]
        path = folder / f"{description.level}-{name}.arrow"
        partial.replace(path)
    sync_folder(folder)
    return replace(
        whole,
        keys=StoredKeys(
            file=path.name,
            frame=frame,
            n_bytes=n_bytes,
            offset=offset,
            n_keys=blocks.n_keys,
            block_keys=block_keys,
            checksums=tuple(blocks.checksums),
            fences=tuple(blocks.fences),
        ),
    )


class _Blocks:
    """Checksums of keys that come part by part."""

    def __init__(self, block_keys: int) -> None:
        self._block_keys = block_keys
        self.sha256 = hashlib.sha256()
        self.n_keys = 0
        self.checksums: list[int] = []
        self.fences: list[int] = []

    def add(self, part: Keys) -> None:
        self.sha256.update(part.data)
        while part.size:
            n_before = self.n_keys % self._block_keys
            here = part[: self._block_keys - n_before]
            if n_before == 0:
                self.fences.append(int(here[0]))
                self.checksums.append(0)
            self.checksums[-1] = isal_zlib.crc32(here.data, self.checksums[-1])
            self.n_keys += here.size
            part = part[here.size :]


class KeyReader:
    """Reads the keys of a set: those on the disk are mapped, remote ones fetched block by block.

    Parameters
    ----------
    crawl_set
        The set.

    Raises
    ------
    StoreError
        If its file is missing or not as long as it was.
    """

    def __init__(self, crawl_set: CrawlSet) -> None:
        self._path: AnyPath = crawl_set.path
        self._stored = crawl_set.stored
        self._is_checked = bytearray(len(self._stored.fences))
        path, stored = self._path, self._stored
        with explain_os_error("read", path):
            try:
                file = path.open() if isinstance(path, RemotePath) else memoryview(Mapping(path))
            except FileNotFoundError:
                raise missing(path) from None
        n_bytes = file.facts.st_size if isinstance(file, RemoteFile) else len(file)
        if n_bytes != stored.n_bytes:
            raise damaged(path, f"it has {n_bytes:,} bytes, not {stored.n_bytes:,}")
        self._source: RemoteFile | Keys
        if isinstance(file, RemoteFile):
            self._source = file
        else:
            self._source = np.frombuffer(file, "<u8", stored.n_keys, stored.offset)

    def between(self, low: int, high: int) -> Keys:
        """Return the keys from `low` on and below `high`, to be read only.

        Raises
        ------
        StoreError
            If they are damaged, or cannot be read.
        """
        fences = self._stored.fences
        first = max(0, bisect_right(fences, low) - 1)
        end = bisect_left(fences, high)
        if first >= end:
            return np.empty(0, np.uint64)
        keys = self._blocks(first, end)
        start = int(np.searchsorted(keys, np.uint64(low)))
        return keys[start : count_below(keys, high)]

    def smallest(self, n_keys: int) -> Keys:
        """Return so many keys, the smallest."""
        return self._blocks(0, -(-n_keys // self._stored.block_keys))[:n_keys]

    def _blocks(self, first: int, end: int) -> Keys:
        block_keys, source = self._stored.block_keys, self._source
        start, stop = first * block_keys, min(end * block_keys, self._stored.n_keys)
        if isinstance(source, RemoteFile):
            with explain_os_error("read", self._path):
                # Ranges end within a block; the file keeps the bytes that it has read last.
                source.seek(self._stored.offset + 8 * start)
                keys = np.frombuffer(source.read(8 * (stop - start)), "<u8")
        else:
            keys = source[start:stop]
        for block in range(first, end):
            if not self._is_checked[block]:
                part = keys[(block - first) * block_keys : (block + 1 - first) * block_keys]
                if isal_zlib.crc32(part.data) != self._stored.checksums[block]:
                    raise damaged(self._path, "the checksum of its keys is wrong")
                # What is fetched again is compared again.
                self._is_checked[block] = not isinstance(source, RemoteFile)
        return keys


def check_keys(crawl_set: CrawlSet) -> None:
    """Re-read all of a set's file.

    Raises
    ------
    StoreError
        If it is missing or damaged.
    """
    path, stored = crawl_set.path, crawl_set.stored
    reader, digest, last, problem = KeyReader(crawl_set), hashlib.sha256(), -1, ""
    for first in range(len(stored.fences)):
        keys = reader._blocks(first, first + 1)  # noqa: SLF001 - of this module
        is_beyond = last < int(keys[0]) == stored.fences[first]
        if not is_beyond or np.any(keys[1:] <= keys[:-1]):
            raise StoreError(f"{path} is damaged: its keys are not in order; {ADD_AGAIN}")
        digest.update(keys.data)
        last = int(keys[-1])
    with explain_os_error("read", path):
        frame = _digest_frame(path, stored.offset, stored.n_keys)
    if (f"keys-sha256:{digest.hexdigest()}", frame) != (crawl_set.checksum, stored.frame):
        problem = "it was changed after it was written"
    if last >= crawl_set.threshold:
        problem = "it holds keys beyond its sample"
    if problem:
        raise StoreError(f"{path} is damaged: {problem}; {ADD_AGAIN}")


def _digest_frame(path: AnyPath, offset: int, n_keys: int) -> str:
    """Return a digest of what stands before the keys and behind them."""
    with path.open() if isinstance(path, RemotePath) else path.open("rb") as file:
        frame = hashlib.sha256(file.read(offset))
        file.seek(offset + 8 * n_keys)
        frame.update(file.read())
    return frame.hexdigest()


def missing(path: AnyPath) -> StoreError:
    """Return the error that says that a file is not there, though the crawl names it."""
    return StoreError(
        f"{path} is missing: the crawl was replaced or removed meanwhile, or the store is "
        "damaged; run the command again, then crawlgauge verify"
    )


def damaged(path: AnyPath, reason: object) -> StoreError:
    """Return the error that says that a file of a crawl is damaged, and what to do."""
    return StoreError(f"{path} is damaged ({reason}); {ADD_AGAIN}")
