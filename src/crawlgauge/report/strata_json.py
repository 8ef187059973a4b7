"""`Strata` as JSON, schema ``crawlgauge.strata/1``, and as CSV."""

import csv
import io
import json
from dataclasses import fields
from typing import Any

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.strata import Strata, StratumEstimate, Whole

__all__ = ["SCHEMA", "to_csv", "to_dict", "to_json"]

SCHEMA = "crawlgauge.strata/1"

_ESTIMATES = ("coverage", "population", "missing", "persistence", "typical_coverage")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_dict(strata: Strata) -> dict[str, Any]:
    """Return the strata as plain data, all of them."""
    return {
        "schema": SCHEMA,
        "by": strata.by,
        "newest": strata.newest,
        "crawls": [
            {"label": crawl.label, "date": crawl.date.isoformat(), "damaged": crawl.damaged}
            for crawl in strata.crawls
        ],
        "sample_rate": strata.sample_rate,
        "n_distinct": strata.n_distinct,
        "n_pooled": strata.n_pooled,
        "min_shared": strata.min_shared,
        "suffix_list": strata.suffix_list,
        "statement": strata.statement,
        "post_stratified": _whole(strata.post_stratified),
        "own_sum": strata.own_sum,
        "strata": [_stratum(stratum) for stratum in strata.strata],
        "warnings": list(strata.warnings),
        "provenance": strata.provenance.to_dict(),
    }


def to_json(strata: Strata) -> str:
    """Return the same as JSON text, without a final newline."""
    return json.dumps(to_dict(strata), ensure_ascii=False, indent=1, allow_nan=False)


def to_csv(strata: Strata) -> str:
    """Return all strata as CSV, a row each, safe to be opened by a spreadsheet.

    A name that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    columns = [f"{name}{end}" for name in _ESTIMATES for end in ("", "_low", "_high")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([strata.by, "n_pooled", "n_urls", "n_crawls", *columns, "note"])
    for stratum in strata.strata:
        numbers = [getattr(stratum, name) for name in _ESTIMATES]
        ends = [_cell(end) for number in numbers for end in (number.value, number.low, number.high)]
        is_formula = stratum.name.startswith(_FORMULA_STARTS)
        name = f"'{stratum.name}" if is_formula else stratum.name
        writer.writerow(
            [name, stratum.n_pooled, stratum.n_urls, stratum.n_crawls, *ends, stratum.note]
        )
    return text.getvalue()


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def _stratum(stratum: StratumEstimate) -> dict[str, Any]:
    return {
        "name": stratum.name,
        "n_pooled": stratum.n_pooled,
        "n_urls": stratum.n_urls,
        "n_crawls": stratum.n_crawls,
        **{name: _number(getattr(stratum, name)) for name in _ESTIMATES},
        "note": stratum.note,
    }


def _whole(whole: Whole) -> dict[str, Any]:
    return {"coverage": _number(whole.coverage), "population": _number(whole.population)}


def _number(number: Estimate) -> dict[str, Any]:
    return {field.name: getattr(number, field.name) for field in fields(number)}
