"""Documents of a store: JSON that holds a checksum of itself, and is read by types.

What is in the cache can be lost but never be wrong: what is damaged there is passed over, and made
anew. The name of such a file says what it is, of which level, of which sets, and what tells it from
others of these.
"""

import base64
import datetime as dt
import hashlib
import json
import logging
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from crawlgauge.crawl import format_time, parse_time
from crawlgauge.errors import CrawlError, CrawlgaugeError, StoreError
from crawlgauge.sources.remote import AnyPath, RemotePath
from crawlgauge.store.files import replace_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

ADD_AGAIN = "add the crawl again from its files with --replace"
NONSENSE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CrawlError)
"""What is raised where a document says what cannot be."""

_OLD_BEGINNINGS = (b'{"schema": "crawlgauge.', b'{\n "schema": "crawlgauge.')
_DOCUMENT = re.compile(rb'\{"sha256": "([0-9a-f]{64})", "content": (.*)\}\n?', re.DOTALL)
NOT_KEPT = "%s not kept for the next time: %s: %s"

_log = logging.getLogger(__name__)
T = TypeVar("T")


def to_document(content: Mapping[str, Any]) -> bytes:
    """Return what `to_plain` has a form for as JSON that holds a checksum of itself."""
    text = json.dumps(content, default=to_plain).encode()
    return b'{"sha256": "%s", "content": %s}\n' % (hashlib.sha256(text).hexdigest().encode(), text)


def check_document(
    content: bytes, path: AnyPath, schema: str, *, remedy: str = ADD_AGAIN
) -> dict[str, Any]:
    """Read what `to_document` wrote.

    Parameters
    ----------
    content, path
        What is in the file, and where it is.
    schema
        What it must be.
    remedy
        What to do about a damaged one.

    Raises
    ------
    StoreError
        If it is not as it was written, or of another format.
    """
    found = _DOCUMENT.fullmatch(content)
    if found is None and content.startswith(_OLD_BEGINNINGS):
        raise StoreError(
            f"{path} was written by version 0.1 of crawlgauge, whose stores this version does not "
            "read; add the crawls again from their files into a new store"
        )
    if found is None or hashlib.sha256(found[2]).hexdigest().encode() != found[1]:
        raise StoreError(f"{path} is damaged: it was changed after it was written; {remedy}")
    try:
        document = json.loads(found[2])
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise StoreError(f"{path} is damaged: it holds no JSON object; {remedy}")
    if document.get("schema") != schema:
        raise StoreError(
            f"{path} is of format {document.get('schema')!r}; this version of crawlgauge reads "
            f"{schema!r}. Use the version that wrote it, or a newer one"
        )
    return document


def put_file(path: AnyPath, data: bytes) -> None:
    """Make or replace a file, whole, on the disk or on object storage."""
    if isinstance(path, RemotePath):
        # Stores on the disk need nothing of it.
        from crawlgauge.store.objects import Objects

        Objects(path.parent).put(path.name, data)
    else:
        replace_file(path, data)


# ------------------------------------------------------------------------------- values and types


def to_plain(value: Any) -> object:  # noqa: ANN401 - whatever there is a form for
    """Return what JSON has a form for, or what `to_plain` makes that of."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, dt.datetime):
        return format_time(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if hasattr(value, "tobytes"):
        return value.item() if value.ndim == 0 else _pack(value)
    raise TypeError(f"{type(value)} has no form in JSON")


def from_plain(value: object, hint: Any) -> Any:  # noqa: ANN401, C901 - a list of types
    """Return what `to_plain` was given, of that type; what is of another is a `ValueError`."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        for part in parts:
            with suppress(ValueError):
                return from_plain(value, part)
    elif origin is tuple and isinstance(value, list):
        items = parts[:1] * len(value) if Ellipsis in parts else parts
        return tuple(from_plain(*item) for item in zip(value, items, strict=True))
    elif origin is Mapping and isinstance(value, dict):
        return {name: from_plain(item, parts[1]) for name, item in value.items()}
    elif isinstance(hint, type) and is_dataclass(hint) and isinstance(value, dict):
        if value.keys() == _types_of(hint).keys():
            return read_fields(hint, value)
    elif hint is dt.datetime and isinstance(value, str):
        return parse_time(value)
    elif hint is dt.date and isinstance(value, str):
        return dt.date.fromisoformat(value)
    elif getattr(origin, "__name__", "") == "ndarray" and isinstance(value, list):
        return _unpack(value)
    elif hint in (Any, type(value)) or (type(value), hint) == (int, float) or value in parts:
        return value
    raise ValueError(f"{value!r:.99} is no {hint}")


def read_fields(kind: type[T], document: Mapping[str, Any], **known: object) -> T:
    """Make a dataclass of members of a document, by the types of its fields, and of what is known.

    Raises
    ------
    LookupError, ValueError
        If a member is missing, or is of another type.
    """
    hints = _types_of(kind)  # type: ignore[arg-type]  # types are hashable
    types = {name: own for name, own in hints.items() if name not in known}
    return kind(**{name: from_plain(document[name], own) for name, own in types.items()}, **known)


@cache
def _types_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    return get_type_hints(kind)


def _pack(array: "NDArray[Any]") -> list[Any]:
    import numpy as np

    # Most numbers are counts, and small, whatever their type.
    is_count = array.dtype.kind in "iu" and array.min(initial=0) == 0
    kept = array.astype(np.min_scalar_type(array.max(initial=0))) if is_count else array
    content = base64.b64encode(zlib.compress(kept.tobytes(), 1)).decode()
    return [array.dtype.str, kept.dtype.str, array.shape, content]


def _unpack(packed: list[Any]) -> "NDArray[Any]":
    import numpy as np

    dtype, kept, shape, content = packed
    values = np.frombuffer(zlib.decompress(base64.b64decode(content)), kept)
    return values.astype(dtype).reshape(shape)


# --------------------------------------------------------------------------------------- the cache


def load(path: AnyPath, schema: str, kind: type[T], remedy: str) -> T | None:
    """Read what was kept.

    Parameters
    ----------
    path, schema
        The file, and the format that it must be of.
    kind
        What it holds.
    remedy
        What is done where it cannot be read, for the log.

    Returns
    -------
    object
        What was kept; None if there is no such file, or it is not just as it was written.
    """
    try:
        document = check_document(path.read_bytes(), path, schema)
        if document.get("name") != path.name:
            raise ValueError("it was kept under another name")
        return from_plain(document.get("kept"), kind)  # type: ignore[no-any-return]
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("%s cannot be read (%s); %s", path, error.strerror, remedy)
    except (CrawlgaugeError, zlib.error, *NONSENSE):
        _log.warning("%s is damaged, or of another version; %s", path, remedy)
    return None


def keep(path: AnyPath, schema: str, value: object, what: str) -> None:
    """Keep something, and delete what is kept of the same kind and level and of other sets.

    Parameters
    ----------
    path, schema
        The file, and its format; one that cannot be written is a matter of the log alone.
    value
        What to keep: a dataclass.
    what
        What is not kept then, for the log.
    """
    kind, level, *_ = path.name.split("-")
    try:
        put_file(path, to_document({"schema": schema, "name": path.name, "kept": value}))
        others: list[AnyPath] = list(path.parent.glob(f"{kind}-{level}-*.json"))
        for other in others:
            if other.name.rpartition("-")[0] != path.name.rpartition("-")[0]:
                other.unlink(missing_ok=True)
    except OSError as error:
        _log.info(NOT_KEPT, what, path.parent, error.strerror)
