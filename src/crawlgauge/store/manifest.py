"""The manifest of a crawl: which files it consists of. A crawl is there if its manifest is."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from crawlgauge.errors import StoreError
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.documents import ADD_AGAIN, read_document
from crawlgauge.store.files import PARTIAL_PREFIX

__all__ = [
    "MANIFEST_NAME",
    "MANIFEST_SCHEMA",
    "Manifest",
    "StoredFile",
    "has_leftovers",
    "read_manifest",
]

MANIFEST_NAME = "manifest.json"
MANIFEST_SCHEMA = "crawlgauge.crawl/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of the crawl's folder.

    Parameters
    ----------
    file
        Its name.
    checksum
        Of its bytes.
    """

    file: str
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The files of one crawl.

    Parameters
    ----------
    label
        The crawl's.
    sets
        Its sets of keys, by level.
    attributes
        Hosts, media types and statuses of its smallest keys.
    """

    label: str
    sets: Mapping[str, StoredFile]
    attributes: StoredFile

    @property
    def names(self) -> set[str]:
        """Names of all files."""
        return {stored.file for stored in (*self.sets.values(), self.attributes)}

    def to_bytes(self) -> bytes:
        """Return the manifest as it stands in its file."""
        document = {
            "schema": MANIFEST_SCHEMA,
            "label": self.label,
            "sets": {level: asdict(stored) for level, stored in self.sets.items()},
            "attributes": asdict(self.attributes),
        }
        return json.dumps(document, indent=1).encode()


def read_manifest(folder: AnyPath, label: str) -> Manifest:
    """Read the manifest of a crawl.

    Raises
    ------
    StoreError
        If it cannot be read, is damaged, or is of another crawl.
    """
    path = folder / MANIFEST_NAME
    document = read_document(path, MANIFEST_SCHEMA)
    if document.get("label") != label:
        raise StoreError(
            f"{path} is of the crawl {document.get('label')!r}, not of {label!r}; give its "
            f"folder the name back, or {ADD_AGAIN}"
        )
    sets = document.get("sets")
    if not isinstance(sets, dict) or "url" not in sets:
        raise StoreError(f"{path} is damaged: it names no set of URLs; {ADD_AGAIN}")
    return Manifest(
        label=label,
        sets={level: _read_file(entry, path) for level, entry in sets.items()},
        attributes=_read_file(document.get("attributes"), path),
    )


def _read_file(entry: Any, path: AnyPath) -> StoredFile:  # noqa: ANN401 - JSON
    if not isinstance(entry, dict) or not {"file", "checksum"} <= entry.keys():
        raise StoreError(f"{path} is damaged: it does not name its files; {ADD_AGAIN}")
    return StoredFile(file=entry["file"], checksum=entry["checksum"])


def has_leftovers(names: Collection[str]) -> bool:
    """Tell from the names in a crawl's folder whether a killed process has left some of them.

    It does not need to read the manifest: a crawl has one file of each kind.
    """
    kinds = [kind for kind, dash, _ in (name.rpartition("-") for name in names) if dash]
    is_partial = any(name.startswith(PARTIAL_PREFIX) for name in names)
    return MANIFEST_NAME not in names or is_partial or len(kinds) > len(set(kinds))
