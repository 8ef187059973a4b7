import math

import numpy as np
import pytest

from crawlgauge.model.coverage import estimate_coverage

N = 9
DAYS = [183 * k for k in range(N)]
SIZE = 50_000_000


@pytest.fixture
def curves_of(make_table):
    def make(alive, n=N):
        overlaps = {
            (i, j): round(SIZE * 0.4 * alive((DAYS[j] - DAYS[i]) / 365.25))
            for j in range(n)
            for i in range(j)
        }
        curves = estimate_coverage(make_table(DAYS[:n], [SIZE] * n, overlaps)).decay_curves
        return {curve.name: curve for curve in curves}

    return make


def test_curves_run_from_zero_to_the_longest_lag_the_exponential_first(curves_of):
    curves = curves_of(lambda years: 0.73**years)
    assert list(curves) == ["exponential", "weibull", "bi-exponential"]
    for curve in curves.values():
        assert curve.lags_years[0] == 0
        assert curve.lags_years[-1] == pytest.approx(DAYS[-1] / 365.25)
        assert curve.containment[0] == pytest.approx(curve.coverage)
        assert curve.containment == pytest.approx(
            0.4 * 0.73 ** np.array(curve.lags_years), rel=0.01
        )
    assert "gone after 2.2 years" in curves["exponential"].meaning


@pytest.mark.parametrize(
    ("name", "alive", "meaning"),
    [
        ("weibull", lambda years: math.exp(-((0.4 * years) ** 0.6)), "disappear falls steadily"),
        (
            "bi-exponential",
            lambda years: 0.6 * 0.9**years + 0.4 * 0.4**years,
            "60 % are half gone after 6.6 years, and 40 % are half gone after 9 months",
        ),
    ],
)
def test_the_curve_of_the_true_shape_passes_through_the_decay(curves_of, name, alive, meaning):
    curve = curves_of(alive)[name]
    expected = [0.4 * alive(lag) for lag in curve.lags_years]
    assert curve.containment == pytest.approx(expected, rel=0.02)
    assert meaning in curve.meaning


def test_with_few_crawls_only_the_exponential_is_drawn(curves_of):
    curves = curves_of(lambda years: 0.73**years, n=3)
    assert list(curves) == ["exponential"]
    assert curves["exponential"].coverage == pytest.approx(0.4, rel=1e-6)


def test_where_overlaps_show_no_loss_the_words_say_so(curves_of):
    assert "show no loss" in curves_of(lambda _: 1.0, n=3)["exponential"].meaning


def test_two_crawls_have_no_curve(curves_of):
    assert curves_of(lambda years: 0.73**years, n=2) == {}
