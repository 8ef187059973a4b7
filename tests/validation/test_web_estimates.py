"""What the estimates make of crawlers whose truth is known."""

import time
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.simulate.scenarios import choose_web, simulate_web

pytestmark = pytest.mark.slow

TWO_MINUTES = 120


def estimate(archive):
    sets = [crawl.url_numbers for crawl in archive.crawls]
    table = OverlapTable(
        crawls=tuple(
            Crawl(label=crawl.label, date=crawl.date, n_urls=crawl.url_numbers.size)
            for crawl in archive.crawls
        ),
        n_shared=np.array(
            [[np.intersect1d(a, b, assume_unique=True).size for b in sets] for a in sets]
        ),
    )
    return {row.name: row for row in estimate_coverage(table).estimators}


def coverage_ratios(scenario, estimator, seeds=(1, 2)):
    for seed in seeds:
        archive = simulate_web(choose_web(scenario, n_pages=30_000), seed=seed)
        yield estimate(archive)[estimator].coverage / archive.truth.coverage


@pytest.mark.parametrize("estimator", ["paper-forward", "two-way"])
def test_the_coverage_of_a_uniform_crawler_is_found_within_a_few_percent(estimator):
    """Mixed lifetimes of pages are all that is left, and make it a little too low."""
    for ratio in coverage_ratios("uniform-web", estimator):
        assert 0.92 < ratio < 1.01


def test_the_estimate_is_right_where_lifetimes_are_equal_and_no_page_drops_out_of_reach():
    settings = choose_web("uniform-web", n_pages=50_000)
    steady = replace(
        settings.graph,
        infant_factor=1.0,
        depth_factor=0.0,
        unlinking_rate=0.0,
        relinking_share=1.0,
    )
    archive = simulate_web(replace(settings, graph=steady), seed=1)
    found = estimate(archive)["two-way"]
    assert found.coverage == pytest.approx(archive.truth.coverage, rel=0.005)
    assert found.persistence == pytest.approx(archive.truth.persistence, rel=0.005)


def test_breadth_first_makes_the_coverage_look_much_higher_than_it_is():
    for ratio in coverage_ratios("gaw-web", "two-way"):
        assert 1.3 < ratio < 2.0


def test_passing_over_recent_pages_makes_the_coverage_look_much_lower_than_it_is():
    for ratio in coverage_ratios("common-crawl-web", "two-way"):
        assert 0.3 < ratio < 0.7


def test_a_breadth_first_archive_of_a_million_pages_is_made_in_two_minutes():
    # Time of the processor, so that other work on the machine does not count.
    start = time.process_time()
    archive = simulate_web(choose_web("gaw-web", n_pages=1_000_000), seed=1)
    assert time.process_time() - start < TWO_MINUTES
    assert len(archive.crawls) == 10
    assert archive.truth.coverage == pytest.approx(0.5, abs=0.03)
    assert archive.truth.persistence == pytest.approx(0.73, abs=0.04)
