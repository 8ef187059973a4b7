import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.model.planning.curves import planning_curves
from crawlgauge.model.planning.making_plans import plan_crawls
from crawlgauge.model.union.holdings import count_holdings
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table


@pytest.fixture(scope="module")
def uneven(make_archive):
    """Three in ten URLs are long-lived and captured readily, the others hardly at all."""
    classes = ((0.3, 8.0, 0.9), (0.7, 1.0, 0.6))
    table, truth = make_archive(7, n_crawls=8, classes=classes, coverage=0.3)
    return table, truth, estimate_coverage(table)


@pytest.fixture(scope="module")
def avoiding(make_archive):
    table, truth = make_archive(8, n_crawls=8, avoided=0.9, coverage=0.25)
    return table, truth, estimate_coverage(table)


def test_the_union_of_an_urn_is_found_with_all_that_follows(make_archive):
    table, truth = make_archive(11, population=200_000, growth=0.1)
    union = estimate_coverage(table).union
    assert union.n_distinct == truth.n_distinct
    assert union.coverage.value == pytest.approx(truth.union[-1], rel=0.01)
    assert union.n_alive.value == pytest.approx(truth.n_alive, rel=0.01)
    assert union.dead_share.value == pytest.approx(1 - truth.n_alive / truth.n_distinct, rel=0.03)
    assert union.n_unseen.value == pytest.approx(truth.n_unseen, rel=0.03)
    for estimate in (union.coverage, union.n_alive, union.dead_share):
        assert estimate.low < estimate.value < estimate.high
        assert estimate.basis == "interval"


def test_each_crawl_has_its_union_except_the_first(make_archive):
    table, truth = make_archive(12, population=100_000)
    union = estimate_coverage(table).union
    assert union.per_crawl[0].value is None
    assert "first crawl" in union.per_crawl[0].reason
    found = [estimate.value for estimate in union.per_crawl[1:]]
    assert found == pytest.approx(truth.union[1:], rel=0.02)
    assert union.per_crawl[-1] == union.coverage


def test_it_is_the_recursion_of_coverage_and_seniority(make_archive):
    """U_j = c_j + (1 − c_j)·γ_j·U_(j−1), by the true numbers."""
    table, truth = make_archive(13, n_crawls=4, population=400_000, growth=0.15)
    union = truth.coverage[0]
    for crawl in range(1, 4):
        ratio = truth.population[crawl - 1] / truth.population[crawl]
        seniority = 0.73 ** (183 / 365.25) * ratio
        union = truth.coverage[crawl] + (1 - truth.coverage[crawl]) * seniority * union
    assert estimate_coverage(table).union.coverage.value == pytest.approx(union, rel=0.01)


def test_mixed_lifetimes_spoil_it_far_less_than_the_coverage_it_rests_on(make_archive):
    table, truth = make_archive(14, population=100_000, classes=((0.5, 1, 0.95), (0.5, 1, 0.3)))
    estimates = estimate_coverage(table)
    coverage_error = abs(estimates.newest.coverage.value - truth.coverage[-1])
    assert coverage_error > 0.03
    assert abs(estimates.union.coverage.value - truth.union[-1]) < 0.6 * coverage_error


def test_a_small_set_of_archives_lies_within_the_intervals(make_archive):
    held = []
    for seed in range(20):
        table, truth = make_archive(seed, n_hosts=50, coverage_noise=0.2)
        union = estimate_coverage(table).union
        held.append(union.coverage.low <= truth.union[-1] <= union.coverage.high)
        held.append(union.n_alive.low <= truth.n_alive <= union.n_alive.high)
    assert sum(held) >= 38


def test_classes_of_urls_keep_uneven_capture_from_inflating_the_union(uneven):
    table, truth, estimates = uneven
    union, newest = estimates.union, estimates.newest.coverage.value
    known = count_holdings(table).known_share[-1]
    if_even = newest + (1 - newest) * known
    assert if_even > truth.union[-1] + 0.15
    assert union.held_ratio > 1.2
    assert union.coverage.basis == "empirical-band"
    assert union.coverage.low <= truth.union[-1] <= union.coverage.high
    assert union.coverage.value == pytest.approx(truth.union[-1], abs=0.08)
    assert union.n_unseen.low <= truth.n_unseen <= union.n_unseen.high
    assert "times as likely to be captured" in union.caution


