"""Estimates that a store keeps, so that no command makes anew what another one has made.

An estimate follows from its table, from what was given besides, and from the program: a digest of
these is the name of its file. Files are read by the types of what they hold; one that is not just
as it was written is passed over. What is kept can be lost but never be wrong.
"""

import datetime as dt
import hashlib
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from crawlgauge import model
from crawlgauge._version import __version__
from crawlgauge.errors import CrawlgaugeError
from crawlgauge.model.estimates import Estimates
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.sources.remote import AnyPath
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import check_document, put_file, to_document

__all__ = ["estimate_once"]

_SCHEMA = "crawlgauge.kept-estimates/1"
_NOT_KEPT = "the estimate is not kept for the next time: %s: %s"

_log = logging.getLogger(__name__)


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
        If it cannot be written to, nothing is kept for the next time.

    Raises
    ------
    FitError
        As for `estimate_coverage`.
    """
    place = None if store is None else _find_place(store, table, persistence)
    known = None if place is None else _load(place)
    if known is not None:
        return known
    from crawlgauge.model.coverage import estimate_coverage

    estimates = estimate_coverage(table, persistence=persistence)
    if place is not None:
        _save(place, estimates)
    return estimates


def _find_place(store: Store, table: OverlapTable, persistence: float | None) -> AnyPath | None:
    sets = _digest(_program(), [entry.checksum for entry in table.provenance.inputs])
    own = _digest(_program(), persistence, table)
    try:
        return store.cache_folder() / f"estimates-{table.level}-{sets}-{own}.json"
    except OSError as error:
        _log.info(_NOT_KEPT, store.path, error.strerror)
        return None


@cache
def _program() -> str:
    """Return what tells one state of the models from any other."""
    # Between two releases the models change, and the version does not.
    sources = sorted(Path(model.__file__).parent.rglob("*.py"))
    return _digest(__version__, [hashlib.sha256(path.read_bytes()).hexdigest() for path in sources])


def _digest(*what: object) -> str:
    return hashlib.sha256(json.dumps(what, default=_to_plain).encode()).hexdigest()[:32]


def _load(path: AnyPath) -> Estimates | None:
    try:
        document = check_document(path.read_bytes(), path, _SCHEMA)
        estimates: Estimates = _from_plain(document.get("estimates"), Estimates)
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("%s cannot be read (%s); the estimate is made anew", path, error.strerror)
    except (CrawlgaugeError, ValueError):
        _log.warning("%s is damaged; the estimate is made anew", path)
    else:
        return estimates
    return None


def _save(path: AnyPath, estimates: Estimates) -> None:
    content = json.loads(json.dumps(estimates, default=_to_plain))
    try:
        put_file(path, to_document({"schema": _SCHEMA, "estimates": content}))
        others: list[AnyPath] = list(path.parent.glob(f"estimates-{estimates.level}-*.json"))
        for other in others:
            if other.name.rpartition("-")[0] != path.name.rpartition("-")[0]:
                other.unlink(missing_ok=True)
    except OSError as error:
        _log.info(_NOT_KEPT, path.parent, error.strerror)


def _to_plain(value: object) -> object:
    """Return what JSON has a form for; numbers of arrays are told by a digest."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    raise TypeError(f"{type(value)} has no form in JSON")


def _from_plain(value: object, hint: Any) -> Any:  # noqa: ANN401 - the type is known at run time
    """Return what `_to_plain` was given, of that type; what is of another is refused."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        for part in parts:
            with suppress(ValueError):
                return _from_plain(value, part)
    elif origin is tuple and isinstance(value, list):
        return tuple(_from_plain(item, parts[0]) for item in value)
    elif origin is Mapping and isinstance(value, dict):
        return {name: _from_plain(item, parts[1]) for name, item in value.items()}
    elif isinstance(hint, type) and is_dataclass(hint) and isinstance(value, dict):
        types = _types_of(hint)
        if value.keys() == types.keys():
            return hint(**{name: _from_plain(value[name], own) for name, own in types.items()})
    elif hint in (dt.date, dt.datetime) and isinstance(value, str):
        return hint.fromisoformat(value)
    elif type(value) is hint or (type(value), hint) == (int, float) or value in parts:
        return value
    raise ValueError(f"{value!r} is no {hint}")


@cache
def _types_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
