"""Write the files of one crawl into a folder on the disk, and list them in a manifest."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import partial_file, sync_folder, write_durably
from crawlgauge.store.manifest import Manifest, StoredFile
from crawlgauge.store.set_file import read_description, write_set

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["KeysOfSets", "write_files"]

KeysOfSets = Sequence[tuple[CrawlSet, Iterable[NDArray[np.uint64]]]]
"""Description and keys of each set, as for `write_set`; that of the URLs first."""


def write_files(
    folder: Path, label: str, sets: KeysOfSets, attributes: "Attributes"
) -> tuple[Manifest, list[CrawlSet]]:
    """Write the sets of all levels and the attributes of a crawl.

    Parameters
    ----------
    folder
        Where; it must exist.
    label
        The crawl's.
    sets
        Its sets.
    attributes
        Of its smallest keys.

    Returns
    -------
    Manifest
        Which files there are now; it is not written yet.
    list of CrawlSet
        The sets as written.
    """
    from crawlgauge.store.attribute_file import write_attributes

    stored = {
        description.level: _write(
            folder,
            f"{description.level}.parquet",
            partial(write_set, ranges=ranges, description=description),
        )
        for description, ranges in sets
    }
    written = [read_description(folder / item.file) for item in stored.values()]
    stored_attributes = _write(
        folder,
        "attributes.arrow",
        lambda file: write_attributes(file, attributes, set_checksum=written[0].checksum),
    )
    return Manifest(label=label, sets=stored, attributes=stored_attributes), written


def _write(folder: Path, name: str, write: Callable[[BinaryIO], object]) -> StoredFile:
    with partial_file(folder, name) as partial:
        with write_durably(partial) as file:
            write(file)
        with partial.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        # The name holds the file's digest: a reader never finds other content under one name.
        path = folder / f"{Path(name).stem}-{digest[:16]}{Path(name).suffix}"
        partial.replace(path)
    sync_folder(folder)
    return StoredFile(file=path.name, checksum=f"sha256:{digest}")
