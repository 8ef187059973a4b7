"""The store as a whole: which crawls it holds, and how one is added, replaced or removed.

What is here needs no numpy: to list the crawls of a store takes no longer than to read their
manifests.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crawlgauge.crawl import check_label
from crawlgauge.errors import StoreError
from crawlgauge.keys.rules import BY_URL, LEVELS, RULES, KeyRule, check_level, rule_of
from crawlgauge.sources.remote import AnyPath, ObjectChanged, RemotePath, map_in_threads
from crawlgauge.store.crawl_set import MANIFEST_NAME, CrawlSet, Manifest
from crawlgauge.store.crawl_writer import CrawlWriter, LocalPlace, StorePlace
from crawlgauge.store.documents import ADD_AGAIN, NOT_KEPT, check_document, to_document
from crawlgauge.store.files import CACHE, CRAWLS, STORE_FILE, explain_os_error

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes

__all__ = ["Finding", "Store"]

STORE_SCHEMA = "crawlgauge.store/2"
_REQUESTS_AT_ONCE = 16
_MAX_CHANGES = 8

_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A folder of crawls whose URLs were all identified by one rule.

    Parameters
    ----------
    path
        Where it is.
    key_rule
        Name and version of the rule.
    """

    path: AnyPath
    key_rule: str

    @property
    def rule(self) -> KeyRule:
        """The rule by which its URLs are the same.

        Raises
        ------
        StoreError
            If this version does not know it.
        """
        for rule in RULES.values():
            if str(rule) == self.key_rule:
                return rule
        raise StoreError(
            f"the store {self.path} identifies URLs by {self.key_rule}, which this version does "
            "not know; use the version that wrote it, or another store"
        )

    def labels(self) -> list[str]:
        """Return the labels of all crawls, sorted."""
        folder = self.path / CRAWLS
        labels: list[str] = []
        with explain_os_error("read", folder):
            if isinstance(folder, RemotePath):
                found = folder.glob(f"[!.]*/{MANIFEST_NAME}")
                labels = sorted(manifest.parent.name for manifest in found)
            elif folder.exists():
                # Not by a glob, which passes over what may not be read.
                names = sorted(entry.name for entry in folder.iterdir())
                labels = [name for name in names if not name.startswith(".")]
            # A listing may be late, and show crawls that were removed.
            are_held = self._map(lambda label: _is_there(folder / label / MANIFEST_NAME), labels)
        return [label for label, is_held in zip(labels, are_held, strict=True) if is_held]

    def holds(self, label: str) -> bool:
        """Tell whether there is a crawl of that label."""
        return _is_there(self.folder(label) / MANIFEST_NAME)

    def manifest(self, label: str) -> Manifest:
        """Return all that is known of a crawl.

        Raises
        ------
        StoreError
            If there is no such crawl, or its manifest is damaged.
        """
        folder = self.folder(label)
        with explain_os_error("read", folder / MANIFEST_NAME):
            try:
                content = read_content(folder / MANIFEST_NAME)
            except (FileNotFoundError, NotADirectoryError):
                raise self._unknown(label) from None
        return Manifest.from_bytes(content, folder, label)

    def manifests(self) -> list[Manifest]:
        """Return all that is known of each crawl, in order of date, then label.

        Raises
        ------
        StoreError
            If one of them is damaged.
        """
        read = self._map(self._manifest_if_there, self.labels())
        found = [manifest for manifest in read if manifest is not None]
        return sorted(found, key=lambda item: (item.of_urls.crawl.date, item.label))

    def crawl_sets(self, level: str = BY_URL) -> list[CrawlSet]:
        """Return the sets of all crawls, in order of date, then label.

        Raises
        ------
        StoreError
            If one of them lacks the level, or is damaged.
        """
        return [_choose_level(manifest, level) for manifest in self.manifests()]

    def crawl_set(self, label: str, level: str = BY_URL) -> CrawlSet:
        """Return the set of one crawl."""
        return _choose_level(self.manifest(label), level)

    def attributes(self, crawl_set: CrawlSet) -> "Attributes":
        """Return host, media type and status of the smallest keys of a crawl's URLs."""
        from crawlgauge.store.attributes import read_attributes

        manifest = self.manifest(crawl_set.crawl.label)
        if manifest.of_urls.checksum != crawl_set.checksum:
            raise StoreError(
                f"crawl {crawl_set.crawl.label!r} was replaced meanwhile; run the command again"
            )
        return read_attributes(crawl_set.folder, manifest.attributes, manifest.of_urls)

    def cache_folder(self) -> AnyPath:
        """Return the folder for what can be computed again; made if it is missing."""
        folder = self.path / CACHE
        if isinstance(folder, Path):
            folder.mkdir(exist_ok=True)
        return folder

    def find_cache(self, what: str) -> AnyPath | None:
        """Return that folder, None if it cannot be written to; then `what` is not kept."""
        try:
            return self.cache_folder()
        except OSError as error:
            _log.info(NOT_KEPT, what, self.path, error.strerror)
            return None

    @contextmanager
    def writing(self, label: str) -> Iterator[CrawlWriter]:
        """Hold the crawl of that label for writing; other processes are kept out meanwhile.

        Raises
        ------
        StoreBusy
            If another process writes it.
        StoreError
            If the label cannot be used, or the folder not be written to.
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
                writer = stack.enter_context(_find_place(self.path, self.key_rule).hold(label))
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
            # Another process may have been faster.
            if not self.holds(label):
                raise self._unknown(label)
            writer.remove()

    def folder(self, label: str) -> AnyPath:
        """Return the folder of a crawl, whether it is there or not."""
        return self.path / CRAWLS / check_label(label)

    def _manifest_if_there(self, label: str) -> Manifest | None:
        """Return all that is known of a crawl, unless it was removed since it was listed."""
        try:
            return self.manifest(label)
        except StoreError:
            if self.holds(label):
                raise
            return None

    def _map(self, action: Callable[[str], T], labels: list[str]) -> list[T]:
        """Do something for each crawl, for several at once where each takes its time to answer."""
        if isinstance(self.path, RemotePath) and len(labels) > 1:
            with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
                return list(map_in_threads(pool, action, labels))
        return [action(label) for label in labels]

    def _unknown(self, label: str) -> StoreError:
        known = ", ".join(self.labels()) or "none"
        return StoreError(f"the store {self.path} holds no crawl {label!r}; it holds: {known}")


def _choose_level(manifest: Manifest, level: str) -> CrawlSet:
    sets, label = manifest.sets, manifest.label
    if check_level(level) not in sets:
        wanted = ",".join(known for known in LEVELS if known in {*sets, level})
        raise StoreError(
            f"crawl {label!r} has no set of level {level}, only of {', '.join(sets)}; add it again "
            f"from its files: crawlgauge add {label} FILES... --replace --levels {wanted}"
        )
    return sets[level]


def _is_there(path: AnyPath) -> bool:
    with explain_os_error("read", path):
        return path.is_file()


def read_content(path: AnyPath) -> bytes:
    """Return all of a small file, as it is at one moment.

    Parameters
    ----------
    path
        On the disk or on object storage.
    """
    for _ in range(_MAX_CHANGES):
        # Between the answer that tells its size and its content it may have been replaced.
        with suppress(ObjectChanged):
            return path.read_bytes()
    return path.read_bytes()


# --------------------------------------------------------------------------- opening and making


def open_store(path: AnyPath, *, create_with: KeyRule | None = None) -> Store:
    """Open a store, or make it.

    Parameters
    ----------
    path
        Where it is.
    create_with
        The rule for a store that is made if there is none, and that one that is there must have.

    Raises
    ------
    StoreError
        If there is none, or it is of another rule, version or kind.
    """
    with explain_os_error("open the store", path):
        if not (path / STORE_FILE).is_file():
            if create_with is None:
                raise StoreError(
                    f"there is no store at {path}; make one by adding a crawl, or name another one"
                )
            create_store(path, str(create_with))
        document = check_document(read_content(path / STORE_FILE), path / STORE_FILE, STORE_SCHEMA)
    store = Store(path=path, key_rule=str(document.get("key_rule")))
    if create_with is not None and store.key_rule != str(create_with):
        raise StoreError(
            f"the store {path} identifies URLs by {store.key_rule}, not by {create_with}; keys of "
            "two rules cannot be compared. Use the same identity, or another store"
        )
    return store


def stored_rule(path: AnyPath) -> KeyRule | None:
    """Return the rule of the store at `path`, or None if there is no store yet."""
    return open_store(path).rule if _is_there(path / STORE_FILE) else None


@contextmanager
def store_for_adding(path: AnyPath, rule: KeyRule) -> Iterator[Store]:
    """Open a store, or make it; if nothing comes to be in it for an error, take it away again."""
    is_new = not _is_there(path / STORE_FILE)
    store = open_store(path, create_with=rule)
    try:
        yield store
    except BaseException:
        # On object storage a listing may be late: only one that was made just now is looked at.
        if is_new or isinstance(path, Path):
            _find_place(path, store.key_rule).remove_if_empty()
        raise


def create_store(path: AnyPath, key_rule: str) -> None:
    """Make a store where there is none; one that is there is left as it is."""
    _find_place(path, key_rule).create()


def _find_place(path: AnyPath, key_rule: str) -> StorePlace:
    document = to_document({"schema": STORE_SCHEMA, "key_rule": key_rule})
    if isinstance(path, RemotePath):
        # Stores on the disk need nothing of it.
        from crawlgauge.store.remote_store import RemotePlace

        return RemotePlace(path, document)
    return LocalPlace(path, document)


# ------------------------------------------------------------------------------------ verifying


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What re-reading one crawl showed.

    Parameters
    ----------
    label
        The crawl's.
    problem
        What is wrong with it; None if nothing is.
    """

    label: str
    problem: str | None


def verify_crawls(store: Store) -> Iterator[Finding]:
    """Re-read every crawl of a store and yield what was found."""
    for label in store.labels():
        problem = None
        try:
            _check_crawl(store, label)
        except StoreError as error:
            problem = str(error)
            # What was replaced while it was being read is read again.
            with suppress(StoreError):
                _check_crawl(store, label)
                problem = None
            if not store.holds(label):
                continue  # Another process has removed it.
        yield Finding(label=label, problem=problem)


def _check_crawl(store: Store, label: str) -> None:
    from crawlgauge.store.attributes import read_attributes
    from crawlgauge.store.key_set import check_keys

    manifest = store.manifest(label)
    for level, item in manifest.sets.items():
        expected = rule_of(level, store.key_rule)
        if item.key_rule != expected:
            raise StoreError(
                f"its keys are of rule {item.key_rule}, not of {expected}; {ADD_AGAIN}"
            )
        check_keys(item)
    read_attributes(store.folder(label), manifest.attributes, manifest.of_urls)
