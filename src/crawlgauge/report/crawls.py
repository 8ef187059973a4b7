"""The crawls of a store in words, for a terminal."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crawlgauge.crawl import Crawl, format_time
from crawlgauge.errors import Damage
from crawlgauge.report.blocks import Block, Column, Grid, Paragraph, render_blocks

__all__ = [
    "CrawlRecord",
    "LevelRecord",
    "describe_added",
    "list_reasons",
    "to_blocks",
    "to_json",
    "to_text",
]


# ------------------------------------ the crawls of a store as JSON, schema ``crawlgauge.crawls/1``


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


# --------------------------------------------------- the crawls of a store in words, for a terminal


_WIDTH = 88
_TABLE_WIDTH = 100

_REASONS = {
    "bad-json": "with broken JSON",
    "bad-quotes": "with misplaced quotation marks",
    "bad-status": "with a status that is none",
    "bad-time": "with a time that is none",
    "continuation": "continuing another record",
    "control-character": "with control characters",
    "conversion": "holding a conversion",
    "error": "with an error status (4xx, 5xx)",
    "filedesc": "describing an ARC file",
    "metadata": "holding metadata",
    "mime": "of other media types",
    "no-digest": "without a digest",
    "no-host": "without a host",
    "no-match": "without a match of --split-by",
    "no-mime": "without a media type",
    "no-object": "that are no JSON objects",
    "no-row": "that are no JSON arrays",
    "no-scheme": "without a scheme",
    "no-status": "without a status",
    "no-text": "whose text is not known",
    "no-time": "without a capture time",
    "no-type": "without a record type",
    "no-url": "without a URL",
    "not-fetched": "not fetched",
    "other-scheme": "with a scheme such as dns: or mailto:",
    "out-of-scope": "out of scope",
    "redirect": "redirects (3xx)",
    "request": "requests",
    "resume-key": "holding a server's resume key",
    "robots.txt": "of robots.txt",
    "server-message": "holding a server's message",
    "several-fields": "with several fields",
    "status": "with another status",
    "too-few-cells": "with too few cells",
    "too-few-fields": "with too few fields",
    "too-long": "too long",
    "too-many-fields": "with too many fields",
    "unclosed-quote": "with a quotation mark that is not closed",
    "unknown-type": "of an unknown record type",
    "warcinfo": "describing a WARC file",
}
"""What reasons are in words. A store that a later version has written may hold others, which are
shown as they are."""

_NOUNS = {"content": "content", "text": "text"}

_CRAWL = (Column(header="crawl"), Column(header="date"), Column(header="URLs", align="right"))
_COUNTS = (Column(header="captures", align="right"), Column(header="rejected", align="right"))
_NOTE = Column(header="note")


def to_text(records: Sequence[CrawlRecord]) -> str:
    """Return what `crawlgauge list` writes into a file or a pipe, without a final newline."""
    return render_blocks(to_blocks(records))


def to_blocks(records: Sequence[CrawlRecord]) -> list[Block]:
    """Return what `crawlgauge list` shows."""
    if not records:
        advice = "The store holds no crawls yet; add one with: crawlgauge add LABEL FILE..."
        return [[Paragraph(text=advice)]]
    present = {level.level for record in records for level in record.levels}
    # Only levels that there are: an empty column would only widen the table.
    nouns = {level: noun for level, noun in _NOUNS.items() if level in present}
    rows = tuple(
        (
            record.crawl.label,
            record.crawl.date.isoformat(),
            f"{record.crawl.n_urls:,}",
            *(_distinct(record, level) for level in nouns),
            f"{record.n_captures:,}",
            f"{record.n_rejected:,}",
            "; ".join(_notes(record)),
        )
        for record in records
    )
    others = (Column(header=f"{noun}s", align="right") for noun in nouns.values())
    has_notes = any(row[-1] for row in rows)
    columns = (*_CRAWL, *others, *_COUNTS, *((_NOTE,) if has_notes else ()))
    shown = tuple(row[: len(columns)] for row in rows)
    return [[Grid(columns=columns, rows=shown, max_width=_TABLE_WIDTH)]]


def describe_added(record: CrawlRecord) -> str:
    """Return what `crawlgauge add` says about the crawl it has added, without a final newline.

    Examples
    --------
    >>> import datetime as dt
    >>> from crawlgauge.crawl import Crawl
    >>> crawl = Crawl(label="2021-12", date=dt.date(2021, 12, 15), n_urls=92_143)
    >>> print(describe_added(CrawlRecord(crawl=crawl, n_captures=92_210, rejected={"no-host": 3},
    ...                                  excluded={}, sample_rate=1.0, key_rule="surt/1")))
    2021-12 (2021-12-15): 92,143 URLs from 92,210 captures; 3 records rejected: 3 without a
      host
    """
    crawl = record.crawl
    about = "" if crawl.n_sampled is None else "about "
    urls = f"{about}{_count(crawl.n_urls, 'URL')}"
    parts = [f"{urls} from {_count(record.n_captures, 'capture')}"]
    if record.n_rejected:
        reasons = list_reasons(record.rejected)
        parts.append(f"{_count(record.n_rejected, 'record')} rejected: {reasons}")
    if record.n_excluded:
        reasons = list_reasons(record.excluded)
        parts.append(f"{_count(record.n_excluded, 'record')} left out: {reasons}")
    if record.n_no_status:
        parts.append(f"{_count(record.n_no_status, 'capture')} without a status counted")
    parts += [_describe_level(level) for level in record.levels]
    parts += _notes(record)
    sentence = f"{crawl.label} ({crawl.date.isoformat()}): " + "; ".join(parts)
    return textwrap.fill(
        sentence, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _distinct(record: CrawlRecord, wanted: str) -> str:
    """Return how many contents or texts a crawl has; a dash if that level was not kept."""
    return next((f"{item.n_distinct:,}" for item in record.levels if item.level == wanted), "–")


def _describe_level(level: LevelRecord) -> str:
    about = "" if level.n_sampled is None else "about "
    captures = _count(level.n_captures, "capture")
    text = f"{about}{_count(level.n_distinct, _NOUNS[level.level])} of {captures}"
    details = []
    if level.n_by_digest:
        details.append(f"{level.n_by_digest:,} by their digest, being no HTML")
    if level.missing:
        details.append(f"not counted: {list_reasons(level.missing)}")
    return text + (f" ({'; '.join(details)})" if details else "")


def _notes(record: CrawlRecord) -> list[str]:
    notes = []
    if record.crawl.damaged:
        notes.append("incomplete: input damaged")
    if record.crawl.n_sampled is not None:
        notes.append(f"sample of {_count(record.crawl.n_sampled, 'URL')}")
    return notes


def list_reasons(counts: Mapping[str, int]) -> str:
    """Return reasons with their counts in words, the most frequent first.

    Examples
    --------
    >>> list_reasons({"redirect": 2, "error": 1300})
    '1,300 with an error status (4xx, 5xx), 2 redirects (3xx)'
    """
    counted = {slug: n for slug, n in counts.items() if n}
    ordered = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{n:,} {_REASONS.get(slug, slug)}" for slug, n in ordered)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
