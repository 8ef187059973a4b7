"""How a crawl is held, written, shown and removed, in whichever kind of store."""

import logging
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store import files
from crawlgauge.store.crawl_set import MANIFEST_NAME, CrawlSet, Manifest, has_leftovers, is_own_file
from crawlgauge.store.files import ANCHORS, CACHE, CRAWLS, STORE_FILE
from crawlgauge.store.spilling import SPILL_FOLDER, remove_abandoned

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes
    from crawlgauge.store.key_set import Keys


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


class CrawlWriter(ABC):
    """Writes one crawl that is held for writing; see `Store.writing`.

    Parameters
    ----------
    label
        The crawl's.
    folder
        Where the crawl is, or will be.
    """

    def __init__(self, label: str, folder: AnyPath) -> None:
        self.label, self.folder = label, folder

    @property
    @abstractmethod
    def workplace(self) -> Path:
        """The folder on the disk that its files are made in; it exists."""

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        """Write the sets of all levels and make them the crawl's, in place of what was there.

        Raises
        ------
        StoreError
            If that is not possible; the crawl is as it was.
        """
        from crawlgauge.store.attributes import write_attributes
        from crawlgauge.store.key_set import write_keys

        folder = self.workplace
        with files.explain_os_error("write", folder):
            written = [
                write_keys(folder, item.ranges, item.description, n_most=item.n_most)
                for item in sets
            ]
            manifest = Manifest(
                label=self.label,
                sets={item.level: item for item in written},
                attributes=write_attributes(folder, attributes),
            )
        with files.explain_os_error("write", self.folder):
            self._show(manifest)
        self._try_to_clean()
        return manifest

    def remove(self) -> None:
        """Take the crawl away."""
        with files.explain_os_error("write", self.folder):
            self._hide()
        self._try_to_clean()

    def clean(self, *, min_age: float = 0.0) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets."""
        found, content = self._look()
        wanted = set[str]()
        if content is not None:
            try:
                wanted = Manifest.from_bytes(content, self.folder, self.label).names
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for name, age in found.items():
            if is_own_file(name) and name not in wanted and age >= min_age:
                self._delete(name)

    def _try_to_clean(self) -> None:
        try:
            self.clean()
        except OSError as error:
            # What was asked for is done; whoever writes next cleans up.
            _log.warning("leftovers stay in %s: %s", self.folder, error.strerror or error)

    @abstractmethod
    def _show(self, manifest: Manifest) -> None:
        """Make the crawl visible, all at once."""

    @abstractmethod
    def _hide(self) -> None:
        """Take the manifest away, which is the crawl to others."""

    @abstractmethod
    def _look(self) -> tuple[dict[str, float], bytes | None]:
        """Return the names of its files, each with its age in seconds, and then its manifest.

        In this order: what is named later than it was listed is not deleted.
        """

    @abstractmethod
    def _delete(self, name: str) -> None: ...


class StorePlace(ABC):
    """Where a store is, or will be: on the disk, or on object storage."""

    _path: AnyPath

    min_age = 0.0
    """Seconds: younger files of a crawl may be on their way still, and are not cleaned up."""

    _forgiven: tuple[type[Exception], ...] = (StoreBusy,)
    """What keeps from cleaning up after others is no matter of whoever writes a crawl."""

    @abstractmethod
    def create(self) -> None:
        """Make a store where there is none; one that is there is left as it is."""

    @abstractmethod
    def remove_if_empty(self) -> None:
        """Take a store away that holds no crawls; one that does is left as it is."""

    @contextmanager
    def hold(self, label: str) -> Iterator[CrawlWriter]:
        """Hold a crawl for writing, and clean up what killed processes have left in the store."""
        remove_abandoned(self._path)
        with self._lock(label, patience=_PATIENCE) as writer:
            # Another process that failed may have taken the empty store away meanwhile.
            self.create()
            writer.clean(min_age=self.min_age)
            for other in self._find_leftovers() - {label}:
                # A crawl that is being written cleans up after itself.
                with suppress(*self._forgiven), self._lock(other) as its_writer:
                    its_writer.clean(min_age=self.min_age)
            yield writer

    @abstractmethod
    def _lock(
        self, label: str, *, patience: float = 0.0
    ) -> AbstractContextManager[CrawlWriter]: ...

    @abstractmethod
    def _find_leftovers(self) -> set[str]:
        """Return the crawls of which there is more than a crawl at rest has."""


# ------------------------------------------------------------------------------- on the disk


_PATIENCE = 1.0
"""Seconds: a process that cleans up after another has its lock for less."""

_log = logging.getLogger(__name__)


class LocalPlace(StorePlace):
    """A store on the disk."""

    _forgiven = (StoreBusy, OSError)
    _path: Path

    def __init__(self, path: Path, document: bytes) -> None:
        self._path, self._document = path, document

    def create(self) -> None:
        """Make a store where there is none; one that is there is left as it is."""
        path = self._path
        if path.exists() and not path.is_dir():
            raise StoreError(f"{path} is a file; name a folder for the store")
        leftovers = list(path.glob(f"{files.PARTIAL_PREFIX}*"))
        if not (path / STORE_FILE).exists():
            if path.is_dir() and not all(_is_of_store(entry.name) for entry in path.iterdir()):
                raise StoreError(f"{path} is a folder of other files; name another for the store")
            (path / CRAWLS).mkdir(parents=True, exist_ok=True)
            try:
                files.create_file(path / STORE_FILE, self._document)
            except OSError:
                self.remove_if_empty()
                raise
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)

    def remove_if_empty(self) -> None:
        """Take a store away that holds no crawls; one that does is left as it is."""
        # A folder that is not empty cannot be removed, also when another process has just begun.
        with suppress(OSError):
            if (self._path / ANCHORS).exists():
                (self._path / ANCHORS).rmdir()
            (self._path / CRAWLS).rmdir()
            shutil.rmtree(self._path / CACHE, ignore_errors=True)
            (self._path / STORE_FILE).unlink(missing_ok=True)
            self._path.rmdir()

    @contextmanager
    def _lock(self, label: str, *, patience: float = 0.0) -> Iterator[CrawlWriter]:
        folder = self._path / CRAWLS / label
        with files.hold_lock(folder, patience=patience):
            yield _LocalWriter(label, folder)

    def _find_leftovers(self) -> set[str]:
        """Delete what processes left behind that are no more; those that live keep theirs.

        What another process has just deleted, or may alone delete, is no matter of this one.
        """
        for folder in (CACHE, ANCHORS):
            for leftover in (self._path / folder).glob(f"{files.PARTIAL_PREFIX}*"):
                with suppress(OSError):
                    files.remove_if_abandoned(leftover)
        found = set()
        # Each folder that a process has written in holds a lock: any other is not the store's.
        for lock in (self._path / CRAWLS).glob(f"[!.]*/{files.LOCK_NAME}"):
            with suppress(OSError):
                if has_leftovers([entry.name for entry in lock.parent.iterdir()]):
                    found.add(lock.parent.name)
        return found


def _is_of_store(name: str) -> bool:
    """Tell whether something belongs to a store; another process may just be making the same."""
    return name in {STORE_FILE, CRAWLS, CACHE, ANCHORS, SPILL_FOLDER} or name.startswith(
        files.PARTIAL_PREFIX
    )


class _LocalWriter(CrawlWriter):
    """Writes a crawl into a folder whose lock is held."""

    folder: Path

    @property
    def workplace(self) -> Path:
        return self.folder

    def _show(self, manifest: Manifest) -> None:
        files.replace_file(self.folder / MANIFEST_NAME, manifest.to_bytes())

    def _hide(self) -> None:
        (self.folder / MANIFEST_NAME).unlink()
        files.sync_folder(self.folder)

    def _look(self) -> tuple[dict[str, float], bytes | None]:
        found = {entry.name: 0.0 for entry in self.folder.iterdir() if not entry.is_dir()}
        manifest = self.folder / MANIFEST_NAME
        return found, manifest.read_bytes() if manifest.exists() else None

    def _delete(self, name: str) -> None:
        (self.folder / name).unlink()
