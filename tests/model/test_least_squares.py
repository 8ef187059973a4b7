import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.paper import fit_linear


def test_parameters_minimise_the_weighted_sum_of_squares():
    rng = np.random.default_rng(1)
    design, response = rng.normal(size=(20, 3)), rng.normal(size=20)
    weight = rng.uniform(0.1, 10, size=20)
    expected = optimize.lsq_linear(
        design * np.sqrt(weight)[:, None], response * np.sqrt(weight), tol=1e-14
    ).x
    parameters, residuals = fit_linear(design, response, weight)
    assert parameters == pytest.approx(expected, rel=1e-9)
    assert residuals == pytest.approx(response - design @ expected, abs=1e-9)


def test_a_row_of_weight_two_counts_as_two_rows():
    rng = np.random.default_rng(2)
    design, response = rng.normal(size=(6, 2)), rng.normal(size=6)
    doubled, _ = fit_linear(design, response, np.array([2.0, 1, 1, 1, 1, 1]))
    repeated, _ = fit_linear(
        np.vstack([design[:1], design]), np.concatenate([response[:1], response]), np.ones(7)
    )
    assert doubled == pytest.approx(repeated, rel=1e-12)


def test_parameters_that_trade_off_are_not_identified_but_others_are():
    lags = np.array([1.0, 2.0, 4.0])
    design = np.column_stack([lags, 3 * lags, np.ones(3)])
    parameters, residuals = fit_linear(design, 7 - 2 * lags, np.ones(3))
    assert np.isnan(parameters).tolist() == [True, True, False]
    assert parameters[2] == pytest.approx(7)
    assert residuals == pytest.approx(np.zeros(3), abs=1e-12)


def test_fewer_rows_than_parameters_identify_none_of_a_line():
    parameters, _ = fit_linear(np.array([[1.0, 2.0]]), np.array([3.0]), np.ones(1))
    assert np.isnan(parameters).all()


def test_one_row_that_touches_one_parameter_identifies_it():
    parameters, _ = fit_linear(np.array([[1.0, 0.0]]), np.array([3.0]), np.ones(1))
    assert parameters[0] == pytest.approx(3)
    assert np.isnan(parameters[1])


def test_no_rows_identify_nothing():
    parameters, _ = fit_linear(np.empty((0, 2)), np.empty(0), np.empty(0))
    assert np.isnan(parameters).all()


def test_one_day_among_decades_is_information():
    lags = np.array([30.0, 30.0 + 1 / 365.25, 30.0])
    parameters, _ = fit_linear(np.column_stack([np.ones(3), lags]), -0.3 * lags, np.ones(3))
    assert parameters == pytest.approx([0, -0.3], abs=1e-8)
