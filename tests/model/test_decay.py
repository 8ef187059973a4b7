import math

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.checks import slows_down
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.decay import fit_shapes, outermost
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way

# ------------------------------------------------------------------------------------------- shapes


N = 10
DAYS = [183 * k for k in range(N)]
COVERAGE = [0.5, 0.4, 0.45, 0.5, 0.42, 0.38, 0.44, 0.5, 0.41, 0.43]
SIZE = 50_000_000


@pytest.fixture
def decaying(make_table):
    def make(alive, n=N):
        overlaps = {
            (i, j): round(SIZE * COVERAGE[j] * alive((DAYS[j] - DAYS[i]) / 365.25))
            for j in range(n)
            for i in range(j)
        }
        return make_table(DAYS[:n], [SIZE] * n, overlaps)

    return make


def fit(table):
    pairs = pair_data(table)
    two_way = fit_two_way(pairs)
    return pairs, two_way, {shape.name: shape for shape in fit_shapes(pairs, two_way)}


def test_the_exponential_shape_is_the_two_way_model(decaying):
    _, two_way, shapes = fit(decaying(lambda years: 0.6 * 0.9**years + 0.4 * 0.5**years))
    assert list(shapes) == ["exponential", "weibull", "bi-exponential"]
    assert shapes["exponential"].log_coverage[1:] == pytest.approx(
        two_way.log_coverage[1:], abs=1e-6
    )
    assert np.isnan(shapes["exponential"].log_coverage[0])


@pytest.mark.parametrize(
    ("name", "alive"),
    [
        ("exponential", lambda years: 0.7**years),
        ("weibull", lambda years: math.exp(-((0.4 * years) ** 0.6))),
        ("bi-exponential", lambda years: 0.6 * 0.9**years + 0.4 * 0.4**years),
    ],
)
def test_each_shape_finds_the_coverage_behind_its_own_decay(decaying, name, alive):
    _, _, shapes = fit(decaying(alive))
    assert np.exp(shapes[name].log_coverage[1:]) == pytest.approx(COVERAGE[1:], rel=0.005)
    # Rounding to whole URLs is all that is left; the squares are in units of the counting noise.
    assert shapes[name].squares < 1e-3


def test_shapes_that_are_not_needed_change_nothing(decaying):
    _, _, shapes = fit(decaying(lambda years: 0.7**years))
    lowest, highest = outermost(tuple(shapes.values()))
    assert highest.log_typical - lowest.log_typical < 0.005


def test_the_bi_exponential_fit_is_the_least_squares_one(decaying):
    """An independent search over the same bounded parameters finds nothing better."""
    pairs, two_way, shapes = fit(decaying(lambda years: math.exp(-((0.5 * years) ** 0.7))))
    lags, weight = pairs.lag_years, pairs.weight / (two_way.tau_squared + 1 / pairs.n_shared)
    columns = (pairs.end[:, None] == np.unique(pairs.end)).astype(float)
    root = np.sqrt(weight)
    basis = np.linalg.qr(columns * root[:, None])[0]

    def squares(parameters):
        share, slow, fast = parameters
        curve = np.log(share * np.exp(-slow * lags) + (1 - share) * np.exp(-fast * lags))
        left = root * (pairs.log_forward - curve)
        left = left - basis @ (basis.T @ left)
        return left @ left

    fastest = 2 * math.log(2) / lags.min()
    bounds = [(0.02, 1.0), (0.0, fastest), (0.0, fastest)]
    found = optimize.differential_evolution(squares, bounds, seed=1, tol=1e-10, maxiter=400)
    assert shapes["bi-exponential"].squares == pytest.approx(found.fun, rel=0.01)


def test_what_dies_before_the_shortest_lag_cannot_make_coverage_explode(decaying):
    """Nine tenths die within days and leave no trace: they may not be invented either."""
    _, _, shapes = fit(decaying(lambda years: 0.1 * 0.9**years + 0.9 * 1e-9**years))
    assert shapes["bi-exponential"].log_typical == pytest.approx(
        math.log(0.1) + np.mean(np.log(COVERAGE[1:])), abs=0.1
    )


def test_four_crawls_give_no_shapes_and_no_bend(decaying):
    pairs, two_way, shapes = fit(decaying(lambda years: 0.7**years, n=4))
    assert shapes == {}
    assert slows_down(pairs, two_way) is None


@pytest.mark.parametrize(("exponent", "is_certain"), [(0.7, True), (1.0, False), (1.4, False)])
def test_a_bend_is_certain_only_where_decay_slows_down(decaying, exponent, is_certain):
    pairs, two_way, _ = fit(decaying(lambda years: math.exp(-((0.3 * years) ** exponent))))
    assert slows_down(pairs, two_way) == is_certain


def test_the_range_names_the_shapes_at_its_ends(decaying):
    _, _, shapes = fit(decaying(lambda years: 0.5 * 0.9**years + 0.5 * 0.45**years))
    names = [shape.name for shape in outermost(tuple(shapes.values()))]
    assert names == ["exponential", "weibull"]


# ------------------------------------------------------------------------------------------- curves


N_CURVES = 9
DAYS_CURVES = [183 * k for k in range(N_CURVES)]


@pytest.fixture
def curves_of(make_table):
    def make(alive, n=N_CURVES):
        overlaps = {
            (i, j): round(SIZE * 0.4 * alive((DAYS_CURVES[j] - DAYS_CURVES[i]) / 365.25))
            for j in range(n)
            for i in range(j)
        }
        curves = estimate_coverage(make_table(DAYS_CURVES[:n], [SIZE] * n, overlaps)).decay_curves
        return {curve.name: curve for curve in curves}

    return make


def test_curves_run_from_zero_to_the_longest_lag_the_exponential_first(curves_of):
    curves = curves_of(lambda years: 0.73**years)
    assert list(curves) == ["exponential", "weibull", "bi-exponential"]
    for curve in curves.values():
        assert curve.lags_years[0] == 0
        assert curve.lags_years[-1] == pytest.approx(DAYS_CURVES[-1] / 365.25)
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
