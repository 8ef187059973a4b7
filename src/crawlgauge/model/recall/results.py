"""The types that a recall hands over."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Provenance

__all__ = ["CrawlRecall", "FrontierBound", "Kind", "Recall", "Reference", "UniformCheck"]

Kind = Literal["url", "host", "domain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The list that crawls are held against.

    Parameters
    ----------
    name
        As the user named it.
    kind
        What it lists.
    n_entries
        Entries that could be used, repeated ones included.
    n_distinct
        Different ones, by the store's rule.
    left_out
        How many lines could not be used, by reason.
    date
        When it was drawn, where that is known.
    """

    name: str
    kind: Kind
    n_entries: int
    n_distinct: int
    left_out: tuple[tuple[str, int], ...] = ()
    date: dt.date | None = None

    @property
    def n_repeated(self) -> int:
        """Entries that are the same as one before."""
        return self.n_entries - self.n_distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRecall:
    """How much of the reference one crawl holds.

    Parameters
    ----------
    crawl
        The crawl.
    n_looked_for
        Entries of the reference that can be looked for: those in the crawl's sample.
    n_held
        Those that it holds.
    recall
        Their share.
    is_least
        Whether more may be held than could be seen.
    coverage
        What the series of crawls says of the crawl's coverage.
    by_reference
        Its coverage as the reference gives it, if that is a uniform sample of what could be
        crawled: the recall, carried over the time between them; None if it is not said to be one.
    """

    crawl: Crawl
    n_looked_for: int
    n_held: int
    recall: Estimate
    is_least: bool
    coverage: Estimate
    by_reference: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformCheck:
    """What a uniform reference says of the coverage, beside what the series of crawls says.

    Parameters
    ----------
    label
        The crawl that is nearest to the reference in time.
    gap_days
        From the reference to the crawl.
    by_reference, by_series
        Its coverage by either.
    ratio
        That by the series over that by the reference.
    verdict
        What a difference means, in words.
    union_by_reference, union_by_series
        What all crawls together hold of what lived at the newest, by either.
    """

    label: str
    gap_days: int
    by_reference: Estimate
    by_series: Estimate
    ratio: Estimate
    verdict: str
    union_by_reference: Estimate
    union_by_series: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierBound:
    """The most that a crawl can cover, given what it knew of and did not fetch.

    Parameters
    ----------
    label
        The crawl.
    n_urls, n_queued
        URLs that it holds, and that were left in its queues.
    most
        The share that it holds of both.
    by_series
        Its coverage by the series of crawls.
    verdict
        What the two say of each other, in words.
    """

    label: str
    n_urls: int
    n_queued: int
    most: float
    by_series: Estimate
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How much of a reference the crawls of an archive hold.

    Parameters
    ----------
    key_rule
        By which URLs are the same.
    reference
        The list; None if only a frontier was asked about.
    per_crawl
        For each crawl, in order of date.
    n_looked_for, n_held, union
        Entries that could be looked for in all crawls, those that some crawl holds, and their
        share.
    headline
        Typical coverage of a crawl by the series.
    uniform
        What a uniform reference says; None if it is not said to be one.
    frontier
        What the queues say; None if they were not given.
    warnings
        What to be careful about.
    provenance
        Where the numbers come from.
    """

    key_rule: str
    reference: Reference | None
    per_crawl: tuple[CrawlRecall, ...]
    n_looked_for: int
    n_held: int
    union: Estimate
    headline: Estimate
    uniform: UniformCheck | None
    frontier: FrontierBound | None
    warnings: tuple[str, ...]
    provenance: Provenance = field(default_factory=Provenance)
