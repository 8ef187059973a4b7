"""The JSON Schema of ``crawlgauge.estimate/1``, as it ships with the package."""

import json
from importlib import resources
from typing import Any

__all__ = ["load_schema"]


def load_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that `estimate --json` keeps to.

    Examples
    --------
    >>> load_schema()["properties"]["schema"]
    {'const': 'crawlgauge.estimate/1'}
    """
    text = resources.files("crawlgauge.report").joinpath("estimate.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
