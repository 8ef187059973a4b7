import pytest

from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.plan import plan_crawls
from crawlgauge.model.situation import planning_curves


def test_coverage_rises_with_the_size_of_a_crawl_up_to_twice_the_largest(make_estimates, drawn):
    points = planning_curves(make_estimates()).coverage_by_size
    assert points[0].value == 0
    assert points[-1].x == 2 * max(crawl.n_urls for crawl in drawn.crawls)
    for point in points:
        assert point.value == pytest.approx(min(1, point.x / 100_000))
        assert point.low <= point.value <= point.high <= 1


def test_the_union_by_frequency_is_that_of_the_schedules(make_estimates):
    estimates = make_estimates()
    curves, plan = planning_curves(estimates), plan_crawls(estimates)
    assert (curves.budget, curves.crawls_per_year) == (plan.budget, plan.crawls_per_year)
    assert curves.union_by_frequency[-1].x == pytest.approx(12)
    monthly = next(s for s in plan.schedules if s.crawls_per_year == 12)
    assert curves.union_by_frequency[-1].value == pytest.approx(monthly.union_mean.value)


def test_where_nothing_can_be_planned_there_are_no_curves(make_estimates, one_date):
    unknown = Estimate.unknown("not identifiable")
    assert planning_curves(make_estimates(population=unknown)) is None
    assert planning_curves(make_estimates(persistence=unknown)) is None
    assert planning_curves(estimate_coverage(one_date)) is None
