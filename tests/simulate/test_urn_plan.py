"""A plan turns settings into whole numbers that fit together."""

import numpy as np
import pytest
from scipy import stats

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.urn_plan import find_capture_scale, gamma_grid, gauss_nodes, make_plan
from crawlgauge.simulate.urn_settings import (
    Course,
    DatePlan,
    HostNoise,
    ScopeChange,
    UrlClass,
    UrnSettings,
)

FOUR = DatePlan(n_crawls=4)


def test_sizes_are_the_coverage_of_the_population_or_as_given():
    assert (
        make_plan(UrnSettings(dates=FOUR, population=1001, coverage=0.3), 1).sizes.tolist()
        == [300] * 4
    )
    assert make_plan(UrnSettings(dates=FOUR, size=(5, 6, 7, 8)), 1).sizes.tolist() == [5, 6, 7, 8]


def test_classes_share_the_population_to_the_last_url():
    settings = UrnSettings(
        dates=FOUR, population=100, classes=tuple(UrlClass(share=1 / 3) for _ in range(3))
    )
    counts = make_plan(settings, 1).counts
    assert counts.sum(axis=0).tolist() == [100] * 4
    assert set(counts.ravel().tolist()) == {33, 34}


def test_a_change_of_scope_swaps_the_part_that_is_not_common():
    settings = UrnSettings(
        dates=FOUR, population=1000, scope_change=ScopeChange(share_common=0.75, from_crawl=1)
    )
    plan = make_plan(settings, 1)
    assert plan.in_scope.tolist() == [
        [True] * 4,
        [True, False, False, False],
        [False, True, True, True],
    ]
    for crawl in range(4):
        reachable = plan.counts[plan.in_scope[:, crawl], crawl]
        assert (reachable.sum(), reachable.max()) == (1000, 750)


def test_a_scope_that_stays_whole_has_one_part():
    settings = UrnSettings(dates=FOUR, scope_change=ScopeChange(share_common=1))
    assert make_plan(settings, 1).counts.shape == (1, 4)


def test_noise_depends_on_the_seed_only_and_does_not_lead_beyond_the_population():
    settings = UrnSettings(dates=FOUR, population=1000, coverage=Course(first=0.9, noise_sd=1))
    assert make_plan(settings, 3).sizes.tolist() == make_plan(settings, 3).sizes.tolist()
    assert make_plan(settings, 3).sizes.tolist() != make_plan(settings, 4).sizes.tolist()
    assert max(make_plan(settings, seed).sizes.max() for seed in range(30)) == 970


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coverage": 1.1}, "coverages from 1.1 to 1.1"),
        ({"coverage": 0}, "above 0"),
        ({"population": 4, "coverage": 0.1}, "holds none"),
        ({"population": 1}, "at least two"),
        ({"population": (1000, 1000, 500, 500)}, "falls from 1000 to 500 URLs between crawls 1"),
    ],
)
def test_numbers_that_do_not_fit_together_are_refused(settings, message):
    with pytest.raises(SimulationError, match=message):
        make_plan(UrnSettings(dates=FOUR, **settings), 1)


def test_a_negative_seed_is_refused():
    with pytest.raises(SimulationError, match="seed -1 is negative"):
        make_plan(UrnSettings(), -1)


def test_the_capture_scale_gives_the_wanted_size():
    rng = np.random.default_rng(5)
    weights = rng.gamma(0.5, 2, 1000)
    for size in (1, 300, 900, 999.5):
        scale = find_capture_scale(weights, np.ones(1000), size)
        assert np.minimum(1, scale * weights).sum() == pytest.approx(size)
    assert find_capture_scale(weights, np.ones(1000), 1000) == np.inf


def test_uneven_capture_is_expected_to_reach_the_coverage():
    settings = UrnSettings(
        dates=FOUR, population=10_000, capture_cv=0.7, host_noise=HostNoise(n_hosts=20, sd=0.5)
    )
    plan = make_plan(settings, 1)
    rng = np.random.default_rng(2)
    weights = rng.gamma(1 / 0.49, 0.49, 400_000) * rng.choice(plan.host_weights[2], 400_000)
    captured = np.minimum(1, plan.capture_scale(2) * weights).mean()
    assert captured == pytest.approx(0.46, abs=0.002)


@pytest.mark.parametrize("cv", [0.1, 0.3, 0.7, 1.0, 1.8])
def test_the_grid_is_the_gamma_distribution(cv):
    weights, shares = gamma_grid(cv)
    law = stats.gamma(1 / cv**2, scale=cv**2)
    assert shares.sum() == pytest.approx(1)
    for limit in (0.2, 1.0, 2.5):
        assert shares[weights < limit].sum() == pytest.approx(law.cdf(limit), abs=2e-3)
    for power in (1, 2, 3, 4):
        assert shares @ weights**power == pytest.approx(law.moment(power), rel=1e-4)


def test_nodes_keep_moments_and_are_few():
    all_weights, all_shares = gamma_grid(0.7)
    weights, shares = gauss_nodes((all_weights, all_shares), 6)
    assert weights.size == 6
    for power in range(12):
        kept = shares @ weights**power
        assert kept == pytest.approx(all_shares @ all_weights**power, rel=1e-8)


def test_kinks_do_no_harm_where_they_are_told():
    """Probabilities of capture end at 1: products of them have a kink for each crawl's scale."""
    grid = gamma_grid(0.7)
    scales = np.array([0.4, 0.55, 0.8])
    nodes = gauss_nodes(grid, 3, 1 / scales)
    assert nodes[0].size == 10

    def expect(of):
        weights, shares = of
        capture = np.minimum(1, np.multiply.outer(scales, weights))
        return np.prod(capture, axis=0) @ shares

    assert expect(nodes) == pytest.approx(expect(grid), rel=1e-9)
    assert expect(gauss_nodes(grid, 10)) != pytest.approx(expect(grid), rel=1e-5)


def test_no_variation_is_one_weight():
    weights, shares = gauss_nodes(gamma_grid(0), 5, np.array([0.3, 2.0]))
    assert (weights.tolist(), shares.tolist()) == ([1], [1])
