"""The store as a whole: which crawls it holds, and how one is added, replaced or removed.

::

    crawlgauge.store/
      store.json                  format and key rule
      crawls/2021-12/
        manifest.json             names the files that count; the crawl is there if this is
        url-3f9a0c12.parquet      its set of keys
        lock                      held by the process that writes here
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import check_label
from crawlgauge.errors import StoreError
from crawlgauge.keys.rules import RULES, KeyRule
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.files import (
    PARTIAL_PREFIX,
    create_file,
    explain_os_error,
    partial_file,
    replace_file,
    sync_folder,
    write_durably,
)
from crawlgauge.store.locking import LOCK_NAME, hold_lock
from crawlgauge.store.set_file import read_description, write_set

__all__ = ["STORE_SCHEMA", "CrawlWriter", "Store", "open_store", "store_for_adding", "stored_rule"]

STORE_SCHEMA = "crawlgauge.store/1"
MANIFEST_SCHEMA = "crawlgauge.crawl/1"
_STORE_FILE = "store.json"
_CRAWLS = "crawls"
_MANIFEST = "manifest.json"
_ADD_AGAIN = "add the crawl again from its files with --replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A folder of crawls whose URLs were all identified by one rule.

    Parameters
    ----------
    path
        The folder.
    key_rule
        Name and version of the rule.
    """

    path: Path
    key_rule: str

    def labels(self) -> list[str]:
        """Return the labels of all crawls, sorted."""
        with explain_os_error("read", self.path):
            return sorted(
                manifest.parent.name
                for manifest in (self.path / _CRAWLS).glob(f"[!.]*/{_MANIFEST}")
            )

    def holds(self, label: str) -> bool:
        """Tell whether there is a crawl of that label."""
        return (self.path / _CRAWLS / check_label(label) / _MANIFEST).exists()

    def crawl_sets(self) -> list[CrawlSet]:
        """Return the sets of all crawls, in order of date, then label."""
        found = [self.crawl_set(label) for label in self.labels()]
        return sorted(found, key=lambda item: (item.crawl.date, item.crawl.label))

    def crawl_set(self, label: str, level: str = "url") -> CrawlSet:
        """Return the set of one crawl.

        Raises
        ------
        StoreError
            If there is no such crawl or its files are damaged.
        """
        return read_description(self.set_path(label, level))

    def set_path(self, label: str, level: str = "url") -> Path:
        """Return the file that holds a crawl's set."""
        return self._folder(label) / self.manifest_entry(label, level)["file"]

    @contextmanager
    def writing(self, label: str) -> Iterator["CrawlWriter"]:
        """Hold the crawl of that label for writing; other processes are kept out meanwhile.

        Raises
        ------
        StoreBusy
            If another process is writing it.
        """
        folder = self._folder(label)
        for other in self.labels():
            if other != label and other.casefold() == label.casefold():
                raise StoreError(
                    f"the store holds {other!r}, which differs from {label!r} in letter case only; "
                    "choose another label, or remove the other crawl"
                )
        writer = CrawlWriter(store=self, label=label, folder=folder)
        with ExitStack() as stack:
            with explain_os_error("write", folder):
                stack.enter_context(hold_lock(folder))
                # Another process that failed may have taken the empty store away meanwhile.
                _create(self.path, self.key_rule)
                writer.clean()
            yield writer

    def remove(self, label: str) -> None:
        """Take a crawl out of the store.

        Raises
        ------
        StoreError
            If there is no such crawl.
        """
        if not self.holds(label):
            raise self._unknown(label)
        with self.writing(label) as writer:
            writer.remove()

    def manifest_entry(self, label: str, level: str = "url") -> dict[str, str]:
        """Return name and checksum of the file that holds a crawl's set."""
        path = self._folder(label) / _MANIFEST
        if not path.exists():
            raise self._unknown(label)
        manifest = _read_document(path, MANIFEST_SCHEMA)
        if manifest.get("label") != label:
            raise StoreError(
                f"{path} is of the crawl {manifest.get('label')!r}, not of {label!r}; give its "
                f"folder the name back, or {_ADD_AGAIN}"
            )
        sets = manifest.get("sets")
        entry = sets.get(level) if isinstance(sets, dict) else None
        if not isinstance(entry, dict) or not {"file", "checksum"} <= entry.keys():
            raise StoreError(f"{path} names no set of level {level!r}; {_ADD_AGAIN}")
        return entry

    def _folder(self, label: str) -> Path:
        return self.path / _CRAWLS / check_label(label)

    def _unknown(self, label: str) -> StoreError:
        known = ", ".join(self.labels()) or "none"
        return StoreError(f"the store {self.path} holds no crawl {label!r}; it holds: {known}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlWriter:
    """Writes one crawl whose lock is held; see `Store.writing`."""

    store: Store
    label: str
    folder: Path

    def publish(self, keys: NDArray[np.uint64], description: CrawlSet) -> CrawlSet:
        """Write a set and make it the crawl's, in place of what was there before.

        Parameters
        ----------
        keys
            Sorted and unique.
        description
            What is known of the set.

        Returns
        -------
        CrawlSet
            As it stands in the store now.
        """
        with explain_os_error("write", self.folder):
            path, checksum = self._write_set(keys, description)
            manifest = {
                "schema": MANIFEST_SCHEMA,
                "label": self.label,
                "sets": {description.level: {"file": path.name, "checksum": checksum}},
            }
            replace_file(self.folder / _MANIFEST, json.dumps(manifest, indent=1).encode())
            self.clean()
        return read_description(path)

    def remove(self) -> None:
        """Take the crawl away."""
        (self.folder / _MANIFEST).unlink()
        sync_folder(self.folder)
        self.clean()

    def clean(self) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets."""
        wanted = {LOCK_NAME, _MANIFEST}
        if self.store.holds(self.label):
            try:
                wanted.add(self.store.manifest_entry(self.label)["file"])
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for entry in self.folder.iterdir():
            if entry.name not in wanted:
                entry.unlink()

    def _write_set(self, keys: NDArray[np.uint64], description: CrawlSet) -> tuple[Path, str]:
        with partial_file(self.folder, f"{description.level}.parquet") as partial:
            with write_durably(partial) as file:
                write_set(file, keys, description)
            with partial.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            # The name holds the file's digest: a reader never finds other content under one name.
            path = self.folder / f"{description.level}-{digest[:16]}.parquet"
            partial.replace(path)
        sync_folder(self.folder)
        return path, f"sha256:{digest}"


def open_store(path: Path, *, create_with: KeyRule | None = None) -> Store:
    """Open a store, or make it.

    Parameters
    ----------
    path
        The store's folder.
    create_with
        If given, the rule that the store must have; a missing store is made with it.

    Raises
    ------
    StoreError
        If there is no store, or it has another rule or another format.
    """
    with explain_os_error("open the store", path):
        if not (path / _STORE_FILE).exists():
            if create_with is None:
                raise StoreError(
                    f"there is no store at {path}; make one with crawlgauge add, or name another "
                    "with --store"
                )
            _create(path, str(create_with))
        store = _read_store(path)
    if create_with is not None and store.key_rule != str(create_with):
        raise StoreError(
            f"the store {path} identifies URLs by {store.key_rule}, not by {create_with}; keys of "
            "two rules cannot be compared. Use the same --identity, or another --store"
        )
    return store


def stored_rule(path: Path) -> KeyRule | None:
    """Return the rule of the store at `path`, or None if there is no store yet.

    Raises
    ------
    StoreError
        If the store cannot be read, or its rule is not one of this version's.
    """
    with explain_os_error("open the store", path):
        if not (path / _STORE_FILE).exists():
            return None
    key_rule = open_store(path).key_rule
    for rule in RULES.values():
        if str(rule) == key_rule:
            return rule
    raise StoreError(
        f"the store {path} identifies URLs by {key_rule}, which this version does not know; use "
        "the version that wrote it, or another --store"
    )


@contextmanager
def store_for_adding(path: Path, rule: KeyRule) -> Iterator[Store]:
    """Open a store, or make it; if nothing comes to be in it, take it away again."""
    store = open_store(path, create_with=rule)
    try:
        yield store
    finally:
        _remove_if_empty(store.path)


def _remove_if_empty(path: Path) -> None:
    # A folder that is not empty cannot be removed, also when another process has just begun.
    with suppress(OSError):
        (path / _CRAWLS).rmdir()
        (path / _STORE_FILE).unlink(missing_ok=True)
        path.rmdir()


def _create(path: Path, key_rule: str) -> None:
    """Make a store where there is none; one that is there is left as it is."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; name a folder for the store")
    leftovers = list(path.glob(f"{PARTIAL_PREFIX}*"))
    if not (path / _STORE_FILE).exists():
        own = {_CRAWLS, *(leftover.name for leftover in leftovers)}
        if path.is_dir() and any(entry.name not in own for entry in path.iterdir()):
            raise StoreError(f"{path} is a folder of other files; name another for the store")
        (path / _CRAWLS).mkdir(parents=True, exist_ok=True)
        document = {"schema": STORE_SCHEMA, "key_rule": key_rule}
        try:
            create_file(path / _STORE_FILE, json.dumps(document).encode())
        except OSError:
            _remove_if_empty(path)
            raise
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)


def _read_store(path: Path) -> Store:
    document = _read_document(path / _STORE_FILE, STORE_SCHEMA)
    key_rule = document.get("key_rule")
    if not isinstance(key_rule, str):
        raise StoreError(f"{path / _STORE_FILE} is damaged: it names no key rule")
    return Store(path=path, key_rule=key_rule)


def _read_document(path: Path, schema: str) -> dict[str, Any]:
    """Read a JSON object of a known format."""
    with explain_os_error("read", path):
        text = path.read_bytes()
    try:
        document = json.loads(text)
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}); {_ADD_AGAIN}") from error
    if not isinstance(document, dict):
        raise StoreError(f"{path} is damaged; {_ADD_AGAIN}")
    _check_schema(document, schema, path)
    return document


def _check_schema(document: dict[str, Any], expected: str, path: Path) -> None:
    found = document.get("schema")
    if found != expected:
        raise StoreError(
            f"{path} is of format {found!r}; this version of crawlgauge reads {expected!r}. "
            "Use the version that wrote it, or a newer one"
        )
