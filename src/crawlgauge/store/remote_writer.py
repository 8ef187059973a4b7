"""Write one crawl to object storage, which has no rename: it is there when its manifest is.

Files are made on the disk and sent to their final names, which hold their digests. Then one
request on a condition puts the manifest: in place of the one that was there when writing began, or
where there was none. Whoever reads meets the old crawl or the new one, whole.

A process may believe that it still holds its claim when another has taken it over. Its request
fails as soon as the other has put a manifest. Before that it succeeds, and all files are there:
only what no manifest names is deleted, and who has published sends again what is missing.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from crawlgauge.errors import StoreError
from crawlgauge.remote.lease import Lease
from crawlgauge.remote.objects import Conflict, Objects
from crawlgauge.remote.remote_path import RemotePath
from crawlgauge.store.crawl_files import KeysOfSets, write_files
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.creation import CRAWLS, create_store
from crawlgauge.store.files import explain_os_error
from crawlgauge.store.locking import LOCK_NAME
from crawlgauge.store.manifest import MANIFEST_NAME, read_manifest
from crawlgauge.store.spilling import SpillFolder

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["RemoteCrawlWriter"]

_MAX_ATTEMPTS = 3
"""A process that has lost its claim may publish once more; two of them are hard to imagine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCrawlWriter:
    """Writes a crawl that is held by a lease; see `CrawlWriter`.

    Parameters
    ----------
    store, key_rule
        The store, and the rule for its keys.
    label
        The crawl's.
    objects
        Of the store.
    lease
        Keeps others from writing the crawl.
    manifest_tag
        Of the manifest that was there when the lease was had, None if there was none.
    spill
        Where files are made before they are sent.
    """

    store: RemotePath
    key_rule: str
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

    def publish(self, sets: KeysOfSets, attributes: "Attributes") -> list[CrawlSet]:
        """Write the sets of all levels and make them the crawl's, in place of what was there."""
        with explain_os_error("write", self.workplace):
            manifest, written = write_files(self.workplace, self.label, sets, attributes)
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
            create_store(self.store, self.key_rule)
            self.clean()
        for name in manifest.names:
            (self.workplace / name).unlink(missing_ok=True)
        return [replace(item, path=self.folder / item.path.name) for item in written]

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
            self.clean()

    def clean(self, *, min_age: float = 0.0) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets.

        Parameters
        ----------
        min_age
            Only what is so many seconds old: what a process sent that has just been killed may
            still be on its way.
        """
        found = self.objects.listed(self._at(""))
        # Read after the listing: what is named later than it was listed is not deleted.
        wanted = {LOCK_NAME, MANIFEST_NAME}
        if self.objects.head(self._at(MANIFEST_NAME)) is not None:
            try:
                wanted |= read_manifest(self.folder, self.label).names
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for name in self.objects.unfinished_uploads(self._at("")):
            self.objects.abort_uploads(name)
        for entry in found:
            if entry.name.removeprefix(self._at("")) not in wanted and entry.age >= min_age:
                self.objects.delete(entry.name)

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
