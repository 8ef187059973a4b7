"""`Estimates` as JSON, schema ``crawlgauge.estimate/1``."""

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimates
from crawlgauge.provenance import Provenance

__all__ = ["to_dict", "to_json", "to_plain"]

SCHEMA = "crawlgauge.estimate/1"


def to_dict(estimates: Estimates) -> dict[str, Any]:
    """Return the estimates as plain data, in the order in which the schema lists them.

    Raises
    ------
    ValueError
        If a number is not finite: what is unknown must be None, with a reason.
    """
    # The fields of the dataclasses are declared in the order of the schema.
    return {"schema": SCHEMA} | {
        field.name: to_plain(getattr(estimates, field.name), field.name)
        for field in fields(estimates)
    }


def to_json(estimates: Estimates) -> str:
    """Return the estimates as JSON text, without a final newline.

    Raises
    ------
    ValueError
        If a number is not finite: what is unknown must be None, with a reason.
    """
    return json.dumps(to_dict(estimates), ensure_ascii=False, indent=1, allow_nan=False)


def to_plain(value: object, path: str) -> object:
    """Return dataclasses as plain data, in the order of their fields.

    Parameters
    ----------
    value
        What to write.
    path
        Where it stands, for the message of an error.

    Raises
    ------
    ValueError
        If a number is not finite: what is unknown must be None, with a reason.
    """
    if isinstance(value, Crawl):
        return _crawlto_plain(value)
    if isinstance(value, Provenance):
        return value.to_dict()
    if is_dataclass(value):
        return {
            field.name: to_plain(getattr(value, field.name), f"{path}.{field.name}")
            for field in fields(value)
        }
    if isinstance(value, tuple):
        return [to_plain(entry, f"{path}[{k}]") for k, entry in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} is {value}; only finite numbers or None can be written")
    return value


def _crawlto_plain(crawl: Crawl) -> dict[str, Any]:
    return {
        "label": crawl.label,
        "date": crawl.date.isoformat(),
        "n_urls": crawl.n_urls,
        "n_sampled": crawl.n_sampled,
        "damaged": crawl.damaged,
    }
