"""Notice crawls of one store in which different things were counted."""

import logging

from crawlgauge.errors import StoreError
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["warn_of_other_counting"]

_WHAT_COUNTS = ("status", "mime", "scope")

_log = logging.getLogger(__name__)


def warn_of_other_counting(store: Store, added: CrawlSet) -> None:
    """Warn if another crawl of the store was made with other rules of what counts.

    Crawls that hold different kinds of captures share less than they should, which looks like
    turnover.

    Parameters
    ----------
    store
        The store.
    added
        The crawl that has just been added.
    """
    for label in store.labels():
        if label == added.crawl.label:
            continue
        try:
            other = store.crawl_set(label)
        except StoreError:
            # A damaged crawl is no matter of this one; whoever reads it is told.
            continue
        different = [
            name
            for name in _WHAT_COUNTS
            if other.provenance.settings.get(name) != added.provenance.settings.get(name)
        ]
        if different:
            options = " and ".join(f"--{name}" for name in different)
            _log.warning(
                "crawl %s was made with another %s than crawl %s: their overlaps compare "
                "different things; make all crawls of a store alike",
                added.crawl.label,
                options,
                label,
            )
            return
