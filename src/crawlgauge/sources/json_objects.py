"""Captures from JSON objects: which members hold the fields, and what the objects say."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.sources.captures import Captures
from crawlgauge.sources.column_names import find_columns, find_field
from crawlgauge.sources.json_kernel import MISSING
from crawlgauge.sources.json_members import find_members
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.record_kernel import N_FIELDS, URL
from crawlgauge.sources.records import FIRST_OWN_VERDICT, assemble
from crawlgauge.sources.request import Request

__all__ = ["NO_MEMBERS", "MemberNames", "assemble_objects", "drop_dashes", "find_member_names"]

_NO_OBJECT = FIRST_OWN_VERDICT
_SERVER_MESSAGE = FIRST_OWN_VERDICT + 1
_REJECTED = MappingProxyType({_NO_OBJECT: "no-object", _SERVER_MESSAGE: "server-message"})

_MESSAGES = ("message", "error")
"""Members by which servers say that there are no captures."""

_MAX_SAMPLED = 100
"""Objects whose members are looked at: enough to meet those that some of them lack."""
_MAX_NAMES = 1000
_MAX_NESTING = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberNames:
    """Which members of objects hold the fields of a capture.

    Parameters
    ----------
    names
        Names of members; with dots between them for one in another.
    columns
        Position in `names` by field of `record_kernel`.
    is_nested
        Whether a name leads into nested objects.
    """

    names: tuple[bytes, ...]
    columns: Mapping[int, int]
    is_nested: bool


NO_MEMBERS = MemberNames(names=(), columns=MappingProxyType({}), is_nested=False)
"""For objects of which none holds a URL."""


def find_member_names(
    objects: Iterable[bytes], request: Request, source: str
) -> MemberNames | None:
    """Find which members hold the fields, or return None if there are but servers' messages.

    Parameters
    ----------
    objects
        Texts of the first records; those that are no JSON objects are passed over.
    request, source
        As for `column_names.find_columns`.

    Raises
    ------
    SourceError
        If it cannot be told which member holds the URLs.
    """
    # An ordered set.
    names: dict[str, None] = {}
    outer: set[str] = set()
    n_found = 0
    for text in objects:
        found = _parse(text)
        if found is None or _is_message(found):
            continue
        n_found += 1
        outer.update(found)
        names.update(dict.fromkeys(_list_paths(found)))
        if n_found == _MAX_SAMPLED or len(names) > _MAX_NAMES:
            break
    if not n_found:
        return None
    # Members of the object itself go before those of the same meaning in nested ones.
    ordered = sorted(names, key=lambda name: name not in outer)
    columns = find_columns(ordered, request, source=source)
    wanted = sorted(set(columns.values()))
    return MemberNames(
        names=tuple(_encode(ordered[position]) for position in wanted),
        columns=MappingProxyType({field: wanted.index(at) for field, at in columns.items()}),
        is_nested=any(ordered[position] not in outer for position in wanted),
    )


def assemble_objects(
    data: bytes,
    bounds: NDArray[np.int64],
    members: MemberNames,
    *,
    verdicts: NDArray[np.uint8],
    request: Request,
    name: str,
    place: int,
    first_line: int | None,
) -> Captures:
    """Make a batch of captures from the JSON objects of a block.

    Parameters
    ----------
    data
        The block.
    bounds
        For each record, where it starts and ends.
    members
        Which members hold what.
    verdicts
        What is already known of each record; those accepted so far are looked at.
    request, name, place, first_line
        As for `records.assemble`.
    """
    is_open = verdicts == ACCEPTED
    # What begins with a letter, a digit or any other sign is told without looking further.
    first_bytes = np.frombuffer(data, dtype=np.uint8)[np.minimum(bounds[:, 0], len(data) - 1)]
    may_be = is_open & ((first_bytes <= ord(" ")) | (first_bytes == ord("{")))
    whole, sought = data, np.where(may_be[:, np.newaxis], bounds, -1)
    if members.is_nested:
        whole, sought = _flatten(data, sought, members.names)
    n_names = len(members.names)
    found = find_members(whole, sought, (*members.names, *(text.encode() for text in _MESSAGES)))
    spans = np.full((len(bounds), N_FIELDS, 2), -1, dtype=np.int32)
    for field, number in members.columns.items():
        spans[:, field] = found.spans[:, number]
    drop_dashes(found.data, spans)
    is_message = (spans[:, URL, 0] < 0) & (found.kinds[:, n_names:] != MISSING).any(axis=1)
    verdicts[is_open & is_message] = _SERVER_MESSAGE
    verdicts[is_open & ~found.is_object] = _NO_OBJECT
    return assemble(
        found.data,
        spans,
        verdicts,
        request=request,
        name=name,
        bounds=bounds,
        place=place,
        first_line=first_line,
        rejected=_REJECTED,
    )


def drop_dashes(block: NDArray[np.uint8], spans: NDArray[np.int32]) -> None:
    """Make values that are empty or a mere ``-``, as indexes write it, missing ones."""
    lengths = spans[..., 1] - spans[..., 0]
    is_short = (spans[..., 0] >= 0) & (lengths <= 1)
    records, fields = np.nonzero(is_short)
    starts = spans[records, fields, 0]
    is_empty = lengths[records, fields] == 0
    is_dash = block[np.minimum(starts, block.size - 1)] == ord("-")
    chosen = is_empty | is_dash
    spans[records[chosen], fields[chosen]] = -1


def _flatten(
    data: bytes, bounds: NDArray[np.int64], names: tuple[bytes, ...]
) -> tuple[bytes, NDArray[np.int64]]:
    """Put objects behind the block that have the members of nested ones as their own."""
    behind = [data]
    n_bytes = len(data)
    moved = np.full_like(bounds, -1)
    texts = [_decode(name) for name in names]
    for record in np.flatnonzero(bounds[:, 0] >= 0).tolist():
        found = _parse(data[bounds[record, 0] : bounds[record, 1]])
        if found is not None:
            flat = {text: value for text in texts if (value := _follow(found, text)) is not None}
            flat |= {text: found[text] for text in _MESSAGES if text in found}
            behind.append(json.dumps(flat).encode())
            moved[record] = n_bytes, n_bytes + len(behind[-1])
            n_bytes += len(behind[-1])
    return b"".join(behind), moved


def _follow(found: Mapping[str, Any], path: str) -> object:
    if path in found:
        return found[path]
    value: object = found
    for step in path.split("."):
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    return value


def _list_paths(found: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for name, value in found.items():
        if _can_be_encoded(name):
            yield name
            if isinstance(value, dict) and depth < _MAX_NESTING:
                yield from (f"{name}.{inner}" for inner in _list_paths(value, depth + 1))


def _is_message(found: Mapping[str, Any]) -> bool:
    return any(name in found for name in _MESSAGES) and not any(
        find_field(name) == URL for name in found
    )


def _parse(text: bytes) -> dict[str, Any] | None:
    """Return a JSON object with its numbers as they are written, or None if it is none."""
    try:
        found = json.loads(_decode(text), parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _can_be_encoded(name: str) -> bool:
    try:
        _encode(name)
    except UnicodeEncodeError:
        return False
    return True


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _decode(text: bytes) -> str:
    return text.decode("utf-8", errors="surrogateescape")
