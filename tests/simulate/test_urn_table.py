"""Tables drawn without sets: well-formed, of any size, and with the noise that was asked for."""

import time

import numpy as np
import pytest
from scipy import stats

from crawlgauge.errors import SimulationError
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.simulate.scenarios import SCENARIOS, find_scenario
from crawlgauge.simulate.urn_plan import make_plan
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import (
    Avoidance,
    Course,
    DatePlan,
    TableNoise,
    UrlClass,
    UrnSettings,
    change_settings,
)
from crawlgauge.simulate.urn_table import compute_moments, draw_table

TABLES = [name for name in SCENARIOS if name != "host-noise"]


@pytest.mark.parametrize("name", TABLES)
def test_every_scenario_gives_a_table_with_its_truth(name):
    settings = change_settings(find_scenario(name), n_crawls=6)
    table = draw_table(settings, seed=2)
    assert [crawl.n_urls for crawl in table.crawls] == [c.n_urls for c in table.truth.crawls]
    assert table.truth.scenario == name
    assert table.provenance.settings == {"scenario": name, "seed": 2}
    assert (table.histories is None) == (settings.table_noise is not None)


@pytest.mark.parametrize("with_histories", [True, False])
def test_equal_seeds_give_equal_tables_and_others_do_not(with_histories):
    one, same, other = (
        draw_table(
            UrnSettings(dates=DatePlan(n_crawls=6)), seed=seed, with_histories=with_histories
        )
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one.n_shared, same.n_shared)
    assert not np.array_equal(one.n_shared, other.n_shared)


def test_sets_and_table_of_one_seed_have_the_same_dates_and_sizes():
    settings = UrnSettings(
        dates=DatePlan(n_crawls=8, irregular=True),
        population=3000,
        coverage=Course(first=0.4, noise_sd=0.3),
    )
    archive, table = draw_sets(settings, seed=9), draw_table(settings, seed=9)
    assert archive.truth == table.truth


@pytest.mark.parametrize("population", [10**9, 10**12])
@pytest.mark.parametrize("with_histories", [True, False])
def test_the_population_may_be_as_large_as_the_whole_web(population, with_histories):
    settings = UrnSettings(population=population, dates=DatePlan(n_crawls=8))
    table = draw_table(settings, with_histories=with_histories)
    estimates = estimate_coverage(table)
    assert estimates.headline.coverage.value == pytest.approx(0.46, rel=1e-3)
    assert estimates.persistence.value == pytest.approx(0.73, rel=1e-3)


def test_few_shared_urls_are_poisson_and_never_negative():
    """At a persistence of 0.02 two crawls a year apart share about six URLs of 920."""
    settings = UrnSettings(
        population=2000, persistence=0.015, dates=DatePlan(n_crawls=2, months_between=12)
    )
    counts = np.array(
        [draw_table(settings, seed=k, with_histories=False).n_shared[0, 1] for k in range(3000)]
    )
    assert counts.min() >= 0
    assert counts.mean() == pytest.approx(920 * 0.46 * 0.015 ** (365 / 365.25), rel=0.03)
    assert counts.var() == pytest.approx(counts.mean(), rel=0.1)


def test_crawls_with_a_memory_have_histories_or_are_refused():
    avoiding = UrnSettings(
        scenario="avoiding", avoidance=Avoidance(), coverage=0.3, dates=DatePlan(n_crawls=8)
    )
    table = draw_table(avoiding)
    assert table.histories is not None
    assert all(table.n_shared[k, k + 1] == 0 for k in range(7))
    with pytest.raises(SimulationError, match=r"avoiding depend on earlier ones.*simulate sets"):
        draw_table(avoiding, with_histories=False)
    with pytest.raises(SimulationError, match=r"30 crawls .* too many possible histories"):
        draw_table(change_settings(avoiding, n_crawls=30))


def test_too_many_crawls_are_refused():
    with pytest.raises(SimulationError, match=r"101 crawls .* up to 100"):
        draw_table(UrnSettings(dates=DatePlan(n_crawls=101, months_between=1)))


def test_preferred_hosts_give_tables_of_any_length():
    for n_crawls in (4, 25):
        settings = change_settings(find_scenario("regime-h"), n_crawls=n_crawls)
        estimates = estimate_coverage(draw_table(settings, seed=3))
        assert estimates.headline.coverage.value == pytest.approx(0.46, rel=0.15)


def log_excess(noise, n_draws=400):
    """Return logarithms of overlaps over those that the truth leads to, i before j."""
    settings = UrnSettings(
        population=10**9, persistence=1, dates=DatePlan(n_crawls=4), table_noise=noise
    )
    tables = [draw_table(settings, seed=seed) for seed in range(n_draws)]
    expected = 0.46**2 * 1e9
    logs = np.log([table.n_shared[np.triu_indices(4, 1)] / expected for table in tables])
    coverages = np.array([[c.coverage for c in table.truth.crawls] for table in tables])
    return logs, coverages


