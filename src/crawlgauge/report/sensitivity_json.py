"""`Movements` as JSON, schema ``crawlgauge.sensitivity/1``."""

import json
from dataclasses import fields
from typing import Any

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.sensitivity import Movement, Movements

__all__ = ["SCHEMA", "to_dict", "to_json"]

SCHEMA = "crawlgauge.sensitivity/1"


def to_dict(movements: Movements) -> dict[str, Any]:
    """Return what moves the estimates as plain data, what moves them most first."""
    return {
        "schema": SCHEMA,
        "level": movements.level,
        "coverage": _number(movements.coverage),
        "persistence": _number(movements.persistence),
        "estimator": movements.estimator,
        "verdict": movements.verdict,
        "meanings": list(movements.meanings),
        "movements": [_movement(movement) for movement in movements.movements],
        "part_rate": movements.part_rate,
        "reading_rate": movements.reading_rate,
        "not_tried": list(movements.not_tried),
    }


def to_json(movements: Movements) -> str:
    """Return the same as JSON text, without a final newline."""
    return json.dumps(to_dict(movements), ensure_ascii=False, indent=1, allow_nan=False)


def _movement(movement: Movement) -> dict[str, Any]:
    return {
        "kind": movement.kind,
        "subject": movement.subject,
        "change": movement.change,
        "coverage": _number(movement.coverage),
        "coverage_before": movement.coverage_before,
        "coverage_moves": movement.coverage_moves,
        "persistence": _number(movement.persistence),
        "persistence_before": movement.persistence_before,
        "persistence_moves": movement.persistence_moves,
        "estimator": movement.estimator,
        "weight": movement.weight,
    }


def _number(number: Estimate) -> dict[str, Any]:
    return {field.name: getattr(number, field.name) for field in fields(number)}
