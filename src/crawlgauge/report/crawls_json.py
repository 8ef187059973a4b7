"""The crawls of a store as JSON, schema ``crawlgauge.crawls/1``."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crawlgauge.crawl import Crawl, format_time
from crawlgauge.damage import Damage

__all__ = ["CrawlRecord", "LevelRecord", "to_json"]

SCHEMA = "crawlgauge.crawls/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRecord:
    """What is told about one crawl at another level than that of its URLs.

    Parameters
    ----------
    level
        ``content`` or ``text``.
    key_rule
        Name and version of the rule by which two of them are the same.
    n_distinct
        How many different ones there are; estimated where only a sample is known.
    n_sampled
        How many are in the sample; None where all are known.
    n_captures
        Captures that were counted.
    missing
        Captures that count by their URL but not at this level, by reason.
    n_by_digest
        Captures of the level ``text`` that are told by their digest.
    """

    level: str
    key_rule: str
    n_distinct: int
    n_sampled: int | None
    n_captures: int
    missing: Mapping[str, int]
    n_by_digest: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "level": self.level,
            "key_rule": self.key_rule,
            "n_distinct": self.n_distinct,
            "n_sampled": self.n_sampled,
            "n_captures": self.n_captures,
            "missing": dict(self.missing),
            "n_by_digest": self.n_by_digest,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRecord:
    """What is told about one crawl of a store: the crawl, and what its files were read into.

    Parameters
    ----------
    crawl
        Label, date, sizes, first and last capture, damage.
    n_captures
        Captures that were counted.
    rejected
        Number of lines or records that could not be read, by reason.
    excluded
        Number of captures that were read and left out by a rule, by reason.
    sample_rate
        Share of the keys that is kept.
    key_rule
        Name and version of the rule by which two URLs are the same.
    unassigned
        Number of records of a collection that belong to none of its crawls, by reason.
    n_no_status
        Captures that were counted although their input gives no status for them.
    damage
        What was damaged in the input.
    levels
        The crawl at other levels.
    """

    crawl: Crawl
    n_captures: int
    rejected: Mapping[str, int]
    excluded: Mapping[str, int]
    sample_rate: float
    key_rule: str
    unassigned: Mapping[str, int] = field(default_factory=dict)
    n_no_status: int = 0
    damage: tuple[Damage, ...] = ()
    levels: tuple[LevelRecord, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rejected", "excluded", "unassigned"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def n_rejected(self) -> int:
        """Number of lines or records that could not be read."""
        return sum(self.rejected.values())

    @property
    def n_excluded(self) -> int:
        """Number of captures that a rule left out."""
        return sum(self.excluded.values())


def to_dict(record: CrawlRecord) -> dict[str, Any]:
    """Return one crawl as plain data."""
    crawl = record.crawl
    return {
        "label": crawl.label,
        "date": crawl.date.isoformat(),
        "first_capture": format_time(crawl.first_capture),
        "last_capture": format_time(crawl.last_capture),
        "n_captures": record.n_captures,
        "n_urls": crawl.n_urls,
        "n_sampled": crawl.n_sampled,
        "n_rejected": record.n_rejected,
        "rejected": dict(record.rejected),
        "excluded": dict(record.excluded),
        "unassigned": dict(record.unassigned),
        "n_no_status": record.n_no_status,
        "damaged": crawl.damaged,
        "damage": [damage.to_dict() for damage in record.damage],
        "sample_rate": record.sample_rate,
        "key_rule": record.key_rule,
        "levels": [_url_level(record).to_dict(), *(level.to_dict() for level in record.levels)],
    }


def _url_level(record: CrawlRecord) -> LevelRecord:
    return LevelRecord(
        level="url",
        key_rule=record.key_rule,
        n_distinct=record.crawl.n_urls,
        n_sampled=record.crawl.n_sampled,
        n_captures=record.n_captures,
        missing={},
    )


def to_json(records: Sequence[CrawlRecord], **extra: object) -> str:
    """Return crawls as JSON text, without a final newline.

    Parameters
    ----------
    records
        In the order in which they are to appear.
    **extra
        Further members of the document, by name; they come after the crawls.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    document = {"schema": SCHEMA, "crawls": [to_dict(record) for record in records], **extra}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
