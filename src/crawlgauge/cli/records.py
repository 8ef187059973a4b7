"""From the store's sets to the records that the report shows."""

from collections.abc import Iterable

from crawlgauge.report.crawls import CrawlRecord, LevelRecord
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["to_record"]


def to_record(crawl_set: CrawlSet, others: Iterable[CrawlSet] = ()) -> CrawlRecord:
    """Return what the report tells of a crawl.

    Parameters
    ----------
    crawl_set
        Its set of URLs.
    others
        Its sets of other levels.
    """
    return CrawlRecord(
        crawl=crawl_set.crawl,
        n_captures=crawl_set.n_captures,
        rejected=crawl_set.rejected,
        excluded=crawl_set.excluded,
        unassigned=crawl_set.unassigned,
        n_no_status=crawl_set.n_no_status,
        damage=crawl_set.damage,
        sample_rate=crawl_set.sample_rate,
        key_rule=crawl_set.key_rule,
        levels=tuple(_to_level(other, crawl_set) for other in others),
    )


def _to_level(other: CrawlSet, of_urls: CrawlSet) -> LevelRecord:
    missing = {
        reason: n_left_out
        for reason, n_all in other.excluded.items()
        if (n_left_out := n_all - of_urls.excluded.get(reason, 0))
    }
    return LevelRecord(
        level=other.level,
        key_rule=other.key_rule,
        n_distinct=other.crawl.n_urls,
        n_sampled=other.crawl.n_sampled,
        n_captures=other.n_captures,
        missing=missing,
        n_by_digest=other.n_by_digest,
    )
