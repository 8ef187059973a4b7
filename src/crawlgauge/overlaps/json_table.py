"""Overlap tables as JSON, schema ``crawlgauge.overlaps/1``: everything that a table holds."""

import itertools
import json
import math
import re
from typing import Any, Never

import numpy as np

from crawlgauge.crawl import Crawl, parse_time
from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import MAX_COUNT, Row, make_histories
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, SIMILARITIES, OverlapTable
from crawlgauge.provenance import Provenance
from crawlgauge.store.documents import to_plain

SCHEMA = "crawlgauge.overlaps/1"

_TIMES = ("first_capture", "last_capture")
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}
_LAST = ("histories", "host_groups")
_MAX_GROUPS = 1000


def to_json(table: OverlapTable) -> str:
    """Write an overlap table as JSON that people can read too: a line for each row."""
    document, se_shared = describe(table), None
    provenance = document.pop("provenance")
    last = {name: document.pop(name) for name in [*document] if name in _LAST}
    if table.se_shared is not None:
        rows = table.se_shared.tolist()
        se_shared = [[None if math.isnan(se) else se for se in row] for row in rows]
    rows = table.n_shared.tolist()
    document["n_shared"] = [[None if n == MISSING else n for n in row] for row in rows]
    document |= {"se_shared": se_shared, **last}
    document["similarities"] = [
        {"a": pair.a.label, "b": pair.b.label}
        | {name: getattr(pair, name) for name in SIMILARITIES}
        for pair in table.pairs()
    ]
    lines = [f'  "{name}": {_on_lines(value)}' for name, value in document.items()]
    return "{\n" + ",\n".join([*lines, f'  "provenance": {json.dumps(provenance)}']) + "\n}\n"


