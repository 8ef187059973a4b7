"""Results as JSON: one writer for all, schemas ``crawlgauge.NAME/1``."""

import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from crawlgauge.crawl import Crawl
from crawlgauge.provenance import Provenance

if TYPE_CHECKING:
    from crawlgauge.model.comparison import Comparison
    from crawlgauge.model.estimates import Estimates
    from crawlgauge.model.newest import NewestCheck
    from crawlgauge.model.plan import Plan
    from crawlgauge.model.recall import Recall
    from crawlgauge.model.sensitivity import Movements
    from crawlgauge.model.strata import Strata
    from crawlgauge.model.turnover import Turnover

_CRAWL = ("label", "date", "n_urls", "n_sampled", "damaged")
_START = ("population", "persistence", "growth", "union", "held_ratio", "n_urls", "largest")


def to_json(document: Mapping[str, object], *, indent: int | None = 1) -> str:
    """Return a document as JSON text, without a final newline."""
    return json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)


def load_schema(name: str = "estimate") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that a result keeps to.

    Parameters
    ----------
    name
        As in ``crawlgauge.NAME/1``, the result's member ``schema``.

    Examples
    --------
    >>> load_schema("plan")["properties"]["schema"]
    {'const': 'crawlgauge.plan/1'}
    """
    place = resources.files("crawlgauge").joinpath("schemas", f"{name}.schema.json")
    schema: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return schema


# ------------------------------------------------------------------------------------- documents


def estimate_document(estimates: "Estimates") -> dict[str, Any]:
    """Return estimates as plain data."""
    return _document("estimate", estimates)


def check_document(check: "NewestCheck") -> dict[str, Any]:
    """Return a check of the newest crawl as plain data, with its measures by name."""
    measures = {measure.name: _plain(measure, measure.name) for measure in check.measures}
    for measure in measures.values():
        del measure["name"]
    return _document("check", check, measures=measures)


def comparison_document(comparison: "Comparison") -> dict[str, Any]:
    """Return a comparison of two archives as plain data."""
    return _document("comparison", comparison)


def history_document(turnover: "Turnover") -> dict[str, Any]:
    """Return what became of URLs from crawl to crawl as plain data, crawl by crawl."""
    crawls = [
        _plain(crawl, "crawls") | _plain(row, crawl.label)
        for crawl, row in zip(turnover.crawls, turnover.per_crawl, strict=True)
    ]
    return _document("history", turnover, without=("per_crawl",), crawls=crawls)


def plan_document(plan: "Plan") -> dict[str, Any]:
    """Return a plan as plain data, with what it starts from."""
    from crawlgauge.report import plan_blocks

    changed: dict[str, object] = {
        name: _plain(getattr(plan, name), name) | {"statement": statement}
        for name, statement in plan_blocks.say_parts(plan).items()
    }
    start = {name: _plain(getattr(plan.start, name), f"start.{name}") for name in _START}
    return _document(
        "plan",
        plan,
        without=("doubts",),
        start=start,
        comparison=plan_blocks.compare_schedules(plan),
        warnings=list(plan_blocks.say_doubts(plan)),
        **changed,
    )


def recall_document(recall: "Recall") -> dict[str, Any]:
    """Return a recall as plain data."""
    reference = None
    if recall.reference is not None:
        reference = _plain(recall.reference, "reference") | {
            "n_repeated": recall.reference.n_repeated,
            "left_out": dict(recall.reference.left_out),
        }
    return _document("recall", recall, reference=reference)


def sensitivity_document(movements: "Movements") -> dict[str, Any]:
    """Return what moves the estimates as plain data, what moves them most first."""
    moves = [
        _plain(movement, "movements")
        | {
            "coverage_moves": movement.coverage_moves,
            "persistence_moves": movement.persistence_moves,
        }
        for movement in movements.movements
    ]
    return _document("sensitivity", movements, movements=moves)


def strata_document(strata: "Strata") -> dict[str, Any]:
    """Return strata as plain data, all of them."""
    crawls = [
        {"label": crawl.label, "date": crawl.date.isoformat(), "damaged": crawl.damaged}
        for crawl in strata.crawls
    ]
    return _document("strata", strata, without=("noun",), newest=strata.newest, crawls=crawls)


# ------------------------------------------------------------------------------------ the writer


def _document(
    name: str, result: object, *, without: tuple[str, ...] = (), **changed: object
) -> dict[str, Any]:
    """Return all fields of a result but some, with what is to stand in their place or beside."""
    plain = {
        key: changed.pop(key) if key in changed else _plain(value, key)
        for key, value in _values(result).items()
        if key not in without
    }
    return {"schema": f"crawlgauge.{name}/1"} | plain | changed


def _values(result: object) -> dict[str, object]:
    return {field.name: getattr(result, field.name) for field in fields(result)}  # type: ignore[arg-type]


def _plain(value: object, path: str) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return dataclasses as plain data, in the order of their fields.

    Raises
    ------
    ValueError
        If a number is not finite: what is unknown must be None, with a reason.
    """
    if isinstance(value, Crawl):
        return {name: _plain(getattr(value, name), name) for name in _CRAWL}
    if isinstance(value, Provenance):
        return value.to_dict()
    if is_dataclass(value):
        return {key: _plain(own, f"{path}.{key}") for key, own in _values(value).items()}
    if isinstance(value, tuple):
        return [_plain(entry, f"{path}[{k}]") for k, entry in enumerate(value)]
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} is {value}; only finite numbers or None can be written")
    return value
