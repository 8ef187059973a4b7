"""Log-linear models of closed populations."""

import numpy as np
import pytest
from scipy import optimize, special

from crawlgauge.errors import FitError
from crawlgauge.model.histories.closed_population import estimate_lincoln_petersen, fit_loglinear
from crawlgauge.model.histories.data import HistoryData


def make_data(urls):
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    bits = np.uint64(1) << np.arange(urls.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=histories,
        masks=np.where(histories, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
        counts=counts.astype(np.float64),
        years=np.arange(urls.shape[1], dtype=np.float64),
    )


def draw_urls(seed, cover, n=3000, spread=0.0):
    rng = np.random.default_rng(seed)
    ability = spread * rng.standard_normal(n)
    chance = special.expit(special.logit(np.array(cover)) + ability[:, None])
    return rng.random(chance.shape) < chance


def multinomial_population(data):
    """Maximise the likelihood of equal capture over the population itself."""
    sizes, n = data.sizes, data.n_urls
    return optimize.brentq(
        lambda size: np.log1p(-n / size) - np.log1p(-sizes / size).sum(), n + 1e-6, 1e9
    )


def weighted_regression(data, term):
    """Fit by the textbook's iterated weighted least squares; return N and its error."""
    n_crawls = data.n_crawls
    cells = (np.arange(1, 2**n_crawls)[:, None] >> np.arange(n_crawls)) & 1
    counts = np.zeros(len(cells))
    counts[data.masks.astype(int) - 1] = data.counts
    times = cells.sum(axis=1).astype(float)
    design = np.column_stack([np.ones(len(cells)), cells, term(times)])
    mean = counts + 0.5
    for _ in range(100):
        response = np.log(mean) + (counts - mean) / mean
        information = (design.T * mean) @ design
        solution = np.linalg.solve(information, design.T @ (mean * response))
        mean = np.exp(design @ solution)
    never = np.exp(solution[0])
    return data.n_urls + never, np.sqrt(never + never**2 * np.linalg.inv(information)[0, 0])


def test_equal_capture_gives_the_classical_maximum():
    data = make_data(draw_urls(1, [0.2, 0.3, 0.1, 0.25, 0.4]))
    found = fit_loglinear(data).estimate
    assert found.population == pytest.approx(multinomial_population(data), rel=1e-9)
    assert abs(found.population - 3000) < 4 * found.standard_error


def test_of_two_crawls_it_is_lincoln_and_petersen():
    data = make_data(draw_urls(2, [0.3, 0.5]))
    fit = fit_loglinear(data)
    expected = estimate_lincoln_petersen(data)
    assert fit.estimate.population == pytest.approx(expected.population, rel=1e-9)
    assert fit.estimate.standard_error == pytest.approx(expected.standard_error, rel=1e-6)
    assert fit.n_freedom == 0
    assert fit.deviance == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    ("form", "term"), [("poisson", lambda k: 2**k - 1), ("darroch", lambda k: k**2 / 2)]
)
def test_uneven_capture_equals_the_textbook_regression(form, term):
    data = make_data(draw_urls(3, [0.3, 0.4, 0.2, 0.3, 0.5], spread=0.8))
    found = fit_loglinear(data, form).estimate
    population, error = weighted_regression(data, term)
    assert found.population == pytest.approx(population, rel=1e-9)
    assert found.standard_error == pytest.approx(error, rel=1e-7)


def test_normal_abilities_are_what_the_form_of_darroch_is_for():
    data = make_data(draw_urls(4, [0.5] * 6, n=200_000, spread=0.7))
    plain, darroch = fit_loglinear(data), fit_loglinear(data, "darroch")
    assert abs(np.log(darroch.estimate.population / 200_000)) < 0.02
    assert plain.estimate.population < 0.97 * 200_000
    assert darroch.aic < plain.aic


def test_chaos_form_is_a_lower_bound_above_equal_capture():
    data = make_data(draw_urls(5, [0.2, 0.3, 0.25, 0.2, 0.3], n=100_000, spread=1.0))
    plain = fit_loglinear(data).estimate.population
    bound = fit_loglinear(data, "chao").estimate.population
    assert plain < bound < 100_000


def test_chaos_form_with_equal_sizes_is_the_ratio_of_once_and_twice():
    """With all crawls alike only the URLs captured once and twice tell of those never captured."""
    counts = {1: 40.0, 2: 15.0, 3: 9.0, 4: 11.0}
    cells = (np.arange(1, 16)[:, None] >> np.arange(4)) & 1
    data = HistoryData(
        captured=cells.astype(bool),
        masks=np.arange(1, 16, dtype=np.uint64),
        counts=np.array([counts[k] for k in cells.sum(axis=1)]),
        years=np.arange(4.0),
    )
    once, twice = 4 * 40.0, 6 * 15.0
    expected = data.n_urls + 3 / 4 * once**2 / (2 * twice)
    assert fit_loglinear(data, "chao").estimate.population == pytest.approx(expected, rel=1e-8)


def test_a_history_left_out_does_not_steer_the_fit_but_counts():
    urls = draw_urls(6, [0.2, 0.3, 0.1, 0.25])
    robots = np.ones((500, 4), dtype=bool)
    clean = urls[~urls.all(axis=1)]
    found = fit_loglinear(make_data(np.concatenate([clean, robots])), without=0b1111)
    expected = fit_loglinear(make_data(clean), without=0b1111)
    assert found.estimate.population == pytest.approx(expected.estimate.population + 500, rel=1e-9)
    assert found.n_freedom == 14 - 5


def test_only_the_newest_crawls_are_used():
    urls = draw_urls(7, [0.3] * 12)
    found = fit_loglinear(make_data(urls), n_newest=4).estimate
    expected = fit_loglinear(make_data(urls[:, -4:])).estimate
    assert found.population == expected.population
    assert found.n_newest == 4
    assert fit_loglinear(make_data(urls)).estimate.n_newest == 10


def test_a_crawl_without_urls_changes_nothing():
    urls = draw_urls(8, [0.3, 0.2, 0.4])
    empty = np.column_stack([urls, np.zeros(len(urls), dtype=bool)])
    found = fit_loglinear(make_data(empty)).estimate
    assert found.population == pytest.approx(fit_loglinear(make_data(urls)).estimate.population)
    assert np.isnan(found.coverage(make_data(empty))[3])


def test_too_few_crawls_are_named():
    data = make_data(draw_urls(9, [0.3, 0.5]))
    assert "too few crawls" in fit_loglinear(data, "poisson").estimate.reason


def test_without_overlap_there_is_a_reason():
    fit = fit_loglinear(make_data(np.eye(4, dtype=bool)))
    assert np.isnan(fit.estimate.population)
    assert fit.estimate.reason == "not identifiable: no URL is captured twice"


def test_if_one_crawl_holds_all_the_population_is_what_it_holds():
    urls = draw_urls(10, [0.3, 0.2, 0.4])
    urls[:, 1] = True
    found = fit_loglinear(make_data(urls)).estimate
    assert found.population == 3000
    assert "limit" in found.reason


def test_too_many_crawls_are_refused():
    with pytest.raises(FitError, match="18 newest"):
        fit_loglinear(make_data(draw_urls(11, [0.3] * 20, n=100)), n_newest=20)