def test_noise_of_columns_is_a_coverage_that_the_truth_knows():
    logs, coverages = log_excess(TableNoise(column_sd=0.2))
    assert np.log(coverages / 0.46).std() == pytest.approx(0.2, rel=0.1)
    later = np.triu_indices(4, 1)[1]
    assert logs == pytest.approx(np.log(coverages / 0.46)[:, later], abs=1e-3)


def test_noise_of_rows_goes_with_the_earlier_crawl_and_leaves_coverage_alone():
    logs, coverages = log_excess(TableNoise(row_sd=0.1))
    assert coverages == pytest.approx(0.46)
    assert logs[:, 0] == pytest.approx(logs[:, 2], abs=1e-3)
    assert logs[:, 0].std() == pytest.approx(0.1, rel=0.15)
    assert abs(np.corrcoef(logs[:, 0], logs[:, 5])[0, 1]) < 0.2


def test_noise_of_pairs_is_of_each_pair_by_itself():
    logs, _ = log_excess(TableNoise(pair_sd=0.05))
    assert logs.std(axis=0) == pytest.approx([0.05] * 6, rel=0.15)
    correlation = np.corrcoef(logs.T) - np.eye(6)
    assert np.abs(correlation).max() < 0.2


def test_noise_stays_within_what_crawls_can_share():
    settings = UrnSettings(
        population=1000,
        coverage=0.9,
        dates=DatePlan(n_crawls=5),
        table_noise=TableNoise(column_sd=1, row_sd=1, pair_sd=1),
    )
    for seed in range(50):
        table = draw_table(settings, seed=seed)
        assert max(crawl.coverage for crawl in table.truth.crawls) < 0.98


def test_a_million_urls_and_thirty_crawls_take_milliseconds():
    settings = UrnSettings(population=10**6, dates=DatePlan(n_crawls=30))
    draw_table(settings)
    start = time.process_time()
    for seed in range(50):
        draw_table(settings, seed=seed)
    assert (time.process_time() - start) / 50 < 0.02


FOUR = DatePlan(n_crawls=4)


def moments_of(**settings):
    return compute_moments(make_plan(UrnSettings(**{"dates": FOUR, **settings}), 1))


def test_without_turnover_an_overlap_is_hypergeometric():
    _, _, mean, covariance = moments_of(persistence=1, population=1000, size=(100, 300, 300, 500))
    law = stats.hypergeom(1000, 100, 300)
    assert mean[0] == pytest.approx(law.mean())
    assert covariance[0, 0] == pytest.approx(law.var())


def test_with_turnover_the_survivors_are_binomial_and_the_rest_hypergeometric():
    _, _, mean, covariance = moments_of(persistence=0.5, population=1000, coverage=0.4)
    years = (182 / 365.25, 365 / 365.25)
    for index, survival in ((0, 0.5 ** years[0]), (1, 0.5 ** years[1])):
        survivors = stats.binom(400, survival)
        mean_square = survivors.var() + survivors.mean() ** 2
        given = 0.4 * 0.6 * (1000 * survivors.mean() - mean_square) / 999
        expected = given + 0.4**2 * survivors.var()
        assert mean[index] == pytest.approx(400 * 0.4 * survival)
        assert covariance[index, index] == pytest.approx(expected)


def test_uneven_capture_inflates_overlaps_by_its_squared_variation():
    """Two classes at 0.1 and 0.3: mean 0.2, squared CV 1/4."""
    classes = (UrlClass(share=0.5, weight=1), UrlClass(share=0.5, weight=3))
    first, last, mean, covariance = moments_of(
        classes=classes, coverage=0.2, population=10_000, persistence=1
    )
    is_size = first == last
    assert mean[is_size] == pytest.approx([2000] * 4)
    assert mean[~is_size] == pytest.approx([10_000 * 0.2**2 * 1.25] * 6)
    assert np.diag(covariance)[is_size] == pytest.approx([5000 * 0.1 * 0.9 + 5000 * 0.3 * 0.7] * 4)


def test_drawing_the_same_number_again_makes_overlaps_vary_less_than_uneven_capture_does():
    """Sizes that are exact leave less to chance than sizes that vary."""
    _, _, exact, of_exact = moments_of(population=10_000)
    first, last, varying, of_varying = moments_of(population=10_000, capture_cv=1e-6)
    pairs = first != last
    assert varying[pairs] == pytest.approx(exact, rel=1e-4)
    assert np.all(np.diag(of_varying)[pairs] > 1.3 * np.diag(of_exact))
