"""The store as a whole: which crawls it holds, and how one is added, replaced or removed.

::

    crawlgauge.store/
      store.json                 by which rule URLs are the same
      crawls/LABEL/              manifest.json, a file for each set, one for attributes, a lock
      cache/                     counts and the like, which can be lost
      spill/                     what does not fit into memory, while a process runs

What is here needs no numpy: to list the crawls of a store takes no longer than to read their
manifests.
"""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from crawlgauge.crawl import check_label
from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.keys.rules import BY_URL, LEVELS, RULES, KeyRule, check_level, rule_of
from crawlgauge.sources.remote import AnyPath, ObjectChanged, RemotePath
from crawlgauge.store.crawl_set import (
    ADD_AGAIN,
    MANIFEST_NAME,
    CrawlSet,
    Manifest,
    check_document,
    has_leftovers,
    is_own_file,
    to_document,
)
from crawlgauge.store.files import (
    LOCK_NAME,
    PARTIAL_PREFIX,
    create_file,
    explain_os_error,
    hold_lock,
    remove_if_abandoned,
    replace_file,
    sync_folder,
)
from crawlgauge.store.spilling import SPILL_FOLDER, remove_abandoned

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes
    from crawlgauge.store.key_set import Keys

__all__ = [
    "CACHE",
    "CRAWLS",
    "STORE_FILE",
    "CrawlWriter",
    "Finding",
    "Store",
    "UnwrittenSet",
    "create_store",
    "open_store",
    "store_for_adding",
    "stored_rule",
    "verify_crawls",
    "write_crawl",
]

STORE_FILE = "store.json"
CRAWLS = "crawls"
CACHE = "cache"

_SCHEMA = "crawlgauge.store/2"
_REQUESTS_AT_ONCE = 16
_PATIENCE = 1.0
"""Seconds: a process that cleans up after another has its lock for less."""
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
        path = self.folder(label) / MANIFEST_NAME
        with explain_os_error("read", path):
            return path.is_file()

    def manifest(self, label: str) -> Manifest:
        """Return all that is known of a crawl.

        Raises
        ------
        StoreError
            If there is no such crawl, or its manifest is damaged.
        """
        folder = self.folder(label)
        try:
            with explain_os_error("read", folder / MANIFEST_NAME):
                content = _read_content(folder / MANIFEST_NAME)
        except StoreError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                raise self._unknown(label) from None
            raise
        return Manifest.from_bytes(content, folder, label)

    def manifests(self) -> list[Manifest]:
        """Return all that is known of each crawl, in order of date, then label.

        Raises
        ------
        StoreError
            If one of them is damaged.
        """
        found = self._map(self.manifest, self.labels())
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

    @contextmanager
    def writing(self, label: str) -> "Iterator[CrawlWriter]":
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
            # Another process may have been faster.
            if not self.holds(label):
                raise self._unknown(label)
            writer.remove()

    def folder(self, label: str) -> AnyPath:
        """Return the folder of a crawl, whether it is there or not."""
        return self.path / CRAWLS / check_label(label)

    def _hold(self, label: str) -> "AbstractContextManager[CrawlWriter]":
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


def _choose_level(manifest: Manifest, level: str) -> CrawlSet:
    sets, label = manifest.sets, manifest.label
    if check_level(level) not in sets:
        wanted = ",".join(known for known in LEVELS if known in {*sets, level})
        raise StoreError(
            f"crawl {label!r} has no set of level {level}, only of {', '.join(sets)}; add it again "
            f"from its files: crawlgauge add {label} FILES... --replace --levels {wanted}"
        )
    return sets[level]


def _read_content(path: AnyPath) -> bytes:
    """Return all of a small file, as it is at one moment."""
    for _ in range(_MAX_CHANGES):
        # Between the answer that tells its size and its content it may have been replaced.
        with suppress(ObjectChanged):
            return path.read_bytes()
    return path.read_bytes()


# ------------------------------------------------------------------------------ writing a crawl


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnwrittenSet:
    """A set that is to be written.

    Parameters
    ----------
    description
        All that is known of it without its keys.
    ranges
        Its keys, sorted and unique, in parts.
    n_most
        How many keys there are at most.
    """

    description: CrawlSet
    ranges: "Iterable[Keys]"
    n_most: int


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

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        """Write the sets of all levels and make them the crawl's, in place of what was there.

        Raises
        ------
        StoreError
            If that is not possible; the crawl is as it was.
        """

    def remove(self) -> None:
        """Take the crawl away."""


