"""`Recall` as JSON, schema ``crawlgauge.recall/1``."""

import json
from dataclasses import fields
from typing import Any

from crawlgauge.model.recall import Recall, Reference
from crawlgauge.report.estimate_json import to_plain

__all__ = ["SCHEMA", "to_dict", "to_json"]

SCHEMA = "crawlgauge.recall/1"


def to_dict(recall: Recall) -> dict[str, Any]:
    """Return a recall as plain data, in the order in which the schema lists it."""
    document = {"schema": SCHEMA} | {
        field.name: to_plain(getattr(recall, field.name), field.name)
        for field in fields(recall)
        if field.name != "reference"
    }
    reference = None if recall.reference is None else _describe(recall.reference)
    return {"schema": SCHEMA, "key_rule": recall.key_rule, "reference": reference} | document


def to_json(recall: Recall) -> str:
    """Return a recall as JSON text, without a final newline."""
    return json.dumps(to_dict(recall), ensure_ascii=False, indent=1, allow_nan=False)


def _describe(reference: Reference) -> dict[str, Any]:
    return {
        "name": reference.name,
        "kind": reference.kind,
        "n_entries": reference.n_entries,
        "n_distinct": reference.n_distinct,
        "n_repeated": reference.n_repeated,
        "left_out": dict(reference.left_out),
        "date": None if reference.date is None else reference.date.isoformat(),
    }
