"""What earlier crawls lead one to expect of the next."""

import numpy as np
import pytest
from scipy import stats

from crawlgauge.model.expectation import MIN_EARLIER, predict_next

YEARS = np.arange(8) / 2
STEADY = np.array([0.02, -0.05, 0.04, 0.0, -0.03, 0.05, -0.02, 0.01])


def integrate(years, values, next_year, value):
    """The same by brute force: sum over a grid of levels, trends and scatters."""
    level, slope, scatter = np.meshgrid(
        np.linspace(-0.3, 0.3, 61),
        np.linspace(-1.2, 1.2, 161),
        np.geomspace(0.01, max(0.3, 2 * values.std(ddof=1)), 40),
        indexing="ij",
    )
    # A level trend is a possibility by itself; the others share as much weight among them.
    prior = stats.norm.pdf(slope, scale=0.3) * (2.4 / 160) + (np.abs(slope) < 1e-9)
    log_likelihood = sum(
        stats.norm.logpdf(value, level + slope * (year - years.mean()), scatter)
        for year, value in zip(years, values, strict=True)
    )
    weight = prior * np.exp(log_likelihood)
    expected = level + slope * (next_year - years.mean())
    return np.sum(weight * stats.norm.cdf(value, expected, scatter)) / weight.sum()


def test_the_chance_is_that_of_an_integral_over_levels_trends_and_scatters():
    years, values = YEARS[:5], STEADY[:5]
    found = predict_next(years, values, 2.5).chance_below(-0.1)
    assert found == pytest.approx(integrate(years, values, 2.5, -0.1), rel=0.01)


def test_a_quantile_is_where_that_share_lies_below():
    prediction = predict_next(YEARS, STEADY, 4.0)
    for share in (0.01, 0.3, 0.975):
        assert prediction.chance_below(prediction.quantile(share)) == pytest.approx(share, abs=1e-3)


def test_a_steady_series_is_predicted_to_stay():
    prediction = predict_next(YEARS, STEADY, 4.0)
    assert prediction.expected == pytest.approx(0.0, abs=0.02)
    assert prediction.scatter == pytest.approx(STEADY.std(ddof=1), rel=0.3)
    assert prediction.n_earlier == 8


@pytest.mark.parametrize("rate", [-0.4, -0.15, 0.3])
def test_a_trend_that_shows_is_followed(rate):
    prediction = predict_next(YEARS, STEADY + rate * YEARS, 4.0)
    assert prediction.expected == pytest.approx(4 * rate, abs=0.06)
    assert prediction.trend == pytest.approx(rate, abs=0.04)


def test_the_more_crawls_scatter_the_wider_the_prediction():
    widths = [
        np.ptp([predict_next(YEARS, factor * STEADY, 4.0).quantile(q) for q in (0.05, 0.95)])
        for factor in (0.5, 1, 4)
    ]
    assert widths[0] < widths[1] < widths[2]


def test_the_numbers_may_be_known_to_scatter_by_counting_alone():
    known = predict_next(YEARS, 0.1 * STEADY, 4.0, least_scatter=0.2)
    assert known.scatter >= 0.2
    assert predict_next(YEARS, 0.1 * STEADY, 4.0).scatter < 0.03


def test_crawls_before_the_last_twelve_do_not_count():
    years = np.arange(20) / 2
    values = np.where(years < 4, 3.0, 0.0)
    prediction = predict_next(years, values, 10.0)
    assert prediction.n_earlier == 12
    assert prediction.expected == pytest.approx(0.0, abs=1e-9)


def test_unknown_numbers_are_left_out_and_three_known_ones_are_needed():
    values = np.where(np.arange(8) < 5, np.nan, STEADY)
    assert predict_next(YEARS, values, 4.0).n_earlier == MIN_EARLIER == 3
    assert predict_next(YEARS[:7], values[:7], 4.0) is None


def test_crawls_of_one_day_have_no_trend():
    prediction = predict_next(np.zeros(4), STEADY[:4], 0.0)
    assert prediction.expected == pytest.approx(STEADY[:4].mean())
    assert prediction.trend == 0
