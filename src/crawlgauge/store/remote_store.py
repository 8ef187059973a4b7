"""A store on object storage, which has no rename: a crawl is there when its manifest is."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources.remote import RemotePath
from crawlgauge.store.crawl_set import MANIFEST_NAME, Manifest, has_leftovers, is_own_file
from crawlgauge.store.crawl_writer import CACHE, CRAWLS, STORE_FILE, UnwrittenSet, write_crawl
from crawlgauge.store.files import LOCK_NAME, explain_os_error
from crawlgauge.store.objects import Conflict, Lease, Objects, hold_lease, lease_seconds
from crawlgauge.store.spilling import SpillFolder, remove_abandoned

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["create_remote", "hold_remote", "remove_remote_if_empty"]

_SHARE_TO_ARRIVE = 0.5
"""Of the time that a claim holds: so old must be what a killed process left. Its last request may
still be on its way, and a claim that is over was renewed longer ago."""

_MAX_ATTEMPTS = 3
"""A process that has lost its claim may publish once more; two of them are hard to imagine."""

_log = logging.getLogger(__name__)


def create_remote(path: RemotePath, document: bytes) -> None:
    """Make a store where there is none; one that is there is left as it is."""
    objects = Objects(path)
    if objects.head(STORE_FILE) is not None:
        return
    own = (STORE_FILE, f"{CRAWLS}/", f"{CACHE}/")
    if any(entry.name and not entry.name.startswith(own) for entry in objects.listed("")):
        raise StoreError(f"{path} is a folder of other files; name another for the store")
    with suppress(Conflict):  # Another process was first by a hair.
        objects.put_new(STORE_FILE, document)


def remove_remote_if_empty(path: RemotePath) -> None:
    """Take a store away that holds no crawls."""
    with suppress(OSError):
        objects = Objects(path)
        if not objects.listed(f"{CRAWLS}/"):
            for entry in objects.listed(f"{CACHE}/"):
                objects.delete(entry.name)
            objects.delete(STORE_FILE)


@contextmanager
def hold_remote(store: RemotePath, label: str, document: bytes) -> "Iterator[RemoteCrawlWriter]":
    """Hold a crawl for writing, and clean up what killed processes have left in the store."""
    remove_abandoned(store)
    objects = Objects(store)
    with _hold(store, objects, label, document) as writer:
        # Another process that failed may have taken the empty store away meanwhile.
        create_remote(store, document)
        writer.clean(min_age=lease_seconds() * _SHARE_TO_ARRIVE)
        for other in _find_leftovers(objects) - {label}:
            # A crawl that is being written cleans up after itself.
            with suppress(StoreBusy), _hold(store, objects, other, document) as other_writer:
                other_writer.clean(min_age=lease_seconds() * _SHARE_TO_ARRIVE)
        yield writer


@contextmanager
def _hold(
    store: RemotePath, objects: Objects, label: str, document: bytes
) -> "Iterator[RemoteCrawlWriter]":
    folder = f"{CRAWLS}/{label}"
    with (
        hold_lease(objects, f"{folder}/{LOCK_NAME}", label=label) as lease,
        SpillFolder(store) as spill,
    ):
        present = objects.head(f"{folder}/{MANIFEST_NAME}")
        yield RemoteCrawlWriter(
            store=store,
            document=document,
            label=label,
            objects=objects,
            lease=lease,
            manifest_tag=None if present is None else present.tag,
            spill=spill,
        )


def _find_leftovers(objects: Objects) -> set[str]:
    """Return the crawls of which there is more than a crawl at rest has, and not since just now."""
    found = [entry.name for entry in objects.listed(f"{CRAWLS}/") if entry.age >= lease_seconds()]
    names_of: dict[str, list[str]] = defaultdict(list)
    for name in (*found, *objects.unfinished_uploads(f"{CRAWLS}/")):
        _, label, *rest = name.split("/", maxsplit=2)
        names_of[label] += rest
    return {
        label
        for label, names in names_of.items()
        if label and (LOCK_NAME in names or has_leftovers(names))
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCrawlWriter:
    """Writes a crawl that is held by a lease; see `CrawlWriter`."""

    store: RemotePath
    document: bytes
    label: str
    objects: Objects
    lease: Lease
    manifest_tag: str | None
    spill: SpillFolder

    @property
    def folder(self) -> RemotePath:
        """Where the crawl is, or will be."""
        return self.store / CRAWLS / self.label

    @property
    def workplace(self) -> Path:
        """The folder on the disk that its files are made in."""
        return self.spill.open()

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        """Write the sets of all levels and make them the crawl's, in place of what was there."""
        with explain_os_error("write", self.workplace):
            manifest = write_crawl(self.workplace, self.label, sets, attributes)
        with explain_os_error("write", self.folder), self._cleaning_up():
            # Before hours of sending: another process may write the crawl now.
            self.lease.renew()
            for name in sorted(manifest.names):
                self._upload(name)
            self._put_manifest(manifest.to_bytes())
            for name in sorted(manifest.names):
                # Another process may have taken it for a leftover before it was named.
                if self.objects.head(self._at(name)) is None:
                    self._upload(name)
            # Another process that failed may have found the store empty, and taken it away.
            create_remote(self.store, self.document)
        self._try_to_clean()
        for name in manifest.names:
            (self.workplace / name).unlink(missing_ok=True)
        return Manifest.from_bytes(manifest.to_bytes(), self.folder, self.label)

    def remove(self) -> None:
        """Take the crawl away."""
        with explain_os_error("write", self.folder):
            self.lease.renew()
            if self.manifest_tag is not None:
                try:
                    self.objects.delete_if(self._at(MANIFEST_NAME), self.manifest_tag)
                except Conflict as error:
                    raise StoreError(
                        f"crawl {self.label!r} was replaced by another process meanwhile; it is "
                        "not removed"
                    ) from error
        self._try_to_clean()

    def clean(self, *, min_age: float = 0.0) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets."""
        found = self.objects.listed(self._at(""))
        # Read after the listing: what is named later than it was listed is not deleted.
        wanted: set[str] = set()
        manifest = self.objects.read(self._at(MANIFEST_NAME))
        if manifest is not None:
            try:
                wanted = Manifest.from_bytes(manifest.content, self.folder, self.label).names
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for name in self.objects.unfinished_uploads(self._at("")):
            self.objects.abort_uploads(name)
        for entry in found:
            name = entry.name.removeprefix(self._at(""))
            if is_own_file(name) and name not in wanted and entry.age >= min_age:
                self.objects.delete(entry.name)

    def _try_to_clean(self) -> None:
        try:
            self.clean()
        except OSError as error:
            # What was asked for is done; whoever writes next cleans up.
            _log.warning("leftovers stay in %s: %s", self.folder, error.strerror or error)

    @contextmanager
    def _cleaning_up(self) -> Iterator[None]:
        """Delete what was sent in vain, unless the storage is out of reach."""
        try:
            yield
        except OSError:
            raise  # Whoever writes to the store next deletes it.
        except BaseException:
            with suppress(OSError, StoreError):
                self.lease.renew()
                self.clean()
            raise

    def _put_manifest(self, content: bytes) -> None:
        """Make the crawl visible, all at once."""
        name, tag = self._at(MANIFEST_NAME), self.manifest_tag
        for _ in range(_MAX_ATTEMPTS):
            # Raises if another process writes the crawl now.
            self.lease.renew()
            try:
                if tag is None:
                    self.objects.put_new(name, content)
                else:
                    self.objects.put_if(name, content, tag)
            except Conflict:
                # One that wrote before had not yet noticed that its claim was over.
                present = self.objects.head(name)
                tag = None if present is None else present.tag
            else:
                return
        raise StoreError(
            f"crawl {self.label!r} is changed by other processes again and again; nothing was "
            "stored. Run the command again when they have finished"
        )

    def _upload(self, name: str) -> None:
        self.objects.upload(self._at(name), self.workplace / name)

    def _at(self, name: str) -> str:
        return f"{CRAWLS}/{self.label}/{name}"
