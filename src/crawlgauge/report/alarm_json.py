"""A check of the newest crawl as JSON in one line, schema ``crawlgauge.check/1``."""

import json
from typing import Any

from crawlgauge.model.expectation import Measure, NewestCheck
from crawlgauge.report.estimate_json import to_plain

__all__ = ["to_dict", "to_json"]

SCHEMA = "crawlgauge.check/1"


def to_dict(check: NewestCheck) -> dict[str, Any]:
    """Return a check as plain data, what decides first.

    Raises
    ------
    ValueError
        If a number is not finite: what is unknown must be None, with a reason.
    """
    return {
        "schema": SCHEMA,
        "status": check.status,
        "cause": check.cause,
        "statement": check.statement,
        "level": check.level,
        "grade": check.grade,
        "newest": to_plain(check.newest, "newest"),
        "measures": {measure.name: _measure(measure) for measure in check.measures},
        "compared_with": list(check.compared_with),
        "overlap_with": check.overlap_with,
        "scatter": check.scatter,
        "false_alarms": check.false_alarms,
        "threshold": check.threshold,
        "warnings": list(check.warnings),
        "provenance": check.provenance.to_dict(),
    }


def to_json(check: NewestCheck) -> str:
    """Return a check as one line of JSON, as logs and monitoring read it, without its newline."""
    return json.dumps(to_dict(check), ensure_ascii=False, allow_nan=False)


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "course": measure.course,
        "found": measure.found,
        "low": measure.low,
        "high": measure.high,
        "expected": to_plain(measure.expected, f"{measure.name}.expected"),
        "change": to_plain(measure.change, f"{measure.name}.change"),
        "chance": measure.chance,
    }
