"""Write the JSON Schemas of all results but the estimate's, which is written by hand.

They follow from the types of the results and from what their docstrings say of each member. Run it
after a change of these: ``python docs/reference/write_schemas.py``.
"""

import copy
import datetime as dt
import inspect
import json
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

from crawlgauge.crawl import Crawl
from crawlgauge.model.comparison import Comparison
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.newest import Measure, NewestCheck
from crawlgauge.model.plan import (
    CoverageTarget,
    NextCrawl,
    Plan,
    Situation,
    Standstill,
    UnionTarget,
)
from crawlgauge.model.recall import Recall
from crawlgauge.model.sensitivity import Movement, Movements
from crawlgauge.model.strata import Strata
from crawlgauge.model.turnover import CrawlTurnover, Turnover
from crawlgauge.overlaps.table import Reference
from crawlgauge.provenance import Provenance
from crawlgauge.report.crawls import LevelRecord
from crawlgauge.report.result_json import load_schema

FOLDER = Path(__file__).parents[2] / "src" / "crawlgauge" / "schemas"
BY_HAND = load_schema("estimate")
SHARED = {Estimate: "estimate", Crawl: "crawl", Provenance: "provenance"}
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}

Schema = dict[str, typing.Any]


def schema_of(hint: object) -> Schema:
    """Return the schema of what a type is written as."""
    if hint in SHARED:
        return {"$ref": f"#/$defs/{SHARED[hint]}"}
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if hint is dt.date:
        return {"type": "string", "format": "date"}
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(parts)}
    if origin in (typing.Union, types.UnionType):
        found = [schema_of(part) for part in parts]
        if all(item.keys() == {"type"} for item in found):
            return {"type": [item["type"] for item in found]}
        return {"anyOf": found}
    if origin is tuple:
        return {"type": "array", "items": schema_of(parts[0])}
    if origin in (Mapping, dict):
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if is_dataclass(hint):
        return members(hint)
    raise TypeError(f"{hint} has no form in JSON")


def members(kind: type, *, only: tuple[str, ...] = (), **changed: Schema | None) -> Schema:
    """Return the schema of a dataclass, some members of which are changed, added or left out."""
    hints, told = typing.get_type_hints(kind), describe(kind)
    own = {field.name: field for field in fields(kind) if not only or field.name in only}
    properties = {
        name: changed.pop(name) if name in changed else schema_of(hints[name]) for name in own
    } | changed
    found = {}
    for name, schema in properties.items():
        if schema is not None:
            about = {"description": told[name]} if name in told else {}
            found[name] = about | schema
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(found),
        "properties": found,
    }


def describe(kind: type) -> dict[str, str]:
    """Return what the docstring of a class says of its parameters."""
    text = inspect.getdoc(kind) or ""
    _, _, listed = text.partition("Parameters\n----------\n")
    told = {}
    for names, about in re.findall(
        r"^(\S[^\n]*)\n((?:    [^\n]*\n?|\n(?= ))+)", listed, re.MULTILINE
    ):
        for name in names.split(", "):
            told[name] = " ".join(about.split()).replace("``", "`")
    return told


def plain(**properties: Schema) -> Schema:
    """Return the schema of an object of these members."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def perhaps(schema: Schema) -> Schema:
    """Return the schema of what may be missing."""
    return {"anyOf": [schema, {"type": "null"}]}


TEXT, COUNT, SHARE = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "number"}
SAID = {"description": "The same in words.", "type": "string"}
NUMBER_OR_NULL = {"type": ["number", "null"]}
COUNTS = {"type": "object", "additionalProperties": COUNT}
TIME = {"type": ["string", "null"]}
CRAWL = BY_HAND["$defs"]["crawl"]["properties"]
START = ("population", "persistence", "growth", "union", "held_ratio", "n_urls", "largest")

TEXTS = {"type": "array", "items": {"type": "string"}}
COUNT, TEXT = {"type": "integer", "minimum": 0}, {"type": "string"}


def exactly(**properties: Schema) -> Schema:
    """Return the schema of an object with just these members."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*properties],
        "properties": properties,
    }


ANCHOR = exactly(
    name=TEXT,
    kind={"enum": ["uniform", "complete", "frontier"]},
    date={"type": ["string", "null"], "format": "date"},
    label={"type": ["string", "null"]},
    n_urls=COUNT,
    n_hosts=COUNT,
    n_queued={"type": ["integer", "null"], "minimum": 0},
    drawn=TEXTS,
    missing=TEXTS,
    left_out={"type": "object", "additionalProperties": COUNT},
    provenance={"$ref": "#/$defs/provenance"},
)

