"""The store as a whole: which crawls it holds, and how one is added, replaced or removed.

::

    crawlgauge.store/
      store.json                        format and key rule
      crawls/2021-12/
        manifest.json                   names the files that count; the crawl is there if this is
        url-3f9a0c12.parquet            its set of URL keys
        content-7be21d40.parquet        that of contents, where it was asked for; text likewise
        attributes-91d2e0ab.arrow       hosts, media types and statuses of its smallest keys
        lock                            held by the process that writes here
      cache/                            overlaps that were counted; may be deleted at any time
      spill/                            of running processes that need more than their memory

On object storage it is the same, but that the lock is an object which a process deletes when it has
finished, and that processes spill into a temporary folder of their own machine.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crawlgauge.crawl import check_label
from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.keys.levels import BY_URL, LEVELS, check_level
from crawlgauge.keys.rules import RULES, KeyRule
from crawlgauge.remote.remote_path import AnyPath, RemotePath
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.crawl_writer import CrawlWriter, LocalCrawlWriter
from crawlgauge.store.creation import (
    CACHE,
    CRAWLS,
    STORE_FILE,
    STORE_SCHEMA,
    create_store,
    remove_if_empty,
)
from crawlgauge.store.documents import read_document
from crawlgauge.store.files import PARTIAL_PREFIX, explain_os_error, remove_if_abandoned
from crawlgauge.store.locking import LOCK_NAME, hold_lock
from crawlgauge.store.manifest import MANIFEST_NAME, Manifest, has_leftovers, read_manifest
from crawlgauge.store.set_file import read_description
from crawlgauge.store.spilling import remove_abandoned

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["Store", "open_store", "store_for_adding", "stored_rule"]

_REQUESTS_AT_ONCE = 16
_PATIENCE = 1.0
"""Seconds: a process that cleans up after another has its lock for less."""

T = TypeVar("T")


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

    path: AnyPath
    key_rule: str

    def labels(self) -> list[str]:
        """Return the labels of all crawls, sorted."""
        with explain_os_error("read", self.path):
            found = (self.path / CRAWLS).glob(f"[!.]*/{MANIFEST_NAME}")
            labels = sorted(manifest.parent.name for manifest in found)
            if isinstance(self.path, RemotePath):
                # A listing may be late, and show crawls that were removed.
                are_held = self._map(self.holds, labels)
                labels = [label for label, is_held in zip(labels, are_held, strict=True) if is_held]
        return labels

    def holds(self, label: str) -> bool:
        """Tell whether there is a crawl of that label."""
        path = self.path / CRAWLS / check_label(label) / MANIFEST_NAME
        with explain_os_error("read", path):
            return path.is_file()

    def crawl_sets(self, level: str = BY_URL) -> list[CrawlSet]:
        """Return the sets of all crawls, in order of date, then label.

        Raises
        ------
        StoreError
            If a crawl has no set of that level, or its files are damaged.
        """
        found = self._map(lambda label: self.crawl_set(label, level), self.labels())
        return sorted(found, key=lambda item: (item.crawl.date, item.crawl.label))

    def other_levels(self, label: str) -> tuple[CrawlSet, ...]:
        """Return the sets of a crawl but that of its URLs."""
        levels = [level for level in self.manifest(label).sets if level != BY_URL]
        return tuple(self.crawl_set(label, level) for level in levels)

    def crawl_set(self, label: str, level: str = BY_URL) -> CrawlSet:
        """Return the set of one crawl.

        Raises
        ------
        StoreError
            If there is no such crawl or its files are damaged.
        """
        return read_description(self.set_path(label, level))

    def set_path(self, label: str, level: str = BY_URL) -> AnyPath:
        """Return the file that holds a crawl's set.

        Raises
        ------
        StoreError
            If there is no such crawl, or it has no set of that level.
        """
        sets = self.manifest(label).sets
        if check_level(level) not in sets:
            wanted = ",".join(known for known in LEVELS if known in {*sets, level})
            raise StoreError(
                f"crawl {label!r} has no set of level {level}, only of {', '.join(sets)}; add it "
                f"again from its files: crawlgauge add {label} FILES... --replace --levels {wanted}"
            )
        return self.folder(label) / sets[level].file

    def attributes(self, crawl_set: CrawlSet) -> "Attributes":
        """Return host, media type and status of the smallest keys of a crawl.

        Raises
        ------
        StoreError
            If they are damaged, or of another state of the crawl.
        """
        # Loads compiled code, which those who only list crawls need not wait for.
        from crawlgauge.store.attribute_file import read_attributes

        label = crawl_set.crawl.label
        stored = self.manifest(label).attributes
        path = self.folder(label) / stored.file
        return read_attributes(path, crawl_set, checksum=stored.checksum)

    def cache_folder(self) -> AnyPath:
        """Return the folder for what can be computed again; made if it is missing."""
        folder = self.path / CACHE
        if isinstance(folder, Path):
            folder.mkdir(exist_ok=True)
        return folder

    @contextmanager
    def writing(self, label: str) -> Iterator[CrawlWriter]:
        """Hold the crawl of that label for writing; other processes are kept out meanwhile.

        Raises
        ------
        StoreBusy
            If another process is writing it.
        """
        folder = self.folder(label)
        for other in self.labels():
            if other != label and other.casefold() == label.casefold():
                raise StoreError(
                    f"the store holds {other!r}, which differs from {label!r} in letter case only; "
                    "choose another label, or remove the other crawl"
                )
        with ExitStack() as stack:
            with explain_os_error("write", folder):
                writer = stack.enter_context(self._hold(label))
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

    def manifest(self, label: str) -> Manifest:
        """Return the list of a crawl's files.

        Raises
        ------
        StoreError
            If there is no such crawl, or its manifest is damaged.
        """
        if not self.holds(label):
            raise self._unknown(label)
        return read_manifest(self.folder(label), label)

    def folder(self, label: str) -> AnyPath:
        """Return the folder of a crawl, whether it is there or not."""
        return self.path / CRAWLS / check_label(label)

    def _hold(self, label: str) -> AbstractContextManager[CrawlWriter]:
        if isinstance(self.path, RemotePath):
            # Stores on the disk need nothing of it.
            from crawlgauge.store.remote_store import hold_remote

            return hold_remote(self.path, label, self.key_rule)
        return _hold_local(self.path, label, self.key_rule)

    def _map(self, action: Callable[[str], T], labels: list[str]) -> list[T]:
        """Do something for each crawl, for several at once where each takes its time to answer."""
        if isinstance(self.path, RemotePath) and len(labels) > 1:
            with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
                return list(pool.map(action, labels))
        return [action(label) for label in labels]

    def _unknown(self, label: str) -> StoreError:
        known = ", ".join(self.labels()) or "none"
        return StoreError(f"the store {self.path} holds no crawl {label!r}; it holds: {known}")


@contextmanager
def _hold_local(path: Path, label: str, key_rule: str) -> Iterator[CrawlWriter]:
    folder = path / CRAWLS / label
    with hold_lock(folder, patience=_PATIENCE):
        # Another process that failed may have taken the empty store away meanwhile.
        create_store(path, key_rule)
        writer = LocalCrawlWriter(label=label, folder=folder)
        writer.clean()
        _clean_up_after_killed(path, label)
        yield writer


def _clean_up_after_killed(path: Path, label: str) -> None:
    """Delete what processes left behind that are no more; those that live keep theirs."""
    remove_abandoned(path)
    for leftover in (path / CACHE).glob(f"{PARTIAL_PREFIX}*"):
        remove_if_abandoned(leftover)
    # Each folder that a process has written in holds a lock: any other is not the store's to clean.
    folders = {lock.parent for lock in (path / CRAWLS).glob(f"[!.]*/{LOCK_NAME}")}
    for folder in folders - {path / CRAWLS / label}:
        if has_leftovers([entry.name for entry in folder.glob("*")]):
            # A crawl that is being written cleans up after itself.
            with suppress(StoreBusy), hold_lock(folder):
                LocalCrawlWriter(label=folder.name, folder=folder).clean()


def open_store(path: AnyPath, *, create_with: KeyRule | None = None) -> Store:
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
        if not (path / STORE_FILE).is_file():
            if create_with is None:
                raise StoreError(
                    f"there is no store at {path}; make one with crawlgauge add, or name another "
                    "with --store"
                )
            create_store(path, str(create_with))
        store = _read_store(path)
    if create_with is not None and store.key_rule != str(create_with):
        raise StoreError(
            f"the store {path} identifies URLs by {store.key_rule}, not by {create_with}; keys of "
            "two rules cannot be compared. Use the same --identity, or another --store"
        )
    return store


def stored_rule(path: AnyPath) -> KeyRule | None:
    """Return the rule of the store at `path`, or None if there is no store yet.

    Raises
    ------
    StoreError
        If the store cannot be read, or its rule is not one of this version's.
    """
    with explain_os_error("open the store", path):
        if not (path / STORE_FILE).is_file():
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
def store_for_adding(path: AnyPath, rule: KeyRule) -> Iterator[Store]:
    """Open a store, or make it; if nothing comes to be in it, take it away again."""
    with explain_os_error("open the store", path):
        is_new = not (path / STORE_FILE).is_file()
    store = open_store(path, create_with=rule)
    try:
        yield store
    finally:
        # On object storage a listing may be late: only one that was made just now is looked at.
        if is_new or isinstance(path, Path):
            remove_if_empty(store.path)


def _read_store(path: AnyPath) -> Store:
    document = read_document(path / STORE_FILE, STORE_SCHEMA)
    key_rule = document.get("key_rule")
    if not isinstance(key_rule, str):
        raise StoreError(f"{path / STORE_FILE} is damaged: it names no key rule")
    return Store(path=path, key_rule=key_rule)
