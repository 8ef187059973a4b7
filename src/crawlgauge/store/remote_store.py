"""A store on object storage, which has no rename: a crawl is there when its manifest is."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crawlgauge.errors import StoreError
from crawlgauge.sources.remote import RemotePath
from crawlgauge.store.crawl_set import MANIFEST_NAME, Manifest, has_leftovers
from crawlgauge.store.crawl_writer import CrawlWriter, StorePlace
from crawlgauge.store.files import ANCHORS, CACHE, CRAWLS, LOCK_NAME, STORE_FILE
from crawlgauge.store.objects import Conflict, Lease, Objects, lease_seconds
from crawlgauge.store.spilling import SpillFolder

_SHARE_TO_ARRIVE = 0.5
"""Of the time that a claim holds: so old must be what a killed process left. Its last request may
still be on its way, and a claim that is over was renewed longer ago."""

_MAX_ATTEMPTS = 3
"""A process that has lost its claim may publish once more; two of them are hard to imagine."""


class RemotePlace(StorePlace):
    """A store on object storage."""

    _path: RemotePath

    def __init__(self, path: RemotePath, document: bytes) -> None:
        self._path, self._document, self.objects = path, document, Objects(path)
        self.min_age = lease_seconds() * _SHARE_TO_ARRIVE

    def create(self) -> None:
        """Make a store where there is none; one that is there is left as it is."""
        objects = self.objects
        if objects.head(STORE_FILE) is not None:
            return
        own = (STORE_FILE, f"{CRAWLS}/", f"{CACHE}/")
        if any(entry.name and not entry.name.startswith(own) for entry in objects.listed("")):
            raise StoreError(f"{self._path} is a folder of other files; name another for the store")
        with suppress(Conflict):  # Another process was first by a hair.
            objects.put_if(STORE_FILE, self._document, None)

    def remove_if_empty(self) -> None:
        """Take a store away that holds no crawls; one that does is left as it is."""
        with suppress(OSError):
            held = (self.objects.listed(f"{folder}/") for folder in (CRAWLS, ANCHORS))
            if not any(held):
                for entry in self.objects.listed(f"{CACHE}/"):
                    self.objects.delete(entry.name)
                self.objects.delete(STORE_FILE)

    @contextmanager
    def _lock(self, label: str, *, patience: float = 0.0) -> Iterator[CrawlWriter]:
        del patience  # Who cleans up takes longer here; the message says what to do.
        name = f"{CRAWLS}/{label}/{LOCK_NAME}"
        with Lease(self.objects, name, label) as lease, SpillFolder(self._path) as spill:
            yield RemoteCrawlWriter(self, label, self._path / CRAWLS / label, lease, spill)

    def _find_leftovers(self) -> set[str]:
        """Return the crawls of which there is more than one at rest has, and not since just now."""
        found = [
            entry.name
            for entry in self.objects.listed(f"{CRAWLS}/")
            if entry.age >= lease_seconds()
        ]
        names_of: dict[str, list[str]] = defaultdict(list)
        for name in (*found, *self.objects.unfinished_uploads(f"{CRAWLS}/")):
            _, label, *rest = name.split("/", maxsplit=2)
            names_of[label] += rest
        return {
            label
            for label, names in names_of.items()
            if label and (LOCK_NAME in names or has_leftovers(names))
        }


class RemoteCrawlWriter(CrawlWriter):
    """Writes a crawl that is held by a lease."""

    def __init__(
        self, place: RemotePlace, label: str, folder: RemotePath, lease: Lease, spill: SpillFolder
    ) -> None:
        super().__init__(label, folder)
        self._place, self._objects, self._lease, self._spill = place, place.objects, lease, spill
        present = self._objects.head(self._at(MANIFEST_NAME))
        self._manifest_tag = None if present is None else present.tag

    @property
    def workplace(self) -> Path:
        """The folder on the disk that its files are made in."""
        return self._spill.open()

    def _show(self, manifest: Manifest) -> None:
        try:
            # Before hours of sending: another process may write the crawl now.
            self._lease.renew()
            for name in sorted(manifest.names):
                self._upload(name)
            self._put_manifest(manifest.to_bytes())
            for name in sorted(manifest.names):
                # Another process may have taken it for a leftover before it was named.
                if self._objects.head(self._at(name)) is None:
                    self._upload(name)
            # Another process that failed may have found the store empty, and taken it away.
            self._place.create()
        except BaseException as error:
            # What was sent in vain is deleted; if the storage is out of reach, by the next writer.
            if not isinstance(error, OSError):
                with suppress(OSError, StoreError):
                    self._lease.renew()
                    self.clean()
            raise

    def _hide(self) -> None:
        self._lease.renew()
        if self._manifest_tag is not None:
            try:
                self._objects.delete_if(self._at(MANIFEST_NAME), self._manifest_tag)
            except Conflict as error:
                raise StoreError(
                    f"crawl {self.label!r} was replaced by another process meanwhile; it is "
                    "not removed"
                ) from error

    def _look(self) -> tuple[dict[str, float], bytes | None]:
        found = self._objects.listed(self._at(""))
        for name in self._objects.unfinished_uploads(self._at("")):
            self._objects.abort_uploads(name)
        manifest = self._objects.read(self._at(MANIFEST_NAME))
        ages = {entry.name.removeprefix(self._at("")): entry.age for entry in found}
        return ages, None if manifest is None else manifest.content

    def _delete(self, name: str) -> None:
        self._objects.delete(self._at(name))

    def _put_manifest(self, content: bytes) -> None:
        """Make the crawl visible, all at once."""
        name, tag = self._at(MANIFEST_NAME), self._manifest_tag
        for _ in range(_MAX_ATTEMPTS):
            # Raises if another process writes the crawl now.
            self._lease.renew()
            try:
                self._objects.put_if(name, content, tag)
            except Conflict:
                # One that wrote before had not yet noticed that its claim was over.
                present = self._objects.head(name)
                tag = None if present is None else present.tag
            else:
                return
        raise StoreError(
            f"crawl {self.label!r} is changed by other processes again and again; nothing was "
            "stored. Run the command again when they have finished"
        )

    def _upload(self, name: str) -> None:
        self._objects.upload(self._at(name), self.workplace / name)

    def _at(self, name: str) -> str:
        return f"{CRAWLS}/{self.label}/{name}"
