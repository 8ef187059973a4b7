"""What the store knows of one crawl: its sets of keys, how they came about, and their files.

A crawl is there if its manifest is: one small file that holds all of this, with a checksum of
itself. Nothing that a file says of itself is believed before its bytes were compared with a
checksum that the manifest holds.
"""

import datetime as dt
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from crawlgauge.crawl import Crawl
from crawlgauge.errors import Damage, StoreError
from crawlgauge.keys.rules import BY_URL, LEVELS
from crawlgauge.keys.sampling import WHOLE, rate_of
from crawlgauge.provenance import Provenance
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store.documents import ADD_AGAIN, NONSENSE, check_document, read_fields, to_document
from crawlgauge.store.files import PARTIAL_PREFIX

__all__ = ["CrawlSet"]

MANIFEST_NAME = "manifest.json"
_SCHEMA = "crawlgauge.crawl/2"
_OF_CRAWL = ("label", "date", "first_capture", "last_capture", "n_urls", "n_sampled")
_OWN_FILE = re.compile(r"(url|content|text|attributes)-[0-9a-f]{16}\.arrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKeys:
    """Where the keys of a set lie, and what they must be.

    Parameters
    ----------
    file
        Its name in the crawl's folder.
    frame
        SHA-256 of all that stands before and behind the keys.
    n_bytes
        Size of the file.
    offset
        Where in the file the keys begin, eight bytes each.
    n_keys
        How many there are.
    block_keys
        How many keys have a checksum together.
    checksums
        CRC-32 of each block of keys.
    fences
        The first key of each block.
    """

    file: str
    frame: str
    n_bytes: int
    offset: int
    n_keys: int
    block_keys: int
    checksums: tuple[int, ...]
    fences: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAttributes:
    """Where the attributes of the smallest keys lie.

    Parameters
    ----------
    file, sha256
        Its name in the crawl's folder, and the checksum of the whole file.
    n_rows
        How many keys have attributes.
    threshold
        All keys below this one.
    layout
        Where the buffers of each column are, as `TableFile.write_columns` tells it, and the type
        of values.
    """

    file: str
    sha256: str
    n_rows: int
    threshold: int
    layout: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSet:
    """One crawl's sorted set of keys, kept in a file, and its description.

    Parameters
    ----------
    crawl
        Label, date and size.
    level
        What the keys stand for: ``url``, ``content`` or ``text``.
    key_rule
        When two of these are the same.
    threshold
        Keys below this one are kept.
    n_captures
        How many captures count.
    rejected, excluded, unassigned
        How many records are no captures, do not count, or belong to none of the crawls that a
        collection was cut into, by reason.
    damage
        What could not be read.
    checksum
        Of the keys: SHA-256 of their bytes, eight each, little-endian, in rising order.
    provenance
        Where the set comes from.
    folder
        Where its file is.
    keys
        Where its keys lie; None before they are written.
    n_no_status
        Captures that have no status.
    n_by_digest
        Captures whose digest stands for their text.
    days
        How many captures were made on each day, by its ordinal.
    """

    crawl: Crawl
    level: str
    key_rule: str
    threshold: int
    n_captures: int
    rejected: Mapping[str, int]
    excluded: Mapping[str, int]
    damage: tuple[Damage, ...]
    checksum: str
    provenance: Provenance
    folder: AnyPath
    keys: StoredKeys | None = None
    unassigned: Mapping[str, int] = field(default_factory=dict)
    n_no_status: int = 0
    n_by_digest: int = 0
    days: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("rejected", "excluded", "unassigned", "days"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def sample_rate(self) -> float:
        """Share of all keys that the set keeps."""
        return rate_of(self.threshold)

    @property
    def stored(self) -> StoredKeys:
        """Where its keys lie; they have been written."""
        if self.keys is None:
            raise ValueError("the keys have not been written")
        return self.keys

    @property
    def path(self) -> AnyPath:
        """The file that holds its keys."""
        return self.folder / self.stored.file

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain data for JSON, without where the keys lie."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("crawl", "folder", "keys", *(() if self.n_by_digest else ("n_by_digest",))):
            del plain[name]
        of_crawl = {name: getattr(self.crawl, name) for name in _OF_CRAWL}
        plain["days"] = [[dt.date.fromordinal(day), n] for day, n in self.days.items()]
        plain["provenance"] = self.provenance.to_dict()
        # Beyond what numbers in JSON hold exactly.
        return of_crawl | plain | {"threshold": hex(self.threshold)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All that there is of one crawl.

    Parameters
    ----------
    label
        The crawl's.
    sets
        By level; that of the URLs is always there.
    attributes
        Of the smallest keys of its URLs.
    """

    label: str
    sets: Mapping[str, CrawlSet]
    attributes: StoredAttributes

    @property
    def of_urls(self) -> CrawlSet:
        """The set of its URLs."""
        return self.sets[BY_URL]

    @property
    def of_other_levels(self) -> tuple[CrawlSet, ...]:
        """Its sets of other levels."""
        return tuple(item for level, item in self.sets.items() if level != BY_URL)

    @property
    def names(self) -> set[str]:
        """Names of all files."""
        return {item.stored.file for item in self.sets.values()} | {self.attributes.file}

    def to_bytes(self) -> bytes:
        """Return the manifest as it stands in its file."""
        content = {
            "schema": _SCHEMA,
            "label": self.label,
            "sets": [_set_to_dict(item) for item in self.sets.values()],
            "attributes": asdict(self.attributes) | {"threshold": hex(self.attributes.threshold)},
        }
        return to_document(content)

    @classmethod
    def from_bytes(cls, content: bytes, folder: AnyPath, label: str) -> "Manifest":
        """Read what `to_bytes` wrote.

        Raises
        ------
        StoreError
            If it is damaged, of another crawl or of another version.
        """
        path = folder / MANIFEST_NAME
        document = check_document(content, path, _SCHEMA)
        if document.get("label") != label:
            raise StoreError(
                f"{path} is of the crawl {document.get('label')!r}, not of {label!r}; give its "
                f"folder the name back, or {ADD_AGAIN}"
            )
        try:
            return _manifest_from_dict(document, folder, label)
        except NONSENSE as error:
            raise StoreError(f"{path} is damaged ({error!r}); {ADD_AGAIN}") from error


def is_own_file(name: str) -> bool:
    """Tell whether a file of a crawl's folder, but for manifest and lock, is the store's own."""
    return _OWN_FILE.fullmatch(name) is not None or name.startswith(PARTIAL_PREFIX)


def has_leftovers(names: Collection[str]) -> bool:
    """Tell from the names in a crawl's folder whether a killed process has left some of them."""
    own = [name for name in names if is_own_file(name)]
    kinds = [name.rpartition("-")[0] for name in own]
    is_partial = any(name.startswith(PARTIAL_PREFIX) for name in own)
    return MANIFEST_NAME not in names or is_partial or len(kinds) > len(set(kinds))


def _check_name(name: str) -> None:
    """See that a file's name is one, and does not lead out of the folder."""
    if _OWN_FILE.fullmatch(name) is None:
        raise ValueError(f"no file of a crawl is called {name!r}")


def _set_to_dict(item: CrawlSet) -> dict[str, Any]:
    return {
        **item.to_dict(),
        **asdict(item.stored),
        "checksums": "".join(f"{checksum:08x}" for checksum in item.stored.checksums),
        "fences": "".join(f"{fence:016x}" for fence in item.stored.fences),
    }


def _manifest_from_dict(document: Mapping[str, Any], folder: AnyPath, label: str) -> Manifest:
    """Read a manifest; whatever it says that cannot be is a `ValueError` or the like."""
    sets = {}
    for item in document["sets"]:
        found = _set_from_dict(item, folder)
        if found.crawl.label != label or found.level in sets or found.level not in LEVELS:
            raise ValueError(f"it has no set of {found.level!r} of crawl {found.crawl.label!r}")
        sets[found.level] = found
    about = document["attributes"]
    attributes = read_fields(StoredAttributes, about, threshold=_threshold(about["threshold"]))
    _check_counts(attributes.n_rows)
    _check_name(attributes.file)
    if attributes.n_rows > sets[BY_URL].stored.n_keys:
        raise ValueError("it has more attributes than keys")
    return Manifest(label=label, sets=sets, attributes=attributes)


def _set_from_dict(document: Mapping[str, Any], folder: AnyPath) -> CrawlSet:
    checksums, fences = document["checksums"], document["fences"]
    stored = read_fields(
        StoredKeys,
        document,
        checksums=tuple(int(checksums[k : k + 8], 16) for k in range(0, len(checksums), 8)),
        fences=tuple(int(fences[k : k + 16], 16) for k in range(0, len(fences), 16)),
    )
    _check_name(stored.file)
    crawl = read_fields(Crawl, document, damaged=bool(document["damage"]))
    threshold = _threshold(document["threshold"])
    _check_places(stored, crawl.n_counted, threshold)
    item = read_fields(
        CrawlSet,
        {"n_by_digest": 0, **document},
        crawl=crawl,
        threshold=threshold,
        days={dt.date.fromisoformat(day).toordinal(): n for day, n in document["days"]},
        provenance=Provenance.from_dict(document["provenance"]),
        folder=folder,
        keys=stored,
    )
    _check_counts(item.n_captures, item.n_no_status, item.n_by_digest, *item.days.values())
    for reasons in (item.rejected, item.excluded, item.unassigned):
        _check_counts(*reasons.values())
    return item


def _check_places(stored: StoredKeys, n_keys: int, threshold: int) -> None:
    """See that the keys can be where they are said to be, whatever else may be wrong with them."""
    _check_counts(stored.offset, stored.block_keys)
    if stored.n_keys != n_keys or not stored.block_keys:
        raise ValueError("it has another number of keys")
    n_blocks = -(-n_keys // stored.block_keys)
    if {len(stored.checksums), len(stored.fences)} != {n_blocks}:
        raise ValueError("its blocks do not fit its keys")
    # Eight bytes of a key are read at once.
    if stored.offset % 8 or stored.offset + 8 * n_keys > stored.n_bytes:
        raise ValueError("its keys are not within its file")
    bounds = (-1, *stored.fences, threshold)
    if any(one >= other for one, other in pairwise(bounds)):
        raise ValueError("its keys are not in order")


def _check_counts(*values: object) -> None:
    for value in values:
        if type(value) is not int or value < 0:
            raise ValueError(f"{value!r} is no count")


def _threshold(text: str) -> int:
    threshold = int(text, 16)
    if not 0 < threshold <= WHOLE:
        raise ValueError(f"{text} is no threshold")
    return threshold
