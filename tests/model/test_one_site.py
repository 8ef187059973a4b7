"""Archives of one site, whose pages all have the same host."""

import datetime as dt

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import OverlapTable

N_GROUPS = 20


def capture(share_of_largest):
    """Six half-yearly crawls of a site that loses a fifth of its pages a year."""
    rng = np.random.default_rng(5)
    n_pages, coverage, steps = 8_000, 0.5, np.arange(6)
    born, life = rng.uniform(-20, 5, n_pages), rng.exponential(9.0, n_pages)
    lives = (born[:, None] <= steps) & (steps < (born + life)[:, None])
    held = lives & (rng.random(lives.shape) < coverage)
    codes = (held.astype(np.uint64) << steps.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    masks, place, counts = np.unique(codes[codes > 0], return_inverse=True, return_counts=True)
    histories = Histories(n_crawls=6, masks=masks, counts=counts, sample_rate=1.0)
    n_shared = histories.count_pairs()
    groups = None
    if share_of_largest is not None:
        is_largest = rng.random(place.size) < share_of_largest
        group = np.where(is_largest, 3, rng.integers(0, N_GROUPS, place.size))
        table = np.zeros((masks.size, N_GROUPS), np.int64)
        np.add.at(table, (place, group), 1)
        groups = HostGroups(
            n_crawls=6, n_groups=N_GROUPS, masks=masks, counts=table, sample_rate=1.0
        )
    return OverlapTable(
        crawls=tuple(
            Crawl(
                label=f"c{k}",
                date=dt.date(2014, 1, 1) + dt.timedelta(days=183 * k),
                n_urls=int(n_shared[k, k]),
                n_sampled=None,
            )
            for k in steps.tolist()
        ),
        n_shared=n_shared,
        histories=histories,
        host_groups=groups,
        sample_rate=1.0,
    )


@pytest.mark.parametrize("share_of_largest", [1.0, 0.9])
def test_one_host_that_holds_nearly_all_pages_does_not_widen_the_range(share_of_largest):
    without = estimate_coverage(capture(None)).headline.coverage
    with_host = estimate_coverage(capture(share_of_largest)).headline.coverage
    assert (with_host.low, with_host.high) == (without.low, without.high)
    assert without.low < 0.5 < without.high < 1.6 * without.low
