"""The published Common Crawl overlaps give the known numbers."""

import csv
import datetime as dt

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.overlaps.table import MISSING, OverlapTable

pytestmark = pytest.mark.real


def read_table(path):
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    crawls = {
        row[side]: Crawl(
            label=row[side],
            date=dt.date.fromisoformat(row[f"date_{side}"]),
            n_urls=int(row[f"n_{side}"]),
        )
        for row in rows
        for side in ("a", "b")
    }
    crawls = dict(sorted(crawls.items(), key=lambda item: (item[1].date, item[0])))
    position = {label: k for k, label in enumerate(crawls)}
    shared = np.full((len(crawls), len(crawls)), MISSING, dtype=np.int64)
    np.fill_diagonal(shared, [crawl.n_urls for crawl in crawls.values()])
    for row in rows:
        i, j = position[row["a"]], position[row["b"]]
        shared[i, j] = shared[j, i] = int(row["n_shared"])
    return OverlapTable(crawls=tuple(crawls.values()), n_shared=shared)


@pytest.fixture(scope="module")
def early(shared_data):
    return estimate_coverage(read_table(shared_data / "commoncrawl" / "overlaps_2013-2016.csv"))


def test_the_papers_line_of_2013_to_2016(early):
    assert early.paper.n_pairs == 325
    assert round(early.paper.coverage, 3) == 0.776
    assert round(early.paper.persistence, 3) == 0.733
    assert round(early.paper.r_squared, 3) == 0.807


def test_the_two_way_model_of_2013_to_2016(early):
    assert round(early.persistence.value, 3) == 0.728
    assert round(early.headline.coverage.value, 3) == 0.775
    assert early.headline.estimator == "two-way"
    assert early.headline.statement.startswith(
        "A typical crawl holds about 78 % (75–80 %) of the URLs"
    )


def test_crawls_that_seek_new_pages_show_no_decay(shared_data):
    result = estimate_coverage(read_table(shared_data / "commoncrawl" / "overlaps_2023-2025.csv"))
    assert result.persistence.value is None
    assert result.half_life_years.reason == "longer than this series can tell"
    assert any("do not shrink with time" in text for text in result.warnings)
    assert any("The overlap of 2 of 351 pairs" in text for text in result.warnings)