def _on_lines(value: object) -> str:
    """Write a list with a line for each item."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}": {_on_lines(own)}' for name, own in value.items()) + "}"
    text = json.dumps(value)
    if not isinstance(value, list) or not value:
        return text
    if isinstance(value[0], list) and text.count("], [") == len(value) - 1:
        # To write many rows at once is much faster than one by one.
        return "[\n    " + text[1:-1].replace("], [", "],\n    [") + "\n  ]"
    return "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"


def describe(table: OverlapTable) -> dict[str, Any]:
    """Return the document of a table without its matrices."""
    histories, groups = table.histories, table.host_groups
    document = {
        "schema": SCHEMA,
        "level": table.level,
        "key_rule": table.key_rule,
        "sample_rate": table.sample_rate,
        "crawls": json.loads(json.dumps(table.crawls, default=to_plain)),
        "histories": None,
        "provenance": table.provenance.to_dict(),
    }
    if histories is not None:
        rows = [[*row] for row in zip(_texts(histories), histories.counts.tolist(), strict=True)]
        document["histories"] = {"sample_rate": histories.sample_rate, "rows": rows}
    if groups is not None:
        # Most groups have no URL of most histories: each that has is told with its count.
        number_of, group_of = np.nonzero(groups.counts)
        told = np.stack([group_of, groups.counts[number_of, group_of]], axis=1).ravel().tolist()
        ends = (2 * np.searchsorted(number_of, np.arange(len(groups.masks) + 1))).tolist()
        bounds = zip(_texts(groups), ends[:-1], ends[1:], strict=True)
        document["host_groups"] = {
            "sample_rate": groups.sample_rate,
            "n_groups": groups.n_groups,
            "rows": [[text, *told[start:end]] for text, start, end in bounds],
        }
    return document


def _texts(histories: Histories | HostGroups) -> list[str]:
    """Write histories as texts, the first crawl first."""
    return [format(mask, f"0{histories.n_crawls}b")[::-1] for mask in histories.masks.tolist()]


# -------------------------------------------------------------------------------------- reading


def from_json(text: str, *, name: str, provenance: Provenance | None = None) -> OverlapTable:
    """Read an overlap table from JSON.

    Parameters
    ----------
    text
        What the file holds.
    name
        Name of the file, for messages.
    provenance
        What to record as the table's origin where the document has none.

    Raises
    ------
    OverlapError
        If it is no such document; the message names the place in it.
    """
    document = parse_json(text, name=name)
    parts = read_description(document, name=name)
    root = _Place(name, "$", document)
    n = len(parts["crawls"])
    matrices = {"n_shared": np.full((n, n), MISSING), "se_shared": np.full((n, n), np.nan)}
    np.fill_diagonal(matrices["n_shared"], [crawl.n_counted for crawl in parts["crawls"]])
    for member, matrix in matrices.items():
        if member == "n_shared" or root.has(member):
            for row, cells in zip(matrix, root.rows(member, list, n, n), strict=True):
                read = cells.count if member == "n_shared" else cells.number
                for place, column in enumerate(cells.cells):
                    value = read(column)
                    row[place] = row[place] if value is None else value
            parts[member] = matrix
    parts.setdefault("provenance", provenance or Provenance())
    try:
        return OverlapTable(**parts)
    except OverlapError as error:
        raise OverlapError(f"{name}: {error}") from error


def parse_json(text: str, *, name: str) -> object:
    """Parse JSON text, refusing what only Python takes for JSON.

    Raises
    ------
    OverlapError
        If it is not JSON.
    """
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise OverlapError(
            f"{name}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}; "
            "was the file cut off?"
        ) from error
    except (ValueError, RecursionError) as error:
        raise OverlapError(f"{name} cannot be read as JSON: {error}") from error


def _refuse_constant(constant: str) -> Never:
    raise ValueError(f"{constant} is no JSON; a missing number is null")


def read_description(document: object, *, name: str) -> dict[str, Any]:
    """Read what `describe` returned; unknown members are passed over.

    Returns
    -------
    dict
        All parts of an overlap table but the matrices, by name.

    Raises
    ------
    OverlapError
        If the schema is another one, or a member has the wrong shape; the message names it.
    """
    root = _Place(name, "$", document)
    schema = root.member("schema", str)
    family, _, version = schema.partition("/")
    problem = f"unknown schema {schema!r}; an overlap table has {SCHEMA!r}"
    if family == SCHEMA.partition("/")[0] and version.isdecimal():
        problem = f"{schema!r} is of another version of crawlgauge, this one reads {SCHEMA!r}"
    if schema != SCHEMA:
        root.fail(problem, ".schema")
    crawls = tuple(map(_read_crawl, root.rows("crawls", dict)))
    parts: dict[str, Any] = {"crawls": crawls, "sample_rate": root.row("sample_rate").rate()}
    parts |= {key: root.member(key, str) for key in ("level", "key_rule") if root.has(key)}
    if root.has("histories"):
        parts["histories"] = _read_histories(root.below("histories"), len(crawls))
    if root.has("host_groups"):
        parts["host_groups"] = _read_groups(root.below("host_groups"), len(crawls))
    if root.has("provenance"):
        parts["provenance"] = _read_provenance(root.below("provenance"))
    return parts


class _Place:
    """An object in a JSON document, with its path for messages.

    Parameters
    ----------
    name
        Of the file.
    path
        Of the object.
    value
        What stands there, which must be an object.
    """

    def __init__(self, name: str, path: str, value: object) -> None:
        self.name, self.path = name, path
        self.value: dict[str, Any] = self._check(value, dict, "")

    def fail(self, problem: object, below: str = "") -> Never:
        raise OverlapError(f"{self.name}, at {self.path}{below}: {problem}")

    def has(self, key: str) -> bool:
        return self.value.get(key) is not None

    def member(self, key: str, kind: type) -> Any:  # noqa: ANN401 - the kind is known at run time
        """Return a member that must be there, and of that kind."""
        return self._check(self.value.get(key), kind, f".{key}")

    def below(self, key: str) -> "_Place":
        return _Place(self.name, f"{self.path}.{key}", self.value[key])

    def row(self, key: str) -> Row:
        """Return one member as a cell."""
        cells = {key: self.value[key]} if key in self.value else {}
        return Row.of(self.name, f"at {self.path}", cells, link=".")

    def rows(
        self,
        key: str,
        kind: type,
        n_rows: int | None = None,
        n_cells: int | None = None,
        n_read: int | None = None,
    ) -> list[Row]:
        """Return the objects or lists of a list, their members or first items as cells."""
        found = []
        for k, value in enumerate(self._check(self.value.get(key), list, f".{key}", n_rows)):
            place, link = f".{key}[{k}]", "." if kind is dict else ""
            cells = self._check(value, kind, place, n_cells)
            if kind is list:
                cells = {f"[{k}]": item for k, item in enumerate(cells[:n_read])}
            found.append(Row.of(self.name, f"at {self.path}{place}", cells, link=link))
        return found

    def _check(self, value: Any, kind: Any, place: str, length: int | None = None) -> Any:  # noqa: ANN401 - whatever it is
        if not isinstance(value, kind):
            self.fail(f"{_KINDS[kind]} is needed, not {json.dumps(value):.60}", place)
        if length is not None and len(value) != length:
            self.fail(f"{length} items are needed, not {len(value)}", place)
        return value


def _read_crawl(row: Row) -> Crawl:
    times: dict[str, Any] = {}
    for column in _TIMES:
        try:
            times[column] = parse_time(row.cells.get(column) or None)
        except ValueError:
            problem = f"{row.cells[column]!r} is no time; write it as 2013-12-15T08:30:00Z"
            raise row.error(column, problem) from None
    return row.crawl(row.known_count("n_urls"), n_sampled=row.count("n_sampled"), **times)


def _read_masks(place: _Place, n_crawls: int) -> list[int]:
    """Read the histories that rows begin with."""
    if n_crawls > MAX_HISTORY_CRAWLS:
        place.fail(f"histories are of at most {MAX_HISTORY_CRAWLS} crawls, not of {n_crawls}")
    rows, is_history = place.member("rows", list), re.compile(f"[01]{{{n_crawls}}}").fullmatch
    texts = [row[0] for row in rows if isinstance(row, list) and row and isinstance(row[0], str)]
    masks = [int(text[::-1] or "0", 2) for text in texts if is_history(text)]
    # They are many: only where one is wrong it has to be told from the others.
    if len({*masks}) == len(rows):
        return masks
    known: dict[int, None] = {}
    for row in place.rows("rows", list, n_read=1):
        mask = row.history("[0]", n_crawls)
        if mask in known:
            raise row.error("[0]", f"history {row.cells['[0]']!r} stands there twice")
        known[mask] = None
    return list(known)


def _read_histories(place: _Place, n_crawls: int) -> Histories:
    masks = _read_masks(place, n_crawls)
    cells = [row[1:] for row in place.value["rows"]]
    if all(len(own) == 1 and type(own[0]) is int and 0 <= own[0] <= MAX_COUNT for own in cells):
        counts = [count for (count,) in cells]
    else:
        counts = [row.known_count("[1]") for row in place.rows("rows", list, n_cells=2)]
    rate = place.row("sample_rate").rate()
    try:
        return make_histories(
            dict(zip(masks, counts, strict=True)), n_crawls=n_crawls, sample_rate=rate
        )
    except OverlapError as error:
        place.fail(error)


def _read_groups(place: _Place, n_crawls: int) -> HostGroups:
    masks = np.array(_read_masks(place, n_crawls), np.uint64)
    n_groups = place.row("n_groups").known_count("n_groups")
    told = [row[1:] for row in place.value["rows"]]
    # They are many: all at once, since none of them can be told apart from the others.
    listed = list(itertools.chain(*told))
    is_whole = {type(number) for number in listed} == {int} and not any(len(r) % 2 for r in told)
    numbers = np.array(listed if is_whole else [-1])
    is_whole = numbers.dtype == np.int64
    groups, own_counts = numbers[::2], numbers[1::2]
    if not is_whole or numbers.min() < 0 or groups.max() >= n_groups or n_groups > _MAX_GROUPS:
        problem = (
            f"groups below {n_groups} (at most {_MAX_GROUPS}), each with its count, are needed"
        )
        place.fail(problem, ".rows")
    counts = np.zeros((masks.size, n_groups), np.int64)
    counts[np.repeat(np.arange(masks.size), [len(row) // 2 for row in told]), groups] = own_counts
    rate = place.row("sample_rate").rate()
    try:
        return HostGroups(
            n_crawls=n_crawls, n_groups=n_groups, masks=masks, counts=counts, sample_rate=rate
        )
    except OverlapError as error:
        place.fail(error)


def _read_provenance(place: _Place) -> Provenance:
    for key, kind in (("settings", dict), ("inputs", list), ("created", str)):
        if place.has(key):
            place.member(key, kind)
    try:
        return Provenance.from_dict(place.value)
    except (AttributeError, KeyError, TypeError) as error:
        place.fail(f"each input needs its name and checksum ({error!r})")
