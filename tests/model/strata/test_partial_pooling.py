"""Partial pooling: little is moved that is well known, and much that is not."""

import numpy as np
import pytest

from crawlgauge.model.stratum_fits import pool


def test_strata_that_differ_by_chance_only_are_all_moved_to_their_mean():
    rng = np.random.default_rng(2)
    pooled, errors = pool(0.1 * rng.standard_normal(500), np.full(500, 0.01))
    assert np.abs(pooled).max() < 0.05
    assert errors.max() < 0.001


def test_three_strata_are_not_pooled_and_a_fourth_is_at_their_mean():
    values = np.array([-1.0, -0.9, -1.1, np.nan])
    pooled, errors = pool(values, np.array([0.5, 0.5, 0.5, np.nan]))
    assert pooled.tolist() == pytest.approx([-1.0, -0.9, -1.1, -1.0])
    assert errors.tolist() == [0.5, 0.5, 0.5, np.inf]


def test_without_any_estimate_all_are_alike():
    pooled, errors = pool(np.full(3, np.nan), np.full(3, np.nan))
    assert pooled.tolist() == [0, 0, 0]
    assert np.isinf(errors).all()


def test_pooling_moves_uncertain_strata_to_the_mean_and_leaves_certain_ones():
    rng = np.random.default_rng(3)
    n = 400
    truth = -1 + 0.5 * rng.standard_normal(n)
    variances = np.where(np.arange(n) % 2, 1e-6, 1.0)
    values = truth + np.sqrt(variances) * rng.standard_normal(n)
    values[0] = np.nan
    pooled, errors = pool(values, variances)
    assert np.abs(pooled - values)[1::2].max() < 1e-4
    before, after = (np.mean((each[2::2] - truth[2::2]) ** 2) for each in (values, pooled))
    assert after < 0.35 * before
    assert after == pytest.approx(errors[2::2].mean(), rel=0.3)
    assert errors[0] == pytest.approx(0.25, rel=0.2)
