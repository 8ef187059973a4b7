"""Partial pooling: little is moved that is well known, and much that is not."""

import numpy as np
import pytest

from crawlgauge.model.strata.partial_pooling import between_variance, pool


def test_the_spread_between_strata_is_found_beside_their_errors():
    rng = np.random.default_rng(1)
    variances = rng.uniform(0.01, 0.3, 2000)
    values = -1 + 0.4 * rng.standard_normal(2000) + np.sqrt(variances) * rng.standard_normal(2000)
    assert between_variance(values, variances) == pytest.approx(0.16, rel=0.15)


def test_strata_that_differ_by_chance_only_have_hardly_any_spread():
    rng = np.random.default_rng(2)
    values = 0.1 * rng.standard_normal(500)
    assert between_variance(values, np.full(500, 0.01)) < 0.001


def test_three_strata_are_not_pooled():
    values = np.array([[-1.0, -0.3], [-0.9, -0.2], [-1.1, -0.4]])
    covariances = np.tile(np.eye(2) * 0.5, (3, 1, 1))
    pooled, errors = pool(values, covariances)
    assert pooled is values
    assert errors is covariances


def test_pooling_moves_uncertain_strata_to_the_mean_and_leaves_certain_ones():
    rng = np.random.default_rng(3)
    n = 200
    truth = rng.multivariate_normal([-1, -0.3], np.diag([0.25, 0.01]), n)
    variances = np.where(np.arange(n) % 2, 1e-6, 1.0)
    covariances = variances[:, None, None] * np.array([[1.0, -0.5], [-0.5, 1.0]])
    values = truth + np.array([rng.multivariate_normal([0, 0], c) for c in covariances])
    pooled, errors = pool(values, covariances)
    moved = np.abs(pooled - values)[:, 0]
    assert moved[1::2].max() < 1e-4
    before, after = (np.mean((v[::2, 0] - truth[::2, 0]) ** 2) for v in (values, pooled))
    assert after < 0.35 * before
    stated = errors[::2, 0, 0].mean()
    assert after == pytest.approx(stated, rel=0.3)
