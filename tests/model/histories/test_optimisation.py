"""The searches for the best parameters."""

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.histories.optimisation import maximise, minimise_within, variances_at


def quartic(point):
    """Return a saddle at 0 and summits at x = ±1, y = 3."""
    x, y = point
    return (
        float(-(x**4) / 4 + x**2 / 2 - (y - 3) ** 2),
        np.array([-(x**3) + x, -2 * (y - 3)]),
        np.array([[-3 * x**2 + 1, 0.0], [0.0, -2.0]]),
    )


def logistic(point):
    """Return the log-likelihood of ten successes in ten trials: it rises for ever."""
    share = 1 / (1 + np.exp(-point))
    hessian = np.array([[-10 * share[0] * (1 - share[0])]])
    return float(10 * np.log(share[0])), 10 * (1 - share), hessian


def ridge(point):
    """Return a parabola in the sum of two parameters, flat along their difference."""
    total = point.sum() - 2
    return float(-(total**2)), -2 * total * np.ones(2), -2 * np.ones((2, 2))


def test_a_summit_is_found_from_beside_a_saddle():
    found = maximise(quartic, np.array([0.01, 0.0]), n_observations=1)
    assert found.has_converged
    assert found.point == pytest.approx([1, 3], abs=1e-9)
    assert variances_at(found) == pytest.approx([0.5, 0.5], abs=1e-9)


def test_a_likelihood_without_a_summit_ends_at_the_limit():
    found = maximise(logistic, np.zeros(1), n_observations=10, limit=20)
    assert found.has_converged
    assert found.point.tolist() == [20]
    assert found.at_limit.tolist() == [True]


def test_parameters_that_only_their_sum_is_known_of_have_no_variance():
    found = maximise(ridge, np.array([5.0, 1.0]), n_observations=1)
    assert found.point.sum() == pytest.approx(2)
    assert np.isnan(variances_at(found)).all()


def rosenbrock(point):
    return float(optimize.rosen(point)), np.asarray(optimize.rosen_der(point))


def find(bounds, start):
    return minimise_within(rosenbrock, np.array(start), np.array(bounds).T, np.eye(len(start)))


def test_a_curved_valley_is_followed_to_its_end():
    assert find([(-5, 5)] * 3, [-1.2, 1.0, 0.4]) == pytest.approx([1, 1, 1], abs=1e-6)


@pytest.mark.parametrize("bounds", [[(-2, 0.5)] * 3, [(-2, 2), (0.2, 0.3), (-2, 2)]])
def test_bounds_hold_and_the_lowest_point_on_them_is_found(bounds):
    start = [0.0, 0.25, 0.0]
    point = find(bounds, start)
    other = optimize.minimize(rosenbrock, start, jac=True, method="L-BFGS-B", bounds=bounds)
    assert rosenbrock(point)[0] <= float(other.fun) + 1e-6
    for at, (low, high) in zip(point, bounds, strict=True):
        assert low <= at <= high


def test_a_start_outside_the_bounds_is_brought_inside():
    assert find([(-2, 2)] * 3, [9.0, -9.0, 9.0]) == pytest.approx([1, 1, 1], abs=1e-5)


def test_a_function_without_slope_is_left_at_once():
    bounds, flat = np.array([[0.0], [1.0]]), np.zeros((1, 1))
    found = minimise_within(lambda at: (3.0, np.zeros_like(at)), np.array([0.5]), bounds, flat)
    assert found.tolist() == [0.5]
