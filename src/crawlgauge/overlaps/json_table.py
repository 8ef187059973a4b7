"""Overlap tables as JSON, schema ``crawlgauge.overlaps/1``: everything that a table holds."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl, format_time, parse_date, parse_time
from crawlgauge.errors import CrawlError, OverlapError
from crawlgauge.overlaps.csv_table import make_histories, mask_from_history
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["SCHEMA", "describe", "from_json", "parse_json", "read_description", "to_json"]

SCHEMA = "crawlgauge.overlaps/1"

_SIMILARITIES = ("containment_a_in_b", "containment_b_in_a", "jaccard", "dice")
_MAX_COUNT = 2**63 - 1
_MAX_NUMBER = 1e300
_MAX_GROUPS = 1000
_SHOWN = 60
_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
}


def to_json(table: OverlapTable) -> str:
    """Write an overlap table as JSON that people can read too: a line for each row."""
    document = describe(table)
    groups, histories = document.pop("host_groups", None), document.pop("histories")
    provenance = document.pop("provenance")
    n_shared, se_shared = table.n_shared.tolist(), table.se_shared
    members = {
        **document,
        "n_shared": [[None if n == MISSING else n for n in row] for row in n_shared],
        "se_shared": se_shared
        if se_shared is None
        else [[None if math.isnan(se) else se for se in row] for row in se_shared.tolist()],
        "histories": histories,
        **({} if groups is None else {"host_groups": groups}),
        "similarities": [
            {"a": pair.a.label, "b": pair.b.label}
            | {similarity: getattr(pair, similarity) for similarity in _SIMILARITIES}
            for pair in table.pairs()
        ],
    }
    lines = [f'  "{name}": {_on_lines(value)}' for name, value in members.items()]
    return "{\n" + ",\n".join([*lines, f'  "provenance": {json.dumps(provenance)}']) + "\n}\n"


def _on_lines(value: object) -> str:
    """Write a list with a line for each item."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}": {_on_lines(own)}' for name, own in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
    return json.dumps(value)


def describe(table: OverlapTable) -> dict[str, Any]:
    """Return the document of a table without its matrices."""
    histories, groups = table.histories, table.host_groups
    crawls = []
    for crawl in table.crawls:
        times = {name: format_time(getattr(crawl, name)) for name in _TIMES}
        crawls.append(asdict(crawl) | {"date": crawl.date.isoformat()} | times)
    document = {
        "schema": SCHEMA,
        "level": table.level,
        "key_rule": table.key_rule,
        "sample_rate": table.sample_rate,
        "crawls": crawls,
        "histories": histories
        and {
            "sample_rate": histories.sample_rate,
            "rows": [
                [*row] for row in zip(_texts(histories), histories.counts.tolist(), strict=True)
            ],
        },
        "provenance": table.provenance.to_dict(),
    }
    if groups is not None:
        rows = [
            # Most groups have no URL of most histories.
            [
                text,
                [
                    number
                    for group in np.flatnonzero(row)
                    for number in (int(group), int(row[group]))
                ],
            ]
            for text, row in zip(_texts(groups), groups.counts, strict=True)
        ]
        rates = {"sample_rate": groups.sample_rate, "n_groups": groups.n_groups}
        document["host_groups"] = {**rates, "rows": rows}
    return document