DOCUMENTS = {
    "anchors": (
        "What `crawlgauge anchor --json` writes: what a store keeps to hold its estimates against.",
        exactly(anchors={"type": "array", "items": ANCHOR}),
    ),
    "draw": (
        "What `crawlgauge anchor --draw --json` writes: hosts that were drawn evenly.",
        exactly(name=TEXT, hosts=TEXTS, n_listed=COUNT, seed={"type": "integer"}),
    ),
    "check": (
        "What `crawlgauge check --json` writes: the newest crawl beside those before it.",
        members(
            NewestCheck,
            measures={
                "type": "object",
                "additionalProperties": members(Measure, name=None),
            },
        ),
    ),
    "comparison": (
        "What `crawlgauge compare --json` writes: archives of one scope side by side.",
        members(Comparison),
    ),
    "history": (
        "What `crawlgauge history --json` writes: what became of URLs from crawl to crawl.",
        members(
            Turnover,
            per_crawl=None,
            crawls={"type": "array", "items": members(CrawlTurnover, **CRAWL)},
        ),
    ),
    "plan": (
        "What `crawlgauge plan --json` writes: what the next crawls would bring.",
        members(
            Plan,
            doubts=None,
            start=members(Situation, only=START),
            next_crawl=members(NextCrawl, statement=SAID),
            coverage_target=perhaps(members(CoverageTarget, statement=SAID)),
            union_target=perhaps(members(UnionTarget, statement=SAID)),
            standstill=perhaps(members(Standstill, statement=SAID)),
            comparison=TEXT | {"description": "What the schedules show, in words."},
            warnings={
                "description": "What to be careful about, in words, the gravest first.",
                "type": "array",
                "items": TEXT,
            },
        ),
    ),
    "recall": (
        "What `crawlgauge recall --json` writes: how much of a list the crawls hold.",
        members(
            Recall,
            reference=perhaps(members(Reference, left_out=COUNTS, n_repeated=COUNT)),
        ),
    ),
    "sensitivity": (
        "What moves an estimate, under `sensitivity` of `estimate --sensitivity --json`.",
        members(
            Movements,
            movements={
                "type": "array",
                "items": members(
                    Movement, coverage_moves=NUMBER_OR_NULL, persistence_moves=NUMBER_OR_NULL
                ),
            },
        ),
    ),
    "strata": (
        "What `crawlgauge strata --json` writes: coverage by host, domain or media type.",
        members(
            Strata,
            noun=None,
            crawls={
                "type": "array",
                "items": plain(**{name: CRAWL[name] for name in ("label", "date", "damaged")}),
            },
            newest=TEXT,
        ),
    ),
    "crawls": (
        "What `crawlgauge list --json` writes, and `add --json` with `outcomes` beside it.",
        plain(
            crawls={
                "type": "array",
                "items": plain(
                    label=CRAWL["label"],
                    date=CRAWL["date"],
                    first_capture=TIME,
                    last_capture=TIME,
                    n_captures=COUNT,
                    n_urls=CRAWL["n_urls"],
                    n_sampled=CRAWL["n_sampled"],
                    n_rejected=COUNT,
                    rejected=COUNTS,
                    excluded=COUNTS,
                    unassigned=COUNTS,
                    n_no_status=COUNT,
                    damaged=CRAWL["damaged"],
                    damage={
                        "type": "array",
                        "items": plain(
                            file=TEXT,
                            byte={"type": ["integer", "null"]},
                            reason=TEXT,
                            lost=TEXT,
                        ),
                    },
                    sample_rate=SHARE,
                    key_rule=TEXT,
                    levels={"type": "array", "items": members(LevelRecord)},
                ),
            }
        ),
    ),
    "verify": (
        "What `crawlgauge verify --json` writes: what re-reading the crawls of a store showed.",
        plain(
            crawls={
                "type": "array",
                "items": plain(label=CRAWL["label"], problem={"type": ["string", "null"]}),
            }
        ),
    ),
}


def write(name: str) -> str:
    """Return the text of a schema."""
    about, body = copy.deepcopy(DOCUMENTS[name])
    body["required"].insert(0, "schema")
    body["properties"] = {"schema": {"const": f"crawlgauge.{name}/1"}} | body["properties"]
    if name == "crawls":
        outcome = {"enum": ["added", "replaced", "appended", "unchanged"]}
        body["properties"]["outcomes"] = {"type": "object", "additionalProperties": outcome}
    document = {
        "$schema": BY_HAND["$schema"],
        "$id": f"urn:crawlgauge:{name}:1",
        "title": f"crawlgauge.{name}/1",
        "description": about,
        **body,
    }
    named = {**BY_HAND["$defs"], "provenance": BY_HAND["properties"]["provenance"]}
    used: dict[str, Schema] = {}
    waiting = [document]
    while waiting:
        for found in re.findall(r"#/\$defs/(\w+)", json.dumps(waiting.pop())):
            if found not in used:
                used[found] = named[found]
                waiting.append(named[found])
    if used:
        document["$defs"] = dict(sorted(used.items()))
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for each in DOCUMENTS:
        (FOLDER / f"{each}.schema.json").write_text(write(each), encoding="utf-8")
