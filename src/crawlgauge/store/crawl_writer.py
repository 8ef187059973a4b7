"""Write one crawl so that there is always the old crawl or the new one, whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crawlgauge.errors import StoreError
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.crawl_files import KeysOfSets, write_files
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import explain_os_error, replace_file, sync_folder
from crawlgauge.store.locking import LOCK_NAME
from crawlgauge.store.manifest import MANIFEST_NAME, read_manifest

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["CrawlWriter", "LocalCrawlWriter"]


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

    def publish(self, sets: KeysOfSets, attributes: "Attributes") -> list[CrawlSet]:
        """Write the sets of all levels and make them the crawl's, in place of what was there.

        All of them are the crawl's at the same moment, when the manifest names them.

        Parameters
        ----------
        sets
            Of all levels.
        attributes
            Of its smallest keys.

        Returns
        -------
        list of CrawlSet
            As they stand in the store now.
        """

    def remove(self) -> None:
        """Take the crawl away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCrawlWriter:
    """Writes a crawl into a folder whose lock is held; see `CrawlWriter`."""

    label: str
    folder: Path

    @property
    def workplace(self) -> Path:
        """The folder that its files are made in."""
        return self.folder

    def publish(self, sets: KeysOfSets, attributes: "Attributes") -> list[CrawlSet]:
        """Write the sets of all levels and make them the crawl's, in place of what was there."""
        with explain_os_error("write", self.folder):
            manifest, written = write_files(self.folder, self.label, sets, attributes)
            replace_file(self.folder / MANIFEST_NAME, manifest.to_bytes())
            self.clean()
        return written

    def remove(self) -> None:
        """Take the crawl away."""
        (self.folder / MANIFEST_NAME).unlink()
        sync_folder(self.folder)
        self.clean()

    def clean(self) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets."""
        wanted = {LOCK_NAME, MANIFEST_NAME}
        if (self.folder / MANIFEST_NAME).exists():
            try:
                wanted |= read_manifest(self.folder, self.label).names
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for entry in self.folder.iterdir():
            if entry.name not in wanted:
                entry.unlink()
