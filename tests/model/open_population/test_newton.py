"""The search for the maximum of a likelihood."""

import numpy as np
import pytest

from crawlgauge.model.histories.newton import Curve, invert_information, maximise


def quartic(point):
    """Return a saddle at 0 and summits at x = ±1, y = 3."""
    x, y = point
    return Curve(
        value=float(-(x**4) / 4 + x**2 / 2 - (y - 3) ** 2),
        gradient=np.array([-(x**3) + x, -2 * (y - 3)]),
        hessian=np.array([[-3 * x**2 + 1, 0.0], [0.0, -2.0]]),
    )


def logistic(point):
    """Return the log-likelihood of ten successes in ten trials: it rises for ever."""
    share = 1 / (1 + np.exp(-point))
    return Curve(
        value=float(10 * np.log(share[0])),
        gradient=10 * (1 - share),
        hessian=np.array([[-10 * share[0] * (1 - share[0])]]),
    )


def ridge(point):
    """Return a parabola in the sum of two parameters, flat along their difference."""
    total = point.sum() - 2
    return Curve(
        value=float(-(total**2)), gradient=-2 * total * np.ones(2), hessian=-2 * np.ones((2, 2))
    )


def test_a_summit_is_found_from_beside_a_saddle():
    found = maximise(quartic, np.array([0.01, 0.0]), n_observations=1)
    assert found.has_converged
    assert found.point == pytest.approx([1, 3], abs=1e-9)
    assert invert_information(found).matrix == pytest.approx(np.diag([0.5, 0.5]), abs=1e-9)


def test_a_likelihood_without_a_summit_ends_at_the_limit():
    found = maximise(logistic, np.zeros(1), n_observations=10, limit=20)
    assert found.has_converged
    assert found.point.tolist() == [20]
    assert found.at_limit.tolist() == [True]


def test_a_fixed_parameter_stays():
    found = maximise(quartic, np.array([0.5, 0.5]), n_observations=1, fixed=np.array([True, False]))
    assert found.point == pytest.approx([0.5, 3])


def test_parameters_that_only_their_sum_is_known_of_are_named_as_such():
    found = maximise(ridge, np.array([5.0, 1.0]), n_observations=1)
    assert found.point.sum() == pytest.approx(2)
    covariance = invert_information(found)
    assert covariance.rank == 1
    assert covariance.determined.tolist() == [False, False]
    assert np.isnan(covariance.matrix).all()
