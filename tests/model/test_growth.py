import math

import numpy as np
import pytest
from scipy import optimize, stats

from crawlgauge.model.coverage import fit_growth_model
from crawlgauge.model.intervals import log_growth
from crawlgauge.model.pairs import pair_data

DAYS = [0, 150, 400, 500, 900, 1300]
YEARS = np.array(DAYS) / 365.25
POPULATION = 10**15 * 1.2**YEARS
COVERAGE = np.array([0.5, 0.46, 0.2, 0.3, 0.11, 0.4])


def steady(make_urn, days=DAYS, **options):
    years = np.array(days) / 365.25
    coverage = COVERAGE[: len(days)]
    sizes = [round(n) for n in 10**15 * 1.2**years * coverage]
    return pair_data(make_urn(days, sizes, coverage, 0.73, **options))


def test_steady_growth_gives_the_first_crawl_too(make_urn):
    pairs = steady(make_urn)
    fit = fit_growth_model(pairs)
    assert fit.coverage == pytest.approx(COVERAGE, rel=1e-9)
    assert pairs.n_urls / fit.coverage == pytest.approx(POPULATION, rel=1e-9)
    assert fit.persistence == pytest.approx(0.73, rel=1e-9)
    assert math.log(fit.typical) == pytest.approx(np.log(COVERAGE[1:]).mean(), rel=1e-9)


def test_three_crawls_suffice_and_two_do_not(make_urn):
    fit = fit_growth_model(steady(make_urn, DAYS[:3]))
    assert fit.coverage == pytest.approx(COVERAGE[:3], rel=1e-9)
    assert fit_growth_model(steady(make_urn, DAYS[:2])) is None


def test_it_minimises_the_squares_of_its_equation(make_urn):
    rng = np.random.default_rng(5)
    factors = {(i, j): rng.uniform(0.8, 1.2) for j in range(6) for i in range(j)}
    table = make_urn(DAYS, [10**6] * 6, [0.4] * 6, 0.73, factors=factors)

    def residuals(parameters):
        log_n0, rho, slope = parameters
        return [
            math.log(p.n_shared / 10**12) + log_n0 + rho * (t_b - YEARS.mean()) - slope * lag
            for p in table.pairs()
            if (t_b := (p.b.date - table.crawls[0].date).days / 365.25) is not None
            and (lag := (p.b.date - p.a.date).days / 365.25)
        ]

    log_n0, rho, slope = optimize.least_squares(residuals, [14, 0, -0.3], xtol=1e-15).x
    fit = fit_growth_model(pair_data(table))
    log_population = log_n0 + rho * (YEARS - YEARS.mean())
    assert math.log(fit.persistence) == pytest.approx(slope, abs=1e-7)
    assert np.log(fit.coverage) == pytest.approx(math.log(10**6) - log_population, abs=1e-7)


def test_pairs_that_all_begin_with_one_crawl_do_not_determine_it(make_urn):
    later = {(i, j): None for j in range(6) for i in range(1, j)}
    assert fit_growth_model(steady(make_urn, factors=later)) is None


def test_a_sample_gives_the_population_of_all_urls(make_urn):
    whole = steady(make_urn)
    sampled_sizes = {k: {"n_sampled": round(n)} for k, n in enumerate(whole.n_urls / 1000)}
    pairs = steady(
        make_urn,
        factors={(i, j): 1e-3 for j in range(6) for i in range(j)},
        crawl_options=sampled_sizes,
        sample_rate=0.001,
    )
    coverage = fit_growth_model(pairs).coverage
    assert pairs.n_urls / coverage == pytest.approx(POPULATION, rel=1e-9)


def test_the_trend_is_that_of_ordinary_least_squares():
    rng = np.random.default_rng(6)
    logs = rng.normal(20, 1, size=6)
    logs[0] = np.nan
    expected = stats.linregress(YEARS[1:], logs[1:]).slope
    assert log_growth(YEARS, logs) == pytest.approx(expected, rel=1e-9)


def test_populations_at_one_date_have_no_trend():
    assert log_growth(np.array([0.0, 1.0, 1.0]), np.array([np.nan, 3.0, 4.0])) is None
    assert log_growth(np.array([0.0, 1.0]), np.array([np.nan, np.nan])) is None