def test_avoidance_of_the_last_crawl_does_not_deflate_it(avoiding):
    table, truth, estimates = avoiding
    union = estimates.union
    assert union.held_ratio < 0.95
    assert union.coverage.value == pytest.approx(truth.union[-1], abs=0.03)
    assert union.n_alive.value == pytest.approx(truth.n_alive, rel=0.1)
    assert "less than there is" in union.caution
    assert estimates.crawls == table.crawls


def test_untested_evenness_is_said(make_archive):
    table, _ = make_archive(15)
    assert "is not known here" in estimate_coverage(table).union.caution


def test_without_histories_there_is_no_union_but_of_two_crawls(make_archive, make_table):
    table, _ = make_archive(16)
    assert estimate_coverage(replace(table, histories=None)).union is None
    two = estimate_coverage(make_table([0, 365], [1000, 900], {(0, 1): 300}), persistence=0.8)
    survival = 0.8 ** (365 / 365.25)
    coverage = 0.3 / survival
    living = 900 + (1 - coverage) * survival * 1000
    assert two.union.n_distinct == 1600
    assert two.union.n_alive.value == pytest.approx(living)
    assert two.union.coverage.value == pytest.approx(living * coverage / 900)
    assert two.union.coverage.low is None
    assert two.union.coverage.reason


def test_two_crawls_without_persistence_have_a_count_and_reasons(make_table):
    union = estimate_coverage(make_table([0, 365], [1000, 900], {(0, 1): 300})).union
    assert union.n_distinct == 1600
    for estimate in (union.coverage, union.n_alive, union.dead_share, union.n_unseen):
        assert estimate.value is None
        assert "not identifiable" in estimate.reason


def test_crawls_that_seem_to_hold_more_than_there_is_have_no_union(make_table):
    overlaps = {(0, 1): 500, (0, 2): 450, (1, 2): 0}
    estimates = estimate_coverage(make_table([0, 10, 400], [600, 600, 600], overlaps))
    union = estimates.union
    assert all(
        math.isfinite(estimate.value) and estimate.value <= 1
        for estimate in union.per_crawl
        if estimate.value is not None
    )


def test_after_a_change_of_scope_the_union_is_that_of_the_present_one():
    settings = change_settings(find_scenario("scope-change"), n_crawls=10, population=40_000)
    table = draw_table(settings, seed=5, with_histories=True)
    estimates = estimate_coverage(table)
    (change,) = (check for check in estimates.checks if check.id == "change-point")
    assert change.status == "warn"
    union = estimates.union
    assert union.dead_share.value is None
    assert "scope changed" in union.dead_share.reason
    assert "within the present scope" in union.caution
    assert union.coverage.value > estimates.newest.coverage.value
    unknown = [k for k, estimate in enumerate(union.per_crawl) if estimate.value is None]
    assert unknown == [0, 5]


@given(data=st.data(), n=st.integers(2, 4))
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_any_histories_give_ordered_ranges_or_reasons_and_a_plan(make_table, data, n):
    """Counts without any order: nothing may fail, and every gap must say why."""
    days = sorted(data.draw(st.lists(st.integers(0, 3000), min_size=n, max_size=n)))
    masks = np.arange(1, 2**n, dtype=np.uint64)
    counts = np.array([data.draw(st.sampled_from([1, 5, 200, 10**5, 10**8])) for _ in masks])
    histories = Histories(n_crawls=n, masks=masks, counts=counts)
    shared = histories.count_pairs()
    table = make_table(days, np.diag(shared), {})
    table = OverlapTable(crawls=table.crawls, n_shared=shared, histories=histories)
    estimates = estimate_coverage(table)
    union = estimates.union
    assert union.n_distinct == counts.sum()
    parts = (union.coverage, union.n_alive, union.dead_share, union.n_unseen, *union.per_crawl)
    plan = plan_crawls(estimates, target=0.5, union_target=0.5, floor=0.2, crawls_per_year=2)
    crawl, sizes = plan.next_crawl, plan.union_target
    parts += (crawl.n_new, crawl.union_after, sizes.n_urls_next, sizes.n_urls_each)
    for estimate in parts:
        if estimate.low is not None and estimate.high is not None:
            assert 0 <= estimate.low <= estimate.value <= estimate.high < math.inf
        else:
            assert estimate.reason
    planning_curves(estimates)
    assert "nan" not in " ".join(plan.statements + plan.warnings)
