"""The simulated urn has the law that the formulas say, and has it in every form.

Archives are drawn as sets, as histories and as pairs. Two-sample thresholds are four standard
errors, and the samples so large that an error of one per cent would be twice as far off.
"""

import time

import numpy as np
import pytest
from scipy import stats

from crawlgauge.simulate.archive_files import count_archive
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_plan import make_plan
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import (
    Course,
    DatePlan,
    ScopeChange,
    UrlClass,
    UrnSettings,
    change_settings,
)
from crawlgauge.simulate.urn_table import compute_moments, draw_table

pytestmark = pytest.mark.slow

N_CRAWLS = 5
UPPER = np.triu_indices(N_CRAWLS, 1)


def draw_as_sets(settings, seeds):
    return np.array([count_archive(draw_sets(settings, seed=k)).n_shared[UPPER] for k in seeds])


def draw_as_histories(settings, seeds):
    tables = (draw_table(settings, seed=k, with_histories=True) for k in seeds)
    return np.array([table.n_shared[UPPER] for table in tables])


def draw_as_pairs(settings, seeds):
    tables = (draw_table(settings, seed=k, with_histories=False) for k in seeds)
    return np.array([table.n_shared[UPPER] for table in tables])


def pure(**changes):
    return change_settings(find_scenario("pure"), n_crawls=N_CRAWLS, **changes)


@pytest.mark.parametrize("draw", [draw_as_sets, draw_as_histories, draw_as_pairs])
def test_over_200_seeds_mean_overlaps_are_coverage_times_survival(draw):
    settings = pure(population=50_000)
    overlaps = draw(settings, range(200)) / 23_000
    dates = settings.dates.regular_dates()
    days = np.array([[(b - a).days for b in dates] for a in dates])[UPPER]
    expected = 0.46 * 0.73 ** (days / 365.25)
    se = overlaps.std(axis=0, ddof=1) / 200**0.5
    assert np.all(se < 0.001 * expected)
    assert np.all(np.abs(overlaps.mean(axis=0) - expected) < 4 * se)


@pytest.mark.parametrize("draw", [draw_as_sets, draw_as_histories, draw_as_pairs])
def test_the_variance_of_an_overlap_is_hypergeometric(draw):
    """A binomial law would have 1.85 times the variance."""
    settings = UrnSettings(
        dates=DatePlan(n_crawls=N_CRAWLS), population=2000, coverage=0.46, persistence=1
    )
    overlaps = draw(settings, range(2000))
    law = stats.hypergeom(2000, 920, 920)
    # The standard error of a variance over 2,000 draws is about 3.2 %.
    assert overlaps.var(axis=0, ddof=1) == pytest.approx([law.var()] * 10, rel=0.13)
    assert overlaps.var(axis=0, ddof=1).mean() == pytest.approx(law.var(), rel=0.04)
    levels = law.ppf([0.1, 0.25, 0.5, 0.75, 0.9])
    shares = [(overlaps <= level).mean() for level in levels]
    assert shares == pytest.approx(law.cdf(levels), abs=0.015)


COMPARED = (
    *("pure", "gaw-noise", "capture-gamma-strong", "core-periphery", "core-always"),
    *("core-long-lived", "survival-mix", "survival-gamma", "population-growth", "size-trend"),
    *("population-shrink", "scope-change", "host-noise", "avoid-all", "avoid-most"),
    *("avoid-two", "avoid-and-survival-mix", "reseed", "core-and-reseed"),
)
N_DRAWS = 250


def compare(one, other):
    """Return the difference of means in standard errors, and those errors in relation."""
    known = (one.max(axis=0) > 0) | (other.max(axis=0) > 0)
    one, other = one[:, known], other[:, known]
    se = np.sqrt(one.var(axis=0) / len(one) + other.var(axis=0) / len(other))
    difference = one.mean(axis=0) - other.mean(axis=0)
    return difference / se, se / one.mean(axis=0)


@pytest.mark.parametrize("name", COMPARED)
def test_sets_and_tables_agree(name):
    settings = change_settings(find_scenario(name), n_crawls=N_CRAWLS)
    # Where revisits are avoided overlaps are few, and vary the more.
    n_urls = 90_000 if settings.avoidance is None else 600_000
    settings = change_settings(settings, population=n_urls)
    sets = draw_as_sets(settings, range(N_DRAWS))
    draws = [draw_as_histories]
    if not settings.has_memory:
        draws.append(draw_as_pairs)
    for draw in draws:
        # The plan belongs to the seed: noisy sizes and hosts are the same for both.
        drawn = draw(settings, range(N_DRAWS))
        deviation, error = compare(sets, drawn)
        assert np.abs(deviation).max() < 4
        assert np.median(error) < 0.00125 or not settings.is_same_for_all_seeds
        p_values = [stats.ks_2samp(a, b).pvalue for a, b in zip(sets.T, drawn.T, strict=True)]
        assert min(p_values) > 0.0005
        same_plan = np.mean(sets / np.maximum(drawn, 1), axis=0)[sets.mean(axis=0) > 100]
        assert same_plan == pytest.approx(1, abs=0.008)


def test_the_comparison_would_catch_an_error_of_one_per_cent():
    sets = draw_as_sets(pure(population=40_000), range(N_DRAWS))
    for wrong in (pure(population=40_000, coverage=0.4646), pure(population=40_400)):
        deviation, _ = compare(sets, draw_as_histories(wrong, range(N_DRAWS)))
        assert np.abs(deviation).max() > 8


URNS = {
    "pure": {},
    "unequal sizes": {"coverage": (0.2, 0.8, 0.3, 0.6)},
    "growth": {"population": Course(first=700, growth_per_year=0.4)},
    "gamma": {"capture_cv": 0.8},
    "gamma, unequal sizes": {"capture_cv": 0.6, "coverage": (0.2, 0.8, 0.3, 0.6)},
    "classes": {
        "classes": (
            UrlClass(share=0.4, persistence=0.9, weight=2),
            UrlClass(share=0.6, persistence=0.3, weight=0.5),
        )
    },
    "lifetimes": {
        "classes": (UrlClass(share=0.5, persistence=0.9), UrlClass(share=0.5, persistence=0.2))
    },
    "scope": {"scope_change": ScopeChange(share_common=0.6)},
}


@pytest.mark.parametrize("name", URNS)
def test_mean_and_covariance_are_those_of_the_sets(name):
    settings = UrnSettings(**{"dates": DatePlan(n_crawls=4), "population": 800, **URNS[name]})
    first, last, mean, covariance = compute_moments(make_plan(settings, 1))
    n_draws = 2000
    drawn = np.array(
        [
            count_archive(draw_sets(settings, seed=seed)).n_shared[first, last]
            for seed in range(n_draws)
        ]
    )
    variance = np.diag(covariance)
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 4 * np.sqrt(variance / n_draws))
    scale = np.sqrt(np.outer(variance, variance))
    correlation = covariance / scale
    # The standard error of a covariance, from the normal law.
    se = np.sqrt((1 + correlation**2) / n_draws)
    assert np.all(np.abs(np.cov(drawn.T) / scale - correlation) < 4.5 * se)


def test_ten_million_urls_take_seconds():
    start = time.process_time()
    archive = draw_sets(change_settings(find_scenario("gaw"), population=10**7))
    assert time.process_time() - start < 15
    assert sum(crawl.url_numbers.size for crawl in archive.crawls) == 69_000_000
