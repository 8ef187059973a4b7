"""The crawls of a store in words, for a terminal."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crawlgauge.crawl import Crawl, format_time
from crawlgauge.report import result_json
from crawlgauge.report.blocks import Block, Paragraph, tabulate
from crawlgauge.report.words import UNKNOWN, grouped, number_of, read_toml

if TYPE_CHECKING:
    from crawlgauge.store.crawl_set import CrawlSet

# ------------------------------------ the crawls of a store as JSON, schema ``crawlgauge.crawls/1``


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


Listed = tuple["CrawlSet", Sequence["CrawlSet"]]
"""A crawl by its set of URLs, and its sets of other levels."""


def to_dict(crawl_set: "CrawlSet", others: Sequence["CrawlSet"]) -> dict[str, Any]:
    """Return one crawl as plain data."""
    crawl = crawl_set.crawl
    return {
        "label": crawl.label,
        "date": crawl.date.isoformat(),
        "first_capture": format_time(crawl.first_capture),
        "last_capture": format_time(crawl.last_capture),
        "n_captures": crawl_set.n_captures,
        "n_urls": crawl.n_urls,
        "n_sampled": crawl.n_sampled,
        "n_rejected": sum(crawl_set.rejected.values()),
        "rejected": dict(crawl_set.rejected),
        "excluded": dict(crawl_set.excluded),
        "unassigned": dict(crawl_set.unassigned),
        "n_no_status": crawl_set.n_no_status,
        "damaged": crawl.damaged,
        "damage": [asdict(damage) for damage in crawl_set.damage],
        "sample_rate": crawl_set.sample_rate,
        "key_rule": crawl_set.key_rule,
        "levels": [asdict(_read_level(item, crawl_set)) for item in (crawl_set, *others)],
    }


def _read_level(item: "CrawlSet", of_urls: "CrawlSet") -> LevelRecord:
    missing = {
        reason: n_left_out
        for reason, n_all in item.excluded.items()
        if (n_left_out := n_all - of_urls.excluded.get(reason, 0))
    }
    return LevelRecord(
        level=item.level,
        key_rule=item.key_rule,
        n_distinct=item.crawl.n_urls,
        n_sampled=item.crawl.n_sampled,
        n_captures=item.n_captures,
        missing=missing,
        n_by_digest=item.n_by_digest,
    )


def to_json(crawls: Sequence[Listed], **extra: object) -> str:
    """Return crawls as JSON text, without a final newline.

    Parameters
    ----------
    crawls
        In the order in which they are to appear.
    **extra
        Further members of the document, by name; they come after the crawls.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    listed = [to_dict(*each) for each in crawls]
    return result_json.to_json({"schema": "crawlgauge.crawls/1", "crawls": listed, **extra})


# --------------------------------------------------- the crawls of a store in words, for a terminal


_WIDTH = 88
_TABLE_WIDTH = 100

_REASONS: Mapping[str, str] = read_toml("reasons")
"""A store that a later version has written may hold others, which are shown as they are."""


def to_blocks(crawls: Sequence[Listed]) -> list[Block]:
    """Return what `crawlgauge list` shows."""
    if not crawls:
        advice = "The store holds no crawls yet; add one with: crawlgauge add LABEL FILE..."
        return [[Paragraph(text=advice)]]
    present = {item.level for _, others in crawls for item in others}
    # Only levels that there are: an empty column would only widen the table.
    levels = [level for level in ("content", "text") if level in present]

    def count_level(wanted: str) -> Callable[[Listed], str]:
        return lambda listed: next(
            (f"{item.crawl.n_urls:,}" for item in listed[1] if item.level == wanted), UNKNOWN
        )

    remarks = [("note", lambda listed: "; ".join(_notes(listed[0].crawl)))]
    table = tabulate(
        crawls,
        ("crawl", lambda listed: listed[0].crawl.label),
        ("date", lambda listed: listed[0].crawl.date.isoformat()),
        ("URLs", lambda listed: listed[0].crawl.n_urls, grouped),
        *((f"{level}s", count_level(level), grouped) for level in levels),
        ("captures", lambda listed: listed[0].n_captures, grouped),
        ("rejected", lambda listed: sum(listed[0].rejected.values()), grouped),
        *(remarks if any(_notes(item.crawl) for item, _ in crawls) else []),
        max_width=_TABLE_WIDTH,
    )
    return [[table]]


def describe_added(crawl_set: "CrawlSet", others: Sequence["CrawlSet"] = ()) -> str:
    """Return what `crawlgauge add` says about the crawl it has added, without a final newline."""
    crawl, n_rejected = crawl_set.crawl, sum(crawl_set.rejected.values())
    about = "" if crawl.n_sampled is None else "about "
    urls = f"{about}{number_of(crawl.n_urls, 'URL')}"
    parts = [f"{urls} from {number_of(crawl_set.n_captures, 'capture')}"]
    if n_rejected:
        reasons = list_reasons(crawl_set.rejected)
        parts.append(f"{number_of(n_rejected, 'record')} rejected: {reasons}")
    if n_excluded := sum(crawl_set.excluded.values()):
        reasons = list_reasons(crawl_set.excluded)
        parts.append(f"{number_of(n_excluded, 'record')} left out: {reasons}")
    if crawl_set.n_no_status:
        parts.append(f"{number_of(crawl_set.n_no_status, 'capture')} without a status counted")
    parts += [_describe_level(_read_level(item, crawl_set)) for item in others]
    parts += _notes(crawl)
    sentence = f"{crawl.label} ({crawl.date.isoformat()}): " + "; ".join(parts)
    return textwrap.fill(
        sentence, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _describe_level(level: LevelRecord) -> str:
    about = "" if level.n_sampled is None else "about "
    text = f"{about}{number_of(level.n_distinct, level.level)} of "
    text += number_of(level.n_captures, "capture")
    details = []
    if level.n_by_digest:
        details.append(f"{level.n_by_digest:,} not HTML, told by their digest")
    if level.missing:
        details.append(f"not counted: {list_reasons(level.missing)}")
    return text + (f" ({'; '.join(details)})" if details else "")


def _notes(crawl: Crawl) -> list[str]:
    notes = []
    if crawl.damaged:
        notes.append("incomplete: input damaged")
    if crawl.n_sampled is not None:
        notes.append(f"sample of {number_of(crawl.n_sampled, 'URL')}")
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