_TIMES = ("first_capture", "last_capture")


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
    root = _Node(name=name, path="$", value=parse_json(text, name=name))
    parts = read_description(root.value, name=name)
    crawls, n = parts["crawls"], len(parts["crawls"])
    n_shared = root.member("n_shared").matrix(n, lambda cell: cell.count(), MISSING)
    sizes = np.array([crawl.n_counted for crawl in crawls])
    np.fill_diagonal(n_shared, np.where(n_shared.diagonal() == MISSING, sizes, n_shared.diagonal()))
    se_shared = root.get("se_shared")
    if se_shared.value is not None:
        parts["se_shared"] = se_shared.matrix(n, lambda cell: cell.number(), math.nan)
    parts.setdefault("provenance", provenance or Provenance())
    try:
        return OverlapTable(n_shared=n_shared, **parts)
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
    root = _Node(name=name, path="$", value=document)
    _check_schema(root.member("schema"))
    crawls = tuple(map(_read_crawl, root.member("crawls").items()))
    parts: dict[str, Any] = {"crawls": crawls, "sample_rate": root.rate()}
    if "level" in root.of(dict):
        parts["level"] = root.get("level").of(str)
    for member, read in (
        ("key_rule", lambda node: node.of(str)),
        ("histories", lambda node: _read_histories(node, len(crawls))),
        ("host_groups", lambda node: _read_groups(node, len(crawls))),
        ("provenance", _read_provenance),
    ):
        if root.get(member).value is not None:
            parts[member] = read(root.get(member))
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A value in a JSON document, with its path for messages."""

    name: str
    path: str
    value: Any

    def fail(self, problem: object) -> Never:
        raise OverlapError(f"{self.name}, at {self.path}: {problem}")

    def of(self, kind: type) -> Any:  # noqa: ANN401 - the kind is only known at run time
        """Return the value if it is of that kind."""
        if not isinstance(self.value, kind):
            self.fail(f"{_KINDS[kind]} is needed, not {self.shown}")
        return self.value

    @property
    def shown(self) -> str:
        """The value as JSON, cut where it is long."""
        text = json.dumps(self.value)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

    def member(self, key: str) -> "_Node":
        """Return a member that must be there."""
        if key not in self.of(dict):
            self.fail(f"the member {key!r} is missing")
        return self.get(key)

    def get(self, key: str) -> "_Node":
        """Return a member; its value is None if it is not there."""
        return _Node(name=self.name, path=f"{self.path}.{key}", value=self.of(dict).get(key))

    def items(self, length: int | None = None) -> list["_Node"]:
        """Return the items of a list, which must be `length` if that is given."""
        values = self.of(list)
        if length is not None and len(values) != length:
            self.fail(f"{length} items are needed, not {len(values)}")
        return [
            _Node(name=self.name, path=f"{self.path}[{k}]", value=value)
            for k, value in enumerate(values)
        ]

    def number(self) -> float:
        """Return a number of at least 0."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"a number is needed, not {self.shown}")
        if not 0 <= value <= _MAX_NUMBER:
            self.fail(f"{self.shown} is not within 0 to {_MAX_NUMBER}")
        return float(value)

    def count(self) -> int:
        """Return a whole number of at least 0."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(f"a whole number is needed, not {self.shown}")
        if not 0 <= value <= _MAX_COUNT:
            self.fail(f"{self.shown} is not within 0 to {_MAX_COUNT}")
        return value

    def rate(self) -> float:
        """Return the member that says which share was counted; 1 if there is none."""
        node = self.get("sample_rate")
        rate = node.number() if "sample_rate" in self.value else 1.0
        if not 0 < rate <= 1:
            node.fail(f"{rate} is no share above 0 and at most 1")
        return rate

    def matrix(
        self, n: int, read: "Callable[[_Node], float]", missing: float
    ) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return numbers in `n` rows and columns, with another number in the place of null."""
        rows = [
            [missing if cell.value is None else read(cell) for cell in row.items(n)]
            for row in self.items(n)
        ]
        return np.array(rows, type(missing)).reshape(n, n)

    def history(self, n_crawls: int) -> int:
        """Return the mask of a history."""
        try:
            return mask_from_history(self.of(str), n_crawls)
        except OverlapError as error:
            self.fail(error)


def _check_schema(node: _Node) -> None:
    schema = node.of(str)
    family, _, version = schema.partition("/")
    if family == SCHEMA.partition("/")[0] and version.isdecimal() and schema != SCHEMA:
        node.fail(
            f"{schema!r} is of another version of crawlgauge, this one reads {SCHEMA!r}; update it"
        )
    if schema != SCHEMA:
        node.fail(f"unknown schema {schema!r}; an overlap table has {SCHEMA!r}")


def _read_crawl(node: _Node) -> Crawl:
    others: dict[str, Any] = {}
    for time in (node.get(name) for name in _TIMES):
        try:
            others[time.path.rpartition(".")[2]] = time.value and parse_time(time.of(str))
        except ValueError:
            time.fail(f"{time.shown} is no time; write it as 2013-12-15T08:30:00Z")
    if node.get("n_sampled").value is not None:
        others["n_sampled"] = node.get("n_sampled").count()
    if node.get("damaged").value is not None:
        others["damaged"] = node.get("damaged").of(bool)
    label, date = node.member("label").of(str), node.member("date").of(str)
    n_urls = node.member("n_urls").count()
    try:
        return Crawl(label=label, date=parse_date(date), n_urls=n_urls, **others)
    except CrawlError as error:
        node.fail(error)


def _read_histories(node: _Node, n_crawls: int) -> Histories:
    counts: dict[int, int] = {}
    for row in node.member("rows").items():
        history, count = row.items(2)
        mask = history.history(n_crawls)
        if mask in counts:
            history.fail(f"history {history.value!r} stands there twice")
        counts[mask] = count.count()
    try:
        return make_histories(counts, n_crawls=n_crawls, sample_rate=node.rate())
    except OverlapError as error:
        node.fail(error)


def _read_groups(node: _Node, n_crawls: int) -> HostGroups:
    rows = [row.items(2) for row in node.member("rows").items()]
    n_groups = node.member("n_groups").count()
    if n_groups > _MAX_GROUPS:
        node.fail(f"{n_groups} groups of hosts; there can be {_MAX_GROUPS}")
    counts = np.zeros((len(rows), n_groups), np.int64)
    for row, (_, cells) in zip(counts, rows, strict=True):
        numbers = [cell.count() for cell in cells.items()]
        if len(numbers) % 2 or any(group >= n_groups for group in numbers[::2]):
            cells.fail(f"groups below {n_groups} are needed, each with its count")
        row[numbers[::2]] = numbers[1::2]
    masks = np.array([history.history(n_crawls) for history, _ in rows], np.uint64)
    try:
        return HostGroups(
            n_crawls=n_crawls,
            n_groups=n_groups,
            masks=masks,
            counts=counts,
            sample_rate=node.rate(),
        )
    except OverlapError as error:
        node.fail(error)


def _read_provenance(node: _Node) -> Provenance:
    for key, kind in (("settings", dict), ("inputs", list), ("created", str)):
        if node.get(key).value is not None:
            node.get(key).of(kind)
    try:
        return Provenance.from_dict(node.value)
    except (AttributeError, KeyError, TypeError) as error:
        node.fail(f"each input needs its name and checksum ({error!r})")
