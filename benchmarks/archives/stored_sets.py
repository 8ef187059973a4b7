"""Crawls written straight into a store, for counting at sizes where URLs would not fit.

The keys are the URLs' numbers, mixed; the sets are those that `crawlgauge add` would write.
"""

import datetime as dt
from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

from archives.mixing import mix
from archives.urn import list_captured

__all__ = ["write_stored_set"]


def write_stored_set(store: Path, label: str, date: dt.date, population: int, crawl: int) -> int:
    """Write the set of a crawl of the urn; return its number of keys."""
    from crawlgauge.crawl import Crawl
    from crawlgauge.keys.rules import RAW
    from crawlgauge.keys.thresholds import WHOLE
    from crawlgauge.provenance import Provenance
    from crawlgauge.store.attributes import AttributeBuilder
    from crawlgauge.store.catalogue import open_store
    from crawlgauge.store.crawl_set import CrawlSet
    from crawlgauge.store.set_file import choose_range_bits, split_keys

    keys = _make_keys(population, crawl)
    opened = open_store(store, create_with=RAW)
    range_bits = choose_range_bits(keys.size)
    with opened.writing(label) as writer:
        description = CrawlSet(
            crawl=Crawl(label=label, date=date, n_urls=keys.size),
            level="url",
            key_rule=opened.key_rule,
            threshold=WHOLE,
            n_captures=keys.size,
            rejected={},
            excluded={},
            damage=(),
            checksum="",
            range_bits=range_bits,
            provenance=Provenance.now(settings={}, inputs=()),
            path=writer.folder,
        )
        # Below this threshold there are no keys, and so nothing is to be known of them.
        attributes = AttributeBuilder(limit=1, threshold=1).finish()
        writer.publish([(description, split_keys(keys, range_bits))], attributes)
    return int(keys.size)


def _make_keys(population: int, crawl: int) -> NDArray[np.uint64]:
    keys = np.concatenate([_mix_all(block) for block in list_captured(population, crawl)])
    keys.sort()
    return keys


@numba.njit(cache=True)
def _mix_all(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = np.empty_like(numbers)
    for position in range(numbers.size):
        mixed[position] = mix(numbers[position] + np.uint64(0x9E3779B97F4A7C15))
    return mixed
