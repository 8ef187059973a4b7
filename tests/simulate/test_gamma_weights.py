"""A few nodes stand for a gamma distribution."""

import numpy as np
import pytest
from scipy import stats

from crawlgauge.simulate.urn_plan import gamma_grid, gauss_nodes


@pytest.mark.parametrize("cv", [0.1, 0.3, 0.7, 1.0, 1.8])
def test_the_grid_is_the_gamma_distribution(cv):
    grid = gamma_grid(cv)
    law = stats.gamma(1 / cv**2, scale=cv**2)
    assert grid.shares.sum() == pytest.approx(1)
    for limit in (0.2, 1.0, 2.5):
        assert grid.shares[grid.weights < limit].sum() == pytest.approx(law.cdf(limit), abs=2e-3)
    for power in (1, 2, 3, 4):
        assert grid.shares @ grid.weights**power == pytest.approx(law.moment(power), rel=1e-4)


def test_nodes_keep_moments_and_are_few():
    grid = gamma_grid(0.7)
    nodes = gauss_nodes(grid, 6)
    assert nodes.weights.size == 6
    for power in range(12):
        kept = nodes.shares @ nodes.weights**power
        assert kept == pytest.approx(grid.shares @ grid.weights**power, rel=1e-8)


def test_kinks_do_no_harm_where_they_are_told():
    """Probabilities of capture end at 1: products of them have a kink for each crawl's scale."""
    grid = gamma_grid(0.7)
    scales = np.array([0.4, 0.55, 0.8])
    nodes = gauss_nodes(grid, 3, 1 / scales)
    assert nodes.weights.size == 10

    def expect(of):
        capture = np.minimum(1, np.multiply.outer(scales, of.weights))
        return np.prod(capture, axis=0) @ of.shares

    assert expect(nodes) == pytest.approx(expect(grid), rel=1e-9)
    assert expect(gauss_nodes(grid, 10)) != pytest.approx(expect(grid), rel=1e-5)


def test_no_variation_is_one_weight():
    nodes = gauss_nodes(gamma_grid(0), 5, np.array([0.3, 2.0]))
    assert nodes.weights.tolist() == [1]
    assert nodes.shares.tolist() == [1]
