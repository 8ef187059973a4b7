"""Mean and variance of overlaps against closed forms."""

import numpy as np
import pytest
from scipy import stats

from crawlgauge.simulate.urn_plan import make_plan
from crawlgauge.simulate.urn_settings import DatePlan, UrlClass, UrnSettings
from crawlgauge.simulate.urn_table import compute_moments

FOUR = DatePlan(n_crawls=4)


def moments_of(**settings):
    return compute_moments(make_plan(UrnSettings(**{"dates": FOUR, **settings}), 1))


def test_without_turnover_an_overlap_is_hypergeometric():
    moments = moments_of(persistence=1, population=1000, size=(100, 300, 300, 500))
    law = stats.hypergeom(1000, 100, 300)
    assert moments.mean[0] == pytest.approx(law.mean())
    assert moments.covariance[0, 0] == pytest.approx(law.var())


def test_with_turnover_the_survivors_are_binomial_and_the_rest_hypergeometric():
    moments = moments_of(persistence=0.5, population=1000, coverage=0.4)
    years = (182 / 365.25, 365 / 365.25)
    for index, survival in ((0, 0.5 ** years[0]), (1, 0.5 ** years[1])):
        survivors = stats.binom(400, survival)
        mean_square = survivors.var() + survivors.mean() ** 2
        given = 0.4 * 0.6 * (1000 * survivors.mean() - mean_square) / 999
        expected = given + 0.4**2 * survivors.var()
        assert moments.mean[index] == pytest.approx(400 * 0.4 * survival)
        assert moments.covariance[index, index] == pytest.approx(expected)


def test_uneven_capture_inflates_overlaps_by_its_squared_variation():
    """Two classes at 0.1 and 0.3: mean 0.2, squared CV 1/4."""
    classes = (UrlClass(share=0.5, weight=1), UrlClass(share=0.5, weight=3))
    moments = moments_of(classes=classes, coverage=0.2, population=10_000, persistence=1)
    is_size = moments.first == moments.last
    assert moments.mean[is_size] == pytest.approx([2000] * 4)
    assert moments.mean[~is_size] == pytest.approx([10_000 * 0.2**2 * 1.25] * 6)
    assert np.diag(moments.covariance)[is_size] == pytest.approx(
        [5000 * 0.1 * 0.9 + 5000 * 0.3 * 0.7] * 4
    )


def test_drawing_the_same_number_again_makes_overlaps_vary_less_than_uneven_capture_does():
    """Sizes that are exact leave less to chance than sizes that vary."""
    exact = moments_of(population=10_000)
    varying = moments_of(population=10_000, capture_cv=1e-6)
    pairs = varying.first != varying.last
    assert varying.mean[pairs] == pytest.approx(exact.mean, rel=1e-4)
    assert np.all(np.diag(varying.covariance)[pairs] > 1.3 * np.diag(exact.covariance))
