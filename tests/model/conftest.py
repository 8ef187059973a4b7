"""Overlap tables for the model's tests: exact urns and hand-made counts."""

import datetime as dt

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.overlaps.table import MISSING, OverlapTable

FIRST_DAY = dt.date(2014, 1, 1)
DAYS_PER_YEAR = 365.25


def _crawls(days, sizes, options):
    return tuple(
        Crawl(
            label=f"c{k + 1}",
            date=FIRST_DAY + dt.timedelta(days=int(day)),
            n_urls=int(size),
            **options.get(k, {}),
        )
        for k, (day, size) in enumerate(zip(days, sizes, strict=True))
    )


@pytest.fixture(scope="session")
def make_table():
    """Make a table from days, sizes and overlaps {(i, j): n}; pairs not given are missing."""

    def make(days, sizes, overlaps, crawl_options=None, **others):
        crawls = _crawls(days, sizes, crawl_options or {})
        shared = np.full((len(crawls), len(crawls)), MISSING, dtype=np.int64)
        for (i, j), n in overlaps.items():
            shared[i, j] = shared[j, i] = n
        np.fill_diagonal(shared, [crawl.n_counted for crawl in crawls])
        return OverlapTable(crawls=crawls, n_shared=shared, **others)

    return make


@pytest.fixture(scope="session")
def make_urn(make_table):
    """Make the table of an urn without noise: X_ij = M_i · alpha^D · c_j.

    `factors` multiplies single pairs; 0 makes them share nothing and None makes them missing.
    """

    def make(days, sizes, coverage, alpha, factors=None, **others):
        overlaps = {}
        for j in range(len(days)):
            for i in range(j):
                factor = (factors or {}).get((i, j), 1)
                if factor is not None:
                    lag = (days[j] - days[i]) / DAYS_PER_YEAR
                    overlaps[i, j] = round(factor * sizes[i] * alpha**lag * coverage[j])
        return make_table(days, sizes, overlaps, **others)

    return make
