"""From the store's sets to the records that the report shows."""

from crawlgauge.report.crawls_json import CrawlRecord
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["to_record"]


def to_record(crawl_set: CrawlSet) -> CrawlRecord:
    """Return what the report tells of a set."""
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
    )
