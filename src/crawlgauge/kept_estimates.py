"""Estimates that a store keeps, so that no command makes anew what another one has made.

An estimate follows from its table, from what was given besides, and from the program: a digest of
these is the name of its file.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np

from crawlgauge import model
from crawlgauge._version import __version__
from crawlgauge.keys.rules import BY_URL
from crawlgauge.model.estimates import Estimates
from crawlgauge.overlaps.table import AnchorCounts, OverlapTable
from crawlgauge.store.catalogue import Store
from crawlgauge.store.documents import keep, load, to_plain

_SCHEMA = "crawlgauge.kept-estimates/2"
_WHAT = "the estimate is"


def estimate_once(
    table: OverlapTable, store: Store | None = None, *, persistence: float | None = None
) -> Estimates:
    """Estimate from a table, unless a store keeps what was estimated from the same one before.

    Parameters
    ----------
    table, persistence
        As for `estimate_coverage`.
    store
        Where estimates are kept; those of other sets, or by another version, are deleted there.
        Its anchors have a say in them.
        If it cannot be written to, nothing is kept for the next time.

    Raises
    ------
    FitError
        As for `estimate_coverage`.
    """
    anchors = _anchors(table, store)
    place = None
    if store is not None and (folder := store.find_cache(_WHAT)) is not None:
        sets = _digest(_program(), [entry.checksum for entry in table.provenance.inputs])
        own = _digest(_program(), persistence, table, anchors)
        place = folder / f"estimates-{table.level}-{sets}-{own}.json"
        known = load(place, _SCHEMA, Estimates, "the estimate is made anew")
        if known is not None:
            return known
    from crawlgauge.model.coverage import estimate_coverage

    estimates = estimate_coverage(table, persistence=persistence, anchors=anchors)
    if place is not None:
        keep(place, _SCHEMA, estimates, _WHAT)
    return estimates


def _anchors(table: OverlapTable, store: Store | None) -> tuple[AnchorCounts, ...]:
    """Return what is known from elsewhere of the crawls, which are known by their URLs."""
    if store is None or table.level != BY_URL:
        return ()
    from crawlgauge.store.anchors import list_anchors

    if not (kept := list_anchors(store)):
        return ()
    from crawlgauge.overlaps.anchors import count_anchors

    return count_anchors(store, kept, table.crawls)


@cache
def _program() -> str:
    """Return what tells one state of the models from any other."""
    # Between two releases the models change, and the version does not.
    folder = Path(model.__file__).parent
    sources = sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")])
    return _digest(__version__, [hashlib.sha256(path.read_bytes()).hexdigest() for path in sources])


def _digest(*what: object) -> str:
    return hashlib.sha256(json.dumps(what, default=_to_plain).encode()).hexdigest()[:32]


def _to_plain(value: object) -> object:
    """Return what tells a value from others; arrays may be long."""
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    return to_plain(value)
