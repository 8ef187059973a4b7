"""Plans come true: what the next crawl of a simulated archive adds lies in the planned range."""

import pytest

from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.model.planning.making_plans import plan_crawls
from crawlgauge.model.window import keep_crawls

STEP_YEARS = 183 / 365.25


def compare(make_archive, seed, **settings):
    """Plan from all crawls but the last, and return the plan's ranges with what came true."""
    table, truth = make_archive(seed, n_crawls=5, **settings)
    often, size = 1 / STEP_YEARS, table.crawls[-1].n_urls
    plan = plan_crawls(
        estimate_coverage(keep_crawls(table, [0, 1, 2, 3])),
        crawls_per_year=often,
        budget=size * often,
    )
    captured, counts = table.histories.to_matrix(), table.histories.counts
    n_new = counts[captured[:, 4] & ~captured[:, :4].any(axis=1)].sum()
    crawl = plan.next_crawl
    return [
        crawl.n_new.low <= n_new <= crawl.n_new.high,
        crawl.union_after.low <= truth.union[-1] <= crawl.union_after.high,
    ]


def test_what_the_next_crawl_adds_comes_true(make_archive):
    held = [compare(make_archive, seed, growth=0.05) for seed in range(10)]
    assert sum(map(sum, held)) >= 19


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{}, {"growth": 0.15}, {"coverage_noise": 0.2}, {"n_hosts": 50}],
    ids=["urn", "growth", "varying sizes", "hosts"],
)
def test_what_the_next_crawl_adds_comes_true_in_as_many_cases_as_it_says(make_archive, settings):
    held = [compare(make_archive, 7000 + seed, **settings) for seed in range(50)]
    assert min(sum(column) for column in zip(*held, strict=True)) >= 44
