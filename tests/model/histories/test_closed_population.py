"""Estimates for populations without births or deaths."""

import numpy as np
import pytest
from scipy import optimize, special

from crawlgauge.model.histories.closed_population import (
    estimate_chao,
    estimate_chapman,
    estimate_lincoln_petersen,
    estimate_schnabel,
    fit_loglinear,
)


def even(data):
    return fit_loglinear(data, "even")[0]


ALL = (estimate_lincoln_petersen, estimate_chapman, estimate_schnabel, estimate_chao, even)


@pytest.fixture(scope="module")
def draw_data(count_histories):
    """Draw from a closed population whose URLs may differ in how readily they are captured."""

    def draw(seed, cover, n=3000, spread=0.0):
        rng = np.random.default_rng(seed)
        ability = spread * rng.standard_normal(n)
        chance = special.expit(special.logit(np.array(cover)) + ability[:, None])
        return count_histories(rng.random(chance.shape) < chance)

    return draw


def test_two_crawls_by_hand(make_data):
    data = make_data({"10": 80, "01": 30, "11": 20})
    assert estimate_lincoln_petersen(data) == 100 * 50 / 20
    assert estimate_chapman(data) == pytest.approx(101 * 51 / 21 - 1)
    assert estimate_schnabel(data) == pytest.approx(100 * 50 / 20)
    population, deviance = fit_loglinear(data, "even")
    assert population == pytest.approx(100 * 50 / 20, rel=1e-9)
    assert deviance == pytest.approx(0, abs=1e-8)


def test_of_many_crawls_the_two_newest_are_used(make_data):
    data = make_data({"0010": 80, "1001": 30, "1111": 20, "1100": 500})
    assert estimate_lincoln_petersen(data) == 100 * 50 / 20


def test_schnabel_by_hand(make_data):
    data = make_data({"110": 5, "101": 3, "011": 2, "100": 12, "010": 13, "001": 15})
    # Sizes 20, 20, 20; known before 0, 20, 35; seen again 0, 5, 5.
    assert estimate_schnabel(data) == pytest.approx((20 * 20 + 20 * 35) / 10)


def test_chao_by_hand(make_data):
    data = make_data({"100": 30, "010": 20, "110": 10, "111": 4})
    assert estimate_chao(data) == pytest.approx(64 + 2 / 3 * 50**2 / 20)


@pytest.mark.parametrize("estimate", ALL)
def test_a_closed_population_is_recovered(draw_data, estimate):
    values = [estimate(draw_data(seed, [0.2] * 4, n=2000)) for seed in range(100)]
    assert abs(np.mean(values) - 2000) < 4 * np.std(values) / 10 + 15


def test_uneven_capture_lets_chao_come_nearer(count_histories):
    rng = np.random.default_rng(2)
    urls = rng.random((20_000, 5)) < np.where(rng.random(20_000) < 0.5, 0.4, 0.05)[:, None]
    data = count_histories(urls)
    assert estimate_schnabel(data) < estimate_chao(data) < 20_000


@pytest.mark.parametrize("estimate", ALL)
def test_without_overlap_there_is_no_number(make_data, estimate):
    assert np.isnan(estimate(make_data({"100": 5, "010": 6, "001": 7})))


def test_if_all_crawls_hold_the_same_the_population_is_what_they_hold(make_data):
    data = make_data({"111": 70})
    assert estimate_lincoln_petersen(data) == estimate_chao(data) == 70


# ------------------------------------------------------------------------------ log-linear models


def weighted_regression(data, term):
    """Fit by the textbook's iterated weighted least squares."""
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
    return data.n_urls + np.exp(solution[0])


def test_equal_capture_gives_the_classical_maximum(draw_data):
    data = draw_data(1, [0.2, 0.3, 0.1, 0.25, 0.4])
    n = data.n_urls
    expected = optimize.brentq(
        lambda size: np.log1p(-n / size) - np.log1p(-data.sizes / size).sum(), n + 1e-6, 1e9
    )
    assert even(data) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("form", "term"), [("poisson", lambda k: 2**k - 1), ("darroch", lambda k: k**2 / 2)]
)
def test_uneven_capture_equals_the_textbook_regression(draw_data, form, term):
    data = draw_data(3, [0.3, 0.4, 0.2, 0.3, 0.5], spread=0.8)
    found, _ = fit_loglinear(data, form)
    assert found == pytest.approx(weighted_regression(data, term), rel=1e-9)


def test_normal_abilities_are_what_the_form_of_darroch_is_for(draw_data):
    data = draw_data(4, [0.5] * 6, n=200_000, spread=0.7)
    population, deviance = fit_loglinear(data, "darroch")
    assert abs(np.log(population / 200_000)) < 0.02
    assert even(data) < 0.97 * 200_000
    assert deviance < fit_loglinear(data, "poisson")[1]


def test_only_the_ten_newest_crawls_are_used(draw_data, make_data):
    data = draw_data(7, [0.3] * 12)
    rows = data.captured[:, 2:]
    seen = rows.any(axis=1)
    newest, place = np.unique(rows[seen], axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), data.counts[seen])
    assert even(data) == pytest.approx(even(make_data(newest, counts)), rel=1e-12)


def test_a_crawl_without_urls_changes_nothing(draw_data, make_data):
    data = draw_data(8, [0.3, 0.2, 0.4])
    empty = np.column_stack([data.captured, np.zeros(len(data.captured), dtype=bool)])
    assert even(make_data(empty, data.counts)) == pytest.approx(even(data))


def test_too_few_crawls_for_uneven_capture_give_no_number(draw_data):
    assert np.isnan(fit_loglinear(draw_data(9, [0.3, 0.5]), "poisson")[0])


def test_if_one_crawl_holds_all_the_population_is_what_it_holds(count_histories):
    urls = np.random.default_rng(10).random((3000, 3)) < [0.3, 1.0, 0.4]
    assert even(count_histories(urls)) == 3000