def write_crawl(
    folder: Path, label: str, sets: Sequence[UnwrittenSet], attributes: "Attributes"
) -> Manifest:
    """Write the files of a crawl into a folder on the disk, but for its manifest."""
    from crawlgauge.store.attributes import write_attributes
    from crawlgauge.store.key_set import write_keys

    written = [
        write_keys(folder, item.ranges, item.description, n_most=item.n_most) for item in sets
    ]
    return Manifest(
        label=label,
        sets={item.level: item for item in written},
        attributes=write_attributes(folder, attributes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _LocalCrawlWriter:
    """Writes a crawl into a folder whose lock is held; see `CrawlWriter`."""

    label: str
    folder: Path

    @property
    def workplace(self) -> Path:
        return self.folder

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        with explain_os_error("write", self.folder):
            manifest = write_crawl(self.folder, self.label, sets, attributes)
            replace_file(self.folder / MANIFEST_NAME, manifest.to_bytes())
        try:
            self.clean()
        except OSError as error:
            # The crawl is there; whoever writes next cleans up.
            _log.warning("leftovers stay in %s: %s", self.folder, error.strerror)
        return manifest

    def remove(self) -> None:
        with explain_os_error("write", self.folder):
            (self.folder / MANIFEST_NAME).unlink()
            sync_folder(self.folder)
            self.clean()

    def clean(self) -> None:
        """Delete what the manifest does not name: leftovers of killed processes, old sets."""
        wanted: set[str] = set()
        manifest = self.folder / MANIFEST_NAME
        if manifest.exists():
            try:
                wanted = Manifest.from_bytes(manifest.read_bytes(), self.folder, self.label).names
            except StoreError:
                return  # A damaged manifest names nothing; replacing the crawl heals it.
        for entry in self.folder.iterdir():
            if is_own_file(entry.name) and entry.name not in wanted:
                entry.unlink()


@contextmanager
def _hold_local(path: Path, label: str, key_rule: str) -> Iterator[_LocalCrawlWriter]:
    folder = path / CRAWLS / label
    with hold_lock(folder, patience=_PATIENCE):
        # Another process that failed may have taken the empty store away meanwhile.
        create_store(path, key_rule)
        writer = _LocalCrawlWriter(label=label, folder=folder)
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
                _LocalCrawlWriter(label=folder.name, folder=folder).clean()


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
                    f"there is no store at {path}; make one with crawlgauge add, or name another "
                    "with --store"
                )
            create_store(path, str(create_with))
        document = check_document(_read_content(path / STORE_FILE), path / STORE_FILE, _SCHEMA)
    store = Store(path=path, key_rule=str(document.get("key_rule")))
    if create_with is not None and store.key_rule != str(create_with):
        raise StoreError(
            f"the store {path} identifies URLs by {store.key_rule}, not by {create_with}; keys of "
            "two rules cannot be compared. Use the same --identity, or another --store"
        )
    return store


def stored_rule(path: AnyPath) -> KeyRule | None:
    """Return the rule of the store at `path`, or None if there is no store yet."""
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
            _remove_if_empty(store.path)


def create_store(path: AnyPath, key_rule: str) -> None:
    """Make a store where there is none; one that is there is left as it is."""
    document = to_document({"schema": _SCHEMA, "key_rule": key_rule})
    if isinstance(path, RemotePath):
        from crawlgauge.store.remote_store import create_remote

        create_remote(path, document)
        return
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; name a folder for the store")
    leftovers = list(path.glob(f"{PARTIAL_PREFIX}*"))
    if not (path / STORE_FILE).exists():
        if path.is_dir() and not all(_is_of_store(entry.name) for entry in path.iterdir()):
            raise StoreError(f"{path} is a folder of other files; name another for the store")
        (path / CRAWLS).mkdir(parents=True, exist_ok=True)
        try:
            create_file(path / STORE_FILE, document)
        except OSError:
            _remove_if_empty(path)
            raise
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)


def _is_of_store(name: str) -> bool:
    """Tell whether something belongs to a store; another process may just be making the same."""
    return name in {STORE_FILE, CRAWLS, CACHE, SPILL_FOLDER} or name.startswith(PARTIAL_PREFIX)


def _remove_if_empty(path: AnyPath) -> None:
    """Take a store away that holds no crawls; one that does is left as it is."""
    if isinstance(path, RemotePath):
        from crawlgauge.store.remote_store import remove_remote_if_empty

        remove_remote_if_empty(path)
        return
    # A folder that is not empty cannot be removed, also when another process has just begun.
    with suppress(OSError):
        (path / CRAWLS).rmdir()
        shutil.rmtree(path / CACHE, ignore_errors=True)
        (path / STORE_FILE).unlink(missing_ok=True)
        path.rmdir()


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
        try:
            problem = _find_problem(store, label)
        except StoreError as error:
            # What was replaced while it was being read is read again.
            problem = str(error)
            with suppress(StoreError):
                problem = _find_problem(store, label)
        yield Finding(label=label, problem=problem)


def _find_problem(store: Store, label: str) -> str | None:
    from crawlgauge.store.attributes import read_attributes
    from crawlgauge.store.key_set import find_key_damage

    manifest = store.manifest(label)
    for level, item in manifest.sets.items():
        expected = rule_of(level, store.key_rule)
        if item.key_rule != expected:
            return f"its keys are of rule {item.key_rule}, not of {expected}; {ADD_AGAIN}"
        problem = find_key_damage(item)
        if problem is not None:
            return problem
    read_attributes(store.folder(label), manifest.attributes, manifest.of_urls)
    return None
