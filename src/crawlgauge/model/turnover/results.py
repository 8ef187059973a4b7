"""What counting from crawl to crawl gives: numbers for each crawl, and over all of them."""

from dataclasses import dataclass

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Provenance

__all__ = ["CrawlTurnover", "Turnover"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTurnover:
    """What one crawl did with the URLs of the crawls before it. Counts are of URLs.

    Parameters
    ----------
    label
        The crawl's.
    kept
        In it and in the previous crawl.
    added
        In it and not in the previous crawl: `new` and `recovered` together.
    new
        In it and in no earlier crawl.
    recovered
        In it and in an earlier crawl, but not in the previous one.
    dropped
        In the previous crawl and not in it: `forgotten` and `lost` together.
    forgotten
        In the previous crawl, not in it, but in a later one: they lived, and it missed them.
    lost
        In the previous crawl, not in it and in no later one so far.
    missed
        Captured before and after it, but not by it.
    self_overlap
        Share of the previous crawl's URLs that it holds.
    missed_at_least
        `missed` as a share of all URLs that are known to have lived at the time: those, and what
        it holds. It missed no smaller share of what it could have reached, whatever the model.
    relative_coverage
        Share that it holds of the URLs that any crawl holds.
    """

    label: str
    kept: Estimate
    added: Estimate
    new: Estimate
    recovered: Estimate
    dropped: Estimate
    forgotten: Estimate
    lost: Estimate
    missed: Estimate
    self_overlap: Estimate
    missed_at_least: Estimate
    relative_coverage: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnover:
    """What became of URLs from crawl to crawl, by counting alone.

    Parameters
    ----------
    level
        What is counted: ``url``, ``content`` or ``text``.
    crawls
        In date order.
    per_crawl
        For each crawl.
    n_distinct
        URLs that at least one crawl holds.
    capture_frequencies
        How many URLs just one crawl holds, just two, and so on; empty without histories.
    self_overlap
        Share of a crawl's URLs that the next one holds, over all crawls.
    forgotten_share
        Share of what crawls dropped that a later crawl found again, over all crawls but the last.
    sample_rate
        Share of the URLs that the histories, or else the pairs, were counted from.
    warnings
        What to be careful about, in words.
    provenance
        Where the numbers come from.
    """

    level: str
    crawls: tuple[Crawl, ...]
    per_crawl: tuple[CrawlTurnover, ...]
    n_distinct: Estimate
    capture_frequencies: tuple[Estimate, ...]
    self_overlap: Estimate
    forgotten_share: Estimate
    sample_rate: float
    warnings: tuple[str, ...]
    provenance: Provenance
