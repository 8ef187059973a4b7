"""Write the files of one crawl so that there is always the old crawl or the new one, whole."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import StoreError
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import explain_os_error, partial_file, sync_folder, write_durably
from crawlgauge.store.locking import LOCK_NAME
from crawlgauge.store.manifest import MANIFEST_NAME, Manifest, StoredFile, read_manifest
from crawlgauge.store.set_file import read_description, write_set

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["CrawlWriter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlWriter:
    """Writes one crawl whose lock is held; see `Store.writing`."""

    label: str
    folder: Path

    def publish(
        self,
        ranges: Iterable[NDArray[np.uint64]],
        description: CrawlSet,
        attributes: "Attributes",
    ) -> CrawlSet:
        """Write a set and make it the crawl's, in place of what was there before.

        Parameters
        ----------
        ranges, description
            As for `write_set`.
        attributes
            Of its smallest keys.

        Returns
        -------
        CrawlSet
            As it stands in the store now.
        """
        from crawlgauge.store.attribute_file import write_attributes

        level = description.level
        with explain_os_error("write", self.folder):
            stored_set = self._write(level, lambda file: write_set(file, ranges, description))
            written = read_description(self.folder / stored_set.file)
            stored_attributes = self._write(
                "attributes",
                lambda file: write_attributes(file, attributes, set_checksum=written.checksum),
            )
            manifest = Manifest(
                label=self.label, sets={level: stored_set}, attributes=stored_attributes
            )
            manifest.write(self.folder)
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

    def _write(self, name: str, write: Callable[[BinaryIO], object]) -> StoredFile:
        with partial_file(self.folder, f"{name}.parquet") as partial:
            with write_durably(partial) as file:
                write(file)
            with partial.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            # The name holds the file's digest: a reader never finds other content under one name.
            path = self.folder / f"{name}-{digest[:16]}.parquet"
            partial.replace(path)
        sync_folder(self.folder)
        return StoredFile(file=path.name, checksum=f"sha256:{digest}")
