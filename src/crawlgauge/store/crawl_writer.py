"""Write the files of one crawl so that there is always the old crawl or the new one, whole."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
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
        sets: Sequence[tuple[CrawlSet, Iterable[NDArray[np.uint64]]]],
        attributes: "Attributes",
    ) -> list[CrawlSet]:
        """Write the sets of all levels and make them the crawl's, in place of what was there.

        All of them are the crawl's at the same moment, when the manifest names them.

        Parameters
        ----------
        sets
            Description and keys of each, as for `write_set`; that of the URLs first.
        attributes
            Of its smallest keys.

        Returns
        -------
        list of CrawlSet
            As they stand in the store now.
        """
        from crawlgauge.store.attribute_file import write_attributes

        with explain_os_error("write", self.folder):
            stored = {
                description.level: self._write(
                    description.level,
                    partial(write_set, ranges=ranges, description=description),
                )
                for description, ranges in sets
            }
            written = [read_description(self.folder / item.file) for item in stored.values()]
            stored_attributes = self._write(
                "attributes",
                lambda file: write_attributes(file, attributes, set_checksum=written[0].checksum),
            )
            manifest = Manifest(label=self.label, sets=stored, attributes=stored_attributes)
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
