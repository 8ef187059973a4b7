"""`Comparison` as JSON, schema ``crawlgauge.comparison/1``."""

import json
from dataclasses import fields
from typing import Any

from crawlgauge.model.comparison import Comparison
from crawlgauge.report.estimate_json import to_plain

__all__ = ["SCHEMA", "to_dict", "to_json"]

SCHEMA = "crawlgauge.comparison/1"


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data, in the order in which the schema lists it."""
    return {"schema": SCHEMA} | {
        field.name: to_plain(getattr(comparison, field.name), field.name)
        for field in fields(comparison)
    }


def to_json(comparison: Comparison) -> str:
    """Return a comparison as JSON text, without a final newline."""
    return json.dumps(to_dict(comparison), ensure_ascii=False, indent=1, allow_nan=False)
