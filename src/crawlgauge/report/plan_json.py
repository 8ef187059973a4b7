"""A plan as JSON, schema ``crawlgauge.plan/1``."""

import json
from dataclasses import fields
from typing import Any

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.situation import Plan
from crawlgauge.report.estimate_json import to_plain

__all__ = ["SCHEMA", "to_dict", "to_json"]

SCHEMA = "crawlgauge.plan/1"
_START = ("population", "persistence", "growth", "union", "held_ratio", "n_urls", "largest")


def to_dict(plan: Plan, estimates: Estimates) -> dict[str, Any]:
    """Return a plan as plain data, in the order of its fields.

    Parameters
    ----------
    plan
        The plan.
    estimates
        What it was made from.

    Raises
    ------
    ValueError
        If a number is not finite: what is unknown must be None, with a reason.
    """
    parts = {
        field.name: to_plain(getattr(plan, field.name), field.name)
        for field in fields(plan)
        if field.name != "start"
    }
    start = {name: to_plain(getattr(plan.start, name), f"start.{name}") for name in _START}
    return {
        "schema": SCHEMA,
        "level": parts.pop("level"),
        "newest": to_plain(estimates.crawls[-1], "newest"),
        "start": start,
        **parts,
        "provenance": estimates.provenance.to_dict(),
    }


def to_json(plan: Plan, estimates: Estimates) -> str:
    """Return a plan as JSON text, without a final newline."""
    return json.dumps(to_dict(plan, estimates), ensure_ascii=False, indent=1, allow_nan=False)
