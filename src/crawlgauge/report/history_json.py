"""`Turnover` as JSON, schema ``crawlgauge.history/1``."""

import json
from dataclasses import fields
from typing import Any

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.turnover import CrawlTurnover, Turnover

__all__ = ["SCHEMA", "to_dict", "to_json"]

SCHEMA = "crawlgauge.history/1"


def to_dict(turnover: Turnover) -> dict[str, Any]:
    """Return what became of URLs from crawl to crawl as plain data."""
    return {
        "schema": SCHEMA,
        "level": turnover.level,
        "sample_rate": turnover.sample_rate,
        "n_distinct": _number(turnover.n_distinct),
        "self_overlap": _number(turnover.self_overlap),
        "forgotten_share": _number(turnover.forgotten_share),
        "crawls": [
            {
                "label": crawl.label,
                "date": crawl.date.isoformat(),
                "n_urls": crawl.n_urls,
                "n_sampled": crawl.n_sampled,
                "damaged": crawl.damaged,
                **_numbers(row),
            }
            for crawl, row in zip(turnover.crawls, turnover.per_crawl, strict=True)
        ],
        "capture_frequencies": [_number(number) for number in turnover.capture_frequencies],
        "warnings": list(turnover.warnings),
        "provenance": turnover.provenance.to_dict(),
    }


def to_json(turnover: Turnover) -> str:
    """Return the same as JSON text, without a final newline."""
    return json.dumps(to_dict(turnover), ensure_ascii=False, indent=1, allow_nan=False)


def _numbers(row: CrawlTurnover) -> dict[str, Any]:
    return {
        field.name: _number(getattr(row, field.name))
        for field in fields(row)
        if field.name != "label"
    }


def _number(number: Estimate) -> dict[str, Any]:
    return {field.name: getattr(number, field.name) for field in fields(number)}
