"""Overlap tables as JSON, schema ``crawlgauge.overlaps/1``: everything that a table holds."""

import datetime as dt
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl, format_time, parse_date, parse_time
from crawlgauge.errors import CrawlError, OverlapError
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.histories_csv import (
    history_from_mask,
    make_histories,
    mask_from_history,
)
from crawlgauge.overlaps.json_node import Node, parse_json, shorten
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = [
    "SCHEMA",
    "Description",
    "describe",
    "from_json",
    "read_description",
    "to_json",
]

SCHEMA = "crawlgauge.overlaps/1"

_FAMILY = SCHEMA.partition("/")[0]
_SIMILARITIES = ("containment_a_in_b", "containment_b_in_a", "jaccard", "dice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """All parts of an overlap table but the matrices."""

    crawls: tuple[Crawl, ...]
    histories: Histories | None
    level: str
    key_rule: str | None
    sample_rate: float
    provenance: Provenance | None


def to_json(table: OverlapTable) -> str:
    """Write an overlap table as JSON that people can read too: a line for each row."""
    document = describe(table)
    crawls, histories = document.pop("crawls"), document.pop("histories")
    provenance = document.pop("provenance")
    members = {name: json.dumps(value) for name, value in document.items()}
    members["crawls"] = _on_lines(crawls)
    members["n_shared"] = _on_lines(
        [[None if n == MISSING else n for n in row] for row in table.n_shared.tolist()]
    )
    members["se_shared"] = "null"
    if table.se_shared is not None:
        members["se_shared"] = _on_lines(
            [[None if math.isnan(se) else se for se in row] for row in table.se_shared.tolist()]
        )
    members["histories"] = "null"
    if histories is not None:
        rate, rows = json.dumps(histories["sample_rate"]), _on_lines(histories["rows"])
        members["histories"] = f'{{"sample_rate": {rate}, "rows": {rows}}}'
    members["similarities"] = _on_lines(
        [
            {"a": pair.a.label, "b": pair.b.label}
            | {similarity: getattr(pair, similarity) for similarity in _SIMILARITIES}
            for pair in table.pairs()
        ]
    )
    members["provenance"] = json.dumps(provenance)
    body = ",\n".join(f'  "{name}": {text}' for name, text in members.items())
    return f"{{\n{body}\n}}\n"


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
    root = Node(name=name, path="$", value=document)
    description = read_description(document, name=name)
    crawls = description.crawls
    n_shared = _read_matrix(root.member("n_shared"), len(crawls))
    for k, crawl in enumerate(crawls):
        if n_shared[k, k] == MISSING:
            n_shared[k, k] = crawl.n_counted
    se_node = root.get("se_shared")
    se_shared = None if se_node.value is None else _read_errors(se_node, len(crawls))
    try:
        return OverlapTable(
            crawls=crawls,
            n_shared=n_shared,
            se_shared=se_shared,
            histories=description.histories,
            level=description.level,
            key_rule=description.key_rule,
            sample_rate=description.sample_rate,
            provenance=description.provenance or provenance or Provenance(),
        )
    except OverlapError as error:
        raise OverlapError(f"{name}: {error}") from error


def describe(table: OverlapTable) -> dict[str, Any]:
    """Return the document of a table without its matrices."""
    histories = table.histories
    return {
        "schema": SCHEMA,
        "level": table.level,
        "key_rule": table.key_rule,
        "sample_rate": table.sample_rate,
        "crawls": [
            {
                "label": crawl.label,
                "date": crawl.date.isoformat(),
                "n_urls": crawl.n_urls,
                "n_sampled": crawl.n_sampled,
                "first_capture": format_time(crawl.first_capture),
                "last_capture": format_time(crawl.last_capture),
                "damaged": crawl.damaged,
            }
            for crawl in table.crawls
        ],
        "histories": histories
        and {
            "sample_rate": histories.sample_rate,
            "rows": [
                [history_from_mask(mask, histories.n_crawls), count]
                for mask, count in zip(
                    histories.masks.tolist(), histories.counts.tolist(), strict=True
                )
            ],
        },
        "provenance": table.provenance.to_dict(),
    }


def read_description(document: object, *, name: str) -> Description:
    """Read what `describe` returned; unknown members are passed over.

    Raises
    ------
    OverlapError
        If the schema is another one, or a member has the wrong shape; the message names it.
    """
    root = Node(name=name, path="$", value=document)
    _check_schema(root.member("schema"))
    crawls = tuple(_read_crawl(node) for node in root.member("crawls").items())
    histories, key_rule = root.get("histories"), root.get("key_rule")
    provenance = root.get("provenance")
    return Description(
        crawls=crawls,
        histories=None if histories.value is None else _read_histories(histories, len(crawls)),
        level="url" if "level" not in root.of(dict) else root.get("level").of(str),
        key_rule=None if key_rule.value is None else key_rule.of(str),
        sample_rate=_read_rate(root),
        provenance=None if provenance.value is None else _read_provenance(provenance),
    )


def _on_lines(items: list[Any]) -> str:
    if not items:
        return "[]"
    return "[\n    " + ",\n    ".join(json.dumps(item) for item in items) + "\n  ]"


def _check_schema(node: Node) -> None:
    schema = node.of(str)
    family, _, version = schema.partition("/")
    if schema == SCHEMA:
        return
    if family == _FAMILY and version.isdecimal():
        node.fail(
            f"{schema!r} is of another version of crawlgauge, this one reads {SCHEMA!r}; update it"
        )
    node.fail(f"unknown schema {schema!r}; an overlap table has {SCHEMA!r}")


def _read_crawl(node: Node) -> Crawl:
    n_sampled, damaged = node.get("n_sampled"), node.get("damaged")
    try:
        return Crawl(
            label=node.member("label").of(str),
            date=parse_date(node.member("date").of(str)),
            n_urls=node.member("n_urls").count(),
            n_sampled=None if n_sampled.value is None else n_sampled.count(),
            first_capture=_read_time(node.get("first_capture")),
            last_capture=_read_time(node.get("last_capture")),
            damaged=False if damaged.value is None else damaged.of(bool),
        )
    except CrawlError as error:
        node.fail(str(error))


def _read_time(node: Node) -> dt.datetime | None:
    if node.value is None:
        return None
    try:
        return parse_time(node.of(str))
    except ValueError:
        node.fail(f"{shorten(node.value)} is no time; write it as 2013-12-15T08:30:00Z")


def _read_rate(parent: Node) -> float:
    if "sample_rate" not in parent.of(dict):
        return 1.0
    node = parent.get("sample_rate")
    rate = node.number()
    if not 0 < rate <= 1:
        node.fail(f"{rate} is no share above 0 and at most 1")
    return rate


def _read_matrix(node: Node, n: int) -> NDArray[np.int64]:
    rows = [
        [MISSING if cell.value is None else cell.count() for cell in row.items(n)]
        for row in node.items(n)
    ]
    return np.array(rows, dtype=np.int64).reshape(n, n)


def _read_errors(node: Node, n: int) -> NDArray[np.float64]:
    rows = [
        [np.nan if cell.value is None else cell.number() for cell in row.items(n)]
        for row in node.items(n)
    ]
    return np.array(rows, dtype=np.float64).reshape(n, n)


def _read_histories(node: Node, n_crawls: int) -> Histories:
    counts: dict[int, int] = {}
    for row in node.member("rows").items():
        history, count = row.items(2)
        try:
            mask = mask_from_history(history.of(str), n_crawls)
        except OverlapError as error:
            history.fail(str(error))
        if mask in counts:
            history.fail(f"history {history.value!r} stands there twice")
        counts[mask] = count.count()
    try:
        return make_histories(counts, n_crawls=n_crawls, sample_rate=_read_rate(node))
    except OverlapError as error:
        node.fail(str(error))


def _read_provenance(node: Node) -> Provenance:
    document = node.of(dict)
    for key in ("settings", "inputs"):
        if key in document:
            node.get(key).of(dict if key == "settings" else list)
    for key in document.get("settings", {}):
        setting = node.get("settings").get(key)
        if isinstance(setting.value, dict | list):
            setting.fail("a text, a number, true, false or null is needed")
    for entry in node.get("inputs").items() if "inputs" in document else []:
        entry.member("name").of(str)
        entry.member("checksum").of(str)
        if entry.get("n_bytes").value is not None:
            entry.get("n_bytes").count()
    if node.get("created").value is not None:
        node.get("created").of(str)
    return Provenance.from_dict(document)
