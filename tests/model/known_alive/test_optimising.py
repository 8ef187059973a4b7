"""The search finds the lowest point within bounds, as another optimiser does."""

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.known_alive.optimising import (
    curvature_at,
    invert_curvature,
    minimise_within,
)


def rosenbrock(point):
    return float(optimize.rosen(point)), np.asarray(optimize.rosen_der(point))


def find(bounds, start):
    return minimise_within(
        rosenbrock,
        np.array(start),
        np.array(bounds).T,
        np.eye(len(start)),
        value_tolerance=1e-14,
        slope_tolerance=1e-9,
    )


def test_a_curved_valley_is_followed_to_its_end():
    point, value = find([(-5, 5)] * 3, [-1.2, 1.0, 0.4])
    assert point == pytest.approx([1, 1, 1], abs=1e-6)
    assert value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("bounds", [[(-2, 0.5)] * 3, [(-2, 2), (0.2, 0.3), (-2, 2)]])
def test_bounds_hold_and_the_lowest_point_on_them_is_found(bounds):
    point, value = find(bounds, [0.0, 0.25, 0.0])
    other = optimize.minimize(
        rosenbrock, [0.0, 0.25, 0.0], jac=True, method="L-BFGS-B", bounds=bounds
    )
    assert value <= float(other.fun) + 1e-6
    for at, (low, high) in zip(point, bounds, strict=True):
        assert low <= at <= high


def test_a_start_outside_the_bounds_is_brought_inside():
    point, _ = find([(-2, 2)] * 3, [9.0, -9.0, 9.0])
    assert point == pytest.approx([1, 1, 1], abs=1e-5)


def test_a_function_without_slope_is_left_at_once():
    point, value = minimise_within(
        lambda at: (3.0, np.zeros_like(at)),
        np.array([0.5]),
        np.array([[0.0], [1.0]]),
        np.zeros((1, 1)),
        value_tolerance=1e-12,
        slope_tolerance=1e-8,
    )
    assert (point.tolist(), value) == ([0.5], 3.0)


def test_curvature_is_that_of_the_function():
    point = np.array([0.3, -0.4, 0.8])
    found = curvature_at(lambda at: np.asarray(optimize.rosen_der(at)), point)
    assert found == pytest.approx(optimize.rosen_hess(point), abs=0.1)


def test_a_flat_direction_is_not_divided_by():
    inverse = invert_curvature(np.diag([4.0, 0.0]), 1e-2)
    assert inverse == pytest.approx(np.diag([0.25, 100.0]))
