"""Overlaps of simulated sets are counted exactly, however their URLs are numbered."""

import datetime as dt

import numpy as np
import pytest

from crawlgauge.simulate.archive import (
    CrawlTruth,
    SimulatedArchive,
    SimulatedCrawl,
    Truth,
)
from crawlgauge.simulate.archive_files import count_archive


def make_archive(sets):
    dates = [dt.date(2000 + k, 1, 1) for k in range(len(sets))]
    labels = [f"c{k:03d}" for k in range(len(sets))]
    return SimulatedArchive(
        crawls=tuple(
            SimulatedCrawl(label=label, date=date, url_numbers=np.array(sorted(numbers)))
            for label, date, numbers in zip(labels, dates, sets, strict=True)
        ),
        truth=Truth(
            scenario="made",
            seed=0,
            crawls=tuple(
                CrawlTruth(label=x, date=y, n_urls=len(z), population=10**6, coverage=0.1)
                for x, y, z in zip(labels, dates, sets, strict=True)
            ),
            persistence=None,
            settings={},
        ),
        name_urls=lambda numbers: [str(number) for number in numbers],
    )


@pytest.mark.parametrize("offset", [0, 1 << 60])
@pytest.mark.parametrize("n_crawls", [3, 70])
def test_counts_are_those_of_python_sets(offset, n_crawls):
    rng = np.random.default_rng(4)
    sets = [set((offset + rng.integers(0, 300, 100)).tolist()) for _ in range(n_crawls)]
    table = count_archive(make_archive(sets))
    assert table.n_shared.tolist() == [[len(a & b) for b in sets] for a in sets]
    assert (table.histories is None) == (n_crawls > 64)
    if table.histories is not None:
        assert table.histories.n_urls == len(set.union(*sets))
