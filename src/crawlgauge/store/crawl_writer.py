"""What it takes to write a crawl, into whichever kind of store, and where in it everything is.

::

    crawlgauge.store/
      store.json                 by which rule URLs are the same
      crawls/LABEL/              manifest.json, a file for each set, one for attributes, a lock
      cache/                     counts and the like, which can be lost
      spill/                     what does not fit into memory, while a process runs
"""

import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store.crawl_set import MANIFEST_NAME, CrawlSet, Manifest, has_leftovers, is_own_file
from crawlgauge.store.files import (
    LOCK_NAME,
    PARTIAL_PREFIX,
    create_file,
    explain_os_error,
    hold_lock,
    remove_if_abandoned,
    replace_file,
    sync_folder,
)
from crawlgauge.store.spilling import SPILL_FOLDER, remove_abandoned

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes
    from crawlgauge.store.key_set import Keys
if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = [
    "CACHE",
    "CRAWLS",
    "STORE_FILE",
    "CrawlWriter",
    "UnwrittenSet",
    "create_local",
    "hold_local",
    "remove_local_if_empty",
    "write_crawl",
]


# ------ what it takes to write a crawl, into whichever kind of store, and where in it everything is


STORE_FILE = "store.json"
CRAWLS = "crawls"
CACHE = "cache"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnwrittenSet:
    """A set that is to be written.

    Parameters
    ----------
    description
        All that is known of it without its keys.
    ranges
        Its keys, sorted and unique, in parts.
    n_most
        How many keys there are at most.
    """

    description: CrawlSet
    ranges: "Iterable[Keys]"
    n_most: int


class CrawlWriter(Protocol):
    """Writes one crawl that is held for writing; see `Store.writing`."""

    @property
    def label(self) -> str:
        """The crawl's."""

    @property
    def folder(self) -> AnyPath:
        """Where the crawl is, or will be."""

    @property
    def workplace(self) -> Path:
        """The folder on the disk that its files are made in; it exists."""

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        """Write the sets of all levels and make them the crawl's, in place of what was there.

        Raises
        ------
        StoreError
            If that is not possible; the crawl is as it was.
        """

    def remove(self) -> None:
        """Take the crawl away."""


def write_crawl(
    folder: Path, label: str, sets: Sequence[UnwrittenSet], attributes: "Attributes"
) -> Manifest:
    """Write the files of a crawl into a folder on the disk, but for its manifest."""
    from crawlgauge.store.attributes import write_attributes
    from crawlgauge.store.key_set import write_keys

    written = [
        write_keys(folder, item.ranges, item.description, n_most=item.n_most) for item in sets
    ]
    return Manifest(
        label=label,
        sets={item.level: item for item in written},
        attributes=write_attributes(folder, attributes),
    )


# ------------------------------------------------------------------------------ A store on the disk


_PATIENCE = 1.0
"""Seconds: a process that cleans up after another has its lock for less."""

_log = logging.getLogger(__name__)


def create_local(path: Path, document: bytes) -> None:
    """Make a store where there is none; one that is there is left as it is."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; name a folder for the store")
    leftovers = list(path.glob(f"{PARTIAL_PREFIX}*"))
    if not (path / STORE_FILE).exists():
        if path.is_dir() and not all(_is_of_store(entry.name) for entry in path.iterdir()):
            raise StoreError(f"{path} is a folder of other files; name another for the store")
        (path / CRAWLS).mkdir(parents=True, exist_ok=True)
        try:
            create_file(path / STORE_FILE, document)
        except OSError:
            remove_local_if_empty(path)
            raise
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)


def _is_of_store(name: str) -> bool:
    """Tell whether something belongs to a store; another process may just be making the same."""
    return name in {STORE_FILE, CRAWLS, CACHE, SPILL_FOLDER} or name.startswith(PARTIAL_PREFIX)


def remove_local_if_empty(path: Path) -> None:
    """Take a store away that holds no crawls; one that does is left as it is."""
    # A folder that is not empty cannot be removed, also when another process has just begun.
    with suppress(OSError):
        (path / CRAWLS).rmdir()
        shutil.rmtree(path / CACHE, ignore_errors=True)
        (path / STORE_FILE).unlink(missing_ok=True)
        path.rmdir()


@contextmanager
def hold_local(path: Path, label: str, document: bytes) -> "Iterator[LocalCrawlWriter]":
    """Hold a crawl for writing, and clean up what killed processes have left in the store."""
    folder = path / CRAWLS / label
    with hold_lock(folder, patience=_PATIENCE):
        # Another process that failed may have taken the empty store away meanwhile.
        create_local(path, document)
        writer = LocalCrawlWriter(label=label, folder=folder)
        writer.clean()
        _clean_up_after_killed(path, label)
        yield writer


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCrawlWriter:
    """Writes a crawl into a folder whose lock is held; see `CrawlWriter`."""

    label: str
    folder: Path

    @property
    def workplace(self) -> Path:
        """The folder on the disk that its files are made in."""
        return self.folder

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        """Write the sets of all levels and make them the crawl's, in place of what was there."""
        with explain_os_error("write", self.folder):
            manifest = write_crawl(self.folder, self.label, sets, attributes)
            replace_file(self.folder / MANIFEST_NAME, manifest.to_bytes())
        self._try_to_clean()
        return manifest

    def remove(self) -> None:
        """Take the crawl away."""
        with explain_os_error("write", self.folder):
            (self.folder / MANIFEST_NAME).unlink()
            sync_folder(self.folder)
        self._try_to_clean()

    def clean(self) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets."""
        wanted: set[str] = set()
        manifest = self.folder / MANIFEST_NAME
        if manifest.exists():
            try:
                wanted = Manifest.from_bytes(manifest.read_bytes(), self.folder, self.label).names
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for entry in self.folder.iterdir():
            if is_own_file(entry.name) and entry.name not in wanted and not entry.is_dir():
                entry.unlink()

    def _try_to_clean(self) -> None:
        try:
            self.clean()
        except OSError as error:
            # What was asked for is done; whoever writes next cleans up.
            _log.warning("leftovers stay in %s: %s", self.folder, error.strerror)


def _clean_up_after_killed(path: Path, label: str) -> None:
    """Delete what processes left behind that are no more; those that live keep theirs.

    What another process has just deleted, or may alone delete, is no matter of this one.
    """
    remove_abandoned(path)
    for leftover in (path / CACHE).glob(f"{PARTIAL_PREFIX}*"):
        with suppress(OSError):
            remove_if_abandoned(leftover)
    # Each folder that a process has written in holds a lock: any other is not the store's to clean.
    folders = {lock.parent for lock in (path / CRAWLS).glob(f"[!.]*/{LOCK_NAME}")}
    for folder in folders - {path / CRAWLS / label}:
        # A crawl that is being written cleans up after itself.
        with suppress(StoreBusy, OSError):
            if has_leftovers([entry.name for entry in folder.iterdir()]):
                with hold_lock(folder):
                    LocalCrawlWriter(label=folder.name, folder=folder).clean()
