"""The wanted members of many JSON objects: by the compiled kernel, or where it gives up, Python."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.sources import json_kernel

__all__ = ["Members", "find_members", "member_names", "parse_members"]

_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """What was found in the objects of a block.

    Parameters
    ----------
    data
        The block; behind it stand the values that had to be rewritten.
    spans
        Start and end in `data` of each value that is a string or a number, by object and name;
        −1 where there is none.
    kinds
        What the values are: `json_kernel.MISSING`, `STRING`, `NUMBER` or `OTHER`.
    is_object
        Which of the records are JSON objects at all.
    """

    data: NDArray[np.uint8]
    spans: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    is_object: NDArray[np.bool_]


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def find_members(data: bytes, bounds: NDArray[np.int64], names: Sequence[bytes]) -> Members:
    r"""Find the members that have certain names in the JSON objects of a block.

    Parameters
    ----------
    data
        The block.
    bounds
        For each record, where its object starts and ends; −1 where it has none.
    names
        Names of the wanted members.

    Examples
    --------
    >>> found = find_members(b'{"url": "http:\\/\\/a.org", "status": 200}', np.array([[0, 40]]),
    ...                      [b"status", b"url"])
    >>> [found.data[start:end].tobytes() for start, end in found.spans[0]]
    [b'200', b'http://a.org']
    """
    block = np.frombuffer(data, dtype=np.uint8)
    n_records = bounds.shape[0]
    spans = np.empty((n_records, len(names), 2), dtype=np.int32)
    kinds = np.empty((n_records, len(names)), dtype=np.uint8)
    is_object = np.empty(n_records, dtype=np.bool_)
    name_ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    packed = np.frombuffer(b"".join(names), dtype=np.uint8)
    json_kernel.find_members(block, bounds, packed, name_ends, spans, kinds, is_object)
    behind = bytearray()
    for record in np.flatnonzero(~is_object & (bounds[:, 0] >= 0)).tolist():
        start, end = bounds[record].tolist()
        members = parse_members(data[start:end], names)
        if members is None:
            continue
        is_object[record] = True
        for number, (kind, value) in enumerate(members):
            kinds[record, number] = kind
            spans[record, number] = -1
            if value is not None:
                first = len(data) + len(behind)
                spans[record, number] = first, first + len(value)
                behind += value
    if behind:
        block = np.frombuffer(data + behind, dtype=np.uint8)
    return Members(data=block, spans=spans, kinds=kinds, is_object=is_object)


def parse_members(text: bytes, names: Sequence[bytes]) -> list[tuple[int, bytes | None]] | None:
    r"""Return kind and value of the wanted members of one JSON object, or None if it is none.

    Parameters
    ----------
    text
        The object. Bytes that are no UTF-8 are kept as they are.
    names
        Names of the wanted members.

    Examples
    --------
    >>> parse_members(rb'{"url": "http://a.org/\u00e4"}', [b"url", b"status"])
    [(1, b'http://a.org/\xc3\xa4'), (0, None)]
    """
    found = _load(text)
    if found is None:
        return None
    return [_classify(found.get(_decode(name))) for name in names]


def member_names(text: bytes) -> tuple[str, ...]:
    """Return the names of all members of one JSON object; none if it is none."""
    return tuple(_load(text) or ())


def _load(text: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(
            _decode(text), parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _decode(text: bytes) -> str:
    return text.decode("utf-8", errors="surrogateescape")


def _classify(value: object) -> tuple[int, bytes | None]:
    if value is None:
        return json_kernel.MISSING, None
    if not isinstance(value, str):
        return json_kernel.OTHER, None
    # Half a surrogate pair, written as an escape, is no character.
    text = _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)
    kind = json_kernel.NUMBER if isinstance(value, _Number) else json_kernel.STRING
    return kind, text.encode("utf-8", errors="surrogateescape")
