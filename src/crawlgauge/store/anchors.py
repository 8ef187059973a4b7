"""Anchors that a store keeps beside its crawls: what is known from elsewhere, as keys and counts.

Each is one small file, ``anchors/NAME.json``, that holds a checksum of itself and appears whole or
not at all. It names no URL: keys stand for them, by the rule of the store.
"""

import base64
import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import AnchorKind, check_label
from crawlgauge.errors import StoreError
from crawlgauge.provenance import Provenance
from crawlgauge.sources.remote import AnyPath, RemotePath
from crawlgauge.store.catalogue import Finding, Store, read_content
from crawlgauge.store.documents import NONSENSE, check_document, put_file, read_fields, to_document
from crawlgauge.store.files import ANCHORS, explain_os_error, sync_folder

MAX_KEYS = 1 << 23
"""Some eight million URLs take a hundred megabytes; lists of more say nothing more."""

_SCHEMA = "crawlgauge.anchor/1"
_ARRAYS = {"keys": "<u8", "host_codes": "<u4"}
_ADD_AGAIN = "take it out with crawlgauge anchor NAME --remove, and add it again"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anchor:
    """Something known from elsewhere that crawls are held against.

    Parameters
    ----------
    name, kind
        What it is called, and what it is: ``uniform``, ``complete`` or ``frontier``.
    key_rule
        By which its URLs are the same.
    date
        What it was true of; None if it is of the time of the crawl that it names.
    label
        The crawl that it is held against; None for the nearest one in time.
    keys
        Of its URLs, sorted, each once.
    hosts, host_codes
        Of complete lists: the hosts, and for each key the place of its host among them.
    n_queued, is_all_known
        Of a frontier: how many URLs were known and not fetched; or known at all.
    drawn
        Hosts that were drawn and whose lists are still to be given, or were not.
    left_out
        How many entries were left out, by reason.
    provenance
        Where it comes from; the seed of the draw.
    """

    name: str
    kind: AnchorKind
    key_rule: str
    date: dt.date | None = None
    label: str | None = None
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    hosts: tuple[str, ...] = ()
    host_codes: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    n_queued: int | None = None
    is_all_known: bool = False
    drawn: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def is_pending(self) -> bool:
        """Whether hosts were drawn and no list was given yet."""
        return bool(self.drawn) and not self.keys.size

    @property
    def missing(self) -> tuple[str, ...]:
        """Hosts that were drawn and are not listed."""
        return tuple(host for host in self.drawn if host not in self.hosts)

    def to_bytes(self) -> bytes:
        """Return the anchor as it stands in its file."""
        document = {"schema": _SCHEMA}
        document |= {field.name: getattr(self, field.name) for field in fields(self)}
        for name, dtype in _ARRAYS.items():
            values = np.ascontiguousarray(getattr(self, name), dtype)
            document[name] = base64.b64encode(values.tobytes()).decode()
        return to_document(document | {"provenance": self.provenance.to_dict()})

    @classmethod
    def from_bytes(cls, content: bytes, path: AnyPath, name: str) -> "Anchor":
        """Read what `to_bytes` wrote.

        Raises
        ------
        StoreError
            If it is damaged, of another anchor or of another version.
        """
        document = check_document(content, path, _SCHEMA, remedy=_ADD_AGAIN)
        try:
            arrays = {
                name: np.frombuffer(base64.b64decode(document[name], validate=True), dtype)
                for name, dtype in _ARRAYS.items()
            }
            provenance = Provenance.from_dict(document["provenance"])
            anchor = read_fields(cls, document, provenance=provenance, **arrays)
            codes = anchor.host_codes
            if codes.size not in (0, anchor.keys.size) or np.any(
                codes >= max(len(anchor.hosts), 1)
            ):
                raise ValueError("its hosts do not fit its keys")
        except NONSENSE as error:
            raise StoreError(f"{path} is damaged ({error!r}); {_ADD_AGAIN}") from error
        if anchor.name != name:
            raise StoreError(f"{path} is of the anchor {anchor.name!r}; {_ADD_AGAIN}")
        return anchor


# ------------------------------------------------------------------------------ in the store


def save_anchor(store: Store, anchor: Anchor) -> None:
    """Keep an anchor in a store, in place of one of the same name.

    Raises
    ------
    StoreError
        If the name cannot be used, or the store not be written to.
    """
    path = _place(store, anchor.name)
    with explain_os_error("write", path):
        if isinstance(path.parent, Path):
            path.parent.mkdir(exist_ok=True)
        put_file(path, anchor.to_bytes())


def find_anchor(store: Store, name: str) -> Anchor | None:
    """Return the anchor of that name, None if there is none.

    Raises
    ------
    StoreError
        If it is damaged.
    """
    path = _place(store, name)
    with explain_os_error("read", path):
        try:
            content = read_content(path)
        except FileNotFoundError:
            return None
    return Anchor.from_bytes(content, path, name)


def list_anchors(store: Store) -> list[Anchor]:
    """Return all anchors of a store, by name.

    Raises
    ------
    StoreError
        If one is damaged.
    """
    found = [find_anchor(store, name) for name in _names(store)]
    # One may have been removed meanwhile.
    return [anchor for anchor in found if anchor is not None]


def remove_anchor(store: Store, name: str) -> None:
    """Take an anchor out of a store.

    Raises
    ------
    StoreError
        If there is none of that name.
    """
    path = _place(store, name)
    with explain_os_error("remove", path):
        try:
            # A listing may be late, and so may what deletes nothing.
            read_content(path)
        except FileNotFoundError:
            known = ", ".join(_names(store)) or "none"
            raise StoreError(
                f"the store {store.path} holds no anchor {name!r}; it holds: {known}"
            ) from None
        path.unlink(missing_ok=True)
        if isinstance(path, Path):
            sync_folder(path.parent)


def verify_anchors(store: Store) -> list[Finding]:
    """Re-read every anchor of a store and return what was found."""
    found = []
    for name in _names(store):
        problem = None
        try:
            anchor = find_anchor(store, name)
        except StoreError as error:
            problem = str(error)
        else:
            if anchor is not None and anchor.key_rule != store.key_rule:
                problem = f"its keys are of rule {anchor.key_rule}; {_ADD_AGAIN}"
        found.append(Finding(label=f"anchor {name}", problem=problem))
    return found


def _place(store: Store, name: str) -> AnyPath:
    return store.path / ANCHORS / f"{check_label(name)}.json"


def _names(store: Store) -> list[str]:
    folder = store.path / ANCHORS
    with explain_os_error("read", folder):
        found: Iterable[AnyPath] = ()
        if isinstance(folder, RemotePath):
            found = folder.glob("*.json")
        elif folder.exists():
            # Not by a glob, which passes over what may not be read.
            found = folder.iterdir()
        names = [path.name for path in found]
    return sorted(n.removesuffix(".json") for n in names if n.endswith(".json") and n[0] != ".")
